//! The commands that need no trace: `record`, `run` and `lab`, for every program that offers them.
//!
//! ```text
//! arguments ─► record / run / lab of their crates ─► Front: lines, notes, JSON, files of the program
//! ```
//!
//! Both `etwkit` and `etwkit-recorder` use them. The latter is a small program for the recorded
//! machine: it has no query engine, so it can be built and copied quickly.

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
