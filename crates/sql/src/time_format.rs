//! Formats of times of a trace: seconds, or clock time of the recorded machine, of this machine, or
//! UTC.

use std::fmt::Write;
use std::path::Path;
use std::str::FromStr;

use chrono::{DateTime, Local, Offset, TimeDelta, TimeZone, Timelike, Utc};

/// Time from 1601, where file times start, to 1970, in units of 100 ns.
const UNIX_EPOCH_FILETIME: i64 = 116_444_736_000_000_000;

/// A format of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeFormat {
    /// `s`: seconds since the trace started.
    #[default]
    Seconds,
    /// `local`: date and time of the recorded machine.
    Local,
    /// `localtime`: time of the recorded machine.
    LocalTime,
    /// `utc`: date and time in UTC.
    Utc,
    /// `utctime`: time in UTC.
    UtcTime,
    /// `here`: date and time in the time zone of this machine.
    Here,
    /// `heretime`: time in the time zone of this machine.
    HereTime,
}

/// Writes the form that is parsed.
impl std::fmt::Display for TimeFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Seconds => "s",
            Self::Local => "local",
            Self::LocalTime => "localtime",
            Self::Utc => "utc",
            Self::UtcTime => "utctime",
            Self::Here => "here",
            Self::HereTime => "heretime",
        })
    }
}

/// A text is not a format of times.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no time format: expected s, local, localtime, utc, utctime, here or heretime")]
pub struct TimeFormatError(String);

impl FromStr for TimeFormat {
    type Err = TimeFormatError;

    fn from_str(text: &str) -> Result<Self, TimeFormatError> {
        match text.to_ascii_lowercase().as_str() {
            "s" | "second" | "seconds" => Ok(Self::Seconds),
            "local" => Ok(Self::Local),
            "localtime" => Ok(Self::LocalTime),
            "utc" => Ok(Self::Utc),
            "utctime" => Ok(Self::UtcTime),
            "here" => Ok(Self::Here),
            "heretime" => Ok(Self::HereTime),
            _ => Err(TimeFormatError(text.to_owned())),
        }
    }
}

/// The start of time in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceClock {
    /// Start of the recording in units of 100 ns since 1601, UTC: `trace.start_filetime`.
    pub start_filetime: i64,
    /// UTC minus local time on the recorded machine, in minutes: `trace.time_zone_bias_minutes`.
    pub bias_minutes: Option<i32>,
}

impl TraceClock {
    /// Returns the start of the recording, if a calendar has it.
    #[must_use]
    pub fn start(self) -> Option<DateTime<Utc>> {
        date(self.start_filetime)
    }
}

/// Text for the clock time of a trace whose header has no start that a calendar knows.
pub const NOT_RECORDED: &str = "start not recorded";

/// Default number of digits of a second.
pub const DEFAULT_DIGITS: u8 = 3;

/// Maximum number of digits of a second.
pub const MAX_DIGITS: u8 = 6;

/// The first second after the year 9999 in units of 100 ns since 1601.
const YEAR_10000: i64 = 2_650_467_744_000_000_000;

/// Returns the date of a file time, if a calendar has it. The time 0 was not recorded.
fn date(filetime: i64) -> Option<DateTime<Utc>> {
    if !(1..YEAR_10000).contains(&filetime) {
        return None;
    }
    // In whole seconds and a rest that is never negative: dates before 1970 would otherwise have a
    // negative fraction, which no calendar takes.
    let since_1970 = filetime.checked_sub(UNIX_EPOCH_FILETIME)?;
    let (seconds, rest) = (
        since_1970.div_euclid(10_000_000),
        since_1970.rem_euclid(10_000_000),
    );
    DateTime::from_timestamp(seconds, u32::try_from(rest).ok()? * 100)
}

/// Formats times of one trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeWriter {
    format: TimeFormat,
    digits: u8,
    clock: TraceClock,
    is_moved: bool,
}

impl TimeWriter {
    /// Creates a writer with that many digits of a second, at most [`MAX_DIGITS`].
    #[must_use]
    pub fn new(format: TimeFormat, digits: u8, clock: TraceClock) -> Self {
        Self {
            format,
            digits: digits.min(MAX_DIGITS),
            clock,
            is_moved: false,
        }
    }

    /// Returns this writer for another format.
    #[must_use]
    pub const fn with_format(self, format: TimeFormat) -> Self {
        Self { format, ..self }
    }

    /// Returns this writer for the clock of another trace.
    #[must_use]
    pub const fn with_clock(self, clock: TraceClock) -> Self {
        Self { clock, ..self }
    }

    /// Returns this writer for times that are already moved: titles have a mark.
    #[must_use]
    pub const fn of_moved_times(self) -> Self {
        Self {
            is_moved: true,
            ..self
        }
    }

    /// Returns the title of a column of these times: `s`, `Local`, `UTC` or `Here`, with `*` after
    /// it if times were moved.
    #[must_use]
    pub fn title(&self) -> String {
        let title = match self.format {
            TimeFormat::Seconds => "s",
            TimeFormat::Local | TimeFormat::LocalTime => "Local",
            TimeFormat::Utc | TimeFormat::UtcTime => "UTC",
            TimeFormat::Here | TimeFormat::HereTime => "Here",
        };
        format!("{title}{}", if self.is_moved { "*" } else { "" })
    }

    /// Returns the width of a time in characters: 8 for seconds, 12 for times and 23 with date,
    /// with three digits.
    #[must_use]
    pub fn width(&self) -> usize {
        let with_three = match self.format {
            TimeFormat::Seconds => 8,
            TimeFormat::LocalTime | TimeFormat::UtcTime | TimeFormat::HereTime => 12,
            TimeFormat::Local | TimeFormat::Utc | TimeFormat::Here => 23,
        };
        // Without digits there is no point either.
        with_three - 4 + usize::from(self.digits) + usize::from(self.digits > 0)
    }

    /// Formats nanoseconds since the start of the trace.
    ///
    /// Seconds are rounded, half to even; clock times are truncated, like on clocks. A time that no
    /// calendar has is written in seconds. Without the bias of the recorded machine its local time
    /// is UTC.
    #[must_use]
    pub fn write(&self, ns: i64) -> String {
        self.clock_time(ns)
            .unwrap_or_else(|| seconds(ns, self.digits))
    }

    /// Returns the distance of its clock times from UTC, such as `+02:00`, or `Z`; `None` if the
    /// start of the trace was not recorded.
    #[must_use]
    pub fn zone(&self) -> Option<String> {
        self.utc(0)?;
        let zone = |seconds_east: i32| {
            let (sign, minutes) = (
                if seconds_east < 0 { '-' } else { '+' },
                seconds_east.unsigned_abs() / 60,
            );
            format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
        };
        Some(match (self.format, self.clock.bias_minutes) {
            (TimeFormat::Utc | TimeFormat::UtcTime, _) => "Z".to_owned(),
            // The distance at that date: in summer it differs from winter.
            (TimeFormat::Here | TimeFormat::HereTime, _) => {
                let here = self.utc(0)?.with_timezone(&Local);
                zone(here.offset().fix().local_minus_utc())
            }
            (_, Some(bias)) => zone(bias.saturating_mul(-60)),
            (_, None) => "Z".to_owned(),
        })
    }

    /// Returns the clock time of the start of the trace, with its distance from UTC:
    /// `2024-05-01 12:00:00.123 +02:00`, or `Z` after UTC. It is the clock of the recorded machine
    /// unless the format names another one. Times in seconds count from this time. A start that no
    /// calendar has is `start not recorded`.
    #[must_use]
    pub fn begin(&self) -> String {
        let Some(zone) = self.zone() else {
            return NOT_RECORDED.to_owned();
        };
        let format = match (self.format, self.clock.bias_minutes) {
            (TimeFormat::Utc | TimeFormat::UtcTime, _) => TimeFormat::Utc,
            (TimeFormat::Here | TimeFormat::HereTime, _) => TimeFormat::Here,
            (_, Some(_)) => TimeFormat::Local,
            (_, None) => TimeFormat::Utc,
        };
        let gap = if zone == "Z" { "" } else { " " };
        format!("{}{gap}{zone}", self.with_format(format).write(0))
    }

    /// Returns its format.
    #[must_use]
    pub const fn format(&self) -> TimeFormat {
        self.format
    }

    fn clock_time(&self, ns: i64) -> Option<String> {
        let utc = self.utc(ns);
        match self.format {
            TimeFormat::Seconds => None,
            TimeFormat::Utc => Some(self.date_time(&utc?)),
            TimeFormat::UtcTime => Some(self.time(&utc?)),
            TimeFormat::Here => Some(self.date_time(&utc?.with_timezone(&Local))),
            TimeFormat::HereTime => Some(self.time(&utc?.with_timezone(&Local))),
            TimeFormat::Local => Some(self.date_time(&self.local(utc?)?)),
            TimeFormat::LocalTime => Some(self.time(&self.local(utc?)?)),
        }
    }

    fn utc(&self, ns: i64) -> Option<DateTime<Utc>> {
        date(self.clock.start_filetime)?.checked_add_signed(TimeDelta::nanoseconds(ns))
    }

    /// Returns the wall clock of the recorded machine, as if it were UTC.
    fn local(&self, utc: DateTime<Utc>) -> Option<DateTime<Utc>> {
        // Without a recorded time zone the clock is UTC.
        let bias = TimeDelta::minutes(i64::from(self.clock.bias_minutes.unwrap_or(0)));
        utc.checked_sub_signed(bias)
    }

    fn date_time<Z: TimeZone>(&self, time: &DateTime<Z>) -> String {
        format!("{} {}", time.naive_local().date(), self.time(time))
    }

    fn time<Z: TimeZone>(&self, time: &DateTime<Z>) -> String {
        let time = time.naive_local().time();
        let mut text = format!(
            "{:02}:{:02}:{:02}",
            time.hour(),
            time.minute(),
            time.second()
        );
        // A leap second has more than 10⁹ nanoseconds, which would overflow the digits.
        push_fraction(
            &mut text,
            u64::from(time.nanosecond() % 1_000_000_000),
            self.digits,
        );
        text
    }
}

/// Appends the first digits of a fraction of a second.
fn push_fraction(text: &mut String, ns: u64, digits: u8) {
    if digits > 0 {
        let shown = ns / 10_u64.pow(9 - u32::from(digits.min(9)));
        let _ = write!(text, ".{shown:0width$}", width = usize::from(digits));
    }
}

/// Formats nanoseconds as seconds with that many digits (at most 9), rounded half to even.
#[must_use]
pub fn seconds(ns: i64, digits: u8) -> String {
    let digits = digits.min(9);
    let step = 10_u64.pow(9 - u32::from(digits));
    let (whole, rest) = (ns.unsigned_abs() / step, ns.unsigned_abs() % step);
    // Half to even, so that sums of many rounded times do not drift upwards.
    let up = rest * 2 > step || (rest * 2 == step && whole % 2 == 1);
    // A time that is rounded to 0 has no sign: -0.000 would be misleading.
    let rounded = (whole + u64::from(up)) * step;
    let sign = if ns < 0 && rounded > 0 { "-" } else { "" };
    let mut text = format!("{sign}{}", rounded / 1_000_000_000);
    push_fraction(&mut text, rounded % 1_000_000_000, digits);
    text
}

/// Folders of Unix that have a file for each time zone.
const ZONES: [&str; 4] = [
    "/usr/share/zoneinfo",
    "/share/zoneinfo",
    "/etc/zoneinfo",
    "/usr/share/lib/zoneinfo",
];

/// Returns the value of `TZ` if this system has no such time zone. Times of `here` are then in the
/// zone of the system, or UTC.
#[must_use]
pub fn unknown_zone() -> Option<String> {
    let zone = std::env::var("TZ").ok()?;
    let is_known = !cfg!(unix) || is_zone(&zone, Path::is_file);
    (!is_known).then_some(zone)
}

/// Returns `true` for the name of a zone that has a file, and for a rule such as `CET-1CEST`.
fn is_zone(text: &str, is_file: impl Fn(&Path) -> bool) -> bool {
    let name = text.strip_prefix(':').unwrap_or(text);
    if text.is_empty() || text == "localtime" {
        return true;
    }
    // An absolute path replaces the folder.
    let has_file = ZONES
        .iter()
        .any(|folder| is_file(&Path::new(folder).join(name)));
    has_file || is_rule(text)
}

/// Returns `true` for a name of three letters or more, or one in angle brackets, and a distance from
/// UTC.
fn is_rule(text: &str) -> bool {
    let text = text.trim();
    let distance = match text.strip_prefix('<') {
        Some(rest) => rest.split_once('>').map(|(_, rest)| rest),
        None => {
            let rest = text.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
            (text.len() - rest.len() >= 3).then_some(rest)
        }
    };
    let distance = distance.map(|rest| rest.trim_start_matches(['+', '-']));
    distance.is_some_and(|rest| rest.starts_with(|digit: char| digit.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_has_a_file_or_is_a_rule() {
        let is_file = |path: &Path| path == Path::new("/usr/share/zoneinfo/Europe/Berlin");
        for (text, expected) in [
            ("", true),
            ("localtime", true),
            ("Europe/Berlin", true),
            (":Europe/Berlin", true),
            ("/usr/share/zoneinfo/Europe/Berlin", true),
            ("CET-1CEST,M3.5.0,M10.5.0/3", true),
            ("<+03>-3", true),
            ("UTC0", true),
            ("Mars/Phobos", false),
            ("Europe/Berlni", false),
            ("CET", false),
            ("<+03>", false),
        ] {
            assert_eq!(is_zone(text, is_file), expected, "{text}");
        }
    }

    /// 2024-05-01T10:00:00.1234567Z, two hours ahead of UTC.
    const CLOCK: TraceClock = TraceClock {
        start_filetime: UNIX_EPOCH_FILETIME + 17_145_576_001_234_567,
        bias_minutes: Some(-120),
    };

    fn written(format: &str, digits: u8, ns: i64) -> String {
        let writer = TimeWriter::new(format.parse().unwrap(), digits, CLOCK);
        let text = writer.write(ns);
        if text.contains(':') {
            assert_eq!(text.len(), writer.width(), "{text}");
        }
        text
    }

    #[test]
    fn every_format_writes_the_same_moment() {
        let cases: &[(&str, u8, i64, &str)] = &[
            ("s", 3, 1_234_567_890, "1.235"),
            ("S", 3, -5_000_000_000, "-5.000"),
            ("second", 0, 1_500_000_000, "2"),
            ("s", 6, 1_234_567_890, "1.234568"),
            ("utc", 3, 0, "2024-05-01 10:00:00.123"),
            ("UTC", 6, 0, "2024-05-01 10:00:00.123456"),
            ("utctime", 3, 1_000_000_000, "10:00:01.123"),
            ("utctime", 0, 999_999_999, "10:00:01"),
            ("local", 3, 0, "2024-05-01 12:00:00.123"),
            ("LocalTime", 1, 0, "12:00:00.1"),
            ("utc", 0, 15 * 3600 * 1_000_000_000, "2024-05-02 01:00:00"),
            ("utc", 3, -124_000_000, "2024-05-01 09:59:59.999"),
        ];
        for (format, digits, ns, text) in cases {
            assert_eq!(
                written(format, *digits, *ns),
                *text,
                "{format} {digits} {ns}"
            );
        }
    }

    #[test]
    fn the_start_names_the_zone() {
        let begin = |format: &str, bias_minutes| {
            let clock = TraceClock {
                bias_minutes,
                ..CLOCK
            };
            TimeWriter::new(format.parse().unwrap(), 3, clock).begin()
        };
        for format in ["s", "local", "localtime"] {
            assert_eq!(begin(format, Some(-120)), "2024-05-01 12:00:00.123 +02:00");
        }
        assert_eq!(begin("s", Some(210)), "2024-05-01 06:30:00.123 -03:30");
        assert_eq!(begin("s", None), "2024-05-01 10:00:00.123Z");
        assert_eq!(begin("utctime", Some(-120)), "2024-05-01 10:00:00.123Z");
    }

    #[test]
    fn here_is_the_time_zone_of_this_machine() {
        let here = DateTime::from_timestamp(1_714_557_600, 123_456_700)
            .unwrap()
            .with_timezone(&Local);
        assert_eq!(
            written("here", 3, 0),
            here.format("%Y-%m-%d %H:%M:%S%.3f").to_string()
        );
        assert_eq!(
            written("heretime", 3, 0),
            here.format("%H:%M:%S%.3f").to_string()
        );
    }

    #[test]
    fn titles_of_moved_times_have_a_star() {
        for (format, title) in [(TimeFormat::Seconds, "s"), (TimeFormat::Utc, "UTC")] {
            let writer = TimeWriter::new(format, 3, CLOCK);
            assert_eq!(
                (writer.title(), writer.of_moved_times().title()),
                (title.into(), format!("{title}*"))
            );
        }
    }

    #[test]
    fn seconds_are_rounded_half_to_even() {
        for (ns, digits, text) in [
            (500_000, 3, "0.000"),
            (1_500_000, 3, "0.002"),
            (2_500_000, 3, "0.002"),
            (2_500_001, 3, "0.003"),
            (999_999_999, 3, "1.000"),
            (-400_000, 3, "0.000"),
            (7, 9, "0.000000007"),
            (i64::MIN, 3, "-9223372036.855"),
        ] {
            assert_eq!(seconds(ns, digits), text, "{ns}");
        }
    }

    #[test]
    fn times_beyond_all_calendars_are_written_in_seconds() {
        let clock = TraceClock {
            start_filetime: i64::MIN,
            bias_minutes: Some(i32::MAX),
        };
        assert_eq!(
            TimeWriter::new(TimeFormat::Local, 3, clock).write(1_000_000_000),
            "1.000"
        );
        for start_filetime in [0, i64::MIN, i64::MAX, YEAR_10000] {
            let clock = TraceClock {
                start_filetime,
                bias_minutes: Some(0),
            };
            for format in [TimeFormat::Local, TimeFormat::UtcTime, TimeFormat::Seconds] {
                let times = TimeWriter::new(format, 3, clock);
                assert_eq!(times.write(1_500_000_000), "1.500");
                assert_eq!(
                    (times.begin(), times.zone()),
                    (NOT_RECORDED.to_owned(), None)
                );
            }
        }
        let clock = TraceClock {
            start_filetime: i64::MAX,
            bias_minutes: Some(i32::MIN),
        };
        assert!(
            !TimeWriter::new(TimeFormat::Local, 3, clock)
                .write(i64::MAX)
                .is_empty()
        );
    }

    #[test]
    fn other_names_are_refused() {
        let error = "utcx".parse::<TimeFormat>().unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("\"utcx\" is no time format: expected s, local")
        );
    }
}
