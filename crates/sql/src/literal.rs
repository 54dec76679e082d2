//! Literals of SQL.

/// Returns a text as SQL literal.
#[must_use]
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_cannot_leave_a_literal() {
        assert_eq!(quoted("a'; DROP --\\"), "'a''; DROP --\\'");
    }
}
