//! Command lines that show the rows behind a finding, and what they print.

use etwkit_base::shell;
use etwkit_question::any_rows::AnyValue;

use super::sentence::fill;

/// What a line of evidence prints.
#[derive(Debug, Clone)]
pub struct Printed {
    /// The command line, without the program and the extract.
    pub line: String,
    /// The text that it prints.
    pub text: String,
}

/// A line of evidence of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceLine {
    /// The command line, with `{column}` for values of a row, without the name of the program.
    pub template: String,
    /// A table that the rule does not need. The line is left out where no victim has rows in it, or
    /// nothing has where the finding has no victim.
    pub table: Option<String>,
}

impl EvidenceLine {
    /// A line of the header, `evidence: …` or `evidence of TABLE: …`; `None` for another one.
    pub(super) fn read(key: &str, value: &str) -> Option<Self> {
        // Other keys of the header are no evidence, and are read elsewhere.
        let rest = key.strip_prefix("evidence")?;
        let table = match rest {
            "" => None,
            _ => Some(rest.strip_prefix(" of ")?.trim().to_owned()),
        };
        Some(Self {
            template: value.to_owned(),
            table,
        })
    }
}

/// A line of evidence of a rule with the values of a row, for any shell; nothing where it names a column that is
/// null in this row. Each word is filled separately, so that no name from a trace becomes a second word or an option.
pub(super) fn line<'v>(
    template: &str,
    value: impl Fn(&str) -> Option<&'v AnyValue>,
) -> Option<String> {
    Some(shell::joined_patterns(words(template, value)?))
}

/// A spot of a rule with the values of a row, see [`line`]. No shell reads it, so that names stay as they are.
pub(super) fn spot<'v>(
    template: &str,
    value: impl Fn(&str) -> Option<&'v AnyValue>,
) -> Option<String> {
    Some(shell::joined(words(template, value)?))
}

/// The columns that a line names.
pub(super) fn names(template: &str) -> impl Iterator<Item = &str> {
    let opened = template.split('{').skip(1);
    opened.filter_map(|rest| Some(rest.split_once('}')?.0))
}

/// The words of a line with the values of a row.
fn words<'v>(template: &str, value: impl Fn(&str) -> Option<&'v AnyValue>) -> Option<Vec<String>> {
    // Only such names as the row has: another one stays as text.
    // A column that is null would leave an option without its value, which then means something else.
    if names(template).any(|name| matches!(value(name), Some(AnyValue::Missing))) {
        return None;
    }
    // Split before it is filled, so that blanks in a value do not make new words.
    let filled = shell::split(template).into_iter().map(|word| {
        let text = fill(&word, &value);
        match text.strip_prefix('-') {
            // Quotes do not help here: the program would read this word as one of its options.
            // `?` fits any character in a pattern, and so fits the `-` as well.
            Some(rest) if !word.starts_with('-') => format!("?{rest}"),
            _ => text,
        }
    });
    Some(filled.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_out_of_a_trace_stays_one_word() {
        let evil = AnyValue::Text("--csv=/x a' --force; $(b)".to_owned());
        let value = |name: &str| (name == "culprit").then_some(&evil);
        let written = line(
            "dump cpu --provider {culprit} --methods '*{culprit}*' --details",
            value,
        )
        .unwrap();
        let name = "-csv=/x a' --force; ?(b)";
        assert_eq!(
            written,
            format!("dump cpu --provider \"?{name}\" --methods \"*-{name}*\" --details")
        );
        let read = shell::split(&written);
        assert_eq!(
            read[3..],
            [
                &format!("?{name}"),
                "--methods",
                &format!("*-{name}*"),
                "--details"
            ]
        );
        assert_eq!(
            line("dump wait --method 'Ntfs*' --process 12", value).as_deref(),
            Some("dump wait --method \"Ntfs*\" --process 12")
        );
    }

    #[test]
    fn a_name_with_a_line_break_stays_in_its_line() {
        let evil = AnyValue::Text("a\ndump\u{1b}cpu".to_owned());
        let value = |name: &str| (name == "culprit").then_some(&evil);
        let written = line("dump cpu --provider {culprit} --details", value);
        assert_eq!(
            written.as_deref(),
            Some(r#"dump cpu --provider "a?dump?cpu" --details"#)
        );
    }

    #[test]
    fn a_line_whose_value_is_null_is_left_out() {
        let (pid, none) = (AnyValue::Whole(12), AnyValue::Missing);
        let value = |name: &str| {
            [("pid", &pid), ("reported_pid", &none)]
                .into_iter()
                .find(|one| one.0 == name)
        };
        let line = |template| line(template, |name| value(name).map(|(_, value)| value));
        assert_eq!(
            line("dump wait --process {pid}").as_deref(),
            Some("dump wait --process 12")
        );
        assert_eq!(
            line("dump user-lock --process {reported_pid} --details"),
            None
        );
        // A column that the rule does not have is a mistake in the rule: the line stays, so that it is seen.
        assert_eq!(
            line("dump wait --process {nobody}").as_deref(),
            Some(r#"dump wait --process """#)
        );
    }
}
