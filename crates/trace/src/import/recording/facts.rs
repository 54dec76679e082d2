//! Facts about the machine from a file next to the trace.

use crate::declared::sums;
use crate::import::pipeline::Declaration;
use crate::out::write_all;
use crate::sink::{Sink, SinkError};
use crate::table::{MachineFact, Row};

/// Written by the code that finds the file.
pub(crate) const DECLARATION: Declaration = Declaration {
    tables: &[sums(MachineFact::TABLE)],
    ..Declaration::EMPTY
};

/// Writes the rows of the table.
///
/// # Errors
/// The errors of the sink.
pub fn write(facts: Vec<MachineFact>, sink: &mut dyn Sink) -> Result<(), SinkError> {
    write_all(facts, sink)
}
