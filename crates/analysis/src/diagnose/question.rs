//! Diagnosis as a question: the first line is the costliest finding as a sentence.

use etwkit_base::digits::counted;
use etwkit_question::{
    Answer, Example, Files, FilesError, Form, Line, OptionError, Question, Shows,
};
use etwkit_sql::Session;

use super::costs::CostRow;
use super::finding::{FindingRow, RuleRow};
use super::recorded::{NAMED_BY, NAMES_OF_FUNCTIONS};
use super::rule::Rules;
use super::view::{COSTS, FINDINGS, FindingDetail, RULES, costs_instead, not_checked};
use super::{DiagnoseRequest, DiagnoseTable, Diagnosis};
use crate::Result;

impl Question for DiagnoseRequest {
    const NAME: &'static str = "diagnose";
    const SENTENCE: &'static str = "What made it slow: findings of rules, the costliest first";
    const USUAL: &'static [&'static str] =
        &["rule", "rules", "cost", "no-notes", "table", "fail-on"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "the likely causes, the costliest first",
        },
        Example {
            words: "--fail-on 500ms slow.etl",
            answer: "exit code 3 if a cause costs more",
        },
    ];

    fn form(&self) -> Form<Self> {
        let sql: Vec<String> = self
            .chosen()
            // A comment names the rule of each statement, since the SQL of all of them is
            // printed together.
            .map(|rule| format!("-- {}\n{}", rule.name, rule.text()))
            .collect();
        let sql = sql.join(";\n");
        match self.table {
            DiagnoseTable::Findings => Form::made::<FindingRow>(sql, Self::findings),
            DiagnoseTable::Rules => Form::made::<RuleRow>(sql, Self::rules_asked),
            DiagnoseTable::Costs => Form::made::<CostRow>(sql, Self::costs_asked),
        }
    }

    fn answer_for_people(&self, session: &Session) -> Result<Answer> {
        match self.table {
            // Following the chains would take most of the time of an answer that does not show
            // them.
            // Text shows the chains only among the details.
            DiagnoseTable::Findings if !self.details => {
                let mut diagnosis = self.ask_without_chains(session)?;
                self.add_costs(session, &mut diagnosis)?;
                Ok(self.shown(diagnosis))
            }
            _ => self.answer(session),
        }
    }

    fn answer_for_rows(&self, session: &Session) -> Result<Answer> {
        match self.table {
            // The largest costs are lines below the findings.
            DiagnoseTable::Findings => Ok(self.shown(self.ask_without_costs(session)?)),
            _ => self.answer(session),
        }
    }

    fn check(&self) -> std::result::Result<(), OptionError> {
        // Names of the rules of a file are known once it is read.
        if self.rules.name.is_none() {
            self.check_names()?;
        }
        // The words are checked without a trace, before minutes of conversion.
        self.fail_on().map(drop)
    }

    fn nothing_found(&self) -> Option<&'static str> {
        matches!(self.table, DiagnoseTable::Findings).then_some("no known cause was found")
    }

    fn read_files(&mut self, files: &dyn Files) -> std::result::Result<(), FilesError> {
        self.rules.load(files, None, Rules::parse)
    }
}

impl DiagnoseRequest {
    fn findings(&self, session: &Session) -> Result<Answer> {
        self.ask(session).map(|diagnosis| self.shown(diagnosis))
    }

    fn shown(&self, diagnosis: Diagnosis) -> Answer {
        let head = Line::heading(headline(&diagnosis));
        // Before the parts of the diagnosis are taken apart.
        let names = names_first(&diagnosis);
        let has_names_first = names.is_some();
        let Diagnosis {
            findings,
            rules,
            fails,
            costs,
            failed_costs,
            ..
        } = diagnosis;
        let shown = FindingDetail {
            details: self.details,
            has_headline: true,
        };
        let is_empty = findings.is_empty();
        let answer =
            Answer::rows(&shown, &FINDINGS, findings).with_head([head].into_iter().chain(names));
        // Titles above no rows would say nothing; the headline already says that nothing was found.
        let answer = if is_empty {
            answer.showing(Shows::Sums)
        } else {
            answer
        };
        // The hint on symbols stands once: above if nothing was found, otherwise here.
        let unchecked = [rules, failed_costs].concat();
        let unchecked = not_checked(&unchecked, !has_names_first);
        let foot = costs_instead(&costs).into_iter().chain(unchecked);
        answer.with_foot(foot).with_verdict(fails)
    }

    fn costs_asked(&self, session: &Session) -> Result<Answer> {
        let shown = FindingDetail {
            details: self.details,
            has_headline: false,
        };
        let costs = Self::largest_costs(session)?;
        // A table for programs has no place for it, and the largest of the others need not be the largest.
        if let Some(failed) = costs.failed.first() {
            let why = failed.missing.as_deref().unwrap_or("");
            let message = format!("{}: {why}", failed.rule);
            return Err(etwkit_sql::Error::Failed { message }.into());
        }
        Ok(Answer::rows(&shown, &COSTS, costs.largest))
    }

    fn rules_asked(&self, session: &Session) -> Result<Answer> {
        let shown = FindingDetail {
            details: self.details,
            has_headline: false,
        };
        // The outcome of a rule does not depend on chains.
        let Diagnosis { rules, fails, .. } = self.ask_without_chains(session)?;
        Ok(Answer::rows(&shown, &RULES, rules).with_verdict(fails))
    }
}

/// The sentence that stands above all.
pub(super) fn headline(diagnosis: &Diagnosis) -> String {
    let Diagnosis {
        findings, rules, ..
    } = diagnosis;
    // Findings are in the order of their cost, but what has a cause ranks behind it.
    match findings.iter().find(|finding| finding.cost_ns.is_some()) {
        Some(finding) => finding.sentence.clone(),
        None if diagnosis.is_blind => format!("{BLIND}; {RECORDED_BY}"),
        None => {
            // A reader must not think that the trace is fine when an option hid what was found.
            let found = match diagnosis.left_out {
                0 => what_is_found(findings.len()),
                1 => "--cost leaves out the only cause that was found".to_owned(),
                causes => format!("--cost leaves out all {causes} causes that were found"),
            };
            format!("{found}: {}", what_was_checked(rules))
        }
    }
}

/// The headline of a trace that cannot answer.
const BLIND: &str = "This recording has no context switches, CPU samples or disk I/O: \
    most causes of slowness cannot be seen in it";

/// How to record a trace that can.
const RECORDED_BY: &str = "`etwkit record start cswitch` records waits and CPU use";

/// The command that gets names of functions: below the headline where no cause was found, since the cause may be
/// among those that names show.
fn names_first(diagnosis: &Diagnosis) -> Option<Line> {
    // A blind trace needs another recording, and names would not help.
    let is_of_use = !diagnosis.has_cause() && !diagnosis.is_blind && nameless(&diagnosis.rules) > 0;
    is_of_use.then(|| Line::command("names of functions: ", NAMED_BY))
}

/// The number of rules that lack names of functions.
fn nameless(rules: &[RuleRow]) -> usize {
    let lacks_names = |rule: &&RuleRow| {
        let missing = rule.missing.as_deref().unwrap_or("");
        rule.state == "not checked" && missing.starts_with(NAMES_OF_FUNCTIONS)
    };
    rules.iter().filter(lacks_names).count()
}

/// How many rules could be checked, and how many of the others only lack names of functions.
fn what_was_checked(rules: &[RuleRow]) -> String {
    let is_checked = |rule: &&RuleRow| rule.state == "found" || rule.state == "nothing";
    let checked = rules.iter().filter(is_checked).count();
    let all = counted(rules.len() as u64, ["rule", "rules"]);
    let said = format!("{checked} of {all} could be checked");
    let nameless = nameless(rules);
    if nameless == 0 {
        return said;
    }
    let lack = if nameless == 1 { "lacks" } else { "lack" };
    format!("{said}, {nameless} of the others {lack} {NAMES_OF_FUNCTIONS}")
}

/// The beginning of the headline where no finding has a cost; notes are no cause of lost time.
fn what_is_found(notes: usize) -> String {
    match notes {
        0 => "No known cause was found".to_owned(),
        1 => "No cause of lost time was found, only a note".to_owned(),
        _ => format!("No cause of lost time was found, only {notes} notes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(state: &str, missing: Option<&str>) -> RuleRow {
        RuleRow {
            state: state.to_owned(),
            missing: missing.map(str::to_owned),
            ..RuleRow::default()
        }
    }

    #[test]
    fn the_headline_says_how_many_rules_lack_names_of_functions() {
        let names = Some("names of functions in ntdll.dll (etwkit symbols load --symbols MS)");
        let mut diagnosis = Diagnosis {
            rules: vec![
                rule("nothing", None),
                rule("not checked", names),
                rule("not checked", names),
                rule("not checked", Some("DNS queries")),
            ],
            ..Diagnosis::default()
        };
        assert_eq!(
            headline(&diagnosis),
            "No known cause was found: 1 of 4 rules could be checked, \
            2 of the others lack names of functions"
        );
        let one = Diagnosis {
            rules: vec![rule("nothing", None), rule("not checked", names)],
            ..Diagnosis::default()
        };
        assert!(headline(&one).ends_with(", 1 of the others lacks names of functions"));
        diagnosis.rules.push(rule("not checked", Some("registry")));
        diagnosis.rules.push(rule("failed", Some("SQL")));
        assert_eq!(
            headline(&diagnosis),
            "No known cause was found: 1 of 6 rules could be checked, \
            2 of the others lack names of functions"
        );
        assert!(names_first(&diagnosis).is_some_and(|line| line.is_command));
        diagnosis.findings.push(FindingRow {
            cost_ns: Some(1),
            ..FindingRow::default()
        });
        assert_eq!(names_first(&diagnosis), None, "the cause comes first");
        diagnosis.findings.clear();
        diagnosis
            .rules
            .retain(|rule| rule.missing.as_deref() != names);
        assert_eq!(
            headline(&diagnosis),
            "No known cause was found: 1 of 4 rules could be checked"
        );
        assert_eq!(names_first(&diagnosis), None);
        for (causes, said) in [
            (1, "--cost leaves out the only cause that was found: 1 of 4"),
            (2, "--cost leaves out all 2 causes that were found: 1 of 4"),
        ] {
            diagnosis.left_out = causes;
            assert!(headline(&diagnosis).starts_with(said));
        }
    }

    #[test]
    fn the_headline_of_a_trace_that_cannot_answer_says_so() {
        let mut diagnosis = Diagnosis {
            is_blind: true,
            ..Diagnosis::default()
        };
        assert_eq!(
            headline(&diagnosis),
            "This recording has no context switches, CPU samples or disk I/O: \
            most causes of slowness cannot be seen in it; `etwkit record start cswitch` records waits and CPU use"
        );
        diagnosis.findings.push(FindingRow {
            sentence: "a.exe waited.".to_owned(),
            cost_ns: Some(1),
            ..FindingRow::default()
        });
        assert_eq!(headline(&diagnosis), "a.exe waited.");
    }
}
