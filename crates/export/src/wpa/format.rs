//! Number formats: plain digits with a point, exact and independent of the reader's locale. Windows
//! Performance Analyzer groups digits by the locale of its machine, so its files differ between
//! machines. The files of etwkit do not.

/// A unit that a profile can choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
    /// Bytes.
    Bytes,
    /// 1024 bytes.
    Kilobytes,
    /// 1024² bytes.
    Megabytes,
    /// 1024³ bytes.
    Gigabytes,
    /// Hexadecimal digits.
    Hex,
}

impl Unit {
    /// Returns the unit of a column's `CellFormat`. In formats of times, the first letter is the
    /// unit.
    #[must_use]
    pub fn of_cell_format(format: &str) -> Option<Self> {
        Some(match format {
            "B" => Self::Bytes,
            "KB" => Self::Kilobytes,
            "MB" => Self::Megabytes,
            "GB" => Self::Gigabytes,
            "x" | "X" => Self::Hex,
            _ if format.starts_with('s') => Self::Seconds,
            _ if format.starts_with('m') => Self::Milliseconds,
            _ if format.starts_with('u') => Self::Microseconds,
            _ if format.starts_with('n') => Self::Nanoseconds,
            _ => return None,
        })
    }

    /// True for units of time.
    #[must_use]
    pub const fn is_time(self) -> bool {
        matches!(
            self,
            Self::Seconds | Self::Milliseconds | Self::Microseconds | Self::Nanoseconds
        )
    }

    /// True for units of size.
    #[must_use]
    pub const fn is_size(self) -> bool {
        matches!(
            self,
            Self::Bytes | Self::Kilobytes | Self::Megabytes | Self::Gigabytes
        )
    }

    /// Returns the unit's symbol, as it follows titles.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "µs",
            Self::Nanoseconds => "ns",
            Self::Bytes => "B",
            Self::Kilobytes => "KB",
            Self::Megabytes => "MB",
            Self::Gigabytes => "GB",
            Self::Hex => "",
        }
    }

    /// Returns the unit's size in nanoseconds or bytes.
    #[must_use]
    pub const fn size(self) -> i64 {
        match self {
            Self::Seconds => 1_000_000_000,
            Self::Milliseconds => 1_000_000,
            Self::Microseconds => 1_000,
            Self::Kilobytes => 1 << 10,
            Self::Megabytes => 1 << 20,
            Self::Gigabytes => 1 << 30,
            Self::Nanoseconds | Self::Bytes | Self::Hex => 1,
        }
    }

    /// Returns the number of decimals: enough for a nanosecond, and six for sizes.
    const fn digits(self) -> usize {
        match self {
            Self::Seconds => 9,
            Self::Milliseconds | Self::Kilobytes | Self::Megabytes | Self::Gigabytes => 6,
            Self::Microseconds => 3,
            Self::Nanoseconds | Self::Bytes | Self::Hex => 0,
        }
    }
}

/// Formats a whole number of nanoseconds or bytes in a unit. Times are exact; sizes are rounded to
/// six digits.
#[must_use]
pub(crate) fn whole(number: i64, unit: Unit) -> String {
    let digits = unit.digits();
    match unit {
        Unit::Hex => return format!("{number:#x}"),
        _ if digits == 0 => return number.to_string(),
        _ => {}
    }
    // Computed in whole numbers: a fraction would round the last digits of long times.
    let size = u128::from(unit.size().unsigned_abs());
    let power = 10_u128.pow(digits as u32);
    let scaled = (u128::from(number.unsigned_abs()) * power + size / 2) / size;
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}.{:0digits$}", scaled / power, scaled % power)
}

/// Formats a mean of nanoseconds or bytes in a unit.
#[must_use]
pub(crate) fn fraction(number: f64, unit: Unit) -> String {
    // A mean of whole nanoseconds or bytes has a fraction, even in a unit that otherwise has none.
    let digits = unit.digits().max(3);
    format!("{:.digits$}", number / unit.size() as f64)
}

/// Formats nanoseconds as percent of the capacity of all processors.
#[must_use]
pub(crate) fn percent(ns: f64, of_ns: f64) -> String {
    if of_ns > 0.0 {
        format!("{:.6}", ns * 100.0 / of_ns)
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_to_the_nanosecond() {
        assert_eq!(whole(26_420_482_528, Unit::Milliseconds), "26420.482528");
        assert_eq!(whole(1_500, Unit::Microseconds), "1.500");
        assert_eq!(whole(-1, Unit::Seconds), "-0.000000001");
        assert_eq!(whole(i64::MAX, Unit::Nanoseconds), i64::MAX.to_string());
        assert_eq!(whole(i64::MIN, Unit::Seconds), "-9223372036.854775808");
    }

    #[test]
    fn sizes_count_in_powers_of_1024() {
        assert_eq!(whole(1536, Unit::Kilobytes), "1.500000");
        assert_eq!(whole(4096, Unit::Bytes), "4096");
        assert_eq!(whole(-1, Unit::Hex), "0xffffffffffffffff");
    }

    #[test]
    fn formats_of_profiles_name_units() {
        assert_eq!(Unit::of_cell_format("mN"), Some(Unit::Milliseconds));
        assert_eq!(Unit::of_cell_format("MB"), Some(Unit::Megabytes));
        assert_eq!(Unit::of_cell_format("N2"), None);
    }

    #[test]
    fn percents_are_of_all_processors() {
        assert_eq!(percent(500.0, 4000.0), "12.500000");
        assert_eq!(percent(500.0, 0.0), "");
    }
}
