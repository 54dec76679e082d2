//! Features of runs, which are not in any event.

use crate::declared::sums;
use crate::import::pipeline::Declaration;
use crate::out::write_all;
use crate::sink::{Sink, SinkError};
use crate::table::{Feature, Row};

/// Written by a program that can compute features, after the extract of the trace.
pub(crate) const DECLARATION: Declaration = Declaration {
    tables: &[sums(Feature::TABLE)],
    ..Declaration::EMPTY
};

/// Writes the rows of the table.
///
/// # Errors
/// The errors of the sink.
pub fn write(features: Vec<Feature>, sink: &mut dyn Sink) -> Result<(), SinkError> {
    write_all(features, sink)
}
