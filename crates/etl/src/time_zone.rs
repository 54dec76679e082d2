//! Local time of the recorded machine: whether daylight saving time was in force.

use crate::bytes::u16_at;
use crate::clock::{FILETIME_PER_SECOND, UtcTime};
use crate::wire::trace_header::TimeZone;

const PER_MINUTE: i64 = 60 * FILETIME_PER_SECOND;
const PER_DAY: i64 = 24 * 60 * PER_MINUTE;

impl TimeZone {
    /// UTC minus local time in minutes at a FILETIME: the bias plus the standard or daylight bias.
    #[must_use]
    pub fn bias_at(&self, filetime: i64) -> i32 {
        let standard = self.bias.saturating_add(self.standard_bias);
        let daylight = self.bias.saturating_add(self.daylight_bias);
        let Some(year) = UtcTime::from_filetime(filetime).map(|utc| utc.year) else {
            return standard;
        };
        // Each transition is stated in the local time that ends with it.
        let begin = transition(&self.daylight_date, year, standard);
        let end = transition(&self.standard_date, year, daylight);
        // A zone without daylight saving time has dates of zeros. Windows then applies neither of
        // the two extra biases.
        let Some((begin, end)) = begin.zip(end) else {
            return self.bias;
        };
        let is_daylight =
            // South of the equator, daylight saving time spans the turn of the year, so the range
            // within one year is standard time.
            if begin < end { (begin..end).contains(&filetime) } else { !(end..begin).contains(&filetime) };
        if is_daylight { daylight } else { standard }
    }
}

/// FILETIME of a change in a year, from a SYSTEMTIME whose year is 0: the n-th weekday of a month,
/// 5 for the last. `None` if there is none.
fn transition(rule: &[u8; 16], year: i64, bias: i32) -> Option<i64> {
    let field = |index: usize| u16_at(rule, 2 * index).map(i64::from);
    let own_year = field(0)?;
    let month = field(1)?;
    let weekday = field(2)?;
    let day = field(3)?;
    if !(1..=12).contains(&month) || weekday > 6 || !(1..=31).contains(&day) {
        return None;
    }
    let date = if own_year == 0 {
        let first = days_from_1601(year, month, 1);
        // 1601-01-01 was a Monday, and Sunday is 0.
        let first_weekday = (first + 1).rem_euclid(7);
        let next = if month == 12 {
            (year + 1, 1)
        } else {
            (year, month + 1)
        };
        let in_month = days_from_1601(next.0, next.1, 1) - first;
        let mut offset = (weekday - first_weekday).rem_euclid(7) + 7 * (day - 1);
        // Week 5 means the last of these weekdays, and most months have only four.
        while offset >= in_month {
            offset -= 7;
        }
        first + offset
    } else {
        days_from_1601(year, month, day)
    };
    let minutes = field(4)? * 60 + field(5)? + i64::from(bias);
    date.checked_mul(PER_DAY)?
        .checked_add(minutes.checked_mul(PER_MINUTE)?)
}

/// Days of the Gregorian calendar since 1601-01-01.
const fn days_from_1601(year: i64, month: i64, day: i64) -> i64 {
    // Years start in March, so that the leap day is the last day of its year.
    let (y, m) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days =
        365 * y + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400) + (153 * m + 2) / 5 + day
            - 1;
    days - 584_694
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(month: u16, day: u16, hour: u16) -> [u8; 16] {
        let mut bytes = [0; 16];
        for (index, value) in [0, month, 0, day, hour, 0, 0, 0].into_iter().enumerate() {
            bytes[2 * index..2 * index + 2].copy_from_slice(&value.to_le_bytes());
        }
        bytes
    }

    fn at(year: i64, month: i64, day: i64, hour: i64, minute: i64) -> i64 {
        days_from_1601(year, month, day) * PER_DAY + (hour * 60 + minute) * PER_MINUTE
    }

    #[test]
    fn central_europe_changes_at_one_utc_on_the_last_sundays_of_march_and_october() {
        let zone = TimeZone {
            bias: -60,
            daylight_bias: -60,
            daylight_date: rule(3, 5, 2),
            standard_date: rule(10, 5, 3),
            ..TimeZone::default()
        };
        let bias = |y, m, d, h, min| zone.bias_at(at(y, m, d, h, min));
        assert_eq!(
            [bias(2024, 1, 15, 12, 0), bias(2024, 7, 15, 12, 0)],
            [-60, -120]
        );
        assert_eq!(
            [bias(2024, 3, 31, 0, 59), bias(2024, 3, 31, 1, 0)],
            [-60, -120]
        );
        assert_eq!(
            [bias(2024, 10, 27, 0, 59), bias(2024, 10, 27, 1, 0)],
            [-120, -60]
        );
    }

    #[test]
    fn in_the_south_daylight_saving_time_spans_the_new_year() {
        let zone = TimeZone {
            bias: -600,
            daylight_bias: -60,
            daylight_date: rule(10, 1, 2),
            standard_date: rule(4, 1, 3),
            ..TimeZone::default()
        };
        let bias = |m, d| zone.bias_at(at(2023, m, d, 12, 0));
        assert_eq!(
            [bias(1, 1), bias(4, 1), bias(4, 3), bias(9, 30), bias(10, 2)],
            [-660, -660, -600, -600, -660]
        );
    }

    #[test]
    fn a_zone_without_changes_has_its_bias_all_year() {
        let zone = TimeZone {
            bias: 300,
            daylight_bias: -60,
            ..TimeZone::default()
        };
        assert_eq!(zone.bias_at(at(2024, 7, 1, 0, 0)), 300);
    }
}
