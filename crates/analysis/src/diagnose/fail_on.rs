//! What a diagnosis is asked to fail on, for scripts: any finding, one of a rule, or one that costs too much.

use etwkit_question::range::{Range, Unit};
use etwkit_sql::filter::TextFilter;

use super::finding::FindingRow;
use super::no_such_rule;

/// Words of `--fail-on`; a finding that one of them hits is enough.
#[derive(Debug, Clone)]
pub(super) struct FailOn(Vec<Word>);

#[derive(Debug, Clone)]
enum Word {
    /// Any finding that costs time.
    Any,
    /// Any finding that costs at least this much.
    Cost(Range),
    /// Findings of rules with this name, including notes.
    Rule(TextFilter),
}

impl FailOn {
    /// Reads `any`, `500ms` or names of rules, several of them separated by commas.
    pub(super) fn parse(text: &str, rules: &[&str]) -> Result<Self, String> {
        text.split(',')
            .map(|word| Word::parse(word.trim(), rules))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Whether this finding makes it fail.
    pub(super) fn is_hit(&self, finding: &FindingRow) -> bool {
        self.0.iter().any(|word| match word {
            // Notes cost nothing, and a build should not fail because of what is good to know.
            Word::Any => finding.cost_ns.is_some(),
            Word::Cost(least) => finding
                .cost_ns
                .is_some_and(|cost| least.contains(Some(cost))),
            Word::Rule(name) => name.matches(Some(&finding.rule)),
        })
    }
}

impl Word {
    fn parse(word: &str, rules: &[&str]) -> Result<Self, String> {
        if word == "any" {
            return Ok(Self::Any);
        }
        // No rule of the program starts with a digit, so a mistyped time gets the message about times.
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            // A limit is a range without an upper end, so that times are read as everywhere
            // else.
            let range = Range::parse(&format!("{word}.."), Unit::Milliseconds);
            return range
                .map(Self::Cost)
                .map_err(|_| format!("expected a time such as 500ms or 2s, found {word:?}"));
        }
        let name = TextFilter::parse(word);
        // A name that hits nothing would make a check that never fails.
        if !word.is_empty() && rules.iter().any(|rule| name.matches(Some(rule))) {
            return Ok(Self::Rule(name));
        }
        let no_rule = no_such_rule(word, rules);
        Err(format!(
            "expected any, a time such as 500ms, or a rule: {no_rule}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(rule: &str, cost_ms: Option<i64>) -> FindingRow {
        FindingRow {
            rule: rule.into(),
            cost_ns: cost_ms.map(|ms| ms * 1_000_000),
            ..FindingRow::default()
        }
    }

    #[test]
    fn one_word_is_enough() {
        let rules = ["spin", "dns-timeout", "tracing-cost"];
        let hits =
            |text: &str, finding: &FindingRow| FailOn::parse(text, &rules).unwrap().is_hit(finding);
        let (spin, note) = (finding("spin", Some(500)), finding("tracing-cost", None));
        for (text, by_spin, by_note) in [
            ("any", true, false),
            ("500ms", true, false),
            ("0.6s", false, false),
            ("501", false, false),
            ("dns-*", false, false),
            ("tracing-cost", false, true),
            ("2s, spin", true, false),
        ] {
            assert_eq!(
                (hits(text, &spin), hits(text, &note)),
                (by_spin, by_note),
                "{text}"
            );
        }
        let wrong = FailOn::parse("spim", &rules).unwrap_err();
        assert!(
            wrong.ends_with("no rule is called \"spim\"; did you mean spin?"),
            "{wrong}"
        );
        for wrong in ["", "spim", "5 parsecs", "any,,spin"] {
            assert!(FailOn::parse(wrong, &rules).is_err(), "{wrong}");
        }
    }
}
