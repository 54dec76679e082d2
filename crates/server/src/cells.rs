//! Values of columns, in the form for the page.

use etwkit_sql::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use etwkit_sql::arrow::datatypes::{DataType, Float64Type, Int32Type, Int64Type, SchemaRef};
use etwkit_sql::arrow::util::display::{ArrayFormatter, FormatOptions};
use etwkit_sql::{KeptBytes, Result, Session};

use crate::problem::{self, Problem};
use crate::wire::Cell;

/// A page cannot hold numbers from here on exactly.
const TOO_LARGE: u64 = 1 << 53;

/// Longest text of a cell, in bytes. Longer texts are cut.
const MAX_TEXT: usize = 64 << 10;

/// Largest total size of the texts of an answer, in bytes. Rows after it are cut.
const MAX_TEXTS: usize = 32 << 20;

/// Rows of an answer.
#[derive(Debug)]
pub struct Rows {
    /// Names and types of columns.
    pub schema: SchemaRef,
    /// Values, by row and column.
    pub rows: Vec<Vec<Cell>>,
    /// There are more.
    pub is_cut: bool,
}

/// Runs a query and keeps at most `most` rows, and no more text than a page can use.
///
/// # Errors
/// The statement is wrong, changes something, or is canceled.
pub fn asked(session: &Session, sql: &str, most: usize) -> Result<Rows> {
    // Rows are taken as they arrive, so that an answer of millions of rows is never held as a
    // whole.
    let mut answer = session.sql(sql)?;
    let schema = answer.schema().clone();
    let mut rows = Vec::new();
    let mut texts = 0_usize;
    for batch in &mut answer {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            // Texts are bounded together as well as each: rows of many long texts would otherwise
            // be an answer that no browser holds.
            if rows.len() >= most || texts > MAX_TEXTS {
                return Ok(Rows {
                    schema,
                    rows,
                    is_cut: true,
                });
            }
            let row = cells(&batch, row);
            texts = row
                .iter()
                .filter_map(text)
                .map(str::len)
                .fold(texts, usize::saturating_add);
            rows.push(row);
        }
    }
    Ok(Rows {
        schema,
        rows,
        is_cut: false,
    })
}

/// Runs a query and returns all rows, as columns.
pub(crate) fn batches(session: &Session, sql: &str) -> Result<Vec<RecordBatch>> {
    let mut all = Vec::new();
    let mut held = KeptBytes::default();
    // Also here, although no page is shown: a malicious extract can make these rows as wide as any.
    for batch in session.sql(sql)? {
        let batch = batch?;
        held.add(&batch)?;
        all.push(batch);
    }
    Ok(all)
}

/// Runs a query whose answer is one row, such as sums over all rows.
pub(crate) fn one_row(session: &Session, sql: &str) -> problem::Result<Vec<Cell>> {
    let rows = asked(session, sql, 1)?.rows;
    rows.into_iter()
        .next()
        .ok_or_else(|| Problem::lacking("its only row"))
}

/// Returns the whole number in a column that always has one.
pub(crate) fn whole_at(row: &[Cell], column: usize) -> problem::Result<i64> {
    row.get(column)
        .and_then(whole)
        .ok_or_else(|| Problem::lacking(&format!("a whole number in column {column}")))
}

/// Returns the count in a column.
pub(crate) fn count_at(row: &[Cell], column: usize) -> problem::Result<u64> {
    u64::try_from(whole_at(row, column)?)
        .map_err(|_| Problem::lacking(&format!("a count in column {column}")))
}

/// Returns the sum in a column. The sum of no rows is 0, for which SQL has null.
pub(crate) fn sum_at(row: &[Cell], column: usize) -> problem::Result<i64> {
    match row.get(column) {
        // All other cells have to be numbers.
        Some(Cell::Missing(())) => Ok(0),
        _ => whole_at(row, column),
    }
}

/// Returns the text in a column, if it has one.
pub(crate) fn text_at(row: &[Cell], column: usize) -> Option<String> {
    row.get(column).and_then(text).map(str::to_owned)
}

/// Returns the text in a column; nothing is an empty text.
pub(crate) fn text_or_empty(row: &[Cell], column: usize) -> String {
    row.get(column).and_then(text).unwrap_or("").to_owned()
}

fn cells(batch: &RecordBatch, row: usize) -> Vec<Cell> {
    batch
        .columns()
        .iter()
        .map(|column| cell(column, row))
        .collect()
}

/// Returns the value of a column in a row.
pub(crate) fn cell(column: &ArrayRef, row: usize) -> Cell {
    if column.is_null(row) {
        return Cell::Missing(());
    }
    match column.data_type() {
        DataType::Boolean => Cell::Flag(column.as_boolean().value(row)),
        DataType::Int32 => Cell::Whole(column.as_primitive::<Int32Type>().value(row).into()),
        DataType::Int64 => exact(column.as_primitive::<Int64Type>().value(row)),
        DataType::Float64 => number(column.as_primitive::<Float64Type>().value(row)),
        DataType::Utf8 => Cell::Text(cut(column.as_string::<i32>().value(row))),
        DataType::Null => Cell::Missing(()),
        other => {
            let options = FormatOptions::default();
            // A type without a format is shown by its name.
            let text = ArrayFormatter::try_new(column.as_ref(), &options).map_or_else(
                |_| format!("({other})"),
                |formatter| formatter.value(row).to_string(),
            );
            // Other types of whole numbers are also sent as numbers, if they are in range.
            let small = if other.is_integer() {
                text.parse().ok()
            } else {
                None
            };
            small.map_or_else(|| Cell::Text(cut(&text)), exact)
        }
    }
}

/// Returns a whole number, as text if a page could not hold it exactly.
pub(crate) fn exact(number: i64) -> Cell {
    // From there on, JavaScript rounds whole numbers.
    if number.unsigned_abs() < TOO_LARGE {
        Cell::Whole(number)
    } else {
        Cell::Text(number.to_string())
    }
}

/// Returns a number with a fraction. A value that JSON cannot represent becomes text.
fn number(number: f64) -> Cell {
    if number.is_finite() {
        Cell::Number(number)
    } else {
        Cell::Text(number.to_string())
    }
}

fn cut(text: &str) -> String {
    if text.len() <= MAX_TEXT {
        return text.to_owned();
    }
    // Cut before a character that would cross the limit.
    // Half a character would be no text.
    let (start, _) = text.split_at(text.floor_char_boundary(MAX_TEXT));
    format!("{start}…")
}

/// Returns the whole number in a cell, as a number or as text.
pub(crate) fn whole(cell: &Cell) -> Option<i64> {
    match cell {
        Cell::Whole(number) => Some(*number),
        // Numbers too large for a page travel as text.
        Cell::Text(text) => text.parse().ok(),
        _ => None,
    }
}

/// Returns the key in a cell.
pub(crate) fn key(cell: &Cell) -> Option<i32> {
    whole(cell).and_then(|key| i32::try_from(key).ok())
}

/// Returns the keys in the first column of an answer, at most `most`.
pub(crate) fn keys(session: &Session, sql: &str, most: usize) -> Result<Vec<i32>> {
    let rows = asked(session, sql, most)?.rows;
    Ok(rows
        .iter()
        .filter_map(|row| row.first().and_then(key))
        .collect())
}

/// Returns the text in a cell.
pub(crate) fn text(cell: &Cell) -> Option<&str> {
    match cell {
        Cell::Text(text) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_number_of_our_own_statements_is_a_failure_and_not_0() {
        let row = [Cell::Whole(3), Cell::Whole(-1), Cell::Missing(())];
        assert_eq!(count_at(&row, 0).unwrap(), 3);
        assert!(count_at(&row, 1).is_err());
        assert!(count_at(&row, 2).is_err());
        assert_eq!(sum_at(&row, 1).unwrap(), -1);
        assert_eq!(sum_at(&row, 2).unwrap(), 0);
        assert!(sum_at(&row, 3).is_err());
        let session = Session::from_batches(Vec::new()).unwrap();
        assert_eq!(one_row(&session, "SELECT 1").unwrap(), [Cell::Whole(1)]);
        assert!(one_row(&session, "SELECT 1 WHERE false").is_err());
    }

    #[test]
    fn numbers_that_a_page_cannot_hold_are_text() {
        let session = Session::from_batches(Vec::new()).unwrap();
        let sql = "SELECT 9007199254740991, 9007199254740992, -9007199254740993, true, NULL, 0.5, 'a', \
                   CAST('NaN' AS DOUBLE)";
        let rows = asked(&session, sql, 5).unwrap().rows;
        let json = serde_json::to_string(&rows).unwrap();
        let expected = r#"[[9007199254740991,"9007199254740992","-9007199254740993",true,null,0.5,"a","NaN"]]"#;
        assert_eq!(json, expected);
    }
}
