//! Rows of tables.

use etwkit_sql::Session;
use etwkit_trace::table::Table;

use crate::api::Call;
use crate::cells::{asked, count_at, key, one_row};
use crate::problem::{Problem, Result};
use crate::select::select;
use crate::stack;
use crate::tables::{self, NamedColumn};
use crate::wire::{Cell, RowsAnswer, RowsRequest, Source};

/// Largest number of rows in an answer.
const MOST_ROWS: u32 = 1_000;
/// Largest number of columns in an answer.
const MOST_COLUMNS: usize = 100;

pub(crate) fn rows(call: &Call<'_>, request: &RowsRequest) -> Result<RowsAnswer> {
    if request.limit > MOST_ROWS || request.columns.len() > MOST_COLUMNS {
        return Err(Problem::bad(format!(
            "an answer has at most {MOST_ROWS} rows and {MOST_COLUMNS} columns"
        )));
    }
    let table = tables::table(&request.table)?;
    let shown = shown(table, request)?;
    let ready = call.ready(request.trace)?;
    let session = call.session(&ready)?;
    let mut selected = select(&session, table, &request.selection)?;
    selected.and_filters(table, &request.filters)?;
    let mut values = Vec::new();
    let mut joins = String::new();
    for (number, column) in shown.iter().enumerate() {
        let (value, join) = column.label(&column.group(&session), number);
        // Without quotes, so that each shell takes the statement between double ones.
        values.push(format!("{value} AS {}", column.name));
        joins.push_str(&join);
    }
    // With a join of its own, since rows may be sorted by a column that is not shown.
    let (order, join) = order(&session, table, request, shown.len())?;
    joins.push_str(&join);
    let sql = format!(
        "SELECT {} FROM {} t{joins}{}{order} LIMIT {} OFFSET {}",
        values.join(", "),
        table.name,
        selected.sql(),
        request.limit,
        request.offset
    );
    let mut rows = asked(&session, &sql, request.limit as usize)?.rows;
    name_stacks(&session, &shown, &mut rows)?;
    // The page shows the total number of rows, and the limit stops the statement above before it is
    // known.
    let counting = format!("SELECT count(*) FROM {} t{}", table.name, selected.sql());
    let total = count_at(&one_row(&session, &counting)?, 0)?;
    let source = Source {
        not_applied: selected.not_applied,
        notes: selected.notes,
        ..call.of_sql(&ready, sql, total)
    };
    Ok(RowsAnswer {
        columns: shown.iter().map(NamedColumn::info).collect(),
        rows,
        total,
        source,
    })
}

/// Returns the columns that are chosen, or all.
fn shown(table: &'static Table, request: &RowsRequest) -> Result<Vec<NamedColumn>> {
    if request.columns.is_empty() {
        // Frames are for groups only: a row has its whole stack next to it.
        let all = tables::columns(table).into_iter();
        return Ok(all.filter(|one| !one.is_frames()).collect());
    }
    let named = request.columns.iter();
    named.map(|name| tables::column(table, name)).collect()
}

/// Returns the ORDER BY of a request, and the join that it needs, with this number.
fn order(
    session: &Session,
    table: &'static Table,
    request: &RowsRequest,
    join: usize,
) -> Result<(String, String)> {
    let Some(sort) = &request.sort else {
        return Ok((String::new(), String::new()));
    };
    let column = tables::column(table, &sort.by)?;
    let (value, join) = column.label(&column.group(session), join);
    let direction = if sort.descending { "DESC" } else { "ASC" };
    let order = format!(" ORDER BY {value} {direction} NULLS LAST");
    Ok((order, join))
}

/// Names stacks by their innermost frames.
fn name_stacks(session: &Session, shown: &[NamedColumn], rows: &mut [Vec<Cell>]) -> Result<()> {
    if !shown.iter().any(NamedColumn::is_stack) {
        return Ok(());
    }
    let frames = session.frames()?;
    let Some(frames) = frames.trace(0) else {
        return Ok(());
    };
    for (cell, _) in rows
        .iter_mut()
        .flat_map(|row| row.iter_mut().zip(shown))
        .filter(|(_, one)| one.is_stack())
    {
        if let Some(stack) = key(cell) {
            *cell = Cell::Text(stack::short(frames, stack));
        }
    }
    Ok(())
}
