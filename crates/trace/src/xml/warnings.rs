//! What could not be followed in a file.

use std::borrow::Cow;
use std::fmt;

/// Warnings that are kept. A file that is no file of rules has one for each of its elements; the
/// first ones say so.
const MAX_KEPT: usize = 20;

/// What could not be followed in a file. Names and values of the file appear in it unchanged and
/// have to be escaped for a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The file, as the caller named it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Character in the line, from 1.
    pub column: usize,
    /// What is wrong, and what happens with it.
    pub text: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            column,
            text,
        } = self;
        write!(f, "{file}:{line}:{column}: {text}")
    }
}

/// The first warnings about files, and the number of the others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Warnings {
    kept: Vec<Warning>,
    /// Bytes of texts whose places are known: those of kept warnings, with their numbers.
    known: Vec<(usize, usize)>,
    others: usize,
}

impl Warnings {
    /// Adds one at a byte of the text of a file.
    pub fn add(&mut self, file: &str, text: &str, at: usize, warning: impl FnOnce() -> String) {
        // Places are counted only for those that are kept.
        if self.kept.len() >= MAX_KEPT {
            self.others += 1;
            return;
        }
        let (line, column) = self.known(file, at).unwrap_or_else(|| place(text, at));
        let number = self.kept.len();
        self.push(Warning {
            file: file.to_owned(),
            line,
            column,
            text: warning(),
        });
        if self.kept.len() > number {
            self.known.push((at, number));
        }
    }

    /// The place of a byte that has a warning. A definition that others use has the same ones again
    /// for each of them, and counting lines up to it would take long.
    fn known(&self, file: &str, at: usize) -> Option<(usize, usize)> {
        let numbers = self.known.iter().filter(|(byte, _)| *byte == at);
        let mut warnings = numbers.filter_map(|(_, number)| self.kept.get(*number));
        let found = warnings.find(|warning| warning.file == file)?;
        Some((found.line, found.column))
    }

    /// None.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            kept: Vec::new(),
            known: Vec::new(),
            others: 0,
        }
    }

    /// Adds one whose place is known. A definition that several others use is read for each of
    /// them, so one that is known already is not added.
    pub fn push(&mut self, warning: Warning) {
        if self.kept.len() >= MAX_KEPT {
            self.others += 1;
        } else if !self.kept.contains(&warning) {
            self.kept.push(warning);
        }
    }

    /// Adds those of another file.
    pub fn append(&mut self, more: Self) {
        let room = MAX_KEPT.saturating_sub(self.kept.len());
        self.others += more.others + more.kept.len().saturating_sub(room);
        self.kept.extend(more.kept.into_iter().take(room));
    }

    /// True if there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// The first one.
    #[must_use]
    pub fn first(&self) -> Option<&Warning> {
        self.kept.first()
    }

    /// Those that are kept.
    pub fn iter(&self) -> impl Iterator<Item = &Warning> {
        self.kept.iter()
    }

    /// Lines for the user: one for each that is kept, and one for the number of the others.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.kept.iter().map(ToString::to_string).collect();
        if let Some(last) = self.kept.last().filter(|_| self.others > 0) {
            lines.push(format!(
                "{}: {} more warnings like these",
                last.file, self.others
            ));
        }
        lines
    }
}

/// Line and column of a byte of a text, from 1.
#[must_use]
pub fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or("");
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// Characters of a name or value of a file that a warning shows.
const MAX_SHOWN: usize = 60;

/// The beginning of a name or value, for a warning.
#[must_use]
pub fn clipped(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or(text))),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_warning_is_kept_once_and_takes_no_time() {
        let text = "a\n".repeat(1 << 20);
        let mut warnings = Warnings::new();
        let start = std::time::Instant::now();
        for _ in 0..20_000 {
            warnings.add("one", &text, text.len() - 1, || "wrong".to_owned());
            warnings.add("other", &text, text.len() - 1, || "wrong".to_owned());
        }
        assert_eq!(
            warnings.lines(),
            ["one:1048576:2: wrong", "other:1048576:2: wrong"]
        );
        // Counting the lines for each of them would take a minute.
        assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    }
}
