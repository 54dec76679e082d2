//! Tables of Windows Performance Analyzer as files of CSV, as its exporter writes them.
//!
//! ```text
//! profile ─► presets ─► plan: one SELECT over the tables of an extract ─► file of CSV
//!               ▲
//!            catalog: GUIDs of graphs and columns → tables and SQL
//! ```
//!
//! - `profile`: reads profiles
//! - [`catalog`]: the graphs and columns that can be written
//! - `words`, `filter`: the query language of filters, and its SQL
//! - `plan`, `rows`: a preset as SQL, and its rows as text
//! - `names`: names of files
//! - `part`, `regions`: the part of the trace to write
//! - `args`, `line`, `command`: the command line of etwkit, the one of `wpaexporter`, and their
//!   common work
//!
//! Graphs and columns of a profile that are not in the catalog are reported with their GUIDs, never
//! silently skipped.

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
pub use etwkit_sql::xml::FileError;
pub use format::Unit;
pub use front::ExportFrontEnd;
pub use line::{Does, ExporterLine, OPTIONS, Opt, Takes};
pub use part::{Part, View};
pub use plan::{OutputColumn, Plan, plan};
pub use profile::{Aggregation, ColumnOption, Preset, PresetColumn, Profile};
pub use shipped::{SHIPPED, Shipped};
