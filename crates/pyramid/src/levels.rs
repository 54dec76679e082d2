//! Writing all levels of a kind of sums from sorted pieces of the finest one.

use std::path::{Path, PathBuf};

use crate::about::level_file;
use crate::error::Result;
use crate::page::PageWriter;
use crate::part::Dim;
use crate::pieces::{FINEST, Roll, Run, STEP, Sweep, WIDEST};
use crate::spill::Record;

/// Writes the levels of a kind of sums. Records come sorted by both keys and the first bucket.
pub(crate) struct Levels {
    folder: PathBuf,
    dim: Dim,
    /// The key that is being added up.
    key: Option<[i64; 2]>,
    sweep: Sweep,
    levels: Vec<Level>,
    ready: Vec<Run>,
}

#[derive(Default)]
struct Level {
    /// Created with its first record.
    writer: Option<PageWriter>,
    /// Creates the next level.
    roll: Roll,
}

impl Levels {
    /// With enough levels that the topmost has a bucket or two for that part of time.
    pub(crate) fn new(folder: &Path, dim: Dim, (from, to): (i64, i64)) -> Self {
        let span = to.saturating_sub(from).max(1);
        let mut count = 1;
        while FINEST + STEP * count <= WIDEST && span >> (FINEST + STEP * (count - 1)) > 0 {
            count += 1;
        }
        let levels = (0..count).map(|_| Level::default()).collect();
        let folder = folder.to_owned();
        Self {
            folder,
            dim,
            key: None,
            sweep: Sweep::default(),
            levels,
            ready: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, record: &Record) -> Result<()> {
        let [key, sub, first, last] = record.keys;
        if self.key != Some([key, sub]) {
            self.end_key()?;
            self.key = Some([key, sub]);
        }
        let ready = &mut self.ready;
        self.sweep.push(
            &Run {
                first,
                last,
                values: record.values,
            },
            &mut |run| ready.push(run),
        );
        self.put_ready([key, sub])
    }

    /// Completes all files; returns how many levels there are.
    pub(crate) fn finish(mut self) -> Result<usize> {
        self.end_key()?;
        let mut count = 0;
        // A level without rows has no file, and then no level above it has one: counting ends at
        // the first missing file.
        for writer in self.levels.into_iter().map_while(|level| level.writer) {
            writer.finish()?;
            count += 1;
        }
        Ok(count)
    }

    fn put_ready(&mut self, key: [i64; 2]) -> Result<()> {
        let mut ready = std::mem::take(&mut self.ready);
        for run in ready.drain(..) {
            self.put(key, 0, &run)?;
        }
        self.ready = ready;
        Ok(())
    }

    fn end_key(&mut self) -> Result<()> {
        // Before the first record no run is open.
        let Some(key) = self.key else { return Ok(()) };
        let ready = &mut self.ready;
        self.sweep.finish(&mut |run| ready.push(run));
        self.put_ready(key)?;
        // From the finest level up: the last runs of a level go into the level above, which is
        // finished after it.
        for level in 0..self.levels.len() {
            let mut rolled = None;
            if let Some(level) = self.levels.get_mut(level) {
                level.roll.finish(&mut |run| rolled = Some(run));
            }
            if let Some(run) = rolled {
                self.put(key, level + 1, &run)?;
            }
        }
        Ok(())
    }

    /// Writes a run of a level, and the runs that result from it in the levels above.
    fn put(&mut self, key: [i64; 2], number: usize, run: &Run) -> Result<()> {
        // The topmost level has none above it.
        let Some(level) = self.levels.get_mut(number) else {
            return Ok(());
        };
        let writer = match &mut level.writer {
            Some(writer) => writer,
            none => {
                let path = self.folder.join(level_file(self.dim.name(), number));
                none.insert(PageWriter::create(&path, self.dim.slots())?)
            }
        };
        writer.push(&Record {
            keys: [key[0], key[1], run.first, run.last],
            values: run.values,
        })?;
        let mut rolled = Vec::new();
        level.roll.push(run, &mut |run| rolled.push(run));
        rolled
            .iter()
            .try_for_each(|run| self.put(key, number + 1, run))
    }
}
