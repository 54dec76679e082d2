//! The division of a range into buckets, and the choice of the level that they are added up from.

use crate::part::{Dim, Part, bounded};
use crate::pieces::{FINEST, Run};
use crate::requests::{Range, Source};
use crate::store::{Store, shift};

/// The level whose buckets are the narrowest.
const FINEST_LEVEL: usize = 0;

/// Buckets of an answer. All have one width and start at multiples of it, so that a picture does
/// not change when it is moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grid {
    /// Start of the first bucket.
    pub(crate) from: i64,
    pub(crate) width: i64,
    pub(crate) count: usize,
    /// The level that they are added up from; `None` if rows are.
    pub(crate) level: Option<usize>,
}

/// A range whose length is less than the maximum of an `i64`. An empty range gets a length of one
/// nanosecond.
pub(crate) fn bounds(range: Range) -> (i64, i64) {
    let from = bounded(range.from_ns);
    let to = bounded(range.to_ns);
    (from, to.max(from.saturating_add(1)))
}

impl Grid {
    /// Divides a part of time into about `buckets` buckets.
    pub(crate) fn new(store: &Store, dims: &[Dim], range: Range, buckets: u32) -> Self {
        let (from, to) = bounds(range);
        let wanted = to
            .saturating_sub(from)
            .div_euclid(i64::from(buckets.max(1)))
            .max(1);
        let is_short = |dim: &Dim| {
            store
                .table(*dim)
                .is_none_or(|table| table.is_short(from, to))
        };
        // Buckets narrower than the finest ones cannot be added up from any level. If there are few
        // enough rows they are read, which is exact. Otherwise the buckets of the answer become
        // wider than requested.
        if wanted < 1 << FINEST && dims.iter().all(is_short) {
            // Rounded up, so that there are no more buckets than requested, apart from one that a
            // shifted start adds.
            let width = to
                .saturating_sub(from)
                .saturating_add(i64::from(buckets.max(1)) - 1);
            return Self::of_width(from, to, (width / i64::from(buckets.max(1))).max(1), None);
        }
        let top = dims
            .iter()
            .map(|dim| store.levels(*dim))
            .max()
            .unwrap_or(1)
            .saturating_sub(1);
        // The coarsest level whose buckets are not wider than the wanted width: it has the fewest
        // rows to read.
        let level = (0..=top)
            .rev()
            .find(|level| 1 << shift(*level) <= wanted)
            .unwrap_or(FINEST_LEVEL);
        let unit = 1i64 << shift(level);
        // A multiple of the bucket width of the level, so that no bucket of the level crosses a
        // bound and would have to be split by guessing.
        let width = (wanted.saturating_add(unit / 2) / unit)
            .max(1)
            .saturating_mul(unit);
        Self::of_width(from, to, width, Some(level))
    }

    pub(crate) fn of_width(from: i64, to: i64, width: i64, level: Option<usize>) -> Self {
        let first = from.div_euclid(width);
        let last = to.saturating_sub(1).div_euclid(width);
        let count = usize::try_from(last - first + 1).unwrap_or(1);
        Self {
            from: first.saturating_mul(width),
            width,
            count,
            level,
        }
    }

    /// Start of a bucket.
    fn start_of(&self, bucket: usize) -> i64 {
        let number = i64::try_from(bucket).unwrap_or(i64::MAX);
        self.from.saturating_add(self.width.saturating_mul(number))
    }

    pub(crate) fn to(&self) -> i64 {
        self.start_of(self.count)
    }

    pub(crate) fn span(&self) -> (i64, i64) {
        (self.from, self.to())
    }

    pub(crate) fn range(&self) -> Range {
        Range {
            from_ns: self.from,
            to_ns: self.to(),
        }
    }

    /// Notes in `source` which level the answer was computed from.
    pub(crate) fn note_level(&self, source: &mut Source) {
        source.level_ns = self.level.map(|level| 1 << shift(level));
    }

    /// The bucket of a moment; nothing outside.
    fn bucket(&self, time: i64) -> Option<usize> {
        let bucket = usize::try_from(time.saturating_sub(self.from).div_euclid(self.width)).ok()?;
        (bucket < self.count).then_some(bucket)
    }

    /// The buckets that a stretch touches, with its duration in each.
    fn stretches(&self, start: i64, end: i64) -> impl Iterator<Item = (usize, i64)> + use<> {
        let grid = *self;
        let start = start.max(grid.from);
        let end = end.min(grid.to());
        let buckets = if start < end {
            grid.bucket(start)
                .zip(grid.bucket(end - 1))
                .map(|(first, last)| first..last + 1)
        } else {
            None
        };
        buckets.into_iter().flatten().map(move |bucket| {
            let begin = grid.start_of(bucket);
            (bucket, end.min(begin + grid.width) - start.max(begin))
        })
    }

    /// Assigns a part of a row to buckets: calls `on_bucket` with each bucket and the amount in it.
    pub(crate) fn place_part(&self, part: &Part, mut on_bucket: impl FnMut(usize, i64)) {
        if part.is_moment() {
            if let Some(bucket) = self.bucket(part.start) {
                on_bucket(bucket, part.amount);
            }
        } else {
            self.stretches(part.start, part.end)
                .for_each(|(bucket, amount)| on_bucket(bucket, amount));
        }
    }

    /// Assigns a run of a level to buckets: calls `on_bucket` with each bucket and the number of
    /// level buckets in it.
    pub(crate) fn place_run(&self, run: &Run, shift: u32, mut on_bucket: impl FnMut(usize, i64)) {
        // Buckets near the limits of an `i64` would wrap around.
        let end = run
            .last
            .saturating_add(1)
            .checked_mul(1 << shift)
            .unwrap_or(i64::MAX);
        let start = run.first.checked_mul(1 << shift).unwrap_or(i64::MIN);
        self.stretches(start, end)
            .for_each(|(bucket, length)| on_bucket(bucket, length >> shift));
    }
}
