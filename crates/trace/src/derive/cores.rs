//! CPU by kind of core: how long, how fast, and whether a better core was idle meanwhile.

use std::collections::{BTreeMap, BTreeSet};

use super::TableSource;
use super::columns::{Get, boolean, int32, int64, text};
use super::cpu::idle_process;
use super::idle::{Idle, Spans};
use super::process::ranges;
use crate::sink::{Sink, SinkError};
use crate::table::{
    Columns, ContextSwitch, CpuClass, CpuClassPriority, CpuCore, CpuCoreState, CpuFrequency, CpuIdleState,
    CpuSample, Row,
};

/// Kinds of cores that are told apart; processors have three at most.
const MAX_CLASSES: usize = 8;

/// Kind and nominal speed of each processor.
#[derive(Debug, Default)]
struct Cores {
    kinds: BTreeMap<i32, (Option<i32>, Option<i32>)>,
}

impl Cores {
    fn read(source: &dyn TableSource) -> Result<Self, SinkError> {
        let mut kinds = BTreeMap::new();
        source.scan(CpuCore::TABLE, &["cpu", "efficiency_class", "nominal_mhz"], &mut |batch| {
            let (cpu, class) = (int32(batch, "cpu")?, int32(batch, "efficiency_class")?);
            let mhz = int32(batch, "nominal_mhz")?;
            for row in 0..batch.num_rows() {
                kinds.extend(cpu.get(row).map(|cpu| (cpu, (class.get(row), mhz.get(row)))));
            }
            Ok(())
        })?;
        let mut cores = Self { kinds };
        if cores.classes().len() > MAX_CLASSES {
            cores.kinds.values_mut().for_each(|(class, _)| *class = None);
        }
        Ok(cores)
    }

    fn classes(&self) -> BTreeSet<Option<i32>> {
        self.kinds.values().map(|(class, _)| *class).collect()
    }

    fn class(&self, cpu: Option<i32>) -> Option<i32> {
        self.kinds.get(&cpu?)?.0
    }

    fn nominal_mhz(&self, cpu: Option<i32>) -> Option<i32> {
        self.kinds.get(&cpu?)?.1
    }
}

/// Speeds of processors over time.
#[derive(Debug, Default)]
struct Speeds {
    /// Begin, end and MHz in the order of their begins.
    of: BTreeMap<i32, Vec<(i64, i64, i32)>>,
}

impl Speeds {
    /// Measured speeds of a processor, without them those that were asked for.
    fn read(source: &dyn TableSource) -> Result<Self, SinkError> {
        let (mut measured, mut requested) = (Self::default(), Self::default());
        source.scan(CpuFrequency::TABLE, &["cpu", "start_ns", "stop_ns", "mhz", "kind"], &mut |batch| {
            let (cpu, mhz) = (int32(batch, "cpu")?, int32(batch, "mhz")?);
            let (start, stop) = (int64(batch, "start_ns")?, int64(batch, "stop_ns")?);
            let kind = text(batch, "kind")?;
            for row in 0..batch.num_rows() {
                let to = if kind.get(row) == Some("delivered") { &mut measured } else { &mut requested };
                let Some(cpu) = cpu.get(row) else { continue };
                let time = (start.get(row).unwrap_or_default(), stop.get(row).unwrap_or_default());
                to.of.entry(cpu).or_default().push((time.0, time.1, mhz.get(row).unwrap_or_default()));
            }
            Ok(())
        })?;
        for (cpu, speeds) in requested.of {
            measured.of.entry(cpu).or_insert(speeds);
        }
        measured.of.values_mut().for_each(|speeds| speeds.sort_unstable());
        Ok(measured)
    }

    fn at(&self, cpu: Option<i32>, time: i64) -> Option<i32> {
        let speeds = self.of.get(&cpu?)?;
        let at = speeds.partition_point(|(start, ..)| *start <= time).checked_sub(1)?;
        speeds.get(at).filter(|(_, stop, _)| time < *stop).map(|(.., mhz)| *mhz)
    }
}

/// CPU of a process on one kind of core.
#[derive(Debug, Default)]
struct Sum {
    cpu_ns: i64,
    measured_ns: i64,
    /// Σ time × MHz, Σ time × nominal MHz, Σ time × MHz ÷ nominal MHz.
    speed: f64,
    nominal: f64,
    normalized: f64,
    /// Time whose speed, or whose nominal speed, is not known.
    has_unknown_speed: bool,
    has_unknown_nominal: bool,
    cores: BTreeSet<i32>,
    time: Option<(i64, i64)>,
}

impl Sum {
    fn add(
        &mut self,
        cpu: Option<i32>,
        (start, end): (i64, i64),
        length: i64,
        cores: &Cores,
        speeds: &Speeds,
    ) {
        self.cpu_ns = self.cpu_ns.saturating_add(length);
        self.cores.extend(cpu);
        self.time = Some(self.time.map_or((start, end), |(a, b)| (a.min(start), b.max(end))));
        let measured = speeds.at(cpu, start);
        let nominal = cores.nominal_mhz(cpu).filter(|mhz| *mhz > 0);
        self.measured_ns = self.measured_ns.saturating_add(measured.map_or(0, |_| length));
        match measured.or(nominal) {
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

    fn row(&self, process_key: Option<i32>, efficiency_class: Option<i32>) -> CpuClass {
        let mean =
            |sum: f64, is_unknown: bool| (self.cpu_ns > 0 && !is_unknown).then(|| sum / self.cpu_ns as f64);
        let is_normal = self.measured_ns > 0 && !self.has_unknown_nominal;
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
    let times = idle_times(source, idle, &cores, &mut states)?;
    states.events(source)?;
    states.write(sink)?;
    let speeds = Speeds::read(source)?;
    let mut sums = sampled(source, &cores, &speeds)?;
    let has_samples = !sums.is_empty();
    let mut priorities = BTreeMap::new();
    switched(source, idle, &mut |stay| {
        let class = cores.class(stay.cpu);
        if let Some((start, end)) = stay.run.filter(|_| !has_samples) {
            let sum = sums.entry((stay.process, class)).or_default();
            sum.add(stay.cpu, (start, end), end.saturating_sub(start), &cores, &speeds);
        }
        let sum: &mut CpuClassPriority = priorities.entry((stay.process, class, stay.priority)).or_default();
        times.add(class, &stay, sum);
    })?;
    let mut columns = <CpuClass as Row>::Columns::default();
    sums.iter().for_each(|((process, class), sum)| columns.push(&sum.row(*process, *class)));
    if !columns.is_empty() {
        sink.write(CpuClass::TABLE, columns.take())?;
    }
    let mut columns = <CpuClassPriority as Row>::Columns::default();
    for ((process_key, efficiency_class, priority), sum) in priorities {
        columns.push(&CpuClassPriority { process_key, efficiency_class, priority, ..sum });
    }
    if columns.is_empty() { Ok(()) } else { sink.write(CpuClassPriority::TABLE, columns.take()) }
}

type Sums = BTreeMap<(Option<i32>, Option<i32>), Sum>;

fn sampled(source: &dyn TableSource, cores: &Cores, speeds: &Speeds) -> Result<Sums, SinkError> {
    let mut sums = Sums::new();
    let columns = ["ts_ns", "cpu", "process_key", "weight_ns", "is_idle"];
    source.scan(CpuSample::TABLE, &columns, &mut |batch| {
        let (ts, weight) = (int64(batch, "ts_ns")?, int64(batch, "weight_ns")?);
        let (cpu, process) = (int32(batch, "cpu")?, int32(batch, "process_key")?);
        let is_idle = boolean(batch, "is_idle")?;
        for row in (0..batch.num_rows()).filter(|row| is_idle.get(*row) != Some(true)) {
            let (ts, cpu) = (ts.get(row).unwrap_or_default(), cpu.get(row));
            let sum = sums.entry((process.get(row), cores.class(cpu))).or_default();
            sum.add(cpu, (ts, ts), weight.get(row).unwrap_or_default(), cores, speeds);
        }
        Ok(())
    })?;
    Ok(sums)
}

/// A stay of a thread, as far as it is needed here.
struct Stay {
    process: Option<i32>,
    cpu: Option<i32>,
    priority: Option<i32>,
    is_switch_in: bool,
    run: Option<(i64, i64)>,
    ready: Option<(i64, i64)>,
}

fn switched(
    source: &dyn TableSource,
    idle: Option<i32>,
    on_stay: &mut dyn FnMut(Stay),
) -> Result<(), SinkError> {
    let columns = ["process_key", "cpu", "in_ns", "out_ns", "run_ns", "ready_ns", "priority"];
    source.scan(ContextSwitch::TABLE, &columns, &mut |batch| {
        let (process, cpu) = (int32(batch, "process_key")?, int32(batch, "cpu")?);
        let (in_ns, out_ns) = (int64(batch, "in_ns")?, int64(batch, "out_ns")?);
        let (run, ready) = (int64(batch, "run_ns")?, int64(batch, "ready_ns")?);
        let priority = int32(batch, "priority")?;
        for row in (0..batch.num_rows()).filter(|row| cpu.get(*row).is_some()) {
            let process = process.get(row);
            if process == idle && idle.is_some() {
                continue;
            }
            let in_ns = in_ns.get(row);
            on_stay(Stay {
                process,
                cpu: cpu.get(row),
                priority: priority.get(row),
                is_switch_in: in_ns.is_some(),
                run: interval(in_ns, out_ns.get(row), run.get(row)),
                ready: in_ns.zip(ready.get(row)).map(|(end, ready)| (end.saturating_sub(ready), end)),
            });
        }
        Ok(())
    })
}

/// Begin and end of a stay of a known length.
fn interval(in_ns: Option<i64>, out_ns: Option<i64>, run: Option<i64>) -> Option<(i64, i64)> {
    let run = run?;
    let start = in_ns.or(out_ns.map(|out| out.saturating_sub(run)))?;
    Some((start, start.saturating_add(run)))
}

/// When cores of each class, of a higher one, or any core was idle.
#[derive(Debug, Default)]
struct IdleTimes {
    own: BTreeMap<Option<i32>, Idle>,
    faster: BTreeMap<Option<i32>, Idle>,
    any: Idle,
}

impl IdleTimes {
    fn add(&self, class: Option<i32>, stay: &Stay, sum: &mut CpuClassPriority) {
        let within =
            |idle: Option<&Idle>, (start, end): (i64, i64)| idle.map_or(0, |idle| idle.within(start, end));
        sum.switches += i64::from(stay.is_switch_in);
        if let Some(run) = stay.run {
            let faster = within(self.faster.get(&class), run);
            sum.run_ns = sum.run_ns.saturating_add(run.1.saturating_sub(run.0));
            sum.run_faster_idle_ns = sum.run_faster_idle_ns.saturating_add(faster);
        }
        if let Some(ready) = stay.ready {
            let (own, any) = (within(self.own.get(&class), ready), within(Some(&self.any), ready));
            sum.ready_ns = sum.ready_ns.saturating_add(ready.1.saturating_sub(ready.0));
            sum.ready_idle_ns = sum.ready_idle_ns.saturating_add(own);
            sum.ready_any_idle_ns = sum.ready_any_idle_ns.saturating_add(any);
        }
    }
}

/// Reads the stays of idle threads: when each kind of core was idle, and in which states.
fn idle_times(
    source: &dyn TableSource,
    idle: Option<i32>,
    cores: &Cores,
    states: &mut States,
) -> Result<IdleTimes, SinkError> {
    let classes = cores.classes();
    let (mut own, mut any) = (BTreeMap::<Option<i32>, Spans>::new(), Spans::default());
    let mut faster = BTreeMap::<Option<i32>, Spans>::new();
    let columns = ["process_key", "cpu", "in_ns", "out_ns", "run_ns", "prev_c_state"];
    source.scan(ContextSwitch::TABLE, &columns, &mut |batch| {
        let (process, cpu) = (int32(batch, "process_key")?, int32(batch, "cpu")?);
        let (in_ns, out_ns) = (int64(batch, "in_ns")?, int64(batch, "out_ns")?);
        let (run, state) = (int64(batch, "run_ns")?, int32(batch, "prev_c_state")?);
        for row in 0..batch.num_rows() {
            let Some(cpu) = cpu.get(row) else { continue };
            if process.get(row) != idle || idle.is_none() {
                states.woke(cpu, in_ns.get(row), state.get(row));
                continue;
            }
            let Some((start, end)) = interval(in_ns.get(row), out_ns.get(row), run.get(row)) else {
                continue;
            };
            states.slept(cpu, start, end);
            let class = cores.class(Some(cpu));
            own.entry(class).or_default().add(start, end);
            any.add(start, end);
            for lower in classes.iter().filter(|lower| lower.is_some() && **lower < class) {
                faster.entry(*lower).or_default().add(start, end);
            }
        }
        Ok(())
    })?;
    let finish = |spans: BTreeMap<Option<i32>, Spans>| {
        spans.into_iter().map(|(class, spans)| (class, spans.finish())).collect()
    };
    Ok(IdleTimes { own: finish(own), faster: finish(faster), any: any.finish() })
}

/// Processor, source and number of a state.
type StateKey = (i32, &'static str, Option<i32>);

/// How often, how long in all and at most processors were in which idle state.
#[derive(Debug, Default)]
struct States {
    sums: BTreeMap<StateKey, (i64, i64, i64)>,
    /// The last stay of the idle thread of each processor, until a thread comes that tells its state.
    last: BTreeMap<i32, (i64, i64)>,
}

impl States {
    fn slept(&mut self, cpu: i32, start: i64, end: i64) {
        if let Some((start, end)) = self.last.insert(cpu, (start, end)) {
            self.add(cpu, "context_switch", None, end.saturating_sub(start));
        }
    }

    /// A thread came to the processor at that time.
    fn woke(&mut self, cpu: i32, in_ns: Option<i64>, state: Option<i32>) {
        let Some((start, end)) = self.last.get(&cpu).copied() else { return };
        if in_ns == Some(end) {
            self.last.remove(&cpu);
            self.add(cpu, "context_switch", state, end.saturating_sub(start));
        }
    }

    fn add(&mut self, cpu: i32, source: &'static str, state: Option<i32>, length: i64) {
        let sum = self.sums.entry((cpu, source, state)).or_default();
        *sum = (sum.0 + 1, sum.1.saturating_add(length), sum.2.max(length));
    }

    /// Adds what idle events of the kernel tell.
    fn events(&mut self, source: &dyn TableSource) -> Result<(), SinkError> {
        source.scan(CpuIdleState::TABLE, &["cpu", "start_ns", "end_ns", "state"], &mut |batch| {
            let (cpu, state) = (int32(batch, "cpu")?, int32(batch, "state")?);
            let (start, end) = (int64(batch, "start_ns")?, int64(batch, "end_ns")?);
            for row in 0..batch.num_rows() {
                let length =
                    end.get(row).unwrap_or_default().saturating_sub(start.get(row).unwrap_or_default());
                self.add(cpu.get(row).unwrap_or_default(), "idle_event", state.get(row), length);
            }
            Ok(())
        })
    }

    fn write(mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        for (cpu, (start, end)) in std::mem::take(&mut self.last) {
            self.add(cpu, "context_switch", None, end.saturating_sub(start));
        }
        let mut columns = <CpuCoreState as Row>::Columns::default();
        for ((cpu, source, state), (count, duration_ns, max_ns)) in self.sums {
            columns.push(&CpuCoreState { cpu, source, state, count, duration_ns, max_ns });
        }
        if columns.is_empty() { Ok(()) } else { sink.write(CpuCoreState::TABLE, columns.take()) }
    }
}
