//! Functions of the engine whose values can be far larger than their arguments.
//!
//! Sorting, grouping and joining reserve memory before they use it; functions of single rows do
//! not. `repeat('x', 1000000000)` for each of a million rows would take all memory, so the size of
//! a result is computed before it is built.

use std::fmt::{self, Debug};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, FieldRef, Int64Type};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
};

/// Maximum size in bytes of the result of one call for the rows of a batch, of which there are some
/// thousand.
const MAX_BYTES: u128 = 256 << 20;

/// Bytes of a number or of the place of a text in a list.
const ITEM: u128 = 16;

/// Returns the approximate size in bytes of the result for these arguments, which are columns of
/// the same length.
type Size = fn(&[ArrayRef]) -> u128;

/// The functions and the size of their results.
pub(super) const FUNCTIONS: [(&str, Size); 9] = [
    ("repeat", |arguments| {
        sum(arguments, |row| {
            length(arguments, 0, row) * count(arguments, 1, row)
        })
    }),
    ("lpad", padded),
    ("rpad", padded),
    ("replace", |arguments| {
        sum(arguments, |row| {
            // Each match is at least as long as the searched text; an empty one is found before
            // every byte.
            let found = length(arguments, 0, row) / length(arguments, 1, row).max(1) + 1;
            found * length(arguments, 2, row)
        })
    }),
    ("regexp_replace", |arguments| {
        // A pattern may match between all bytes of the text.
        sum(arguments, |row| {
            (length(arguments, 0, row) + 1) * length(arguments, 2, row)
        })
    }),
    ("array_repeat", |arguments| {
        sum(arguments, |row| {
            (length(arguments, 0, row) + ITEM) * count(arguments, 1, row)
        })
    }),
    ("array_resize", |arguments| {
        sum(arguments, |row| {
            (length(arguments, 2, row) + ITEM) * count(arguments, 1, row)
        })
    }),
    ("range", series),
    ("generate_series", series),
];

fn padded(arguments: &[ArrayRef]) -> u128 {
    sum(arguments, |row| count(arguments, 1, row))
}

/// Returns the size of a series of numbers; 0 for other types.
fn series(arguments: &[ArrayRef]) -> u128 {
    let number =
        |argument: usize, row: usize| integers(arguments, argument).map(|column| column.value(row));
    sum(arguments, |row| {
        let (start, stop) = match arguments.len() {
            1 => (Some(0), number(0, row)),
            _ => (number(0, row), number(1, row)),
        };
        // A step of zero is an error of the function itself; here it must not divide.
        let step = number(2, row).unwrap_or(1).unsigned_abs().max(1);
        // The distance of two numbers of 64 bits may need all 64 bits unsigned, so plain
        // subtraction could overflow.
        let steps = start
            .zip(stop)
            .map_or(0, |(start, stop)| start.abs_diff(stop) / step);
        u128::from(steps) * ITEM
    })
}

fn sum(arguments: &[ArrayRef], of_row: impl Fn(usize) -> u128) -> u128 {
    let rows = arguments.first().map_or(0, Array::len);
    (0..rows).map(of_row).fold(0, u128::saturating_add)
}

fn integers(
    arguments: &[ArrayRef],
    argument: usize,
) -> Option<datafusion::arrow::array::Int64Array> {
    let column = arguments
        .get(argument)
        .filter(|column| column.data_type().is_integer())?;
    Some(
        cast(column, &DataType::Int64)
            .ok()?
            .as_primitive::<Int64Type>()
            .clone(),
    )
}

/// Returns a number of repetitions; 0 for a missing one.
fn count(arguments: &[ArrayRef], argument: usize, row: usize) -> u128 {
    let Some(column) = arguments.get(argument) else {
        return 0;
    };
    let value = match column.data_type() {
        DataType::Int64 if column.is_valid(row) => {
            Some(column.as_primitive::<Int64Type>().value(row))
        }
        DataType::Int64 => None,
        _ => integers(&[column.slice(row, 1)], 0)
            .filter(|one| one.is_valid(0))
            .map(|one| one.value(0)),
    };
    value
        .and_then(|value| u128::try_from(value).ok())
        .unwrap_or(0)
}

/// Returns the bytes of a text; for another type, the average size of a value of its column.
fn length(arguments: &[ArrayRef], argument: usize, row: usize) -> u128 {
    let Some(column) = arguments.get(argument) else {
        return 0;
    };
    let bytes = match column.data_type() {
        _ if column.is_null(row) => 0,
        DataType::Utf8 => column.as_string::<i32>().value(row).len(),
        DataType::LargeUtf8 => column.as_string::<i64>().value(row).len(),
        DataType::Utf8View => column.as_string_view().value(row).len(),
        _ => column.to_data().get_slice_memory_size().unwrap_or_default() / column.len().max(1),
    };
    bytes as u128
}

/// A function with a bounded result size.
pub(crate) struct Bounded {
    inner: Arc<ScalarUDF>,
    size: Size,
}

impl Bounded {
    pub(super) fn function(inner: Arc<ScalarUDF>, size: Size) -> ScalarUDF {
        ScalarUDF::new_from_impl(Self { inner, size })
    }
}

impl ScalarUDFImpl for Bounded {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.inner.inner().return_type(arguments)
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> Result<FieldRef> {
        self.inner.inner().return_field_from_args(arguments)
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.inner().coerce_types(arguments)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        // The size is computed from the arguments, before any result is built.
        let bytes = (self.size)(&super::columns(&args)?.0);
        if bytes > MAX_BYTES {
            return Err(DataFusionError::ResourcesExhausted(format!(
                "{} would make {} MiB at once, and {} MiB is the limit",
                self.name(),
                bytes >> 20,
                MAX_BYTES >> 20
            )));
        }
        self.inner.inner().invoke_with_args(args)
    }
}

// A function is its name.
impl PartialEq for Bounded {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Bounded {}

impl Hash for Bounded {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl Debug for Bounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
