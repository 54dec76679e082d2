//! Writes what an extract holds in formats of other programs, one file for each format.
//!
//! Numbers are those of the dumps: the same requests are asked, and tables are read, never events. Whoever calls decides where the bytes go.

#![forbid(unsafe_code)]

mod error;
pub mod speedscope;
mod stacks;

pub use error::{Error, Result};
