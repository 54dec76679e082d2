//! SQL functions of this project. Each one is declared once, with its reference and an example that
//! a test runs.

mod bounded;
mod collected;
mod fields;
mod matching;
mod measure;
mod names;
pub(crate) mod operator;
pub(crate) mod scalar;
mod stack_root;
mod stacks;
mod tags;
mod times;
mod union_duration;

pub(crate) use bounded::Bounded;
pub(crate) use measure::widest;
pub(crate) use names::lists_of_names;
pub use names::wait_reason_name;
pub(crate) use scalar::{Scalar, arguments};
pub use tags::default_tags;
pub(crate) use tags::tag;

use std::sync::Arc;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::DataType;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{AggregateUDF, ScalarUDF};

use crate::frames::Loader;
use crate::parameters::type_in_words;

/// The entry of a function in the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference {
    /// Name.
    pub name: &'static str,
    /// Its call: `name(argument, …)`.
    pub call: &'static str,
    /// Type of its value.
    pub returns: &'static str,
    /// Its description.
    pub doc: &'static str,
    /// A question that needs no table of an extract.
    pub example: &'static str,
    /// The answer to it.
    pub answer: &'static str,
}

/// `union_duration`, which is an aggregate.
const UNION_DURATION: Reference = Reference {
    name: "union_duration",
    call: "union_duration(start_ns, end_ns)",
    returns: "Int64",
    doc: "Aggregate: nanoseconds in which at least one of the intervals lasts. Intervals without start or end, and those that \
          end before they start, are left out; null if none is left.",
    example: "SELECT union_duration(s, e) FROM (VALUES (0, 10), (5, 20), (30, 40)) AS t(s, e)",
    answer: "30",
};

/// Returns all functions, in the order of the reference.
#[must_use]
pub fn references() -> Vec<Reference> {
    let scalar = groups().flatten().map(Function::reference);
    let of_stacks = [stacks::REFERENCE, stack_root::REFERENCE, tags::REFERENCE];
    std::iter::once(UNION_DURATION)
        .chain(scalar)
        .chain(of_stacks)
        .collect()
}

fn groups() -> impl Iterator<Item = &'static [Function]> {
    [
        matching::FUNCTIONS,
        times::FUNCTIONS,
        names::FUNCTIONS,
        fields::FUNCTIONS,
    ]
    .into_iter()
}

/// Returns the functions whose values depend on their arguments alone.
pub(crate) fn pure() -> impl Iterator<Item = ScalarUDF> {
    groups().flatten().map(Function::scalar)
}

/// Returns the functions of one value for each row. Functions of stacks look frames up in the
/// session.
pub(crate) fn scalar(loader: &Arc<Loader>, is_several: bool) -> Vec<ScalarUDF> {
    let contains = stacks::contains(loader.clone(), is_several);
    let root = stack_root::root(loader.clone(), is_several);
    pure()
        .chain([
            contains,
            root,
            tag(loader.clone(), is_several, Arc::new([])),
        ])
        .collect()
}

/// Returns the aggregates, and those of the engine that need limits; `find` returns the original
/// ones.
pub(crate) fn aggregates(
    memory_bytes: usize,
    find: impl Fn(&str) -> Option<Arc<AggregateUDF>>,
) -> Vec<AggregateUDF> {
    let bounded = |name| Some(collected::Collected::function(find(name)?, memory_bytes));
    std::iter::once(union_duration::udaf())
        .chain(collected::NAMES.into_iter().filter_map(bounded))
        .collect()
}

/// Returns `true` if a function looks frames up, which have to be read before.
pub(crate) fn needs_frames(function: &ScalarUDF) -> bool {
    [stacks::CONTAINS, stack_root::ROOT, tags::TAG].contains(&function.name())
}

/// A function whose values depend only on its arguments.
struct Function {
    /// Its call: `name(argument, …)`.
    call: &'static str,
    /// Its description.
    doc: &'static str,
    /// A question that needs no table of an extract, and the answer to it.
    example: &'static str,
    answer: &'static str,
    /// Types of the arguments.
    arguments: &'static [DataType],
    returns: DataType,
    /// Computes a column from columns of the same length; it handles `null` arguments itself.
    compute: fn(&[ArrayRef]) -> Result<ArrayRef>,
}

impl Function {
    fn name(&self) -> &'static str {
        self.call
            .split_once('(')
            .map_or(self.call, |(name, _)| name)
    }

    fn reference(&self) -> Reference {
        let Self {
            call,
            doc,
            example,
            answer,
            ..
        } = *self;
        let returns = match self.returns {
            DataType::Boolean => "Boolean",
            DataType::Float64 => "Float64",
            _ => "Utf8",
        };
        Reference {
            name: self.name(),
            call,
            returns,
            doc,
            example,
            answer,
        }
    }

    fn scalar(&'static self) -> ScalarUDF {
        let coerce = |found: &[DataType]| coerce(self.call, self.arguments, found);
        let function = Scalar::new(self.name(), self.returns.clone(), 0, coerce, self.compute);
        ScalarUDF::new_from_impl(function)
    }
}

/// Returns the declared types, if the found ones can be converted to them without a significant
/// loss.
fn coerce(call: &str, declared: &[DataType], found: &[DataType]) -> Result<Vec<DataType>> {
    let fits = |(declared, found): (&DataType, &DataType)| {
        // NULL matches every type: the engine casts it, and the function sees a missing value.
        found.is_null()
            || match declared {
                DataType::Utf8 => {
                    found.is_string()
                        || matches!(found, DataType::Dictionary(_, value) if value.is_string())
                }
                DataType::Float64 => found.is_numeric(),
                _ => found.is_integer(),
            }
    };
    if declared.len() == found.len() && declared.iter().zip(found).all(fits) {
        return Ok(declared.to_vec());
    }
    let types = |types: &[DataType]| {
        types
            .iter()
            .map(type_in_words)
            .collect::<Vec<_>>()
            .join(", ")
    };
    Err(DataFusionError::Plan(format!(
        "{call} expects {}, found {}",
        types(declared),
        types(found)
    )))
}
