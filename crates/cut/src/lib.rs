//! Cuts event traces: a part of the time, of the processes or of the providers, merged or redacted.
//!
//! ```text
//! Session ─► plan: events that the part needs ─► write: kept events, unchanged, into a new trace
//! ```
//!
//! Kept events stay as they were logged, at their own time. In addition to the events of the part,
//! these are events that describe others, and events that describe the state when the part starts.
//! A mark ([`etwkit_decode::cut_mark`]) gives readers the bounds of the part, so that its numbers
//! are the same as with `--range` on the whole trace.
//!
//! This crate does not depend on SQL.

#![forbid(unsafe_code)]

mod args;
mod began;
mod columns;
mod cut;
mod describing;
mod event_choice;
mod fate;
mod losses;
pub mod map;
mod needed;
mod pairs;
mod part;
mod plan;
mod redact;
mod report;
mod run;
mod stack_keys;
mod switches;
mod write;

pub use args::{CutArgs, RedactWhat};
pub use cut::{Cut, CutError, OnProgress, Options, cut};
pub use event_choice::Choice;
pub use fate::Fate;
pub use redact::{KeptTexts, Reason, Redaction, Substitute};
pub use report::{checked_json, checked_lines, json, lines};
pub use run::{ArgumentParsers, CutOutcome, FindRange, OutFiles, check, run};
pub use write::CUT_NAME;
