//! An open folder of pages, with the tables that it was built from.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use etwkit_base::lock::lock;
use etwkit_base::ordered::both;
use etwkit_extract::manifest::Detail;
use etwkit_extract::{Extract, TableFile};

use crate::about::{About, TableAbout, level_file, side_files};
use crate::base::BaseFile;
use crate::error::{Error, Result};
use crate::page::{PageAt, PageFile};
use crate::part::{Dim, Part, Parts, SLOTS, Values};
use crate::pieces::{FINEST, Run, STEP, add};
use crate::requests::Source;
use crate::scan::{LOOSE, reaching, reaching_slots, segment_key};
use crate::spill::Record;
use crate::tables::{Facts, Rows};

/// Maximum number of rows that are read for one answer; above it the finest buckets are used.
const MAX_ROWS: u64 = 2_000_000;

/// Sums by key.
type Sums = HashMap<(i32, i32), Values>;

/// Receives each run of buckets with equal sums: its key, the run, and the width of its buckets.
type OnRun<'f> = &'f mut dyn FnMut((i32, i32), &Run, u32);

/// A file that is opened when it is first needed. Each has its own lock, so that a request for a
/// small file does not wait until a large one is open.
#[derive(Debug)]
struct Opened<T>(Mutex<Option<Arc<T>>>);

impl<T> Default for Opened<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T> Opened<T> {
    fn or_open(&self, open: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        let mut file = lock(&self.0);
        if let Some(file) = &*file {
            return Ok(Arc::clone(file));
        }
        Ok(Arc::clone(file.insert(Arc::new(open()?))))
    }
}

/// The open files of a pyramid. Each is opened when it is first needed.
#[derive(Debug)]
pub(crate) struct Store {
    folder: PathBuf,
    pub(crate) about: About,
    pub(crate) facts: Facts,
    pub(crate) tables: Vec<Table>,
    is_summary: bool,
    files: Mutex<BTreeMap<String, Arc<Opened<PageFile>>>>,
}

/// A table that sums were built from.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) rows: Rows,
    pub(crate) about: TableAbout,
    file: TableFile,
    open: Opened<BaseFile>,
    /// Parts of rows out of order, and the numbers of those rows.
    loose: (Vec<Part>, HashSet<u64>),
}

impl Table {
    pub(crate) fn base(&self) -> Result<Arc<BaseFile>> {
        self.open.or_open(|| BaseFile::open(&self.file))
    }

    /// The first segment that starts at or after `time`; the number of segments if there is none.
    fn segment(&self, time: i64) -> usize {
        self.about
            .segments
            .partition_point(|(_, begun)| *begun < time)
    }

    /// First row of a segment; after the last segment, the total number of rows.
    fn row(&self, segment: usize) -> u64 {
        self.about
            .segments
            .get(segment)
            .map_or(self.about.rows, |(row, _)| *row)
    }

    /// True if a range has so few rows that they can be read for an answer.
    pub(crate) fn is_short(&self, from: i64, to: i64) -> bool {
        self.row(self.segment(to))
            .saturating_sub(self.row(self.segment(from).saturating_sub(1)))
            <= MAX_ROWS
    }
}

impl Store {
    pub(crate) fn open(extract: &Extract, folder: PathBuf, about: About) -> Result<Self> {
        let facts = Facts::read(extract)?;
        let is_summary = extract.manifest().detail == Detail::Summary;
        let mut store = Self {
            folder,
            about,
            facts,
            tables: Vec::new(),
            is_summary,
            files: Mutex::default(),
        };
        for rows in crate::tables::of(extract) {
            let found = extract
                .table(rows.table())
                .zip(store.about.tables.get(rows.table()));
            // The pages were built without this table.
            let Some((file, about)) = found else { continue };
            let file = file.clone();
            let about = about.clone();
            let mut loose: Vec<Part> = Vec::new();
            store.reaching(
                rows,
                LOOSE,
                rows.dims(),
                &mut Source::default(),
                &mut |part| loose.push(part),
            )?;
            let numbers = loose.iter().map(|part| part.row).collect();
            store.tables.push(Table {
                rows,
                about,
                file,
                open: Opened::default(),
                loose: (loose, numbers),
            });
        }
        Ok(store)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The error for a quantity without rows in the extract.
    pub(crate) const fn not_recorded(&self, what: &'static str) -> Error {
        Error::NotRecorded {
            what,
            is_summary: self.is_summary,
        }
    }

    /// The table that sums of that kind are built from.
    pub(crate) fn table(&self, dim: Dim) -> Option<&Table> {
        self.tables
            .iter()
            .find(|table| table.rows.dims().contains(&dim))
    }

    /// Number of levels of that kind; none if there are no sums of it.
    pub(crate) fn levels(&self, dim: Dim) -> usize {
        self.about
            .levels
            .get(dim.name())
            .map_or(0, |levels| *levels)
    }

    pub(crate) fn page_file(&self, name: &str) -> Result<Arc<PageFile>> {
        let mut files = lock(&self.files);
        let place = Arc::clone(files.entry(name.to_owned()).or_default());
        // The lock on the list is released before a file is opened: opening a large one takes
        // seconds, and other queries run in that time.
        drop(files);
        place.or_open(|| PageFile::open(&self.folder.join(name)))
    }

    /// Opens all files of levels, the coarsest first, because they are small and drawn first.
    pub(crate) fn open_files(&self, go_on: &dyn Fn() -> bool) -> Result<()> {
        let levels = &self.about.levels;
        let most = levels.values().max();
        for level in (0..most.map_or(0, |most| *most)).rev() {
            for (dim, _) in levels.iter().filter(|(_, count)| level < **count) {
                if !go_on() {
                    return Err(Error::Stopped);
                }
                self.page_file(&level_file(dim, level))?;
            }
        }
        self.tables
            .iter()
            .try_for_each(|table| table.base().map(drop))
    }

    /// Calls `on_run` for the runs of a level that touch the range: those of the given keys (or
    /// all), with the values of these slots. Each comes with the width of its buckets, as a power
    /// of two.
    pub(crate) fn runs(
        &self,
        (dim, level): (Dim, usize),
        keys: Option<&[i32]>,
        (from, to): (i64, i64),
        slots: &[usize],
        source: &mut Source,
        on_run: OnRun<'_>,
    ) -> Result<()> {
        // The topmost level replaces all levels above it.
        let Some(level) = self.levels(dim).checked_sub(1).map(|top| level.min(top)) else {
            return Ok(());
        };
        let shift = shift(level);
        let first = from >> shift;
        let last = to.saturating_sub(1) >> shift;
        let file = self.page_file(&level_file(dim.name(), level))?;
        let has_key = |page: &PageAt| {
            keys.is_none_or(|keys| {
                let at = keys.partition_point(|key| i64::from(*key) < page.key.0);
                keys.get(at)
                    .is_some_and(|key| i64::from(*key) <= page.key.1)
            })
        };
        let is_wanted = |page: &PageAt| page.first <= last && page.last >= first && has_key(page);
        let in_range = |record: &Record| {
            let [.., begin, end] = record.keys;
            begin <= last && end >= first && begin <= end
        };
        source.rows_read += file.read(slots, is_wanted, &mut |record| {
            let [key, sub, begin, end] = record.keys;
            let (Ok(key), Ok(sub)) = (i32::try_from(key), i32::try_from(sub)) else {
                return;
            };
            let is_asked = keys.is_none_or(|keys| keys.binary_search(&key).is_ok());
            if is_asked && in_range(record) {
                on_run(
                    (key, sub),
                    &Run {
                        first: begin,
                        last: end,
                        values: record.values,
                    },
                    shift,
                );
            }
        })?;
        Ok(())
    }

    /// Emits all parts of rows that touch the range, and some near it.
    pub(crate) fn parts(
        &self,
        table: &Table,
        (from, to): (i64, i64),
        source: &mut Source,
        on_part: &mut dyn FnMut(&Part),
    ) -> Result<()> {
        // The segment that contains `from` starts before it, hence one less. Parts that continue
        // after the last segment are found among the parts that reach back into it.
        let begin = table.segment(from).saturating_sub(1);
        let end = table.segment(to);
        self.rows(table, (begin, end), source, on_part)?;
        let segment = i64::try_from(end).unwrap_or(i64::MAX);
        self.reaching(
            table.rows,
            segment,
            table.rows.dims(),
            source,
            &mut |part| on_part(&part),
        )?;
        table.loose.0.iter().for_each(on_part);
        Ok(())
    }

    /// Sums up to the end of a part of time less those up to its start, by key: the exact sums of
    /// that part.
    pub(crate) fn sums(
        &self,
        dim: Dim,
        (from, to): (i64, i64),
        source: &mut Source,
    ) -> Result<BTreeMap<(i32, i32), Values>> {
        let Some(table) = self.table(dim) else {
            return Ok(BTreeMap::new());
        };
        let of_end = |time| -> Result<(Sums, u64)> {
            let mut sums = Sums::new();
            let mut source = Source::default();
            self.up_to(table, dim, time, &mut source, &mut |key, values| {
                add(sums.entry(key).or_insert([0; SLOTS]), values);
            })?;
            Ok((sums, source.rows_read))
        };
        // Reading up to each end costs at most one segment of rows for any range; adding up the
        // rows in between would grow with the range.
        let (begun, ended) = both(|| of_end(from), || of_end(to));
        let ((begun, of_begun), (mut sums, of_ended)) = (begun?, ended?);
        source.rows_read += of_begun + of_ended;
        for (key, values) in begun {
            add(
                sums.entry(key).or_insert([0; SLOTS]),
                &values.map(i64::wrapping_neg),
            );
        }
        Ok(sums
            .into_iter()
            .filter(|(_, values)| values.iter().any(|value| *value != 0))
            .collect())
    }

    /// Sums of everything before a segment, which are in a file.
    fn sums_before(
        &self,
        table: &Table,
        dim: Dim,
        segment: i64,
        source: &mut Source,
        on_sum: &mut dyn FnMut((i32, i32), &Values),
    ) -> Result<()> {
        let (sums, _) = side_files(table.rows.table());
        let tag = segment_key(segment, dim);
        let slots: Vec<usize> = (0..dim.slots()).collect();
        source.rows_read += self.page_file(&sums)?.read(
            &slots,
            |page| page.key.0 <= tag && tag <= page.key.1,
            &mut |record| {
                let [found, key, sub, _] = record.keys;
                if let (true, Ok(key), Ok(sub)) =
                    (found == tag, i32::try_from(key), i32::try_from(sub))
                {
                    on_sum((key, sub), &record.values);
                }
            },
        )?;
        Ok(())
    }

    /// Sums of everything before a moment.
    fn up_to(
        &self,
        table: &Table,
        dim: Dim,
        time: i64,
        source: &mut Source,
        on_sum: &mut dyn FnMut((i32, i32), &Values),
    ) -> Result<()> {
        // Nothing is before the first part, so no segment has to be read.
        if time <= table.about.from {
            return Ok(());
        }
        // After the last part there is nothing to subtract.
        let is_over = time >= table.about.to;
        let segment = if is_over {
            table.about.segments.len()
        } else {
            table.segment(time)
        };
        let number = i64::try_from(segment).unwrap_or(i64::MAX);
        self.sums_before(table, dim, number, source, on_sum)?;
        // Parts of a row are adjacent and have one key: they are combined before the key is looked
        // up.
        let mut row: ((i32, i32), Values) = ((0, 0), [0; SLOTS]);
        let mut put = |part: &Part, amount: i64| {
            let Some(key) = key_in(part, dim).filter(|_| amount != 0) else {
                return;
            };
            if row.0 != key {
                on_sum(row.0, &row.1);
                row = (key, [0; SLOTS]);
            }
            if let Some(value) = row.1.get_mut(part.slot) {
                *value = value.wrapping_add(amount);
            }
        };
        if !is_over {
            // Sums before the segment contain rows that had ended by then in full, including their
            // part after `time`.
            self.rows(
                table,
                (segment.saturating_sub(1), segment),
                source,
                &mut |part| {
                    put(part, part.before(time).saturating_sub(part.whole()));
                },
            )?;
            // Parts of processes were never written: they are the parts of threads by another key.
            let dims = [if dim == Dim::Process {
                Dim::Thread
            } else {
                dim
            }];
            self.reaching(table.rows, number, &dims, source, &mut |part| {
                put(&part, part.before(time));
            })?;
        }
        // Rows out of order are in no sum before a segment, so they are added in full.
        table
            .loose
            .0
            .iter()
            .for_each(|part| put(part, part.before(time)));
        on_sum(row.0, &row.1);
        Ok(())
    }

    /// Parts of the rows of segments, without those out of order.
    fn rows(
        &self,
        table: &Table,
        (begin, end): (usize, usize),
        source: &mut Source,
        on_part: &mut dyn FnMut(&Part),
    ) -> Result<()> {
        let mut parts = Parts::default();
        let rows = (table.row(begin), table.row(end));
        if rows.0 >= rows.1 {
            return Ok(());
        }
        let base = table.base()?;
        source.rows_read += base.read(Some(table.rows.columns()), rows, &mut |batch, first| {
            parts.clear();
            table.rows.parts(batch, first, &self.facts, &mut parts)?;
            let loose = &table.loose.1;
            parts
                .all
                .iter()
                // A row out of order is also among the rows of some segment. It would count twice,
                // because it is added separately.
                .filter(|part| loose.is_empty() || !loose.contains(&part.row))
                .for_each(&mut *on_part);
            Ok(())
        })?;
        Ok(())
    }

    /// Parts of rows after a segment that start before it.
    fn reaching(
        &self,
        rows: Rows,
        segment: i64,
        dims: &[Dim],
        source: &mut Source,
        on_part: &mut dyn FnMut(Part),
    ) -> Result<()> {
        let (_, name) = side_files(rows.table());
        let tags: Vec<i64> = dims.iter().map(|dim| segment_key(segment, *dim)).collect();
        let is_wanted = |page: &PageAt| {
            tags.iter()
                .any(|tag| page.key.0 <= *tag && *tag <= page.key.1)
        };
        source.rows_read +=
            self.page_file(&name)?
                .read(reaching_slots(), is_wanted, &mut |record| {
                    let [tag, ..] = record.keys;
                    if let Some(part) = reaching(record).filter(|_| tags.contains(&tag)) {
                        on_part(part);
                    }
                })?;
        Ok(())
    }
}

/// The keys of a part in a kind of sums; `None` if it does not belong there.
pub(crate) fn key_in(part: &Part, dim: Dim) -> Option<(i32, i32)> {
    match (part.dim, dim) {
        (Dim::Thread, Dim::Process) => Some((part.sub, 0)),
        (of, dim) if of == dim => Some((part.key, part.sub)),
        _ => None,
    }
}

/// Width of the buckets of a level, as a power of two.
pub(crate) fn shift(level: usize) -> u32 {
    const WIDEST_LEVEL: u32 = 19;
    FINEST + STEP * u32::try_from(level).map_or(WIDEST_LEVEL, |level| level.min(WIDEST_LEVEL))
}
