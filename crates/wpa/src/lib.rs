//! Tables of Windows Performance Analyzer as files of CSV, as its exporter writes them.
//!
//! ```text
//! profile ─► presets ─► plan: one SELECT over the tables of an extract ─► file of CSV
//!               ▲
//!            catalog: GUIDs of graphs and columns → tables and SQL
//! ```
//!
//! - `profile`: reads what a profile shows
//! - [`catalog`]: the graphs and columns that can be written
//! - `words`, `filter`: the query language of filters, and its SQL
//! - `plan`, `rows`: a preset as SQL, and its rows as text
//! - `names`: what files are called
//! - `part`, `regions`: which part of the trace
//! - `args`, `line`, `command`: our own command line, that of `wpaexporter`, and what both do
//!
//! What a profile shows and the catalogue does not have is reported with its GUID, never passed over.

#![forbid(unsafe_code)]

mod args;
pub mod catalog;
mod command;
mod filter;
mod format;
mod front;
mod line;
mod names;
mod part;
mod plan;
mod profile;
mod regions;
mod rows;
mod shipped;
mod words;

pub use args::{LineArgs, ProfileArgs};
pub use command::{Output, export, wpaexporter};
pub use etwkit_query::xml::FileError;
pub use format::Unit;
pub use front::{Emitted, Front};
pub use line::{Does, ExporterLine, OPTIONS, Opt, Takes};
pub use part::{Part, View};
pub use plan::{Plan, Written, plan};
pub use profile::{Aggregation, ColumnOption, Preset, Profile, Shown};
pub use shipped::{SHIPPED, Shipped};
