//! Rows and extracts that tests write.

use std::path::Path;

use arrow_array::RecordBatch;
use etwkit_extract::manifest::{Clock, Detail, Machine, SourceFile, TraceSource};
use etwkit_extract::{Manifest, StoreError, WriteSummary, Writer, WriterOptions};
use etwkit_trace::table::{ABOUT, Columns, CpuProcess, CpuSample, Mark, Row, Stack};
use etwkit_trace::topics::TABLES;

/// Rows of a table as one batch.
pub(crate) fn batch<R: Row>(rows: impl IntoIterator<Item = R>) -> RecordBatch {
    let mut columns = R::Columns::default();
    for row in rows {
        columns.push(&row);
    }
    columns.take().unwrap()
}

/// `count` samples, one per microsecond, with `salt` in their weights.
pub(crate) fn samples(count: i64, salt: i64) -> RecordBatch {
    batch((0..count).map(|n| CpuSample {
        ts_ns: n * 1000,
        cpu: (n % 4) as i32,
        process_key: (n % 5 > 0).then_some((n % 7) as i32),
        thread_key: (n % 11) as i32,
        weight_ns: 1_000_000 + salt,
        stack_id: (n * n % 97) as i32,
        is_idle: n % 3 == 0,
        ..CpuSample::default()
    }))
}

pub(crate) fn marks(texts: &[&str]) -> RecordBatch {
    batch(texts.iter().zip(0..).map(|(text, n)| Mark {
        ts_ns: n,
        text: (*text).to_owned(),
        ..Mark::default()
    }))
}

pub(crate) fn stacks(count: i32) -> RecordBatch {
    batch((0..count).map(|n| Stack {
        stack_id: n,
        parent_id: (n > 0).then_some(n / 2),
        frame_id: n % 10,
        depth: n % 30,
    }))
}

pub(crate) fn sums(count: i32) -> RecordBatch {
    batch((0..count).map(|n| CpuProcess {
        process_key: Some(n),
        samples: i64::from(n),
        ..CpuProcess::default()
    }))
}

/// A manifest of a trace with that hash.
pub(crate) fn manifest(hash: &str) -> Manifest {
    let source = TraceSource {
        files: vec![SourceFile {
            name: "run.etl".to_owned(),
            archive: None,
            size_bytes: 4096,
        }],
        hash: hash.to_owned(),
    };
    let clock = Clock {
        kind: "qpc".to_owned(),
        frequency: 10_000_000,
        start_utc: "2024-05-01T10:00:00.1234567Z".to_owned(),
        start_filetime: 133_590_312_001_234_567,
    };
    let machine = Machine {
        computer: Some("PC-1".to_owned()),
        os_version: None,
        processors: 4,
    };
    Manifest::new(Detail::Full, source, clock, machine)
}

/// Writes an extract with `count` samples and one mark.
pub(crate) fn extract(target: &Path, count: i64, salt: i64) -> Result<WriteSummary, StoreError> {
    let options = WriterOptions {
        run_id: salt,
        ..WriterOptions::default()
    };
    let mut writer = Writer::create(target, options)?;
    writer.write(CpuSample::TABLE, samples(count, salt))?;
    writer.write(Mark::TABLE, marks(&[&format!("salt {salt}")]))?;
    writer.finish(manifest(&format!("{salt:016x}")))
}

/// The error as the user sees it: message, causes, hint.
pub(crate) fn message(error: &StoreError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        text += &format!(" | {next}");
        cause = next.source();
    }
    format!("{text} | hint: {}", error.hint().unwrap_or("none"))
}

#[track_caller]
pub(crate) fn assert_refused<T>(result: Result<T, StoreError>, parts: &[&str]) {
    let Err(error) = result else {
        panic!("it succeeded")
    };
    let text = message(&error);
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
}

/// Names in the folder of an extract: one file per table that is not derived, the manifest, and
/// `more`.
pub(crate) fn files(more: &[&str]) -> Vec<String> {
    let tables = TABLES
        .iter()
        .chain(ABOUT)
        .map(|table| format!("{}.parquet", table.name));
    let others = ["manifest.json"]
        .iter()
        .chain(more)
        .map(|name| (*name).to_owned());
    let mut all: Vec<String> = tables.chain(others).collect();
    all.sort();
    all
}

/// Names in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
