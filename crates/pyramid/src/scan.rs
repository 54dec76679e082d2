//! One scan of a table: pieces of the finest buckets, and the data needed to sum up to any moment.
//!
//! Rows are written when they end. A *segment* is a stretch of them. For each segment two things
//! are stored: the sums of all rows before it, and the parts of later rows that reach back before
//! it. With these, sums up to any moment need only the rows of one segment, and sums of any range
//! need only the rows of the segments that it touches, however long ago a slice started that is
//! still open.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::about::{TableAbout, side_files};
use crate::error::{Error, Result};
use crate::page::PageWriter;
use crate::part::{Dim, Part, Parts, SLOTS, Values};
use crate::pieces::{Run, add, cut};
use crate::spill::{Record, Sorter};
use crate::tables::Rows;

/// Rows of a segment, at least.
const SEGMENT_ROWS: u64 = 1 << 14;
/// Minimum number of rows in a segment per sum stored before it.
const ROWS_PER_SUM: u64 = 8;
/// Maximum number of rows that may be out of order. Each answer holds all of them in memory.
const MAX_LOOSE: u64 = 1 << 20;

/// The segment number of rows that are out of order.
pub(crate) const LOOSE: i64 = -1;

/// First key of the records of a segment and kind of sums.
pub(crate) const fn segment_key(segment: i64, dim: Dim) -> i64 {
    (segment << 4) | dim.number()
}

/// Sums of a key so far.
#[derive(Default)]
struct State {
    sums: Values,
    /// The finest bucket that is being added up.
    open: Option<(i64, Values)>,
}

/// A scan in progress.
pub(crate) struct Scan {
    folder: PathBuf,
    states: HashMap<(Dim, i32, i32), State>,
    sorters: Vec<(Dim, Sorter)>,
    segments: Vec<(u64, i64)>,
    sums: PageWriter,
    reaching: (Sorter, String),
    latest: i64,
    bounds: Option<(i64, i64)>,
    loose: u64,
}

impl Scan {
    pub(crate) fn new(table: Rows, folder: &Path) -> Result<Self> {
        let (sums, reaching) = side_files(table.table());
        Ok(Self {
            folder: folder.to_owned(),
            states: HashMap::new(),
            sorters: table
                .dims()
                .iter()
                .map(|dim| (*dim, Sorter::new()))
                .collect(),
            segments: vec![(0, i64::MIN)],
            sums: PageWriter::create(&folder.join(sums), SLOTS)?,
            reaching: (Sorter::new(), reaching),
            latest: i64::MIN,
            bounds: None,
            loose: 0,
        })
    }

    pub(crate) fn add(&mut self, parts: &Parts) -> Result<()> {
        let mut begin = 0;
        for (end, behind) in &parts.rows {
            let row = parts.all.iter().take(*behind).skip(begin);
            begin = *behind;
            // A row that ended before the one preceding it belongs to no segment, because segments
            // rely on the order of ends. It is kept separately and added to every answer.
            let is_loose = *end < self.latest;
            if is_loose {
                self.loose += 1;
                if self.loose > MAX_LOOSE {
                    return Err(Error::Limit {
                        what: "rows out of order",
                        limit: MAX_LOOSE,
                        found: self.loose,
                    });
                }
            } else {
                self.latest = *end;
                if let Some(first) = row.clone().next() {
                    self.begin_segment(first.row, *end)?;
                }
            }
            for part in row {
                self.part(part, is_loose)?;
            }
        }
        Ok(())
    }

    /// Starts a segment with the row of this number if the current one is long enough.
    fn begin_segment(&mut self, number: u64, end: i64) -> Result<()> {
        let begun = self.segments.last().map_or(0, |(first, _)| *first);
        // Segments grow with the number of threads. Otherwise the sums before them would take more
        // space than the rows that they save from being read.
        let long = SEGMENT_ROWS.max((self.states.len() as u64).saturating_mul(ROWS_PER_SUM));
        if number.saturating_sub(begun) < long {
            return Ok(());
        }
        self.write_sums()?;
        self.segments.push((number, end));
        Ok(())
    }

    /// Writes the sums of all rows so far, which precede the next segment.
    fn write_sums(&mut self) -> Result<()> {
        let segment = i64::try_from(self.segments.len()).unwrap_or(i64::MAX);
        let mut all: Vec<_> = self
            .states
            .iter()
            .map(|(key, state)| (*key, state.sums))
            .collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        for ((dim, key, sub), values) in all.iter().filter(|(_, values)| *values != [0; SLOTS]) {
            let keys = [
                segment_key(segment, *dim),
                i64::from(*key),
                i64::from(*sub),
                i64::from(*key),
            ];
            self.sums.push(&Record {
                keys,
                values: *values,
            })?;
        }
        Ok(())
    }

    fn part(&mut self, part: &Part, is_loose: bool) -> Result<()> {
        let end = if part.is_moment() {
            part.end.saturating_add(1)
        } else {
            part.end
        };
        let (from, to) = self.bounds.unwrap_or((part.start, end));
        self.bounds = Some((from.min(part.start), to.max(end)));
        self.sum(part, is_loose)?;
        // The rows have no parts for processes, because each would repeat the part of a thread. The
        // sums have both: most pictures show processes, and adding up their threads takes far more
        // reading.
        if part.dim == Dim::Thread {
            self.sum(
                &Part {
                    dim: Dim::Process,
                    key: part.sub,
                    sub: 0,
                    ..*part
                },
                is_loose,
            )?;
        }
        if is_loose {
            return self.reach(LOOSE, part);
        }
        // All segments that started after the start of the part. A query for a time in one of them
        // does not read this row, but needs the part of it before the segment.
        let first = self
            .segments
            .partition_point(|(_, time)| *time <= part.start);
        (first..self.segments.len())
            .try_for_each(|segment| self.reach(i64::try_from(segment).unwrap_or(i64::MAX), part))
    }

    /// Adds a part to its sums and to its buckets.
    fn sum(&mut self, part: &Part, is_loose: bool) -> Result<()> {
        let state = self
            .states
            .entry((part.dim, part.key, part.sub))
            .or_default();
        if let Some(sum) = state.sums.get_mut(part.slot).filter(|_| !is_loose) {
            *sum = sum.saturating_add(part.whole());
        }
        let Some((_, sorter)) = self.sorters.iter_mut().find(|(dim, _)| *dim == part.dim) else {
            return Ok(());
        };
        let mut done = Ok(());
        // Adjacent pieces of one key are mostly in the same bucket. They are added up here, so that
        // the sorter gets one record per bucket instead of one per switch.
        cut(part, |run| {
            let ready = match &mut state.open {
                Some((bucket, values)) if *bucket == run.first && run.first == run.last => {
                    add(values, &run.values);
                    None
                }
                open if run.first == run.last => {
                    open.replace((run.first, run.values))
                        .map(|(bucket, values)| Run {
                            first: bucket,
                            last: bucket,
                            values,
                        })
                }
                _ => Some(run),
            };
            if let (Some(run), Ok(())) = (ready, &done) {
                done = sorter.push(record((part.key, part.sub), &run), &self.folder);
            }
        });
        done.map_err(Error::io("write", &self.folder))
    }

    fn reach(&mut self, segment: i64, part: &Part) -> Result<()> {
        let keys = [
            segment_key(segment, part.dim),
            i64::from(part.key),
            i64::from(part.sub),
            i64::from(part.key),
        ];
        let mut values = [0; SLOTS];
        let slot = i64::try_from(part.slot).unwrap_or(i64::MAX);
        let row = i64::try_from(part.row).unwrap_or(i64::MAX);
        for (value, of) in values
            .iter_mut()
            .zip([slot, part.start, part.end, part.amount, row])
        {
            *value = of;
        }
        let pushed = self.reaching.0.push(Record { keys, values }, &self.folder);
        pushed.map_err(Error::io("write", &self.folder))
    }

    /// Completes the files. `rows` is the number of rows of the table.
    pub(crate) fn finish(mut self, rows: u64) -> Result<(TableAbout, Vec<(Dim, Sorter)>)> {
        self.write_sums()?;
        self.sums.finish()?;
        let (sorter, name) = self.reaching;
        let mut writer = PageWriter::create(&self.folder.join(name), REACHING_SLOTS)?;
        let mut sorted = sorter.finish().map_err(Error::io("read", &self.folder))?;
        while let Some(record) = sorted.next().map_err(Error::io("read", &self.folder))? {
            writer.push(&record)?;
        }
        writer.finish()?;
        for ((dim, key, sub), state) in self.states {
            let sorter = self.sorters.iter_mut().find(|(of, _)| *of == dim);
            if let (Some((bucket, values)), Some((_, sorter))) = (state.open, sorter) {
                let run = Run {
                    first: bucket,
                    last: bucket,
                    values,
                };
                let pushed = sorter.push(record((key, sub), &run), &self.folder);
                pushed.map_err(Error::io("write", &self.folder))?;
            }
        }
        // A table without parts covers no time.
        let (from, to) = self.bounds.unwrap_or((0, 0));
        Ok((
            TableAbout {
                rows,
                from,
                to,
                segments: self.segments,
            },
            self.sorters,
        ))
    }
}

/// Values of a part that reaches into a segment.
const REACHING_SLOTS: usize = 5;
/// All slots of reaching parts.
const REACHING: [usize; REACHING_SLOTS] = [0, 1, 2, 3, 4];

fn record((key, sub): (i32, i32), run: &Run) -> Record {
    Record {
        keys: [i64::from(key), i64::from(sub), run.first, run.last],
        values: run.values,
    }
}

/// A part that reaches back into a segment, decoded from its record. Damaged records can have
/// numbers that no part has.
pub(crate) fn reaching(record: &Record) -> Option<Part> {
    let [tag, key, sub, _] = record.keys;
    let [slot, start, end, amount, row, ..] = record.values;
    Some(Part {
        row: u64::try_from(row).ok()?,
        dim: Dim::of_number(tag & 15)?,
        key: i32::try_from(key).ok()?,
        sub: i32::try_from(sub).ok()?,
        slot: usize::try_from(slot).ok().filter(|slot| *slot < SLOTS)?,
        start,
        end,
        amount,
    })
}

/// The values that [`reaching`] needs.
pub(crate) const fn reaching_slots() -> &'static [usize] {
    &REACHING
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_record_is_no_part_of_another_row_or_slot() {
        let with = |slot: i64, row: i64| {
            let mut record = Record {
                keys: [segment_key(3, Dim::Thread), 7, 2, 7],
                ..Record::default()
            };
            record.values[..REACHING_SLOTS].copy_from_slice(&[slot, 10, 20, 0, row]);
            reaching(&record).map(|part| (part.slot, part.row))
        };
        assert_eq!(with(4, 5), Some((4, 5)));
        assert_eq!(with(99, 5), None);
        assert_eq!(with(4, -1), None);
    }
}
