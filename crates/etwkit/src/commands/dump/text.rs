//! Numbers and processes as text for people.

use etwkit_query::dump::trace::TraceInfo;
use etwkit_query::numbers::{Numbers, rounded};
use etwkit_query::question::ProcessCell;
use etwkit_query::time_format::{TimeFormat, TimeWriter, seconds};

use super::args::{Common, ProcessFormat, ProcessOutput};

/// Writes numbers, times and processes of one trace as the options ask for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text {
    numbers: Numbers,
    /// Sizes have the units of ETWAnalyzer, and no fraction.
    is_etwanalyzer: bool,
    pub(super) times: TimeWriter,
    process_times: Option<ProcessFormat>,
    process_writer: TimeWriter,
    /// Whether command lines are wanted.
    pub(super) command_lines: bool,
}

impl Text {
    pub(super) fn with(common: &Common, processes: Option<&ProcessOutput>, info: &TraceInfo) -> Self {
        let process_times = processes.and_then(|processes| processes.process_format);
        let process_format = match process_times {
            Some(ProcessFormat::Times(format)) => format,
            _ => common.time_format(),
        };
        Self {
            numbers: common.numbers(),
            is_etwanalyzer: common.is_etwanalyzer(),
            times: TimeWriter::new(common.time_format(), common.time_digits, info.clock()),
            process_times,
            process_writer: TimeWriter::new(process_format, common.time_digits, info.clock()),
            command_lines: processes.is_none_or(|processes| !processes.no_cmdline),
        }
    }

    /// This text, for times that count from another zero.
    pub(super) fn of_moved_times(self) -> Self {
        let (times, process_writer) = (self.times.of_moved_times(), self.process_writer.of_moved_times());
        Self { times, process_writer, ..self }
    }

    /// When the trace started: with its distance from UTC, since seconds count from there.
    pub(super) fn begin(&self) -> String {
        if self.is_etwanalyzer { self.times.write(0) } else { self.times.begin() }
    }

    /// Whether times are seconds of the trace, so that words beside them have to name the unit.
    pub(super) fn has_seconds(&self) -> bool {
        !self.is_etwanalyzer && self.times.format() == TimeFormat::Seconds
    }

    /// The digits in front of the mark in groups, as those of whole numbers in the same table are.
    /// ETWAnalyzer groups none of these, and times of a trace have no groups anywhere, since they are asked
    /// for again.
    fn grouped(&self, number: String) -> String {
        let end = number.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(number.len());
        let (whole, rest) = number.split_at(end);
        match whole.parse::<i64>() {
            Ok(1000.. | ..=-1000) if !self.is_etwanalyzer => {
                self.numbers.whole(whole.parse().unwrap_or_default()) + rest
            }
            _ => number,
        }
    }

    /// A whole number, digits in groups.
    pub(super) fn int(&self, number: i64) -> String {
        self.numbers.whole(number)
    }

    /// Nanoseconds in whole milliseconds, rounded half to even.
    pub(super) fn ms(&self, ns: i64) -> String {
        self.int(rounded(ns, 1_000_000))
    }

    /// Nanoseconds in milliseconds with microseconds, rounded half to even.
    pub(super) fn fine_ms(&self, ns: i64) -> String {
        self.numbers.thousandths(rounded(ns, 1000))
    }

    /// Nanoseconds in microseconds with one digit, rounded half to even.
    pub(super) fn us(&self, ns: i64) -> String {
        self.numbers.tenths(rounded(ns, 100))
    }

    /// A length of time with its unit in a line of microseconds, where ETWAnalyzer has seconds.
    pub(super) fn among_us(&self, ns: i64) -> String {
        if self.is_etwanalyzer {
            return format!("{} s", self.s(ns, 6));
        }
        format!("{} us", self.int(rounded(ns, 1000)))
    }

    /// A length of time in seconds with so many digits, rounded half to even. Moments of the trace are
    /// written by `times`.
    pub(super) fn s(&self, ns: i64, digits: u8) -> String {
        self.grouped(self.numbers.seconds(ns, digits))
    }

    /// A number with so many digits behind the mark.
    pub(super) fn fixed(&self, number: f64, digits: usize) -> String {
        self.grouped(self.numbers.fixed(number, digits))
    }

    /// Bytes of transfers in MB of 10⁶ bytes.
    pub(super) fn mb(&self, bytes: i64) -> String {
        self.sized(bytes, 1_000_000)
    }

    /// Bytes of transfers in [`kb_name`](Self::kb_name).
    pub(super) fn kb(&self, bytes: i64) -> String {
        self.sized(bytes, if self.is_etwanalyzer { 1024 } else { 1000 })
    }

    /// kB of 1000 bytes; the KB of ETWAnalyzer has 1024.
    pub(super) const fn kb_name(&self) -> &'static str {
        if self.is_etwanalyzer { "KB" } else { "kB" }
    }

    /// Bytes of memory in MiB of 2²⁰ bytes.
    pub(super) fn mib(&self, bytes: i64) -> String {
        self.sized(bytes, 1 << 20)
    }

    /// Bytes in units of that size, rounded half to even: with three digits, so that not much becomes
    /// nothing.
    fn sized(&self, bytes: i64, unit: i64) -> String {
        if self.is_etwanalyzer {
            return self.int(rounded(bytes, unit));
        }
        self.numbers.thousandths(rounded(bytes.saturating_mul(1000), unit))
    }

    /// Bytes of memory with the largest unit that fits: `1.5 KiB`.
    pub(super) fn bytes(&self, bytes: i64) -> String {
        let units = if self.is_etwanalyzer { ["KB", "MB", "GB", "TB"] } else { ["KiB", "MiB", "GiB", "TiB"] };
        self.grouped(self.numbers.bytes(bytes, units))
    }

    /// MB of 10⁶ bytes per second; 0 where no time passed. ETWAnalyzer cuts it to whole ones.
    pub(super) fn throughput(&self, bytes: i64, ns: i64) -> String {
        // Thousandths of a MB are kB: bytes for each microsecond are MB for each second.
        let per_second = if ns > 0 { i128::from(bytes) * 1_000_000 / i128::from(ns) } else { 0 };
        let kb = i64::try_from(per_second).unwrap_or(i64::MAX);
        if self.is_etwanalyzer { self.int(kb / 1000) } else { self.numbers.thousandths(kb) }
    }

    /// `name(pid)` with marks of start and end.
    pub(super) fn process(&self, process: &ProcessCell) -> String {
        let name = process.name.as_deref().unwrap_or("(unknown)");
        let pid = process.pid.map(|pid| format!("({pid})")).unwrap_or_default();
        format!("{name}{pid}{}", self.tags(process))
    }

    /// `name(pid)` with marks, and the command line behind it, unless that is not wanted.
    pub(super) fn process_line(&self, process: &ProcessCell) -> String {
        let line = process.command_line.as_deref().filter(|_| self.command_lines);
        let line = line.map(arguments).unwrap_or_default();
        format!("{} {line}", self.process(process)).trim_end().to_owned()
    }

    fn tags(&self, process: &ProcessCell) -> String {
        let (start, stop) = (process.start_ns, process.stop_ns);
        match self.process_times {
            Some(ProcessFormat::None) => String::new(),
            None => match (start, stop) {
                (None, None) => String::new(),
                (Some(_), None) => " +".into(),
                (None, Some(_)) => " -".into(),
                (Some(_), Some(_)) => " +-".into(),
            },
            Some(ProcessFormat::Times(_)) => {
                let start_text = start.map(|ns| format!(" +{}", self.process_writer.write(ns)));
                let stop_text = stop.map(|ns| format!(" -{}", self.process_writer.write(ns)));
                let length =
                    start.zip(stop).map(|(start, stop)| format!(" {}", duration(stop.saturating_sub(start))));
                [start_text, stop_text, length].into_iter().flatten().collect()
            }
        }
    }
}

/// Nanoseconds as `1.02:03:04.567`, days only if there are some.
pub(super) fn duration(ns: i64) -> String {
    let whole = ns.max(0) / 1_000_000_000;
    let fraction = seconds(ns.max(0) % 1_000_000_000 / 1_000_000 * 1_000_000, 3);
    let (days, hours, minutes) = (whole / 86_400, whole / 3600 % 24, whole / 60 % 60);
    let days = if days > 0 { format!("{days}.") } else { String::new() };
    format!("{days}{hours:02}:{minutes:02}:{:02}{}", whole % 60, fraction.trim_start_matches('0'))
}

/// What stands behind the executable in a command line; all of it where that cannot be known.
fn arguments(line: &str) -> &str {
    let lower = line.to_ascii_lowercase();
    let Some(end) = lower.find(".exe").map(|at| at + 4) else { return line };
    let rest = line.get(end..).unwrap_or_default();
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
