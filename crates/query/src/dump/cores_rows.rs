//! Rows of kinds of cores.

rows! {
    /// A logical processor.
    pub struct CoreRow {
        /// Processor.
        cpu: i64,
        /// Processor group.
        processor_group: Option<i64>,
        /// Number in it.
        group_number: Option<i64>,
        /// NUMA node.
        numa_node: Option<i64>,
        /// Kind of core, 0 the most efficient one.
        efficiency_class: Option<i64>,
        /// How much the scheduler prefers it.
        scheduling_class: Option<i64>,
        /// Whether it shares its core.
        is_hyper_threaded: Option<bool>,
        /// Speed without boost.
        nominal_mhz: Option<i64>,
        /// Speed relative to the others.
        relative_performance_percent: Option<i64>,
        /// Mean speed, weighted by time; measured, else what Windows asked for.
        mean_mhz: Option<f64>,
        /// Lowest and
        min_mhz: Option<i64>,
        /// highest speed.
        max_mhz: Option<i64>,
        /// `mean_mhz` of `nominal_mhz`.
        frequency_percent: Option<f64>,
        /// Time whose speed is known.
        measured_ns: Option<i64>,
        /// Time in which it was parked.
        parked_ns: Option<i64>,
        /// `parked_ns` of the trace; missing where nothing tells of parking.
        parked_percent: Option<f64>,
        /// Model.
        name: Option<String>,
    }
    /// An idle state of a processor.
    pub struct StateRow {
        /// Processor.
        cpu: i64,
        /// Kind of core.
        efficiency_class: Option<i64>,
        /// `idle_event` or `context_switch`.
        source: String,
        /// Number of the state; missing where a stay of the idle thread does not tell it.
        state: Option<i64>,
        /// How often.
        count: i64,
        /// Time.
        duration_ns: i64,
        /// Longest time.
        max_ns: i64,
        /// `duration_ns` of the trace.
        percent: f64,
    }
    /// CPU of a process on one kind of core.
    pub struct ClassRow: process {
        /// Process key; missing for threads whose process is not known.
        process_key: Option<i64>,
        /// Process id.
        pid: Option<i64>,
        /// File name of the executable.
        process: Option<String>,
        /// Kind of core.
        efficiency_class: Option<i64>,
        /// CPU.
        cpu_ns: i64,
        /// `cpu_ns` of all CPU of the process.
        cpu_percent: f64,
        /// CPU × speed ÷ nominal speed.
        normalized_ns: Option<i64>,
        /// Mean speed; missing where none was recorded.
        mean_mhz: Option<f64>,
        /// `mean_mhz` of the nominal speed.
        frequency_percent: Option<f64>,
        /// Processors it ran on.
        cores: String,
        /// Number of them.
        core_count: i64,
        /// First sample or switch-in.
        first_ns: i64,
        /// Last sample or switch-out.
        last_ns: i64,
        /// CPU of the process on all cores.
        process_cpu_ns: i64,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Terminal session.
        session_id: Option<i64>,
        /// Command line.
        command_line: Option<String>,
    }
    /// CPU of a method on one kind of core.
    pub struct MethodClassRow: process {
        /// Process key; missing for threads whose process is not known.
        process_key: Option<i64>,
        /// Process id.
        pid: Option<i64>,
        /// File name of the executable.
        process: Option<String>,
        /// Name as it is printed.
        name: String,
        /// File name of the module.
        module: Option<String>,
        /// Kind of core.
        efficiency_class: Option<i64>,
        /// CPU with the method in the stack.
        cpu_ns: i64,
        /// `cpu_ns` of all CPU of the method.
        cpu_percent: f64,
        /// CPU × speed ÷ nominal speed.
        normalized_ns: Option<i64>,
        /// Mean speed; missing where none was recorded.
        mean_mhz: Option<f64>,
        /// `mean_mhz` of the nominal speed.
        frequency_percent: Option<f64>,
        /// Processors it ran on.
        cores: String,
        /// Number of them.
        core_count: i64,
        /// Processors of this kind that its threads were allowed to run on.
        enabled_cores: i64,
        /// From the first to the last sample on this kind.
        duration_ns: i64,
        /// CPU of the method on all cores.
        method_cpu_ns: i64,
        /// Largest CPU of a method of the process.
        process_cpu_ns: i64,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Terminal session.
        session_id: Option<i64>,
        /// Command line.
        command_line: Option<String>,
    }
    /// Running and ready time with one priority on one kind of core.
    pub struct PriorityRow: process {
        /// Process key, with rows for each process.
        process_key: Option<i64>,
        /// Process id.
        pid: Option<i64>,
        /// File name of the executable.
        process: Option<String>,
        /// Priority; missing for threads that ran when the trace began.
        priority: Option<i64>,
        /// Kind of core.
        efficiency_class: Option<i64>,
        /// Switch-ins.
        switches: i64,
        /// Time on such cores.
        run_ns: i64,
        /// `run_ns` of all running time with this priority.
        run_percent: Option<f64>,
        /// Part of `run_ns` in which a core of a higher class was idle.
        run_faster_idle_ns: i64,
        /// Time ready before a switch-in on such a core.
        ready_ns: i64,
        /// Part of it in which a core of this class was idle.
        ready_idle_ns: i64,
        /// Part of it in which any core was idle.
        ready_any_idle_ns: i64,
        /// Running time of the process, or of all.
        owner_run_ns: i64,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Terminal session.
        session_id: Option<i64>,
        /// Command line.
        command_line: Option<String>,
    }
}
