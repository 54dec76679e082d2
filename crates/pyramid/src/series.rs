//! Sums over time.

use std::collections::BTreeMap;

use crate::about::SECONDS;
use crate::error::{Error, Result};
use crate::grid::{Grid, bounds};
use crate::part::{Dim, RUNNING, UNKNOWN};
use crate::requests::{
    Field, MAX_SERIES_BUCKETS, Range, Selection, Series, SeriesAnswer, SeriesKind, SeriesRequest,
    Source,
};
use crate::store::{Store, key_in};
use crate::timeline::{has, sorted};

/// Maximum number of series with keys of their own.
const MAX_TOP: usize = 64;
/// Width of the buckets by which events are counted, in nanoseconds.
const SECOND: i64 = 1_000_000_000;

/// Answers [`Pyramid::series`](crate::Pyramid::series).
pub(crate) fn answer(store: &Store, request: &SeriesRequest) -> Result<SeriesAnswer> {
    let limit = MAX_SERIES_BUCKETS;
    if request.buckets > limit {
        let found = u64::from(request.buckets);
        return Err(Error::Limit {
            what: "buckets",
            limit: u64::from(limit),
            found,
        });
    }
    if request.kind == SeriesKind::Events {
        return events(store, request);
    }
    let mut source = Source::default();
    let asked = SeriesQuery::new(request, &mut source);
    if store.table(asked.dim).is_none() {
        return Err(store.not_recorded(what(request.kind)));
    }
    // Totals cover the exact range, buckets the range rounded outwards: bands are ranked and
    // labeled by the range that was requested.
    let totals = totals(store, &asked, request.range, &mut source)?;
    let grid = Grid::new(store, &[asked.dim], request.range, request.buckets);
    grid.note_level(&mut source);
    let mut bands = Bands::new(totals, top(request), grid);
    fill(store, &asked, &grid, &mut bands, &mut source)?;
    let (unit, capacity) = asked.unit(store, &grid);
    let range = grid.range();
    let bucket_ns = grid.width;
    Ok(SeriesAnswer {
        range,
        bucket_ns,
        capacity,
        unit,
        series: bands.finish(),
        source,
    })
}

/// Returns the total of each series in exactly this range.
fn totals(
    store: &Store,
    asked: &SeriesQuery,
    range: Range,
    source: &mut Source,
) -> Result<BTreeMap<i32, i64>> {
    let mut totals: BTreeMap<i32, i64> = BTreeMap::new();
    for (key, values) in store.sums(asked.dim, bounds(range), source)? {
        let value = values[RUNNING];
        if let Some(key) = asked.series(key).filter(|_| value != 0) {
            let total = totals.entry(key).or_default();
            *total = total.saturating_add(value);
        }
    }
    Ok(totals)
}

/// Adds to the buckets of a grid: sums of its level, or the rows themselves if none is fine enough.
fn fill(
    store: &Store,
    asked: &SeriesQuery,
    grid: &Grid,
    bands: &mut Bands,
    source: &mut Source,
) -> Result<()> {
    if let Some(level) = grid.level {
        let dim = (asked.dim, level);
        let keys = asked.keys();
        store.runs(
            dim,
            keys,
            grid.span(),
            &[RUNNING],
            source,
            &mut |key, run, shift| {
                if let Some(key) = asked.series(key) {
                    grid.place_run(run, shift, |bucket, buckets| {
                        bands.add(key, bucket, run.share(buckets)[RUNNING]);
                    });
                }
            },
        )?;
    } else if let Some(table) = store.table(asked.dim) {
        store.parts(table, grid.span(), source, &mut |part| {
            let key = key_in(part, asked.dim).filter(|_| part.slot == RUNNING);
            if let Some(key) = key.and_then(|key| asked.series(key)) {
                grid.place_part(part, |bucket, amount| bands.add(key, bucket, amount));
            }
        })?;
    }
    Ok(())
}

/// The source of a kind, for messages.
const fn what(kind: SeriesKind) -> &'static str {
    match kind {
        SeriesKind::Cpu => "context switches or CPU samples",
        SeriesKind::Disk | SeriesKind::DiskBusy => "disk accesses",
        SeriesKind::File => "operations on files",
        SeriesKind::Net => "network transfers",
        SeriesKind::Events => "events",
        SeriesKind::Marks => "marks",
    }
}

fn top(request: &SeriesRequest) -> usize {
    usize::try_from(request.top).unwrap_or(MAX_TOP).min(MAX_TOP)
}

/// The sums to read for a request.
struct SeriesQuery {
    kind: SeriesKind,
    dim: Dim,
    processes: Option<Vec<i32>>,
    threads: Option<Vec<i32>>,
    cores: Option<Vec<i32>>,
}

impl SeriesQuery {
    fn new(request: &SeriesRequest, source: &mut Source) -> Self {
        let Selection {
            processes,
            threads,
            cores,
        } = &request.selection;
        let processes = sorted(processes.as_ref());
        let threads = sorted(threads.as_ref());
        let cores = sorted(cores.as_ref());
        // Only the sums of threads and processors are also kept by process. So one of these two
        // conditions can be combined with processes, but not both.
        let dim = match request.kind {
            SeriesKind::Cpu if threads.is_some() => Dim::Thread,
            SeriesKind::Cpu if cores.is_some() => Dim::Core,
            SeriesKind::Cpu => Dim::Process,
            SeriesKind::Disk => Dim::Disk,
            SeriesKind::DiskBusy => Dim::DiskBusy,
            SeriesKind::File => Dim::File,
            SeriesKind::Net => Dim::Net,
            SeriesKind::Events | SeriesKind::Marks => Dim::Mark,
        };
        let asked = Self {
            kind: request.kind,
            dim,
            processes,
            threads,
            cores,
        };
        let without =
            |is_applied: bool, is_asked: bool, field| (is_asked && !is_applied).then_some(field);
        source.not_applied.extend(without(
            dim != Dim::DiskBusy,
            asked.processes.is_some(),
            Field::Process,
        ));
        source.not_applied.extend(without(
            dim == Dim::Thread,
            asked.threads.is_some(),
            Field::Thread,
        ));
        source.not_applied.extend(without(
            dim == Dim::Core,
            asked.cores.is_some(),
            Field::Core,
        ));
        asked
    }

    /// The keys to read, if they are known; `None` for all.
    fn keys(&self) -> Option<&[i32]> {
        match self.dim {
            Dim::Thread => self.threads.as_deref(),
            Dim::Core => self.cores.as_deref(),
            Dim::DiskBusy => None,
            _ => self.processes.as_deref(),
        }
    }

    /// The series that sums of these keys belong to, if they count.
    fn series(&self, (key, sub): (i32, i32)) -> Option<i32> {
        let (counts, process) = match self.dim {
            Dim::Thread => (has(self.threads.as_ref(), key), sub),
            Dim::Core => (has(self.cores.as_ref(), key), sub),
            Dim::DiskBusy => return Some(key),
            _ => (true, key),
        };
        let counts = counts && has(self.processes.as_ref(), process);
        // Marks are one line: which process wrote them is only a condition.
        counts.then_some(if self.dim == Dim::Mark {
            UNKNOWN
        } else {
            process
        })
    }

    fn unit(&self, store: &Store, grid: &Grid) -> (&'static str, Option<i64>) {
        match self.kind {
            SeriesKind::Cpu => {
                let asked = self.cores.as_ref().filter(|_| self.dim == Dim::Core);
                let cores = asked.map_or(i64::from(store.facts.processors), |cores| {
                    i64::try_from(cores.len()).unwrap_or(i64::MAX)
                });
                ("ns", Some(grid.width.saturating_mul(cores)))
            }
            SeriesKind::DiskBusy => ("ns", Some(grid.width)),
            SeriesKind::Disk | SeriesKind::File | SeriesKind::Net => ("bytes", None),
            SeriesKind::Events | SeriesKind::Marks => ("count", None),
        }
    }
}

/// The largest series, and the sum of the others.
struct Bands {
    /// Keys in the order of their names, with their places.
    places: BTreeMap<i32, usize>,
    series: Vec<Series>,
    others: Series,
}

impl Bands {
    fn new(totals: BTreeMap<i32, i64>, top: usize, grid: Grid) -> Self {
        // Time of no known process never has a band of its own, however large it is: a reader could
        // not look up its owner.
        let (named, unnamed): (Vec<_>, Vec<_>) =
            totals.into_iter().partition(|(key, _)| *key != UNKNOWN);
        let mut named: Vec<(i32, i64)> = named;
        // Of equal totals the smaller key comes first, so that bands do not change places between
        // two answers.
        named.sort_by_key(|(key, total)| (std::cmp::Reverse(*total), *key));
        let rest = named.split_off(top.min(named.len()));
        let empty = |(key, total): (Option<i32>, i64)| Series {
            key,
            total,
            values: vec![0; grid.count],
        };
        let others = rest
            .iter()
            .chain(&unnamed)
            .fold(0i64, |sum, (_, total)| sum.saturating_add(*total));
        let places = named
            .iter()
            .enumerate()
            .map(|(place, (key, _))| (*key, place))
            .collect();
        let series = named
            .iter()
            .map(|(key, total)| empty((Some(*key), *total)))
            .collect();
        Self {
            places,
            series,
            others: empty((None, others)),
        }
    }

    fn add(&mut self, key: i32, bucket: usize, value: i64) {
        let series = match self
            .places
            .get(&key)
            .and_then(|place| self.series.get_mut(*place))
        {
            Some(series) => series,
            None => &mut self.others,
        };
        // Saturating, because values in a file from an unknown source may be any numbers.
        if let Some(sum) = series.values.get_mut(bucket) {
            *sum = sum.saturating_add(value);
        }
    }

    fn finish(mut self) -> Vec<Series> {
        if self.others.total != 0 || self.others.values.iter().any(|value| *value != 0) {
            self.series.push(self.others);
        }
        self.series
    }
}

/// Events are counted by whole seconds: a bucket has at least one second, and a second belongs to
/// the bucket in which it starts.
fn events(store: &Store, request: &SeriesRequest) -> Result<SeriesAnswer> {
    let mut source = Source::default();
    source.not_applied.extend(chosen_fields(&request.selection));
    source.notes.push("events are counted by whole seconds");
    let (from, to) = bounds(request.range);
    let first = from.div_euclid(SECOND);
    let last = to.saturating_sub(1).div_euclid(SECOND);
    let wanted = i64::from(request.buckets.max(1));
    let seconds = (last - first + 1 + wanted - 1) / wanted;
    let width = seconds.saturating_mul(SECOND);
    let grid = Grid::of_width(from, to, width, None);
    source.level_ns = Some(SECOND);
    let mut series = Series {
        key: None,
        total: 0,
        values: vec![0; grid.count],
    };
    if store.about.files.contains_key(SECONDS) {
        let begin = grid.from.div_euclid(SECOND);
        let end = grid.to().saturating_sub(1).div_euclid(SECOND);
        let file = store.page_file(SECONDS)?;
        source.rows_read += file.read(
            &[0],
            |page| page.first <= end && page.last >= begin,
            &mut |record| {
                let [_, _, second, _] = record.keys;
                let [events, ..] = record.values;
                let bucket = second
                    .checked_sub(begin)
                    .map(|behind| behind.div_euclid(seconds.max(1)));
                let bucket = bucket.and_then(|bucket| usize::try_from(bucket).ok());
                if let Some(value) = bucket.and_then(|bucket| series.values.get_mut(bucket)) {
                    *value = value.saturating_add(events);
                    if (first..=last).contains(&second) {
                        series.total = series.total.saturating_add(events);
                    }
                }
            },
        )?;
    }
    let range = Range {
        from_ns: grid.from,
        to_ns: grid.to(),
    };
    Ok(SeriesAnswer {
        range,
        bucket_ns: width,
        capacity: None,
        unit: "count",
        series: vec![series],
        source,
    })
}

/// Returns the fields of a selection that are not empty.
fn chosen_fields(selection: &Selection) -> impl Iterator<Item = Field> {
    let fields = [
        (selection.processes.is_some(), Field::Process),
        (selection.threads.is_some(), Field::Thread),
        (selection.cores.is_some(), Field::Core),
    ];
    let chosen = fields.into_iter().filter(|(is_chosen, _)| *is_chosen);
    chosen.map(|(_, field)| field)
}
