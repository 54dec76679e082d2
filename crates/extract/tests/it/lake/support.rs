//! Extracts with a few rows, and a lake next to them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use etwkit_extract::lake::{Lake, Snapshot};
use etwkit_extract::manifest::{Clock, Detail, Machine, Manifest, SourceFile, TraceSource};
use etwkit_extract::{Extract, Writer, WriterOptions, run_id};
use etwkit_trace::table::{Columns as _, Mark, Process, Row};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use tempfile::TempDir;

/// A lake, and a folder for extracts.
pub(crate) struct Farm {
    pub(crate) folder: TempDir,
    pub(crate) lake: Lake,
    path: PathBuf,
}

impl Farm {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lake");
        let lake = Lake::init(&path).unwrap();
        Self { folder, lake, path }
    }

    /// A new lake in another place.
    #[cfg(feature = "object-store")]
    pub(crate) fn at(path: &Path) -> Self {
        Self::of(Lake::init(path).unwrap(), path)
    }

    /// A lake that is there.
    #[cfg(feature = "object-store")]
    pub(crate) fn of(lake: Lake, path: &Path) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            lake,
            path: path.to_owned(),
        }
    }

    /// The folder of the lake.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// An extract with these marks and a process.
    pub(crate) fn extract(
        &self,
        name: &str,
        run: i64,
        detail: Detail,
        texts: &[&str],
    ) -> (String, Extract) {
        self.written(name, (&digits(run), 100), detail, texts)
    }

    /// An extract of a trace of that size.
    pub(crate) fn extract_of_size(&self, name: &str, run: i64, size: u64) -> (String, Extract) {
        self.written(name, (&digits(run), size), Detail::Full, &["a"])
    }

    /// An extract whose manifest has that hash of its trace.
    pub(crate) fn extract_of_hash(&self, name: &str, hash: &str) -> (String, Extract) {
        self.written(name, (hash, 100), Detail::Full, &["a"])
    }

    fn written(
        &self,
        name: &str,
        (hash, size_bytes): (&str, u64),
        detail: Detail,
        texts: &[&str],
    ) -> (String, Extract) {
        let target = self.folder.path().join(format!("{name}.etwx"));
        let options = WriterOptions {
            run_id: run_id(hash),
            no_empty: true,
            ..WriterOptions::default()
        };
        let mut writer = Writer::create(&target, options).unwrap();
        let mut marks = <Mark as Row>::Columns::default();
        for (ts_ns, text) in (0..).zip(texts) {
            marks.push(&Mark {
                ts_ns,
                text: (*text).to_owned(),
                ..Mark::default()
            });
        }
        let mut processes = <Process as Row>::Columns::default();
        processes.push(&Process::default());
        writer.write(Mark::TABLE, marks.take().unwrap()).unwrap();
        writer
            .write(Process::TABLE, processes.take().unwrap())
            .unwrap();
        let source = TraceSource {
            files: vec![SourceFile {
                name: format!("{name}.etl"),
                archive: None,
                size_bytes,
            }],
            hash: hash.to_owned(),
        };
        let clock = Clock {
            kind: "qpc".to_owned(),
            frequency: 10_000_000,
            start_utc: "2026-11-01T10:00:00Z".to_owned(),
            start_filetime: 134_379_648_000_000_000,
        };
        let manifest = Manifest::new(detail, source, clock, Machine::default());
        writer.finish(manifest).unwrap();
        (name.to_owned(), Extract::open(&target).unwrap())
    }
}

/// Returns the extract with a diagnosis by these rules, as far as its manifest shows.
pub(crate) fn diagnosed(extract: (String, Extract), rules: &str) -> (String, Extract) {
    answering(extract, ("rules", rules))
}

/// Returns the extract with features or a diagnosis of that version, as far as its manifest shows.
pub(crate) fn answering(
    (name, extract): (String, Extract),
    (answers, version): (&str, &str),
) -> (String, Extract) {
    let path = extract.path().join("manifest.json");
    let text = std::fs::read(&path).unwrap();
    let mut manifest: serde_json::Value = serde_json::from_slice(&text).unwrap();
    manifest[answers] = version.into();
    std::fs::write(&path, manifest.to_string()).unwrap();
    (name, Extract::open(extract.path()).unwrap())
}

fn digits(run: i64) -> String {
    format!("{run:016x}")
}

/// An extract with one mark more than its number.
pub(crate) fn one(farm: &Farm, run: i64) -> (String, Extract) {
    let texts: Vec<String> = (0..=run).map(|mark| format!("{run}.{mark}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    farm.extract(&run.to_string(), run, Detail::Full, &texts)
}

/// The number of marks of each run, as a question sees them.
pub(crate) fn marks(farm: &Farm) -> BTreeMap<i64, usize> {
    marks_in(farm.path())
}

/// The number of marks of each run of a lake.
pub(crate) fn marks_in(lake: &Path) -> BTreeMap<i64, usize> {
    let snapshot = Snapshot::open(lake).unwrap();
    let mut counts = BTreeMap::new();
    let files = snapshot.files("mark").unwrap();
    for file in &*files {
        let opened = snapshot.opened(file).unwrap();
        let rows = ParquetRecordBatchReaderBuilder::try_new(opened)
            .unwrap()
            .build()
            .unwrap();
        for batch in rows {
            let batch = batch.unwrap();
            let keys = ["run_id", "run_generation"].map(|name| {
                let column = batch.column_by_name(name).unwrap();
                column.as_primitive::<Int64Type>().clone()
            });
            for row in 0..batch.num_rows() {
                let (run, generation) = (keys[0].value(row), keys[1].value(row));
                let is_live = |known: &std::sync::Arc<etwkit_extract::lake::Run>| {
                    (known.run_id(), known.generation()) == (run, generation)
                };
                if snapshot.runs().iter().any(is_live) {
                    *counts.entry(run).or_insert(0) += 1;
                }
            }
        }
    }
    counts
}
