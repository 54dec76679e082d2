//! Frames of single stacks.

use etwkit_sql::frames::TraceFrames;

use crate::api::Call;
use crate::problem::{Problem, Result};
use crate::wire::{Frame, StackAnswer, StackRequest};

/// Largest number of stacks in an answer.
const MOST: usize = 64;

pub(crate) fn stack(call: &Call<'_>, request: &StackRequest) -> Result<StackAnswer> {
    if request.stacks.len() > MOST {
        return Err(Problem::bad(format!(
            "at most {MOST} stacks are answered at once"
        )));
    }
    let session = call.session(&*call.ready(request.trace)?)?;
    let frames = session.frames()?;
    let frames = frames
        .trace(0)
        .ok_or_else(|| Problem::internal("the extract has no stacks"))?;
    Ok(StackAnswer {
        stacks: request
            .stacks
            .iter()
            .map(|stack| named(frames, *stack))
            .collect(),
    })
}

/// Number of frames in the label of a stack.
const SHORT: usize = 4;

/// Returns the label of a stack: its innermost frames.
pub(crate) fn short(frames: &TraceFrames, stack: i32) -> String {
    let names: Vec<String> = frames
        .stack(stack)
        .take(SHORT)
        .map(|frame| frames.text(frame))
        .collect();
    names.join(" ← ")
}

/// Returns the frames of a stack, leaf first.
pub(crate) fn named(frames: &TraceFrames, stack: i32) -> Vec<Frame> {
    let frame = |frame| Frame {
        name: frames.text(frame),
        has_symbol: frames.method(frame).is_some(),
    };
    frames.stack(stack).map(frame).collect()
}
