//! States of lanes over time.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::grid::Grid;
use crate::part::{
    CORE_SWITCHES, Dim, Part, READY, RUNNING, SLOTS, SWITCHES, Values, waits_by_reason,
};
use crate::pieces::{Run, add};
use crate::requests::{
    CORE_COLUMNS, Field, LaneKind, MAX_CELLS, Selection, Source, THREAD_COLUMNS, Timeline,
    TimelineHeader, TimelineRequest,
};
use crate::store::{Store, key_in};

/// The value in the column `process` that means no process.
const NO_PROCESS: u8 = 255;

/// Answers [`Pyramid::timeline`](crate::Pyramid::timeline).
pub(crate) fn answer(store: &Store, request: &TimelineRequest) -> Result<Timeline> {
    let cells = u64::from(request.buckets.max(1)).saturating_mul(request.keys.len() as u64);
    if cells > MAX_CELLS {
        return Err(Error::Limit {
            what: "lanes times buckets",
            limit: MAX_CELLS,
            found: cells,
        });
    }
    let mut source = Source::default();
    match request.kind {
        LaneKind::Core => {
            cores(store, request, &mut source).map(|(header, columns)| (header, columns, source))
        }
        kind => threads(store, kind, request, &mut source)
            .map(|(header, columns)| (header, columns, source)),
    }
    .map(|(header, columns, source)| Timeline {
        header,
        columns,
        source,
    })
}

type Drawn = (TimelineHeader, Vec<(&'static str, Vec<u8>)>);

/// Requested lanes, each once, and their buckets.
struct Lanes {
    keys: Vec<i32>,
    grid: Grid,
    cells: Vec<Values>,
}

impl Lanes {
    fn new(asked: &[i32], grid: Grid) -> Self {
        let mut keys = asked.to_vec();
        keys.sort_unstable();
        keys.dedup();
        let cells = vec![[0; SLOTS]; keys.len().saturating_mul(grid.count)];
        Self { keys, grid, cells }
    }

    /// Index of the first cell of a lane.
    fn begin(&self, key: i32) -> Option<usize> {
        self.keys
            .binary_search(&key)
            .ok()
            .map(|lane| lane * self.grid.count)
    }

    /// Adds a run to a lane. Returns the cells that it touches, with its values there.
    fn add_run(
        &mut self,
        key: i32,
        run: &Run,
        shift: u32,
        mut on_cell: impl FnMut(usize, &Values),
    ) {
        let Some(begin) = self.begin(key) else { return };
        let cells = &mut self.cells;
        self.grid.place_run(run, shift, |bucket, buckets| {
            let values = run.share(buckets);
            if let Some(cell) = cells.get_mut(begin + bucket) {
                add(cell, &values);
                on_cell(begin + bucket, &values);
            }
        });
    }

    fn add_part(&mut self, key: i32, part: &Part, mut on_cell: impl FnMut(usize, i64)) {
        let Some(begin) = self.begin(key) else { return };
        let cells = &mut self.cells;
        self.grid.place_part(part, |bucket, amount| {
            if let Some(value) = cells
                .get_mut(begin + bucket)
                .and_then(|cell| cell.get_mut(part.slot))
            {
                *value = value.saturating_add(amount);
                on_cell(begin + bucket, amount);
            }
        });
    }

    /// The cells in the requested order of the lanes.
    fn column(&self, asked: &[i32], value: impl Fn(usize, &Values) -> u8) -> Vec<u8> {
        let lanes = asked.iter().filter_map(|key| self.begin(*key));
        let cells = lanes.flat_map(|begin| begin..begin + self.grid.count);
        cells
            .map(|cell| self.cells.get(cell).map_or(0, |values| value(cell, values)))
            .collect()
    }

    fn header(&self, palette: Vec<i32>, switches: usize) -> TimelineHeader {
        let counts = self.cells.iter().filter_map(|cell| cell.get(switches));
        TimelineHeader {
            range: self.grid.range(),
            buckets: u32::try_from(self.grid.count).unwrap_or(u32::MAX),
            bucket_ns: self.grid.width,
            palette,
            // Sums of damaged pages can be negative.
            switches: counts.map(|count| (*count).max(0).cast_unsigned()).sum(),
        }
    }
}

/// A share of a bucket in 255ths; at least 1 for any nonzero amount.
fn share(value: i64, width: i64) -> u8 {
    if value <= 0 {
        return 0;
    }
    // In 128 bits, because the sum of many threads times 255 does not fit into 64.
    let rounded = (i128::from(value) * 255 + i128::from(width) / 2) / i128::from(width.max(1));
    u8::try_from(rounded.clamp(1, 255)).unwrap_or(255)
}

fn count(value: i64) -> u8 {
    u8::try_from(value.clamp(0, 255)).unwrap_or(255)
}

/// A selection as sorted lists.
pub(crate) fn sorted(keys: Option<&Vec<i32>>) -> Option<Vec<i32>> {
    keys.map(|keys| {
        let mut keys = keys.clone();
        keys.sort_unstable();
        keys
    })
}

/// True if a sorted list of a selection contains a key. `None` contains all.
pub(crate) fn has(keys: Option<&Vec<i32>>, key: i32) -> bool {
    keys.is_none_or(|keys| keys.binary_search(&key).is_ok())
}

/// A selection for lanes of threads or processes, as sorted lists, and the sums that have them.
pub(crate) struct OfThreads {
    pub(crate) processes: Option<Vec<i32>>,
    pub(crate) threads: Option<Vec<i32>>,
    pub(crate) dim: Dim,
}

impl OfThreads {
    pub(crate) fn new(kind: LaneKind, selection: &Selection, source: &mut Source) -> Self {
        let cores = selection.cores.as_ref();
        source.not_applied.extend(cores.map(|_| Field::Core));
        let threads = sorted(selection.threads.as_ref());
        // A process of which only some threads are selected is the sum of those, which only the
        // sums by thread can say.
        let dim = if kind == LaneKind::Thread || threads.is_some() {
            Dim::Thread
        } else {
            Dim::Process
        };
        Self {
            processes: sorted(selection.processes.as_ref()),
            threads,
            dim,
        }
    }
}

fn threads(
    store: &Store,
    kind: LaneKind,
    request: &TimelineRequest,
    source: &mut Source,
) -> Result<Drawn> {
    let OfThreads {
        processes,
        threads,
        dim,
    } = OfThreads::new(kind, &request.selection, source);
    let grid = Grid::new(store, &[dim], request.range, request.buckets);
    grid.note_level(source);
    let mut lanes = Lanes::new(&request.keys, grid);
    let lane = |(key, sub): (i32, i32)| {
        let (process, thread) = if dim == Dim::Thread {
            (sub, Some(key))
        } else {
            (key, None)
        };
        let counts = has(processes.as_ref(), process)
            && thread.is_none_or(|thread| has(threads.as_ref(), thread));
        counts.then_some(if kind == LaneKind::Thread {
            key
        } else {
            process
        })
    };
    if let Some(level) = grid.level {
        // Sums by thread are found by the keys of threads. If lanes are processes, the sums of the
        // selected threads are read, and the process of each thread determines its lane.
        let slots: Vec<usize> = (0..SLOTS).collect();
        let keys = match &threads {
            Some(threads) if kind == LaneKind::Process => threads.clone(),
            _ => lanes.keys.clone(),
        };
        store.runs(
            (dim, level),
            Some(&keys),
            grid.span(),
            &slots,
            source,
            &mut |key, run, shift| {
                if let Some(lane) = lane(key) {
                    lanes.add_run(lane, run, shift, |_, _| {});
                }
            },
        )?;
    } else if let Some(table) = store.table(dim) {
        store.parts(table, grid.span(), source, &mut |part| {
            if let Some(lane) = key_in(part, dim).and_then(lane) {
                lanes.add_part(lane, part, |_, _| {});
            }
        })?;
    }
    Ok((
        lanes.header(Vec::new(), SWITCHES),
        thread_columns(&lanes, &request.keys),
    ))
}

/// Place in [`WAITS`](crate::WAITS) of the reason with most time; of equal times the first.
fn longest_wait(cell: &Values) -> u8 {
    let waits = waits_by_reason(cell).iter().zip(0u8..);
    let longest = waits.max_by_key(|(time, place)| (**time, Reverse(*place)));
    longest.map_or(0, |(_, place)| place)
}

fn thread_columns(lanes: &Lanes, asked: &[i32]) -> Vec<(&'static str, Vec<u8>)> {
    let width = lanes.grid.width;
    let value = |name: &str, cell: &Values| {
        let waits = waits_by_reason(cell).iter().copied();
        match name {
            "running" => share(cell[RUNNING], width),
            "ready" => share(cell[READY], width),
            "waiting" => share(waits.fold(0, i64::saturating_add), width),
            "reason" => longest_wait(cell),
            _ => count(cell[SWITCHES]),
        }
    };
    THREAD_COLUMNS
        .iter()
        .map(|name| (*name, lanes.column(asked, |_, cell| value(name, cell))))
        .collect()
}

fn cores(store: &Store, request: &TimelineRequest, source: &mut Source) -> Result<Drawn> {
    let Selection {
        processes,
        threads,
        cores,
    } = &request.selection;
    source
        .not_applied
        .extend(threads.as_ref().map(|_| Field::Thread));
    let processes = sorted(processes.as_ref());
    let cores = sorted(cores.as_ref());
    let grid = Grid::new(
        store,
        &[Dim::Core, Dim::Dpc],
        request.range,
        request.buckets,
    );
    grid.note_level(source);
    let mut found = CoreLanes {
        processes: processes.as_ref(),
        cores: cores.as_ref(),
        lanes: Lanes::new(&request.keys, grid),
        dpcs: Lanes::new(&request.keys, grid),
        by_process: ByProcess::default(),
    };
    match grid.level {
        Some(level) => found.add_runs(store, level, source)?,
        None => found.add_parts(store, source)?,
    }
    let CoreLanes {
        lanes,
        dpcs,
        by_process,
        ..
    } = found;
    let (palette, places) = by_process.palette();
    let column = |name: &'static str| {
        let values = match name {
            "running" => lanes.column(&request.keys, |_, cell| share(cell[RUNNING], grid.width)),
            "dpc" => dpcs.column(&request.keys, |_, cell| share(cell[0], grid.width)),
            "process" => lanes.column(&request.keys, |cell, _| {
                places.get(&cell).copied().unwrap_or(NO_PROCESS)
            }),
            _ => lanes.column(&request.keys, |_, cell| count(cell[CORE_SWITCHES])),
        };
        (name, values)
    };
    let columns = CORE_COLUMNS.into_iter().map(column).collect();
    Ok((lanes.header(palette, CORE_SWITCHES), columns))
}

/// Lanes of processors, and what is read for them.
struct CoreLanes<'a> {
    processes: Option<&'a Vec<i32>>,
    cores: Option<&'a Vec<i32>>,
    lanes: Lanes,
    dpcs: Lanes,
    by_process: ByProcess,
}

impl CoreLanes<'_> {
    /// Adds the sums of a level.
    fn add_runs(&mut self, store: &Store, level: usize, source: &mut Source) -> Result<()> {
        let keys = self.lanes.keys.iter().copied();
        let keys: Vec<i32> = keys.filter(|key| has(self.cores, *key)).collect();
        let span = self.lanes.grid.span();
        store.runs(
            (Dim::Core, level),
            Some(&keys),
            span,
            &[RUNNING, CORE_SWITCHES],
            source,
            &mut |(key, sub), run, shift| {
                if has(self.processes, sub) {
                    self.lanes.add_run(key, run, shift, |cell, values| {
                        self.by_process.add(cell, sub, values[RUNNING]);
                    });
                }
            },
        )?;
        store.runs(
            (Dim::Dpc, level),
            Some(&keys),
            span,
            &[0],
            source,
            &mut |(key, _), run, shift| {
                self.dpcs.add_run(key, run, shift, |_, _| {});
            },
        )
    }

    /// Adds single parts, where no level is fine enough.
    fn add_parts(&mut self, store: &Store, source: &mut Source) -> Result<()> {
        let span = self.lanes.grid.span();
        if let Some(table) = store.table(Dim::Core) {
            store.parts(table, span, source, &mut |part| {
                let is_wanted = has(self.cores, part.key) && has(self.processes, part.sub);
                if part.dim == Dim::Core && is_wanted {
                    let is_time = part.slot == RUNNING;
                    self.lanes.add_part(part.key, part, |cell, amount| {
                        let time = if is_time { amount } else { 0 };
                        self.by_process.add(cell, part.sub, time);
                    });
                }
            })?;
        }
        if let Some(table) = store.table(Dim::Dpc) {
            store.parts(table, span, source, &mut |part| {
                if has(self.cores, part.key) {
                    self.dpcs.add_part(part.key, part, |_, _| {});
                }
            })?;
        }
        Ok(())
    }
}

/// Run time by cell and process: (cell, process, nanoseconds).
#[derive(Default)]
struct ByProcess(Vec<(usize, i32, i64)>);

impl ByProcess {
    fn add(&mut self, cell: usize, process: i32, time: i64) {
        match self.0.last_mut() {
            Some((last, of, sum)) if *last == cell && *of == process => {
                *sum = sum.saturating_add(time);
            }
            _ if time > 0 => self.0.push((cell, process, time)),
            _ => {}
        }
    }

    /// The processes that ran most in some cell, those with most time first; and their places there
    /// by cell.
    fn palette(mut self) -> (Vec<i32>, HashMap<usize, u8>) {
        self.0.sort_unstable();
        let mut most: HashMap<usize, (i64, i32)> = HashMap::new();
        let same = self
            .0
            .chunk_by(|one, other| (one.0, one.1) == (other.0, other.1));
        for ((cell, process, time), others) in same.filter_map(<[_]>::split_first) {
            let time = others
                .iter()
                .fold(*time, |sum, (_, _, time)| sum.saturating_add(*time));
            let best = most.entry(*cell).or_insert((time, *process));
            // Of processes that ran equally long the one with the smallest key is shown, because
            // the list is sorted by it.
            if time > best.0 {
                *best = (time, *process);
            }
        }
        let mut totals: HashMap<i32, i64> = HashMap::new();
        for (time, process) in most.values() {
            let total = totals.entry(*process).or_default();
            *total = total.saturating_add(*time);
        }
        let mut palette: Vec<(i64, i32)> = totals
            .into_iter()
            .map(|(process, time)| (-time, process))
            .collect();
        palette.sort_unstable();
        // A cell has one byte for its process, of which 255 means none: processes after the first
        // 255 are drawn without a color of their own.
        palette.truncate(usize::from(NO_PROCESS));
        let palette: Vec<i32> = palette.into_iter().map(|(_, process)| process).collect();
        let places: HashMap<i32, u8> = palette.iter().copied().zip(0..NO_PROCESS).collect();
        let of = |(cell, (_, process)): (usize, (i64, i32))| Some((cell, *places.get(&process)?));
        let cells = most.into_iter().filter_map(of).collect();
        (palette, cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::part::WAITING;

    #[test]
    fn of_equal_waits_the_first_reason_is_shown() {
        let mut cell = [0; SLOTS];
        assert_eq!(longest_wait(&cell), 0);
        (cell[WAITING + 2], cell[WAITING + 4]) = (5, 5);
        assert_eq!(longest_wait(&cell), 2);
        cell[WAITING + 4] = 6;
        assert_eq!(longest_wait(&cell), 4);
        // Switches are no time, however many there are.
        cell[SWITCHES] = 100;
        assert_eq!(longest_wait(&cell), 4);
    }
}
