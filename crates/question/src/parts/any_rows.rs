//! Rows of SQL whose columns are not known beforehand.

use std::collections::BTreeMap;

use etwkit_sql::arrow::array::{Array, AsArray, RecordBatch};
use etwkit_sql::arrow::compute::cast;
use etwkit_sql::arrow::datatypes::{DataType, Float64Type, Int64Type};

use etwkit_sql::library::Query;
use etwkit_sql::{Error, Parameter, Result, Session};

/// A value of one of these rows.
#[derive(Debug, Clone, PartialEq)]
pub enum AnyValue {
    /// No value.
    Missing,
    /// A whole number, or a boolean: 0 or 1.
    Whole(i64),
    /// Another number.
    Number(f64),
    /// Text, and all values without another form here.
    Text(String),
}

/// A row: its values by the names of their columns.
pub type AnyRow = BTreeMap<String, AnyValue>;

/// Returns the first rows of a question, at most `most`, and whether there are more.
///
/// # Errors
/// The SQL cannot be planned or fails.
pub fn ask_any(
    session: &Session,
    query: &Query,
    parameters: &[Parameter],
    most: usize,
) -> Result<(Vec<AnyRow>, bool)> {
    let mut rows = Vec::new();
    for batch in session.ask(query, parameters)? {
        read(&batch?, &mut rows)?;
        // One row more than the limit shows that there are more; the rest need not be computed.
        if rows.len() > most {
            rows.truncate(most);
            return Ok((rows, true));
        }
    }
    Ok((rows, false))
}

fn read(batch: &RecordBatch, rows: &mut Vec<AnyRow>) -> Result<()> {
    let first = rows.len();
    rows.resize_with(first.saturating_add(batch.num_rows()), AnyRow::new);
    for (column, field) in batch.columns().iter().zip(batch.schema().fields()) {
        let values = values(column).map_err(|error| Error::Failed {
            message: format!("column {} cannot be read: {error}", field.name()),
        })?;
        for (row, value) in rows.iter_mut().skip(first).zip(values) {
            row.insert(field.name().clone(), value);
        }
    }
    Ok(())
}

fn values(
    column: &dyn Array,
) -> std::result::Result<Vec<AnyValue>, etwkit_sql::arrow::error::ArrowError> {
    let kind = column.data_type();
    Ok(if kind.is_integer() || matches!(kind, DataType::Boolean) {
        let whole = cast(column, &DataType::Int64)?;
        whole
            .as_primitive::<Int64Type>()
            .iter()
            .map(AnyValue::from)
            .collect()
    } else if kind.is_numeric() {
        let numbers = cast(column, &DataType::Float64)?;
        let numbers = numbers.as_primitive::<Float64Type>().iter();
        numbers
            .map(|number| number.map_or(AnyValue::Missing, AnyValue::Number))
            .collect()
    } else {
        let texts = cast(column, &DataType::Utf8)?;
        let texts = texts.as_string::<i32>().iter();
        texts
            .map(|text| text.map_or(AnyValue::Missing, |text| AnyValue::Text(text.to_owned())))
            .collect()
    })
}

impl From<Option<i64>> for AnyValue {
    fn from(value: Option<i64>) -> Self {
        value.map_or(Self::Missing, Self::Whole)
    }
}

impl AnyValue {
    /// Returns the number, rounded to a whole one.
    #[must_use]
    pub fn whole(&self) -> Option<i64> {
        match self {
            Self::Whole(number) => Some(*number),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a number out of range becomes the nearest one"
            )]
            Self::Number(number) if number.is_finite() => Some(number.round() as i64),
            Self::Missing | Self::Number(_) | Self::Text(_) => None,
        }
    }

    /// Returns the text, if it is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self {
            Some(text)
        } else {
            None
        }
    }
}
