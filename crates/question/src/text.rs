//! Values of answers as text for people: numbers, times, processes, and lines of them.

use crate::numbers::{Numbers, rounded};
use crate::{Format, Line, Piece, ProcessCell, Value};
use etwkit_sql::time_format::{TimeFormat, TimeWriter, seconds};

/// The text after the name of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessFormat {
    /// No text.
    None,
    /// Times of start and end.
    Times(TimeFormat),
}

/// The unit of [`Format::Kilobytes`] in declarations: ETWAnalyzer has another one.
const KB: &str = "kB";

/// Formats values of one trace for people.
#[derive(Debug, Clone, Copy)]
pub struct Text {
    /// Format of numbers.
    pub numbers: Numbers,
    /// True if sizes have the units of ETWAnalyzer, and no fraction.
    pub is_etwanalyzer: bool,
    /// Format of times.
    pub times: TimeWriter,
    /// Text after names of processes; by default `+` and `-` mark processes that started or ended.
    pub process_times: Option<ProcessFormat>,
    /// True if command lines are shown.
    pub command_lines: bool,
}

impl Text {
    /// Returns this formatter for times that count from another zero.
    #[must_use]
    pub fn of_moved_times(self) -> Self {
        Self {
            times: self.times.of_moved_times(),
            ..self
        }
    }

    /// Returns the start of the trace: with its distance from UTC, since seconds count from there.
    #[must_use]
    pub fn begin(&self) -> String {
        if self.is_etwanalyzer {
            self.times.write(0)
        } else {
            self.times.begin()
        }
    }

    /// Returns `true` if times are seconds of the trace, so adjacent words have to name the unit.
    #[must_use]
    pub fn has_seconds(&self) -> bool {
        !self.is_etwanalyzer && self.times.format() == TimeFormat::Seconds
    }

    /// Groups the digits before the mark, like whole numbers in the same table. ETWAnalyzer groups
    /// none of these. Times of a trace have no groups anywhere, since people copy them into the
    /// next question.
    fn grouped(&self, number: String) -> String {
        let end = number
            .find(|c: char| !c.is_ascii_digit() && c != '-')
            .unwrap_or(number.len());
        let (whole, rest) = number.split_at(end);
        match whole.parse::<i64>() {
            Ok(number @ (1000.. | ..=-1000)) if !self.is_etwanalyzer => {
                self.numbers.whole(number) + rest
            }
            _ => number,
        }
    }

    /// Formats a whole number, digits in groups.
    #[must_use]
    pub fn int(&self, number: i64) -> String {
        self.numbers.whole(number)
    }

    /// Formats a duration with its unit in a line of microseconds, where ETWAnalyzer has seconds.
    fn among_us(&self, ns: i64) -> String {
        if self.is_etwanalyzer {
            return format!("{} s", self.s(ns, 6));
        }
        format!("{} µs", self.int(rounded(ns, 1000)))
    }

    /// Formats a duration in seconds with `digits` digits, rounded half to even. Times of the trace
    /// are formatted by `times`.
    fn s(&self, ns: i64, digits: u8) -> String {
        self.grouped(self.numbers.seconds(ns, digits))
    }

    /// Formats a number with `digits` digits after the mark.
    fn fixed(&self, number: f64, digits: usize) -> String {
        self.grouped(self.numbers.fixed(number, digits))
    }

    /// Formats bytes of transfers in [`kb_name`](Self::kb_name).
    fn kb(&self, bytes: i64) -> String {
        self.sized(bytes, if self.is_etwanalyzer { 1024 } else { 1000 })
    }

    /// Returns `kB` for 1000 bytes; the KB of ETWAnalyzer has 1024.
    const fn kb_name(&self) -> &'static str {
        if self.is_etwanalyzer { "KB" } else { "kB" }
    }

    /// Formats bytes in units of that size, rounded half to even: with three digits, so that a
    /// small size is not shown as zero.
    fn sized(&self, bytes: i64, unit: i64) -> String {
        if self.is_etwanalyzer {
            return self.int(rounded(bytes, unit));
        }
        self.numbers
            .thousandths(rounded(bytes.saturating_mul(1000), unit))
    }

    /// Formats bytes of memory with the largest matching unit: `1.5 KiB`.
    fn bytes(&self, bytes: i64) -> String {
        let units = if self.is_etwanalyzer {
            ["KB", "MB", "GB", "TB"]
        } else {
            ["KiB", "MiB", "GiB", "TiB"]
        };
        self.grouped(self.numbers.bytes(bytes, units))
    }

    /// Formats MB of 10⁶ bytes per second; 0 if no time passed. ETWAnalyzer cuts the number to
    /// whole MB.
    fn throughput(&self, bytes: i64, ns: i64) -> String {
        // In kB, which are thousandths of a MB; in 128 bits, since 64 overflow from 9 TB on.
        let per_second = if ns > 0 {
            i128::from(bytes) * 1_000_000 / i128::from(ns)
        } else {
            0
        };
        let kb = i64::try_from(per_second).unwrap_or(i64::MAX);
        if self.is_etwanalyzer {
            self.int(kb / 1000)
        } else {
            self.numbers.thousandths(kb)
        }
    }

    /// Returns the title of a column of values of this format, with their unit.
    #[must_use]
    pub fn title(&self, words: &str, format: Format) -> String {
        if format == Format::Kilobytes {
            words.replace(KB, self.kb_name())
        } else {
            words.to_owned()
        }
    }

    /// Formats a line of words and values.
    #[must_use]
    pub fn line(&self, line: &Line) -> String {
        // A unit is part of the words after its value, so each piece has to know the one before it.
        let mut behind = None;
        let piece = |piece: &Piece| match piece {
            Piece::Words(words) if behind.take() == Some(Format::Kilobytes) => {
                words.replacen(KB, self.kb_name(), 1)
            }
            Piece::Words(words) => words.clone(),
            Piece::Value(format, value) => {
                behind = Some(*format);
                let is_seconds = *format == Format::Moment && matches!(value, Value::Number(_));
                let unit = if is_seconds && self.has_seconds() {
                    " s"
                } else {
                    ""
                };
                self.value(*format, value) + unit
            }
        };
        line.pieces.iter().map(piece).collect()
    }

    /// Formats a value; a missing one is empty.
    #[must_use]
    pub fn value(&self, format: Format, value: &Value) -> String {
        match (format, value) {
            (_, Value::Missing) => String::new(),
            (_, Value::Text(words)) => words.clone(),
            (Format::ProcessLine, Value::Process(cell)) => self.process_line(cell),
            (_, Value::Process(cell)) => self.process(cell),
            (_, Value::Moment(format, ns)) => self.times.with_format(*format).write(*ns),
            (_, Value::MomentOf(clock, ns)) => self.times.with_clock(*clock).write(*ns),
            (_, Value::Line(line)) => self.line(line),
            (_, Value::Rate(bytes, ns)) => self.throughput(*bytes, *ns),
            (Format::Fixed(digits), Value::Number(number)) => {
                self.fixed(*number as f64, digits.into())
            }
            (Format::Fixed(digits) | Format::WholeOrFixed(digits), Value::Float(number)) => {
                self.fixed(*number, digits.into())
            }
            (_, Value::Float(number)) => self.number(format, number.round() as i64),
            (_, Value::Number(number)) => self.number(format, *number),
        }
    }

    fn number(&self, format: Format, number: i64) -> String {
        match format {
            Format::Whole | Format::Throughput | Format::Fixed(_) | Format::WholeOrFixed(_) => {
                self.int(number)
            }
            Format::Id
            | Format::Word
            | Format::Process
            | Format::ProcessLine
            | Format::CommandLine
            | Format::Trace => number.to_string(),
            Format::Milliseconds => self.int(rounded(number, 1_000_000)),
            Format::FineMilliseconds => self.numbers.thousandths(rounded(number, 1000)),
            Format::Microseconds => self.numbers.tenths(rounded(number, 100)),
            Format::WholeMicroseconds => self.int(rounded(number, 1000)),
            Format::AmongMicroseconds => self.among_us(number),
            Format::Seconds(digits) => self.s(number, digits),
            Format::Megabytes => self.sized(number, 1_000_000),
            Format::Kilobytes => self.kb(number),
            Format::Mebibytes => self.sized(number, 1 << 20),
            Format::Bytes => self.bytes(number),
            Format::PlainBytes => format!("{} B", self.int(number)),
            Format::Moment | Format::LeftMoment => self.times.write(number),
            Format::Length => duration(number),
        }
    }

    /// Formats `name(pid)` with marks of start and end.
    fn process(&self, process: &ProcessCell) -> String {
        let name = process.name.as_deref().unwrap_or("(unknown)");
        let pid = process
            .pid
            .map_or_else(String::new, |pid| format!("({pid})"));
        format!("{name}{pid}{}", self.tags(process))
    }

    /// Formats `name(pid)` with marks, followed by the command line unless it is hidden.
    fn process_line(&self, process: &ProcessCell) -> String {
        let line = process
            .command_line
            .as_deref()
            .filter(|_| self.command_lines);
        let line = line.map_or("", arguments);
        format!("{} {line}", self.process(process))
            .trim_end()
            .to_owned()
    }

    fn tags(&self, process: &ProcessCell) -> String {
        let start = process.start_ns;
        let stop = process.stop_ns;
        match self.process_times {
            Some(ProcessFormat::None) => String::new(),
            None => match (start, stop) {
                (None, None) => String::new(),
                (Some(_), None) => " +".into(),
                (None, Some(_)) => " -".into(),
                (Some(_), Some(_)) => " +-".into(),
            },
            Some(ProcessFormat::Times(format)) => {
                let times = self.times.with_format(format);
                let start_text = start.map(|ns| format!(" +{}", times.write(ns)));
                let stop_text = stop.map(|ns| format!(" -{}", times.write(ns)));
                let length = start
                    .zip(stop)
                    .map(|(start, stop)| format!(" {}", duration(stop.saturating_sub(start))));
                [start_text, stop_text, length]
                    .into_iter()
                    .flatten()
                    .collect()
            }
        }
    }
}

/// Formats nanoseconds as `1.02:03:04.567`, days only if there are some.
fn duration(ns: i64) -> String {
    let whole = ns.max(0) / 1_000_000_000;
    let fraction = seconds(ns.max(0) % 1_000_000_000 / 1_000_000 * 1_000_000, 3);
    let days = whole / 86_400;
    let hours = whole / 3600 % 24;
    let minutes = whole / 60 % 60;
    let days = if days > 0 {
        format!("{days}.")
    } else {
        String::new()
    };
    format!(
        "{days}{hours:02}:{minutes:02}:{:02}{}",
        whole % 60,
        fraction.trim_start_matches('0')
    )
}

/// Returns the arguments after the executable in a command line; the whole line if it has no
/// `.exe`.
fn arguments(line: &str) -> &str {
    let lower = line.to_ascii_lowercase();
    let Some(end) = lower.find(".exe").map(|at| at + 4) else {
        return line;
    };
    let rest = line.get(end..).unwrap_or("");
    rest.strip_prefix('"').unwrap_or(rest).trim_start()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_are_shown_behind_the_executable() {
        for (line, shown) in [
            (r#""C:\Program Files\a.exe" -x"#, "-x"),
            ("CMD.EXE /c b.exe", "/c b.exe"),
            ("a.exe", ""),
            ("no executable", "no executable"),
            ("İ.exe y", "y"),
        ] {
            assert_eq!(arguments(line), shown, "{line}");
        }
    }

    #[test]
    fn durations_have_days_only_where_needed() {
        assert_eq!(duration(3_723_456_999_999), "01:02:03.456");
        assert_eq!(duration(86_400_000_000_000), "1.00:00:00.000");
        assert_eq!(duration(-5), "00:00:00.000");
    }
}
