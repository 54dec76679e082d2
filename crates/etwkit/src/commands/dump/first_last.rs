//! Columns of when a row was first and last seen.

use std::str::FromStr;

use etwkit_query::time_format::{TimeFormat, TimeWriter};

/// Which of the two times are shown, and how; the time between them is in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FirstLast {
    /// Both, as other times are written.
    Both,
    /// None, the first one, or both.
    Written(Option<TimeFormat>, Option<TimeFormat>),
}

impl FromStr for FirstLast {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let format = |text: &str| text.parse().map_err(|error| format!("{error}"));
        match text.split_once(';') {
            None if text.is_empty() => Ok(Self::Both),
            None if text.eq_ignore_ascii_case("none") => Ok(Self::Written(None, None)),
            None => Ok(Self::Written(Some(format(text)?), None)),
            Some((first, last)) => Ok(Self::Written(Some(format(first)?), Some(format(last)?))),
        }
    }
}

impl FirstLast {
    /// How the first and the last time are written, where other times are written as `usual`; `None` if they are not shown.
    pub(super) fn formats(self, usual: TimeFormat) -> (Option<TimeFormat>, Option<TimeFormat>) {
        match self {
            Self::Both => (Some(usual), Some(usual)),
            Self::Written(first, last) => (first, last),
        }
    }
}

/// Times in that format, else as they are.
pub(super) fn in_format(times: TimeWriter, format: Option<TimeFormat>) -> TimeWriter {
    format.map_or(times, |format| times.with_format(format))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_those_that_are_named() {
        use TimeFormat::{Local, Seconds, Utc};
        for (text, formats) in [
            ("", (Some(Utc), Some(Utc))),
            ("none", (None, None)),
            ("S", (Some(Seconds), None)),
            ("s;local", (Some(Seconds), Some(Local))),
        ] {
            assert_eq!(text.parse::<FirstLast>().unwrap().formats(Utc), formats, "{text}");
        }
        assert!("x".parse::<FirstLast>().unwrap_err().starts_with("\"x\" is no time format"));
    }
}
