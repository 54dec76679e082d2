//! Labels on extracts: `--label NAME=VALUE`.

use std::collections::BTreeMap;

/// Characters of a value at most.
const MAX_VALUE: usize = 200;

/// Parses the name and value of a label. The table `extract` joins all labels with `;`, so neither
/// of them may contain one.
pub(crate) fn parse(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("expected NAME=VALUE, as in build=7731")?;
    let is_word = |c: char| c.is_alphanumeric() || "._-".contains(c);
    if name.is_empty() || !name.chars().all(is_word) {
        return Err("expected a name of letters, digits, `.`, `_` and `-` before `=`".to_owned());
    }
    if value.chars().any(|c| c == ';' || c.is_control()) || value.chars().count() > MAX_VALUE {
        return Err(format!(
            "expected a value of {MAX_VALUE} characters at most, without `;` and line breaks"
        ));
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// Returns all labels of a command line; if one is given twice, the last one counts.
pub(super) fn all(given: &[(String, String)]) -> BTreeMap<String, String> {
    given.iter().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_and_values_anything_on_one_line() {
        assert_eq!(
            parse("build=7731"),
            Ok(("build".to_owned(), "7731".to_owned()))
        );
        assert_eq!(
            parse("a.b-c_1=x = y "),
            Ok(("a.b-c_1".to_owned(), "x = y ".to_owned()))
        );
        assert_eq!(parse("empty="), Ok(("empty".to_owned(), String::new())));
        for wrong in [
            "build",
            "=7",
            "a b=1",
            "a;b=1",
            "a=1;b=2",
            "a=1\n2",
            &format!("a={}", "x".repeat(201)),
        ] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
        let given = [("a", "1"), ("b", "2"), ("a", "3")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(
            all(&given)
                .into_iter()
                .map(|(name, value)| name + &value)
                .collect::<Vec<_>>(),
            ["a3", "b2"]
        );
    }
}
