//! Typed rows of an answer.

use etwkit_sql::arrow::array::{
    Array, AsArray, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray,
};
use etwkit_sql::arrow::compute::cast;
use etwkit_sql::arrow::datatypes::{DataType, Float64Type, Int64Type};

use crate::{Better, Total};
use etwkit_sql::{Error, Result};

/// A row type that can be read from an answer.
pub trait FromRows: Sized {
    /// Returns its columns, in the order in which they are printed.
    fn fields() -> Vec<Field>;

    /// Returns the rows of a batch.
    ///
    /// # Errors
    /// A column is missing or of another type: the SQL does not match the row type.
    fn read(batch: &RecordBatch) -> Result<Vec<Self>>;
}

/// A column of an answer, in the form of JSON and CSV.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its meaning.
    pub sentence: &'static str,
    /// Its type in JSON schemas.
    pub kind: &'static str,
    /// True if it may be missing.
    pub is_optional: bool,
    /// Aggregation of its values.
    pub total: Total,
    /// Good direction of its values.
    pub better: Better,
}

impl Field {
    /// Creates a column whose values do not add up and have no good direction.
    #[must_use]
    pub const fn new(
        name: &'static str,
        sentence: &'static str,
        kind: &'static str,
        is_optional: bool,
    ) -> Self {
        Self {
            name,
            sentence,
            kind,
            is_optional,
            total: Total::None,
            better: Better::Neither,
        }
    }
}

/// A type that a field of a row can have.
pub trait Cell: Sized {
    /// Returns its columns.
    fn fields(name: &'static str, sentence: &'static str) -> Vec<Field>;
    /// Values of a column.
    type Values;
    /// Returns the column with that name.
    ///
    /// # Errors
    /// It is missing or of another type.
    fn column(batch: &RecordBatch, name: &str) -> Result<Self::Values>;
    /// Returns the value of a row. A missing value of a required field is zero or empty.
    fn get(values: &Self::Values, row: usize) -> Self;
}

fn converted(batch: &RecordBatch, name: &str, to: &DataType) -> Result<std::sync::Arc<dyn Array>> {
    let column = batch
        .column_by_name(name)
        .ok_or_else(|| failed(format!("the answer has no column {name}")))?;
    // The engine widens numbers in sums and leaves narrow ones elsewhere; row types know one kind
    // of whole number.
    cast(column, to).map_err(|error| failed(format!("column {name}: {error}")))
}

fn failed(message: String) -> Error {
    Error::Failed { message }
}

macro_rules! cell {
    ($($type:ty, $kind:literal, $array:ty, $data_type:expr,
       |$any:ident| $downcast:expr, |$value:ident| $get:expr;)+) => {$(
        impl Cell for Option<$type> {
            type Values = $array;
            fn fields(name: &'static str, sentence: &'static str) -> Vec<Field> {
                vec![Field::new(name, sentence.trim_start(), $kind, true)]
            }
            fn column(batch: &RecordBatch, name: &str) -> Result<$array> {
                let $any = converted(batch, name, &$data_type)?;
                Ok($downcast.clone())
            }
            fn get(values: &$array, row: usize) -> Self {
                (row < values.len() && values.is_valid(row)).then(|| {
                    let $value = values.value(row);
                    $get
                })
            }
        }

        impl Cell for $type {
            type Values = $array;
            fn fields(name: &'static str, sentence: &'static str) -> Vec<Field> {
                vec![Field::new(name, sentence.trim_start(), $kind, false)]
            }
            fn column(batch: &RecordBatch, name: &str) -> Result<$array> {
                <Option<$type> as Cell>::column(batch, name)
            }
            // What a row declares as never missing is null in SQL only as the sum of no rows.
            fn get(values: &$array, row: usize) -> Self {
                <Option<$type> as Cell>::get(values, row).unwrap_or_default()
            }
        }
    )+};
}

cell! {
    i64, "integer", Int64Array, DataType::Int64, |any| any.as_primitive::<Int64Type>(), |value| value;
    f64, "number", Float64Array, DataType::Float64, |any| any.as_primitive::<Float64Type>(), |value| value;
    bool, "boolean", BooleanArray, DataType::Boolean, |any| any.as_boolean(), |value| value;
    String, "string", StringArray, DataType::Utf8, |any| any.as_string::<i32>(), |value| value.to_owned();
}

/// Columns that several row types share.
impl<R: FromRows + Clone + Default> Cell for R {
    type Values = Vec<R>;
    fn fields(_: &'static str, _: &'static str) -> Vec<Field> {
        R::fields()
    }
    fn column(batch: &RecordBatch, _: &str) -> Result<Vec<R>> {
        R::read(batch)
    }
    fn get(values: &Vec<R>, row: usize) -> Self {
        values.get(row).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use etwkit_sql::arrow::array::{ArrayRef, Int32Array};

    use super::*;
    use crate::FromRows;

    declare! {
        /// A row.
        row Row {
            pid: Option<i64> = "May be missing.",
            count: i64 = "May not.",
            name: String = "Text.",
        }
    }

    fn batch(names: &[&str]) -> RecordBatch {
        let columns: Vec<(&str, ArrayRef)> = names
            .iter()
            .map(|name| match *name {
                "name" => (
                    *name,
                    Arc::new(StringArray::from(vec![Some("a"), None])) as ArrayRef,
                ),
                _ => (
                    *name,
                    Arc::new(Int32Array::from(vec![Some(-7), None])) as ArrayRef,
                ),
            })
            .collect();
        RecordBatch::try_from_iter_with_nullable(
            columns.into_iter().map(|(name, array)| (name, array, true)),
        )
        .unwrap()
    }

    #[test]
    fn columns_are_found_by_name_and_converted() {
        let rows = Row::read(&batch(&["name", "count", "pid", "other"])).unwrap();
        assert_eq!(
            rows[0],
            Row {
                pid: Some(-7),
                count: -7,
                name: "a".into()
            }
        );
        assert_eq!(rows[1], Row::default());
    }

    #[test]
    fn a_missing_column_is_an_error() {
        let error = Row::read(&batch(&["name", "count"])).unwrap_err();
        assert_eq!(error.to_string(), "the answer has no column pid");
    }
}
