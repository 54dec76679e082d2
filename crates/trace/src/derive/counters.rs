//! Performance counters by thread, branches by method.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::TableSource;
use super::columns::{Get, int32, int64, text};
use super::frames::{MethodId, Stacks};
use crate::out::{Out, write_all};
use crate::sink::{Sink, SinkError};
use crate::table::{Lbr, LbrMethod, Pmc, PmcCounter, PmcSample, PmcThread, Row};

/// Columns with the values of counters, by position.
const VALUES: [&str; 7] = [
    "value_0", "value_1", "value_2", "value_3", "value_4", "value_5", "value_6",
];

/// Process and thread.
type Owner = (Option<i32>, i32);

/// Counter sums over the slices of a thread.
#[derive(Debug, Default)]
struct Counted {
    /// Sum and number of the values of each counter.
    values: [(i64, i64); VALUES.len()],
    run_ns: i64,
}

/// Computes `pmc_thread` and `lbr_method`.
pub(super) fn derive(source: &dyn TableSource, sink: &mut dyn Sink) -> Result<(), SinkError> {
    threads(source, sink)?;
    methods(source, sink)
}

fn threads(source: &dyn TableSource, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let names = names(source)?;
    let counted = counted(source)?;
    let mut sampled = sampled(source)?;
    let mut rows = Out::default();
    for ((process_key, thread_key), sum) in counted {
        for (position, (value, count)) in sum
            .values
            .into_iter()
            .enumerate()
            .filter(|(_, (_, n))| *n > 0)
        {
            // Without the event that names them counters only have their positions.
            let counter = names.get(&(position as i32)).cloned();
            let counter = counter.unwrap_or_else(|| format!("counter {position}"));
            let run_ns = Some(sum.run_ns);
            let row = PmcThread {
                process_key,
                thread_key,
                counter,
                kind: "counted",
                value,
                count,
                run_ns,
            };
            rows.push(&row, sink)?;
        }
    }
    while let Some((((process_key, thread_key), counter), (value, count))) = sampled.pop_first() {
        let counter = counter.to_string();
        let row = PmcThread {
            process_key,
            thread_key,
            counter,
            kind: "sampled",
            value,
            count,
            run_ns: None,
        };
        rows.push(&row, sink)?;
    }
    rows.flush(sink)
}

fn names(source: &dyn TableSource) -> Result<BTreeMap<i32, String>, SinkError> {
    let mut names = BTreeMap::new();
    source.scan(PmcCounter::TABLE, &["position", "name"], &mut |batch| {
        let position = int32(batch, "position")?;
        let name = text(batch, "name")?;
        for row in 0..batch.num_rows() {
            names.extend(position.get(row).zip(name.get(row).map(str::to_owned)));
        }
        Ok(())
    })?;
    Ok(names)
}

fn counted(source: &dyn TableSource) -> Result<BTreeMap<Owner, Counted>, SinkError> {
    let mut sums: BTreeMap<Owner, Counted> = BTreeMap::new();
    let columns = [&["process_key", "thread_key", "run_ns"][..], &VALUES].concat();
    source.scan(Pmc::TABLE, &columns, &mut |batch| {
        let process = int32(batch, "process_key")?;
        let thread = int32(batch, "thread_key")?;
        let run = int64(batch, "run_ns")?;
        let values = VALUES.map(|name| int64(batch, name));
        for row in 0..batch.num_rows() {
            let sum = sums
                .entry((process.get(row), thread.get(row).unwrap_or(-1)))
                .or_default();
            sum.run_ns = sum.run_ns.saturating_add(run.amount(row));
            for (sum, values) in sum.values.iter_mut().zip(&values) {
                let Ok(values) = values else { continue };
                let Some(value) = values.get(row) else {
                    continue;
                };
                *sum = (sum.0.saturating_add(value), sum.1 + 1);
            }
        }
        Ok(())
    })?;
    Ok(sums)
}

/// Sum and number of samples. Samples without an interval count as nothing.
type Sampled = BTreeMap<(Owner, Arc<str>), (i64, i64)>;

fn sampled(source: &dyn TableSource) -> Result<Sampled, SinkError> {
    let mut sums = Sampled::new();
    let mut known: FxHashMap<String, Arc<str>> = FxHashMap::default();
    source.scan(
        PmcSample::TABLE,
        &["process_key", "thread_key", "counter", "interval"],
        &mut |batch| {
            let process = int32(batch, "process_key")?;
            let thread = int32(batch, "thread_key")?;
            let (counter, interval) = (text(batch, "counter")?, int64(batch, "interval")?);
            for row in 0..batch.num_rows() {
                let name = counter.get(row).unwrap_or("");
                let name = match known.get(name) {
                    Some(name) => Arc::clone(name),
                    None => Arc::clone(
                        known
                            .entry(name.to_owned())
                            .or_insert_with(|| Arc::from(name)),
                    ),
                };
                let owner = (process.get(row), thread.get(row).unwrap_or(-1));
                let sum = sums.entry((owner, name)).or_default();
                *sum = (sum.0.saturating_add(interval.amount(row)), sum.1 + 1);
            }
            Ok(())
        },
    )?;
    Ok(sums)
}

/// Branches from one method into another.
fn methods(source: &dyn TableSource, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let mut frames: Option<Stacks> = None;
    let mut sums: BTreeMap<(Option<i32>, MethodId, MethodId), i64> = BTreeMap::new();
    let columns = ["process_key", "from_frame_id", "to_frame_id", "count"];
    source.scan(Lbr::TABLE, &columns, &mut |batch| {
        // Frames are read only where they are needed: few traces have branches.
        let frames = match &mut frames {
            Some(frames) => frames,
            none => none.insert(Stacks::read_frames(source)?),
        };
        let process = int32(batch, "process_key")?;
        let count = int64(batch, "count")?;
        let from = int32(batch, "from_frame_id")?;
        let to = int32(batch, "to_frame_id")?;
        for row in 0..batch.num_rows() {
            let method = |frame: Option<i32>| frames.of_frame(frame?);
            let Some((caller, callee)) = method(from.get(row)).zip(method(to.get(row))) else {
                continue;
            };
            // Jumps inside a method are also branches, but not calls.
            if caller != callee {
                let sum = sums.entry((process.get(row), caller, callee)).or_default();
                *sum = sum.saturating_add(count.amount(row));
            }
        }
        Ok(())
    })?;
    let Some(frames) = frames else { return Ok(()) };
    let row = |((process_key, caller, callee), count)| LbrMethod {
        process_key,
        caller_module: frames.module(caller).1,
        caller: frames.text(caller),
        callee_module: frames.module(callee).1,
        callee: frames.text(callee),
        count,
    };
    write_all(sums.into_iter().map(row), sink)
}
