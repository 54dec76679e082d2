//! Columns of the first and the last time of a row.

use std::fmt;
use std::str::FromStr;

use crate::{OptionError, Scalar, Spec};
use etwkit_sql::time_format::TimeFormat;

/// Choice and format of the first and the last time. The time between them is always shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstLast {
    /// Both, in the format of other times.
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

/// Writes the form that is parsed.
impl fmt::Display for FirstLast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Both => Ok(()),
            Self::Written(None, _) => f.write_str("none"),
            Self::Written(Some(first), None) => write!(f, "{first}"),
            Self::Written(Some(first), Some(last)) => write!(f, "{first};{last}"),
        }
    }
}

impl Scalar for FirstLast {
    fn parse(text: &str, spec: &Spec) -> Result<Self, OptionError> {
        spec.parsed(text)
    }
    fn text(&self, _: &Spec) -> String {
        self.to_string()
    }
}

impl FirstLast {
    /// Returns the formats of the first and the last time. `None` hides a time; `Some(None)` uses
    /// the format of all other times.
    #[must_use]
    pub const fn formats(self) -> (Option<Option<TimeFormat>>, Option<Option<TimeFormat>>) {
        const fn own(format: Option<TimeFormat>) -> Option<Option<TimeFormat>> {
            match format {
                None => None,
                some => Some(some),
            }
        }
        match self {
            Self::Both => (Some(None), Some(None)),
            Self::Written(first, last) => (own(first), own(last)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_those_that_are_named() {
        use TimeFormat::{Local, Seconds};
        for (text, formats) in [
            ("", (Some(None), Some(None))),
            ("none", (None, None)),
            ("s", (Some(Some(Seconds)), None)),
            ("s;local", (Some(Some(Seconds)), Some(Some(Local)))),
        ] {
            let parsed: FirstLast = text.parse().unwrap();
            assert_eq!(
                (parsed.formats(), parsed.to_string().as_str()),
                (formats, text),
                "{text}"
            );
        }
        assert!(
            "x".parse::<FirstLast>()
                .unwrap_err()
                .starts_with("\"x\" is no time format")
        );
    }
}
