//! Columns of the speeds, idle states and priorities of cores.

use super::CoresRequest;
use super::rows::{ClassRow, CoreRow, MethodClassRow, PriorityRow, StateRow};
use etwkit_question::Format::{
    Fixed, Id, Milliseconds, Process, ProcessLine, Seconds, Whole, WholeMicroseconds, Word,
};
use etwkit_question::{Column, Ranked, View};

type CoreColumn = Column<CoresRequest, CoreRow>;

pub(super) const CORE_SPEEDS: View<CoresRequest, CoreRow> = View::new(
    &[
        CoreColumn::new("Cpu", "CPU", Id, |_, row| row.cpu.into()),
        CoreColumn::new("Group", "Group", Id, |_, row| row.processor_group.into()),
        CoreColumn::new("Node", "Node", Id, |_, row| row.numa_node.into()),
        CoreColumn::new("Class", "Class", Id, |_, row| row.efficiency_class.into()).or("?"),
        CoreColumn::new("SchedulingClass", "Scheduling", Id, |_, row| {
            row.scheduling_class.into()
        }),
        CoreColumn::new("Nominal", "Nominal MHz", Whole, |_, row| {
            row.nominal_mhz.into()
        }),
        CoreColumn::new("Mean", "Mean MHz", Fixed(0), |_, row| row.mean_mhz.into()),
        CoreColumn::new("Min", "Min", Whole, |_, row| row.min_mhz.into()),
        CoreColumn::new("Max", "Max", Whole, |_, row| row.max_mhz.into()),
        CoreColumn::new("Frequency", "% of nominal", Fixed(0), |_, row| {
            row.frequency_percent.into()
        }),
        CoreColumn::new("Parked", "Parked %", Fixed(1), |_, row| {
            row.parked_percent.into()
        }),
        CoreColumn::new("HyperThreaded", "Shared", Word, |_, row| {
            row.is_hyper_threaded
                .map(|is_shared| if is_shared { "yes" } else { "no" })
                .into()
        }),
        CoreColumn::new("Name", "Name", Word, |_, row| row.name.clone().into()),
    ],
    |_| 0.0,
)
.ranking(|_| Ranked::No);

type StateColumn = Column<CoresRequest, StateRow>;

pub(super) const IDLE_STATES: View<CoresRequest, StateRow> = View::new(
    &[
        StateColumn::new("Cpu", "CPU", Id, |_, row| row.cpu.into()),
        StateColumn::new("Class", "Class", Id, |_, row| row.efficiency_class.into()).or("?"),
        StateColumn::new("State", "C-state", Id, |_, row| row.state.into()).or("?"),
        StateColumn::new("Count", "Count", Whole, |_, row| row.count.into()).sum(),
        StateColumn::new("Time", "Time ms", Milliseconds, |_, row| {
            row.duration_ns.into()
        })
        .sum(),
        StateColumn::new("Percent", "% of trace", Fixed(1), |_, row| {
            row.percent.into()
        }),
        StateColumn::new("Max", "Max µs", WholeMicroseconds, |_, row| {
            row.max_ns.into()
        }),
        StateColumn::new("Source", "From", Word, |_, row| row.source.clone().into()),
    ],
    |_| 0.0,
)
.ranking(|_| Ranked::No);

type ClassColumn = Column<CoresRequest, ClassRow>;

pub(super) const CLASSES: View<CoresRequest, ClassRow> = View::new(
    &[
        ClassColumn::new("Class", "Class", Id, |_, row| row.efficiency_class.into()).or("?"),
        ClassColumn::new("Cpu", "CPU ms", Milliseconds, |_, row| row.cpu_ns.into()).cost(),
        ClassColumn::new("Percent", "% of CPU", Fixed(0), |_, row| {
            row.cpu_percent.into()
        }),
        ClassColumn::new("Normalized", "Normalized ms", Milliseconds, |_, row| {
            row.normalized_ns.into()
        })
        .cost(),
        ClassColumn::new("Mean", "Mean MHz", Fixed(0), |_, row| row.mean_mhz.into()),
        ClassColumn::new("Frequency", "% of nominal", Fixed(0), |_, row| {
            row.frequency_percent.into()
        }),
        ClassColumn::new("CoreCount", "Used cores", Id, |_, row| {
            row.core_count.into()
        }),
        ClassColumn::new("Cores", "Cores", Word, |_, row| row.cores.clone().into()),
        ClassColumn::new("Process", "Process", ProcessLine, |_, row| row.into()),
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

type PriorityColumn = Column<Priorities, PriorityRow>;

pub(super) const PRIORITIES: View<Priorities, PriorityRow> = View::new(
    &[
        PriorityColumn::new("Priority", "Priority", Id, |_, row| row.priority.into()).or("?"),
        PriorityColumn::new("Class", "Class", Id, |_, row| row.efficiency_class.into()).or("?"),
        PriorityColumn::new("Switches", "Switches", Whole, |_, row| row.switches.into()).sum(),
        PriorityColumn::new("Run", "Run ms", Milliseconds, |_, row| row.run_ns.into()).cost(),
        PriorityColumn::new("Percent", "% of priority", Fixed(0), |_, row| {
            row.run_percent.into()
        }),
        PriorityColumn::new(
            "RunFasterIdle",
            "While a faster core idled",
            Milliseconds,
            |_, row| row.run_faster_idle_ns.into(),
        )
        .cost()
        .shown_if(|asked| asked.has_faster),
        PriorityColumn::new("Ready", "Ready ms", Milliseconds, |_, row| {
            row.ready_ns.into()
        })
        .cost(),
        PriorityColumn::new(
            "ReadyIdle",
            "While this class idled",
            Milliseconds,
            |_, row| row.ready_idle_ns.into(),
        )
        .cost(),
        PriorityColumn::new("ReadyAnyIdle", "While any idled", Milliseconds, |_, row| {
            row.ready_any_idle_ns.into()
        })
        .cost(),
        PriorityColumn::new("Process", "Process", Process, |_, row| row.into())
            .shown_if(|asked| asked.per_process),
    ],
    |row| row.owner_run_ns as f64,
);

type MethodClassColumn = Column<CoresRequest, MethodClassRow>;

pub(super) const METHODS: View<CoresRequest, MethodClassRow> = View::new(
    &[
        MethodClassColumn::new("Class", "Class", Id, |_, row| row.efficiency_class.into()).or("?"),
        MethodClassColumn::new("Cpu", "CPU ms", Milliseconds, |_, row| row.cpu_ns.into()).cost(),
        MethodClassColumn::new("Percent", "% of CPU", Fixed(0), |_, row| {
            row.cpu_percent.into()
        }),
        MethodClassColumn::new("Normalized", "Normalized ms", Milliseconds, |_, row| {
            row.normalized_ns.into()
        })
        .cost(),
        MethodClassColumn::new("Mean", "Mean MHz", Fixed(0), |_, row| row.mean_mhz.into()),
        MethodClassColumn::new("Frequency", "% of nominal", Fixed(0), |_, row| {
            row.frequency_percent.into()
        }),
        MethodClassColumn::new("CoreCount", "Used cores", Id, |_, row| {
            format!("{} of {}", row.core_count, row.enabled_cores).into()
        }),
        MethodClassColumn::new("Duration", "Last-First s", Seconds(3), |_, row| {
            row.duration_ns.into()
        }),
        MethodClassColumn::new("Method", "Method", Word, |_, row| row.name.clone().into()),
        MethodClassColumn::new("Process", "Process", Process, |_, row| row.into()),
    ],
    |row| row.method_cpu_ns as f64,
);
