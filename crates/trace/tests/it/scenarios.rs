//! Scenario traces in, rows out: every sum of minifilters, page faults, heaps, pool and messages
//! equals the count of the simulation. Both are our own: no real trace has these events.

use std::collections::{BTreeMap, HashMap};
use std::io::Cursor;
use std::ops::ControlFlow;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use etwkit_etl::Session;
use etwkit_synth::truth::{AlpcCalls, AlpcWaits, Callbacks, HardFaultSums, HeapSums, PoolSums};
use etwkit_synth::{Options, Truth};
use etwkit_trace::derive::derive;
use etwkit_trace::import::import;
use etwkit_trace::table::{
    Alpc, Frame, HardFault, Heap, HeapProcess, MiniFilter, Module, PageFault, PageFaultProcess,
    Pool, PoolTag, Process, Row, Table, Thread,
};

use crate::counters::Batches;

/// Rows of a trace, and the processes and threads of their keys.
pub(crate) struct Made {
    pub(crate) rows: Batches,
    pub(crate) pids: HashMap<i64, String>,
    /// `process/thread`.
    threads: HashMap<i64, String>,
    pub(crate) truth: Truth,
}

/// The traces of a scenario with three seeds, with their sums.
pub(crate) fn made(scenario: &str) -> impl Iterator<Item = Made> {
    let scenario = etwkit_synth::find(scenario).unwrap();
    (1..4).map(|seed| {
        let options = Options {
            seed,
            scale: 2,
            ..Options::default()
        };
        let (trace, truth) = scenario.write(Cursor::new(Vec::new()), &options).unwrap();
        let session = Session::open(vec![Box::new(trace.into_inner())]).unwrap();
        let mut rows = Batches::new();
        let all = etwkit_trace::import::Options::default();
        import(
            &session,
            &all,
            &mut rows,
            &mut |_| ControlFlow::Continue(()),
        )
        .unwrap();
        let mut sums = Batches::new();
        derive(&rows, &[], &mut sums).unwrap();
        rows.extend(sums);
        let mut made = Made {
            rows,
            pids: HashMap::new(),
            threads: HashMap::new(),
            truth,
        };
        let pids = made.numbers(Process::TABLE, ["process_key", "pid"]);
        made.pids = pids
            .iter()
            .map(|[key, pid]| (key.unwrap(), pid.unwrap().to_string()))
            .collect();
        let threads = made.numbers(Thread::TABLE, ["thread_key", "process_key", "tid"]);
        let named = threads
            .iter()
            .filter_map(|[key, process, tid]| Some((*key, (*process)?, (*tid)?)));
        made.threads = named
            .map(|(key, process, tid)| (key.unwrap(), format!("{}/{tid}", made.pids[&process])))
            .collect();
        made
    })
}

impl Made {
    /// Numbers of a table, row by row.
    pub(crate) fn numbers<const N: usize>(
        &self,
        table: &Table,
        columns: [&str; N],
    ) -> Vec<[Option<i64>; N]> {
        let mut rows = Vec::new();
        for (_, batch) in self.rows.iter().filter(|(of, _)| of.name == table.name) {
            let values = columns.map(|name| {
                let array = batch.column_by_name(name).unwrap();
                let numbers: Vec<Option<i64>> = match array.as_primitive_opt::<Int32Type>() {
                    Some(small) => small.iter().map(|n| n.map(i64::from)).collect(),
                    None => array.as_primitive::<Int64Type>().iter().collect(),
                };
                numbers
            });
            rows.extend(
                (0..batch.num_rows()).map(|row| std::array::from_fn(|column| values[column][row])),
            );
        }
        rows
    }

    pub(crate) fn words(&self, table: &Table, column: &str) -> Vec<Option<String>> {
        let of = self.rows.iter().filter(|(of, _)| of.name == table.name);
        of.flat_map(|(_, batch)| {
            let array = batch
                .column_by_name(column)
                .unwrap()
                .as_string::<i32>()
                .clone();
            array
                .iter()
                .map(|text| text.map(str::to_owned))
                .collect::<Vec<_>>()
        })
        .collect()
    }

    pub(crate) fn thread(&self, key: Option<i64>) -> String {
        self.threads[&key.unwrap()].clone()
    }
}

#[test]
fn calls_of_minifilters_are_those_of_the_simulation() {
    for made in made("file-filters") {
        let modules: Vec<String> = made
            .words(Module::TABLE, "name")
            .into_iter()
            .flatten()
            .collect();
        let frames = made.numbers(Frame::TABLE, ["module_id"]).concat();
        let driver =
            |frame: Option<i64>| modules[frames[frame.unwrap() as usize].unwrap() as usize].clone();
        let columns = [
            "frame_id",
            "process_key",
            "end_ns",
            "duration_ns",
            "status",
            "stack_id",
        ];
        let (phases, operations) = (
            made.words(MiniFilter::TABLE, "phase"),
            made.words(MiniFilter::TABLE, "operation"),
        );
        let paths = made.words(MiniFilter::TABLE, "path");
        let mut found = etwkit_synth::truth::MiniFilter::default();
        let rows = made.numbers(MiniFilter::TABLE, columns);
        let has_stacks = rows.iter().filter(|row| row[5].is_some()).count();
        for ((row, path), (phase, operation)) in rows
            .iter()
            .zip(paths)
            .zip(phases.into_iter().zip(operations))
        {
            let [frame, process, end, duration, status, _] = *row;
            if end.is_none() {
                found.open_at_end += 1;
                continue;
            }
            let what = format!("{} {}", phase.unwrap(), operation.unwrap());
            let of_driver = found.by_driver.entry(driver(frame)).or_default();
            for sums in [
                of_driver.entry(what).or_default(),
                found
                    .by_process
                    .entry(made.pids[&process.unwrap()].clone())
                    .or_default(),
                found.by_file.entry(path.unwrap()).or_default(),
            ] {
                let sums: &mut Callbacks = sums;
                sums.count += 1;
                sums.failed += u64::from(status.is_some());
                sums.duration_ns += duration.unwrap();
            }
            if let Some(status) = status {
                *found
                    .failed_by_status
                    .entry(format!("{:#010x}", status as u32))
                    .or_default() += 1;
            }
        }
        assert_eq!(found, made.truth.mini_filter);
        assert!(
            !found.failed_by_status.is_empty() && has_stacks > rows.len() / 2,
            "{has_stacks}"
        );
    }
}

#[test]
fn page_faults_are_those_of_the_simulation() {
    for made in made("memory") {
        let mut found: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
        let rows = made.numbers(PageFault::TABLE, ["process_key"]);
        for ([process], kind) in rows.iter().zip(made.words(PageFault::TABLE, "kind")) {
            let of_process = found
                .entry(made.pids[&process.unwrap()].clone())
                .or_default();
            *of_process.entry(kind.unwrap()).or_default() += 1;
        }
        assert_eq!(found, made.truth.page_faults);
        let sums = made.numbers(PageFaultProcess::TABLE, ["process_key", "count"]);
        let kinds = made.words(PageFaultProcess::TABLE, "kind");
        let counted = sums.iter().zip(kinds).map(|([process, count], kind)| {
            (
                made.pids[&process.unwrap()].clone(),
                kind.unwrap(),
                count.unwrap() as u64,
            )
        });
        let expected = found.iter().flat_map(|(pid, kinds)| {
            kinds
                .iter()
                .map(|(kind, count)| (pid.clone(), kind.clone(), *count))
        });
        let mut counted: Vec<_> = counted.collect();
        counted.sort();
        assert_eq!(counted, expected.collect::<Vec<_>>());

        let mut by_process: BTreeMap<String, HardFaultSums> = BTreeMap::new();
        let mut by_file: BTreeMap<String, HardFaultSums> = BTreeMap::new();
        let rows = made.numbers(
            HardFault::TABLE,
            ["process_key", "size_bytes", "duration_ns"],
        );
        for ([process, size, duration], path) in
            rows.iter().zip(made.words(HardFault::TABLE, "path"))
        {
            for sums in [
                by_process
                    .entry(made.pids[&process.unwrap()].clone())
                    .or_default(),
                by_file.entry(path.unwrap()).or_default(),
            ] {
                sums.count += 1;
                sums.bytes += size.unwrap() as u64;
                sums.duration_ns += duration.unwrap();
            }
        }
        assert_eq!(
            (by_process, by_file),
            (
                made.truth.hard_faults.by_process,
                made.truth.hard_faults.by_file
            )
        );
    }
}

#[test]
fn heaps_are_those_of_the_simulation() {
    for made in made("memory") {
        let mut found: BTreeMap<String, BTreeMap<String, HeapSums>> = BTreeMap::new();
        let columns = [
            "process_key",
            "heap_handle",
            "size_bytes",
            "lifetime_ns",
            "changed_bytes",
            "changed_blocks",
            "allocation_id",
        ];
        let rows = made.numbers(Heap::TABLE, columns);
        let kinds = made.words(Heap::TABLE, "kind");
        for ([process, heap, size, lifetime, bytes, blocks, allocation], kind) in
            rows.iter().zip(kinds)
        {
            let of_process = found
                .entry(made.pids[&process.unwrap()].clone())
                .or_default();
            let sums = of_process
                .entry(format!("{:#x}", heap.unwrap()))
                .or_default();
            let size = size.unwrap_or_default() as u64;
            let (bytes, blocks) = (bytes.unwrap(), blocks.unwrap());
            match kind.as_deref().unwrap() {
                "create" => sums.creates += 1,
                "allocate" => {
                    sums.allocations += 1;
                    sums.allocated_bytes += size;
                }
                "reallocate" => {
                    let old = rows[allocation.unwrap() as usize][2].unwrap() as u64;
                    sums.resizes += 1;
                    sums.resized_from_bytes += old;
                    sums.resized_to_bytes += size;
                    assert_eq!(bytes, size as i64 - old as i64);
                }
                "free" => {
                    sums.frees += 1;
                    sums.freed_bytes += size;
                    sums.lifetime_ns += lifetime.unwrap();
                }
                _ => {
                    sums.destroys += 1;
                    sums.destroyed_blocks += blocks.unsigned_abs();
                    sums.destroyed_bytes += bytes.unsigned_abs();
                }
            }
            sums.live = sums.live.wrapping_add_signed(blocks);
            sums.live_bytes = sums.live_bytes.wrapping_add_signed(bytes);
        }
        assert_eq!(found, made.truth.heap);
        let columns = [
            "process_key",
            "heap_handle",
            "allocations",
            "outstanding_bytes",
            "outstanding_blocks",
        ];
        for [process, heap, allocations, bytes, blocks] in made.numbers(HeapProcess::TABLE, columns)
        {
            let sums = &found[&made.pids[&process.unwrap()]][&format!("{:#x}", heap.unwrap())];
            let expected = [sums.allocations, sums.live_bytes, sums.live].map(|n| Some(n as i64));
            assert_eq!([allocations, bytes, blocks], expected);
        }
    }
}

#[test]
fn memory_of_the_kernel_is_that_of_the_simulation() {
    for made in made("memory") {
        let mut found = etwkit_synth::truth::Pool::default();
        let columns = [
            "alloc_process_key",
            "free_process_key",
            "size_bytes",
            "lifetime_ns",
            "alloc_ns",
            "alloc_stack_id",
            "free_stack_id",
        ];
        let rows = made.numbers(Pool::TABLE, columns);
        let (tags, outcomes) = (
            made.words(Pool::TABLE, "tag"),
            made.words(Pool::TABLE, "outcome"),
        );
        for ((row, tag), outcome) in rows.iter().zip(tags).zip(outcomes) {
            let [maker, freer, size, lifetime, since, made_by, freed_by] = *row;
            let (tag, bytes) = (tag.unwrap(), size.unwrap() as u64);
            let mut count = |process: Option<i64>, change: &dyn Fn(&mut PoolSums)| {
                change(found.by_tag.entry(tag.clone()).or_default());
                change(
                    found
                        .by_process
                        .entry(made.pids[&process.unwrap()].clone())
                        .or_default(),
                );
            };
            assert_eq!(
                (since.is_some(), freer.is_some()),
                (made_by.is_some(), freed_by.is_some())
            );
            if since.is_some() {
                count(maker, &|sums| {
                    sums.allocations += 1;
                    sums.allocated_bytes += bytes;
                });
            }
            match outcome.as_deref().unwrap() {
                "freed" => count(freer, &|sums| {
                    sums.frees += 1;
                    sums.freed_bytes += bytes;
                    sums.frees_of_earlier += u64::from(since.is_none());
                    sums.lifetime_ns += lifetime.unwrap_or_default();
                }),
                other => {
                    assert_eq!(other, "outstanding");
                    let sums = found.by_tag.get_mut(&tag).unwrap();
                    sums.live += 1;
                    sums.live_bytes += bytes;
                }
            }
        }
        assert_eq!(found, made.truth.pool);
        let columns = [
            "allocations",
            "freed_bytes",
            "frees_of_earlier",
            "outstanding_bytes",
        ];
        let sums = made.numbers(PoolTag::TABLE, columns);
        let tags = made
            .words(PoolTag::TABLE, "tag")
            .into_iter()
            .map(Option::unwrap);
        let expected = found.by_tag.iter().map(|(tag, sums)| {
            let numbers = [
                sums.allocations,
                sums.freed_bytes,
                sums.frees_of_earlier,
                sums.live_bytes,
            ];
            (tag.clone(), numbers.map(|n| Some(n as i64)))
        });
        assert_eq!(
            tags.zip(sums).collect::<Vec<_>>(),
            expected.collect::<Vec<_>>()
        );
    }
}

#[test]
fn messages_are_those_of_the_simulation() {
    for made in made("services") {
        let mut calls: BTreeMap<String, BTreeMap<String, AlpcCalls>> = BTreeMap::new();
        let mut waits: BTreeMap<String, AlpcWaits> = BTreeMap::new();
        let columns = [
            "sender_thread_key",
            "reply_thread_key",
            "delivery_ns",
            "service_ns",
            "duration_ns",
            "sender_wait_ns",
        ];
        for row in made.numbers(Alpc::TABLE, columns) {
            let [sender, server, delivery, service, duration, wait] = row;
            if let Some(wait) = wait {
                let sums = waits.entry(made.thread(sender)).or_default();
                sums.waits += 1;
                sums.wait_ns += wait;
            }
            let Some(duration) = duration else { continue };
            let of_sender = calls.entry(made.thread(sender)).or_default();
            let sums = of_sender.entry(made.thread(server)).or_default();
            sums.calls += 1;
            sums.delivery_ns += delivery.unwrap();
            sums.service_ns += service.unwrap();
            sums.duration_ns += duration;
        }
        assert_eq!(calls, made.truth.alpc.calls);
        let expected = made.truth.alpc.waits.iter().filter_map(|(thread, of)| {
            let reply = of.get("reply").filter(|reply| reply.waits > 0)?;
            Some((
                thread.clone(),
                AlpcWaits {
                    open_at_end: 0,
                    ..*reply
                },
            ))
        });
        assert_eq!(waits, expected.collect());
        let (sent, received) = (made.truth.alpc.sent, made.truth.alpc.received);
        let ends = made.numbers(Alpc::TABLE, ["send_ns", "receive_ns", "reply_ns", "end_ns"]);
        let count = |end: usize| ends.iter().filter(|row| row[end].is_some()).count() as u64;
        assert_eq!((count(0) + count(2), count(1) + count(3)), (sent, received));
    }
}
