//! A line of the console as words.

/// A word that is being typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Partial {
    /// Words before it.
    pub(super) before: Vec<String>,
    /// Its text so far, without quotes.
    pub(super) word: String,
    /// Its start in the line, including its quote.
    pub(super) start: usize,
}

/// Splits a line into words. Double quotes keep blanks anywhere in a word, single quotes only at
/// its start: an apostrophe inside a word is part of it. A backslash is a part of a path.
pub(super) fn words(line: &str) -> Vec<String> {
    let Partial {
        mut before,
        word,
        start,
    } = partial(line);
    if start < line.len() {
        before.push(word);
    }
    before
}

/// Returns the words of a line whose last one is not complete. The last one is empty after a blank.
pub(super) fn partial(line: &str) -> Partial {
    let mut partial = Partial {
        start: line.len(),
        ..Partial::default()
    };
    let mut quote = None;
    for (at, c) in line.char_indices() {
        let is_begun = partial.start < line.len();
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"') => quote = Some('"'),
            (None, '\'') if !is_begun => quote = Some('\''),
            (None, c) if c.is_whitespace() => {
                if is_begun {
                    partial.before.push(std::mem::take(&mut partial.word));
                }
                partial.start = line.len();
                continue;
            }
            (_, c) => partial.word.push(c),
        }
        if !is_begun {
            partial.start = at;
        }
    }
    partial
}

/// Returns the text after the first word, as typed.
pub(super) fn behind_first(line: &str) -> &str {
    line.trim_start()
        .split_once(char::is_whitespace)
        .map_or("", |(_, rest)| rest.trim())
}

/// Returns a word as it has to be typed.
pub(super) fn quoted(word: &str) -> String {
    if word.contains(char::is_whitespace) {
        format!("\"{word}\"")
    } else {
        word.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_keep_blanks_and_backslashes_are_parts_of_paths() {
        for (line, expected) in [
            ("", &[][..]),
            ("  .list  ", &[".list"]),
            (
                r"dump cpu --process 'cmd;explorer'",
                &["dump", "cpu", "--process", "cmd;explorer"],
            ),
            (
                r#".load "c:\my traces\a.etl" b"#,
                &[".load", r"c:\my traces\a.etl", "b"],
            ),
            (r#"-cmdline "*a b*";*c"#, &["-cmdline", "*a b*;*c"]),
            ("x it's y", &["x", "it's", "y"]),
            (r#"a "" b"#, &["a", "", "b"]),
            ("a \"b c", &["a", "b c"]),
        ] {
            assert_eq!(words(line), expected, "{line}");
        }
    }

    #[test]
    fn the_last_word_of_a_line_begins_somewhere() {
        let of = |line: &str| {
            let partial = partial(line);
            (partial.before.join(" "), partial.word, partial.start)
        };
        assert_eq!(of(""), (String::new(), String::new(), 0));
        assert_eq!(of(".du"), (String::new(), ".du".into(), 0));
        assert_eq!(of(".dump cpu "), (".dump cpu".into(), String::new(), 10));
        assert_eq!(of(".load \"my tr"), (".load".into(), "my tr".into(), 6));
    }

    #[test]
    fn the_rest_of_a_line_stays_as_it_is() {
        assert_eq!(behind_first("  .sql  SELECT 'a  b' "), "SELECT 'a  b'");
        assert_eq!(behind_first(".list"), "");
    }
}
