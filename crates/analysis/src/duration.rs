//! Durations as people read them.

use etwkit_question::numbers::Numbers;

const SECOND: u64 = 1_000_000_000;
const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;

/// Least number of seconds that are written with minutes.
const MANY_SECONDS: u64 = 10 * MINUTE;

/// Formats a duration with three significant digits, and a long one with minutes: `12.5 µs`,
/// `138 ms`, `1.19 s`, `12 min 34 s`, `8 h 12 min`.
pub(crate) fn duration(ns: i64) -> String {
    let size = ns.unsigned_abs();
    let seconds = size.saturating_add(SECOND / 2) / SECOND;
    if seconds >= MANY_SECONDS {
        let sign = if ns < 0 { "-" } else { "" };
        return format!("{sign}{}", in_minutes(seconds));
    }
    let (unit, name) = match size {
        0..1_000 => return format!("{ns} ns"),
        // What would round up to 1000 of a unit is written with the next larger one.
        1_000..999_500 => (1e3, "µs"),
        999_500..999_500_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{} {name}", significant(ns as f64 / unit))
}

fn in_minutes(seconds: u64) -> String {
    if seconds < HOUR {
        return format!("{} min {} s", seconds / MINUTE, seconds % MINUTE);
    }
    let hours = Numbers::default().grouped(seconds / HOUR);
    format!("{hours} h {} min", seconds % HOUR / MINUTE)
}

/// Formats milliseconds as whole ones, small ones as `0.35 ms`, and from a second on like
/// [`duration`].
pub(crate) fn milliseconds(ms: f64) -> String {
    match ms.abs() {
        size if size >= 999.5 => duration((ms * 1e6).round() as i64),
        size if size >= 9.995 => format!("{ms:.0} ms"),
        _ => format!("{ms:.2} ms"),
    }
}

/// Formats a number with about three significant digits.
pub(crate) fn significant(number: f64) -> String {
    // Limits lie half a digit below 100, 10 and 0.1: from there on, rounding would give one digit more.
    let digits = match number.abs() {
        0.0 => 0,
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.0995 => 2,
        _ => 3,
    };
    Numbers::default().fixed(number, digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_significant_digits_and_long_ones_minutes() {
        for (ns, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_500, "1.50 µs"),
            (999_499, "999 µs"),
            (999_500, "1.00 ms"),
            (138_000_000, "138 ms"),
            (999_600_000, "1.00 s"),
            (1_187_823_400, "1.19 s"),
            (95_000_000_000, "95.0 s"),
            (599_400_000_000, "599 s"),
            (599_500_000_000, "10 min 0 s"),
            (2_759_063_000_000, "45 min 59 s"),
            (3_599_600_000_000, "1 h 0 min"),
            (-29_525_000_000_000, "-8 h 12 min"),
            (i64::MIN, "-2,562,047 h 47 min"),
        ] {
            assert_eq!(duration(ns), text, "{ns}");
        }
    }

    #[test]
    fn milliseconds_have_a_unit_that_people_read() {
        for (ms, text) in [
            (0.0, "0.00 ms"),
            (0.354, "0.35 ms"),
            (-6.99, "-6.99 ms"),
            (9.996, "10 ms"),
            (361.4, "361 ms"),
            (999.6, "1.00 s"),
            (-25_312.0, "-25.3 s"),
            (2_759_063.0, "45 min 59 s"),
        ] {
            assert_eq!(milliseconds(ms), text, "{ms}");
        }
    }
}
