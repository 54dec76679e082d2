//! Number formats of text: the decimal mark and the grouping of digits.
//!
//! Our own command lines always write `1,234,567.8`; command lines of other programs may follow the
//! locale of their reader. Times never use it.

use etwkit_base::digits;

use etwkit_sql::time_format::seconds;

use crate::TypedValue;

/// A number format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    decimal: char,
    /// Separator of groups of digits.
    group: char,
    /// Digits of the group before the decimal mark, and of the groups further left; 0 means all
    /// remaining digits.
    sizes: (u8, u8),
}

/// The format of our own command lines.
impl Default for Numbers {
    fn default() -> Self {
        Self {
            decimal: '.',
            group: ',',
            sizes: (3, 3),
        }
    }
}

impl Numbers {
    /// Creates a format with this decimal mark and this separator of groups. `sizes` are the digits
    /// of the group before the mark and of the groups further left; 0 means all remaining digits.
    #[must_use]
    pub const fn new(decimal: char, group: char, sizes: (u8, u8)) -> Self {
        Self {
            decimal,
            group,
            sizes,
        }
    }

    /// Creates the format of an example, which has to be 1234567.8: `1.234.567,8`.
    #[must_use]
    pub fn like(example: &str) -> Option<Self> {
        let digits: String = example.chars().filter(char::is_ascii_digit).collect();
        let mut marks = example.chars().filter(|c| !c.is_ascii_digit()).rev();
        let is_whole = digits == "12345678" && example.starts_with('1') && example.ends_with('8');
        let decimal = marks.next().filter(|_| is_whole)?;
        let group = marks.next();
        // All groups have one mark, and it differs from the decimal one: otherwise the example
        // cannot be read in one way only.
        if marks.any(|mark| Some(mark) != group) || group == Some(decimal) {
            return None;
        }
        let whole = example.trim_end_matches('8').trim_end_matches(decimal);
        let mut lengths = whole.split(|c: char| Some(c) == group).map(str::len).rev();
        let first = lengths.next()?;
        // The digits left of the only separator form a group like the first one, unless there are
        // more of them.
        let further = match (lengths.next(), lengths.next()) {
            (Some(next), None) if next > first => 0,
            (Some(_), None) => first,
            (Some(next), Some(_)) => next,
            (None, _) => {
                return Some(
                    Self {
                        decimal,
                        ..Self::default()
                    }
                    .ungrouped(),
                );
            }
        };
        let sizes = (u8::try_from(first).ok()?, u8::try_from(further).ok()?);
        Some(Self {
            decimal,
            group: group.unwrap_or(' '),
            sizes,
        })
    }

    /// Returns the format with the same mark and without groups.
    #[must_use]
    pub const fn ungrouped(self) -> Self {
        Self {
            sizes: (0, 0),
            ..self
        }
    }

    /// Formats a whole number in groups.
    #[must_use]
    pub fn whole(&self, number: i64) -> String {
        let sign = if number < 0 { "-" } else { "" };
        format!("{sign}{}", self.grouped(number.unsigned_abs()))
    }

    /// Formats a number without a sign in groups.
    #[must_use]
    pub fn grouped(&self, number: u64) -> String {
        digits::grouped_by(number, self.group, self.sizes)
    }

    /// Formats a number of thousandths, in groups, with three digits after the mark.
    #[must_use]
    pub fn thousandths(&self, number: i64) -> String {
        self.parts(number, 3)
    }

    /// Formats a number of tenths, in groups, with one digit after the mark.
    #[must_use]
    pub fn tenths(&self, number: i64) -> String {
        self.parts(number, 1)
    }

    fn parts(&self, number: i64, digits: usize) -> String {
        let sign = if number < 0 { "-" } else { "" };
        let number = number.unsigned_abs();
        let one = if digits == 1 { 10 } else { 1000 };
        format!(
            "{sign}{}{}{:0digits$}",
            self.grouped(number / one),
            self.decimal,
            number % one
        )
    }

    /// Formats a number with `digits` digits after the mark, without groups. A number that rounds
    /// to 0 has no sign.
    #[must_use]
    pub fn fixed(&self, number: f64, digits: usize) -> String {
        let text = format!("{number:.digits$}");
        let rounded = text
            .strip_prefix('-')
            .filter(|size| size.bytes().all(|byte| matches!(byte, b'0' | b'.')));
        self.marked(rounded.map_or_else(|| text.clone(), str::to_owned))
    }

    /// Formats a duration in nanoseconds as seconds with `digits` digits, without groups.
    #[must_use]
    pub fn seconds(&self, ns: i64, digits: u8) -> String {
        self.marked(seconds(ns, digits))
    }

    /// Formats bytes in the largest matching one of `units`. Each unit is 1024 of the previous one,
    /// so there are at most four digits.
    #[must_use]
    pub fn bytes(&self, bytes: i64, units: [&str; 4]) -> String {
        if bytes.unsigned_abs() < 1024 {
            return format!("{bytes} B");
        }
        // The sign is kept, since differences of sizes are also formatted.
        let mut value = bytes as f64 / 1024.0;
        let mut unit = 0;
        while value.abs() >= 1024.0 && unit + 1 < units.len() {
            (value, unit) = (value / 1024.0, unit + 1);
        }
        format!(
            "{} {}",
            self.fixed(value, 1),
            units.get(unit).unwrap_or(&"?")
        )
    }

    /// Formats a value, a number with a fraction as in JSON, without groups.
    #[must_use]
    pub fn typed(&self, value: &TypedValue) -> String {
        match value {
            TypedValue::Number(_) => self.marked(value.written()),
            _ => value.written(),
        }
    }

    /// Formats a number with all its digits, without groups.
    #[must_use]
    pub fn all_digits(&self, number: f64) -> String {
        self.marked(number.to_string())
    }

    /// Replaces the point in a number with the mark of the locale.
    fn marked(&self, number: String) -> String {
        if self.decimal == '.' {
            number
        } else {
            number.replace('.', self.decimal.encode_utf8(&mut [0; 4]))
        }
    }
}

/// Returns a quotient, rounded half to even.
#[must_use]
pub fn rounded(number: i64, unit: i64) -> i64 {
    let number = i128::from(number);
    let unit = i128::from(unit.max(1));
    // Divided downwards, so that the rest is never negative and halves of negative numbers are
    // treated alike.
    let whole = number.div_euclid(unit);
    let rest = number.rem_euclid(unit);
    let up = rest * 2 > unit || (rest * 2 == unit && whole % 2 != 0);
    i64::try_from(whole + i128::from(up)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMATS: &[(&str, &str)] = &[
        ("1,234,567.8", "9,223,372,036,854,775,807"),
        ("1.234.567,8", "9.223.372.036.854.775.807"),
        (
            "1\u{202F}234\u{202F}567,8",
            "9\u{202F}223\u{202F}372\u{202F}036\u{202F}854\u{202F}775\u{202F}807",
        ),
        ("12,34,567.8", "92,23,37,20,36,85,47,75,807"),
        ("123,4567.8", "922,3372,0368,5477,5807"),
        ("1234,567.8", "9223372036854775,807"),
        ("1234567,8", "9223372036854775807"),
    ];

    #[test]
    fn an_example_is_a_format() {
        for (example, most) in FORMATS {
            let numbers = Numbers::like(example).unwrap();
            assert_eq!(numbers.tenths(12_345_678), *example);
            assert_eq!(numbers.whole(i64::MAX), *most);
            assert_eq!(numbers.whole(-1234), format!("-{}", numbers.whole(1234)));
            assert_eq!(numbers.whole(0), "0");
        }
        assert_eq!(Numbers::like("1,234,567.8"), Some(Numbers::default()));
        for wrong in [
            "",
            "x",
            "1234567",
            "1,234,567,8",
            "1.234,567.8",
            "1,234.567,8",
            "1.234.567,9",
            "1234567.8,",
            "٫1234567.8",
        ] {
            assert_eq!(Numbers::like(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_rounded_to_0_has_no_sign() {
        let numbers = Numbers::default();
        let texts = [-0.04, -0.0, -0.05, 0.04, -1.0].map(|number| numbers.fixed(number, 1));
        assert_eq!(texts, ["0.0", "0.0", "-0.1", "0.0", "-1.0"]);
        assert_eq!(numbers.fixed(-0.4, 0), "0");
    }

    #[test]
    fn digits_are_grouped_from_the_right() {
        let numbers = Numbers::default();
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(numbers.grouped(number), text);
            assert_eq!(numbers.ungrouped().grouped(number), number.to_string());
        }
    }

    #[test]
    fn sizes_have_units_of_1024() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            (3 << 30, "3.0 GiB"),
            (-2048, "-2.0 KiB"),
        ] {
            assert_eq!(
                Numbers::default().bytes(bytes, ["KiB", "MiB", "GiB", "TiB"]),
                text
            );
        }
    }

    #[test]
    fn fractions_have_the_mark_of_the_locale() {
        let german = Numbers::like("1.234.567,8").unwrap();
        assert_eq!(german.thousandths(-1_234_567_891), "-1.234.567,891");
        assert_eq!(german.ungrouped().thousandths(1_234_567_891), "1234567,891");
        assert_eq!(german.thousandths(-5), "-0,005");
        assert_eq!(german.fixed(12345.678, 1), "12345,7");
        assert_eq!(german.fixed(12345.678, 0), "12346");
        assert_eq!(german.seconds(12_038_499_999, 3), "12,038");
        assert_eq!(german.all_digits(0.25), "0,25");
        assert_eq!(german.all_digits(f64::NAN), "NaN");
        let ours = Numbers::default();
        assert_eq!(
            (ours.seconds(12_038_000_000, 3), ours.fixed(0.5, 3)),
            ("12.038".into(), "0.500".into())
        );
    }

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
}
