//! Which bytes a case is about.

use std::path::{Path, PathBuf};

use etwkit_testkit::{Random, buffer_starts, corrupt};

use crate::files;

/// Name of the subject that is no trace but the files of [`files`].
pub(crate) const FILES: &str = "files";

/// How often a trace is cut.
const CUTS: usize = 200;
/// How often it is corrupted.
const CORRUPTIONS: usize = 1000;
/// Of larger traces only the first buffers are used.
const MAX_LEN: usize = 1 << 20;

/// A trace with its cases.
pub(crate) struct Subject {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Subject {
    pub(crate) fn open(path: &Path) -> Self {
        let mut bytes = if Self::is_files(path) {
            Vec::new()
        } else {
            std::fs::read(path).unwrap()
        };
        let is_trace = path.extension().is_some_and(|ending| ending == "etl");
        if is_trace && bytes.len() > MAX_LEN {
            let end = buffer_starts(&bytes)
                .into_iter()
                .take_while(|start| *start <= MAX_LEN)
                .last();
            bytes.truncate(end.filter(|end| *end > 0).unwrap_or(MAX_LEN));
        }
        Self {
            path: path.to_owned(),
            bytes,
        }
    }

    pub(crate) fn is_files(path: &Path) -> bool {
        path == Path::new(FILES)
    }

    /// How many cases there are.
    pub(crate) fn len(&self) -> usize {
        if Self::is_files(&self.path) {
            files::NAMES.len()
        } else {
            CUTS + CORRUPTIONS
        }
    }

    /// Ending of the file, and its bytes.
    pub(crate) fn case(&self, case: usize) -> (&str, Vec<u8>) {
        if Self::is_files(&self.path) {
            let (name, bytes) = files::make(case);
            return (
                name.rsplit_once('.').map_or("etl", |(_, ending)| ending),
                bytes,
            );
        }
        let ending = self
            .path
            .extension()
            .and_then(|ending| ending.to_str())
            .unwrap_or("etl");
        let len = self.bytes.len();
        if case < CUTS {
            // Everywhere, and not only between words.
            let end = len * case / CUTS + case % 13;
            return (ending, self.bytes[..end.min(len)].to_vec());
        }
        let mut random = Random::new((case as u64) << 32 | len as u64);
        let mut bytes = self.bytes.clone();
        corrupt(&mut bytes, &mut random, case);
        (ending, bytes)
    }
}

/// What to say of a subject of which not everything is used.
pub(crate) fn cut_note(path: &Path) -> &'static str {
    let is_large = std::fs::metadata(path).is_ok_and(|metadata| metadata.len() > MAX_LEN as u64);
    let is_trace = path.extension().is_some_and(|ending| ending == "etl");
    if is_large && is_trace {
        " (its first MiB)"
    } else {
        ""
    }
}
