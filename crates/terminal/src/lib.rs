//! What every command line of the project prints with: [`Lines`] of text and [`Table`]s, [`errors`] with
//! their hints, the [`Exit`] code and what Ctrl-C does ([`interrupt`]). All of it is escaped ([`escape`])
//! before it is aligned and coloured ([`style`]), so that nothing which a file contains reaches a terminal as
//! it is. Options that people give every time stand in a file ([`config`]).
//!
//! It knows no question and no trace: commands that record or run something print as those that ask do.

#![forbid(unsafe_code)]

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

pub use exit::Exit;
pub use lines::{Lines, WriteError};
pub use table::{Align, Table, TableLine, csv_cell, push_cell};
