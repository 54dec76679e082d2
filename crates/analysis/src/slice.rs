//! Scheduling slices in memory, by thread.

use std::collections::HashMap;

use etwkit_question::range::Range;
use etwkit_question::{Error, sql};
use etwkit_sql::Session;
use etwkit_sql::arrow::array::{Array, AsArray, BooleanArray, Int32Array, Int64Array, RecordBatch};
use etwkit_sql::arrow::datatypes::{Int32Type, Int64Type};

use crate::Result;

/// Maximum number of slices that are held at once, about 900 MB: more than an hour of a busy
/// machine has.
const MAX_SLICES: usize = 16_000_000;

/// Thread states after a switch-out that mean preemption, since the thread could have run on:
/// ready, standby, deferred ready.
const PREEMPTED: [i8; 3] = [1, 3, 7];

/// Value for missing keys and small numbers.
pub(crate) const NONE: i32 = -1;
const NO_TIME: i64 = i64::MIN;

/// A row of `context_switch`, kept small since millions of them are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slice {
    /// The sort key of slices: the first time that the row has.
    first: i64,
    last_out: i64,
    readied: i64,
    begin: i64,
    end: i64,
    /// Thread that made it ready, or [`NONE`].
    pub(crate) by: i32,
    /// Stack of its switch-in, or [`NONE`].
    pub(crate) stack: i32,
    /// Stack that made it ready, or [`NONE`].
    pub(crate) by_stack: i32,
    cpu: i16,
    reason: i8,
    state: i8,
    flags: u8,
}

const BY_DPC: u8 = 1;
const OPEN: u8 = 2;
const SWITCHED_IN: u8 = 4;

fn known(time: i64) -> Option<i64> {
    (time != NO_TIME).then_some(time)
}

impl Slice {
    /// Returns the time at which the thread was switched out before this slice.
    pub(crate) fn last_out(&self) -> Option<i64> {
        known(self.last_out)
    }

    /// Returns the time at which the thread was made ready, or at which it was switched out while
    /// still ready.
    pub(crate) fn readied(&self) -> Option<i64> {
        // A preempted thread is ready from the moment at which it left.
        if self.was_preempted() {
            self.last_out()
        } else {
            known(self.readied)
        }
    }

    /// Returns the time at which it started to run: its switch-in, or the start of the trace for a
    /// thread that was already running.
    pub(crate) fn begin(&self) -> Option<i64> {
        known(self.begin)
    }

    /// Returns the time of its switch-in.
    pub(crate) fn switch_in(&self) -> Option<i64> {
        self.begin().filter(|_| self.flags & SWITCHED_IN != 0)
    }

    /// Returns the time at which it stopped running, or the end of the trace.
    pub(crate) fn end(&self) -> Option<i64> {
        known(self.end)
    }

    /// Returns the start and the end of its wait, if known.
    pub(crate) fn wait(&self) -> Option<(i64, i64)> {
        let wait = (self.last_out()?, known(self.readied)?);
        // In a damaged trace a thread may be readied before it left.
        (!self.was_preempted() && wait.0 <= wait.1).then_some(wait)
    }

    /// Returns `true` if the thread was preempted before this slice: switched out while it could
    /// have run on.
    pub(crate) fn was_preempted(&self) -> bool {
        PREEMPTED.contains(&self.state)
    }

    pub(crate) fn is_open(&self) -> bool {
        self.flags & OPEN != 0
    }

    /// Returns `true` if a DPC made it ready.
    pub(crate) fn is_by_dpc(&self) -> bool {
        self.flags & BY_DPC != 0
    }

    /// Returns the number of the wait reason, if known.
    pub(crate) fn reason(&self) -> Option<i32> {
        (self.reason >= 0).then_some(i32::from(self.reason))
    }

    /// Returns the processor it ran on, if known.
    pub(crate) fn cpu(&self) -> Option<i32> {
        (self.cpu >= 0).then_some(i32::from(self.cpu))
    }
}

/// Slices by thread, in order of time.
#[derive(Debug, Default)]
pub(crate) struct Slices {
    threads: HashMap<i32, Vec<Slice>>,
}

impl Slices {
    /// Reads the slices of all threads except idle ones, with the waits before them, as far as they
    /// touch one of the ranges of the trace.
    ///
    /// # Errors
    /// There are too many to be held; the query fails.
    pub(crate) fn load(session: &Session, parts: &[Range]) -> Result<Self> {
        let mut slices = Self::default();
        let mut count = 0;
        for batch in session.sql(&question(parts))? {
            let batch = batch?;
            count += batch.num_rows();
            // Checked while rows arrive, before memory is full.
            if count > MAX_SLICES {
                let message = format!("the question needs more than {MAX_SLICES} context switches");
                return Err(Error::TooWide {
                    message,
                    how: "ask for a part of the trace with --range",
                });
            }
            slices.take(&batch)?;
        }
        // Sorted by their first time, which is the order of the fields.
        // Partitions of the plan return their rows in any order.
        slices
            .threads
            .values_mut()
            .for_each(|all| all.sort_unstable());
        Ok(slices)
    }

    /// Returns the slices of a thread.
    pub(crate) fn of(&self, thread_key: i32) -> &[Slice] {
        self.threads.get(&thread_key).map_or(&[], Vec::as_slice)
    }

    /// Returns the slices of a thread from the first one that may reach to or beyond that time.
    pub(crate) fn since(&self, thread_key: i32, time: i64) -> std::slice::Iter<'_, Slice> {
        let (_, since) = self
            .of(thread_key)
            .split_at(self.position(thread_key, time));
        since.iter()
    }

    /// Returns the index of the first slice of a thread that may reach to or beyond that time.
    /// Slices do not overlap in time; in a damaged extract in which they do, some are not found.
    pub(crate) fn position(&self, thread_key: i32, time: i64) -> usize {
        // A row without a switch-in is the last one of its thread: it reaches as far as the trace
        // does.
        self.of(thread_key)
            .partition_point(|slice| slice.end().or(slice.begin()).unwrap_or(i64::MAX) < time)
    }

    /// Returns `true` if any state of a thread is known in that time.
    pub(crate) fn has_state(&self, thread_key: i32, from: i64, to: i64) -> bool {
        let first = self.since(thread_key, from).next();
        // Unknown before its first switch.
        first.is_some_and(|slice| {
            slice
                .last_out()
                .or(slice.begin())
                .is_some_and(|first| first < to)
        })
    }

    /// Returns the slice in which a thread ran at that time.
    pub(crate) fn running(&self, thread_key: i32, time: i64) -> Option<&Slice> {
        let slice = self
            .of(thread_key)
            .get(self.position(thread_key, time)..)?
            .first()?;
        (slice.begin()? <= time).then_some(slice)
    }

    /// Returns the processors on which a thread other than idle ran at that time.
    pub(crate) fn busy_processors(&self, time: i64) -> Vec<i32> {
        let mut busy: Vec<i32> = self
            .threads
            .keys()
            .filter_map(|thread| self.running(*thread, time)?.cpu())
            .collect();
        // Several ranges of one processor would be counted more than once otherwise.
        busy.sort_unstable();
        busy
    }

    fn take(&mut self, batch: &RecordBatch) -> etwkit_sql::Result<()> {
        let columns = Columns::of(batch)?;
        for row in 0..batch.num_rows() {
            let (thread_key, slice) = columns.slice(row);
            self.threads.entry(thread_key).or_default().push(slice);
        }
        Ok(())
    }
}

/// Returns the SQL for the switches that belong to these ranges of the trace.
pub(crate) fn question(parts: &[Range]) -> String {
    // A row lasts from the switch-out before it to its own switch-out; without the latter it is
    // still open.
    let touches = |part: &Range| {
        let (a, b) = sql::ends(*part);
        // Null times count as open on that side.
        format!(
            "coalesce(last_out_ns, in_ns, out_ns - coalesce(run_ns, 0)) <= {b} AND coalesce(out_ns, {max}) >= {a}",
            max = i64::MAX
        )
    };
    let touches: Vec<String> = parts
        .iter()
        .filter(|part| !part.is_unlimited())
        .map(touches)
        .collect();
    // A single range without limits covers everything, whatever the others are.
    let touches = if touches.len() < parts.len() {
        String::new()
    } else {
        format!("\n  AND ({})", touches.join("\n    OR "))
    };
    format!(
        "SELECT thread_key, last_out_ns, readied_ns, in_ns, out_ns, run_ns, prev_state, wait_reason, cpu, stack_id,
  readying_thread_key, readying_stack_id, is_readied_by_dpc, is_open_wait
FROM context_switch
WHERE thread_key NOT IN (SELECT thread_key FROM thread WHERE tid = 0){touches}"
    )
}

struct Columns<'b> {
    thread: &'b Int32Array,
    last_out: &'b Int64Array,
    readied: &'b Int64Array,
    into: &'b Int64Array,
    out: &'b Int64Array,
    run: &'b Int64Array,
    state: &'b Int32Array,
    reason: &'b Int32Array,
    cpu: &'b Int32Array,
    stack: &'b Int32Array,
    by: &'b Int32Array,
    by_stack: &'b Int32Array,
    by_dpc: &'b BooleanArray,
    open: &'b BooleanArray,
}

impl<'b> Columns<'b> {
    fn of(batch: &'b RecordBatch) -> etwkit_sql::Result<Self> {
        let missing = |name: &str| etwkit_sql::Error::Failed {
            message: format!("the answer has no column {name} of the right type"),
        };
        let column = |name| batch.column_by_name(name).ok_or_else(|| missing(name));
        let number = |name| {
            column(name)?
                .as_primitive_opt::<Int32Type>()
                .ok_or_else(|| missing(name))
        };
        let time = |name| {
            column(name)?
                .as_primitive_opt::<Int64Type>()
                .ok_or_else(|| missing(name))
        };
        let truth = |name| column(name)?.as_boolean_opt().ok_or_else(|| missing(name));
        Ok(Self {
            thread: number("thread_key")?,
            last_out: time("last_out_ns")?,
            readied: time("readied_ns")?,
            into: time("in_ns")?,
            out: time("out_ns")?,
            run: time("run_ns")?,
            state: number("prev_state")?,
            reason: number("wait_reason")?,
            cpu: number("cpu")?,
            stack: number("stack_id")?,
            by: number("readying_thread_key")?,
            by_stack: number("readying_stack_id")?,
            by_dpc: truth("is_readied_by_dpc")?,
            open: truth("is_open_wait")?,
        })
    }

    fn slice(&self, row: usize) -> (i32, Slice) {
        let time = |column: &Int64Array| column.is_valid(row).then(|| column.value(row));
        let number = |column: &Int32Array| {
            if column.is_valid(row) {
                column.value(row)
            } else {
                NONE
            }
        };
        let is = |column: &BooleanArray, flag| {
            if column.is_valid(row) && column.value(row) {
                flag
            } else {
                0
            }
        };
        let into = time(self.into);
        let out = time(self.out);
        let run = time(self.run);
        // If one end is missing, because it was lost or is outside the trace, the run time gives
        // it.
        let begin = into.or_else(|| Some(out?.saturating_sub(run?)));
        let end = out.or_else(|| Some(into?.saturating_add(run?)));
        let last_out = time(self.last_out);
        let slice = Slice {
            first: last_out.or(begin).or(end).unwrap_or(NO_TIME),
            last_out: last_out.unwrap_or(NO_TIME),
            readied: time(self.readied).unwrap_or(NO_TIME),
            begin: begin.unwrap_or(NO_TIME),
            end: end.unwrap_or(NO_TIME),
            by: number(self.by),
            stack: number(self.stack),
            by_stack: number(self.by_stack),
            // Windows has no states, reasons or processors whose numbers overflow these types: they
            // count as unknown.
            cpu: i16::try_from(number(self.cpu)).unwrap_or(-1),
            reason: i8::try_from(number(self.reason)).unwrap_or(-1),
            state: i8::try_from(number(self.state)).unwrap_or(-1),
            flags: is(self.by_dpc, BY_DPC)
                | is(self.open, OPEN)
                | if into.is_some() { SWITCHED_IN } else { 0 },
        };
        (self.thread.value(row), slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_is_small() {
        assert!(size_of::<Slice>() <= 64, "{}", size_of::<Slice>());
    }
}
