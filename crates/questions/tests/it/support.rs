//! Rows in, SQL, text out.

use etwkit_sql::arrow::array::RecordBatch;
use etwkit_sql::arrow::util::display::{ArrayFormatter, FormatOptions};
use etwkit_sql::{Answer, Error, Session};
use etwkit_trace::table::{Columns, Row, Table};

/// The rows as a table with its name.
pub(crate) fn rows<R: Row>(rows: &[R]) -> (&'static Table, Vec<RecordBatch>) {
    let mut columns = R::Columns::default();
    rows.iter().for_each(|row| columns.push(row));
    (R::TABLE, vec![columns.take().unwrap()])
}

/// The answer to the question as text.
#[track_caller]
pub(crate) fn ask(session: &Session, sql: &str) -> String {
    text(
        session
            .sql(sql)
            .unwrap_or_else(|error| panic!("{sql}: {error} (hint: {:?})", error.hint())),
    )
}

/// Values of a row with `|` between, rows with line breaks; nulls are `-`.
#[track_caller]
pub(crate) fn text(answer: Answer) -> String {
    let options = FormatOptions::new().with_null("-");
    let mut lines = Vec::new();
    for batch in answer {
        let batch = batch.unwrap_or_else(|error| panic!("{error}"));
        let columns: Vec<ArrayFormatter<'_>> = batch
            .columns()
            .iter()
            .map(|c| ArrayFormatter::try_new(c, &options).unwrap())
            .collect();
        for row in 0..batch.num_rows() {
            let cells: Vec<String> = columns.iter().map(|c| c.value(row).to_string()).collect();
            lines.push(cells.join("|"));
        }
    }
    lines.join("\n")
}

/// Returns the error of a question, from planning it or from computing the rows.
#[track_caller]
pub(crate) fn error(session: &Session, sql: &str) -> Error {
    session.sql(sql).and_then(Answer::collect).expect_err(sql)
}
