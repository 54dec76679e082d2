//! Parts of long names.

use std::fmt;
use std::str::FromStr;

use crate::{OptionError, Scalar, Spec};

/// The part of a name that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// From one character to before another.
    Part(usize, usize),
    /// The last characters, of this number.
    Last(usize),
}

impl FromStr for Cut {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str, default| match text {
            "" => Ok(default),
            _ => text
                .parse()
                .map_err(|_| "expected A..B, A.., ..B or -N, numbers of characters".to_owned()),
        };
        if let Some((from, to)) = text.split_once("..") {
            let from = number(from, 0)?;
            let to = number(to, usize::MAX)?;
            return if from < to {
                Ok(Self::Part(from, to))
            } else {
                Err("nothing is left of a name".to_owned())
            };
        }
        match text.split_once('-') {
            Some(("", last)) if !last.is_empty() => Ok(Self::Last(number(last, 0)?)),
            Some((from, to)) if !from.is_empty() => format!("{from}..{to}").parse(),
            _ => Err("expected A..B, A.., ..B or -N, numbers of characters".to_owned()),
        }
    }
}

/// Writes the form that is parsed.
impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Part(from, usize::MAX) => write!(f, "{from}.."),
            Self::Part(from, to) => write!(f, "{from}..{to}"),
            Self::Last(count) => write!(f, "-{count}"),
        }
    }
}

impl Scalar for Cut {
    fn parse(text: &str, spec: &Spec) -> Result<Self, OptionError> {
        spec.parsed(text)
    }
    fn text(&self, _: &Spec) -> String {
        self.to_string()
    }
}

impl Cut {
    /// Returns the first character and the end of the part, for a name of `length` characters.
    #[must_use]
    pub fn bounds(self, length: usize) -> (usize, usize) {
        match self {
            Self::Part(from, to) => (from.min(length), to.min(length)),
            Self::Last(count) => (length.saturating_sub(count), length),
        }
    }

    /// Returns the part; `...` replaces the missing characters at the start. A name that ends before
    /// the part keeps its last character, so that rows of short names can be told from empty ones.
    #[must_use]
    pub fn of(self, name: &str) -> String {
        // Characters and not bytes: a cut inside a character would leave invalid text.
        let length = name.chars().count();
        let (from, to) = match self.bounds(length) {
            (from, _) if from == length && from > 0 => (length - 1, length),
            part => part,
        };
        let part: String = name.chars().take(to).skip(from).collect();
        if from > 0 { format!("...{part}") } else { part }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut() {
        for (cut, shown) in [
            ("2..4", "...ñd"),
            ("..3", "Wiñ"),
            ("0-3", "Wiñ"),
            ("3..", "...dow"),
            ("-2", "...ow"),
            ("-99", "Wiñdow"),
            ("-6", "Wiñdow"),
            ("5..6", "...w"),
            ("6..7", "...w"),
            ("9..", "...w"),
            ("..6", "Wiñdow"),
            ("..7", "Wiñdow"),
        ] {
            assert_eq!(cut.parse::<Cut>().unwrap().of("Wiñdow"), shown, "{cut}");
        }
        assert_eq!("9..".parse::<Cut>().unwrap().of(""), "");
        for wrong in ["", "3", "4..2", "a..b", "-", "--2"] {
            assert!(wrong.parse::<Cut>().is_err(), "{wrong}");
        }
    }
}
