//! Limits of aggregates that keep their rows, such as the list of all texts.
//!
//! The engine counts what other aggregates keep. Of these it counts too little: the bytes of texts
//! in lists are left out, and the value that is made at the end is not counted at all.

use std::fmt::Debug;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::ScalarValue;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::expr::{
    AggregateFunction, AggregateFunctionParams, WindowFunctionParams,
};
use datafusion::logical_expr::function::{
    AccumulatorArgs, AggregateFunctionSimplification, StateFieldsArgs,
};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Documentation, Expr, GroupsAccumulator, Operator,
    ReversedUDAF, SetMonotonicity, Signature, StatisticsArgs,
};

/// Parts of the memory of a question that an aggregate may keep. The value is made from all of it at
/// once, and texts grow by doubling.
const SHARE: usize = 8;

/// The aggregates of the engine that keep their rows.
pub(super) const NAMES: [&str; 2] = ["array_agg", "string_agg"];

/// An aggregate of the engine that keeps at most so many bytes.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Collected {
    inner: Arc<AggregateUDF>,
    limit: usize,
}

impl Collected {
    /// Returns an aggregate for a question that has this memory.
    pub(super) fn function(inner: Arc<AggregateUDF>, memory_bytes: usize) -> AggregateUDF {
        AggregateUDF::new_from_impl(Self {
            inner,
            limit: memory_bytes / SHARE,
        })
    }

    fn bounded(&self, inner: Box<dyn Accumulator>) -> Box<dyn Accumulator> {
        Box::new(Rows {
            name: self.inner.name().to_owned(),
            inner,
            bytes: 0,
            limit: self.limit,
        })
    }
}

impl AggregateUDFImpl for Collected {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn schema_name(&self, params: &AggregateFunctionParams) -> Result<String> {
        self.inner.schema_name(params)
    }

    fn human_display(&self, params: &AggregateFunctionParams) -> Result<String> {
        self.inner.human_display(params)
    }

    fn window_function_schema_name(&self, params: &WindowFunctionParams) -> Result<String> {
        self.inner.window_function_schema_name(params)
    }

    fn display_name(&self, params: &AggregateFunctionParams) -> Result<String> {
        self.inner.display_name(params)
    }

    fn window_function_display_name(&self, params: &WindowFunctionParams) -> Result<String> {
        self.inner.window_function_display_name(params)
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arguments)
    }

    fn return_field(&self, arguments: &[FieldRef]) -> Result<FieldRef> {
        self.inner.return_field(arguments)
    }

    fn is_nullable(&self) -> bool {
        self.inner.is_nullable()
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(arguments)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        self.inner.state_fields(args)
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(self.bounded(self.inner.accumulator(args)?))
    }

    // What the groups of a plan keep is counted by the engine, which ends or spills them.
    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        self.inner.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        self.inner.create_groups_accumulator(args)
    }

    fn create_sliding_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>> {
        self.inner.create_sliding_accumulator(args)
    }

    fn with_beneficial_ordering(
        self: Arc<Self>,
        beneficial_ordering: bool,
    ) -> Result<Option<Arc<dyn AggregateUDFImpl>>> {
        let inner = self.inner.as_ref().clone();
        let ordered = inner.with_beneficial_ordering(beneficial_ordering)?;
        Ok(ordered.map(|inner| {
            Arc::new(Self {
                inner: Arc::new(inner),
                limit: self.limit,
            }) as Arc<dyn AggregateUDFImpl>
        }))
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.inner.order_sensitivity()
    }

    fn simplify(&self) -> Option<AggregateFunctionSimplification> {
        self.inner.simplify()
    }

    fn simplify_expr_op_literal(
        &self,
        function: &AggregateFunction,
        argument: &Expr,
        op: Operator,
        literal: &Expr,
        is_left: bool,
    ) -> Result<Option<Expr>> {
        self.inner
            .simplify_expr_op_literal(function, argument, op, literal, is_left)
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        match self.inner.reverse_udf() {
            ReversedUDAF::Reversed(inner) => {
                ReversedUDAF::Reversed(Arc::new(AggregateUDF::new_from_impl(Self {
                    inner,
                    limit: self.limit,
                })))
            }
            other => other,
        }
    }

    fn is_descending(&self) -> Option<bool> {
        self.inner.is_descending()
    }

    fn value_from_stats(&self, statistics: &StatisticsArgs<'_>) -> Option<ScalarValue> {
        self.inner.value_from_stats(statistics)
    }

    fn default_value(&self, kind: &DataType) -> Result<ScalarValue> {
        self.inner.default_value(kind)
    }

    fn supports_null_handling_clause(&self) -> bool {
        self.inner.supports_null_handling_clause()
    }

    fn supports_within_group_clause(&self) -> bool {
        self.inner.supports_within_group_clause()
    }

    fn set_monotonicity(&self, kind: &DataType) -> SetMonotonicity {
        self.inner.inner().set_monotonicity(kind)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner.documentation()
    }
}

/// The rows that an aggregate keeps.
#[derive(Debug)]
struct Rows {
    name: String,
    inner: Box<dyn Accumulator>,
    bytes: usize,
    limit: usize,
}

impl Rows {
    /// Counts the bytes of values that are kept from now on.
    fn keep(&mut self, values: &[ArrayRef]) -> Result<()> {
        let bytes = values.iter().map(|values| bytes_of(values));
        self.bytes = bytes.fold(self.bytes, usize::saturating_add);
        if self.bytes <= self.limit {
            return Ok(());
        }
        Err(DataFusionError::ResourcesExhausted(format!(
            "{} would keep {} MiB, and {} MiB is the limit",
            self.name,
            self.bytes.div_ceil(1 << 20),
            self.limit >> 20
        )))
    }
}

impl Accumulator for Rows {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.keep(values)?;
        self.inner.update_batch(values)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.keep(states)?;
        self.inner.merge_batch(states)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.inner.retract_batch(values)?;
        let bytes = values.iter().map(|values| bytes_of(values));
        self.bytes = bytes.fold(self.bytes, usize::saturating_sub);
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        self.inner.supports_retract_batch()
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.inner.evaluate()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.inner.state()
    }

    fn size(&self) -> usize {
        self.inner.size().max(self.bytes)
    }
}

/// Returns the bytes of the values of an array, without those around a part of a larger array.
fn bytes_of(values: &dyn Array) -> usize {
    match values.data_type() {
        DataType::Utf8View => values.as_string_view().total_bytes_len() + 16 * values.len(),
        DataType::BinaryView => values.as_binary_view().total_bytes_len() + 16 * values.len(),
        DataType::List(_) => {
            let lists = values.as_list::<i32>();
            let items = lists.iter().flatten();
            items.map(|items| bytes_of(&items)).sum()
        }
        _ => values
            .to_data()
            .get_slice_memory_size()
            .unwrap_or_else(|_| values.get_array_memory_size()),
    }
}
