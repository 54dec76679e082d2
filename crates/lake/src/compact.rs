//! Compaction: many small files become few large ones, without rows that belong to no run.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use crate::layout::{NO_PART, RUN};
use crate::left_out::LeftOut;
use crate::log::{File, Line, Log, Written};
use crate::merge::merged;
use crate::read::{Key, Keys};
use crate::unique::{time_of, was_older};
use crate::write::retried;
use crate::{Lake, Result};

/// Bytes from which on a file stays as it is.
const LARGE: u64 = 48 << 20;

/// Maximum number of files that are merged at once: all of them are open.
const AT_ONCE: usize = 64;

/// The result of compaction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Compacted {
    /// Tables that changed.
    pub tables: usize,
    /// Files that were merged.
    pub merged: usize,
    /// Files that have their rows now.
    pub written: usize,
    /// Rows of no run that were left out.
    pub left_out: u64,
}

/// A file and the rows in it.
struct Looked<'f> {
    file: &'f File,
    keys: Keys,
    /// Rows that are left out.
    dead: u64,
}

impl Lake {
    /// Merges the files of each table, and writes a checkpoint of its log. Rows that belong to no run
    /// are left out if they are older than that: newer ones may belong to a run that another program is
    /// adding. If the clocks of both are wrong, that program gets [`crate::Error::Late`].
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn compact(&self, older_than: Duration) -> Result<Compacted> {
        let mut logs = Vec::new();
        for table in self.tables()? {
            logs.push((Log::load(&self.store, &table)?, table));
        }
        // Read after the logs: rows in them whose run was committed before are not of no run.
        let mut left_out = LeftOut::new(self)?;
        let live = left_out.live().clone();
        // Rows that are named and rows that are merged are chosen at one moment.
        let now = SystemTime::now();
        let is_old = |generation| was_older(now, time_of(generation), older_than);
        let mut done = Compacted::default();
        for (mut log, table) in logs {
            let is_run = table == RUN;
            let keeps = |key: Key| is_run || live.contains(&key) || !is_old(key.1);
            self.compact_table((&table, &mut log), &keeps, &mut left_out, &mut done)?;
            log.save(&self.store)?;
        }
        Ok(done)
    }

    fn compact_table(
        &self,
        (table, log): (&str, &mut Log),
        keeps: &dyn Fn(Key) -> bool,
        left_out: &mut LeftOut,
        done: &mut Compacted,
    ) -> Result<()> {
        let before = log.clone();
        let files = before.live();
        let mut parts: BTreeMap<&str, Vec<Looked<'_>>> = BTreeMap::new();
        for file in files {
            let looked = self.look(table, file, keeps)?;
            // Files that another program wrote may have any order: they stay as they are.
            if looked.keys.is_sorted && (file.size < LARGE || looked.dead > 0) {
                let part = file.part.as_deref().unwrap_or(NO_PART);
                parts.entry(part).or_default().push(looked);
            }
        }
        let keys = parts.values().flatten();
        let keys = keys.flat_map(|looked| looked.keys.counts.keys().copied());
        let dead: BTreeSet<Key> = keys.filter(|key| !keeps(*key)).collect();
        if !dead.is_empty() && !left_out.name(self, &dead)? {
            // The next compaction knows the runs that were committed in the meantime.
            return Ok(());
        }
        let (mut lines, mut all, mut old) = (Vec::new(), Vec::new(), BTreeSet::new());
        let mut rows_left_out = 0;
        for (part, looked) in parts {
            for group in looked.chunks(AT_ONCE) {
                let dead: u64 = group.iter().map(|looked| looked.dead).sum();
                if group.len() < 2 && dead == 0 {
                    continue;
                }
                let files: Vec<&File> = group.iter().map(|looked| looked.file).collect();
                let written = merged(&self.store, (table, part), &files, keeps)?;
                old.extend(files.iter().map(|file| file.name.clone()));
                lines.extend(files.into_iter().map(|file| Line::of_removed(file, false)));
                lines.extend(written.iter().map(|file| Line::of_added(file, false)));
                all.extend(written);
                rows_left_out += dead;
            }
        }
        if lines.is_empty() {
            return Ok(());
        }
        let counts = (old.len(), all.len());
        if self.exchange(table, log, &lines, (&old, &all))? {
            done.tables += 1;
            done.merged += counts.0;
            done.written += counts.1;
            done.left_out += rows_left_out;
        }
        Ok(())
    }

    fn look<'f>(
        &self,
        table: &str,
        file: &'f File,
        keeps: &dyn Fn(Key) -> bool,
    ) -> Result<Looked<'f>> {
        let keys = Keys::read(&self.store, &file.name_in(table))?;
        let dead = keys.counts.iter().filter(|(key, _)| !keeps(**key));
        Ok(Looked {
            file,
            dead: dead.map(|(_, rows)| rows).sum(),
            keys,
        })
    }

    /// Commits new files in the place of old ones; `false` if another program exchanged some of them.
    fn exchange(
        &self,
        table: &str,
        log: &mut Log,
        lines: &[Line],
        (old, new): (&BTreeSet<String>, &[Written]),
    ) -> Result<bool> {
        let is_done = retried(&self.store, log, |log| {
            if old.iter().any(|name| !log.has(name)) {
                return Ok(Some(false));
            }
            let is_done = log.commit(&self.store, "OPTIMIZE", lines.to_vec())?;
            Ok(is_done.then_some(true))
        })?;
        if is_done == Some(true) {
            return Ok(true);
        }
        self.discard(table, new);
        Ok(false)
    }
}
