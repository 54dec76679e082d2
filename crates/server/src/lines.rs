//! Values of declared questions: as cells with units, and as words in sentences.

use etwkit_question::numbers::Numbers;
use etwkit_question::text::Text;
use etwkit_question::{Format, Line, Piece, Value};
use etwkit_sql::time_format::{TimeFormat, TimeWriter, TraceClock};

use crate::cells::exact;
use crate::wire::Cell;

/// Digits of a second in sentences.
const DIGITS: u8 = 6;

/// Units at the end of titles, which the page formats itself.
const UNITS: [&str; 9] = ["ms", "us", "µs", "s", "MB", "kB", "MiB", "bytes", "MB/s"];

/// Returns the unit of the cells of a column.
pub(crate) const fn unit(format: Format) -> &'static str {
    match format {
        Format::Whole => "count",
        Format::Id | Format::Fixed(_) | Format::WholeOrFixed(_) => "number",
        Format::Milliseconds
        | Format::FineMilliseconds
        | Format::Microseconds
        | Format::WholeMicroseconds
        | Format::AmongMicroseconds
        | Format::Seconds(_)
        | Format::Length => "ns",
        // The value of a rate is its bytes in one second; the title names the second.
        Format::Megabytes
        | Format::Kilobytes
        | Format::Mebibytes
        | Format::Bytes
        | Format::PlainBytes
        | Format::Throughput => "bytes",
        Format::Moment | Format::LeftMoment => "time",
        Format::Word
        | Format::Process
        | Format::ProcessLine
        | Format::CommandLine
        | Format::Trace => "text",
    }
}

/// Returns a title without the unit at its end; empty if it is nothing but the unit. Cells of plain
/// numbers have no unit of their own, so their title keeps it.
pub(crate) fn title(words: &str, format: Format) -> String {
    let (front, last) = words.rsplit_once(' ').unwrap_or(("", words));
    let last = last.trim_matches(['[', ']', '(', ')']);
    if !UNITS.contains(&last) {
        return words.to_owned();
    }
    match unit(format) {
        "count" | "number" if front.is_empty() => words.to_owned(),
        "count" | "number" => format!("{front} ({last})"),
        "text" => words.to_owned(),
        _ if format == Format::Throughput => format!("{front} per s"),
        _ => front.to_owned(),
    }
}

/// Returns a value unformatted; the page formats it by its unit.
pub(crate) fn cell(text: &Text, format: Format, value: &Value) -> Cell {
    match value {
        Value::Missing => Cell::Missing(()),
        Value::Number(number) | Value::Moment(_, number) | Value::MomentOf(_, number) => {
            exact(*number)
        }
        Value::Float(number) if number.is_finite() => Cell::Number(*number),
        Value::Rate(bytes, ns) if *ns > 0 => Cell::Number(*bytes as f64 * 1e9 / *ns as f64),
        Value::Rate(..) => Cell::Missing(()),
        other => Cell::Text(text.value(format, other)),
    }
}

/// Returns a line with sizes in the unit that cells have on the page. The command line writes them
/// in the unit of its columns, which the page does not show.
pub(crate) fn with_units_of_cells(line: &Line) -> Line {
    let mut pieces: Vec<Piece> = Vec::with_capacity(line.pieces.len());
    for piece in &line.pieces {
        let unit = pieces.last().and_then(unit_after);
        let rest = match (piece, unit) {
            (Piece::Words(words), Some(unit)) => words.strip_prefix(unit),
            _ => None,
        };
        let Some(rest) = rest else {
            pieces.push(piece.clone());
            continue;
        };
        if let Some(Piece::Value(format, _)) = pieces.last_mut() {
            *format = Format::Bytes;
        }
        pieces.push(Piece::Words(rest.to_owned()));
    }
    Line {
        pieces,
        ..line.clone()
    }
}

/// Returns the unit that the command line writes after a size.
fn unit_after(piece: &Piece) -> Option<&'static str> {
    match piece {
        Piece::Value(Format::Megabytes, Value::Number(_)) => Some(" MB"),
        Piece::Value(Format::Kilobytes, Value::Number(_)) => Some(" kB"),
        Piece::Value(Format::Mebibytes, Value::Number(_)) => Some(" MiB"),
        _ => None,
    }
}

/// Writes values of one trace in sentences, as the command line does.
#[must_use]
pub fn text(clock: TraceClock) -> Text {
    Text {
        numbers: Numbers::default(),
        is_etwanalyzer: false,
        times: TimeWriter::new(TimeFormat::Seconds, DIGITS, clock),
        process_times: None,
        command_lines: true,
    }
}

#[cfg(test)]
mod tests {
    use etwkit_question::trace::TraceInfo;

    use super::*;

    #[test]
    fn sizes_in_sentences_have_the_unit_of_cells() {
        let text = text(TraceInfo::default().clock());
        let line = Line::new("Total: ")
            .value(Format::Megabytes, 3 << 20)
            .words(" MB, ")
            .value(Format::Kilobytes, 1536)
            .words(" kB at ")
            .value(Format::Milliseconds, 5_000_000)
            .words(" ms of a folder with 7 MB");
        assert_eq!(
            text.line(&with_units_of_cells(&line)),
            "Total: 3.0 MiB, 1.5 KiB at 5 ms of a folder with 7 MB"
        );
    }

    #[test]
    fn titles_have_the_units_that_cells_lack() {
        for (words, format, expected) in [
            ("CPU ms", Format::Milliseconds, "CPU"),
            ("Start [s]", Format::Moment, "Start"),
            ("Read MB/s", Format::Throughput, "Read per s"),
            ("Mean µs", Format::Fixed(1), "Mean (µs)"),
            ("From s", Format::Id, "From (s)"),
            ("% of machine", Format::Fixed(1), "% of machine"),
            ("µs", Format::Microseconds, ""),
            ("Process", Format::Process, "Process"),
        ] {
            assert_eq!(title(words, format), expected, "{words}");
        }
    }

    #[test]
    fn cells_are_numbers_and_sentences_are_words() {
        let text = text(TraceInfo::default().clock());
        assert_eq!(
            cell(&text, Format::Milliseconds, &Value::Number(1_500_000)),
            Cell::Whole(1_500_000)
        );
        assert_eq!(unit(Format::Milliseconds), "ns");
        assert_eq!(
            cell(&text, Format::Throughput, &Value::Rate(500, 1_000_000_000)),
            Cell::Number(500.0)
        );
        let line = Line::new("CPU: ")
            .value(Format::Milliseconds, 1_234_567_890)
            .words(" ms in ")
            .whole(2);
        assert_eq!(text.line(&line), "CPU: 1,235 ms in 2");
    }
}
