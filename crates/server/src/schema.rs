//! The schema: tables and questions, which are the same for every trace.

use std::io;
use std::sync::LazyLock;

use axum::body::Bytes;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use etwkit_engine::questions;
use etwkit_question::{AnyQuestion, Opt, OptionKind};
use etwkit_trace::table::{Column, ColumnKind, Table};

use crate::page;
use crate::problem::{Problem, said};
use crate::titles;
use crate::wire::{ColumnInfo, OptionInfo, QuestionInfo, Schema, TableInfo};

/// Compresses to an eighth in a few milliseconds; higher levels take much longer and gain little.
const ZSTD_LEVEL: i32 = 6;

/// The answer, plain and compressed: one for all pages, and the largest of all answers.
static ANSWER: LazyLock<io::Result<(Bytes, Bytes)>> = LazyLock::new(|| {
    let json = serde_json::to_vec(&schema())?;
    let packed = zstd::bulk::compress(&json, ZSTD_LEVEL)?;
    Ok((json.into(), packed.into()))
});

/// Returns the schema, compressed for browsers that accept it.
pub(crate) async fn answer(headers: HeaderMap) -> Response {
    let (json, packed) = match &*ANSWER {
        Ok(answer) => answer,
        Err(error) => return Problem::internal(said(error)).into_response(),
    };
    let kind = [
        (header::CONTENT_TYPE, "application/json"),
        (header::VARY, "Accept-Encoding"),
    ];
    if !page::takes(&headers, "zstd") {
        return (kind, json.clone()).into_response();
    }
    (kind, [(header::CONTENT_ENCODING, "zstd")], packed.clone()).into_response()
}

/// Returns all tables and questions.
fn schema() -> Schema {
    Schema {
        tables: etwkit_sql::tables().map(table).collect(),
        questions: questions().map(question).collect(),
    }
}

fn table(table: &'static Table) -> TableInfo {
    let columns = crate::tables::columns(table)
        .iter()
        .map(crate::tables::NamedColumn::info)
        .collect();
    let has_time = crate::times::of(table).moment().is_some();
    TableInfo {
        name: table.name.to_owned(),
        sentence: one_line(table.doc),
        columns,
        has_time,
    }
}

/// Returns the description of a declared column.
pub(crate) fn column(column: &Column) -> ColumnInfo {
    let unit = unit(column);
    let is_number = matches!(
        column.kind,
        ColumnKind::Int32 | ColumnKind::Int64 | ColumnKind::Float64
    );
    ColumnInfo {
        name: column.name.to_owned(),
        title: titles::of_name(column.name),
        unit: unit.to_owned(),
        sentence: one_line(column.doc),
        can_group: !matches!(column.kind, ColumnKind::Binary | ColumnKind::Float64)
            && unit != "time",
        can_sum: is_number && !matches!(unit, "time" | "key" | "hex" | "tick"),
    }
}

/// Columns whose values are addresses or bit patterns.
const HEX: [&str; 12] = [
    "address",
    "object_address",
    "start_address",
    "handle",
    "source_handle",
    "heap_handle",
    "keyword",
    "any_keyword",
    "all_keyword",
    "key_block",
    "tcb",
    "endpoint",
];

/// Names of columns with moments, and the endings of such names.
const MOMENTS: [&str; 19] = [
    "ts_ns",
    "start_ns",
    "end_ns",
    "stop_ns",
    "first_ns",
    "last_ns",
    "in_ns",
    "out_ns",
    "readied_ns",
    "send_ns",
    "receive_ns",
    "reply_ns",
    "enter_ns",
    "exit_ns",
    "open_ns",
    "close_ns",
    "alloc_ns",
    "free_ns",
    "event_ns",
];

/// More names of moments, without a common ending.
const MORE_MOMENTS: [&str; 18] = [
    "complete_ns",
    "init_ns",
    "activated_ns",
    "retransmit_timeout_ns",
    "create_call_ns",
    "terminate_ns",
    "created_ns",
    "deleted_ns",
    "connected_ns",
    "connect_ns",
    "abort_ns",
    "remote_reset_ns",
    "map_ns",
    "unmap_ns",
    "acquire_ns",
    "release_ns",
    "create_ns",
    "destroy_ns",
];

fn is_moment(name: &str) -> bool {
    // With a leading `_`, so that `last_end_ns` is a moment and `append_ns` would not be one.
    let ends = |end: &&str| {
        name == *end
            || name
                .strip_suffix(end)
                .is_some_and(|front| front.ends_with('_'))
    };
    MOMENTS.iter().any(ends) || MORE_MOMENTS.contains(&name)
}

/// Returns the unit by which the page formats the values of a column.
pub(crate) fn unit(column: &Column) -> &'static str {
    match (column.unit, column.kind) {
        ("ns", _) if is_moment(column.name) => "time",
        ("ns", _) => "ns",
        ("bytes", _) => "bytes",
        // The size of a module, whose declaration has no unit.
        (_, ColumnKind::Int64) if column.name == "size" => "bytes",
        ("key", _) => "key",
        (_, ColumnKind::Int64) if HEX.contains(&column.name) => "hex",
        (_, ColumnKind::Text | ColumnKind::Binary | ColumnKind::Timestamp) => "text",
        (_, ColumnKind::Boolean) => "flag",
        (_, ColumnKind::Float64) => "number",
        (_, ColumnKind::Int64) => "count",
        (_, ColumnKind::Int32) => "number",
    }
}

/// Returns a text of a declaration without its line breaks.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn question(question: &'static dyn AnyQuestion) -> QuestionInfo {
    QuestionInfo {
        name: question.name().to_owned(),
        sentence: question.sentence().to_owned(),
        options: question.options().iter().map(option).collect(),
    }
}

fn option(option: &Opt) -> OptionInfo {
    let (kind, words): (_, &[&str]) = match &option.kind {
        OptionKind::Flag => ("flag", &[]),
        OptionKind::Text => ("text", &[]),
        OptionKind::Words(words) => ("words", words),
        OptionKind::Several(words) => ("several", words),
        OptionKind::Range(_) => ("range", &[]),
        OptionKind::Whole(..) => ("whole", &[]),
        OptionKind::Number => ("number", &[]),
        OptionKind::Files => ("files", &[]),
        OptionKind::List => ("text", &[]),
        OptionKind::Two => ("two", &[]),
    };
    OptionInfo {
        name: option.name.to_owned(),
        kind: kind.to_owned(),
        sentence: option.sentence.to_string(),
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        default: option.default.clone(),
    }
}
