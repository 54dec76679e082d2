//! The outermost frames of a stack.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, Int32Array};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::logical_expr::ScalarUDF;

use super::Reference;
use super::stacks::{StackArguments, of_stacks};
use crate::frames::{Frames, Loader};

/// Name of the function.
pub(super) const ROOT: &str = "stack_root";

pub(super) const REFERENCE: Reference = Reference {
    name: ROOT,
    call: "stack_root([trace_id,] stack_id, frames)",
    returns: "Int32",
    doc: "The outermost frames of the stack, so many of them, as a stack: of the stacks that start with the same methods, the one with \
          the smallest number, so that rows can be grouped by it. A stack with fewer frames is taken as a whole. A session over \
          several extracts needs `trace_id`. Null for a stack that is not there, and for less than one frame.",
    example: "SELECT stack_root(NULL, 3)",
    answer: "-",
};

pub(super) fn root(loader: Arc<Loader>, is_several: bool) -> ScalarUDF {
    let last = ("frames", DataType::Int64);
    of_stacks(
        ROOT,
        last,
        DataType::Int32,
        loader,
        is_several,
        0,
        |frames, arguments| Ok(Arc::new(roots(frames, arguments)) as ArrayRef),
    )
}

/// Returns the outermost frames of the stack of each row.
fn roots(frames: &Frames, arguments: &StackArguments<'_>) -> Int32Array {
    let rows = arguments
        .stacks()
        .zip(arguments.last.as_primitive::<Int64Type>());
    rows.map(|((trace_id, stack_id), count)| {
        // Numbers above the range of depths mean the whole stack, so they are clamped and not
        // refused.
        let count = u32::try_from(count?.clamp(0, u32::MAX.into()))
            .ok()
            .filter(|count| *count > 0)?;
        frames.trace(trace_id?)?.rooted().root(stack_id?, count)
    })
    .collect()
}
