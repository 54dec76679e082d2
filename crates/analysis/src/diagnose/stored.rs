//! A diagnosis as tables of an extract: made while all rows were there, and used instead of them.
//!
//! A summary lacks the rows that most rules need, so what was found in them is stored. Each outcome has
//! the version of its rule: one of another version is not used.

use std::collections::BTreeMap;

use etwkit_question::ask;
use etwkit_sql::arrow::array::RecordBatch;
use etwkit_sql::{Session, digest};
use etwkit_trace::import::findings;
use etwkit_trace::table::{Finding, Row as _, RuleOutcome, Table};

use super::finding::{FindingRow, RuleRow, order};
use super::recorded::Recorded;
use super::rule::Rule;
use super::{DiagnoseRequest, Diagnosis, rules};
use crate::Result;

/// Version of the way from the rows of a rule to its findings. It rises when the same rows become
/// other findings, and findings that were stored before count as those of another version.
const EVALUATION: u32 = 1;

/// The stored findings, with the columns of a finding that its rule has as well left empty.
const FINDINGS: &str = "SELECT number, rule, severity, '' AS title, sentence, culprit, cost_ns, cost_percent, \
    process_key, pid, process, victims, count, longest_ns, from_ns, to_ns, at_ns, thread_key, tid, stack_id, \
    stack, chain, explained_by, confidence, evidence, shows, spot, '' AS why, fix, '' AS not_proved
FROM finding
ORDER BY number";

const OUTCOMES: &str =
    "SELECT rule, title, state, findings AS found, missing, rule_version FROM rule_outcome";

/// The missing part of a rule whose stored findings are those of another version.
const NO_SUCH_VERSION: &str =
    "diagnosis by this version of the rule (etwkit extract --findings makes one)";

etwkit_question::declare! {
    row OutcomeRow {
        rule: String = "Rule.",
        title: String = "What the rule finds.",
        state: String = "Its outcome.",
        found: i64 = "How many findings it has.",
        missing: Option<String> = "What it needs, or why it failed.",
        rule_version: String = "Its version.",
    }
}

/// Rows of the tables of a diagnosis.
pub type DiagnosisTables = Vec<(&'static Table, RecordBatch)>;

/// Diagnoses an extract that has all its rows, for the tables of one that may lack them.
///
/// # Errors
/// The errors of [`DiagnoseRequest::ask`].
pub fn diagnosis_tables(session: &Session) -> Result<DiagnosisTables> {
    let diagnosis = DiagnoseRequest::default().ask(session)?;
    let Diagnosis {
        findings: found,
        rules: outcomes,
        ..
    } = diagnosis;
    let found = found.iter().map(finding).collect();
    // Outcomes have the order of the rules.
    let outcomes = rules().iter().zip(&outcomes);
    let outcomes = outcomes.map(|(rule, row)| outcome(rule, row)).collect();
    let mut tables = DiagnosisTables::new();
    findings::write(found, outcomes, &mut tables).map_err(|error| {
        let message = error.to_string();
        etwkit_sql::Error::Failed { message }
    })?;
    Ok(tables)
}

/// Identifies the rules of the program, and the way in which they are evaluated, by 16 hexadecimal
/// digits.
#[must_use]
pub fn rules_version() -> String {
    let versions: Vec<String> = rules().iter().map(version).collect();
    digest(&[versions.concat().as_bytes()])
}

/// Identifies a version of a rule.
pub(super) fn version(rule: &Rule) -> String {
    let parts = [
        EVALUATION.to_string(),
        rule.name.clone(),
        rule.text().to_owned(),
    ];
    digest(&[parts.join("\n").as_bytes()])
}

fn finding(row: &FindingRow) -> Finding {
    // Keys and ids have 32 bits in all tables; rules of the program take them from there.
    let key = |number: Option<i64>| i32::try_from(number?).ok();
    Finding {
        number: key(Some(row.number)).unwrap_or(i32::MAX),
        rule: row.rule.clone(),
        severity: row.severity.clone(),
        sentence: row.sentence.clone(),
        culprit: row.culprit.clone(),
        cost_ns: row.cost_ns,
        cost_percent: row.cost_percent,
        process_key: key(row.process_key),
        pid: key(row.pid),
        process: row.process.clone(),
        victims: row.victims.clone(),
        count: row.count,
        longest_ns: row.longest_ns,
        from_ns: row.from_ns,
        to_ns: row.to_ns,
        at_ns: row.at_ns,
        thread_key: key(row.thread_key),
        tid: key(row.tid),
        stack_id: key(row.stack_id),
        stack: row.stack.clone(),
        chain: row.chain.clone(),
        explained_by: key(row.explained_by),
        confidence: row.confidence.clone(),
        evidence: row.evidence.clone(),
        shows: row.shows.clone(),
        spot: row.spot.clone(),
        fix: row.fix.clone(),
    }
}

fn outcome(rule: &Rule, row: &RuleRow) -> RuleOutcome {
    RuleOutcome {
        rule: row.rule.clone(),
        title: row.title.clone(),
        state: row.state.clone(),
        findings: i32::try_from(row.found).unwrap_or(i32::MAX),
        missing: row.missing.clone(),
        rule_version: version(rule),
    }
}

/// The diagnosis that is stored in an extract.
pub(super) struct Stored {
    outcomes: BTreeMap<String, OutcomeRow>,
    findings: Vec<FindingRow>,
}

impl Stored {
    /// Reads the diagnosis; `None` if the extract has none that can be used.
    pub(super) fn of(session: &Session) -> Result<Option<Self>> {
        // Its sentences have the names of the executables.
        let is_there = session.has_rows(RuleOutcome::TABLE.name) == Some(true);
        if !is_there || session.renames_processes() {
            return Ok(None);
        }
        let outcomes: Vec<OutcomeRow> = ask(session, OUTCOMES)?;
        Ok(Some(Self {
            outcomes: outcomes
                .into_iter()
                .map(|row| (row.rule.clone(), row))
                .collect(),
            findings: ask(session, FINDINGS)?,
        }))
    }

    /// The outcome of a rule, if this version of it was evaluated.
    pub(super) fn outcome(&self, rule: &Rule) -> Option<RuleRow> {
        let row = self.outcomes.get(&rule.name)?;
        // A failure, such as one for lack of memory, proves nothing.
        let is_of_use = row.rule_version == version(rule) && row.state != "failed";
        is_of_use.then(|| RuleRow {
            rule: row.rule.clone(),
            title: row.title.clone(),
            state: row.state.clone(),
            found: row.found,
            missing: row.missing.clone(),
        })
    }

    /// Returns `true` if another version of the rule was evaluated, which had what it needs.
    fn has_other_version(&self, rule: &Rule) -> bool {
        let row = self.outcomes.get(&rule.name);
        row.is_some_and(|row| row.state != "not checked" && row.rule_version != version(rule))
    }

    /// Adds the findings of those rules whose outcomes count, and puts all in the order of their cost.
    pub(super) fn add_to(&self, rules: &[&Rule], findings: &mut Vec<FindingRow>) {
        let own = findings.last().map_or(0, |last| last.number);
        let rule_of = |finding: &FindingRow| {
            let is_its = |rule: &&&Rule| rule.name == finding.rule;
            let rule = rules.iter().find(is_its).copied();
            rule.filter(|rule| self.outcome(rule).is_some())
        };
        let stored = self.findings.iter().filter_map(|finding| {
            let rule = rule_of(finding)?;
            Some(FindingRow {
                // Numbers name causes, so those of both kinds differ.
                number: own.saturating_add(finding.number),
                explained_by: finding.explained_by.map(|cause| own.saturating_add(cause)),
                title: rule.title.clone(),
                why: rule.why.clone(),
                not_proved: rule.not_proved.clone(),
                ..finding.clone()
            })
        });
        findings.extend(stored);
        findings.sort_by_key(|finding| std::cmp::Reverse(order(finding)));
    }
}

/// The outcome of a rule that need not or cannot be evaluated; `None` if it has to be.
pub(super) fn without_asking(
    session: &Session,
    (recorded, stored): (&Recorded, Option<&Stored>),
    rule: &Rule,
) -> Option<RuleRow> {
    if let Some(row) = stored.and_then(|stored| stored.outcome(rule)) {
        return Some(row);
    }
    let missing = recorded.missing(session, rule)?;
    // The rows were there when the extract was made, so another recording would not help.
    let is_other = stored.is_some_and(|stored| stored.has_other_version(rule));
    let missing = if is_other { NO_SUCH_VERSION } else { &missing };
    Some(RuleRow::not_checked(rule, missing))
}
