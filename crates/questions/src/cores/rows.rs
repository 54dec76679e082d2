//! Rows of kinds of cores.

use etwkit_question::declare;
declare! {
    /// A logical processor.
    pub row CoreRow {
        cpu: i64 = "Processor.",
        processor_group: Option<i64> = "Processor group.",
        group_number: Option<i64> = "Number in it.",
        numa_node: Option<i64> = "NUMA node.",
        efficiency_class: Option<i64> = "Kind of core; 0 is the most efficient.",
        scheduling_class: Option<i64> = "How much the scheduler prefers it.",
        is_hyper_threaded: Option<bool> = "Whether it shares its core.",
        nominal_mhz: Option<i64> = "Speed without boost.",
        relative_performance_percent: Option<i64> = "Speed relative to the others.",
        mean_mhz: Option<f64> = "Mean speed, weighted by time; measured, otherwise the speed that Windows asked for.",
        min_mhz: Option<i64> = "Lowest and",
        max_mhz: Option<i64> = "highest speed.",
        frequency_percent: Option<f64> = "`mean_mhz` of `nominal_mhz`.",
        measured_ns: Option<i64> = "Time whose speed is known.",
        parked_ns: Option<i64> = "Time in which it was parked.",
        parked_percent: Option<f64> = "`parked_ns` of the trace; missing where parking was not recorded.",
        name: Option<String> = "Model.",
    }
    /// An idle state of a processor.
    pub row StateRow {
        cpu: i64 = "Processor.",
        efficiency_class: Option<i64> = "Kind of core.",
        source: String = "`idle_event` or `context_switch`.",
        state: Option<i64> = "Number of the state; missing where a scheduling slice of the idle thread has none.",
        count: i64 = "How often.",
        duration_ns: i64 = "Time.",
        max_ns: i64 = "Longest time.",
        percent: f64 = "`duration_ns` of the trace.",
    }
    /// CPU of a process on one kind of core.
    pub row ClassRow: process {
        ..process = "Process key; missing for threads whose process is not known.",
        efficiency_class: Option<i64> = "Kind of core.",
        cpu_ns: i64 = "CPU.",
        cpu_percent: f64 = "`cpu_ns` of all CPU of the process.",
        normalized_ns: Option<i64> = "CPU × speed ÷ nominal speed.",
        mean_mhz: Option<f64> = "Mean speed; missing where none was recorded.",
        frequency_percent: Option<f64> = "`mean_mhz` of the nominal speed.",
        cores: String = "Processors it ran on.",
        core_count: i64 = "Number of them.",
        first_ns: i64 = "First sample or switch-in.",
        last_ns: i64 = "Last sample or switch-out.",
        process_cpu_ns: i64 = "CPU of the process on all cores.",
        ..process_details,
    }
    /// CPU of a method on one kind of core.
    pub row MethodClassRow: process {
        ..process = "Process key; missing for threads whose process is not known.",
        name: String = "Name as it is printed.",
        module: Option<String> = "File name of the module.",
        efficiency_class: Option<i64> = "Kind of core.",
        cpu_ns: i64 = "CPU with the method in the stack.",
        cpu_percent: f64 = "`cpu_ns` of all CPU of the method.",
        normalized_ns: Option<i64> = "CPU × speed ÷ nominal speed.",
        mean_mhz: Option<f64> = "Mean speed; missing where none was recorded.",
        frequency_percent: Option<f64> = "`mean_mhz` of the nominal speed.",
        cores: String = "Processors it ran on.",
        core_count: i64 = "Number of them.",
        enabled_cores: i64 = "Processors of this kind that its threads were allowed to run on.",
        duration_ns: i64 = "From the first to the last sample on this kind.",
        method_cpu_ns: i64 = "CPU of the method on all cores.",
        process_cpu_ns: i64 = "Largest CPU of a method of the process.",
        ..process_details,
    }
    /// Running and ready time with one priority on one kind of core.
    pub row PriorityRow: process {
        ..process = "Process key, with rows for each process.",
        priority: Option<i64> = "Priority; missing for threads that ran when the trace started.",
        efficiency_class: Option<i64> = "Kind of core.",
        switches: i64 = "Switch-ins.",
        run_ns: i64 = "Time on cores of this class.",
        run_percent: Option<f64> = "`run_ns` of all running time with this priority.",
        run_faster_idle_ns: i64 = "Part of `run_ns` in which a core of a higher class was idle.",
        ready_ns: i64 = "Ready time before a switch-in on a core of this class.",
        ready_idle_ns: i64 = "Part of it in which a core of this class was idle.",
        ready_any_idle_ns: i64 = "Part of it in which any core was idle.",
        owner_run_ns: i64 = "Running time of the process, or of all.",
        ..process_details,
    }
}
