//! The commands that need no trace: `record`, `run` and `lab`, for every program that has them.
//!
//! ```text
//! arguments ─► record / run / lab of their crates ─► Front: lines, notes, JSON, files of the program
//! ```
//!
//! They are those of `etwkit` and of `etwkit-recorder`, a small program for the machine that is
//! recorded: it has no query engine, so that it is built and copied quickly.

#![forbid(unsafe_code)]

mod front;
mod here;
mod lab;
mod plain;
mod run;

pub use front::Front;
pub use here::Here;
pub use lab::lab;
pub use plain::Plain;
pub use run::run;
