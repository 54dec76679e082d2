//! Rows of an answer as table, CSV or JSON lines, while they come.

use anyhow::Context;
use etwkit_sql::arrow::array::{Array, AsArray, RecordBatch};
use etwkit_sql::arrow::datatypes::{DataType, Float64Type, Int32Type, Int64Type, SchemaRef};
use etwkit_sql::arrow::util::display::{ArrayFormatter, FormatOptions};
use etwkit_terminal::style::Role;
use etwkit_terminal::{Align, csv_cell, escape, push_cell};
use serde_json::{Map, Value};

use super::args::SqlFormat;
use crate::printer::Printer;

/// Number of rows from which the widths of a table's columns are taken. Wider cells in later rows
/// push their row aside.
const MEASURED_ROWS: usize = 1000;

/// Largest size of the cells that are held for measuring, in bytes: a single row may have
/// megabytes.
const MEASURED_BYTES: usize = 16 << 20;

/// Target of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// A terminal of that width: everything is escaped and cut.
    Screen { width: usize },
    /// A file or a pipe.
    File,
}

struct Column {
    name: String,
    align: Align,
    is_text: bool,
    width: usize,
}

/// Prints rows.
pub(super) struct Rows {
    format: SqlFormat,
    target: Target,
    columns: Vec<Column>,
    /// Cells of the first rows of a table, until the widths are known.
    measured: Vec<Vec<String>>,
    is_measuring: bool,
    /// The first of the measured rows are titles.
    has_titles: bool,
    /// Bytes of the measured cells.
    held: usize,
    printed: usize,
    /// The rows are steps of a plan, which have several lines each.
    is_plan: bool,
}

impl Rows {
    pub(super) fn new(schema: &SchemaRef, format: SqlFormat, target: Target) -> Self {
        let mut columns: Vec<Column> = Vec::new();
        for field in schema.fields() {
            // Several columns can have one name. In an object readers keep only one member of a
            // name, so the others get numbers. A number can be taken, too: a column may be called
            // so from the start.
            let mut name = field.name().clone();
            let mut number = 2;
            while columns.iter().any(|column| column.name == name) {
                name = format!("{}_{number}", field.name());
                number += 1;
            }
            let align = if field.data_type().is_numeric() {
                Align::Right
            } else {
                Align::Left
            };
            let is_text =
                !field.data_type().is_numeric() && *field.data_type() != DataType::Boolean;
            columns.push(Column {
                name,
                align,
                is_text,
                width: 0,
            });
        }
        // EXPLAIN answers with these columns.
        let is_plan = columns
            .iter()
            .map(|column| column.name.as_str())
            .eq(["plan_type", "plan"]);
        Self {
            format,
            target,
            columns,
            measured: Vec::new(),
            is_measuring: true,
            has_titles: false,
            held: 0,
            printed: 0,
            is_plan,
        }
    }

    /// Writes the text before the rows.
    pub(super) fn begin(&mut self, printer: &mut Printer<'_>) -> anyhow::Result<()> {
        match self.format {
            SqlFormat::Json => printer.json_start("sql"),
            SqlFormat::Csv => {
                let titles: Vec<String> = self
                    .columns
                    .iter()
                    .map(|column| csv_cell(&column.name))
                    .collect();
                self.csv_line(&titles.join(","), printer)?;
            }
            SqlFormat::Table if self.is_plan => {}
            SqlFormat::Table => {
                self.has_titles = true;
                self.measured.push(
                    self.columns
                        .iter()
                        .map(|c| escape::text(&c.name).into_owned())
                        .collect(),
                );
            }
            // Written by the answer itself.
            SqlFormat::Parquet | SqlFormat::Arrow => {}
        }
        Ok(())
    }

    pub(super) fn batch(
        &mut self,
        batch: &RecordBatch,
        printer: &mut Printer<'_>,
    ) -> anyhow::Result<()> {
        let options = FormatOptions::new();
        let cells = batch
            .columns()
            .iter()
            .map(|column| ArrayFormatter::try_new(column, &options));
        let cells: Vec<ArrayFormatter<'_>> = cells
            .collect::<Result<_, _>>()
            .context("cannot show the answer")?;
        for row in 0..batch.num_rows() {
            self.printed += 1;
            let text = || {
                cells
                    .iter()
                    .zip(batch.columns())
                    .map(|(cell, column)| text(cell, column, row))
            };
            match self.format {
                SqlFormat::Json => printer.json(&self.object(batch, &cells, row))?,
                SqlFormat::Csv => {
                    let quoted = text().zip(&self.columns).map(|(cell, column)| {
                        // Numbers need no quotes, and a negative one must not get the apostrophe
                        // against formulas.
                        if column.is_text {
                            csv_cell(&cell)
                        } else {
                            cell
                        }
                    });
                    self.csv_line(&quoted.collect::<Vec<_>>().join(","), printer)?;
                }
                SqlFormat::Table if self.is_plan => {
                    let cells: Vec<String> = text().collect();
                    let [kind, plan] = cells.as_slice() else {
                        continue;
                    };
                    printer.heading(kind)?;
                    plan.lines()
                        .try_for_each(|line| printer.line(&format!("  {line}")))?;
                }
                SqlFormat::Table | SqlFormat::Parquet | SqlFormat::Arrow => {
                    let cells = text()
                        .map(|cell| escape::text(&cell).into_owned())
                        .collect();
                    self.table_row(cells, printer)?;
                }
            }
        }
        Ok(())
    }

    /// Prints the remaining rows and returns the number of all rows.
    pub(super) fn end(&mut self, printer: &mut Printer<'_>) -> anyhow::Result<usize> {
        self.print_measured(printer)?;
        printer.finish()?;
        Ok(self.printed)
    }

    /// Prints a line of CSV. Lines of a file keep line breaks and controls inside quotes, as the
    /// format allows; lines for a screen do not.
    fn csv_line(&self, line: &str, printer: &mut Printer<'_>) -> anyhow::Result<()> {
        match self.target {
            Target::File => printer.raw(&format!("{line}\r\n"))?,
            Target::Screen { .. } => printer.line(line)?,
        }
        Ok(())
    }

    fn object(&self, batch: &RecordBatch, cells: &[ArrayFormatter<'_>], row: usize) -> Value {
        let columns = self.columns.iter().zip(batch.columns()).zip(cells);
        let object: Map<String, Value> = columns
            .map(|((column, array), cell)| (column.name.clone(), json(array, cell, row)))
            .collect();
        Value::Object(object)
    }

    fn table_row(&mut self, cells: Vec<String>, printer: &mut Printer<'_>) -> anyhow::Result<()> {
        if !self.is_measuring {
            return self.table_line(Role::Plain, &cells, printer);
        }
        self.held += cells.iter().map(String::len).sum::<usize>();
        self.measured.push(cells);
        if self.measured.len() > MEASURED_ROWS || self.held > MEASURED_BYTES {
            self.print_measured(printer)?;
        }
        Ok(())
    }

    fn print_measured(&mut self, printer: &mut Printer<'_>) -> anyhow::Result<()> {
        let rows = std::mem::take(&mut self.measured);
        // The widths are fixed with the first rows, so that later rows can be printed as they
        // arrive.
        if std::mem::replace(&mut self.is_measuring, false) {
            for (number, column) in self.columns.iter_mut().enumerate() {
                let widths = rows
                    .iter()
                    .filter_map(|row| row.get(number))
                    .map(|cell| cell.chars().count());
                column.width = widths.fold(0, usize::max);
            }
        }
        let titles = usize::from(std::mem::take(&mut self.has_titles));
        let (titles, rows) = rows.split_at_checked(titles).unwrap_or((&[], &rows));
        titles
            .iter()
            .try_for_each(|row| self.table_line(Role::Titles, row, printer))?;
        rows.iter()
            .try_for_each(|row| self.table_line(Role::Plain, row, printer))
    }

    fn table_line(
        &self,
        role: Role,
        cells: &[String],
        printer: &mut Printer<'_>,
    ) -> anyhow::Result<()> {
        let mut line = String::new();
        for (cell, &Column { align, width, .. }) in cells.iter().zip(&self.columns) {
            push_cell(&mut line, cell, width, align);
        }
        if let Target::Screen { width } = self.target
            && line.trim_end().chars().count() > width
        {
            line = line
                .chars()
                .take(width.saturating_sub(1))
                .chain(['…'])
                .collect();
        }
        Ok(printer.line_as(role, &line)?)
    }
}

/// Returns a cell as text; a missing value is empty.
fn text(cell: &ArrayFormatter<'_>, column: &dyn Array, row: usize) -> String {
    if is_missing(column, row) {
        String::new()
    } else {
        cell.value(row).to_string()
    }
}

/// True if the value is missing. A column of the type of NULL has no value at all, and no bitmap of
/// missing ones.
fn is_missing(column: &dyn Array, row: usize) -> bool {
    column.data_type().is_null() || column.is_null(row)
}

/// Returns the elements of a list.
fn list(elements: &dyn Array) -> Value {
    (0..elements.len())
        .map(|element| inner(elements, element))
        .collect()
}

/// Returns a value inside of another one.
fn inner(column: &dyn Array, row: usize) -> Value {
    // The container of the value has a formatter, so the value also has one.
    let cell = ArrayFormatter::try_new(column, &FormatOptions::new());
    cell.map_or(Value::Null, |cell| json(column, &cell, row))
}

/// Returns a value of a cell: lists and structures as JSON, types that JSON lacks as text.
fn json(column: &dyn Array, cell: &ArrayFormatter<'_>, row: usize) -> Value {
    if is_missing(column, row) {
        return Value::Null;
    }
    match column.data_type() {
        DataType::Int32 => Value::from(column.as_primitive::<Int32Type>().value(row)),
        DataType::Int64 => Value::from(column.as_primitive::<Int64Type>().value(row)),
        DataType::Float64 => Value::from(column.as_primitive::<Float64Type>().value(row)),
        DataType::Boolean => Value::from(column.as_boolean().value(row)),
        DataType::List(_) => list(&column.as_list::<i32>().value(row)),
        DataType::LargeList(_) => list(&column.as_list::<i64>().value(row)),
        DataType::FixedSizeList(..) => list(&column.as_fixed_size_list().value(row)),
        DataType::Struct(fields) => {
            let parts = fields.iter().zip(column.as_struct().columns());
            parts
                .map(|(field, part)| (field.name().clone(), inner(part, row)))
                .collect()
        }
        DataType::Map(..) => {
            let entries = column.as_map().value(row);
            let key = |entry| match inner(entries.column(0), entry) {
                Value::String(text) => text,
                other => other.to_string(),
            };
            (0..entries.len())
                .map(|entry| (key(entry), inner(entries.column(1), entry)))
                .collect()
        }
        kind => {
            let text = cell.value(row).to_string();
            let number = if kind.is_numeric() {
                text.parse().ok().map(Value::Number)
            } else {
                None
            };
            number.unwrap_or(Value::String(text))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use etwkit_sql::arrow::datatypes::{Field, Schema};

    use super::*;

    #[test]
    fn columns_of_one_name_get_names_of_their_own() {
        let of = |names: &[&str]| {
            let fields = names
                .iter()
                .map(|name| Field::new(*name, DataType::Int64, true));
            let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
            let rows = Rows::new(&schema, SqlFormat::Json, Target::File);
            rows.columns
                .into_iter()
                .map(|column| column.name)
                .collect::<Vec<_>>()
        };
        assert_eq!(of(&["a", "b", "a"]), ["a", "b", "a_2"]);
        assert_eq!(of(&["a", "a", "a", "a_2"]), ["a", "a_2", "a_3", "a_2_2"]);
    }
}
