//! Functions that look into stacks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Int32Array};
use datafusion::arrow::datatypes::{DataType, Int32Type};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::ScalarUDF;
use etwkit_base::lock::lock;

use super::{Reference, Scalar, coerce};
use crate::filter::TextFilter;
use crate::frames::{Frames, Loader, TraceFrames};

/// Name of the function.
pub(super) const CONTAINS: &str = "stack_contains";

/// Patterns whose stacks are remembered.
// More than the literals of a question; each remembered one has a byte for every stack.
const REMEMBERED: usize = 64;

pub(super) const REFERENCE: Reference = Reference {
    name: CONTAINS,
    call: "stack_contains([trace_id,] stack_id, pattern)",
    returns: "Boolean",
    doc: "Whether one frame of the stack matches the pattern of `wildcard_match`, by its text (as in `stack_text`) or by the name of \
          its method alone. `!` applies to single frames: to exclude stacks write NOT before the function. A session over \
          several extracts needs `trace_id`. Null for a stack that is not there.",
    example: "SELECT stack_contains(NULL, '*')",
    answer: "-",
};

pub(super) fn contains(loader: Arc<Loader>, is_several: bool) -> ScalarUDF {
    let known = Mutex::default();
    let last = ("pattern", DataType::Utf8);
    of_stacks(
        CONTAINS,
        last,
        DataType::Boolean,
        loader,
        is_several,
        0,
        move |frames, arguments| fits(&known, frames, arguments),
    )
}

/// Creates a function of a stack and a second argument; `last` is its name in the reference and its
/// type. `place` is the address of the data that the function uses in addition to the stacks of the
/// session.
pub(super) fn of_stacks(
    name: &'static str,
    last: (&'static str, DataType),
    returns: DataType,
    loader: Arc<Loader>,
    is_several: bool,
    place: usize,
    compute: impl Fn(&Frames, &StackArguments<'_>) -> Result<ArrayRef> + Send + Sync + 'static,
) -> ScalarUDF {
    // Tables of two sessions have different stacks: the address of its stacks identifies a
    // function.
    let place = if place == 0 {
        Arc::as_ptr(&loader).addr()
    } else {
        place
    };
    let coerce = move |found: &[DataType]| coerce_stack(name, &last, is_several, found);
    let compute = move |columns: &[ArrayRef]| {
        let frames = loader.loaded();
        let frames =
            frames.ok_or_else(|| DataFusionError::Internal("stacks were not read".to_owned()))?;
        compute(&frames, &StackArguments::of(columns)?)
    };
    ScalarUDF::new_from_impl(Scalar::new(name, returns, place, coerce, compute).stable())
}

/// The arguments of a function of stacks: in a session over several extracts the number of the
/// extract; a stack; and another argument.
pub(super) struct StackArguments<'a> {
    trace_ids: Option<&'a Int32Array>,
    stack_ids: &'a Int32Array,
    /// The last argument.
    pub(super) last: &'a ArrayRef,
}

impl<'a> StackArguments<'a> {
    fn of(columns: &'a [ArrayRef]) -> Result<Self> {
        let (trace_ids, stack_ids, last) = match columns {
            [stack_ids, last] => (None, stack_ids, last),
            [trace_ids, stack_ids, last] => {
                (Some(trace_ids.as_primitive::<Int32Type>()), stack_ids, last)
            }
            _ => {
                return Err(DataFusionError::Internal(
                    "expected 2 or 3 arguments".to_owned(),
                ));
            }
        };
        Ok(Self {
            trace_ids,
            stack_ids: stack_ids.as_primitive::<Int32Type>(),
            last,
        })
    }

    /// Returns extract and stack of each row.
    pub(super) fn stacks(&self) -> impl Iterator<Item = (Option<i32>, Option<i32>)> + '_ {
        let trace_id = |row: usize| match self.trace_ids {
            Some(ids) => ids.is_valid(row).then(|| ids.value(row)),
            // Without the argument there is one extract, whose number is 0.
            None => Some(0),
        };
        self.stack_ids
            .iter()
            .enumerate()
            .map(move |(row, stack_id)| (trace_id(row), stack_id))
    }
}

/// Returns the types of these arguments, of which the last one has a name.
fn coerce_stack(
    function: &str,
    (last, kind): &(&'static str, DataType),
    is_several: bool,
    found: &[DataType],
) -> Result<Vec<DataType>> {
    let several = [DataType::Int32, DataType::Int32, kind.clone()];
    // A session over one extract takes the number of the extract too, so that SQL written for
    // several runs there.
    if is_several || found.len() == several.len() {
        return coerce(
            &format!("{function}(trace_id, stack_id, {last})"),
            &several,
            found,
        );
    }
    coerce(
        &format!("{function}(stack_id, {last})"),
        &[DataType::Int32, kind.clone()],
        found,
    )
}

/// For each stack, whether it matches, by extract and pattern.
type FitsByPattern = HashMap<(i32, String), Arc<Vec<bool>>>;

/// Returns, for each stack of an extract, whether it matches a pattern.
fn stacks(
    known: &Mutex<FitsByPattern>,
    frames: &Frames,
    trace_id: i32,
    pattern: &str,
) -> Arc<Vec<bool>> {
    // Parallel parts of a question have the same patterns: the others wait for the first.
    let mut known = lock(known);
    // Patterns may come from a column with millions of texts. All are forgotten at once, since it
    // is not known which ones are needed again.
    if known.len() >= REMEMBERED && !known.contains_key(&(trace_id, pattern.to_owned())) {
        known.clear();
    }
    let fitting = || {
        Arc::new(
            frames
                .trace(trace_id)
                .map_or_else(Vec::new, |trace| fitting(trace, pattern)),
        )
    };
    known
        .entry((trace_id, pattern.to_owned()))
        .or_insert_with(fitting)
        .clone()
}

/// Returns, for each row, whether its stack matches its pattern.
fn fits(
    known: &Mutex<FitsByPattern>,
    frames: &Frames,
    arguments: &StackArguments<'_>,
) -> Result<ArrayRef> {
    let mut latest: Option<(i32, &str, Arc<Vec<bool>>)> = None;
    let rows = arguments.stacks().zip(arguments.last.as_string::<i32>());
    let answers = rows.map(|((trace_id, stack_id), pattern)| {
        let trace_id = trace_id?;
        let stack_id = usize::try_from(stack_id?).ok()?;
        let pattern = pattern?;
        let fitting = match &latest {
            // Adjacent rows mostly have the same pattern: then neither the lock nor the table is
            // needed.
            Some((trace, known, stacks)) if *trace == trace_id && *known == pattern => {
                stacks.clone()
            }
            _ => stacks(known, frames, trace_id, pattern),
        };
        let fits = fitting.get(stack_id).copied();
        latest = Some((trace_id, pattern, fitting));
        fits
    });
    Ok(Arc::new(answers.collect::<BooleanArray>()))
}

/// Returns, for each stack, whether one of its frames matches the pattern.
fn fitting(trace: &TraceFrames, pattern: &str) -> Vec<bool> {
    let filter = TextFilter::parse(pattern);
    trace.stacks_with(|frame_id| {
        filter.matches(Some(&trace.text(frame_id)))
            || trace
                .method(frame_id)
                .is_some_and(|method| filter.matches(Some(method)))
    })
}
