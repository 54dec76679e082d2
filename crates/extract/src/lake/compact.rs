//! Compaction: many small files become few large ones, without rows that belong to no run.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use crate::lake::layout::{NO_PART, RUN};
use crate::lake::left_out::LeftOut;
use crate::lake::log::{File, Line, Log, UncommittedFile};
use crate::lake::merge::merged;
use crate::lake::read::{Key, Keys};
use crate::lake::unique::{time_of, was_older};
use crate::lake::write::retried;
use crate::lake::{Error, Lake, Result};

/// Bytes from which on a file stays as it is.
const LARGE: u64 = 48 << 20;

/// Maximum number of files that are merged at once: all of them are open.
const AT_ONCE: usize = 64;

/// The result of compaction.
#[derive(Debug, Default)]
pub struct Compacted {
    /// Tables that changed.
    pub tables: usize,
    /// Files that were merged.
    pub merged: usize,
    /// Files that have their rows now.
    pub written: usize,
    /// Rows of no run that were left out.
    pub left_out: u64,
    /// The reasons why a table has no new checkpoint. Its rows are complete without one.
    pub without_checkpoint: Vec<Error>,
}

/// A file and the rows in it.
struct Looked<'f> {
    file: &'f File,
    keys: Keys,
    /// Rows that are left out.
    dead: u64,
}

/// Merged files of a table, before the commit.
#[derive(Default)]
struct Merged {
    /// Actions of the commit.
    lines: Vec<Line>,
    old: BTreeSet<String>,
    new: Vec<UncommittedFile>,
    rows_left_out: u64,
}

impl Lake {
    /// Merges the files of each table, and writes a checkpoint of its log. Rows that belong to no run
    /// are left out if they are older than that: newer ones may belong to a run that another program is
    /// adding. If the clocks of both are wrong, that program gets [`crate::lake::Error::Late`].
    ///
    /// # Errors
    /// A file of rows or a commit cannot be read or written.
    pub fn compact(&self, older_than: Duration) -> Result<Compacted> {
        // All logs are read before the table of runs, because a run that is committed in between
        // must not lose its rows.
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
            // Rows of the table of runs are the runs, so none of them belongs to no run.
            let is_run = table == RUN;
            // Young rows may belong to an attempt that goes on. Their age comes from their number,
            // which has the time in it.
            let keeps = |key: Key| is_run || live.contains(&key) || !is_old(key.1);
            self.compact_table((&table, &mut log), &keeps, &mut left_out, &mut done)?;
            // Also without a merge: a checkpoint shortens the log that every question reads. The files are
            // committed, and the next commits try again.
            if let Err(error) = log.save(&self.store) {
                done.without_checkpoint.push(error);
            }
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
        // A copy, since the log is changed while its files are looked through.
        let before = log.clone();
        let files = before.live();
        let mut parts: BTreeMap<&str, Vec<Looked<'_>>> = BTreeMap::new();
        for file in files {
            let looked = self.look(table, file, keeps)?;
            // Files that another program wrote may have any order: they stay as they are.
            // Large files stay as they are. Writing them again would cost more than opening one
            // file less saves.
            if looked.keys.is_sorted && (file.size < LARGE || looked.dead > 0) {
                let part = file.part.as_deref().unwrap_or(NO_PART);
                parts.entry(part).or_default().push(looked);
            }
        }
        // Named before they are dropped. Otherwise an attempt that is still running could commit a
        // run whose rows are gone.
        let keys = parts.values().flatten();
        let keys = keys.flat_map(|looked| looked.keys.counts.keys().copied());
        let dead: BTreeSet<Key> = keys.filter(|key| !keeps(*key)).collect();
        if !dead.is_empty() && !left_out.name(self, &dead)? {
            // The next compaction knows the runs that were committed in the meantime.
            return Ok(());
        }
        let Merged {
            lines,
            old,
            new,
            rows_left_out,
        } = self.merge_parts(table, parts, keeps)?;
        if lines.is_empty() {
            return Ok(());
        }
        let counts = (old.len(), new.len());
        if self.exchange(table, log, &lines, (&old, &new))? {
            done.tables += 1;
            done.merged += counts.0;
            done.written += counts.1;
            done.left_out += rows_left_out;
        }
        Ok(())
    }

    /// Merges the files of each part.
    fn merge_parts(
        &self,
        table: &str,
        parts: BTreeMap<&str, Vec<Looked<'_>>>,
        keeps: &dyn Fn(Key) -> bool,
    ) -> Result<Merged> {
        let mut all = Merged::default();
        for (part, looked) in parts {
            for group in looked.chunks(AT_ONCE) {
                let dead: u64 = group.iter().map(|looked| looked.dead).sum();
                // A file alone is written again only to get rid of rows.
                if group.len() < 2 && dead == 0 {
                    continue;
                }
                let files: Vec<&File> = group.iter().map(|looked| looked.file).collect();
                // Written completely before the commit, which exchanges all of them at once.
                let written = merged(&self.store, (table, part), &files, keeps)?;
                all.old.extend(files.iter().map(|file| file.name.clone()));
                // The old files stay on the disk, for questions that are reading them, until
                // vacuum.
                let removed = files.into_iter().map(|file| Line::of_removed(file, false));
                all.lines.extend(removed);
                let added = written.iter().map(|file| Line::of_added(file, false));
                all.lines.extend(added);
                all.new.extend(written);
                all.rows_left_out += dead;
            }
        }
        Ok(all)
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
        (old, new): (&BTreeSet<String>, &[UncommittedFile]),
    ) -> Result<bool> {
        let is_done = retried(&self.store, log, |log| {
            // Another compaction or a replaced run was faster. Its commit holds, and this work is
            // thrown away.
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
