//! `union_duration(start, end)`: the duration of the union of intervals.

use std::sync::Arc;

use datafusion::arrow::array::builder::{Int64Builder, ListBuilder};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Int64Array, ListArray};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use datafusion::common::ScalarValue;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, Signature, Volatility,
};
use etwkit_base::intervals::Intervals;

/// Returns the aggregate.
pub(crate) fn udaf() -> AggregateUDF {
    AggregateUDF::new_from_impl(UnionDuration {
        signature: Signature::exact(
            vec![DataType::Int64, DataType::Int64],
            Volatility::Immutable,
        ),
    })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct UnionDuration {
    signature: Signature,
}

/// Intervals so far are exchanged between parts of a plan as a list: start, end, start, end, …
fn state_type() -> DataType {
    DataType::List(Arc::new(Field::new_list_field(DataType::Int64, true)))
}

impl AggregateUDFImpl for UnionDuration {
    fn name(&self) -> &'static str {
        "union_duration"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int64)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(
            format!("{}[intervals]", args.name),
            state_type(),
            true,
        ))])
    }

    fn accumulator(&self, _args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(One::default()))
    }

    fn groups_accumulator_supported(&self, _args: AccumulatorArgs<'_>) -> bool {
        true
    }

    fn create_groups_accumulator(
        &self,
        _args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(Groups::default()))
    }
}

/// Calls `add` with row, start and end of each row that has both and passes the filter.
fn each_interval(
    values: &[ArrayRef],
    filter: Option<&BooleanArray>,
    mut add: impl FnMut(usize, i64, i64),
) -> Result<()> {
    let [starts, ends] = values else {
        return Err(internal("two columns"));
    };
    let starts = starts.as_primitive::<Int64Type>();
    let ends = ends.as_primitive::<Int64Type>();
    for (row, pair) in starts.iter().zip(ends).enumerate() {
        let (Some(start), Some(end)) = pair else {
            continue;
        };
        if filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row)) {
            add(row, start, end);
        }
    }
    Ok(())
}

/// Calls `add` with row, start and end of each interval in lists of intervals.
fn each_listed(values: &[ArrayRef], mut add: impl FnMut(usize, i64, i64)) -> Result<()> {
    let [lists] = values else {
        return Err(internal("one column"));
    };
    for (row, list) in lists.as_list::<i32>().iter().enumerate() {
        let Some(list) = list else { continue };
        let numbers: &Int64Array = list.as_primitive();
        for pair in numbers.values().chunks_exact(2) {
            if let [start, end] = *pair {
                add(row, start, end);
            }
        }
    }
    Ok(())
}

/// Returns lists of intervals, one for each row.
fn lists<'i>(rows: impl Iterator<Item = &'i [(i64, i64)]>) -> ListArray {
    let mut builder = ListBuilder::new(Int64Builder::new());
    for row in rows {
        for &(start, end) in row {
            builder.values().append_value(start);
            builder.values().append_value(end);
        }
        builder.append(true);
    }
    builder.finish()
}

fn internal(expected: &str) -> DataFusionError {
    DataFusionError::Internal(format!("union_duration expected {expected}"))
}

/// The union of all rows.
#[derive(Debug, Default)]
struct One(Intervals);

impl Accumulator for One {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        each_interval(values, None, |_, start, end| self.0.add(start, end))
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        each_listed(states, |_, start, end| self.0.add(start, end))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let union = std::iter::once(self.0.union());
        Ok(vec![ScalarValue::List(Arc::new(lists(union)))])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::Int64(self.0.length()))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.0.bytes()
    }
}

/// The unions of groups.
#[derive(Debug, Default)]
struct Groups {
    groups: Vec<Intervals>,
    /// Bytes of all lists of intervals.
    bytes: usize,
}

impl Groups {
    fn add(&mut self, group: Option<&usize>, start: i64, end: i64) {
        let Some(group) = group.and_then(|&group| self.groups.get_mut(group)) else {
            return;
        };
        // Added up as it changes: asking all groups for their size after each batch would be
        // quadratic.
        let before = group.bytes();
        group.add(start, end);
        self.bytes = (self.bytes + group.bytes()).saturating_sub(before);
    }

    fn take(&mut self, emit_to: EmitTo) -> Vec<Intervals> {
        let taken = emit_to.take_needed(&mut self.groups);
        let bytes: usize = taken.iter().map(Intervals::bytes).sum();
        self.bytes = self.bytes.saturating_sub(bytes);
        taken
    }
}

impl GroupsAccumulator for Groups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        // Groups only ever grow in number; those without an interval answer null.
        self.groups
            .resize_with(total_num_groups, Intervals::default);
        each_interval(values, opt_filter, |row, start, end| {
            self.add(group_indices.get(row), start, end);
        })
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        total_num_groups: usize,
    ) -> Result<()> {
        self.groups
            .resize_with(total_num_groups, Intervals::default);
        each_listed(values, |row, start, end| {
            self.add(group_indices.get(row), start, end);
        })
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let mut taken = self.take(emit_to);
        Ok(Arc::new(
            taken
                .iter_mut()
                .map(Intervals::length)
                .collect::<Int64Array>(),
        ))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let mut taken = self.take(emit_to);
        Ok(vec![Arc::new(lists(
            taken.iter_mut().map(Intervals::union),
        ))])
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        opt_filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let rows = values.first().map_or(0, Array::len);
        let mut intervals: Vec<Option<(i64, i64)>> = vec![None; rows];
        each_interval(values, opt_filter, |row, start, end| {
            // An interval that ends before it starts is left out here as it is when intervals are
            // added.
            if let Some(interval) = intervals.get_mut(row).filter(|_| start <= end) {
                *interval = Some((start, end));
            }
        })?;
        Ok(vec![Arc::new(lists(
            intervals.iter().map(Option::as_slice),
        ))])
    }

    fn size(&self) -> usize {
        self.groups.capacity() * size_of::<Intervals>() + self.bytes
    }
}
