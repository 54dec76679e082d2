//! Dates, lengths of time and seconds, as .NET writes them.

use crate::json7z::error::Result;
use crate::json7z::reader::Reader;

/// Units of 100 ns in a second.
const TICKS: i64 = 10_000_000;
/// Days from 1601 to 1970.
const DAYS_1601_1970: i64 = 134_774;
/// Years that a recording can be from. The first and last year of .NET mean an unknown time.
const YEARS: std::ops::RangeInclusive<i64> = 1602..=9998;

/// Start of the recording in nanoseconds since time zero.
pub(crate) const START_NS: i64 = 0;

/// A point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Moment {
    /// Time in units of 100 ns since 1601, UTC.
    pub(crate) filetime: i64,
    /// UTC minus local time in minutes, if the text has a zone.
    pub(crate) bias_minutes: Option<i32>,
}

/// Time zero of the trace.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Zero(pub(crate) i64);

impl Zero {
    /// Nanoseconds since time zero.
    pub(crate) const fn ns(self, moment: Moment) -> i64 {
        moment.filetime.saturating_sub(self.0).saturating_mul(100)
    }
}

/// Parses `2020-01-01T15:55:03.3994777+01:00`. The zone may also be `Z` or missing. The inner
/// `None` is a time that means unknown.
fn moment(text: &str) -> Option<Option<Moment>> {
    let (date, rest) = text.split_once('T')?;
    let mut date = date.splitn(3, '-').map(number);
    let year = date.next()??;
    let month = date.next()??;
    let day = date.next()??;
    // After the T, a sign can only start the zone.
    let (time, bias_minutes) = match rest.find(['Z', '+', '-']) {
        None => (rest, None),
        Some(at) => (rest.get(..at)?, Some(bias(rest.get(at..)?)?)),
    };
    let ticks = clock(time)?;
    if !(1..=12).contains(&month)
        || !(1..=31).contains(&day)
        || !(0..24 * 3600 * TICKS).contains(&ticks)
    {
        return None;
    }
    if !YEARS.contains(&year) {
        return Some(None);
    }
    let days = days_from_1970(year, month, day) + DAYS_1601_1970;
    let local = days * 24 * 3600 * TICKS + ticks;
    // Windows defines the bias so: local time and bias together are UTC. A time without a zone is
    // in UTC already.
    let of_zone = |minutes: i32| i64::from(minutes) * 60 * TICKS;
    let filetime = local + bias_minutes.map_or(0, of_zone);
    Some(Some(Moment {
        filetime,
        bias_minutes,
    }))
}

fn number(text: &str) -> Option<i64> {
    // 18 digits always fit into 64 bits.
    (text.len() <= 18 && text.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| text.parse().ok())?
}

/// `+01:00`: local time is an hour ahead of UTC, so the bias is -60.
fn bias(zone: &str) -> Option<i32> {
    if zone == "Z" {
        return Some(0);
    }
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let minutes = i32::try_from(
        number(hours)?
            .checked_mul(60)?
            .checked_add(number(minutes)?)?,
    )
    .ok()?;
    (minutes <= 24 * 60).then_some(if zone.starts_with('+') {
        -minutes
    } else {
        minutes
    })
}

/// `15:55:03.3994777` in units of 100 ns.
fn clock(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = whole.splitn(3, ':').map(number);
    let hours = parts.next()??;
    let minutes = parts.next()??;
    let seconds = parts.next()??;
    if hours > 24 || minutes > 59 || seconds > 60 {
        return None;
    }
    // Units of 100 ns have seven digits: fewer are filled up, further ones are cut off.
    let digits: String = fraction.chars().chain("0000000".chars()).take(7).collect();
    let ticks = if fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        number(&digits)?
    } else {
        return None;
    };
    Some(((hours * 60 + minutes) * 60 + seconds) * TICKS + ticks)
}

/// Days of a date of the Gregorian calendar since 1970-01-01, counted in years that start in March.
const fn days_from_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    // The five months from March to July have 153 days, and so have the months from August to
    // December. Years that start in March have their leap day at the end, where it shifts no month.
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date of a day, counted as above.
const fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    // Leap days before this day are taken out, so that all years have 365 days: one after the 1,460
    // other days of four years, but none at the end of a century (36,524 days), except at the end of
    // the era.
    let years = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * years + years / 4 - years / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = years + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, of_year - (153 * shifted + 2) / 5 + 1)
}

/// A point in time as the manifest has it: `2024-05-01T10:00:00.1234567Z`.
pub(crate) fn utc_text(filetime: i64) -> String {
    let days = filetime.div_euclid(24 * 3600 * TICKS);
    let ticks = filetime.rem_euclid(24 * 3600 * TICKS);
    let (year, month, day) = date_of(days - DAYS_1601_1970);
    let seconds = ticks / TICKS;
    let hours = seconds / 3600;
    let minutes = seconds / 60 % 60;
    format!(
        "{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{:02}.{:07}Z",
        seconds % 60,
        ticks % TICKS
    )
}

/// `[-][days.]hh:mm:ss[.fffffff]` in nanoseconds.
fn span_ns(text: &str) -> Option<i64> {
    let (is_negative, text) = text
        .strip_prefix('-')
        .map_or((false, text), |rest| (true, rest));
    let (days, time) = match (text.find('.'), text.find(':')) {
        // A point before the first colon ends the days. A point after it starts the fraction of the
        // seconds.
        (Some(point), Some(colon)) if point < colon => {
            (number(text.get(..point)?)?, text.get(point + 1..)?)
        }
        _ => (0, text),
    };
    let ticks = days
        .checked_mul(24 * 3600 * TICKS)?
        .checked_add(clock(time)?)?;
    let ns = ticks.saturating_mul(100);
    Some(if is_negative { -ns } else { ns })
}

/// Seconds in nanoseconds.
pub(crate) fn seconds_ns(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

impl Reader {
    /// A point in time; `None` if it is missing or means unknown.
    pub(crate) fn moment(&mut self) -> Result<Option<Moment>> {
        self.parsed(
            "a date and time as 2020-01-01T15:55:03.1234567+01:00",
            moment,
        )
        .map(Option::flatten)
    }

    /// A length of time in nanoseconds.
    pub(crate) fn span(&mut self) -> Result<Option<i64>> {
        self.parsed("a length of time as 00:00:01.2345678", span_ns)
    }

    fn parsed<T>(
        &mut self,
        expected: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some(text) = self.text()? else {
            return Ok(None);
        };
        let wrong = || {
            self.unexpected(
                expected,
                format!("the text {:?}", text.chars().take(60).collect::<String>()),
            )
        };
        parse(&text).map(Some).ok_or_else(wrong)
    }

    /// Seconds in nanoseconds.
    pub(crate) fn seconds(&mut self) -> Result<Option<i64>> {
        Ok(self.float()?.map(seconds_ns))
    }
}

/// The start after `name(pid)` in the key of a process.
pub(crate) fn start_of(text: &str) -> Option<Option<i64>> {
    if text.is_empty() {
        Some(None)
    } else {
        moment(text).map(|moment| moment.map(|moment| moment.filetime))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_points_in_time() {
        let zone = |text| moment(text).unwrap().unwrap();
        assert_eq!(
            utc_text(zone("2020-01-01T15:55:03.3994777+01:00").filetime),
            "2020-01-01T14:55:03.3994777Z"
        );
        assert_eq!(
            zone("2020-01-01T15:55:03.3994777+01:00").bias_minutes,
            Some(-60)
        );
        assert_eq!(
            utc_text(zone("2024-02-29T23:30:00-05:30").filetime),
            "2024-03-01T05:00:00.0000000Z"
        );
        assert_eq!(
            zone("2024-05-01T10:00:00Z").filetime,
            133_590_312_000_000_000
        );
        assert_eq!(zone("2024-05-01T10:00:00.5").bias_minutes, None);
        assert_eq!(moment("0001-01-01T00:00:00+00:00"), Some(None));
        assert_eq!(moment("9999-12-31T23:59:59.9999999+00:00"), Some(None));
        for wrong in [
            "",
            "2020-01-01",
            "2020-13-01T00:00:00Z",
            "2020-01-01T25:00:00Z",
            "2020-01-01T00:00:00+1",
            "a-b-cTd",
            "T",
            "2020-01-01T1:2:x",
        ] {
            assert_eq!(moment(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn every_day_has_its_date() {
        let mut days = days_from_1970(1602, 1, 1);
        for year in 1602..2500 {
            for month in 1..=12 {
                let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
                let length = [
                    31,
                    if is_leap { 29 } else { 28 },
                    31,
                    30,
                    31,
                    30,
                    31,
                    31,
                    30,
                    31,
                    30,
                    31,
                ][month as usize - 1];
                for day in 1..=length {
                    assert_eq!(
                        (days_from_1970(year, month, day), date_of(days)),
                        (days, (year, month, day))
                    );
                    days += 1;
                }
            }
        }
    }

    #[test]
    fn lengths_have_days_and_fractions() {
        for (text, ns) in [
            ("00:00:00", Some(0)),
            ("00:00:08.2163348", Some(8_216_334_800)),
            ("-00:00:01.5", Some(-1_500_000_000)),
            ("2.01:00:00", Some(49 * 3_600_000_000_000)),
            ("1:2", None),
            ("x", None),
            ("10675199.02:48:05.4775807", Some(i64::MAX)),
        ] {
            assert_eq!(span_ns(text), ns, "{text}");
        }
        assert_eq!(seconds_ns(12.3456), 12_345_600_000);
    }
}
