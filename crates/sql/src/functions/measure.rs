//! The measure of a call of a function: the size of its values and its steps, by the lengths and
//! numbers that it is given.

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, ByteView, GenericListArray, LargeBinaryArray,
    OffsetSizeTrait,
};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{
    DataType, Int64Type, IntervalMonthDayNanoType, IntervalUnit, TimeUnit,
};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs};

/// Bytes of a number or of the place of a text in a list.
const ITEM: u128 = 16;

/// Nanoseconds of a day.
const DAY: i128 = 86_400_000_000_000;

/// Returns the size in bytes of the value for a row.
type Size = fn(&CallArguments, usize) -> u128;

/// The functions whose values may be larger than all their arguments together.
const SIZES: [(&str, Size); 10] = [
    ("repeat", |given, row| {
        given.length(0, row) * given.count(1, row)
    }),
    // A character has up to four bytes.
    ("lpad", |given, row| given.count(1, row) * 4),
    ("rpad", |given, row| given.count(1, row) * 4),
    ("replace", |given, row| {
        // Each match is at least as long as the searched text; an empty one is found before every
        // byte.
        let found = given.length(0, row) / given.length(1, row).max(1) + 1;
        given.length(0, row) + found * given.length(2, row)
    }),
    ("regexp_replace", |given, row| {
        // A pattern may match between all bytes of the text.
        (given.length(0, row) + 1) * (given.length(2, row) + 1)
    }),
    ("array_repeat", |given, row| {
        (given.length(0, row) + ITEM) * given.count(1, row)
    }),
    ("array_resize", |given, row| {
        given.length(0, row) + (given.length(2, row) + ITEM) * given.count(1, row)
    }),
    ("array_to_string", |given, row| {
        let items = given.length(0, row);
        items * 4 + items * (given.length(1, row) + given.length(2, row))
    }),
    ("range", series),
    ("generate_series", series),
];

/// Returns the size of a series of numbers or times.
fn series(given: &CallArguments, row: usize) -> u128 {
    let (start, stop) = match given.arguments.len() {
        1 => (Some(0), given.number(0, row)),
        _ => (given.number(0, row), given.number(1, row)),
    };
    // A step of zero is an error of the function itself; here it must not divide.
    let step = given.number(2, row).unwrap_or(1).unsigned_abs().max(1);
    let steps = start
        .zip(stop)
        .map_or(0, |(start, stop)| start.abs_diff(stop) / step);
    steps * ITEM
}

/// The functions that read each of their texts a fixed number of times. The steps of the others are
/// the product of the lengths of their texts, if they have several.
const LINEAR: [&str; 36] = [
    "array_append",
    "array_concat",
    "array_prepend",
    "array_to_string",
    "arrow_cast",
    "arrow_metadata",
    "arrow_typeof",
    "arrow_try_cast",
    "coalesce",
    "concat",
    "concat_ws",
    "contains",
    "ends_with",
    "find_in_set",
    "greatest",
    "least",
    "lpad",
    "make_array",
    "map",
    "nullif",
    "nvl",
    "nvl2",
    "overlay",
    "regexp_like",
    "regexp_match",
    "replace",
    "rpad",
    "split_part",
    "starts_with",
    "string_to_array",
    "substr_index",
    "translate",
    "stack_contains",
    "stack_root",
    "stack_tag",
    "with_metadata",
];

/// The measure of the calls of a function.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measure {
    size: Option<Size>,
    is_linear: bool,
    /// True if the second text is a regular expression.
    is_pattern: bool,
}

impl Measure {
    /// Returns the measure of the function of a name.
    pub(super) fn of(name: &str) -> Self {
        // All operators read their texts once.
        let is_operator = !name.contains(char::is_alphanumeric);
        let size = SIZES.iter().find(|(known, _)| *known == name);
        Self {
            size: size.map(|(_, size)| *size),
            is_linear: is_operator || LINEAR.contains(&name),
            is_pattern: name.starts_with("regexp_") || name.contains('~'),
        }
    }

    /// Returns the lengths and numbers of a call; `None` if all its values are short.
    pub(super) fn given(&self, args: &ScalarFunctionArgs) -> Result<Option<CallArguments>> {
        let is_short = |argument: &ColumnarValue| {
            let kind = argument.data_type();
            kind.is_null() || kind.primitive_width().is_some() || kind == DataType::Boolean
        };
        if self.size.is_none() && args.args.iter().all(is_short) {
            return Ok(None);
        }
        let is_one = args
            .args
            .iter()
            .all(|argument| matches!(argument, ColumnarValue::Scalar(_)));
        let arguments: Result<Vec<_>> = args
            .args
            .iter()
            .map(|argument| Argument::of(argument, self.size.is_some()))
            .collect();
        let mut given = CallArguments {
            rows: if is_one { 1 } else { args.number_rows },
            arguments: arguments?,
        };
        if self.is_pattern
            && let (Some(argument), Some(value)) = (given.arguments.get_mut(1), args.args.get(1))
        {
            argument.weights = weights(value)?;
        }
        Ok(Some(given))
    }

    /// Returns `true` if the values may be larger than all arguments together.
    pub(super) const fn has_size(&self) -> bool {
        self.size.is_some()
    }

    /// Returns the bytes of the value for a row: those of all arguments unless the function is known
    /// to make more, or has a value of fixed size.
    pub(super) fn size(&self, given: &CallArguments, row: usize, returns: &DataType) -> u128 {
        match self.size {
            Some(size) => size(given, row),
            None if returns.primitive_width().is_some() || *returns == DataType::Boolean => 0,
            None => given.bytes(row),
        }
    }

    /// Returns the steps for a row.
    pub(super) fn steps(&self, given: &CallArguments, row: usize) -> u128 {
        if self.is_pattern {
            let text = given.length(0, row);
            let (weight, is_repeated) = given.weight(1, row);
            // Searching on behind each match may read the rest of the text again for each.
            let again = if is_repeated && !self.is_linear {
                text / 16
            } else {
                1
            };
            return text * weight.max(again);
        }
        let mut lengths = [1, 1];
        for argument in &given.arguments {
            let length = argument.length(row);
            if length > lengths[0] {
                lengths = [length, lengths[0]];
            } else {
                lengths[1] = lengths[1].max(length);
            }
        }
        let [first, second] = lengths;
        if self.is_linear {
            first
        } else {
            first.saturating_mul(second)
        }
    }
}

/// The lengths and numbers of a call.
#[derive(Debug)]
pub(super) struct CallArguments {
    /// Rows that are computed.
    pub(super) rows: usize,
    arguments: Vec<Argument>,
}

impl CallArguments {
    /// Returns a call of one row that has the longest value of each argument.
    pub(super) fn longest(&self) -> Self {
        Self {
            rows: 1,
            arguments: self.arguments.iter().map(Argument::longest).collect(),
        }
    }

    /// Returns the bytes of all arguments.
    pub(super) fn bytes(&self, row: usize) -> u128 {
        let lengths = self.arguments.iter().map(|argument| argument.length(row));
        lengths.fold(0, u128::saturating_add)
    }

    /// Returns the length of the longest text of each argument that is one.
    pub(super) fn texts(&self) -> impl Iterator<Item = u128> {
        let texts = self.arguments.iter().filter(|argument| argument.is_text);
        texts.map(|argument| argument.lengths.iter().copied().fold(0, u64::max).into())
    }

    fn length(&self, argument: usize, row: usize) -> u128 {
        self.arguments
            .get(argument)
            .map_or(0, |argument| argument.length(row))
    }

    /// Returns a number, a time in nanoseconds or an interval.
    fn number(&self, argument: usize, row: usize) -> Option<i128> {
        at(&self.arguments.get(argument)?.numbers, row).copied()?
    }

    /// Returns a number of repetitions; 0 for a missing one.
    fn count(&self, argument: usize, row: usize) -> u128 {
        self.number(argument, row)
            .and_then(|number| u128::try_from(number).ok())
            .unwrap_or(0)
    }

    fn weight(&self, argument: usize, row: usize) -> (u128, bool) {
        let weights = self
            .arguments
            .get(argument)
            .map(|argument| &argument.weights);
        weights
            .and_then(|weights| at(weights, row))
            .copied()
            .unwrap_or((1, false))
    }
}

/// The lengths and numbers of an argument: one for each row, or one for all.
#[derive(Debug)]
struct Argument {
    is_text: bool,
    lengths: Vec<u64>,
    numbers: Vec<Option<i128>>,
    weights: Vec<(u128, bool)>,
}

impl Argument {
    fn of(argument: &ColumnarValue, needs_numbers: bool) -> Result<Self> {
        let column = column(argument)?;
        let numbers = if needs_numbers {
            numbers(&column)?
        } else {
            None
        };
        Ok(Self {
            is_text: matches!(
                column.data_type(),
                kind if kind.is_string() || kind.is_binary()
            ),
            lengths: lengths(&column),
            numbers: numbers.unwrap_or_default(),
            weights: Vec::new(),
        })
    }

    fn longest(&self) -> Self {
        let weight = self.weights.iter().map(|(weight, _)| *weight).max();
        let is_repeated = self.weights.iter().any(|(_, is_repeated)| *is_repeated);
        Self {
            is_text: self.is_text,
            lengths: self.lengths.iter().copied().max().into_iter().collect(),
            numbers: Vec::new(),
            weights: weight
                .map(|weight| (weight, is_repeated))
                .into_iter()
                .collect(),
        }
    }

    fn length(&self, row: usize) -> u128 {
        at(&self.lengths, row).map_or(0, |length| u128::from(*length))
    }
}

/// Returns the value for a row; one value is that of all rows.
fn at<T>(values: &[T], row: usize) -> Option<&T> {
    match values {
        [one] => Some(one),
        all => all.get(row),
    }
}

fn column(argument: &ColumnarValue) -> Result<ArrayRef> {
    match argument {
        ColumnarValue::Array(column) => Ok(column.clone()),
        ColumnarValue::Scalar(value) => value.to_array(),
    }
}

/// Returns the bytes of a row that has the longest value of each column.
pub(crate) fn widest(rows: &RecordBatch) -> u128 {
    let longest = |column: &ArrayRef| lengths(column).into_iter().fold(0, u64::max);
    let longest = rows.columns().iter().map(longest).map(u128::from);
    longest.sum()
}

/// Returns the bytes of each value: of texts and lists their own, of others the average of the
/// column.
fn lengths(column: &ArrayRef) -> Vec<u64> {
    match column.data_type() {
        DataType::Null => vec![0],
        DataType::Utf8 => of_offsets(column.as_string::<i32>().offsets(), 1),
        DataType::LargeUtf8 => of_offsets(column.as_string::<i64>().offsets(), 1),
        DataType::Binary => column
            .as_any()
            .downcast_ref::<BinaryArray>()
            .map_or_else(Vec::new, |column| of_offsets(column.offsets(), 1)),
        DataType::LargeBinary => column
            .as_any()
            .downcast_ref::<LargeBinaryArray>()
            .map_or_else(Vec::new, |column| of_offsets(column.offsets(), 1)),
        DataType::Utf8View => of_views(column.as_string_view().views()),
        DataType::BinaryView => of_views(column.as_binary_view().views()),
        DataType::List(_) => of_lists(column.as_list::<i32>()),
        DataType::LargeList(_) => of_lists(column.as_list::<i64>()),
        // The same value may stand in many rows.
        DataType::Dictionary(..) => {
            let values = lengths(column.as_any_dictionary().values());
            vec![values.into_iter().fold(0, u64::max)]
        }
        _ => vec![average(column)],
    }
}

/// Returns the average bytes of a value.
fn average(column: &dyn Array) -> u64 {
    let bytes = column
        .to_data()
        .get_slice_memory_size()
        .unwrap_or(usize::MAX);
    bytes.div_ceil(column.len().max(1)) as u64
}

fn of_offsets<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>, item: u64) -> Vec<u64> {
    offsets
        .lengths()
        .map(|length| (length as u64).saturating_mul(item))
        .collect()
}

fn of_views(views: &[u128]) -> Vec<u64> {
    let length = |view: &u128| u64::from(ByteView::from(*view).length);
    views.iter().map(length).collect()
}

fn of_lists<O: OffsetSizeTrait>(column: &GenericListArray<O>) -> Vec<u64> {
    of_offsets(column.offsets(), average(column.values()).max(1))
}

/// Returns numbers, times in nanoseconds or intervals; `None` for another type.
fn numbers(column: &ArrayRef) -> Result<Option<Vec<Option<i128>>>> {
    let factor = match column.data_type() {
        kind if kind.is_integer() => 1,
        DataType::Date32 => DAY,
        DataType::Date64 | DataType::Timestamp(TimeUnit::Millisecond, _) => 1_000_000,
        DataType::Timestamp(TimeUnit::Second, _) => 1_000_000_000,
        DataType::Timestamp(TimeUnit::Microsecond, _) => 1_000,
        DataType::Timestamp(TimeUnit::Nanosecond, _) => 1,
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            let steps = column.as_primitive::<IntervalMonthDayNanoType>();
            let length = |step: Option<_>| step.map(|step| interval(&step));
            return Ok(Some(steps.iter().map(length).collect()));
        }
        _ => return Ok(None),
    };
    // A date is a number of 32 bits, which has no cast to one of 64.
    let column = match column.data_type() {
        DataType::Date32 => &cast(column, &DataType::Int32)?,
        _ => column,
    };
    let column = cast(column, &DataType::Int64)?;
    let numbers = column.as_primitive::<Int64Type>().iter();
    Ok(Some(
        numbers
            .map(|number| number.map(|number| i128::from(number) * factor))
            .collect(),
    ))
}

/// Returns the nanoseconds of an interval, with the shortest month.
fn interval(step: &datafusion::arrow::datatypes::IntervalMonthDayNano) -> i128 {
    (i128::from(step.months) * 28 + i128::from(step.days)) * DAY + i128::from(step.nanoseconds)
}

/// Returns the steps of regular expressions for a byte of a text, and whether they repeat a part
/// without end.
fn weights(argument: &ColumnarValue) -> Result<Vec<(u128, bool)>> {
    let column = column(argument)?;
    if !column.data_type().is_string() {
        return Ok(Vec::new());
    }
    let texts = cast(&column, &DataType::LargeUtf8)?;
    let weigh = |text: Option<&str>| text.map_or((1, false), weight);
    Ok(texts.as_string::<i64>().iter().map(weigh).collect())
}

/// Returns the length of a regular expression in which counted parts are written out.
fn weight(pattern: &str) -> (u128, bool) {
    let counts = pattern.split('{').skip(1).filter_map(|behind| {
        let (counts, _) = behind.split_once('}')?;
        counts
            .split(',')
            .filter_map(|count| count.trim().parse().ok())
            .max()
    });
    // Counted parts may be nested.
    let written_out = counts.fold(pattern.len() as u128, |all: u128, count: u128| {
        all.saturating_mul(count.max(1))
    });
    let is_repeated = pattern.contains(['*', '+', '{']);
    (written_out.min(MAX_WEIGHT), is_repeated)
}

/// Steps of the largest regular expression that the engine compiles, which has 10 MB.
const MAX_WEIGHT: u128 = 200_000;
