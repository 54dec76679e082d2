//! Writes what an extract holds in formats of other programs, one file for each format.
//!
//! Numbers are those of the dumps: the same requests are asked, and tables are read, never events. Whoever
//! calls decides where the bytes go.

#![forbid(unsafe_code)]

mod error;
mod folded;
mod profile;
mod speedscope;
mod stacks;

pub use error::{Error, Result};
pub use profile::{ExportRequest, Format, Head, Samples, Written};

/// All formats, in the order in which help lists them; the first one is written where none is asked for.
pub static FORMATS: &[&dyn Format] = &[&speedscope::Speedscope, &folded::Folded];

/// The format of that name.
#[must_use]
pub fn format(name: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}
