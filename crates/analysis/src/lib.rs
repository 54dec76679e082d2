//! Waits, their ends and their durations; chains of waits down to their root; critical paths;
//! regions of interest.
//!
//! Everything is computed on the tables of an extract, through a [`Session`](etwkit_sql::Session)
//! over one extract. A question is a request type and its answer typed rows, the same for every
//! front end. `docs/waits.md` and `docs/regions.md` define each number.

#![forbid(unsafe_code)]

pub mod chain;
pub mod diagnose;
pub mod diff;
mod duration;
pub mod explain;
pub mod overhead;
mod page;
pub mod path;
pub mod questions;
pub mod region;
mod root;
mod root_rows;
mod slice;
mod stacks;
mod threads;
mod time_line;
mod trace_end;
pub mod wait;

pub use page::page_begins;
pub use root::RootKind;
pub use stacks::{StackText, Stacks};

/// Result of this crate: a question without an answer returns the same errors as a dump.
pub type Result<T> = etwkit_question::Result<T>;
