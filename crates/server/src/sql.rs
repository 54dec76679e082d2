//! SQL statements from the user.

use etwkit_sql::arrow::datatypes::DataType;

use crate::api::Call;
use crate::cells::asked;
use crate::problem::{Problem, Result};
use crate::wire::{Answer, AnswerColumn, AnswerTable, SqlRequest};

/// Largest number of rows in an answer.
const MOST_ROWS: u32 = 10_000;

pub(crate) fn sql(call: &Call<'_>, request: &SqlRequest) -> Result<Answer> {
    if request.limit == 0 || request.limit > MOST_ROWS {
        return Err(Problem::bad(format!(
            "expected a limit from 1 to {MOST_ROWS}"
        )));
    }
    let ready = call.ready(request.trace)?;
    let session = call.session(&ready)?;
    let rows = asked(&session, &request.sql, request.limit as usize)?;
    let columns = rows.schema.fields().iter().map(|field| AnswerColumn {
        name: field.name().clone(),
        title: field.name().clone(),
        unit: unit(field.name(), field.data_type()).to_owned(),
        sentence: String::new(),
    });
    let table = AnswerTable {
        name: String::new(),
        title: String::new(),
        columns: columns.collect(),
        rows: rows.rows,
        is_cut: rows.is_cut,
        below: Vec::new(),
        instead: String::new(),
    };
    let read = table.rows.len() as u64;
    Ok(Answer {
        tables: vec![table],
        lines: Vec::new(),
        source: call.of_sql(&ready, request.sql.clone(), read),
    })
}

/// Returns the unit of a column, derived from its name and type.
fn unit(name: &str, kind: &DataType) -> &'static str {
    match kind {
        DataType::Boolean => "flag",
        kind if kind.is_integer() && name.ends_with("_ns") => "ns",
        kind if kind.is_integer() && name.ends_with("_bytes") => "bytes",
        kind if kind.is_numeric() => "number",
        _ => "text",
    }
}
