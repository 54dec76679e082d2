//! Limits of every function and of some operators: what a call may make at once, and how long it
//! may compute before it looks whether its rows are still needed.
//!
//! Functions of the engine make the values of all rows of a batch without a pause, and reserve no
//! memory. `repeat('x', 1000000000)` would take all of it, and `levenshtein` of two long texts would
//! compute for hours after its question was given up. So each call is measured before it is made:
//! by the size of its values, and by its steps. Wide rows are computed in slices.

use std::any::Any;
use std::fmt::{self, Debug};
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::compute::concat;
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::config::ConfigOptions;
use datafusion::common::{ExprSchema, ScalarValue};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::interval_arithmetic::Interval;
use datafusion::logical_expr::preimage::PreimageResult;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::sort_properties::{ExprProperties, SortProperties};
use datafusion::logical_expr::{
    ColumnarValue, Documentation, Expr, ExpressionPlacement, Operator, ReturnFieldArgs,
    ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, StructFieldMapping,
};

use super::measure::{CallArguments, Measure};
use super::operator::Binary;
use crate::limits::{Limits, TooLong};

/// Steps for one row, which cannot be interrupted: about a second.
const MAX_STEPS: u128 = 400_000_000;

/// Steps of a slice of rows.
const SLICE_STEPS: u128 = 50_000_000;

/// Bytes of the texts of a slice of rows.
const SLICE_BYTES: u128 = 1 << 20;

/// Functions that the optimiser knows by their type, so that they stay as they are. None of them
/// makes more than it is given.
const KNOWN_BY_TYPE: [&str; 5] = ["get_field", "log", "named_struct", "power", "struct"];

/// A function with the limits of a question.
pub(crate) struct Bounded {
    inner: Arc<ScalarUDF>,
    measure: Measure,
    limits: Limits,
}

impl Bounded {
    /// Returns a function with limits; `None` if it has some, or needs none.
    pub(crate) fn of(inner: &Arc<ScalarUDF>, limits: &Limits) -> Option<Arc<ScalarUDF>> {
        let function: &dyn Any = inner.inner().as_ref();
        let is_done = function.is::<Self>() || inner.as_async().is_some();
        (!is_done && !KNOWN_BY_TYPE.contains(&inner.name())).then(|| {
            Arc::new(ScalarUDF::new_from_impl(Self {
                inner: Arc::clone(inner),
                measure: Measure::of(inner.name()),
                limits: limits.clone(),
            }))
        })
    }

    /// Returns an operator over its operands, with limits.
    pub(crate) fn call(op: Operator, operands: Vec<Expr>, limits: &Limits) -> Expr {
        let inner = Arc::new(ScalarUDF::new_from_impl(Binary::new(op)));
        Expr::ScalarFunction(ScalarFunction {
            func: Self::of(&inner, limits).unwrap_or(inner),
            args: operands,
        })
    }

    /// Returns `true` if a call is within all limits even if all rows were the longest one.
    // Most calls are, and the longest row is found sooner than the sum of all.
    fn is_small(&self, given: &CallArguments) -> bool {
        let longest = given.longest();
        let rows = given.rows as u128;
        !self.measure.has_size()
            && longest.bytes(0).saturating_mul(rows) <= SLICE_BYTES
            && self.measure.steps(&longest, 0).saturating_mul(rows) <= SLICE_STEPS
    }

    /// Computes the rows slice by slice.
    fn in_slices(&self, args: &ScalarFunctionArgs, given: &CallArguments) -> Result<ColumnarValue> {
        let mut parts = Vec::new();
        let mut from = 0;
        let mut bytes = 0_u128;
        while from < given.rows {
            self.limits.stop.check()?;
            let slice = self.slice(given, from)?;
            let rows = slice.len();
            let value = self.inner.inner().invoke_with_args(sliced(args, &slice))?;
            let part = value.into_array(rows)?;
            bytes = bytes.saturating_add(part.get_array_memory_size() as u128);
            from = slice.end;
            // What all rows would take, as the ones before.
            let all = bytes * given.rows as u128 / from as u128;
            self.limits.batch(self.name(), given.rows, all)?;
            parts.push(part);
        }
        let parts: Vec<_> = parts.iter().map(AsRef::as_ref).collect();
        Ok(ColumnarValue::Array(concat(&parts)?))
    }

    /// Returns the rows from one on that are computed without a pause: at least one.
    fn slice(&self, given: &CallArguments, from: usize) -> Result<Range<usize>> {
        let mut steps = 0;
        let mut bytes = 0;
        for row in from..given.rows {
            steps += self.steps(given, row)?;
            bytes += given.bytes(row);
            if row > from && (steps > SLICE_STEPS || bytes > SLICE_BYTES) {
                return Ok(from..row);
            }
        }
        Ok(from..given.rows)
    }

    /// Returns the steps for a row.
    fn steps(&self, given: &CallArguments, row: usize) -> Result<u128> {
        let steps = self.measure.steps(given, row);
        if steps > MAX_STEPS {
            return Err(DataFusionError::External(Box::new(TooLong {
                name: self.name().to_owned(),
                steps,
                limit: MAX_STEPS,
            })));
        }
        Ok(steps)
    }

    /// Checks the size of the values before they are made.
    fn check_size(&self, given: &CallArguments, returns: &DataType) -> Result<()> {
        let mut bytes = 0_u128;
        let mut longest = 0;
        for row in 0..given.rows {
            let size = self.measure.size(given, row, returns);
            bytes = size.saturating_add(bytes);
            longest = size.max(longest);
        }
        if is_text(returns) {
            self.limits.made(self.name(), longest)?;
        } else {
            self.limits.batch(self.name(), 1, longest)?;
        }
        self.limits.batch(self.name(), given.rows, bytes)
    }
}

/// Returns the arguments for some rows.
fn sliced(args: &ScalarFunctionArgs, rows: &Range<usize>) -> ScalarFunctionArgs {
    let columns = args.args.iter().map(|argument| match argument {
        ColumnarValue::Array(column) => ColumnarValue::Array(column.slice(rows.start, rows.len())),
        ColumnarValue::Scalar(value) => ColumnarValue::Scalar(value.clone()),
    });
    ScalarFunctionArgs {
        args: columns.collect(),
        number_rows: rows.len(),
        ..args.clone()
    }
}

fn is_text(kind: &DataType) -> bool {
    kind.is_string() || kind.is_binary()
}

#[warn(clippy::missing_trait_methods)]
impl ScalarUDFImpl for Bounded {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        self.limits.stop.check()?;
        let Some(given) = self.measure.given(&args)? else {
            return self.inner.inner().invoke_with_args(args);
        };
        if self.is_small(&given) {
            return self.inner.inner().invoke_with_args(args);
        }
        self.check_size(&given, args.return_field.data_type())?;
        for length in given.texts() {
            self.limits.given(self.name(), length)?;
        }
        if self.slice(&given, 0)?.len() == given.rows {
            return self.inner.inner().invoke_with_args(args);
        }
        self.in_slices(&args, &given)
    }

    fn with_updated_config(&self, config: &ConfigOptions) -> Option<ScalarUDF> {
        let inner = self.inner.inner().with_updated_config(config)?;
        Some(ScalarUDF::new_from_impl(Self {
            inner: Arc::new(inner),
            measure: self.measure,
            limits: self.limits.clone(),
        }))
    }

    fn display_name(&self, args: &[Expr]) -> Result<String> {
        #[expect(deprecated, reason = "the engine still calls it")]
        self.inner.inner().display_name(args)
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        self.inner.inner().schema_name(args)
    }

    fn is_nullable(&self, args: &[Expr], schema: &dyn ExprSchema) -> bool {
        #[expect(deprecated, reason = "the engine still calls it")]
        self.inner.inner().is_nullable(args, schema)
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

    fn is_strict(&self) -> bool {
        self.inner.inner().is_strict()
    }

    fn simplify(&self, args: Vec<Expr>, info: &SimplifyContext) -> Result<ExprSimplifyResult> {
        self.inner.inner().simplify(args, info)
    }

    fn preimage(
        &self,
        args: &[Expr],
        literal: &Expr,
        info: &SimplifyContext,
    ) -> Result<PreimageResult> {
        self.inner.inner().preimage(args, literal, info)
    }

    fn conditional_arguments<'a>(
        &self,
        args: &'a [Expr],
    ) -> Option<(Vec<&'a Expr>, Vec<&'a Expr>)> {
        self.inner.inner().conditional_arguments(args)
    }

    fn short_circuits(&self) -> bool {
        self.inner.inner().short_circuits()
    }

    fn evaluate_bounds(&self, input: &[&Interval]) -> Result<Interval> {
        self.inner.inner().evaluate_bounds(input)
    }

    fn propagate_constraints(
        &self,
        interval: &Interval,
        inputs: &[&Interval],
    ) -> Result<Option<Vec<Interval>>> {
        self.inner.inner().propagate_constraints(interval, inputs)
    }

    fn struct_field_mapping(&self, literals: &[Option<ScalarValue>]) -> Option<StructFieldMapping> {
        self.inner.inner().struct_field_mapping(literals)
    }

    fn output_ordering(&self, inputs: &[ExprProperties]) -> Result<SortProperties> {
        self.inner.inner().output_ordering(inputs)
    }

    fn preserves_lex_ordering(&self, inputs: &[ExprProperties]) -> Result<bool> {
        self.inner.inner().preserves_lex_ordering(inputs)
    }

    fn strictly_order_preserving(&self, inputs: &[ExprProperties]) -> Result<bool> {
        self.inner.inner().strictly_order_preserving(inputs)
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.inner().coerce_types(arguments)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner.documentation()
    }

    fn placement(&self, args: &[ExpressionPlacement]) -> ExpressionPlacement {
        self.inner.inner().placement(args)
    }
}

impl PartialEq for Bounded {
    fn eq(&self, other: &Self) -> bool {
        self.inner == other.inner
    }
}

impl Eq for Bounded {}

impl Hash for Bounded {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.inner.hash(state);
    }
}

impl Debug for Bounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
