//! Dropping runs. Their rows count no more; compaction leaves them out.

use std::collections::BTreeSet;

use crate::lake::layout::{NO_PART, RUN};
use crate::lake::log::{Line, Log, UncommittedFile};
use crate::lake::read::{Key, Keys, Rows, spans};
use crate::lake::store::Store;
use crate::lake::write::{Writer, busy, retried};
use crate::lake::{Lake, Result, Run};

impl Lake {
    /// Drops runs; returns how many were there.
    ///
    /// # Errors
    /// The table of runs cannot be read or written.
    pub fn drop_runs(&self, runs: &[Run]) -> Result<usize> {
        let dropped: BTreeSet<Key> = runs.iter().map(Run::key).collect();
        let mut log = self.run_log()?;
        // Repeated with what others have committed in the meantime. Runs that they have dropped are
        // not there any more.
        let there = retried(&self.store, &mut log, |log| {
            let rest = without(&self.store, log, &dropped)?;
            let there = rest.found.len();
            // No commit without a run: the log would grow with each question for a run that does
            // not exist.
            if there == 0 || log.commit(&self.store, "DELETE", rest.lines)? {
                return Ok(Some(there));
            }
            self.discard(RUN, &rest.written);
            Ok(None)
        })?;
        self.forget_snapshot();
        there.ok_or_else(|| busy(RUN))
    }
}

/// The table `run` without some runs.
#[derive(Default)]
pub(crate) struct Rest {
    /// The lines of the commit that takes them out.
    pub(crate) lines: Vec<Line>,
    /// The files that it adds, with the other runs.
    pub(crate) written: Vec<UncommittedFile>,
    /// Those that were in the table.
    found: BTreeSet<Key>,
}

/// Takes runs out of the table `run`.
pub(crate) fn without(store: &Store, log: &Log, dropped: &BTreeSet<Key>) -> Result<Rest> {
    let mut rest = Rest::default();
    if dropped.is_empty() {
        return Ok(rest);
    }
    for file in log.live() {
        let name = file.name_in(RUN);
        let mut keys = Keys::read(store, &name)?.counts;
        keys.retain(|key, _| dropped.contains(key));
        // Files without such a run stay as they are, so that dropping one of thousands writes one
        // file.
        if keys.is_empty() {
            continue;
        }
        rest.found.extend(keys.into_keys());
        let part = file.part.as_deref().unwrap_or(NO_PART);
        let rows = Rows::open(store, &name, None)?;
        let path = rows.path().to_owned();
        let mut writer = Writer::new(store, RUN, part, rows.schema());
        for batch in rows {
            let batch = batch?;
            // Rows of one run are neighbors, and slices cost nothing.
            for span in spans(&path, &batch)? {
                if !dropped.contains(&span.key) {
                    writer.write(&batch.slice(span.from, span.rows))?;
                }
            }
        }
        let written = writer.finish()?;
        rest.lines.push(Line::of_removed(file, true));
        let added = written.iter().map(|file| Line::of_added(file, true));
        rest.lines.extend(added);
        rest.written.extend(written);
    }
    Ok(rest)
}
