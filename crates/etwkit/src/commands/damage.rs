//! Faults of a trace, which every command that reads one reports.

use etwkit_engine::Gaps;
use etwkit_extract::Input;
use etwkit_terminal::{Table, WriteError};
use etwkit_trace::report::damage::{DamagePlace, DamageReport};
use etwkit_trace::table::Diagnostic;

use super::labels;
use crate::printer::{Printer, grouped};

/// Number of places that the text names. JSON has the first hundred.
const SHOWN_PLACES: usize = 5;

/// Returns the gaps of the trace.
pub(crate) fn gaps(input: &Input, health: &[Diagnostic]) -> Gaps {
    Gaps::of_trace(&labels(input).join(" "), health)
}

/// Text for a trace without damage whose every event was read.
pub(crate) const NONE: &str = "none";

/// Prints the last section of a text; `none` describes the extent of the check if nothing is wrong.
pub(crate) fn print(
    printer: &mut Printer<'_>,
    input: &Input,
    damage: &DamageReport,
    none: &str,
) -> Result<(), WriteError> {
    printer.heading("Damage")?;
    if damage.is_empty() {
        return printer.line(&format!("  {none}"));
    }
    let rows = damage.counts.iter().map(|count| {
        [
            count.kind.to_owned(),
            grouped(count.places),
            grouped(count.bytes),
            count.meaning.to_owned(),
        ]
    });
    printer.table(&Table::of("kind|places>|bytes>|meaning", rows))?;
    for place in damage.first_places.iter().take(SHOWN_PLACES) {
        let DamagePlace {
            kind,
            offset,
            bytes,
            ..
        } = place;
        let file = input
            .parts()
            .get(place.file)
            .map_or_else(String::new, etwkit_extract::SessionFile::label);
        printer.line(&format!(
            "  {kind} at offset {offset:#x} of {file}: {} bytes",
            grouped(*bytes)
        ))?;
    }
    let places: u64 = damage.counts.iter().map(|count| count.places).sum();
    match places.saturating_sub(SHOWN_PLACES as u64) {
        0 => Ok(()),
        more => printer.line(&format!("  and {} more places", grouped(more))),
    }
}
