//! A time that a user wrote, as seconds of a trace and as clock time.

use chrono::{FixedOffset, NaiveDateTime, NaiveTime, TimeDelta, Utc};

use etwkit_sql::time_format::TraceClock;

/// A time as it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WrittenTime {
    /// Nanoseconds since the start of a trace.
    SinceStart(i64),
    /// Date and time of the recorded machine, or of the offset that was written.
    Date(NaiveDateTime, Option<FixedOffset>),
    /// Time of day of the recorded machine, or at the written offset. The day is the day of the
    /// recording.
    Time(NaiveTime, Option<FixedOffset>),
}

/// Position of a written time in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockPoint {
    /// Nanoseconds since the start of the trace.
    pub ts_ns: i64,
    /// True if a time of day is in the trace only when read as UTC.
    pub is_utc: bool,
}

/// A text is not a time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a time: expected seconds (12.5), a time (17:47:38.416) or a date and time (2022-10-02 17:47:38.416), optionally followed by +02:00 or Z"
)]
pub struct WrittenError(String);

impl std::str::FromStr for WrittenTime {
    type Err = WrittenError;

    fn from_str(text: &str) -> Result<Self, WrittenError> {
        let text = text.trim();
        let error = || WrittenError(text.to_owned());
        let (clock, offset) = split_offset(text);
        for format in ["%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f"] {
            if let Ok(date) = NaiveDateTime::parse_from_str(clock, format) {
                return Ok(Self::Date(date, offset));
            }
        }
        if let Ok(time) = NaiveTime::parse_from_str(clock, "%H:%M:%S%.f") {
            return Ok(Self::Time(time, offset));
        }
        let seconds: f64 = text
            .trim_end_matches(['s', 'S'])
            .replacen(',', ".", 1)
            .parse()
            .map_err(|_| error())?;
        // Casts of floats saturate; no trace is that long.
        if seconds.is_finite() {
            Ok(Self::SinceStart((seconds * 1e9).round() as i64))
        } else {
            Err(error())
        }
    }
}

/// Splits the text into the time and the offset from UTC at its end.
fn split_offset(text: &str) -> (&str, Option<FixedOffset>) {
    let utc = text
        .strip_suffix(['Z', 'z'])
        .or_else(|| text.strip_suffix("UTC"));
    if let Some(clock) = utc {
        return (clock.trim_end(), FixedOffset::east_opt(0));
    }
    // A sign after the time of day; the dashes of a date come before it.
    let Some(at) = text
        .rfind(['+', '-'])
        .filter(|at| text.get(..*at).is_some_and(|clock| clock.contains(':')))
    else {
        return (text, None);
    };
    let (clock, offset) = text.split_at(at);
    match offset.parse() {
        Ok(offset) => (clock.trim_end(), Some(offset)),
        Err(_) => (text, None),
    }
}

impl WrittenTime {
    /// Returns the position in a trace of this length, or `None` for a clock time at which it did
    /// not run.
    #[must_use]
    pub fn place(self, clock: TraceClock, duration_ns: i64) -> Option<ClockPoint> {
        let (date, offset) = match self {
            Self::SinceStart(ts_ns) => {
                return Some(ClockPoint {
                    ts_ns,
                    is_utc: false,
                });
            }
            Self::Date(date, offset) => (date, offset),
            Self::Time(time, offset) => return time_of_day(time, offset, clock, duration_ns),
        };
        since_start(date, offset, clock)
            .filter(|ts_ns| (0..=duration_ns).contains(ts_ns))
            .map(|ts_ns| ClockPoint {
                ts_ns,
                is_utc: false,
            })
    }

    /// Returns the position as the end of a range, which may start before the trace and end after
    /// it.
    ///
    /// A time without a zone is in the time zone of the recorded machine, or in UTC if only that
    /// time is in the trace, since answers can be printed in both. `None` for a time that no
    /// calendar has.
    #[must_use]
    pub fn end_of_part(self, clock: TraceClock, duration_ns: i64) -> Option<i64> {
        if let Some(place) = self.place(clock, duration_ns) {
            return Some(place.ts_ns);
        }
        let (date, offset) = match self {
            Self::SinceStart(ts_ns) => return Some(ts_ns),
            Self::Date(date, offset) => (date, offset),
            Self::Time(time, offset) => {
                // A time of day that is on no day of the recording is taken to be on the day on
                // which it started.
                let begin = clock.start()?.with_timezone(&offset_of(offset, clock)?);
                (begin.date_naive().and_time(time), offset)
            }
        };
        let utc = || since_start(date, FixedOffset::east_opt(0), clock);
        let as_utc = if offset.is_none() { utc() } else { None };
        as_utc
            .filter(|ts_ns| (0..=duration_ns).contains(ts_ns))
            .or_else(|| since_start(date, offset, clock))
    }
}

/// Returns a time of day on one of the days of the recording, as local time, otherwise as UTC.
fn time_of_day(
    time: NaiveTime,
    offset: Option<FixedOffset>,
    clock: TraceClock,
    duration_ns: i64,
) -> Option<ClockPoint> {
    let utc = FixedOffset::east_opt(0)?;
    for (offset, is_utc) in [(offset, false), (Some(utc), true)] {
        let begin = clock.start()?.with_timezone(&offset_of(offset, clock)?);
        // One day more than the length: a recording of an hour may pass midnight.
        let days = duration_ns / 86_400_000_000_000 + 1;
        // Length and bias of a damaged trace may claim centuries; a year of days is more than any
        // recording has.
        for day in 0..=days.min(366) {
            let date = begin
                .date_naive()
                .checked_add_signed(TimeDelta::days(day))?
                .and_time(time);
            let found =
                since_start(date, offset, clock).filter(|ts_ns| (0..=duration_ns).contains(ts_ns));
            if let Some(ts_ns) = found {
                return Some(ClockPoint { ts_ns, is_utc });
            }
        }
    }
    None
}

fn since_start(date: NaiveDateTime, offset: Option<FixedOffset>, clock: TraceClock) -> Option<i64> {
    let there = date
        .and_local_timezone(offset_of(offset, clock)?)
        .single()?;
    there
        .with_timezone(&Utc)
        .signed_duration_since(clock.start()?)
        .num_nanoseconds()
}

/// Returns the written offset, or the offset of the recorded machine; UTC if that is unknown.
fn offset_of(offset: Option<FixedOffset>, clock: TraceClock) -> Option<FixedOffset> {
    offset.or_else(|| FixedOffset::west_opt(clock.bias_minutes.unwrap_or(0).checked_mul(60)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places a time in a trace of 100 s that starts at 2022-10-02 17:47:32.5 on a machine two
    /// hours ahead of UTC.
    fn place(text: &str) -> Option<(i64, bool)> {
        let clock = TraceClock {
            start_filetime: 133_091_992_525_000_000,
            bias_minutes: Some(-120),
        };
        let place = text
            .parse::<WrittenTime>()
            .unwrap()
            .place(clock, 100_000_000_000)?;
        Some((place.ts_ns / 1_000_000, place.is_utc))
    }

    #[test]
    fn times_lie_where_the_clock_of_the_machine_says() {
        for (text, expected) in [
            ("12.25", Some((12_250, false))),
            ("2022-10-02 15:47:38 UTC", Some((5500, false))),
            ("12,25s", Some((12_250, false))),
            ("-5", Some((-5000, false))),
            ("2022-10-02 17:47:38.416", Some((5916, false))),
            ("2022-10-02T17:47:38.416+02:00", Some((5916, false))),
            ("2022-10-02 15:47:38Z", Some((5500, false))),
            ("2022-10-02 17:47:31", None),
            ("17:47:33", Some((500, false))),
            ("15:47:33", Some((500, true))),
            ("17:47:33 +02:00", Some((500, false))),
            ("03:00:00", None),
        ] {
            assert_eq!(place(text), expected, "{text}");
        }
        for text in ["", "x", "12:61:00", "1e999", "2022-10-02"] {
            assert!(text.parse::<WrittenTime>().is_err(), "{text}");
        }
    }
}
