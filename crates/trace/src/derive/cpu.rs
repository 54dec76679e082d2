//! CPU, waiting and ready time by process.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use etwkit_base::intervals::SortedUnion;
use etwkit_base::ordered::{Workers, both, processors};
use rustc_hash::FxHashMap;

use super::columns::{Get, boolean, int32, int64, whole_int64};
use super::frames::Stacks;
use super::interval::Interval;
use super::method::{Group, GroupKey, Methods, NO_STACK, ProcessCpuData};
use super::percentiles::ReadyKind;
use super::process::{ProcessSum, row};
use super::tag::Tags;
use super::tag_interval;
use super::{Batches, TableSource, plus};
use crate::out::{Out, write_all};
use crate::schedule::was_preempted;
use crate::sink::{Sink, SinkError};
use crate::table::{ContextSwitch, CpuProcess, CpuSample, CpuStack, Process, Row, Table};
use crate::tags::TagSet;

/// Maximum number of intervals in memory. The intervals of all processes of a long trace do not
/// fit, and each further chunk of processes costs another scan of the switches.
const HELD_ROWS: usize = 2_000_000;

/// Threads that compute the tables of processes, at most. Each holds sums of all methods, also where a
/// trace is derived on every processor at the same time.
const THREADS: usize = 4;

type Sums = BTreeMap<Option<i32>, ProcessSum>;
pub(super) type Groups = FxHashMap<GroupKey, Group>;

/// Computes `cpu_process`, `cpu_method`, `ready_percentile`, `cpu_tag` and `cpu_stack`.
pub(super) fn derive(
    source: &dyn TableSource,
    sets: &[TagSet],
    sink: &mut dyn Sink,
) -> Result<(), SinkError> {
    // What is ahead is bounded by the results that wait.
    let workers = Workers {
        threads: processors().clamp(2, THREADS),
        jobs_ahead: usize::MAX,
    };
    derive_on(workers, source, sets, sink)
}

fn derive_on(
    workers: Workers,
    source: &dyn TableSource,
    sets: &[TagSet],
    sink: &mut dyn Sink,
) -> Result<(), SinkError> {
    let idle = idle_process(source)?;
    let Added {
        sums,
        groups,
        stacks,
        tags,
        of_samples,
        has_switches,
    } = Added::read(source, sets, idle)?;
    of_samples
        .into_iter()
        .try_for_each(|(table, rows)| sink.write(table, rows))?;

    let mut processes = Out::<CpuProcess>::default();
    let mut groups: Vec<(GroupKey, Group)> = groups.into_iter().collect();
    // The order is process, thread and stack: slices of one process can be found by binary search,
    // and distinct threads be counted without a set. It also makes the rows independent of the
    // order of a hash table.
    groups.sort_unstable_by_key(|(key, _)| *key);
    for chunk in chunks(&sums) {
        let (waits, readies) = if has_switches {
            sorted_intervals(source, idle, &chunk)?
        } else {
            (Vec::new(), Vec::new())
        };
        let of_process = |process: &Option<i32>| {
            let from = groups.partition_point(|(key, _)| key.process < *process);
            let to = groups.partition_point(|(key, _)| key.process <= *process);
            let (groups, _) = groups.split_at(to);
            let (_, groups) = groups.split_at(from);
            let waits = of_process(&waits, *process);
            let readies = of_process(&readies, *process);
            ProcessCpuData {
                process: *process,
                groups,
                waits,
                readies,
                has_switches,
            }
        };
        let all: Vec<ProcessCpuData<'_>> = chunk.iter().map(of_process).collect();
        for of in &all {
            let Some(sum) = sums.get(&of.process) else {
                continue;
            };
            let row = row(
                of.process,
                sum,
                has_switches,
                union(of.waits),
                union(of.readies),
            );
            processes.push(&row, sink)?;
        }
        let work = |methods: &mut Methods<'_>, job: usize, put: &mut dyn FnMut(Batch) -> bool| {
            let Some(of) = all.get(job).copied() else {
                return;
            };
            let mut sink = Outgoing(put);
            let done = tags
                .process(of, &mut sink)
                .and_then(|()| methods.process(of, &mut sink));
            done.err().into_iter().for_each(|error| _ = put(Err(error)));
        };
        workers.stream(
            all.len(),
            || Methods::new(&stacks),
            work,
            |batch| {
                let (table, rows) = batch?;
                sink.write(table, rows)
            },
        )?;
    }
    processes.flush(sink)
}

/// Sums of samples and switches, and the meaning of their stacks.
struct Added<'s> {
    sums: Sums,
    groups: Groups,
    stacks: Stacks,
    tags: Tags<'s>,
    /// Rows of `cpu_stack` and `tag_interval`, which follow from samples alone.
    of_samples: Batches,
    has_switches: bool,
}

impl<'s> Added<'s> {
    /// Reads samples and switches at the same time.
    fn read(
        source: &dyn TableSource,
        sets: &'s [TagSet],
        idle: Option<i32>,
    ) -> Result<Self, SinkError> {
        let of_samples = || {
            let mut sums = Sums::new();
            let mut groups = Groups::default();
            samples(source, &mut sums, &mut groups)?;
            let stacks = Stacks::read(source)?;
            let tags = Tags::new(sets, &stacks);
            let mut rows = Batches::new();
            write_stacks(&groups, &mut rows)?;
            tag_interval::derive(source, &tags, &mut rows)?;
            Ok::<_, SinkError>((sums, groups, stacks, tags, rows))
        };
        let of_switches = || {
            let mut sums = Sums::new();
            let mut groups = Groups::default();
            let has_switches = switches(source, idle, &mut sums, &mut groups)?;
            Ok::<_, SinkError>((sums, groups, has_switches))
        };
        let (sampled, switched) = both(of_samples, of_switches);
        let (mut sums, mut groups, stacks, tags, of_samples) = sampled?;
        let (switched_sums, switched_groups, has_switches) = switched?;
        for (process, sum) in switched_sums {
            sums.entry(process).or_default().add(sum);
        }
        for (key, group) in switched_groups {
            groups.entry(key).or_default().add(&group);
        }
        Ok(Self {
            sums,
            groups,
            stacks,
            tags,
            of_samples,
            has_switches,
        })
    }
}

/// Rows of one of the tables.
type Batch = Result<(&'static Table, RecordBatch), SinkError>;

/// Passes rows to the thread that writes them, until it takes no more.
struct Outgoing<'p>(&'p mut dyn FnMut(Batch) -> bool);

impl Sink for Outgoing<'_> {
    fn write(&mut self, table: &'static Table, rows: RecordBatch) -> Result<(), SinkError> {
        if (self.0)(Ok((table, rows))) {
            Ok(())
        } else {
            Err("the receiver of the rows is gone".into())
        }
    }
}

/// The process of the idle threads.
pub(super) fn idle_process(source: &dyn TableSource) -> Result<Option<i32>, SinkError> {
    let mut idle = None;
    source.scan(Process::TABLE, &["process_key", "pid"], &mut |batch| {
        let key = int32(batch, "process_key")?;
        let pid = int32(batch, "pid")?;
        idle = idle.or((0..batch.num_rows())
            .find(|row| pid.get(*row) == Some(0))
            .and_then(|row| key.get(row)));
        Ok(())
    })?;
    Ok(idle)
}

/// Columns of samples for the sums of processes.
const OF_SAMPLES: [&str; 9] = [
    "ts_ns",
    "cpu",
    "process_key",
    "thread_key",
    "weight_ns",
    "stack_id",
    "is_idle",
    "is_dpc_isr",
    "priority",
];

fn samples(
    source: &dyn TableSource,
    sums: &mut Sums,
    groups: &mut Groups,
) -> Result<(), SinkError> {
    source.scan(CpuSample::TABLE, &OF_SAMPLES, &mut |batch| {
        let times = whole_int64(batch, "ts_ns")?;
        let cpu = int32(batch, "cpu")?;
        let weight = int64(batch, "weight_ns")?;
        let process = int32(batch, "process_key")?;
        let thread = int32(batch, "thread_key")?;
        let stack = int32(batch, "stack_id")?;
        let is_idle = boolean(batch, "is_idle")?;
        let (priority, is_dpc_isr) = (int32(batch, "priority")?, boolean(batch, "is_dpc_isr")?);
        for (row, ts) in times.iter().copied().enumerate() {
            if is_idle.get(row) == Some(true) {
                continue;
            }
            let weight = weight.amount(row);
            // All rows without a thread count as one thread.
            let process = process.get(row);
            let thread = thread.get(row).unwrap_or(-1);
            let sum = sums.entry(process).or_default();
            sum.samples += 1;
            sum.cpu_ns = sum.cpu_ns.saturating_add(weight);
            if is_dpc_isr.get(row) == Some(true) {
                sum.dpc_isr_cpu_ns = sum.dpc_isr_cpu_ns.saturating_add(weight);
            }
            sum.threads.insert(thread);
            sum.sampled_cores.extend(cpu.get(row));
            if let Some(priority) = priority.get(row) {
                sum.sampled_priority.0 += f64::from(priority);
                sum.sampled_priority.1 += 1.0;
            }
            sum.saw(ts, ts);
            let stack = stack.get(row).unwrap_or(NO_STACK);
            groups
                .entry(GroupKey {
                    process,
                    thread,
                    stack,
                })
                .or_default()
                .sample(ts, weight);
        }
        Ok(())
    })
}

/// Columns of switches for the sums of processes.
const OF_SWITCHES: [&str; 14] = [
    "thread_key",
    "process_key",
    "cpu",
    "last_out_ns",
    "in_ns",
    "out_ns",
    "wait_ns",
    "ready_ns",
    "run_ns",
    "dpc_isr_ns",
    "readied_ns",
    "prev_state",
    "stack_id",
    "priority",
];

/// Sums up slices. Returns whether there are any.
fn switches(
    source: &dyn TableSource,
    idle: Option<i32>,
    sums: &mut Sums,
    groups: &mut Groups,
) -> Result<bool, SinkError> {
    let mut any = false;
    source.scan(ContextSwitch::TABLE, &OF_SWITCHES, &mut |batch| {
        any |= batch.num_rows() > 0;
        let process = int32(batch, "process_key")?;
        let thread = int32(batch, "thread_key")?;
        let cpu = int32(batch, "cpu")?;
        let stack = int32(batch, "stack_id")?;
        let in_ns = int64(batch, "in_ns")?;
        let out_ns = int64(batch, "out_ns")?;
        let wait = int64(batch, "wait_ns")?;
        let ready = int64(batch, "ready_ns")?;
        let run = int64(batch, "run_ns")?;
        let last_out = int64(batch, "last_out_ns")?;
        let state = int32(batch, "prev_state")?;
        let priority = int32(batch, "priority")?;
        // Extracts of versions before 1.4 lack this column.
        let interrupted = int64(batch, "dpc_isr_ns").ok();
        for row in 0..batch.num_rows() {
            let process = process.get(row);
            if process == idle && idle.is_some() {
                continue;
            }
            let wait = wait.get(row);
            let ready = ready.get(row);
            // A thread that was off the processors throughout, without known waits, adds nothing to
            // any sum.
            if cpu.get(row).is_none() && wait.is_none() && ready.is_none() {
                continue;
            }
            let thread = thread.get(row).unwrap_or(-1);
            let sum = sums.entry(process).or_default();
            let run = run.get(row);
            sum.rows += 1;
            sum.run_ns = plus(sum.run_ns, run);
            if let Some(interrupted) = interrupted.and_then(|column| column.get(row)) {
                sum.dpc_isr_ns = Some(plus(interrupted, sum.dpc_isr_ns));
            }
            sum.threads.insert(thread);
            sum.switched_cores.extend(cpu.get(row));
            let times = [in_ns.get(row), out_ns.get(row)];
            let first = times.into_iter().flatten().min();
            let last = times.into_iter().flatten().max();
            if let Some((first, last)) = first.zip(last) {
                sum.saw(first, last);
            }
            sum.wait_sum_ns = plus(sum.wait_sum_ns, wait);
            sum.ready_sum_ns = plus(sum.ready_sum_ns, ready);
            let stack = stack.get(row).unwrap_or(NO_STACK);
            let key = GroupKey {
                process,
                thread,
                stack,
            };
            let Some(in_ns) = in_ns.get(row) else {
                // It came back after the range: its wait inside the range counts.
                if let Some(out) = last_out
                    .get(row)
                    .filter(|_| wait.is_some() || ready.is_some())
                {
                    sum.was_off(out, plus(plus(out, wait), ready));
                    groups.entry(key).or_default().off(out, wait, ready);
                }
                continue;
            };
            sum.switches += 1;
            let state = state.get(row).and_then(|state| u8::try_from(state).ok());
            sum.preemptions += i64::from(state.is_some_and(was_preempted));
            if let Some((priority, run)) = priority.get(row).zip(run) {
                // A priority counts as long as it was in force; samples have that weight by
                // themselves.
                sum.switched_priority.0 += f64::from(priority) * run as f64;
                sum.switched_priority.1 += run as f64;
            }
            // A row without a run adds none.
            let run = plus(0, run);
            groups
                .entry(key)
                .or_default()
                .switch(in_ns, last.unwrap_or(in_ns), run, wait, ready);
        }
        Ok(())
    })?;
    Ok(any)
}

/// Chunks of processes whose rows are in memory at the same time.
fn chunks(sums: &Sums) -> Vec<Vec<Option<i32>>> {
    let mut chunks: Vec<Vec<Option<i32>>> = Vec::new();
    let mut room = 0;
    for (process, sum) in sums {
        // A process is never divided, because the union of its intervals needs all of them. A
        // process with more rows than the limit gets a chunk of its own.
        if room < sum.rows || chunks.is_empty() {
            chunks.push(Vec::new());
            room = HELD_ROWS;
        }
        room = room.saturating_sub(sum.rows);
        if let Some(chunk) = chunks.last_mut() {
            chunk.push(*process);
        }
    }
    chunks
}

/// Returns the waits and the ready times of some processes, by process and then by start.
fn sorted_intervals(
    source: &dyn TableSource,
    idle: Option<i32>,
    processes: &[Option<i32>],
) -> Result<(Vec<Interval>, Vec<Interval>), SinkError> {
    let mut waits = Vec::new();
    let mut readies = Vec::new();
    intervals(source, idle, processes, &mut waits, &mut readies)?;
    let by_process = |i: &Interval| (i.process, i.start);
    both(
        || waits.sort_unstable_by_key(by_process),
        || readies.sort_unstable_by_key(by_process),
    );
    Ok((waits, readies))
}

/// Reads the waits and ready times of some processes.
fn intervals(
    source: &dyn TableSource,
    idle: Option<i32>,
    processes: &[Option<i32>],
    waits: &mut Vec<Interval>,
    readies: &mut Vec<Interval>,
) -> Result<(), SinkError> {
    let columns = [
        "process_key",
        "last_out_ns",
        "readied_ns",
        "in_ns",
        "wait_ns",
        "ready_ns",
        "stack_id",
        "prev_c_state",
    ];
    source.scan(ContextSwitch::TABLE, &columns, &mut |batch| {
        let process = int32(batch, "process_key")?;
        let stack = int32(batch, "stack_id")?;
        let last_out = int64(batch, "last_out_ns")?;
        let readied = int64(batch, "readied_ns")?;
        let wait = int64(batch, "wait_ns")?;
        let ready = int64(batch, "ready_ns")?;
        let in_ns = int64(batch, "in_ns")?;
        let c_state = int32(batch, "prev_c_state")?;
        for row in 0..batch.num_rows() {
            let process = process.get(row);
            // The processes of a chunk are keys of an ordered map, and thus sorted.
            if process == idle && idle.is_some() || processes.binary_search(&process).is_err() {
                continue;
            }
            let stack = stack.get(row);
            if let Some((start, wait)) = last_out
                .get(row)
                .zip(wait.get(row))
                .filter(|(_, wait)| *wait > 0)
            {
                let end = start.saturating_add(wait);
                let ready = ReadyKind::NotIn;
                waits.push(Interval {
                    process,
                    stack,
                    start,
                    end,
                    ready,
                });
            }
            // A preempted thread is ready from the moment it is taken off.
            let since = readied.get(row).or(last_out.get(row));
            if let Some((start, ready)) = since.zip(ready.get(row)).filter(|(_, ready)| *ready >= 0)
            {
                let kind = ReadyKind::of(in_ns.get(row).is_some(), c_state.get(row));
                readies.push(Interval {
                    process,
                    stack,
                    start,
                    end: start.saturating_add(ready),
                    ready: kind,
                });
            }
        }
        Ok(())
    })
}

fn of_process(intervals: &[Interval], process: Option<i32>) -> &[Interval] {
    let from = intervals.partition_point(|i| i.process < process);
    let to = intervals.partition_point(|i| i.process <= process);
    let (intervals, _) = intervals.split_at(to);
    let (_, intervals) = intervals.split_at(from);
    intervals
}

fn union(intervals: &[Interval]) -> i64 {
    let mut union = SortedUnion::default();
    intervals.iter().for_each(|i| union.add(i.start, i.end));
    union.length()
}

fn write_stacks(groups: &Groups, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let mut sums: BTreeMap<(Option<i32>, i32), (i64, i64)> = BTreeMap::new();
    for (key, group) in groups
        .iter()
        .filter(|(key, group)| group.samples > 0 && key.stack != NO_STACK)
    {
        let sum = sums.entry((key.process, key.stack)).or_default();
        sum.0 += group.samples;
        sum.1 = sum.1.saturating_add(group.cpu_ns);
    }
    let row = |((process_key, stack_id), (samples, cpu_ns))| CpuStack {
        process_key,
        stack_id,
        samples,
        cpu_ns,
    };
    write_all(sums.into_iter().map(row), sink)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Columns, Frame, Method, Stack};

    fn rows<R: Row>(rows: &[R]) -> (&'static Table, RecordBatch) {
        let mut columns = R::Columns::default();
        rows.iter().for_each(|row| columns.push(row));
        (R::TABLE, columns.take().unwrap())
    }

    /// Fifty processes, the first of which has most rows.
    fn processes() -> Batches {
        let slice = |process: i32, n: i32| ContextSwitch {
            thread_key: process * 4 + n % 4,
            process_key: Some(process),
            cpu: Some(n % 4),
            last_out_ns: Some(i64::from(n) * 100),
            in_ns: Some(i64::from(n) * 100 + 30),
            out_ns: Some(i64::from(n) * 100 + 90),
            wait_ns: Some(20),
            ready_ns: Some(i64::from(n % 10)),
            run_ns: Some(60),
            stack_id: Some(n % 3),
            ..ContextSwitch::default()
        };
        let slices: Vec<ContextSwitch> = (0..50)
            .flat_map(|process| (0..1000 / (process + 1)).map(move |n| slice(process, n)))
            .collect();
        let stack = |stack_id: i32| Stack {
            stack_id,
            parent_id: stack_id.checked_sub(1).filter(|parent| *parent >= 0),
            frame_id: stack_id,
            depth: stack_id,
        };
        let frame = |id: i32| Frame {
            frame_id: id,
            method_id: Some(id),
            ..Frame::default()
        };
        let method = |method_id: i32| Method {
            method_id,
            name: format!("method {method_id}"),
            ..Method::default()
        };
        vec![
            rows(&slices),
            rows(&[0, 1, 2].map(stack)),
            rows(&[0, 1, 2].map(frame)),
            rows(&[0, 1, 2].map(method)),
        ]
    }

    #[test]
    fn any_number_of_threads_gives_the_same_batches() {
        let source = processes();
        let derived = |threads| {
            let workers = Workers {
                threads,
                jobs_ahead: usize::MAX,
            };
            let mut batches = Batches::new();
            derive_on(workers, &source, &[TagSet::built_in()], &mut batches).unwrap();
            batches
        };
        let of_one = derived(1);
        assert!(of_one.len() > 50, "{}", of_one.len());
        for threads in [2, 3, 8] {
            assert_eq!(derived(threads), of_one, "{threads} threads");
        }
    }
}
