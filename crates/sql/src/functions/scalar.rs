//! A function of one value for each row, as the engine calls it.

use std::fmt::{self, Debug};
use std::hash::{Hash, Hasher};

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

/// The types that arguments of found types are converted to.
type Coerce = dyn Fn(&[DataType]) -> Result<Vec<DataType>> + Send + Sync;

/// Computes a column from columns of the same length.
type Compute = dyn Fn(&[ArrayRef]) -> Result<ArrayRef> + Send + Sync;

/// A function of one value for each row as the engine calls it.
pub(crate) struct Scalar {
    name: &'static str,
    returns: DataType,
    /// Address of the data that it computes with in addition to its arguments: with other data it
    /// is another function.
    place: usize,
    signature: Signature,
    coerce: Box<Coerce>,
    compute: Box<Compute>,
}

impl Scalar {
    /// Creates a function that depends on its arguments, and on the data at an address, if that is
    /// not 0.
    pub(crate) fn new(
        name: &'static str,
        returns: DataType,
        place: usize,
        coerce: impl Fn(&[DataType]) -> Result<Vec<DataType>> + Send + Sync + 'static,
        compute: impl Fn(&[ArrayRef]) -> Result<ArrayRef> + Send + Sync + 'static,
    ) -> Self {
        let signature = Signature::user_defined(Volatility::Immutable);
        Self {
            name,
            returns,
            place,
            signature,
            coerce: Box::new(coerce),
            compute: Box::new(compute),
        }
    }

    /// Marks the function as stable: its tables stay the same while a question is answered, and
    /// were read before the first call.
    pub(super) fn stable(self) -> Self {
        Self {
            signature: Signature::user_defined(Volatility::Stable),
            ..self
        }
    }
}

impl ScalarUDFImpl for Scalar {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        (self.coerce)(arguments)
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(self.returns.clone())
    }

    /// Computes a column, or one value if the arguments are the same for all rows.
    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let (columns, is_one) = columns(&args)?;
        let column = (self.compute)(&columns)?;
        if is_one {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(
                &column, 0,
            )?));
        }
        Ok(ColumnarValue::Array(column))
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        (self.name, self.place) == (other.name, other.place)
    }
}

impl Eq for Scalar {}

impl Hash for Scalar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // The name alone is enough: equal functions have equal names, and few share one.
        self.name.hash(state);
    }
}

impl Debug for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Returns the arguments as columns of the same length, and whether that is one row for all, since
/// each argument is the same for all rows.
fn columns(args: &ScalarFunctionArgs) -> Result<(Vec<ArrayRef>, bool)> {
    let is_one = args
        .args
        .iter()
        .all(|argument| matches!(argument, ColumnarValue::Scalar(_)));
    let rows = if is_one { 1 } else { args.number_rows };
    let columns = args
        .args
        .iter()
        .map(|argument| argument.to_array(rows))
        .collect::<Result<_>>()?;
    Ok((columns, is_one))
}

/// Returns the arguments as an array of fixed length.
pub(crate) fn arguments<T, const N: usize>(columns: &[T]) -> Result<&[T; N]> {
    columns
        .try_into()
        .map_err(|_| DataFusionError::Internal(format!("expected {N} arguments")))
}
