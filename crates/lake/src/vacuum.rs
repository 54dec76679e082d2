//! Deletion of files that no table has any more.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use crate::log::{FOLDER, Log};
use crate::unique::{is_older, time_of_millis};
use crate::{Lake, Result};

/// The result of a vacuum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Vacuumed {
    /// Deleted files.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Files of no table that are too new to be deleted.
    pub kept: usize,
}

impl Lake {
    /// Deletes the files that no table has since that time. Newer ones may be read, or belong to a
    /// commit that another program is writing. What is behind a link out of the lake stays.
    ///
    /// # Errors
    /// A log cannot be read, or a file cannot be deleted.
    pub fn vacuum(&self, older_than: Duration) -> Result<Vacuumed> {
        let mut done = Vacuumed::default();
        for table in self.tables()? {
            // The files first: one that is committed in the meantime is not among them, or is live.
            let files = self.store.list(&table)?;
            let log = Log::load(&self.store, &table)?;
            let live: BTreeSet<&str> = log.live().iter().map(|file| file.name.as_str()).collect();
            let prefix = format!("{table}/");
            for file in &files {
                let location = file.location.as_ref();
                let Some(name) = location.strip_prefix(&prefix) else {
                    continue;
                };
                if name.starts_with(FOLDER) || !name.ends_with(".parquet") || live.contains(name) {
                    continue;
                }
                if !self.store.has_inside(location) {
                    continue;
                }
                let removed = log.removed_at(name).map(time_of_millis);
                let since = removed.unwrap_or_else(|| SystemTime::from(file.last_modified));
                if !is_older(since, older_than) {
                    done.kept += 1;
                    continue;
                }
                self.store.delete(location)?;
                done.files += 1;
                done.bytes += file.size;
            }
        }
        Ok(done)
    }
}
