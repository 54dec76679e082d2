//! Stacks of waits as text, reduced to the meaningful frames.

use std::sync::Arc;

use etwkit_sql::Session;
use etwkit_sql::frames::{Frames, TraceFrames};

use crate::Result;

/// Default number of frames of a stack that are shown.
const SHOWN: usize = 4;

/// Modules in the stack of every wait.
const PLUMBING: &[&str] = &[
    "ntoskrnl.exe",
    "ntkrnlmp.exe",
    "ntkrnlpa.exe",
    "ntkrpamp.exe",
    "hal.dll",
    "ntdll.dll",
];
/// Prefixes of their functions that switch threads or enter the kernel.
const INTERNAL: &[&str] = &[
    "Ki",
    "Ke",
    "Swap",
    "Ex",
    "Ob",
    "NtWait",
    "ZwWait",
    "NtDelay",
    "ZwDelay",
    "NtSignal",
    "ZwSignal",
    "NtRemoveIoCompletion",
    "ZwRemoveIoCompletion",
    "NtAlpc",
    "ZwAlpc",
    "Alpc",
    "Rtlp",
    "Rtl",
];
/// Modules through which 32-bit programs enter the kernel.
const THUNKS: &[&str] = &["wow64.dll", "wow64cpu.dll", "wow64win.dll", "wow64base.dll"];

/// Formats stacks.
#[derive(Debug, Clone)]
pub struct StackText {
    frames: Arc<Frames>,
}

impl StackText {
    /// Reads frames and stacks of the session.
    ///
    /// # Errors
    /// Reading them fails.
    pub fn new(session: &Session) -> Result<Self> {
        Ok(Self {
            frames: session.frames()?,
        })
    }

    /// Returns all frames of a stack, `module!method`, innermost first.
    #[must_use]
    pub fn all(&self, stack_id: i64) -> Vec<String> {
        let Some((trace, frames)) = self.frames_of(stack_id) else {
            return Vec::new();
        };
        frames.into_iter().map(|frame| trace.text(frame)).collect()
    }

    /// Returns all frames of a stack, or the meaningful ones.
    #[must_use]
    pub fn shown(&self, stack_id: i64, all: bool) -> Vec<String> {
        if all {
            self.all(stack_id)
        } else {
            self.some(stack_id)
        }
    }

    /// Returns the innermost few meaningful frames: frames of the scheduler and of entering the
    /// kernel are skipped at the inner end, as long as others remain.
    #[must_use]
    pub fn some(&self, stack_id: i64) -> Vec<String> {
        let Some((trace, frames)) = self.frames_of(stack_id) else {
            return Vec::new();
        };
        // A stack without other frames is shown from its inner end: anything is better than an
        // empty line.
        let has_others = frames.iter().any(|frame| !is_plumbing(trace, *frame));
        frames
            .iter()
            .skip_while(|frame| has_others && is_plumbing(trace, **frame))
            .take(SHOWN)
            .map(|frame| trace.text(*frame))
            .collect()
    }

    /// Returns `true` if a method of a stack has one of these names.
    pub(crate) fn has_method(&self, stack_id: i32, names: &[&str]) -> bool {
        let Some((trace, frames)) = self.frames_of(stack_id.into()) else {
            return false;
        };
        frames.into_iter().any(|frame| {
            trace
                .method(frame)
                .is_some_and(|method| names.contains(&method))
        })
    }

    /// Returns the text of a single frame.
    pub(crate) fn frame(&self, frame_id: i64) -> Option<String> {
        let text = self.frames.trace(0)?.text(i32::try_from(frame_id).ok()?);
        (!text.is_empty()).then_some(text)
    }

    fn frames_of(&self, stack_id: i64) -> Option<(&TraceFrames, Vec<i32>)> {
        let trace = self.frames.trace(0)?;
        Some((trace, trace.stack(i32::try_from(stack_id).ok()?).collect()))
    }
}

etwkit_question::declare! {
    /// The stacks of a wait as text.
    pub row Stacks {
        stack: Option<String> =
            "Frames of the stack with which the thread was switched in, innermost first, separated by ` < `.",
        readying_stack: Option<String> = "Frames of the stack that made it ready, likewise.",
    }
}

impl Stacks {
    /// Formats the stack of the switch-in and the one that made the thread ready: all frames, or
    /// the meaningful ones.
    #[must_use]
    pub fn of(text: &StackText, all: bool, (stack, readying): (Option<i64>, Option<i64>)) -> Self {
        let frames = |id: Option<i64>| {
            id.map(|id| text.shown(id, all).join(" < "))
                .filter(|frames| !frames.is_empty())
        };
        Self {
            stack: frames(stack),
            readying_stack: frames(readying),
        }
    }
}

fn is_plumbing(trace: &TraceFrames, frame: i32) -> bool {
    let Some(module) = trace.module(frame) else {
        return false;
    };
    let is_in = |list: &[&str]| list.iter().any(|name| name.eq_ignore_ascii_case(module));
    // Without symbols there is no name to judge by, and an offset in the kernel is useless to a
    // reader.
    let is_internal = trace
        .method(frame)
        .is_none_or(|method| INTERNAL.iter().any(|begin| method.starts_with(begin)));
    is_in(THUNKS) || (is_in(PLUMBING) && is_internal)
}
