//! Operators of the engine as functions, so that they have the limits of functions.

use std::fmt::{self, Debug};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema};
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, Expr, Operator, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
    Signature, Volatility,
};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, Literal};

use crate::limits;
use crate::limits::Limits;

/// Returns `true` for operators whose values may be large, or that may take long.
pub(crate) fn is_bounded(op: Operator) -> bool {
    op == Operator::StringConcat || is_pattern(op)
}

fn is_pattern(op: Operator) -> bool {
    matches!(
        op,
        Operator::RegexMatch
            | Operator::RegexIMatch
            | Operator::RegexNotMatch
            | Operator::RegexNotIMatch
    )
}

/// An operator of two operands, whose types were found before.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Binary {
    op: Operator,
    name: String,
    signature: Signature,
}

impl Binary {
    pub(super) fn new(op: Operator) -> Self {
        Self {
            op,
            name: op.to_string(),
            signature: Signature::any(2, Volatility::Immutable),
        }
    }
}

impl ScalarUDFImpl for Binary {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    // The name of a column stays that of the operator.
    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        let [left, right] = super::arguments(args)?;
        let left = left.schema_name();
        let right = right.schema_name();
        Ok(format!("{left} {} {right}", self.op))
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        if is_pattern(self.op) {
            return Ok(DataType::Boolean);
        }
        let [left, right] = super::arguments(arguments)?;
        let fields = [("left", left), ("right", right)]
            .map(|(name, kind)| Field::new(name, kind.clone(), true));
        let schema = Schema::new(fields.to_vec());
        let operand =
            |at| -> Arc<dyn PhysicalExpr> { Arc::new(Column::new(schema.field(at).name(), at)) };
        BinaryExpr::new(operand(0), self.op, operand(1)).data_type(&schema)
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let fields = arguments.arg_fields;
        let kinds: Vec<_> = fields
            .iter()
            .map(|field| field.data_type().clone())
            .collect();
        let is_nullable = fields.iter().any(|field| field.is_nullable());
        let kind = self.return_type(&kinds)?;
        Ok(Arc::new(Field::new(self.name(), kind, is_nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [left, right] = super::arguments(&args.args)?;
        let mut fields = Vec::new();
        let mut columns = Vec::new();
        // A value that is the same for all rows stays one: an expression of it is compiled once.
        let mut place = |name: &str, operand: &ColumnarValue| match operand {
            ColumnarValue::Array(column) => {
                fields.push(Field::new(name, column.data_type().clone(), true));
                columns.push(Arc::clone(column));
                Arc::new(Column::new(name, columns.len() - 1)) as Arc<dyn PhysicalExpr>
            }
            ColumnarValue::Scalar(value) => Arc::new(Literal::new(value.clone())),
        };
        let left = place("left", left);
        let right = place("right", right);
        let options = RecordBatchOptions::new().with_row_count(Some(args.number_rows));
        let rows =
            RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)?;
        BinaryExpr::new(left, self.op, right).evaluate(&rows)
    }
}

/// The value of a subquery, which stands in every row of a batch.
pub(crate) struct OfSubquery {
    limits: Limits,
    signature: Signature,
}

impl OfSubquery {
    /// Returns a subquery as a value with limits.
    pub(crate) fn call(subquery: Expr, limits: &Limits) -> Expr {
        let function = Self {
            limits: limits.clone(),
            signature: Signature::any(1, Volatility::Stable),
        };
        ScalarUDF::new_from_impl(function).call(vec![subquery])
    }
}

impl ScalarUDFImpl for OfSubquery {
    fn name(&self) -> &'static str {
        "the value of a subquery"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        let [subquery] = super::arguments(args)?;
        Ok(subquery.schema_name().to_string())
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        let [kind] = super::arguments(arguments)?;
        Ok(kind.clone())
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let [field] = super::arguments(arguments.arg_fields)?;
        Ok(Arc::clone(field))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [value] = super::arguments(&args.args)?;
        if let ColumnarValue::Scalar(one) = value {
            let bytes = limits::size(one).saturating_mul(args.number_rows as u128);
            self.limits.batch(self.name(), args.number_rows, bytes)?;
        }
        Ok(value.clone())
    }
}

// The limits of a plan are those of one question.
impl PartialEq for OfSubquery {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for OfSubquery {}

impl Hash for OfSubquery {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl Debug for OfSubquery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
