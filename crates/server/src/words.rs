//! Words of the command lines that the page and agents show.

use etwkit_base::shell::quoted_pattern;

/// Returns the path of a trace as one word for any shell. With `-` in front it would be an option.
pub(crate) fn trace_word(path: &str) -> String {
    if path.starts_with('-') {
        return quoted_pattern(&format!("./{path}"));
    }
    quoted_pattern(path)
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
