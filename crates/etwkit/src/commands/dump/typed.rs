//! Rows of an answer as a Parquet file or a stream of Arrow: with types, and with the columns that
//! tell rows of many extracts apart.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{bail, ensure};
use clap::ValueEnum;
use etwkit_question::rows::Field;
use etwkit_question::trace::TraceInfo;
use etwkit_question::{TypedRow, TypedValue};
use etwkit_sql::arrow::array::{
    ArrayRef, BooleanBuilder, Float64Builder, Int64Builder, RecordBatch, StringBuilder,
    TimestampMicrosecondBuilder,
};
use etwkit_sql::arrow::datatypes::{Field as ArrowField, Schema};
use etwkit_sql::{Answer, Error};
use etwkit_terminal::WriteError;
use etwkit_trace::table::UtcTime;

use crate::out_file;
use crate::printer::Printer;

/// The column of the trace that a row is of.
pub(super) const TRACE: &str = "trace";

/// A row in the form for machines.
pub(super) type Record = serde_json::Result<TypedRow>;

/// Forms of rows with types: a Parquet file; a stream of Arrow (IPC), to a file or a pipe.
// Variants with sentences of their own would make the help of all reports twice as long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TypedFormat {
    Parquet,
    Arrow,
}

/// Target of rows with types.
#[derive(Debug, Clone, Copy)]
pub(super) struct Typed<'a> {
    pub(super) format: TypedFormat,
    /// The file; the standard output without one.
    pub(super) file: Option<&'a Path>,
    pub(super) replace: out_file::Replace,
}

impl Typed<'_> {
    /// Rejects a target that cannot be written to.
    pub(super) fn check(&self, printer: &Printer<'_>) -> anyhow::Result<()> {
        match self.file {
            Some(file) => out_file::check(file, self.replace),
            None if self.format == TypedFormat::Parquet => {
                bail!("--format parquet needs --out FILE")
            }
            None => check_stream(printer),
        }
    }

    /// Writes rows, and reports their number if they go to a file.
    pub(super) fn write<'r>(
        &self,
        printer: &mut Printer<'_>,
        fields: &[Field],
        rows: impl Iterator<Item = (&'r TraceInfo, Record)>,
    ) -> anyhow::Result<()> {
        let mut columns = Columns::new(fields);
        for (info, row) in rows {
            columns.push(info, row?)?;
        }
        let count = columns.rows;
        let answer = Answer::of_rows(columns.finish()?);
        let Some(path) = self.file else {
            answer.write_arrow(printer.bytes()).map_err(of_writing)?;
            return Ok(());
        };
        let mut file = out_file::buffered(path, self.replace)?;
        match self.format {
            TypedFormat::Parquet => answer.write_parquet(&mut file)?,
            TypedFormat::Arrow => answer.write_arrow(&mut file)?,
        };
        out_file::keep(file, path)?;
        Ok(printer.wrote(count, path)?)
    }
}

/// Refuses a terminal as the target of a stream of Arrow.
pub(crate) fn check_stream(printer: &Printer<'_>) -> anyhow::Result<()> {
    ensure!(
        printer.width().is_none(),
        "--format arrow is not text for a terminal: write it into a file with --out, or into a pipe"
    );
    Ok(())
}

/// Returns the error for rows on the standard output, whose reader may have gone.
pub(crate) fn of_writing(error: Error) -> anyhow::Error {
    match error {
        Error::Write(error) => WriteError::from(error).into(),
        other => other.into(),
    }
}

/// Bytes of text that a column can hold: its offsets have 32 bits.
const MOST_TEXT: usize = i32::MAX as usize;

/// Time zone of points in time.
const UTC: &str = "UTC";

/// Values of a column, with a type.
enum Values {
    Integer(Int64Builder),
    Number(Float64Builder),
    Boolean(BooleanBuilder),
    Text(StringBuilder),
    Time(TimestampMicrosecondBuilder),
}

/// A column.
struct Column {
    name: String,
    about: HashMap<String, String>,
    values: Values,
    /// Bytes of its texts.
    bytes: usize,
}

/// Columns in front of those of the question, from the recording of a row.
const LEADING: [(&str, &str, &str); 6] = [
    (TRACE, "string", "File name of the trace."),
    ("extract", "string", "Path of the extract."),
    ("computer", "string", "Computer."),
    ("start_utc", "time", "Start of the trace, in microseconds."),
    (
        "run_id",
        "integer",
        "Number of the trace, the same in all extracts of it.",
    ),
    (
        "labels",
        "string",
        "Labels of the extract, in the form NAME=VALUE with ; between them.",
    ),
];

impl Column {
    fn new(name: &str, kind: &str, about: HashMap<String, String>) -> Self {
        let values = match kind {
            "integer" => Values::Integer(Int64Builder::new()),
            "number" => Values::Number(Float64Builder::new()),
            "boolean" => Values::Boolean(BooleanBuilder::new()),
            "time" => Values::Time(TimestampMicrosecondBuilder::new().with_timezone(UTC)),
            _ => Values::Text(StringBuilder::new()),
        };
        Self {
            name: name.to_owned(),
            about,
            values,
            bytes: 0,
        }
    }

    /// Adds a value; none for a missing one.
    fn push(&mut self, value: Option<TypedValue>) -> anyhow::Result<()> {
        let Some(value) = value.filter(|value| *value != TypedValue::Missing) else {
            self.push_missing();
            return Ok(());
        };
        let fits = match &mut self.values {
            Values::Integer(values) => {
                let number = value.whole();
                values.append_option(number);
                number.is_some()
            }
            Values::Number(values) => {
                let number = value.number();
                values.append_option(number);
                number.is_some()
            }
            Values::Boolean(values) => {
                let is_true = value.truth();
                values.append_option(is_true);
                is_true.is_some()
            }
            Values::Time(values) => {
                let time = value.whole();
                values.append_option(time);
                time.is_some()
            }
            Values::Text(values) => {
                let text = value.written();
                self.bytes = self.bytes.saturating_add(text.len());
                if self.bytes > MOST_TEXT {
                    bail!(
                        "the texts of the column {} take more than 2 GiB: --csv writes rows of any size",
                        self.name
                    );
                }
                values.append_value(text);
                true
            }
        };
        if !fits {
            bail!(
                "the column {} has a value of another type: {}",
                self.name,
                value.written()
            );
        }
        Ok(())
    }

    fn push_missing(&mut self) {
        match &mut self.values {
            Values::Integer(values) => values.append_null(),
            Values::Number(values) => values.append_null(),
            Values::Boolean(values) => values.append_null(),
            Values::Text(values) => values.append_null(),
            Values::Time(values) => values.append_null(),
        }
    }

    fn finish(mut self) -> (ArrowField, ArrayRef) {
        let values: ArrayRef = match &mut self.values {
            Values::Integer(values) => Arc::new(values.finish()),
            Values::Number(values) => Arc::new(values.finish()),
            Values::Boolean(values) => Arc::new(values.finish()),
            Values::Text(values) => Arc::new(values.finish()),
            Values::Time(values) => Arc::new(values.finish()),
        };
        let field = ArrowField::new(self.name, values.data_type().clone(), true);
        (field.with_metadata(self.about), values)
    }
}

/// The columns of all rows.
struct Columns {
    all: Vec<Column>,
    rows: usize,
}

impl Columns {
    /// Creates the columns of the recording, and those that a question declares. A column of a
    /// question takes the place of one of the recording with its name.
    fn new(fields: &[Field]) -> Self {
        let is_declared = |name: &str| fields.iter().any(|field| field.name == name);
        let leading = LEADING
            .iter()
            .filter(|(name, ..)| !is_declared(name))
            .map(|(name, kind, doc)| Column::new(name, kind, about(doc)));
        let declared = fields
            .iter()
            .map(|field| Column::new(field.name, field.kind, about(field.sentence)));
        Self {
            all: leading.chain(declared).collect(),
            rows: 0,
        }
    }

    /// Adds a row.
    fn push(&mut self, info: &TraceInfo, mut row: TypedRow) -> anyhow::Result<()> {
        for (name, value) in of_recording(info) {
            if row.get(name).is_none() {
                row.insert(name.to_owned(), value);
            }
        }
        for column in &mut self.all {
            column.push(row.take(&column.name))?;
        }
        // Names of the tables of a report are no declared column.
        for (name, value) in row {
            let mut column = Column::new(&name, "string", HashMap::new());
            (0..self.rows).for_each(|_| column.push_missing());
            column.push(Some(value))?;
            self.all.push(column);
        }
        self.rows = self.rows.saturating_add(1);
        Ok(())
    }

    fn finish(self) -> anyhow::Result<RecordBatch> {
        let (fields, values): (Vec<ArrowField>, Vec<ArrayRef>) =
            self.all.into_iter().map(Column::finish).unzip();
        Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), values)?)
    }
}

fn about(doc: &str) -> HashMap<String, String> {
    HashMap::from([("doc".to_owned(), doc.to_owned())])
}

/// Returns the columns of a recording, except those that a question declares.
fn of_recording(info: &TraceInfo) -> [(&'static str, TypedValue); LEADING.len()] {
    // A trace without a start has none to tell.
    let UtcTime(start) = UtcTime::of_filetime(info.start_filetime);
    let start = (info.start_filetime != 0).then_some(start);
    [
        (TRACE, TypedValue::from(info.file_name.clone())),
        ("extract", TypedValue::from(info.extract_path.clone())),
        ("computer", TypedValue::from(info.computer.clone())),
        ("start_utc", TypedValue::from(start)),
        ("run_id", TypedValue::from(info.run_id)),
        ("labels", TypedValue::from(info.labels.clone())),
    ]
}
