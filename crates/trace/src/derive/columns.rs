//! Columns of a batch by name, as plain values.

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int32Type, Int64Type};
use arrow_array::{Array, BooleanArray, Int32Array, Int64Array, RecordBatch, StringArray};

use super::MissingColumn;

fn column<'b, T: 'static>(
    batch: &'b RecordBatch,
    name: &str,
    cast: impl Fn(&'b dyn Array) -> Option<&'b T>,
) -> Result<&'b T, MissingColumn> {
    let found = batch
        .column_by_name(name)
        .and_then(|array| cast(array.as_ref()));
    found.ok_or_else(|| MissingColumn {
        column: name.to_owned(),
    })
}

/// A column of 32-bit numbers.
///
/// # Errors
/// If no column has that name and type.
pub fn int32<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b Int32Array, MissingColumn> {
    column(batch, name, |array| array.as_primitive_opt::<Int32Type>())
}

/// A column of 64-bit numbers.
///
/// # Errors
/// As [`int32`].
pub fn int64<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b Int64Array, MissingColumn> {
    column(batch, name, |array| array.as_primitive_opt::<Int64Type>())
}

/// The values of a column that no row lacks. A row without one is refused, since in its place there
/// would be a zero, which is a value like others.
fn whole<'b, T: ArrowPrimitiveType>(
    batch: &'b RecordBatch,
    name: &str,
) -> Result<&'b [T::Native], MissingColumn> {
    let array = column(batch, name, |array| {
        array
            .as_primitive_opt::<T>()
            .filter(|array| array.null_count() == 0)
    })?;
    let values: &[T::Native] = array.values();
    Ok(values)
}

/// The values of a column of 32-bit numbers that each row has.
///
/// # Errors
/// As [`int32`], or if a row has no value.
pub fn whole_int32<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b [i32], MissingColumn> {
    whole::<Int32Type>(batch, name)
}

/// The values of a column of 64-bit numbers that each row has.
///
/// # Errors
/// As [`whole_int32`].
pub fn whole_int64<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b [i64], MissingColumn> {
    whole::<Int64Type>(batch, name)
}

/// A column of truth values.
///
/// # Errors
/// As [`int32`].
pub fn boolean<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b BooleanArray, MissingColumn> {
    column(batch, name, |array| array.as_boolean_opt())
}

/// A column of texts.
///
/// # Errors
/// As [`int32`].
pub fn text<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b StringArray, MissingColumn> {
    column(batch, name, |array| array.as_string_opt::<i32>())
}

/// Values that may be missing.
pub trait Get<'a> {
    /// Type of a value.
    type Item;
    /// The value of a row; `None` if it is missing.
    fn get(&'a self, row: usize) -> Option<Self::Item>;
    /// The amount of a row in a sum, to which a row without one adds nothing.
    fn amount(&'a self, row: usize) -> Self::Item
    where
        Self::Item: Default,
    {
        self.get(row).unwrap_or_default()
    }
}

macro_rules! get {
    ($($array:ty => $item:ty;)*) => {$(
        impl<'a> Get<'a> for $array {
            type Item = $item;
            #[inline]
            fn get(&'a self, row: usize) -> Option<$item> {
                (row < self.len() && self.is_valid(row)).then(|| self.value(row))
            }
        }
    )*};
}

get! {
    Int32Array => i32;
    Int64Array => i64;
    BooleanArray => bool;
    StringArray => &'a str;
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_missing_value_is_not_zero() {
        let values = Int64Array::from(vec![Some(7), None]);
        let batch =
            RecordBatch::try_from_iter([("ns", Arc::new(values) as Arc<dyn Array>)]).unwrap();
        assert_eq!(int64(&batch, "ns").unwrap().get(1), None);
        assert!(whole_int64(&batch, "ns").is_err());
        assert_eq!(whole_int64(&batch.slice(0, 1), "ns").unwrap(), [7]);
        assert!(whole_int32(&batch, "ns").is_err() && whole_int64(&batch, "no").is_err());
    }
}
