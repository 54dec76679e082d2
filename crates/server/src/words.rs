//! Words of the command lines that the page and agents show.

use std::borrow::Cow;

use etwkit_base::shell::{quoted, quoted_pattern};

/// Returns the path of a trace as one word for any shell.
pub(crate) fn trace_word(path: &str) -> String {
    quoted_pattern(&as_path(path))
}

/// Returns the name of a file in the current folder as one word.
pub(crate) fn file_word(name: &str) -> String {
    quoted(&as_path(name))
}

/// Returns a path that no command takes for an option.
fn as_path(path: &str) -> Cow<'_, str> {
    if path.starts_with('-') {
        Cow::Owned(format!("./{path}"))
    } else {
        Cow::Borrowed(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_one_word_and_no_option() {
        for (path, word) in [
            ("slow.etl", "slow.etl"),
            ("my trace.etl", "\"my trace.etl\""),
            ("$(x).etl", "\"?(x).etl\""),
            ("-v.etl", "./-v.etl"),
        ] {
            assert_eq!(trace_word(path), word);
        }
    }
}
