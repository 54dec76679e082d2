//! Findings of rules, which are not in any event.

use crate::declared::sums;
use crate::import::pipeline::Declaration;
use crate::out::write_all;
use crate::sink::{Sink, SinkError};
use crate::table::{Finding, Row, RuleOutcome};

/// Written by a program that can evaluate rules, after the extract of the trace.
pub(crate) const DECLARATION: Declaration = Declaration {
    tables: &[sums(Finding::TABLE), sums(RuleOutcome::TABLE)],
    ..Declaration::EMPTY
};

/// Writes the rows of both tables.
///
/// # Errors
/// The errors of the sink.
pub fn write(
    findings: Vec<Finding>,
    outcomes: Vec<RuleOutcome>,
    sink: &mut dyn Sink,
) -> Result<(), SinkError> {
    write_all(findings, sink)?;
    write_all(outcomes, sink)
}
