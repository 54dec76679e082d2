//! Cuts event traces: a part of the time, of the processes or of the providers, merged or redacted.
//!
//! ```text
//! Session ─► plan: which events the part needs ─► write: kept events, as they were, into a new trace
//! ```
//!
//! What is kept stays as it was logged, at its own time. Beside the events of the part these are those that
//! describe others, and those that say how things stood when the part began; a mark
//! ([`etwkit_decode::cut_mark`]) says to readers what the part is, so that its numbers are those of `--range`
//! on the whole.
//!
//! This crate knows no SQL.

#![forbid(unsafe_code)]

mod args;
mod began;
mod chosen;
mod cut;
mod describing;
mod fate;
mod losses;
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

pub use args::CutArgs;
pub use chosen::Choice;
pub use cut::{Cut, CutError, OnProgress, Options, cut};
pub use fate::Fate;
pub use report::{json, lines};
pub use run::{Asks, Done, FindRange, run};
