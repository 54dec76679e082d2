//! Output of every command line of the project: [`Lines`] of text and [`Table`]s, [`errors`] with
//! their hints, the [`Exit`] code and the handling of Ctrl-C ([`interrupt`]). All text is escaped
//! ([`escape`]) before it is aligned and colored ([`style`]), so no content of a file reaches a
//! terminal unescaped. Options that a user would otherwise repeat are in a configuration file
//! ([`config`]).
//!
//! This crate does not depend on questions or traces: commands that record or run something print
//! in the same way as commands that query.

#![forbid(unsafe_code)]

mod command_output;
pub mod config;
pub mod errors;
pub mod escape;
mod exit;
pub mod interrupt;
mod lines;
pub mod style;
mod table;

/// Version of the JSON that commands print: changes when a key changes its meaning or goes away.
pub const FORMAT_VERSION: u32 = 1;

pub use command_output::CommandOutput;
pub use exit::Exit;
pub use lines::{Lines, WriteError};
pub use table::{Align, Table, TableLine, csv_cell, push_cell};
