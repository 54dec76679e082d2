//! Columns of the speeds, idle states and priorities of cores.

use super::CoresRequest;
use super::rows::{ClassRow, CoreRow, MethodClassRow, PriorityRow, StateRow};
use etwkit_question::Format::{
    Fixed, Id, Milliseconds, Process, ProcessLine, Seconds, Whole, Word,
};
use etwkit_question::{Column, Ranked, View};

type Core = Column<CoresRequest, CoreRow>;

pub(super) const CORE_SPEEDS: View<CoresRequest, CoreRow> = View::new(
    &[
        Core::new("Cpu", "CPU", Id, |_, row| row.cpu.into()),
        Core::new("Group", "Group", Id, |_, row| row.processor_group.into()),
        Core::new("Node", "Node", Id, |_, row| row.numa_node.into()),
        Core::new("Class", "Class", Id, |_, row| row.efficiency_class.into()).or("?"),
        Core::new("SchedulingClass", "Scheduling", Id, |_, row| {
            row.scheduling_class.into()
        }),
        Core::new("Nominal", "Nominal MHz", Whole, |_, row| {
            row.nominal_mhz.into()
        }),
        Core::new("Mean", "Mean MHz", Fixed(0), |_, row| row.mean_mhz.into()),
        Core::new("Min", "Min", Whole, |_, row| row.min_mhz.into()),
        Core::new("Max", "Max", Whole, |_, row| row.max_mhz.into()),
        Core::new("Frequency", "% of nominal", Fixed(0), |_, row| {
            row.frequency_percent.into()
        }),
        Core::new("Parked", "Parked %", Fixed(1), |_, row| {
            row.parked_percent.into()
        }),
        Core::new("HyperThreaded", "Shared", Word, |_, row| {
            row.is_hyper_threaded
                .map(|is_shared| if is_shared { "yes" } else { "no" })
                .into()
        }),
        Core::new("Name", "Name", Word, |_, row| row.name.clone().into()),
    ],
    |_| 0.0,
)
.ranking(|_| Ranked::No);

type State = Column<CoresRequest, StateRow>;

pub(super) const IDLE_STATES: View<CoresRequest, StateRow> = View::new(
    &[
        State::new("Cpu", "CPU", Id, |_, row| row.cpu.into()),
        State::new("Class", "Class", Id, |_, row| row.efficiency_class.into()).or("?"),
        State::new("State", "C-state", Id, |_, row| row.state.into()).or("?"),
        State::new("Count", "Count", Whole, |_, row| row.count.into()).sum(),
        State::new("Time", "Time ms", Milliseconds, |_, row| {
            row.duration_ns.into()
        })
        .sum(),
        State::new("Percent", "% of trace", Fixed(1), |_, row| {
            row.percent.into()
        }),
        State::new("Max", "Max µs", Whole, |_, row| (row.max_ns / 1000).into()),
        State::new("Source", "From", Word, |_, row| row.source.clone().into()),
    ],
    |_| 0.0,
)
.ranking(|_| Ranked::No);

type Class = Column<CoresRequest, ClassRow>;

pub(super) const CLASSES: View<CoresRequest, ClassRow> = View::new(
    &[
        Class::new("Class", "Class", Id, |_, row| row.efficiency_class.into()).or("?"),
        Class::new("Cpu", "CPU ms", Milliseconds, |_, row| row.cpu_ns.into()).cost(),
        Class::new("Percent", "% of CPU", Fixed(0), |_, row| {
            row.cpu_percent.into()
        }),
        Class::new("Normalized", "Normalized ms", Milliseconds, |_, row| {
            row.normalized_ns.into()
        })
        .cost(),
        Class::new("Mean", "Mean MHz", Fixed(0), |_, row| row.mean_mhz.into()),
        Class::new("Frequency", "% of nominal", Fixed(0), |_, row| {
            row.frequency_percent.into()
        }),
        Class::new("CoreCount", "Used cores", Id, |_, row| {
            row.core_count.into()
        }),
        Class::new("Cores", "Cores", Word, |_, row| row.cores.clone().into()),
        Class::new("Process", "Process", ProcessLine, |_, row| row.into()),
    ],
    |row| row.process_cpu_ns as f64,
);

/// Properties of the answer that decide which columns of priorities are shown.
#[derive(Clone)]
pub(super) struct Priorities {
    pub(super) per_process: bool,
    /// True if some cores can be faster than others.
    pub(super) has_faster: bool,
}

type Priority = Column<Priorities, PriorityRow>;

pub(super) const PRIORITIES: View<Priorities, PriorityRow> = View::new(
    &[
        Priority::new("Priority", "Priority", Id, |_, row| row.priority.into()).or("?"),
        Priority::new("Class", "Class", Id, |_, row| row.efficiency_class.into()).or("?"),
        Priority::new("Switches", "Switches", Whole, |_, row| row.switches.into()).sum(),
        Priority::new("Run", "Run ms", Milliseconds, |_, row| row.run_ns.into()).cost(),
        Priority::new("Percent", "% of priority", Fixed(0), |_, row| {
            row.run_percent.into()
        }),
        Priority::new(
            "RunFasterIdle",
            "While a faster core idled",
            Milliseconds,
            |_, row| row.run_faster_idle_ns.into(),
        )
        .cost()
        .shown_if(|asked| asked.has_faster),
        Priority::new("Ready", "Ready ms", Milliseconds, |_, row| {
            row.ready_ns.into()
        })
        .cost(),
        Priority::new(
            "ReadyIdle",
            "While this class idled",
            Milliseconds,
            |_, row| row.ready_idle_ns.into(),
        )
        .cost(),
        Priority::new("ReadyAnyIdle", "While any idled", Milliseconds, |_, row| {
            row.ready_any_idle_ns.into()
        })
        .cost(),
        Priority::new("Process", "Process", Process, |_, row| row.into())
            .shown_if(|asked| asked.per_process),
    ],
    |row| row.owner_run_ns as f64,
);

type Method = Column<CoresRequest, MethodClassRow>;

pub(super) const METHODS: View<CoresRequest, MethodClassRow> = View::new(
    &[
        Method::new("Class", "Class", Id, |_, row| row.efficiency_class.into()).or("?"),
        Method::new("Cpu", "CPU ms", Milliseconds, |_, row| row.cpu_ns.into()).cost(),
        Method::new("Percent", "% of CPU", Fixed(0), |_, row| {
            row.cpu_percent.into()
        }),
        Method::new("Normalized", "Normalized ms", Milliseconds, |_, row| {
            row.normalized_ns.into()
        })
        .cost(),
        Method::new("Mean", "Mean MHz", Fixed(0), |_, row| row.mean_mhz.into()),
        Method::new("Frequency", "% of nominal", Fixed(0), |_, row| {
            row.frequency_percent.into()
        }),
        Method::new("CoreCount", "Used cores", Id, |_, row| {
            format!("{} of {}", row.core_count, row.enabled_cores).into()
        }),
        Method::new("Duration", "Last-First s", Seconds(3), |_, row| {
            row.duration_ns.into()
        }),
        Method::new("Method", "Method", Word, |_, row| row.name.clone().into()),
        Method::new("Process", "Process", Process, |_, row| row.into()),
    ],
    |row| row.method_cpu_ns as f64,
);
