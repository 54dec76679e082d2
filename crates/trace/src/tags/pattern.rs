//! Patterns of entry points: `*` matches any text, everything else only itself.

use std::borrow::Cow;

/// A text with `*` anywhere. `?` is an ordinary character: compilers generate names with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The text before the first `*`; the whole pattern if there is none.
    prefix: Box<str>,
    /// The rest after it; `None` without a `*`.
    rest: Option<Rest>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rest {
    /// The texts between two `*`, without empty ones.
    middle: Box<[Box<str>]>,
    suffix: Box<str>,
}

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        let Some((prefix, rest)) = text.split_once('*') else {
            return Self {
                prefix: text.into(),
                rest: None,
            };
        };
        let (middle, suffix) = rest.rsplit_once('*').unwrap_or(("", rest));
        let middle = middle
            .split('*')
            .filter(|piece| !piece.is_empty())
            .map(Into::into)
            .collect();
        Self {
            prefix: prefix.into(),
            rest: Some(Rest {
                middle,
                suffix: suffix.into(),
            }),
        }
    }

    /// True if it matches a text as a whole.
    pub(super) fn matches(&self, text: &str) -> bool {
        let Some(Rest { middle, suffix }) = &self.rest else {
            return *self.prefix == *text;
        };
        // The suffix is removed after the prefix, so that the two cannot share characters.
        let inner = text
            .strip_prefix(&*self.prefix)
            .and_then(|text| text.strip_suffix(&**suffix));
        // The first position of each piece leaves the most room for the pieces after it.
        let behind = |text, piece: &str| Some(str::split_once(text, piece)?.1);
        inner.is_some_and(|inner| {
            middle
                .iter()
                .try_fold(inner, |text, piece| behind(text, piece))
                .is_some()
        })
    }
}

/// A name of a method with dots. `Type::Method` and `Type.Method` are two spellings of one name:
/// tools write .NET methods either way.
pub(super) fn pointed(text: &str) -> Cow<'_, str> {
    if text.contains("::") {
        Cow::Owned(text.replace("::", "."))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text_and_a_question_mark_for_itself() {
        for (pattern, text, expected) in [
            ("NtCreateFile", "NtCreateFile", true),
            ("NtCreateFile", "NtCreateFileEx", false),
            ("Nt*", "NtCreateFile", true),
            ("Nt*", "ZwCreateFile", false),
            ("*File", "NtCreateFile", true),
            ("*File", "NtCreateFileEx", false),
            ("*Create*", "NtCreateFile", true),
            ("Nt*ate*ile", "NtCreateFile", true),
            ("Nt*File*File", "NtCreateFile", false),
            ("ab*ba", "aba", false),
            ("a**b", "ab", true),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("??0Type*", "??0Type@@QEAA", true),
            ("?0Type*", "??0Type@@QEAA", false),
            ("*ö*", "größe", true),
        ] {
            assert_eq!(
                Pattern::new(pattern).matches(text),
                expected,
                "{pattern} {text}"
            );
        }
    }

    /// The meaning of a pattern, in the simplest form.
    fn plainly(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern, text) {
            ([], []) => true,
            ([b'*', rest @ ..], _) => (0..=text.len()).any(|skip| plainly(rest, &text[skip..])),
            ([p, pattern @ ..], [t, text @ ..]) => p == t && plainly(pattern, text),
            _ => false,
        }
    }

    #[test]
    fn every_short_pattern_means_what_it_says() {
        let words = |letters: &[u8], most: u32| {
            let mut words = vec![String::new()];
            for length in 1..=most {
                for number in 0..letters.len().pow(length) {
                    let digit =
                        |at: u32| letters[number / letters.len().pow(at) % letters.len()] as char;
                    words.push((0..length).map(digit).collect());
                }
            }
            words
        };
        let texts = words(b"ab", 5);
        for pattern in words(b"ab*", 5) {
            let compiled = Pattern::new(&pattern);
            for text in &texts {
                let expected = plainly(pattern.as_bytes(), text.as_bytes());
                assert_eq!(compiled.matches(text), expected, "{pattern} {text}");
            }
        }
    }
}
