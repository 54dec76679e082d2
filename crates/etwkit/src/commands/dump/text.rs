//! Numbers and processes as text for people.

use etwkit_analysis::wait::{WaitRow, WaitSum};
use etwkit_query::dump::cpu::CpuRow;
use etwkit_query::dump::exception::{ExceptionRow, ThrownRow};
use etwkit_query::dump::method::MethodRow;
use etwkit_query::dump::trace::TraceInfo;
use etwkit_query::dump::trace_log::{EventRow, ProviderRow};
use etwkit_query::dump::zero::ZeroTime;
use etwkit_query::time_format::{TimeWriter, seconds};

use super::args::{Common, ProcessFilters, ProcessFormat, ProcessOutput};
use crate::numbers::Numbers;

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

/// A process as rows carry it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProcessText<'a> {
    pub(super) name: Option<&'a str>,
    pub(super) pid: Option<i64>,
    pub(super) start_ns: Option<i64>,
    pub(super) stop_ns: Option<i64>,
    pub(super) command_line: Option<&'a str>,
}

/// Rows of most dumps carry their process in columns of the same names.
macro_rules! process_of {
    ($($row:ty),+) => {$(
        impl<'a> From<&'a $row> for ProcessText<'a> {
            fn from(row: &'a $row) -> Self {
                Self {
                    name: row.process.as_deref(),
                    pid: row.pid,
                    start_ns: row.process_start_ns,
                    stop_ns: row.process_stop_ns,
                    command_line: row.command_line.as_deref(),
                }
            }
        }
    )+};
}

process_of!(CpuRow, MethodRow, WaitSum, WaitRow, ExceptionRow, ThrownRow, ProviderRow, EventRow);

/// An id as digits, without groups; nothing where it is missing.
pub(super) fn id(id: Option<i64>) -> String {
    id.map(|id| id.to_string()).unwrap_or_default()
}

impl Text {
    pub(super) fn new(common: &Common, processes: Option<&ProcessFilters>, info: &TraceInfo) -> Self {
        Self::with(common, processes.map(|processes| &processes.written), info)
    }

    pub(super) fn with(common: &Common, processes: Option<&ProcessOutput>, info: &TraceInfo) -> Self {
        let process_times = processes.and_then(|processes| processes.process_format);
        let process_format = match process_times {
            Some(ProcessFormat::Times(format)) => format,
            _ => common.time_format,
        };
        Self {
            numbers: common.numbers(),
            is_etwanalyzer: common.is_etwanalyzer(),
            times: TimeWriter::new(common.time_format, common.time_digits, info.clock()),
            process_times,
            process_writer: TimeWriter::new(process_format, common.time_digits, info.clock()),
            command_lines: processes.is_none_or(|processes| !processes.no_cmdline),
        }
    }

    /// The same where times of rows were moved.
    pub(super) fn moved(self, zero: &ZeroTime) -> Self {
        if zero.mode.is_none() { self } else { self.of_moved_times() }
    }

    /// The same for times that count from another zero.
    pub(super) fn of_moved_times(self) -> Self {
        let (times, process_writer) = (self.times.of_moved_times(), self.process_writer.of_moved_times());
        Self { times, process_writer, ..self }
    }

    /// A whole number, digits in groups.
    pub(super) fn int(&self, number: i64) -> String {
        self.numbers.whole(number)
    }

    /// The number, or nothing where it is missing.
    pub(super) fn maybe_int(&self, number: Option<i64>) -> String {
        number.map(|number| self.int(number)).unwrap_or_default()
    }

    /// Nanoseconds in whole milliseconds, rounded half to even.
    pub(super) fn ms(&self, ns: i64) -> String {
        self.int(rounded(ns, 1_000_000))
    }

    /// Nanoseconds in milliseconds with microseconds, rounded half to even.
    pub(super) fn fine_ms(&self, ns: i64) -> String {
        self.numbers.thousandths(rounded(ns, 1000))
    }

    pub(super) fn maybe_fine_ms(&self, ns: Option<i64>) -> String {
        ns.map(|ns| self.fine_ms(ns)).unwrap_or_default()
    }

    /// Nanoseconds in microseconds with one digit, rounded half to even.
    pub(super) fn us(&self, ns: i64) -> String {
        self.numbers.tenths(rounded(ns, 100))
    }

    /// A length of time in seconds with so many digits, rounded half to even. Moments of the trace are [`moment`]s.
    pub(super) fn s(&self, ns: i64, digits: u8) -> String {
        self.numbers.seconds(ns, digits)
    }

    /// A number with so many digits behind the mark.
    pub(super) fn fixed(&self, number: f64, digits: usize) -> String {
        self.numbers.fixed(number, digits)
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

    /// Bytes in units of that size, rounded half to even: with three digits, so that not much becomes nothing.
    fn sized(&self, bytes: i64, unit: i64) -> String {
        if self.is_etwanalyzer {
            return self.int(rounded(bytes, unit));
        }
        self.numbers.thousandths(rounded(bytes.saturating_mul(1000), unit))
    }

    /// Bytes of memory with the largest unit that fits: `1.5 KiB`.
    pub(super) fn bytes(&self, bytes: i64) -> String {
        let units = if self.is_etwanalyzer { ["KB", "MB", "GB", "TB"] } else { ["KiB", "MiB", "GiB", "TiB"] };
        self.numbers.bytes(bytes, units)
    }

    /// MB of 10⁶ bytes per second; 0 where no time passed. ETWAnalyzer cuts it to whole ones.
    pub(super) fn throughput(&self, bytes: i64, ns: i64) -> String {
        // Thousandths of a MB are kB: bytes for each microsecond are MB for each second.
        let per_second = if ns > 0 { i128::from(bytes) * 1_000_000 / i128::from(ns) } else { 0 };
        let kb = i64::try_from(per_second).unwrap_or(i64::MAX);
        if self.is_etwanalyzer { self.int(kb / 1000) } else { self.numbers.thousandths(kb) }
    }

    /// `name(pid)` with marks of start and end.
    pub(super) fn process(&self, process: ProcessText<'_>) -> String {
        let name = process.name.unwrap_or("(unknown)");
        let pid = process.pid.map(|pid| format!("({pid})")).unwrap_or_default();
        format!("{name}{pid}{}", self.tags(process))
    }

    /// The same with the command line behind it, unless that is not wanted.
    pub(super) fn process_line(&self, process: ProcessText<'_>) -> String {
        let line = process.command_line.filter(|_| self.command_lines).map(arguments).unwrap_or_default();
        format!("{} {line}", self.process(process)).trim_end().to_owned()
    }

    fn tags(&self, process: ProcessText<'_>) -> String {
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

/// A moment in seconds of the trace, which no locale changes.
pub(super) fn moment(ns: i64, digits: u8) -> String {
    seconds(ns, digits)
}

/// A quotient, rounded half to even.
pub(crate) fn rounded(number: i64, unit: i64) -> i64 {
    let (number, unit) = (i128::from(number), i128::from(unit.max(1)));
    let (whole, rest) = (number.div_euclid(unit), number.rem_euclid(unit));
    let up = rest * 2 > unit || (rest * 2 == unit && whole % 2 != 0);
    i64::try_from(whole + i128::from(up)).unwrap_or(i64::MAX)
}

/// Nanoseconds as `1.02:03:04.567`, days only if there are some.
pub(super) fn duration(ns: i64) -> String {
    let whole = ns.max(0) / 1_000_000_000;
    let fraction = seconds(ns.max(0) % 1_000_000_000 / 1_000_000 * 1_000_000, 3);
    let (days, hours, minutes) = (whole / 86_400, whole / 3600 % 24, whole / 60 % 60);
    let days = if days > 0 { format!("{days}.") } else { String::new() };
    format!("{days}{hours:02}:{minutes:02}:{:02}{}", whole % 60, fraction.trim_start_matches('0'))
}

/// What stands behind the executable in a command line; all of it where that cannot be told.
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
    fn halves_are_rounded_to_even() {
        for (number, unit, expected) in [
            (500, 1000, 0),
            (1500, 1000, 2),
            (2500, 1000, 2),
            (2501, 1000, 3),
            (-500, 1000, 0),
            (-1500, 1000, -2),
        ] {
            assert_eq!(rounded(number, unit), expected, "{number}");
        }
    }

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
