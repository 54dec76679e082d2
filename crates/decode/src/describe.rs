//! Common parts of the readers for files that describe events.

use std::borrow::Cow;

/// Letters of a file that an error shows.
const MAX_FOUND: usize = 80;

/// A fault in a file, with its position. Text from the file is kept unchanged and has to be escaped
/// for a terminal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: expected {expected}, found {found}")]
pub struct Wrong {
    /// Line, from 1.
    pub line: usize,
    /// The expected content.
    pub expected: String,
    /// The content found there.
    pub found: String,
    hint: &'static str,
}

impl Wrong {
    pub(crate) fn at(line: usize, expected: &str, found: &str, hint: &'static str) -> Self {
        // A binary that was named by mistake may be one line of megabytes.
        let cut = found
            // Cut at a character and not at a byte.
            .char_indices()
            .nth(MAX_FOUND)
            .and_then(|(end, _)| found.get(..end));
        let found = cut.map_or_else(|| found.to_owned(), |cut| format!("{cut}…"));
        Self {
            line,
            expected: expected.to_owned(),
            found,
            hint,
        }
    }

    /// An error at a byte of a text.
    pub(crate) fn in_text(
        text: &str,
        at: usize,
        expected: &str,
        found: &str,
        hint: &'static str,
    ) -> Self {
        // Counted in bytes: an XML reader may report a position inside a character, where text
        // cannot be cut.
        let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
        // Lines count from 1, as in editors.
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        Self::at(line, expected, found, hint)
    }

    /// A description of the file format.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        self.hint
    }
}

/// The text of a file in UTF-8 or, with its mark in front, UTF-16; `None` if it is neither.
#[must_use]
pub fn text_of(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let (units, []) = bytes.as_chunks::<2>() else {
            return None;
        };
        char::decode_utf16(units.iter().map(|pair| unit(*pair)))
            .collect::<Result<String, _>>()
            .ok()
    };
    // Without a mark only UTF-8 is taken: a guess at a code page would change names without notice.
    match bytes {
        [0xFF, 0xFE, rest @ ..] => wide(rest, u16::from_le_bytes).map(Cow::Owned),
        [0xFE, 0xFF, rest @ ..] => wide(rest, u16::from_be_bytes).map(Cow::Owned),
        [0xEF, 0xBB, 0xBF, rest @ ..] => std::str::from_utf8(rest).ok().map(Cow::Borrowed),
        _ => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_in_front_decide_the_encoding() {
        assert_eq!(text_of(b"\xEF\xBB\xBFab").as_deref(), Some("ab"));
        assert_eq!(text_of(b"\xFF\xFEa\0b\0").as_deref(), Some("ab"));
        assert_eq!(text_of(b"\xFE\xFF\0a\0b").as_deref(), Some("ab"));
        assert_eq!(
            (
                text_of(b"\xFF\xFEa"),
                text_of(b"\xC3"),
                text_of(b"\xFF\xFE\0\xD8")
            ),
            (None, None, None)
        );
    }

    #[test]
    fn a_long_line_is_shown_in_part() {
        let wrong = Wrong::in_text("a\nb\nc", 4, "x", &"é".repeat(500), "hint");
        assert_eq!(
            (wrong.line, wrong.found.chars().count()),
            (3, MAX_FOUND + 1)
        );
    }
}
