//! CPU time by kind of core: its length, its speed, and the time in which a better core was idle.

use std::collections::{BTreeMap, BTreeSet};

use etwkit_base::digits::ranges;

use super::TableSource;
use super::class_methods;
use super::columns::{Get, boolean, int32, int64, text, whole_int64};
use super::cpu::idle_process;
use super::idle::{Idle, Spans};
use super::speeds::{Cores, Speeds};
use super::states::States;
use crate::out::write_all;
use crate::sink::{Sink, SinkError};
use crate::table::{ContextSwitch, CpuClass, CpuClassPriority, CpuSample, Diagnostic, Row};

/// CPU of a process on one kind of core.
#[derive(Debug, Default)]
pub(super) struct CoreKindCpu {
    cpu_ns: i64,
    measured_ns: i64,
    /// Σ time × MHz, Σ time × nominal MHz, Σ time × MHz ÷ nominal MHz.
    speed: f64,
    nominal: f64,
    normalized: f64,
    /// Time whose speed, or whose nominal speed, is unknown.
    has_unknown_speed: bool,
    has_unknown_nominal: bool,
    cores: BTreeSet<i32>,
    time: Option<(i64, i64)>,
}

impl CoreKindCpu {
    pub(super) fn add(
        &mut self,
        cpu: Option<i32>,
        (start, end): (i64, i64),
        length: i64,
        cores: &Cores,
        speeds: &Speeds,
    ) {
        self.cpu_ns = self.cpu_ns.saturating_add(length);
        self.cores.extend(cpu);
        self.saw(start, end);
        let measured = speeds.at(cpu, start);
        let nominal = cores.nominal_mhz(cpu).filter(|mhz| *mhz > 0);
        self.measured_ns = self
            .measured_ns
            .saturating_add(measured.map_or(0, |_| length));
        // If no frequency was recorded the nominal one is used. `measured_ns` is the time for which
        // that was not necessary.
        match measured.or(nominal) {
            // Means are weighted by time, so that sums of different slices can be added up before
            // they are divided.
            Some(mhz) => self.speed += length as f64 * f64::from(mhz),
            None => self.has_unknown_speed = true,
        }
        match nominal.map(f64::from) {
            Some(nominal) => {
                self.nominal += length as f64 * nominal;
                self.normalized += length as f64 * measured.map_or(nominal, f64::from) / nominal;
            }
            None => self.has_unknown_nominal = true,
        }
    }

    /// Adds another sum.
    pub(super) fn merge(&mut self, other: &Self) {
        self.cpu_ns = self.cpu_ns.saturating_add(other.cpu_ns);
        self.measured_ns = self.measured_ns.saturating_add(other.measured_ns);
        self.speed += other.speed;
        self.nominal += other.nominal;
        self.normalized += other.normalized;
        self.has_unknown_speed |= other.has_unknown_speed;
        self.has_unknown_nominal |= other.has_unknown_nominal;
        self.cores.extend(&other.cores);
        if let Some((start, end)) = other.time {
            self.saw(start, end);
        }
    }

    fn saw(&mut self, start: i64, end: i64) {
        self.time = Some(
            self.time
                .map_or((start, end), |(a, b)| (a.min(start), b.max(end))),
        );
    }

    pub(super) fn row(&self, process_key: Option<i32>, efficiency_class: Option<i32>) -> CpuClass {
        let mean = |sum: f64, is_unknown: bool| {
            (self.cpu_ns > 0 && !is_unknown).then(|| sum / self.cpu_ns as f64)
        };
        // Without any measured frequency the normalized time would equal the CPU time and only look
        // like a finding.
        let is_normal = self.measured_ns > 0 && !self.has_unknown_nominal;
        // Each time that is added has a start and an end.
        let (first_ns, last_ns) = self.time.unwrap_or_default();
        CpuClass {
            process_key,
            efficiency_class,
            cpu_ns: self.cpu_ns,
            normalized_ns: is_normal.then(|| self.normalized.round() as i64),
            mean_mhz: mean(self.speed, self.has_unknown_speed),
            nominal_mhz: mean(self.nominal, self.has_unknown_nominal),
            measured_ns: self.measured_ns,
            cores: ranges(&self.cores),
            core_count: self.cores.len() as i32,
            first_ns,
            last_ns,
        }
    }
}

/// Computes `cpu_class`, `cpu_class_priority` and `cpu_core_state`.
pub(super) fn derive(source: &dyn TableSource, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let idle = idle_process(source)?;
    let cores = Cores::read(source)?;
    let mut states = States::default();
    let speeds = Speeds::read(source)?;
    let mut sums: BTreeMap<(Option<i32>, Option<i32>), CoreKindCpu> = BTreeMap::new();
    let mut busy = BTreeSet::new();
    sampled(source, &mut |sample| {
        busy.extend(sample.cpu);
        let sum = sums
            .entry((sample.process, cores.class(sample.cpu)))
            .or_default();
        sum.add(
            sample.cpu,
            (sample.ts, sample.ts),
            sample.weight,
            &cores,
            &speeds,
        );
    })?;
    let has_samples = !sums.is_empty();
    // Idle times of all processors must be known before the first slice is compared with them,
    // hence a separate scan.
    let times = idle_times(source, idle, &cores, &busy, &mut states)?;
    states.events(source)?;
    states.write(sink)?;
    let mut priorities = BTreeMap::new();
    switched(source, idle, &mut |slice| {
        let class = cores.class(slice.cpu);
        // Samples and slices measure the same time: only one of them may be added up.
        if let Some((start, end)) = slice.run.filter(|_| !has_samples) {
            let sum = sums.entry((slice.process, class)).or_default();
            sum.add(
                slice.cpu,
                (start, end),
                end.saturating_sub(start),
                &cores,
                &speeds,
            );
        }
        let sum: &mut CpuClassPriority = priorities
            .entry((slice.process, class, slice.priority))
            .or_default();
        times.add(class, &slice, sum);
    })?;
    class_methods::derive(source, idle, (&cores, &speeds), has_samples, sink)?;
    write_all(
        sums.iter()
            .map(|((process, class), sum)| sum.row(*process, *class)),
        sink,
    )?;
    let row = |((process_key, efficiency_class, priority), sum)| CpuClassPriority {
        process_key,
        efficiency_class,
        priority,
        ..sum
    };
    write_all(priorities.into_iter().map(row), sink)
}

/// A busy sample, as far as it is needed here.
pub(super) struct Sample {
    pub(super) ts: i64,
    pub(super) cpu: Option<i32>,
    pub(super) process: Option<i32>,
    pub(super) weight: i64,
    pub(super) stack: Option<i32>,
}

pub(super) fn sampled(
    source: &dyn TableSource,
    on_sample: &mut dyn FnMut(Sample),
) -> Result<(), SinkError> {
    let columns = [
        "ts_ns",
        "cpu",
        "process_key",
        "weight_ns",
        "stack_id",
        "is_idle",
    ];
    source.scan(CpuSample::TABLE, &columns, &mut |batch| {
        let times = whole_int64(batch, "ts_ns")?;
        let weight = int64(batch, "weight_ns")?;
        let cpu = int32(batch, "cpu")?;
        let process = int32(batch, "process_key")?;
        let stack = int32(batch, "stack_id")?;
        let is_idle = boolean(batch, "is_idle")?;
        let rows = times.iter().enumerate();
        for (row, ts) in rows.filter(|(row, _)| is_idle.get(*row) != Some(true)) {
            on_sample(Sample {
                ts: *ts,
                cpu: cpu.get(row),
                process: process.get(row),
                weight: weight.amount(row),
                stack: stack.get(row),
            });
        }
        Ok(())
    })
}

/// A scheduling slice of a thread, as far as it is needed here.
pub(super) struct Slice {
    pub(super) process: Option<i32>,
    pub(super) cpu: Option<i32>,
    pub(super) stack: Option<i32>,
    priority: Option<i32>,
    is_switch_in: bool,
    pub(super) run: Option<(i64, i64)>,
    ready: Option<(i64, i64)>,
}

pub(super) fn switched(
    source: &dyn TableSource,
    idle: Option<i32>,
    on_slice: &mut dyn FnMut(Slice),
) -> Result<(), SinkError> {
    let columns = [
        "process_key",
        "cpu",
        "in_ns",
        "out_ns",
        "run_ns",
        "ready_ns",
        "priority",
        "stack_id",
    ];
    source.scan(ContextSwitch::TABLE, &columns, &mut |batch| {
        let process = int32(batch, "process_key")?;
        let cpu = int32(batch, "cpu")?;
        let in_ns = int64(batch, "in_ns")?;
        let out_ns = int64(batch, "out_ns")?;
        let run = int64(batch, "run_ns")?;
        let ready = int64(batch, "ready_ns")?;
        let priority = int32(batch, "priority")?;
        let stack = int32(batch, "stack_id")?;
        // Rows without a processor are threads that were off the processors throughout.
        for row in (0..batch.num_rows()).filter(|row| cpu.get(*row).is_some()) {
            let process = process.get(row);
            // Without an idle process `idle` is `None`, as is the process of rows whose process is
            // unknown.
            if process == idle && idle.is_some() {
                continue;
            }
            let in_ns = in_ns.get(row);
            on_slice(Slice {
                process,
                cpu: cpu.get(row),
                stack: stack.get(row),
                priority: priority.get(row),
                is_switch_in: in_ns.is_some(),
                run: interval(in_ns, out_ns.get(row), run.get(row)),
                ready: in_ns
                    .zip(ready.get(row))
                    .map(|(end, ready)| (end.saturating_sub(ready), end)),
            });
        }
        Ok(())
    })
}

/// Start and end of a slice of a known length.
fn interval(in_ns: Option<i64>, out_ns: Option<i64>, run: Option<i64>) -> Option<(i64, i64)> {
    let run = run?;
    // A thread that already ran when the trace or a gap started or ended has no switch-in; its
    // start follows from its end.
    let start = in_ns.or(out_ns.map(|out| out.saturating_sub(run)))?;
    Some((start, start.saturating_add(run)))
}

/// Times in which a core of the own class, of a faster class, or any core was idle.
#[derive(Debug, Default)]
struct IdleTimes {
    own: BTreeMap<Option<i32>, Idle>,
    faster: BTreeMap<Option<i32>, Idle>,
    any: Idle,
}

impl IdleTimes {
    fn add(&self, class: Option<i32>, slice: &Slice, sum: &mut CpuClassPriority) {
        let within = |idle: Option<&Idle>, (start, end): (i64, i64)| {
            idle.map_or(0, |idle| idle.within(start, end))
        };
        sum.switches += i64::from(slice.is_switch_in);
        if let Some(run) = slice.run {
            let faster = within(self.faster.get(&class), run);
            sum.run_ns = sum.run_ns.saturating_add(run.1.saturating_sub(run.0));
            sum.run_faster_idle_ns = sum.run_faster_idle_ns.saturating_add(faster);
        }
        if let Some(ready) = slice.ready {
            let own = within(self.own.get(&class), ready);
            let any = within(Some(&self.any), ready);
            sum.ready_ns = sum.ready_ns.saturating_add(ready.1.saturating_sub(ready.0));
            sum.ready_idle_ns = sum.ready_idle_ns.saturating_add(own);
            sum.ready_any_idle_ns = sum.ready_any_idle_ns.saturating_add(any);
        }
    }
}

/// Times in which processors of each class, of a higher one, or any were idle, while they are
/// collected.
struct IdleSpans {
    classes: Vec<Option<i32>>,
    own: BTreeMap<Option<i32>, Spans>,
    faster: BTreeMap<Option<i32>, Spans>,
    any: Spans,
}

impl IdleSpans {
    fn new(cores: &Cores) -> Self {
        let classes = cores.classes().into_iter().collect();
        Self {
            classes,
            own: BTreeMap::new(),
            faster: BTreeMap::new(),
            any: Spans::default(),
        }
    }

    /// Adds a time in which a processor of that class was idle.
    fn add(&mut self, class: Option<i32>, start: i64, end: i64) {
        self.own.entry(class).or_default().add(start, end);
        self.any.add(start, end);
        // Every class below gets the time: a thread on a slower core could have run here instead. A
        // core without a class is neither slower nor faster than another.
        for lower in self
            .classes
            .iter()
            .filter(|lower| lower.is_some() && **lower < class)
        {
            self.faster.entry(*lower).or_default().add(start, end);
        }
    }

    fn finish(self) -> IdleTimes {
        let finish = |spans: BTreeMap<Option<i32>, Spans>| {
            spans
                .into_iter()
                .map(|(class, spans)| (class, spans.finish()))
                .collect()
        };
        IdleTimes {
            own: finish(self.own),
            faster: finish(self.faster),
            any: self.any.finish(),
        }
    }
}

/// Reads the slices of idle threads: when each kind of core was idle, and in which states.
///
/// Computes the idle times. A processor that never switched while others did was idle from the
/// first to the last switch of the others. This does not hold if a sample found it busy, or if
/// events were lost, because its switches may be among them.
fn idle_times(
    source: &dyn TableSource,
    idle: Option<i32>,
    cores: &Cores,
    busy: &BTreeSet<i32>,
    states: &mut States,
) -> Result<IdleTimes, SinkError> {
    let mut spans = IdleSpans::new(cores);
    let mut switched = BTreeSet::new();
    let mut recorded = None;
    let columns = [
        "process_key",
        "cpu",
        "in_ns",
        "out_ns",
        "run_ns",
        "prev_c_state",
    ];
    source.scan(ContextSwitch::TABLE, &columns, &mut |batch| {
        let process = int32(batch, "process_key")?;
        let cpu = int32(batch, "cpu")?;
        let in_ns = int64(batch, "in_ns")?;
        let out_ns = int64(batch, "out_ns")?;
        let run = int64(batch, "run_ns")?;
        let state = int32(batch, "prev_c_state")?;
        for row in 0..batch.num_rows() {
            let Some(cpu) = cpu.get(row) else { continue };
            switched.insert(cpu);
            let slice = interval(in_ns.get(row), out_ns.get(row), run.get(row));
            if let Some((start, end)) = slice {
                recorded = Some(recorded.map_or((start, end), |(a, b): (i64, i64)| {
                    (a.min(start), b.max(end))
                }));
            }
            if process.get(row) != idle || idle.is_none() {
                states.woke(cpu, in_ns.get(row), state.get(row));
                continue;
            }
            let Some((start, end)) = slice else { continue };
            states.slept(cpu, start, end);
            spans.add(cores.class(Some(cpu)), start, end);
        }
        Ok(())
    })?;
    let silent: Vec<i32> = cores
        .all()
        .filter(|cpu| !switched.contains(cpu) && !busy.contains(cpu))
        .collect();
    if let Some((start, end)) = recorded.filter(|_| idle.is_some() && !silent.is_empty())
        && !is_incomplete(source)?
    {
        for cpu in silent {
            states.slept(cpu, start, end);
            spans.add(cores.class(Some(cpu)), start, end);
        }
    }
    Ok(spans.finish())
}

/// True if events are missing from the trace: lost by the recorder, or damaged.
fn is_incomplete(source: &dyn TableSource) -> Result<bool, SinkError> {
    let mut found = false;
    source.scan(Diagnostic::TABLE, &["severity", "kind"], &mut |batch| {
        let severity = text(batch, "severity")?;
        let kind = text(batch, "kind")?;
        // Damage has the severity of an error, losses while recording only the severity of a
        // warning.
        let is_gap =
            |kind: &str| ["lost_events", "lost_buffers", "missing_buffers"].contains(&kind);
        found |= (0..batch.num_rows())
            .any(|row| severity.get(row) == Some("error") || kind.get(row).is_some_and(is_gap));
        Ok(())
    })?;
    Ok(found)
}
