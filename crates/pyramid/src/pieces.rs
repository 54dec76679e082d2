//! From stretches to sums of buckets: cutting, adding up, and the levels above.
//!
//! A row of sums covers a run of buckets with equal sums. A thread that waits for an hour is one
//! row, so the number of rows follows the number of switches and not the length of the trace.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::part::{Part, SLOTS, Values};

/// Width of the finest buckets, 1.05 ms, as a power of two.
pub(crate) const FINEST: u32 = 20;
/// Factor between the bucket widths of two levels, as a power of two.
pub(crate) const STEP: u32 = 2;
/// The widest buckets that there are.
pub(crate) const WIDEST: u32 = 60;

/// Sums of a run of buckets: `values` are the totals over the run, which all its buckets share
/// equally.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    /// The first bucket.
    pub(crate) first: i64,
    /// The last one.
    pub(crate) last: i64,
    pub(crate) values: Values,
}

impl Run {
    const fn buckets(&self) -> i64 {
        self.last.saturating_sub(self.first).saturating_add(1)
    }

    /// Sums of `buckets` of its buckets.
    pub(crate) fn share(&self, buckets: i64) -> Values {
        let all = self.buckets().max(1);
        // All buckets of a run have the same sum, so this division has no remainder.
        if buckets == all {
            self.values
        } else {
            self.values.map(|value| (value / all).wrapping_mul(buckets))
        }
    }
}

/// Cuts a part at the bounds of the finest buckets: the first bucket, the buckets in between, and
/// the last.
pub(crate) fn cut(part: &Part, mut on_run: impl FnMut(Run)) {
    let mut put = |first, last, amount| {
        let mut values = [0; SLOTS];
        if let Some(value) = values.get_mut(part.slot) {
            *value = amount;
        }
        on_run(Run {
            first,
            last,
            values,
        });
    };
    let first = part.start >> FINEST;
    let last = if part.is_moment() {
        first
    } else {
        (part.end - 1) >> FINEST
    };
    if first == last {
        return put(first, first, part.whole());
    }
    // Whole buckets at either end belong to the run between.
    let head = ((first + 1) << FINEST) - part.start;
    let tail = part.end - (last << FINEST);
    let whole = 1 << FINEST;
    let from = if head == whole { first } else { first + 1 };
    let to = if tail == whole { last } else { last - 1 };
    if head < whole {
        put(first, first, head);
    }
    if from <= to {
        put(from, to, (to - from + 1) << FINEST);
    }
    if tail < whole {
        put(last, last, tail);
    }
}

/// Adds two sums.
pub(crate) fn add(to: &mut Values, values: &Values) {
    for (to, value) in to.iter_mut().zip(values) {
        // Wrapping, so that subtracting a run from a sum gives exactly the sum before it was added.
        *to = to.wrapping_add(*value);
    }
}

fn subtract(from: &mut Values, values: &Values) {
    for (from, value) in from.iter_mut().zip(values) {
        *from = from.wrapping_sub(*value);
    }
}

/// Adds up runs of one key, which come in the order of their first buckets and may overlap, to runs
/// that do not overlap.
#[derive(Debug, Default)]
pub(crate) struct Sweep {
    /// Bucket up to which everything was emitted.
    at: i64,
    /// The sums of that bucket alone.
    here: Option<Values>,
    /// Last bucket of open runs, with their sums of one bucket.
    open: BinaryHeap<Reverse<(i64, Values)>>,
    /// Sums of those.
    sum: Values,
}

impl Sweep {
    pub(crate) fn push(&mut self, run: &Run, on_run: &mut dyn FnMut(Run)) {
        self.advance(run.first, on_run);
        self.at = self.at.max(run.first);
        if run.first == run.last {
            add(self.here.get_or_insert([0; SLOTS]), &run.values);
        } else {
            let one = run.share(1);
            add(&mut self.sum, &one);
            self.open.push(Reverse((run.last, one)));
        }
    }

    /// Emits everything that is left, and is empty afterwards.
    pub(crate) fn finish(&mut self, on_run: &mut dyn FnMut(Run)) {
        self.advance(i64::MAX, on_run);
        *self = Self::default();
    }

    /// Emits all runs before a bucket.
    fn advance(&mut self, to: i64, on_run: &mut dyn FnMut(Run)) {
        while self.at < to {
            if let Some(mut values) = self.here.take() {
                add(&mut values, &self.sum);
                on_run(Run {
                    first: self.at,
                    last: self.at,
                    values,
                });
                self.at += 1;
            } else {
                let Some(Reverse((last, _))) = self.open.peek() else {
                    break;
                };
                // A run ends with the first open one that ends: after it the sum of a bucket
                // differs.
                let last = (*last).min(to - 1);
                if last >= self.at {
                    let run = Run {
                        first: self.at,
                        last,
                        values: self.sum,
                    };
                    let buckets = run.buckets();
                    on_run(Run {
                        values: self.sum.map(|value| value.wrapping_mul(buckets)),
                        ..run
                    });
                    self.at = last + 1;
                }
            }
            // Runs whose last bucket was emitted are subtracted before anything else is added, so
            // that the sum never contains a run that has ended.
            while let Some(Reverse((last, one))) = self.open.peek()
                && *last < self.at
            {
                subtract(&mut self.sum, one);
                self.open.pop();
            }
        }
    }
}

/// Builds the runs of one level from the runs of the level below, which come in order and do not
/// overlap.
#[derive(Debug, Default)]
pub(crate) struct Roll {
    open: Option<(i64, Values)>,
}

impl Roll {
    pub(crate) fn push(&mut self, run: &Run, on_run: &mut dyn FnMut(Run)) {
        let first = run.first >> STEP;
        let last = run.last >> STEP;
        if first == last {
            return self.add(first, &run.values, on_run);
        }
        let children = 1 << STEP;
        let head = ((first + 1) << STEP) - run.first;
        let tail = run.last - (last << STEP) + 1;
        let from = if head == children { first } else { first + 1 };
        let to = if tail == children { last } else { last - 1 };
        if head < children {
            self.add(first, &run.share(head), on_run);
        }
        // A run of several whole buckets is emitted at once and not bucket by bucket. Otherwise a
        // wait of an hour would be a row for each bucket of every level.
        if from <= to {
            self.finish(on_run);
            let values = run.share((to - from + 1) << STEP);
            on_run(Run {
                first: from,
                last: to,
                values,
            });
        }
        if tail < children {
            self.add(last, &run.share(tail), on_run);
        }
    }

    /// Emits the remaining run.
    pub(crate) fn finish(&mut self, on_run: &mut dyn FnMut(Run)) {
        if let Some((bucket, values)) = self.open.take() {
            on_run(Run {
                first: bucket,
                last: bucket,
                values,
            });
        }
    }

    fn add(&mut self, bucket: i64, values: &Values, on_run: &mut dyn FnMut(Run)) {
        match &mut self.open {
            Some((open, sum)) if *open == bucket => add(sum, values),
            _ => {
                self.finish(on_run);
                self.open = Some((bucket, *values));
            }
        }
    }
}
