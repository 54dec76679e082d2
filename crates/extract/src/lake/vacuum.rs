//! Deletion of files that no table has any more.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::lake::log::{FOLDER, LAST_CHECKPOINT, Log};
use crate::lake::unique::{is_older, time_of_millis};
use crate::lake::{Error, Lake, Result};

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
    /// Deletes the files that no table has since that time, and checkpoints that newer ones have
    /// replaced. Newer files may be read, or belong to a commit that another program is writing. What is
    /// behind a link out of the lake stays.
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
                // Only files that this program can have written. Others in the folder are none of
                // its business.
                let is_rows = !name.starts_with(FOLDER) && name.ends_with(".parquet");
                let is_old = (is_rows && !live.contains(name)) || log.is_old_checkpoint(name);
                // A link could lead to a file outside of the lake.
                if !is_old || !self.store.has_inside(location) {
                    continue;
                }
                // The time of removal counts from when questions may still have read the file. A
                // file that no commit ever named counts from its own time.
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
            // The store does not list unfinished files, so that they are looked for by name.
            if self.store.is_folder() {
                self.delete_unfinished(&table, older_than, &mut done)?;
            }
        }
        Ok(done)
    }

    /// Deletes the files that writers left behind when they were ended. A bucket has none: a file is there
    /// as a whole or not at all.
    fn delete_unfinished(
        &self,
        table: &str,
        older_than: Duration,
        done: &mut Vacuumed,
    ) -> Result<()> {
        for (path, file) in unfinished(&self.store.path(table)) {
            let since = file.modified().unwrap_or_else(|_| SystemTime::now());
            if !is_older(since, older_than) {
                done.kept += 1;
                continue;
            }
            match fs::remove_file(&path) {
                Ok(()) => {
                    done.files += 1;
                    done.bytes += file.len();
                }
                // Its writer was running and has completed it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(source) => {
                    return Err(Error::Io {
                        doing: "delete",
                        path,
                        source,
                    });
                }
            }
        }
        Ok(())
    }
}

/// Returns the unfinished files in a folder and below it, which the store does not list. Links are not
/// followed.
fn unfinished(folder: &Path) -> Vec<(PathBuf, Metadata)> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        // A folder that cannot be read has nothing that this program could delete.
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(file) = entry.metadata() else {
                continue;
            };
            if file.is_dir() {
                open.push(entry.path());
            } else if file.is_file() && is_unfinished(&entry.file_name().to_string_lossy()) {
                found.push((entry.path(), file));
            }
        }
    }
    found
}

/// Returns `true` for a name that the store gives to a file until it is complete.
fn is_unfinished(name: &str) -> bool {
    let Some((file, number)) = name.rsplit_once('#') else {
        return false;
    };
    let is_number = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    let ends = [".parquet", ".json", LAST_CHECKPOINT];
    is_number && ends.iter().any(|end| file.ends_with(*end))
}
