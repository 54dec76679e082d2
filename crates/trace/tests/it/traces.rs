//! The sample traces, where they are at hand.

use std::fs;
use std::path::{Path, PathBuf};

use etwkit_etl::Session;
use etwkit_etl::source::ByteSource;
use serde_json::Value;

/// A trace with what is expected of it.
pub(crate) struct Sample {
    /// Name of the file of the truth.
    pub(crate) name: String,
    /// The files of the trace.
    pub(crate) files: Vec<PathBuf>,
    /// The whole truth.
    pub(crate) truth: Value,
}

impl Sample {
    /// Opens the files as one session.
    pub(crate) fn open(&self) -> Session {
        let bytes = self.files.iter().map(|file| fs::read(file).unwrap());
        let sources = bytes.map(|bytes| Box::new(bytes) as Box<dyn ByteSource>).collect();
        Session::open(sources).unwrap()
    }
}

/// All samples whose files are there; empty, with a note, if `ETWKIT_TRACES` does not name their folder.
///
/// A trace inside an archive counts as there if `ETWKIT_UNPACKED` names a folder that has it.
pub(crate) fn samples() -> Vec<Sample> {
    let Some(root) = std::env::var_os("ETWKIT_TRACES").map(PathBuf::from) else {
        eprintln!("skipped: ETWKIT_TRACES does not name the folder of the sample traces");
        return Vec::new();
    };
    let unpacked = std::env::var_os("ETWKIT_UNPACKED").map(PathBuf::from);
    let folders: Vec<_> =
        [root.clone(), root.join("diaghub"), root.join("made")].into_iter().chain(unpacked).collect();
    let mut truths: Vec<_> = json_files(&root.join("truth"));
    truths.extend(json_files(&root.join("made/info")));
    truths.iter().filter_map(|truth| sample(truth, &folders)).collect()
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.filter(|path| path.extension().is_some_and(|e| e == "json")).collect();
    files.sort();
    files
}

fn sample(path: &Path, folders: &[PathBuf]) -> Option<Sample> {
    let truth: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let mut files = Vec::new();
    for file in truth["_meta"]["files"].as_array().unwrap() {
        let name = file["name"].as_str().unwrap();
        let Some(found) = folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file()) else {
            eprintln!("skipped: {name} is not at hand");
            return None;
        };
        files.push(found);
    }
    Some(Sample { name: path.file_name()?.to_string_lossy().into_owned(), files, truth })
}
