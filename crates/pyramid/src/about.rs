//! The description of a folder of pages: its extract, and its contents.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Version of the pages. It rises when their layout or meaning changes, so that older pages are
/// rebuilt.
pub(crate) const VERSION: u32 = 3;
/// Its file, in the folder of the pages.
const FILE: &str = "about.json";
/// Maximum size of the file in bytes; a larger file is not read.
const MAX_BYTES: u64 = 64 << 20;

/// The description of a folder of pages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct About {
    /// [`VERSION`].
    pub(crate) version: u32,
    /// [`Extract::fingerprint`](etwkit_extract::Extract::fingerprint).
    pub(crate) fingerprint: String,
    /// Tables that were read, by name.
    pub(crate) tables: BTreeMap<String, TableAbout>,
    /// Number of levels for each kind of sums, by name.
    pub(crate) levels: BTreeMap<String, usize>,
    /// Files with their sizes.
    pub(crate) files: BTreeMap<String, u64>,
}

/// The facts about a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TableAbout {
    /// Its rows.
    pub(crate) rows: u64,
    /// Start of the row that starts first.
    pub(crate) from: i64,
    /// End of the row that ends last; a moment has a length of one nanosecond here.
    pub(crate) to: i64,
    /// Segments of rows, each with the number of its first row and the end of that row. All earlier
    /// rows have ended by then.
    pub(crate) segments: Vec<(u64, i64)>,
}

impl About {
    /// Reads the description of a folder if it is complete: all of its files exist with their
    /// recorded sizes.
    pub(crate) fn read(folder: &Path) -> Option<Self> {
        // A folder of pages may come with an extract from an unknown source: a link or a special
        // file in it is neither followed nor read.
        let is_plain = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_file());
        let path = folder.join(FILE);
        if folder.symlink_metadata().ok()?.is_symlink() || !is_plain(&path) {
            return None;
        }
        let mut bytes = Vec::new();
        File::open(path)
            .ok()?
            .take(MAX_BYTES)
            .read_to_end(&mut bytes)
            .ok()?;
        let about: Self = serde_json::from_slice(&bytes).ok()?;
        // Names also come from the file: without separators they cannot lead out of the folder.
        let is_name = |name: &str| {
            name.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        };
        let is_there = |(name, size): (&String, &u64)| {
            let path = folder.join(name);
            is_name(name)
                && is_plain(&path)
                && path.metadata().is_ok_and(|found| found.len() == *size)
        };
        about.files.iter().all(is_there).then_some(about)
    }

    /// Writes it, with the sizes of all files in the folder at that time.
    pub(crate) fn write(mut self, folder: &Path) -> Result<Self> {
        for entry in fs::read_dir(folder).map_err(Error::io("read", folder))? {
            let entry = entry.map_err(Error::io("read", folder))?;
            let size = entry.metadata().map_err(Error::io("read", folder))?.len();
            self.files
                .insert(entry.file_name().to_string_lossy().into_owned(), size);
        }
        let path = folder.join(FILE);
        let write =
            File::create_new(&path).and_then(|file| Ok(serde_json::to_writer(file, &self)?));
        write.map_err(Error::io("write", &path))?;
        Ok(self)
    }
}

/// Name of the file of a level.
pub(crate) fn level_file(dim: &str, level: usize) -> String {
    format!("{dim}-{level}.parquet")
}

/// Names of the files of a table in addition to its levels: the sums before each segment, and the
/// parts of later rows that reach back into segments.
pub(crate) fn side_files(table: &str) -> (String, String) {
    (
        format!("{table}-sums.parquet"),
        format!("{table}-reaching.parquet"),
    )
}

/// File of the events of each second.
pub(crate) const SECONDS: &str = "seconds.parquet";
