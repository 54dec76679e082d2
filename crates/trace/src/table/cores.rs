//! Tables of cores: their kinds, speeds and sleeps, and tables computed from them.

use std::sync::Arc;

tables! {
    /// A logical processor of the machine.
    ///
    /// Speeds and classes come from the rundown of Microsoft-Windows-Kernel-Processor-Power,
    /// otherwise from the system configuration.
    CpuCore / CpuCoreColumns = "cpu_core", order ["cpu"] {
        /// Processor number, the same in all tables.
        cpu: i32;
        /// Processor group; groups have up to 64 processors.
        processor_group: Option<i32>;
        /// Number in its group.
        group_number: Option<i32>;
        /// NUMA node.
        numa_node: Option<i32>;
        /// Kind of core: 0 is the most efficient one, higher ones are faster. 0 for all cores if
        /// they are alike.
        efficiency_class: Option<i32>;
        /// Preference of the scheduler for it; higher is better.
        scheduling_class: Option<i32>;
        /// Speed without boost.
        nominal_mhz: Option<i32>, "MHz";
        /// Speed relative to the other cores.
        relative_performance_percent: Option<i32>, "percent";
        /// True if it shares its core with another logical processor.
        is_hyper_threaded: Option<bool>;
        /// Model, as the processor reports it.
        name: Option<String>;
        /// Vendor.
        vendor: Option<String>;
        /// Family, model and stepping.
        identifier: Option<String>;
    }

    /// A time in which a processor had one speed.
    CpuFrequency / CpuFrequencyColumns = "cpu_frequency", order ["stop_ns"] {
        /// Processor.
        cpu: i32;
        /// Start.
        start_ns: i64, "ns";
        /// End.
        stop_ns: i64, "ns";
        /// Speed of the core.
        mhz: i32, "MHz";
        /// `delivered`: mean over the time, measured by the processor; `requested`: the speed that
        /// Windows requested.
        kind: &'static str;
        /// Performance relative to the nominal speed, where it is reported.
        performance_percent: Option<i32>, "percent";
    }

    /// A time in which a processor slept, from idle events of the kernel.
    CpuIdleState / CpuIdleStateColumns = "cpu_idle_state", order ["end_ns"] {
        /// Processor.
        cpu: i32;
        /// Start.
        start_ns: i64, "ns";
        /// End.
        end_ns: i64, "ns";
        /// Number of the idle state; higher ones sleep deeper and take longer to leave.
        state: i32;
    }

    /// A time in which a processor was parked: the scheduler avoided it to save energy.
    CpuParking / CpuParkingColumns = "cpu_parking", order ["stop_ns"] {
        /// Processor.
        cpu: i32;
        /// Start.
        start_ns: i64, "ns";
        /// End.
        stop_ns: i64, "ns";
        /// `parked`; `soft`: only as long as the other processors are sufficient; `forced`:
        /// regardless of the load.
        kind: &'static str;
    }

    /// CPU of a process on one kind of core.
    ///
    /// From samples, or from context switches if there are no samples. Idle time is excluded.
    /// Normalized CPU is the time that the same work would have taken at the nominal speed of the
    /// core.
    CpuClass / CpuClassColumns = "cpu_class", order ["process_key"] {
        /// The process; null for threads of unknown process.
        process_key: Option<i32>, "key";
        /// Kind of core, see `cpu_core`; null if it was not recorded.
        efficiency_class: Option<i32>;
        /// CPU time.
        cpu_ns: i64, "ns";
        /// CPU × speed ÷ nominal speed; null if speeds or nominal speeds are unknown.
        normalized_ns: Option<i64>, "ns";
        /// Mean speed while the process ran, weighted by time; the nominal speed if no other is
        /// known.
        mean_mhz: Option<f64>, "MHz";
        /// Nominal speed, weighted by time.
        nominal_mhz: Option<f64>, "MHz";
        /// Part of the CPU whose speed was recorded.
        measured_ns: i64, "ns";
        /// Processors it ran on, as ranges: `0-3,6`.
        cores: String;
        /// Number of processors it ran on.
        core_count: i32;
        /// First sample or switch-in.
        first_ns: i64, "ns";
        /// Last sample or switch-out.
        last_ns: i64, "ns";
    }

    /// CPU of a method in a process on one kind of core, inclusive: a method counts once for each
    /// stack. Only for traces with several kinds of cores.
    CpuMethodClass / CpuMethodClassColumns = "cpu_method_class", order ["process_key"] {
        /// The process; null for threads of unknown process.
        process_key: Option<i32>, "key";
        /// File name of the module; null if none was mapped there.
        module: Option<Arc<str>>;
        /// Name of the function; without one the offset in the module or the address, such as
        /// `+0x1a2b`.
        method: String;
        /// Path of the module.
        module_path: Option<Arc<str>>;
        /// Kind of core, see `cpu_core`; null if it was not recorded.
        efficiency_class: Option<i32>;
        /// CPU time.
        cpu_ns: i64, "ns";
        /// CPU × speed ÷ nominal speed; null if speeds or nominal speeds are unknown.
        normalized_ns: Option<i64>, "ns";
        /// Mean speed, weighted by time; the nominal speed if no other is known.
        mean_mhz: Option<f64>, "MHz";
        /// Nominal speed, weighted by time.
        nominal_mhz: Option<f64>, "MHz";
        /// Part of the CPU whose speed was recorded.
        measured_ns: i64, "ns";
        /// Processors it ran on, as ranges: `0-3,6`.
        cores: String;
        /// Number of processors it ran on.
        core_count: i32;
        /// First sample or switch-in.
        first_ns: i64, "ns";
        /// Last sample or switch-out.
        last_ns: i64, "ns";
    }

    /// Running and ready time of a process on one kind of core with one priority, from context
    /// switches.
    CpuClassPriority / CpuClassPriorityColumns = "cpu_class_priority", order ["process_key"] {
        /// The process; null for threads of unknown process.
        process_key: Option<i32>, "key";
        /// Kind of core, see `cpu_core`; null if it was not recorded.
        efficiency_class: Option<i32>;
        /// Priority with which threads were switched in; null for threads that were running when
        /// the trace started.
        priority: Option<i32>;
        /// Number of switch-ins.
        switches: i64;
        /// Time on these cores.
        run_ns: i64, "ns";
        /// Part of `run_ns` in which a core of a higher class was idle.
        run_faster_idle_ns: i64, "ns";
        /// Sum of the ready times before a switch-in on one of these cores.
        ready_ns: i64, "ns";
        /// Part of `ready_ns` in which a core of this class was idle.
        ready_idle_ns: i64, "ns";
        /// Part of `ready_ns` in which any core was idle.
        ready_any_idle_ns: i64, "ns";
    }

    /// Time of a processor in each idle state.
    CpuCoreState / CpuCoreStateColumns = "cpu_core_state", order ["cpu"] {
        /// Processor.
        cpu: i32;
        /// `idle_event`: from idle events of the kernel; `context_switch`: from scheduling slices
        /// of the idle thread and their final state.
        source: &'static str;
        /// Number of the idle state; context switches report 0 for shallow ones.
        state: Option<i32>;
        /// Number of stays.
        count: i64;
        /// Time.
        duration_ns: i64, "ns";
        /// Longest time.
        max_ns: i64, "ns";
    }
}
