//! A lake as writers see it.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use bytes::Bytes;

use crate::lake::layout::{self, RUN};
use crate::lake::log::{FOLDER, Line, Log};
use crate::lake::place::{in_bucket, refuse_unknown};
use crate::lake::read::{Key, Keys};
use crate::lake::run::{self, Run};
use crate::lake::store::Store;
use crate::lake::{Error, Result, is_lake, unique};

/// A lake that is written to or looked through.
#[derive(Debug, Clone)]
pub struct Lake {
    pub(crate) store: Store,
}

impl Lake {
    /// Makes a lake without runs in a folder that does not exist or is empty, or in one of a bucket.
    ///
    /// # Errors
    /// There is something in it; it cannot be written; its store replaces files that have to be new.
    pub fn init(path: &Path) -> Result<Self> {
        refuse_unknown(path)?;
        if in_bucket(path).is_some() {
            return Self::init_in_bucket(path);
        }
        if is_lake(path) {
            return Err(taken(path, "a lake already"));
        }
        let io = |doing: &'static str| {
            move |source: io::Error| Error::Io {
                doing,
                path: path.to_owned(),
                source,
            }
        };
        if path.is_file() {
            return Err(taken(path, "a file"));
        }
        fs::create_dir_all(path).map_err(io("create"))?;
        // Hidden files count as well: a lake must not mix with what somebody else keeps there.
        let mut entries = fs::read_dir(path).map_err(io("read"))?;
        if entries.next().is_some() {
            return Err(taken(path, "a folder with other files"));
        }
        Self::create(path, Store::open(path)?)
    }

    fn init_in_bucket(path: &Path) -> Result<Self> {
        let store = Store::open(path)?;
        if store.has_folder(&log_of(RUN))? {
            return Err(taken(path, "a lake already"));
        }
        if !store.is_empty(None)? {
            return Err(taken(path, "a folder with other files"));
        }
        refuse_overwriting(path, &store)?;
        Self::create(path, store)
    }

    fn create(path: &Path, store: Store) -> Result<Self> {
        let lake = Self { store };
        let mut log = Log::load(&lake.store, RUN)?;
        let schema = layout::delta_schema(run::schema()?.as_ref())?;
        let created = Line::created(&unique::name(), schema);
        // Somebody else may have made a lake there since the look at the folder. The commit
        // decides.
        if log.commit(&lake.store, "CREATE TABLE", created.into())? {
            Ok(lake)
        } else {
            Err(taken(path, "a lake already"))
        }
    }

    /// Opens a lake.
    ///
    /// # Errors
    /// It is not one.
    pub fn open(path: &Path) -> Result<Self> {
        refuse_unknown(path)?;
        if !is_lake(path) {
            return Err(Error::NotALake {
                path: path.to_owned(),
            });
        }
        let store = Store::open(path)?;
        // The address of a bucket says nothing about what is in it.
        if !store.is_folder() && !store.has_folder(&log_of(RUN))? {
            return Err(Error::NotALake {
                path: path.to_owned(),
            });
        }
        Ok(Self { store })
    }

    /// Returns its runs, sorted by `run_id`.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn runs(&self) -> Result<Vec<Run>> {
        run::read(&self.store, &self.run_log()?, |_| true)
    }

    /// Reads the log of the table `run`.
    pub(crate) fn run_log(&self) -> Result<Log> {
        Log::load(&self.store, RUN)
    }

    /// The keys of the rows that count.
    pub(crate) fn live_keys(&self) -> Result<BTreeSet<Key>> {
        self.keys_of(&self.run_log()?)
    }

    /// The keys of the rows that count after the last commit of the table `run` that was read.
    pub(crate) fn keys_of(&self, run_log: &Log) -> Result<BTreeSet<Key>> {
        let mut all = BTreeSet::new();
        // The keys come from the files themselves, as the log only has the smallest and the largest
        // number.
        for file in run_log.live() {
            let keys = Keys::read(&self.store, &file.name_in(RUN))?;
            all.extend(keys.counts.into_keys());
        }
        Ok(all)
    }

    /// The names of its tables, `run` among them.
    pub(crate) fn tables(&self) -> Result<Vec<String>> {
        // Folders without a log are not tables, such as those that a user put there.
        let mut all = Vec::new();
        for table in self.store.folders()? {
            if self.store.has_folder(&log_of(&table))? {
                all.push(table);
            }
        }
        Ok(all)
    }
}

/// Refuses a store that replaces a file instead of refusing to create it again: two writers would overwrite
/// each other's commits.
fn refuse_overwriting(path: &Path, store: &Store) -> Result<()> {
    let probe = format!("{RUN}/_probe-{}.parquet", unique::name());
    store.create(&probe, Bytes::from_static(b"first"))?;
    let is_replaced = store.create(&probe, Bytes::from_static(b"second"));
    // A file that stays is in nobody's way, and vacuum deletes it.
    let _ = store.delete(&probe);
    if is_replaced? {
        return Err(Error::Overwrites {
            path: path.to_owned(),
        });
    }
    Ok(())
}

/// The folder of the log of a table.
fn log_of(table: &str) -> String {
    format!("{table}/{FOLDER}")
}

fn taken(path: &Path, what: &'static str) -> Error {
    Error::Taken {
        path: path.to_owned(),
        what,
    }
}
