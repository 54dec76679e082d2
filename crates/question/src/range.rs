//! Ranges of numbers with units: `10ms..`, `..5s`, `1.5MiB..2GB`, `10-20`, `5`; and parts of a
//! trace between clock times.

use std::fmt;

use crate::clock::WrittenTime;
use etwkit_sql::time_format::TraceClock;

/// The unit of a number without a written unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Seconds since the start of the trace; [`TracePart`] also reads clock times for them.
    Moment,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Bytes.
    Bytes,
    /// MiB of 1,048,576 bytes.
    Mebibytes,
    /// A plain number, without fraction.
    Count,
}

/// The kind of quantity. Times become nanoseconds, sizes bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dimension {
    Time,
    Size,
    Count,
}

impl Unit {
    const fn dimension(self) -> Dimension {
        match self {
            Self::Seconds | Self::Moment | Self::Milliseconds | Self::Microseconds => {
                Dimension::Time
            }
            Self::Bytes | Self::Mebibytes => Dimension::Size,
            Self::Count => Dimension::Count,
        }
    }

    const fn factor(self) -> i64 {
        match self {
            Self::Seconds | Self::Moment => 1_000_000_000,
            Self::Milliseconds => 1_000_000,
            Self::Microseconds => 1000,
            Self::Bytes | Self::Count => 1,
            Self::Mebibytes => 1 << 20,
        }
    }
}

/// Units that may follow a number, in lower case.
const SUFFIXES: &[(&str, Dimension, i64)] = &[
    ("ns", Dimension::Time, 1),
    ("us", Dimension::Time, 1000),
    ("µs", Dimension::Time, 1000),
    ("ms", Dimension::Time, 1_000_000),
    ("s", Dimension::Time, 1_000_000_000),
    ("second", Dimension::Time, 1_000_000_000),
    ("seconds", Dimension::Time, 1_000_000_000),
    ("b", Dimension::Size, 1),
    ("byte", Dimension::Size, 1),
    ("bytes", Dimension::Size, 1),
    ("kb", Dimension::Size, 1000),
    ("kib", Dimension::Size, 1 << 10),
    ("mb", Dimension::Size, 1_000_000),
    ("mib", Dimension::Size, 1 << 20),
    ("gb", Dimension::Size, 1_000_000_000),
    ("gib", Dimension::Size, 1 << 30),
    ("tb", Dimension::Size, 1_000_000_000_000),
    ("tib", Dimension::Size, 1 << 40),
];

impl Unit {
    /// Returns the syntax of a range in this unit.
    const fn hint(self) -> &'static str {
        match self.dimension() {
            Dimension::Time if matches!(self, Self::Moment) => {
                "write a part of the trace as 1.5s..2s, 500ms.. or ..2 (seconds since its start), or with clock \
                 times as they are printed: 06:14:28.1..06:14:29, \"2021-03-04 06:14:28 +01:00..\" (Z for UTC)"
            }
            Dimension::Time => {
                "write a range of times as 10ms.., ..5s or 1.5s..2s (units: ns µs ms s)"
            }
            Dimension::Size => {
                "write a range of sizes as 1MB.., ..5GiB or 1.5KiB..2MB (units: B KB KiB MB MiB GB GiB TB TiB)"
            }
            Dimension::Count => {
                "write a range of whole numbers as 10.., ..20 or 10..20, without units"
            }
        }
    }
}

/// A text is not a range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?}, character {position}: {problem}")]
pub struct RangeError {
    /// The text.
    pub text: String,
    /// Number of the character with the error, from 1.
    pub position: usize,
    /// The problem at this position.
    pub problem: String,
    /// The syntax of a range.
    pub hint: &'static str,
}

/// Numbers from `min` to `max`, both included: nanoseconds, bytes or a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// Smallest number; `i64::MIN` means no limit.
    pub min: i64,
    /// Largest number; `i64::MAX` means no limit.
    pub max: i64,
}

impl Default for Range {
    fn default() -> Self {
        Self {
            min: i64::MIN,
            max: i64::MAX,
        }
    }
}

impl fmt::Display for Range {
    /// Writes the form that is parsed, without units: nanoseconds, bytes or a count.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.min, self.max) {
            (min, i64::MAX) => write!(f, "{min}.."),
            (i64::MIN, max) => write!(f, "..{max}"),
            (min, max) => write!(f, "{min}..{max}"),
        }
    }
}

impl Range {
    /// Reads `A..B`, `A..`, `..B`, `A-B` or `A`, which equals `A..`. A number is decimal with `.`
    /// and may have a unit after it, in any case; the default is the unit of the option. Fractions
    /// of a nanosecond or byte are rounded.
    ///
    /// # Errors
    ///
    /// If it is not a range, has a unit of another dimension, or ends before its start.
    pub fn parse(text: &str, unit: Unit) -> Result<Self, RangeError> {
        Parser { text, unit }.range()
    }

    /// Formats it in the form that [`Range::parse`] reads for an option of this unit.
    #[must_use]
    pub fn with_unit(&self, unit: Unit) -> String {
        let unit = match unit.dimension() {
            Dimension::Time => "ns",
            Dimension::Size => "b",
            Dimension::Count => "",
        };
        let end = |number: i64, unlimited: i64| {
            if number == unlimited {
                String::new()
            } else {
                format!("{number}{unit}")
            }
        };
        format!("{}..{}", end(self.min, i64::MIN), end(self.max, i64::MAX))
    }

    /// Returns `true` if the number is in the range. A missing number counts as 0.
    #[must_use]
    pub fn contains(&self, number: Option<i64>) -> bool {
        (self.min..=self.max).contains(&number.unwrap_or(0))
    }

    /// Returns `true` if every number is in it.
    #[must_use]
    pub const fn is_unlimited(&self) -> bool {
        self.min == i64::MIN && self.max == i64::MAX
    }
}

/// A part of a trace as written by a user: in seconds, or with clock times, whose position depends
/// on the trace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TracePart {
    /// In nanoseconds since the start of the trace.
    Known(Range),
    /// With clock times; a missing end has no limit.
    Clock(Option<WrittenTime>, Option<WrittenTime>),
}

impl TracePart {
    /// Reads the ranges of [`Range::parse`] in seconds, and `A..B`, `A..`, `..B` or `A` with every
    /// form of printed times at the ends: seconds, a time of day, a date with a time, with
    /// `+02:00`, `Z` or `UTC` after it.
    ///
    /// # Errors
    ///
    /// If it is neither.
    pub fn parse(text: &str) -> Result<Self, RangeError> {
        let known = match Range::parse(text, Unit::Moment) {
            // Without a colon it cannot be a clock time, so the first error is the one that helps.
            Err(error) if text.contains(':') => Err(error),
            known => return known.map(Self::Known),
        };
        let (from, to) = text.split_once("..").unwrap_or((text, ""));
        let end = |end: &str| -> Option<Option<WrittenTime>> {
            if end.trim().is_empty() {
                return Some(None);
            }
            // Units only follow numbers.
            let number = Range::parse(end, Unit::Moment)
                .ok()
                .filter(|_| !end.contains(':'));
            let number = number.map(|range| WrittenTime::SinceStart(range.min));
            number.or_else(|| end.parse().ok()).map(Some)
        };
        end(from)
            .zip(end(to))
            .map(|(from, to)| Self::Clock(from, to))
            .map_or_else(|| known.map(Self::Known), Ok)
    }

    /// Returns the range in a trace of that length.
    ///
    /// # Errors
    ///
    /// If it ends before its start there, or a time is in no calendar.
    pub fn place(
        self,
        text: &str,
        clock: TraceClock,
        duration_ns: i64,
    ) -> Result<Range, RangeError> {
        let (from, to) = match self {
            Self::Known(range) => return Ok(range),
            Self::Clock(from, to) => (from, to),
        };
        let wrong = |problem: &str| RangeError {
            text: text.to_owned(),
            position: 1,
            problem: problem.to_owned(),
            hint: Unit::Moment.hint(),
        };
        let end = |end: Option<WrittenTime>, open: i64| match end {
            None => Ok(open),
            Some(end) => end
                .end_of_part(clock, duration_ns)
                .ok_or_else(|| wrong("the time, or the start of the trace, is in no calendar")),
        };
        let range = Range {
            min: end(from, i64::MIN)?,
            max: end(to, i64::MAX)?,
        };
        // Both borders belong to the range, so `0..0` is the number 0 and not an empty range.
        if range.min > range.max {
            Err(wrong("the end is before the start"))
        } else {
            Ok(range)
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    unit: Unit,
}

impl Parser<'_> {
    fn range(&self) -> Result<Range, RangeError> {
        // Points come before dashes: in `-5..-1` dashes are signs.
        let (from, to) = match self.text.split_once("..") {
            Some((from, to)) => (from, Some((from.len() + 2, to))),
            None => match self.dash() {
                Some(at) => {
                    let (from, to) = self.text.split_at(at);
                    (from, Some((at + 1, to.get(1..).unwrap_or(""))))
                }
                None => (self.text, None),
            },
        };
        let min = self.number(0, from)?;
        let max = to.map_or(Ok(None), |(start, to)| self.number(start, to))?;
        if min.is_none() && max.is_none() {
            return Err(self.error(0, "expected a number".into()));
        }
        let range = Range {
            min: min.unwrap_or(i64::MIN),
            max: max.unwrap_or(i64::MAX),
        };
        if range.min > range.max {
            let at = to.map_or(0, |(start, _)| start);
            let problem = "the end is before the start (each number needs a unit of its own)";
            return Err(self.error(at, problem.into()));
        }
        Ok(range)
    }

    /// Returns the position of the dash between two numbers: a dash before a number is its sign.
    fn dash(&self) -> Option<usize> {
        let start = self.text.len() - self.text.trim_start().len() + 1;
        let at = self.text.get(start..)?.find('-')? + start;
        Some(at)
    }

    /// Returns the number with its unit, at that offset of the text; `None` if there is only space.
    fn number(&self, start: usize, text: &str) -> Result<Option<i64>, RangeError> {
        let start = start + (text.len() - text.trim_start().len());
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        let is_digit = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+');
        let digits = text.find(|c| !is_digit(c)).unwrap_or(text.len());
        let (number, suffix) = text.split_at(digits);
        if suffix.starts_with(',') {
            return Err(self.error(start + digits, "expected `.` as decimal point".into()));
        }
        let factor = self.factor(start + digits, suffix.trim())?;
        // Read with a fraction even for whole units: `1.5ms` is a whole number of nanoseconds.
        let Ok(number) = number.parse::<f64>() else {
            return Err(self.error(start, format!("{text:?} is not a number")));
        };
        if self.unit == Unit::Count && number.fract() != 0.0 {
            return Err(self.error(start, format!("{text:?} is not a whole number")));
        }
        // Casts of floats saturate, which is right for limits.
        Ok(Some((number * factor as f64).round() as i64))
    }

    fn factor(&self, position: usize, suffix: &str) -> Result<i64, RangeError> {
        if suffix.is_empty() {
            return Ok(self.unit.factor());
        }
        let lower = suffix.to_lowercase();
        match SUFFIXES.iter().find(|(name, ..)| *name == lower) {
            Some((_, dimension, factor)) if *dimension == self.unit.dimension() => Ok(*factor),
            Some(_) => Err(self.error(position, format!("the unit {suffix:?} is not valid here"))),
            None => Err(self.error(position, format!("{suffix:?} is not a unit"))),
        }
    }

    fn error(&self, offset: usize, problem: String) -> RangeError {
        // Offsets are bytes; people count characters.
        let position = self.text.get(..offset).unwrap_or(self.text).chars().count() + 1;
        RangeError {
            text: self.text.to_owned(),
            position,
            problem,
            hint: self.unit.hint(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIN: i64 = i64::MIN;
    const MAX: i64 = i64::MAX;

    #[test]
    fn ranges_are_read() {
        let cases: &[(&str, Unit, i64, i64)] = &[
            ("10ms..", Unit::Seconds, 10_000_000, MAX),
            ("..5s", Unit::Milliseconds, MIN, 5_000_000_000),
            ("1.5MiB..2GB", Unit::Bytes, 1_572_864, 2_000_000_000),
            ("10..20", Unit::Count, 10, 20),
            ("10-20", Unit::Milliseconds, 10_000_000, 20_000_000),
            (
                "50s-51s",
                Unit::Milliseconds,
                50_000_000_000,
                51_000_000_000,
            ),
            ("115s", Unit::Milliseconds, 115_000_000_000, MAX),
            ("0..0", Unit::Seconds, 0, 0),
            (" 1 .. 2 ms ", Unit::Microseconds, 1000, 2_000_000),
            // A number without maximum is the minimum; the default unit is the unit of the option.
            ("3", Unit::Microseconds, 3000, MAX),
            ("3", Unit::Mebibytes, 3 << 20, MAX),
            // Negative times, before a zero point.
            ("-5", Unit::Seconds, -5_000_000_000, MAX),
            ("-5..-1", Unit::Seconds, -5_000_000_000, -1_000_000_000),
            ("-5--1", Unit::Seconds, -5_000_000_000, -1_000_000_000),
            // Every unit, in any case.
            ("1b..1Bytes", Unit::Mebibytes, 1, 1),
            ("1byte..1KB", Unit::Bytes, 1, 1000),
            ("1kib..1MB", Unit::Bytes, 1024, 1_000_000),
            ("1GiB..1TB", Unit::Bytes, 1 << 30, 1_000_000_000_000),
            ("1TIB", Unit::Bytes, 1 << 40, MAX),
            ("1NS..1us", Unit::Seconds, 1, 1000),
            ("1µs..1second", Unit::Milliseconds, 1000, 1_000_000_000),
            ("2seconds", Unit::Milliseconds, 2_000_000_000, MAX),
            // Numbers that are too large are also limits.
            ("99999999999999999999", Unit::Seconds, MAX, MAX),
            ("0.1us", Unit::Seconds, 100, MAX),
        ];
        for (text, unit, min, max) in cases {
            assert_eq!(
                Range::parse(text, *unit),
                Ok(Range {
                    min: *min,
                    max: *max
                }),
                "{text:?}"
            );
        }
    }

    #[test]
    fn errors_name_place_and_way_out() {
        let cases: &[(&str, Unit, usize, &str)] = &[
            ("", Unit::Seconds, 1, "expected a number"),
            ("..", Unit::Seconds, 1, "expected a number"),
            ("x", Unit::Seconds, 1, "\"x\" is not a unit"),
            ("10xs", Unit::Seconds, 3, "\"xs\" is not a unit"),
            (
                "1..2MB",
                Unit::Seconds,
                5,
                "the unit \"MB\" is not valid here",
            ),
            ("1ms", Unit::Count, 2, "the unit \"ms\" is not valid here"),
            ("1.5", Unit::Count, 1, "\"1.5\" is not a whole number"),
            ("1,5", Unit::Seconds, 2, "expected `.` as decimal point"),
            ("1.2.3", Unit::Seconds, 1, "\"1.2.3\" is not a number"),
            ("1..2..3", Unit::Seconds, 4, "\"2..3\" is not a number"),
            ("ms", Unit::Seconds, 1, "\"ms\" is not a number"),
            (
                "10..20ms",
                Unit::Seconds,
                5,
                "the end is before the start (each number needs a unit of its own)",
            ),
            ("nan", Unit::Seconds, 1, "\"nan\" is not a unit"),
        ];
        for (text, unit, position, problem) in cases {
            let error = Range::parse(text, *unit).unwrap_err();
            assert_eq!(
                (error.position, error.problem.as_str()),
                (*position, *problem),
                "{text:?}"
            );
            assert!(error.hint.starts_with("write a range of"));
        }
        let error = Range::parse("5MB", Unit::Milliseconds).unwrap_err();
        assert_eq!(
            error.to_string(),
            "\"5MB\", character 2: the unit \"MB\" is not valid here"
        );
    }

    #[test]
    fn what_is_printed_of_times_is_a_part_of_the_trace() {
        // 2021-03-04 06:14:28 on a machine one hour ahead of UTC.
        let clock = TraceClock {
            start_filetime: 132_593_084_680_000_000,
            bias_minutes: Some(-60),
        };
        let placed = |text: &str| {
            let part = TracePart::parse(text)?.place(text, clock, 100_000_000_000)?;
            Ok((part.min, part.max))
        };
        let s = 1_000_000_000;
        for (text, expected) in [
            ("500ms..600ms", (s / 2, s / 10 * 6)),
            ("1.5..2", (s / 2 * 3, 2 * s)),
            ("1.500 s..2.000 s", (s / 2 * 3, 2 * s)),
            ("06:14:29..06:14:30.5", (s, s / 2 * 5)),
            ("2021-03-04 06:14:29..2021-03-04 06:14:30", (s, 2 * s)),
            ("2021-03-04 06:14:29 +01:00..", (s, MAX)),
            ("2021-03-04 05:14:29Z..2021-03-04 05:14:30 UTC", (s, 2 * s)),
            // Without zone it can only be UTC.
            ("2021-03-04 05:14:29..05:14:30", (s, 2 * s)),
            ("06:14:29..2.5s", (s, s / 2 * 5)),
            ("..06:14:29", (MIN, s)),
            ("06:14:29", (s, MAX)),
            // Parts may reach beyond the trace.
            ("06:14:00..06:20:00", (-28 * s, 332 * s)),
        ] {
            assert_eq!(placed(text), Ok::<_, RangeError>(expected), "{text}");
        }
        for text in ["06:14:30..06:14:29", "06:61:00..", "x:y", "5..x", ""] {
            let error = placed(text).unwrap_err();
            assert!(
                error.hint.starts_with("write a part of the trace as"),
                "{text}: {error}"
            );
        }
    }

    #[test]
    fn both_ends_belong_to_the_range_and_missing_numbers_are_zero() {
        let range = Range { min: 10, max: 20 };
        assert!(range.contains(Some(10)) && range.contains(Some(20)));
        assert!(!range.contains(Some(9)) && !range.contains(Some(21)) && !range.contains(None));
        assert!(Range { min: 0, max: 0 }.contains(None));
        assert!(Range::default().is_unlimited() && Range::default().contains(None));
    }

    #[test]
    fn what_is_printed_reads_the_same() {
        for text in ["5..", "..7", "-3..4"] {
            assert_eq!(Range::parse(text, Unit::Count).unwrap().to_string(), text);
        }
    }
}
