//! Diagnosis as a question: the first line is the costliest finding as a sentence.

use etwkit_query::Session;
use etwkit_query::question::{
    Answer, Example, Files, FilesError, Form, Line, OptionError, Question, Shows,
};

use super::costs::CostRow;
use super::finding::{FindingRow, RuleRow};
use super::rule::Rules;
use super::view::{COSTS, FINDINGS, RULES, Shown, costs_instead, not_checked};
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
            // Text shows the chains only among the details.
            DiagnoseTable::Findings if !self.details => {
                Ok(self.shown(self.ask_without_chains(session)?))
            }
            _ => self.answer(session),
        }
    }

    fn check(&self) -> std::result::Result<(), OptionError> {
        self.fail_on().map(drop)
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
        let Diagnosis {
            findings,
            rules,
            fails,
            costs,
        } = diagnosis;
        let shown = Shown {
            details: self.details,
        };
        let head = Line::heading(headline(&findings, &rules));
        let is_empty = findings.is_empty();
        let answer = Answer::rows(&shown, &FINDINGS, findings).with_head([head]);
        // Titles above no rows would say nothing; the headline already says that nothing was found.
        let answer = if is_empty {
            answer.showing(Shows::Sums)
        } else {
            answer
        };
        let foot = costs_instead(&costs).into_iter().chain(not_checked(&rules));
        answer.with_foot(foot).with_verdict(fails)
    }

    fn costs_asked(&self, session: &Session) -> Result<Answer> {
        let shown = Shown {
            details: self.details,
        };
        let costs = Self::largest_costs(session)?;
        Ok(Answer::rows(&shown, &COSTS, costs))
    }

    fn rules_asked(&self, session: &Session) -> Result<Answer> {
        let shown = Shown {
            details: self.details,
        };
        let Diagnosis { rules, fails, .. } = self.ask_without_chains(session)?;
        Ok(Answer::rows(&shown, &RULES, rules).with_verdict(fails))
    }
}

/// The sentence that stands above all.
pub(super) fn headline(findings: &[FindingRow], rules: &[RuleRow]) -> String {
    let checked = rules
        .iter()
        .filter(|rule| rule.state == "found" || rule.state == "nothing")
        .count();
    match findings.iter().find(|finding| finding.cost_ns.is_some()) {
        Some(finding) => finding.sentence.clone(),
        None => {
            let found = what_is_found(findings.len());
            let all = rules.len();
            format!("{found}: {checked} of {all} rules could be checked")
        }
    }
}

/// The beginning of the headline where no finding has a cost; notes are no cause of lost time.
fn what_is_found(notes: usize) -> String {
    match notes {
        0 => "No known cause was found".to_owned(),
        1 => "No cause of lost time was found, only a note".to_owned(),
        _ => format!("No cause of lost time was found, only {notes} notes"),
    }
}
