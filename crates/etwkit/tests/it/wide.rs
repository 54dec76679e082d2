//! Names of 64 Ki characters, and names that are nothing but escapes, in every text column: no answer ends in
//! a panic, and columns of other rows do not become as wide.

use std::path::Path;
use std::sync::Arc;

use etwkit_etl::writer::{KernelContext, KernelEvent, SessionOptions, TraceWriter};
use etwkit_extract::{Extract, Writer, WriterOptions};
use etwkit_sql::arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BooleanArray, Float64Array, Int32Array, Int64Array,
    RecordBatch, StringArray, TimestampMicrosecondArray,
};
use etwkit_trace::table::{Column, ColumnKind, DERIVED, Table};
use etwkit_trace::topics::TABLES;

use crate::support::{Exit, dumps, run};

/// More characters than a format string takes for a width; when it is escaped, six for each.
fn wide(number: usize) -> String {
    if number.is_multiple_of(2) {
        "x".repeat(70_000)
    } else {
        "\u{1B}".repeat(11_000)
    }
}

/// One row: every number is 0, every text wide.
fn one_row(table: &'static Table) -> RecordBatch {
    let value = |(number, column): (usize, &Column)| -> ArrayRef {
        match column.kind {
            ColumnKind::Int32 => Arc::new(Int32Array::from(vec![0])),
            ColumnKind::Int64 => Arc::new(Int64Array::from(vec![0])),
            ColumnKind::Float64 => Arc::new(Float64Array::from(vec![0.0])),
            ColumnKind::Boolean => Arc::new(BooleanArray::from(vec![false])),
            ColumnKind::Text => Arc::new(StringArray::from(vec![wide(number)])),
            ColumnKind::Binary => Arc::new(BinaryArray::from(vec![&b"bytes"[..]])),
            ColumnKind::Timestamp => Arc::new(
                TimestampMicrosecondArray::from(vec![0]).with_data_type(column.kind.data_type()),
            ),
        }
    };
    let columns = table.columns.iter().enumerate().map(value).collect();
    RecordBatch::try_new(table.schema(), columns).unwrap()
}

/// The rows, the first of which has wide texts.
fn widened(rows: &RecordBatch) -> RecordBatch {
    let columns = rows.columns().iter().enumerate().map(|(number, column)| {
        let Some(texts) = column.as_string_opt::<i32>() else {
            return column.clone();
        };
        let text = |row| {
            if row == 0 {
                Some(wide(number))
            } else {
                texts.is_valid(row).then(|| texts.value(row).to_owned())
            }
        };
        Arc::new((0..texts.len()).map(text).collect::<StringArray>()) as ArrayRef
    });
    RecordBatch::try_new(rows.schema(), columns.collect()).unwrap()
}

/// An extract of a simulated machine with rows in every table.
fn extract(folder: &Path) -> String {
    let trace = folder.join("office.etl");
    let trace = trace.to_str().unwrap();
    assert_eq!(
        run(&["synth", "write", "office", "--out", trace]).exit,
        Exit::Answered
    );
    assert_eq!(run(&["extract", trace]).exit, Exit::Answered);
    let plain = Extract::open(&folder.join("office.etwx")).unwrap();
    let target = folder.join("wide.etwx");
    let mut writer = Writer::create(&target, WriterOptions::default()).unwrap();
    for table in TABLES.iter().chain(DERIVED).copied() {
        let Some(file) = plain.table(table.name) else {
            writer.write(table, one_row(table)).unwrap();
            continue;
        };
        for (number, rows) in file.batches(None).unwrap().enumerate() {
            let rows = rows.unwrap();
            writer
                .write(table, if number == 0 { widened(&rows) } else { rows })
                .unwrap();
        }
    }
    writer.set_derived(plain.derived().unwrap().depends_on.clone());
    writer.finish(plain.manifest().clone()).unwrap();
    target.to_str().unwrap().to_owned()
}

/// Every question answers, finds nothing, or refuses with a hint.
#[track_caller]
fn asked(args: &[&str]) -> String {
    let answer = run(args);
    assert!(
        answer.exit != Exit::Error || answer.err.contains("hint: "),
        "{args:?}: {}",
        answer.err
    );
    answer.out
}

#[test]
fn texts_of_any_width_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let extract = extract(folder.path());
    // Those two need more words.
    for dump in dumps()
        .iter()
        .filter(|dump| !["region", "time"].contains(&dump.as_str()))
    {
        asked(&["dump", dump, &extract]);
    }
    for more in [
        &["dump", "process", "--sort-by", "tree", "--details"][..],
        &["dump", "cpu", "--methods", "*", "--stacks"],
        &["dump", "wait", "--by", "method"],
        &["dump", "wait", "--by", "tag"],
        &["dump", "wait", "--chain"],
        &["critical-path"],
        &["critical-path", "--tree"],
    ] {
        asked(&[more, &[&extract]].concat());
    }
    for table in TABLES.iter().chain(DERIVED) {
        asked(&[
            "sql",
            &extract,
            &format!("SELECT * FROM {} LIMIT 3", table.name),
        ]);
    }
    let cell = asked(&["sql", &extract, "SELECT repeat('a', 65536) AS a, 1 AS b"]);
    assert!(
        cell.lines()
            .any(|line| *line.trim() == *format!("{}  1", "a".repeat(65_536))),
        "{cell}"
    );
    let processes = asked(&["dump", "process", &extract]);
    assert!(
        processes.contains(&"\\u{1b}".repeat(11_000)) || processes.contains(&"x".repeat(70_000))
    );
    let widest = processes.lines().filter(|line| line.len() > 5000).count();
    assert!(widest <= 2, "one row is wide, not {widest}");
}

/// A trace with processes whose names and command lines are as long as an event can hold.
fn trace(folder: &Path) -> String {
    let mut writer =
        TraceWriter::new(std::io::Cursor::new(Vec::new()), &SessionOptions::default()).unwrap();
    for (pid, name) in (8_u32..).step_by(4).zip([
        "\u{1B}".repeat(11_000),
        "x".repeat(60_000),
        "a.exe".to_owned(),
    ]) {
        let mut payload = u64::from(pid).to_le_bytes().to_vec();
        [pid, 4, 1, 0]
            .into_iter()
            .for_each(|word| payload.extend(word.to_le_bytes()));
        // Page table, flags, and no security identifier.
        payload.extend([0; 8 + 4 + 4]);
        payload.extend(name.bytes().chain([0]));
        let command_line = name.chars().take(2_000).collect::<String>();
        payload.extend(
            command_line
                .encode_utf16()
                .chain([0; 3])
                .flat_map(u16::to_le_bytes),
        );
        let event = KernelEvent {
            context: KernelContext::ids(4, pid),
            timestamp: i64::from(pid),
            group: 3,
            opcode: 1,
            version: 4,
            payload: &payload,
            ..KernelEvent::default()
        };
        writer.write(0, event).unwrap();
    }
    let path = folder.join("wide.etl");
    std::fs::write(&path, writer.finish(1000).unwrap().into_inner()).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_trace_with_names_of_any_width_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let trace = trace(folder.path());
    let events = asked(&["events", &trace]);
    assert!(
        events.contains(&"x".repeat(60_000)),
        "the names are those of processes"
    );
    for args in [
        &["info"][..],
        &["info", "--json"],
        &["events", "--count"],
        &["extract"],
        &["extract", "--json"],
    ] {
        asked(&[args, &[&trace]].concat());
    }
    let processes = asked(&["dump", "process", &trace.replace(".etl", ".etwx")]);
    assert!(processes.contains(&"\\u{1b}".repeat(11_000)) && processes.contains("a.exe"));
}
