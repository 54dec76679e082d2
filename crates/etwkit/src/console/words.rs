//! A line of the console as words.

/// What stands behind the first word, as it was typed.
pub(super) fn behind_first(line: &str) -> &str {
    line.trim_start()
        .split_once(char::is_whitespace)
        .map_or("", |(_, rest)| rest.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_line_stays_as_it_is() {
        assert_eq!(behind_first("  .sql  SELECT 'a  b' "), "SELECT 'a  b'");
        assert_eq!(behind_first(".list"), "");
    }
}
