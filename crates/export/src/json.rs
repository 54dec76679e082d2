//! Pieces of JSON, for files that are written while their rows come.

/// Returns a text as a JSON string, with escapes.
pub(crate) fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Formats nanoseconds as a number of larger units, exactly: one unit has `digits` digits of
/// nanoseconds.
fn decimal(ns: i64, digits: usize) -> String {
    // By whole numbers: a double has 53 bits, which nanoseconds exceed after 104 days, and a
    // fraction of a millisecond has no exact double at all.
    let sign = if ns < 0 { "-" } else { "" };
    let ns = ns.unsigned_abs();
    let unit = (0..digits).fold(1_u64, |unit, _| unit.saturating_mul(10));
    let text = format!("{sign}{}.{:0digits$}", ns / unit, ns % unit);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Formats nanoseconds as milliseconds, exactly.
pub(crate) fn milliseconds(ns: i64) -> String {
    decimal(ns, 6)
}

/// Formats nanoseconds as microseconds, exactly.
pub(crate) fn microseconds(ns: i64) -> String {
    decimal(ns, 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact() {
        for (ns, ms, us) in [
            (0, "0", "0"),
            (1, "0.000001", "0.001"),
            (1_000_000, "1", "1000"),
            (10_500_000, "10.5", "10500"),
            (-2_500_010, "-2.50001", "-2500.01"),
            (i64::MAX, "9223372036854.775807", "9223372036854775.807"),
        ] {
            assert_eq!(
                (milliseconds(ns).as_str(), microseconds(ns).as_str()),
                (ms, us)
            );
        }
    }

    #[test]
    fn no_text_ends_itself() {
        for name in [
            "a\"b",
            "a\\",
            "\u{0}\u{1f}\u{7f}",
            "../</script>",
            "\u{fffd}\u{202e}",
            "😀",
        ] {
            let json = text(name);
            assert!(!json.chars().any(|c| c < ' '), "{json}");
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), name);
        }
    }
}
