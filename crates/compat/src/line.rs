//! The words of a command line: switches, and the values after them.

use std::collections::VecDeque;
use std::path::Path;

use anyhow::bail;

/// Words that are not read yet.
#[derive(Debug)]
pub(crate) struct Line {
    words: VecDeque<String>,
}

/// The next part of a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// A switch without its dash, in lower case.
    Switch(String),
    /// Any other word.
    Plain(String),
}

impl Line {
    pub(crate) fn new(words: impl IntoIterator<Item = String>) -> Self {
        Self {
            words: words.into_iter().collect(),
        }
    }

    /// Returns the next word of any kind.
    pub(crate) fn next(&mut self) -> Option<Word> {
        let word = self.words.pop_front()?;
        Some(match switch(&word) {
            Some(name) => Word::Switch(name),
            None => Word::Plain(word),
        })
    }

    /// Returns the next word unless it is a switch.
    pub(crate) fn value(&mut self) -> Option<String> {
        self.words.pop_front_if(|word| switch(word).is_none())
    }

    /// Returns the value of a switch that requires one.
    pub(crate) fn required(&mut self, name: &str) -> anyhow::Result<String> {
        match (self.value(), self.words.front()) {
            (Some(value), _) => Ok(value),
            (None, Some(next)) => bail!("-{name} needs a value, but {next:?} follows"),
            (None, None) => bail!("-{name} needs a value, but the line ends there"),
        }
    }

    /// Returns the next word if it is the name of a file that exists, with a folder or an ending.
    /// Shells other than those of Windows put such names in place of a pattern.
    pub(crate) fn file(&mut self) -> Option<String> {
        self.words.pop_front_if(|word| {
            switch(word).is_none() && word.contains(['.', '/']) && Path::new(word).exists()
        })
    }

    /// Returns the next word if it is a number or a range.
    pub(crate) fn number(&mut self) -> Option<String> {
        self.words.pop_front_if(|word| starts_number(word))
    }
}

/// Returns the name of a switch: it starts with a dash, followed by more than digits and
/// separators, so that `-5` and `-0.5` are values.
#[must_use]
pub fn switch(word: &str) -> Option<String> {
    // Texts of mail programs and word processors turn the dash into a longer one.
    let name = word.strip_prefix(['-', '\u{2013}'])?;
    // A range of two numbers can also start with a dash.
    let is_number = name.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','))
        && name
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '-'));
    (!name.is_empty() && !is_number).then(|| name.to_lowercase())
}

fn starts_number(word: &str) -> bool {
    word.trim_start_matches(['-', '+'])
        .starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','))
        && switch(word).is_none()
}

/// Translates `min max`, `min-max` or `min` into the form of our ranges: `A..B` or `A..`.
pub(crate) fn range(name: &str, line: &mut Line) -> anyhow::Result<String> {
    let first = line.required(name)?;
    let (min, max) = match split_dash(&first) {
        Some((min, max)) => (min.to_owned(), Some(max.to_owned())),
        // Only a number can be the second half: any other word belongs to the rest of the line.
        None => (first.clone(), line.number()),
    };
    Ok(format!(
        "{}..{}",
        point(&min),
        max.as_deref().map_or_else(String::new, point)
    ))
}

/// Splits a text at the dash between two numbers; a dash before a number is its sign.
pub(crate) fn split_dash(text: &str) -> Option<(&str, &str)> {
    let at = text.get(1..)?.find('-')? + 1;
    let (min, max) = text.split_at(at);
    Some((min, max.get(1..)?))
}

/// Replaces a decimal comma with a point; a number with a point is unchanged.
pub(crate) fn point(number: &str) -> String {
    if number.contains('.') {
        number.replace(',', "")
    } else {
        number.replacen(',', ".", 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &[&str]) -> Line {
        Line::new(words.iter().map(|word| (*word).to_owned()))
    }

    #[test]
    fn dashes_in_front_of_numbers_are_signs() {
        let mut words = line(&[
            "-Dump",
            "-5",
            "-0.5",
            "-1,5",
            "-",
            "-5x",
            "\u{2013}help",
            "a-b",
        ]);
        let all: Vec<Word> = std::iter::from_fn(|| words.next()).collect();
        let (switch, plain) = (
            |s: &str| Word::Switch(s.to_owned()),
            |s: &str| Word::Plain(s.to_owned()),
        );
        let expected = [
            switch("dump"),
            plain("-5"),
            plain("-0.5"),
            plain("-1,5"),
            plain("-"),
            switch("5x"),
            switch("help"),
            plain("a-b"),
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn ranges_are_one_or_two_words() {
        for (words, expected, left) in [
            (&["10"][..], "10..", 0),
            (&["10", "20"], "10..20", 0),
            (&["1300-2000"], "1300..2000", 0),
            (&["50s-51s", "-pn"], "50s..51s", 1),
            (&["115s"], "115s..", 0),
            (&["-5", "-1"], "-5..-1", 0),
            (&["1,5", "2,5ms"], "1.5..2.5ms", 0),
            (&["1,000.5"], "1000.5..", 0),
            (&["0", "0"], "0..0", 0),
            (&["10", "cpu"], "10..", 1),
        ] {
            let mut words = line(words);
            assert_eq!(range("x", &mut words).unwrap(), expected);
            assert_eq!(words.words.len(), left, "{expected}");
        }
        let error = range("minmaxcpums", &mut line(&["-pn"]))
            .unwrap_err()
            .to_string();
        assert_eq!(error, "-minmaxcpums needs a value, but \"-pn\" follows");
    }
}
