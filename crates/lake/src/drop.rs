//! Dropping runs. Their rows count no more; compaction leaves them out.

use std::collections::BTreeSet;

use crate::layout::{NO_PART, RUN};
use crate::log::{Line, Log, Written};
use crate::read::{Key, Keys, Rows, spans};
use crate::store::Store;
use crate::write::{ATTEMPTS, Writer, busy, pause};
use crate::{Lake, Result, Run};

impl Lake {
    /// Drops runs; returns how many were there.
    ///
    /// # Errors
    /// The table of runs cannot be read or written.
    pub fn drop_runs(&self, runs: &[Run]) -> Result<usize> {
        let dropped: BTreeSet<Key> = runs.iter().map(Run::key).collect();
        let mut log = self.run_log()?;
        for attempt in 0..ATTEMPTS {
            let there = self.live_keys()?.intersection(&dropped).count();
            if there == 0 {
                return Ok(0);
            }
            let (lines, written) = without(&self.store, &log, &dropped)?;
            if log.commit(&self.store, "DELETE", lines)? {
                return Ok(there);
            }
            self.discard(RUN, &written);
            pause(attempt);
            log.refresh(&self.store)?;
        }
        Err(busy(RUN))
    }
}

/// Returns the lines of a commit that takes runs out of the table `run`, and the files that it adds.
pub(crate) fn without(
    store: &Store,
    log: &Log,
    dropped: &BTreeSet<Key>,
) -> Result<(Vec<Line>, Vec<Written>)> {
    let (mut lines, mut all) = (Vec::new(), Vec::new());
    if dropped.is_empty() {
        return Ok((lines, all));
    }
    for file in log.live() {
        let path = store.path(&format!("{RUN}/{}", file.name));
        let keys = Keys::read(&path)?;
        if !keys.counts.keys().any(|key| dropped.contains(key)) {
            continue;
        }
        let part = file.part.as_deref().unwrap_or(NO_PART);
        let rows = Rows::open(&path, None)?;
        let mut writer = Writer::new(store, RUN, part, rows.schema());
        for batch in rows {
            let batch = batch?;
            for span in spans(&path, &batch)? {
                if !dropped.contains(&span.key) {
                    writer.write(&batch.slice(span.from, span.rows))?;
                }
            }
        }
        let written = writer.finish()?;
        lines.push(Line::of_removed(file, true));
        lines.extend(written.iter().map(|file| Line::of_added(file, true)));
        all.extend(written);
    }
    Ok((lines, all))
}
