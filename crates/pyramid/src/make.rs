//! Making the pages of an extract: one scan of each table, one sort, and the levels from the finest
//! up.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use etwkit_extract::Extract;
use etwkit_trace::derive::columns::{Get, int64};

use crate::about::{About, SECONDS, TableAbout, VERSION};
use crate::error::{Error, Result};
use crate::levels::Levels;
use crate::page::PageWriter;
use crate::part::{Dim, Parts};
use crate::scan::Scan;
use crate::spill::{Record, Sorter};
use crate::tables::{self, Facts, Rows};

/// Sleep between two polls of the worker threads.
const PAUSE: Duration = Duration::from_millis(10);

/// Progress of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Rows that were read.
    pub rows: u64,
    /// Total number of rows to read.
    pub of: u64,
}

/// Receives the progress, and returns true to continue.
pub(crate) type OnProgress<'a> = &'a mut dyn FnMut(Progress) -> bool;

/// Writes all pages of an extract into an empty folder.
pub(crate) fn make(extract: &Extract, folder: &Path, on_progress: OnProgress<'_>) -> Result<About> {
    let facts = Facts::read(extract)?;
    let tables = tables::of(extract);
    let rows = |rows: &Rows| extract.table(rows.table()).map_or(0, |file| file.rows);
    let mut progress = Progress {
        rows: 0,
        of: tables.iter().map(rows).sum(),
    };
    let mut about = About {
        version: VERSION,
        fingerprint: extract.fingerprint().to_owned(),
        ..About::default()
    };
    for table in tables {
        let (found, levels) = one(extract, table, &facts, folder, &mut |rows| {
            progress.rows = progress.rows.saturating_add(rows);
            on_progress(progress)
        })?;
        about.tables.insert(table.table().to_owned(), found);
        about.levels.extend(
            levels
                .into_iter()
                .map(|(dim, levels)| (dim.name().to_owned(), levels)),
        );
    }
    seconds(extract, folder)?;
    about.write(folder)
}

type Made = (TableAbout, Vec<(Dim, usize)>);

/// The pages of one table. `go_on` hears how many rows were read.
fn one(
    extract: &Extract,
    table: Rows,
    facts: &Facts,
    folder: &Path,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<Made> {
    let mut scan = Scan::new(table, folder)?;
    let mut parts = Parts::default();
    let mut first = 0;
    let file = extract.table(table.table());
    for batch in file
        .map(|file| file.batches(Some(table.columns())))
        .transpose()?
        .into_iter()
        .flatten()
    {
        let batch = batch?;
        parts.clear();
        table.parts(&batch, first, facts, &mut parts)?;
        scan.add(&parts)?;
        first += batch.num_rows() as u64;
        if !go_on(batch.num_rows() as u64) {
            return Err(Error::Stopped);
        }
    }
    let (found, sorters) = scan.finish(first)?;
    let made = sum_up(sorters, folder, (found.from, found.to), go_on)?;
    Ok((found, made))
}

/// Builds the levels of each kind of sums, each in a thread of its own: they are independent.
fn sum_up(
    sorters: Vec<(Dim, Sorter)>,
    folder: &Path,
    bounds: (i64, i64),
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<Vec<(Dim, usize)>> {
    let stop = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        let work =
            |(dim, sorter)| scope.spawn(move || levels_of(dim, sorter, folder, bounds, stop));
        let threads: Vec<_> = sorters.into_iter().map(work).collect();
        while threads.iter().any(|thread| !thread.is_finished()) {
            // The callback runs only on this thread: the closure that receives progress may not be
            // shared between threads.
            if !go_on(0) {
                stop.store(true, Ordering::Relaxed);
            }
            std::thread::sleep(PAUSE);
        }
        let made = |thread: ScopedJoinHandle<'_, _>| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(made).collect()
    })
}

/// Writes the levels of one kind of sums; returns how many there are.
fn levels_of(
    dim: Dim,
    sorter: Sorter,
    folder: &Path,
    bounds: (i64, i64),
    stop: &AtomicBool,
) -> Result<(Dim, usize)> {
    let mut levels = Levels::new(folder, dim, bounds);
    let mut sorted = sorter.finish().map_err(Error::io("read", folder))?;
    let mut count = 0u64;
    while let Some(record) = sorted.next().map_err(Error::io("read", folder))? {
        levels.push(&record)?;
        count += 1;
        // The flag is checked now and then, because checking it for each record would cost more
        // than the record.
        if count.is_multiple_of(1 << 16) && stop.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
    }
    Ok((dim, levels.finish()?))
}

/// Events of each second, which is all that is kept of when events of any kind were logged.
fn seconds(extract: &Extract, folder: &Path) -> Result<()> {
    let Some(file) = extract.table("event_count") else {
        return Ok(());
    };
    let missing = Error::column("event_count");
    let mut seconds: BTreeMap<i64, i64> = BTreeMap::new();
    for batch in file.batches(Some(&["second", "events"]))? {
        let batch = batch?;
        let second = int64(&batch, "second").map_err(missing)?;
        let events = int64(&batch, "events").map_err(missing)?;
        for row in 0..batch.num_rows() {
            if let (Some(second), Some(events)) = (second.get(row), events.get(row)) {
                let sum = seconds.entry(second).or_default();
                *sum = sum.saturating_add(events);
            }
        }
    }
    let mut writer = PageWriter::create(&folder.join(SECONDS), 1)?;
    for (second, events) in seconds {
        let mut record = Record {
            keys: [0, 0, second, second],
            ..Default::default()
        };
        if let Some(value) = record.values.first_mut() {
            *value = events;
        }
        writer.push(&record)?;
    }
    writer.finish()
}
