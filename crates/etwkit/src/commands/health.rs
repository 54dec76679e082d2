//! Health of a session: completeness of its files, and mismatches between them.

use etwkit_terminal::{Table, WriteError};
use etwkit_trace::report::info::{FileHealth, Info, Misfit, OtherSession};

use crate::printer::{Printer, grouped};

/// Prints the section of `etwkit info`.
pub(super) fn print(info: &Info, printer: &mut Printer<'_>) -> Result<(), WriteError> {
    printer.heading("Health")?;
    let is_cut = info.completeness.cut_short.is_some();
    printer.table(&table(&info.completeness.files, is_cut))?;
    notes(info, printer)
}

/// Returns a table of lost and missing parts, file by file.
fn table(files: &[FileHealth], is_cut: bool) -> Table {
    let row = |file: &FileHealth| {
        let numbers = [
            file.events_lost.into(),
            file.buffers_lost.into(),
            file.buffers_in_file,
            file.missing_buffers,
        ];
        let [events_lost, buffers_lost, total, missing] = numbers.map(grouped);
        let closed = match (file.is_closed, is_cut && file.missing_buffers > 0) {
            (true, false) => "yes",
            (true, true) => "yes, but its end is missing",
            (false, _) => "no: stopped by a crash, copied while recording, or still running",
        };
        [
            file.file.clone(),
            events_lost,
            buffers_lost,
            total,
            missing,
            closed.to_owned(),
        ]
    };
    Table::of(
        "file|events lost>|buffers lost>|buffers>|missing>|closed",
        files.iter().map(row),
    )
}

/// Prints notes on the effect of these numbers on all other numbers.
fn notes(info: &Info, printer: &mut Printer<'_>) -> Result<(), WriteError> {
    let whole = &info.completeness;
    if info
        .recording
        .as_ref()
        .is_none_or(|recording| recording.events == 0)
    {
        printer.line("  no event could be read")?;
    }
    if whole
        .files
        .iter()
        .any(|file| file.events_lost > 0 || file.buffers_lost > 0)
    {
        printer.line("  events were lost while recording: counts and times here are too low")?;
    }
    if whole.missing_buffers > 0 {
        printer.line(
            "  missing: buffers that the trace header or the numbers of the others say there were; their \
             events are not here",
        )?;
    }
    if let Some(end) = &whole.cut_short {
        printer.line(&format!("  {end}"))?;
    }
    for part in &whole.parts {
        printer.line(&format!("  {part}"))?;
    }
    if let Some(start) = &whole.ring_start {
        printer.line(&format!("  {start}"))?;
    }
    if let Some(disagreement) = &whole.processors {
        printer.line(&format!("  {disagreement}"))?;
    }
    for OtherSession { file, why } in &info.files_of_other_sessions {
        let why = match why {
            Misfit::Boot => {
                "is of another machine or another boot than the first file: their times cannot be compared"
            }
            Misfit::Time => {
                "was recorded more than a minute before or after the first file: that is another session"
            }
        };
        printer.line(&format!("  {file} {why}"))?;
    }
    Ok(())
}
