//! The way of events to rows, the same for all importers.
//!
//! - `collect`: the first pass, which collects the meaning of names and addresses
//! - `second_pass`: reads events in order of time; `routes` finds the importer of each
//! - `context`, `line`, `arena`, `identity`: state shared by all importers; `actor` is for events of
//!   providers
//! - `row_sender`, `rows`, `waiting`, `stacks`, `nodes`: the path of rows to their stacks, on a second
//!   thread
//! - `columns`, `tables`: their path to the tables, on a third one

pub(super) mod actor;
pub(super) mod arena;
pub(super) mod clip;
pub(super) mod collect;
pub(super) mod columns;
pub(super) mod context;
pub(super) mod given;
pub(super) mod identity;
pub(super) mod importer;
pub(super) mod inline_stack;
pub(super) mod job;
pub(super) mod line;
pub(super) mod nodes;
pub(super) mod notes;
pub(super) mod range;
pub(super) mod routes;
pub(super) mod row_sender;
pub(super) mod rows;
pub(super) mod second_pass;
pub(super) mod stacks;
pub(super) mod tables;
pub(super) mod waiting;

// The names that most importers need.
pub(super) use actor::Actor;
pub(super) use context::Context;
pub(super) use identity::{Who, key};
pub(super) use importer::{Declaration, Importer, IsShown, Learned};
pub(super) use line::{Seq, StackSource};
pub(super) use range::Range;
pub(super) use waiting::Pending;
