//! Cutting in memory, and comparing the rows of two traces.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use etwkit_cut::{Cut, Options, cut};
use etwkit_etl::Session;
use etwkit_extract::{Input, Options as OpenOptions, open};
use etwkit_trace::import::{ImportError, Options as ImportOptions, Range, import};

/// Batches by the name of their table.
pub(crate) type Tables = BTreeMap<&'static str, Vec<RecordBatch>>;

pub(crate) fn opened(files: &[PathBuf]) -> Input {
    open(files, &OpenOptions::default()).unwrap()
}

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/made")
        .join(name)
}

pub(crate) fn made(name: &str) -> Input {
    opened(&[fixture(name)])
}

/// Cuts a session. Returns the outcome for its events, and the bytes of the new trace.
pub(crate) fn cut_bytes(session: &Session, options: &Options) -> (Cut, Vec<u8>) {
    let go_on = &mut |_| ControlFlow::Continue(());
    let (cut, sink) = cut(session, options, Cursor::new(Vec::new()), go_on).unwrap();
    (cut, sink.into_inner())
}

pub(crate) fn session(bytes: Vec<u8>) -> Session {
    Session::open(vec![Box::new(bytes)]).unwrap()
}

pub(crate) fn part(session: &Session, range: Range) -> (Cut, Session) {
    let (cut, bytes) = cut_bytes(
        session,
        &Options {
            range: Some(range),
            ..Options::default()
        },
    );
    (cut, self::session(bytes))
}

/// All rows of a session; `None` if the range is outside of it.
pub(crate) fn rows(session: &Session, range: Range) -> Option<Tables> {
    let mut sink: Vec<(&'static etwkit_trace::table::Table, RecordBatch)> = Vec::new();
    let options = ImportOptions {
        range,
        ..ImportOptions::default()
    };
    match import(session, &options, &mut sink, &mut |_| {
        ControlFlow::Continue(())
    }) {
        Ok(_) => {}
        Err(ImportError::EmptyRange { .. }) => return None,
        Err(error) => panic!("{error}"),
    }
    let mut tables = Tables::new();
    for (table, batch) in sink {
        tables.entry(table.name).or_default().push(batch);
    }
    Some(tables)
}

pub(crate) fn count(tables: &Tables, table: &str) -> usize {
    tables
        .get(table)
        .map_or(0, |batches| batches.iter().map(RecordBatch::num_rows).sum())
}

/// Sum of a column of 64-bit numbers.
pub(crate) fn sum(tables: &Tables, table: &str, column: &str) -> i64 {
    let of = |batch: &RecordBatch| {
        let values = batch.column_by_name(column).unwrap().clone();
        values
            .as_primitive::<Int64Type>()
            .iter()
            .flatten()
            .sum::<i64>()
    };
    tables
        .get(table)
        .map_or(0, |batches| batches.iter().map(of).sum())
}

/// Tables whose rows differ, with the number of rows that each side has.
pub(crate) fn differences(a: &Tables, b: &Tables) -> Vec<String> {
    let mut names: Vec<&str> = a.keys().chain(b.keys()).copied().collect();
    names.sort_unstable();
    names.dedup();
    let mut found = Vec::new();
    for name in names {
        let (a_rows, b_rows) = (count(a, name), count(b, name));
        if a_rows != b_rows {
            found.push(format!("{name}: {a_rows} rows and {b_rows}"));
        } else if a_rows > 0
            && let Some(difference) = first_difference(&a[name], &b[name])
        {
            found.push(format!("{name}: {difference}"));
        }
    }
    found
}

/// The first row that differs, of batches that may be cut at different rows.
fn first_difference(a: &[RecordBatch], b: &[RecordBatch]) -> Option<String> {
    // Stack IDs follow the order of stacks in a file.
    let is_compared = |name: &str| {
        !["stack_id", "frame_id", "method_id"]
            .iter()
            .any(|id| name.ends_with(id))
    };
    let compared = |batch: &RecordBatch| {
        let schema = batch.schema();
        let columns = (0..batch.num_columns()).filter(|n| is_compared(schema.field(*n).name()));
        batch.project(&columns.collect::<Vec<_>>()).unwrap()
    };
    let row = |batches: &[RecordBatch]| -> Vec<RecordBatch> {
        batches
            .iter()
            .map(compared)
            .flat_map(|batch| (0..batch.num_rows()).map(move |row| batch.slice(row, 1)))
            .collect()
    };
    let (a, b) = (row(a), row(b));
    let at = a.iter().zip(&b).position(|(a, b)| a != b)?;
    let schema = a[at].schema();
    let differing = a[at]
        .columns()
        .iter()
        .zip(b[at].columns())
        .zip(schema.fields());
    let columns: Vec<String> = differing
        .filter(|((a, b), _)| a != b)
        .map(|((a, b), field)| format!("{}: {a:?} and {b:?}", field.name()))
        .collect();
    let of = a.iter().zip(&b).filter(|(a, b)| a != b).count();
    Some(format!(
        "{of} of {} rows differ, the first is row {at}: {}",
        a.len(),
        columns.join(", ")
    ))
}

/// Three consecutive parts of the time of a session.
pub(crate) fn thirds(session: &Session) -> [Range; 3] {
    let (mut first, mut last) = (i64::MAX, i64::MIN);
    session
        .for_each(etwkit_etl::Order::File, |event| {
            first = first.min(event.timestamp);
            last = last.max(event.timestamp);
            ControlFlow::Continue(())
        })
        .unwrap();
    let clock = session.clock();
    let (first, last) = (clock.nanoseconds(first).max(0), clock.nanoseconds(last));
    let third = (last - first) / 3;
    let (a, b) = (first + third, first + 2 * third);
    [
        Range {
            start_ns: i64::MIN,
            end_ns: a,
        },
        Range {
            start_ns: a + 1,
            end_ns: b,
        },
        Range {
            start_ns: b + 1,
            end_ns: i64::MAX,
        },
    ]
}
