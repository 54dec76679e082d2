//! Diagnosis: rules are asked one after the other, and what they find is put into sentences, the costliest
//! first.
//!
//! - `rule`, `builtin`: rules and their files
//! - `recorded`: whether a trace has what a rule needs
//! - `finding`: rows of a rule → findings
//! - `sentence`: templates
//! - `question`, `view`: what front ends ask and show

mod builtin;
mod finding;
mod question;
mod recorded;
mod rule;
mod sentence;
mod view;

use etwkit_query::Session;
use etwkit_query::dump::any_rows::ask_any;
use etwkit_query::filter::TextFilter;
use etwkit_query::question::{NamedFile, option};
use etwkit_query::range::{Range, Unit};

use crate::Result;
pub use builtin::rules;
pub use finding::{FindingRow, RuleRow};
pub use rule::{Rule, Rules};

use finding::Findings;
use recorded::Recorded;

/// Most rows of a rule that are looked at: the costliest come first.
const MOST_ROWS: usize = 10_000;

etwkit_query::declare! {
    /// Which rules are asked, and what is told.
    pub request DiagnoseRequest {
        /// Only these rules (*, ?, several with ;, ! excludes)
        rule: Option<String> = option("NAMES"),
        /// Rules of your own, too: a file of SQL with a header for each
        rules: NamedFile<Rules> = option("FILE"),
        /// Only findings that cost so much (ms); notes cost nothing
        cost: Range = option("A..B").unit(Unit::Milliseconds),
        /// Leave out what is only to be known and costs nothing
        without_notes: bool = option("").called("no-notes"),
        /// What is told
        table: DiagnoseTable = option("NAME").shape(),
        /// With each finding: why it is so, what to do, what it does not prove, the whole stack
        details: bool = option("").output(),
        /// Only so many of the costliest findings
        top: Option<usize> = option("N").shape(),
    }
}

etwkit_query::declare! {
    /// A table of a diagnosis.
    pub words DiagnoseTable {
        "findings" => Findings = "What was found.",
        "rules" => Rules = "The rules that were asked, and what came of each.",
    }
}

/// What the rules say of a trace.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Diagnosis {
    /// What was found, the costliest first, notes behind.
    pub findings: Vec<FindingRow>,
    /// Each rule that was asked, and what came of it.
    pub rules: Vec<RuleRow>,
}

impl DiagnoseRequest {
    /// The rules that are asked: those of the program, then those of the file.
    fn chosen(&self) -> impl Iterator<Item = &Rule> {
        let own = self.rules.content.as_deref().map_or(&[][..], |rules| rules.0.as_slice());
        let is_asked = |rule: &&Rule| {
            let fits = |names: &str| TextFilter::parse(names).matches(Some(&rule.name));
            self.rule.as_deref().is_none_or(fits)
        };
        rules().iter().chain(own).filter(is_asked)
    }

    /// Asks the rules.
    ///
    /// # Errors
    /// A rule of the program fails; one of the user that fails becomes a row that says so.
    pub fn ask(&self, session: &Session) -> Result<Diagnosis> {
        let recorded = Recorded::of(session)?;
        let mut findings = Findings::new(session)?;
        let mut told = Vec::new();
        for rule in self.chosen() {
            told.push(match recorded.missing(session, rule) {
                Some(missing) => RuleRow::not_checked(rule, &missing),
                None => self.ask_rule(rule, session, &mut findings)?,
            });
        }
        let mut findings = findings.sorted();
        findings.retain(|finding| match finding.cost_ns {
            Some(cost) => self.cost.contains(Some(cost)),
            None => !self.without_notes && self.cost.is_unlimited(),
        });
        if let Some(top) = self.top.filter(|top| *top > 0) {
            findings.truncate(top);
        }
        for (finding, number) in findings.iter_mut().zip(1..) {
            finding.number = number;
        }
        Ok(Diagnosis { findings, rules: told })
    }

    fn ask_rule(&self, rule: &Rule, session: &Session, findings: &mut Findings<'_>) -> Result<RuleRow> {
        match ask_any(session, rule.query(), &[], MOST_ROWS) {
            Ok((rows, is_cut)) => {
                let found = findings.add(rule, rows)?;
                Ok(RuleRow::asked(rule, found, is_cut))
            }
            // One rule that fails, of a user as a rule, keeps none of the others from having its say.
            Err(error) if !matches!(error, etwkit_query::Error::Cancelled) => {
                Ok(RuleRow::failed(rule, &error.to_string()))
            }
            Err(error) => Err(error.into()),
        }
    }
}
