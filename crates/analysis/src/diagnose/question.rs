//! Diagnosis as a question: the first line is the costliest finding as a sentence.

use etwkit_query::Session;
use etwkit_query::question::{Answer, Files, FilesError, Form, Line, Question, Shows};

use super::finding::{FindingRow, RuleRow};
use super::rule::Rules;
use super::view::{FINDINGS, RULES, Shown, not_checked};
use super::{DiagnoseRequest, DiagnoseTable, Diagnosis};
use crate::Result;

impl Question for DiagnoseRequest {
    const NAME: &'static str = "diagnose";
    const SENTENCE: &'static str = "What made it slow: findings of rules, the costliest first";

    fn form(&self) -> Form<Self> {
        let sql: Vec<String> =
            self.chosen().map(|rule| format!("-- {}\n{}", rule.name, rule.text())).collect();
        let sql = sql.join(";\n");
        match self.table {
            DiagnoseTable::Findings => Form::made::<FindingRow>(sql, Self::findings),
            DiagnoseTable::Rules => Form::made::<RuleRow>(sql, Self::rules_asked),
        }
    }

    fn read_files(&mut self, files: &dyn Files) -> std::result::Result<(), FilesError> {
        self.rules.load(files, None, Rules::parse)
    }
}

impl DiagnoseRequest {
    fn findings(&self, session: &Session) -> Result<Answer> {
        let Diagnosis { findings, rules } = self.ask(session)?;
        let shown = Shown { details: self.details };
        let checked = rules.iter().filter(|rule| rule.state == "found" || rule.state == "nothing").count();
        let head = head(&findings, checked);
        let is_empty = findings.is_empty();
        let answer = Answer::rows(&shown, &FINDINGS, findings).with_head([head]);
        let answer = if is_empty { answer.showing(Shows::Sums) } else { answer };
        Ok(answer.with_foot(not_checked(&rules)))
    }

    fn rules_asked(&self, session: &Session) -> Result<Answer> {
        let shown = Shown { details: self.details };
        Ok(Answer::rows(&shown, &RULES, self.ask(session)?.rules))
    }
}

/// The sentence that stands above all.
fn head(findings: &[FindingRow], checked: usize) -> Line {
    match findings.iter().find(|finding| finding.cost_ns.is_some()) {
        Some(finding) => Line::heading(&finding.sentence),
        None => Line::heading(format!(
            "None of the {checked} rules that could be asked found a cause of slowness"
        )),
    }
}
