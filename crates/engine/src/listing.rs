//! The recordings of a folder, described without extracting any of them.

use std::path::{Path, PathBuf};
use std::time::Instant;

use etwkit_base::endings;
use etwkit_base::path::name_of;
use etwkit_extract::json7z::is_json_extract;
use etwkit_extract::manifest::Manifest;
use etwkit_extract::{Described, manifest_of};
use etwkit_question::test_run::TestFile;
use etwkit_trace::health;

use crate::named::in_order;
use crate::recordings::is_extract;
use crate::{Engine, Gaps, Result, recordings};

/// The contents of a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Its recordings: by the time in their names, otherwise by name.
    pub recordings: Vec<ListedRecording>,
    /// The folders in it, by name.
    pub folders: Vec<PathBuf>,
}

/// A recording of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedRecording {
    /// The file or extract that answers questions about it.
    pub path: PathBuf,
    /// Bytes of the trace, or of the extract where there is no trace.
    pub bytes: u64,
    /// Contents of its head, or why it cannot be read; `None` if it was not read: there was no time,
    /// or the recording would have to be unpacked or converted.
    pub head: Option<std::result::Result<Head, String>>,
}

/// The head of a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Head {
    /// Start in units of 100 ns since 1601; `None` if it was not written.
    pub start_filetime: Option<i64>,
    /// Name of the machine. Only extracts have it in their head.
    pub computer: Option<String>,
    /// True if an extract exists, so that it opens at once.
    pub is_extracted: bool,
    /// Description of missing or damaged parts; empty if none is known.
    pub gaps: String,
}

impl Engine {
    /// Lists the recordings in a folder. Heads are read until a moment, so that a large folder on a
    /// slow disk is listed in time.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn listing(&self, folder: &Path, until: Instant) -> Result<Listing> {
        let files = in_order(recordings(&[folder.to_owned()], false)?);
        let listed = |file: TestFile| {
            let path = file.extract.clone().or_else(|| file.trace.clone())?;
            Some(ListedRecording {
                bytes: size(file.trace.as_deref().unwrap_or(&path)),
                head: (Instant::now() < until).then(|| self.head(&file)).flatten(),
                path,
            })
        };
        Ok(Listing {
            recordings: files.into_iter().filter_map(listed).collect(),
            folders: folders(folder),
        })
    }

    /// Returns the head of a recording; `None` for what would have to be unpacked or converted.
    fn head(&self, file: &TestFile) -> Option<std::result::Result<Head, String>> {
        if let Some(extract) = &file.extract {
            if is_json_extract(extract) {
                return None;
            }
            let head = manifest_of(extract).map(|manifest| Head::of_extract(&manifest));
            return Some(head.map_err(|error| with_causes(&error)));
        }
        let trace = file.trace.as_ref().filter(|trace| is_plain(trace))?;
        Some(self.head_of_trace(trace))
    }

    fn head_of_trace(&self, trace: &Path) -> std::result::Result<Head, String> {
        let input = etwkit_extract::open(&[trace.to_owned()], &self.input_options())
            .map_err(|error| with_causes(&error))?;
        if let Some(manifest) = self.cached_manifest(trace, &input, &Described::default()) {
            return Ok(Head::of_extract(&manifest));
        }
        let session = input.session();
        let health = health::of(session, session.damage(), None);
        Ok(Head {
            start_filetime: written(session.clock().start),
            computer: None,
            is_extracted: false,
            gaps: Gaps::of_trace("", &health).words(),
        })
    }
}

impl Head {
    fn of_extract(manifest: &Manifest) -> Self {
        Self {
            start_filetime: written(manifest.clock.start_filetime),
            computer: manifest.machine.computer.clone(),
            is_extracted: true,
            gaps: Gaps::of_extract("", manifest).words(),
        }
    }
}

/// Returns the message of an error, and those of its causes.
fn with_causes(error: &dyn std::error::Error) -> String {
    let all = std::iter::successors(Some(error), |error| error.source());
    all.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Returns the start, if the recorder wrote it.
fn written(start: i64) -> Option<i64> {
    Some(start).filter(|start| *start > 0)
}

/// Returns `true` for a trace that is not packed.
fn is_plain(trace: &Path) -> bool {
    endings::strip(&name_of(trace), ".etl").is_some()
}

/// Returns the bytes of a file, or of all files of an extract.
fn size(path: &Path) -> u64 {
    if path.is_dir() {
        return crate::cache::size(path);
    }
    path.metadata().map_or(0, |file| file.len())
}

/// Returns the folders in a folder, without extracts and hidden ones.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    // Links are not followed, as in a search for recordings.
    let is_shown = |entry: &std::fs::DirEntry| {
        entry.file_type().is_ok_and(|kind| kind.is_dir())
            && !entry.file_name().to_string_lossy().starts_with('.')
            && !is_extract(&entry.path())
    };
    let mut found: Vec<PathBuf> = entries.filter(is_shown).map(|entry| entry.path()).collect();
    found.sort();
    found
}
