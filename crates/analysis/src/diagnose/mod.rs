//! Diagnosis: rules are evaluated, and what they find is put into sentences, the costliest first.
//!
//! - `rule`, `builtin`: rules and their files
//! - `recorded`: whether a trace has what a rule needs
//! - `spot`: views of the page that show what is behind a finding
//! - `evaluated`: rules are asked, two at a time
//! - `finding`: rows of a rule → findings
//! - `chain`: whom a victim waited for
//! - `costs`: the largest costs, where nothing is found
//! - `explained`: findings behind which another one is
//! - `stored`: a diagnosis as tables of an extract, and back
//! - `trend`: how often each rule found something in many runs
//! - `sentence`: templates
//! - `fail_on`: what scripts ask a diagnosis to fail on
//! - `question`, `view`: what front ends ask and show
//! - `report`: findings as a file to pass on

mod builtin;
mod chain;
mod costs;
mod evaluated;
mod evidence;
mod explained;
mod fail_on;
mod finding;
mod question;
mod recorded;
mod report;
mod rule;
mod sentence;
mod spot;
mod stored;
mod trend;
mod view;

use etwkit_question::range::{Range, Unit};
use etwkit_question::{NamedFile, OptionError, option};
use etwkit_sql::Session;
use etwkit_sql::filter::TextFilter;
use etwkit_sql::similar;

use crate::Result;
use crate::chain::ChainContext;
pub use builtin::rules;
pub use costs::CostRow;
pub use evidence::{EvidenceLine, Printed};
pub use finding::{FindingRow, RuleRow};
pub use report::{Reported, html, html_of_one, markdown};
pub use rule::{Rule, Rules};
pub use spot::{Shows, Spot, SpotField, VIEWS, WrongWord};
pub use stored::{DiagnosisTables, diagnosis_tables, rules_version};
pub use trend::{TrendRequest, TrendRow};

use costs::Costs;
use evaluated::{found, two_at_a_time};
use fail_on::FailOn;
use finding::Findings;
use recorded::Recorded;
use stored::{Stored, without_asking};

etwkit_question::declare! {
    /// Which rules are evaluated, and what is reported.
    pub request DiagnoseRequest {
        /// Only these rules (*, ?, several with ;, ! excludes)
        rule: Option<String> = option("RULES"),
        /// Also check rules of your own: a file of SQL with a header for each rule
        rules: NamedFile<Rules> = option("FILE"),
        /// Only findings with this cost (ms); notes cost nothing
        cost: Range = option("A..B").unit(Unit::Milliseconds),
        /// Leave out notes, which are good to know but cost nothing
        without_notes: bool = option("").called("no-notes"),
        /// Table to print
        table: DiagnoseTable = option("NAME").shape(),
        /// Print the reason, the fix, the limits and the whole stack of each finding
        details: bool = option("").output(),
        /// Exit with code 3 if a finding matches, otherwise with 0: any, a minimum cost such as
        /// 500ms, or names of rules; several with commas
        fail_on: Option<String> = option("WHAT").called("fail-on").output(),
        /// Only the N costliest findings
        top: Option<usize> = option("N").shape(),
    }
}

etwkit_question::declare! {
    /// A table of a diagnosis.
    pub words DiagnoseTable {
        "findings" => Findings = "What was found.",
        "rules" => Rules = "The rules that were evaluated, and the outcome of each.",
        "costs" => Costs = "The three largest costs, each of another kind: where to look first.",
    }
}

/// What the rules say about a trace.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Diagnosis {
    /// What was found, the costliest first, notes last.
    pub findings: Vec<FindingRow>,
    /// Each rule that was evaluated, and its outcome.
    pub rules: Vec<RuleRow>,
    /// Whether one of the findings is one to fail on; `None` if nothing to fail on was given. Findings that
    /// filters leave out count, too.
    pub fails: Option<bool>,
    /// The largest costs by kind where no finding costs time: where to look. They are no findings.
    pub costs: Vec<CostRow>,
    /// The costs that could not be computed, with the reason.
    pub failed_costs: Vec<RuleRow>,
    /// Whether the recording has nothing that shows where time went, and all rules were asked.
    pub is_blind: bool,
    /// Number of findings whose cost is not the wanted one.
    pub left_out: usize,
}

impl Diagnosis {
    /// Returns `true` if a cause of lost time was found, also if it is left out.
    fn has_cause(&self) -> bool {
        let mut costs = self.findings.iter().map(|finding| finding.cost_ns);
        self.left_out > 0 || costs.any(|cost| cost.is_some())
    }
}

impl DiagnoseRequest {
    /// The rules that are evaluated: those of the program, then those of the file.
    pub fn chosen(&self) -> impl Iterator<Item = &Rule> {
        let is_asked = |rule: &&Rule| {
            let fits = |names: &str| TextFilter::parse(names).matches(Some(&rule.name));
            self.rule.as_deref().is_none_or(fits)
        };
        self.known().filter(is_asked)
    }

    /// The rules of the program, then those of the file.
    fn known(&self) -> impl Iterator<Item = &Rule> {
        // A rule of the file does not replace one of the program, even with the same name.
        let own = self
            .rules
            .content
            .as_deref()
            .map_or(&[][..], |rules| rules.0.as_slice());
        rules().iter().chain(own)
    }

    /// Checks that there is a rule for each name that it is asked for. Without one, a mistyped name would
    /// look like a trace in which nothing is wrong.
    fn check_names(&self) -> std::result::Result<(), OptionError> {
        let known: Vec<&str> = self.known().map(|rule| rule.name.as_str()).collect();
        let asked = self.rule.as_deref().unwrap_or("").split(';');
        // Each name of the list, without the sign of an exclusion.
        let mut names = asked
            .map(|name| name.trim().trim_start_matches('!').trim_start())
            .filter(|name| !name.is_empty());
        let is_unknown = |name: &&str| {
            let filter = TextFilter::parse(name);
            !known.iter().any(|rule| filter.matches(Some(rule)))
        };
        match names.find(is_unknown) {
            Some(name) => Err(OptionError::Value {
                option: "rule",
                problem: no_such_rule(name, &known),
            }),
            None => Ok(()),
        }
    }

    /// What it is asked to fail on.
    fn fail_on(&self) -> std::result::Result<Option<FailOn>, OptionError> {
        // Only rules that are evaluated can be hit.
        let names: Vec<&str> = self.chosen().map(|rule| rule.name.as_str()).collect();
        let read = |text: &String| FailOn::parse(text, &names);
        let wrong = |problem| OptionError::Value {
            option: "fail-on",
            problem,
        };
        self.fail_on.as_ref().map(read).transpose().map_err(wrong)
    }

    /// Evaluates the rules, follows the waits of the findings, and adds the largest costs if there is no cause.
    ///
    /// # Errors
    /// The session cannot be asked, or was cancelled; a rule that fails becomes a row that says so.
    pub fn ask(&self, session: &Session) -> Result<Diagnosis> {
        let mut diagnosis = self.ask_without_costs(session)?;
        self.add_costs(session, &mut diagnosis)?;
        Ok(diagnosis)
    }

    /// Evaluates the rules and follows the waits of the findings, for callers that show no largest costs.
    ///
    /// # Errors
    /// Those of [`Self::ask`].
    pub fn ask_without_costs(&self, session: &Session) -> Result<Diagnosis> {
        let (mut diagnosis, known) = self.asked(session)?;
        // Rules that use what windows and locks report about themselves find something without context
        // switches, too, but there are no chains then.
        // Only findings that cost time have a piece, and so a wait.
        let Some(known) = known.filter(|_| session.has_rows("context_switch") == Some(true)) else {
            return Ok(diagnosis);
        };
        // Stored findings have their chains.
        for finding in diagnosis
            .findings
            .iter_mut()
            .filter(|finding| finding.cost_ns.is_some() && finding.chain.is_none())
        {
            finding.chain = chain::of(session, finding, &known)?;
        }
        Ok(diagnosis)
    }

    /// Evaluates the rules alone, for callers that show neither chains of waits nor the largest costs: following
    /// the chains reads context switches for each finding.
    ///
    /// # Errors
    /// Those of [`Self::ask`].
    pub fn ask_without_chains(&self, session: &Session) -> Result<Diagnosis> {
        self.asked(session).map(|(diagnosis, _)| diagnosis)
    }

    /// Adds the largest costs if no finding costs time.
    fn add_costs(&self, session: &Session, diagnosis: &mut Diagnosis) -> Result<()> {
        // Findings already say where to look, and a request for rules is answered by these alone.
        if diagnosis.has_cause() || self.rule.is_some() {
            return Ok(());
        }
        let costs = Self::largest_costs(session)?;
        diagnosis.costs = costs.largest;
        diagnosis.failed_costs = costs.failed;
        Ok(())
    }

    /// The largest costs by kind, whatever the rules find.
    fn largest_costs(session: &Session) -> Result<Costs> {
        let known = ChainContext::load(session)?;
        costs::largest(session, &Recorded::of(session)?, &known)
    }

    /// Leaves out findings whose cost is not the wanted one, and notes that are not wanted. Returns the
    /// number of findings with a cost that are left out.
    // Counted, so that a report does not claim that nothing was found.
    fn leave_out(&self, findings: &mut Vec<FindingRow>) -> usize {
        let is_left_out = |finding: &&FindingRow| {
            finding.cost_ns.is_some() && !self.cost.contains(finding.cost_ns)
        };
        let left_out = findings.iter().filter(is_left_out).count();
        findings.retain(|finding| match finding.cost_ns {
            Some(cost) => self.cost.contains(Some(cost)),
            // A note has no cost, so it fits no limit on the cost.
            None => !self.without_notes && self.cost.is_unlimited(),
        });
        left_out
    }

    /// The diagnosis that is stored in the extract, if it is used. With all rows it is used as a whole or
    /// not at all, since findings that are evaluated together also explain each other.
    fn stored(&self, session: &Session, chosen: &[&Rule]) -> Result<Option<Stored>> {
        let is_whole = |stored: &Stored| {
            let has_outcome = |rule: &&Rule| stored.outcome(rule).is_some();
            self.rule.is_none() && chosen.iter().all(has_outcome)
        };
        let stored = Stored::of(session)?;
        Ok(stored.filter(|stored| session.is_summary() || is_whole(stored)))
    }

    fn asked(&self, session: &Session) -> Result<(Diagnosis, Option<ChainContext>)> {
        // Both come before any query: a mistyped option must not cost minutes first.
        self.check_names().map_err(etwkit_question::Error::from)?;
        let fail_on = self.fail_on().map_err(etwkit_question::Error::from)?;
        let all: Vec<&Rule> = self.chosen().collect();
        let stored = self.stored(session, &all)?;
        let recorded = Recorded::of(session)?;
        let mut findings = Findings::new(session)?;
        let known_by = (&recorded, stored.as_ref());
        let chosen: Vec<(&Rule, Option<RuleRow>)> = all
            .iter()
            .map(|rule| (*rule, without_asking(session, known_by, rule)))
            .collect();
        let rules = rule_rows(session, &recorded, chosen, &mut findings)?;
        let (mut findings, known) = findings.sorted();
        // Numbers name causes, so they exist before causes are looked for.
        finding::number(&mut findings);
        explained::point_to_causes(session, &all, &mut findings)?;
        if let Some(stored) = &stored {
            stored.add_to(&all, &mut findings);
            finding::number(&mut findings);
        }
        // What another finding explains ranks behind all that explain themselves; the sort is stable.
        findings.sort_by_key(|finding| (finding.cost_ns.is_none(), finding.explained_by.is_some()));
        // On all findings: options for readers, such as `--top`, must not change the exit code for scripts.
        let fails = fail_on.map(|fail_on| findings.iter().any(|finding| fail_on.is_hit(finding)));
        let left_out = self.leave_out(&mut findings);
        // As with other questions, 0 stands for all.
        if let Some(top) = self.top.filter(|top| *top > 0) {
            findings.truncate(top);
        }
        // Again, since findings were moved and left out; causes follow.
        finding::number(&mut findings);
        Ok((
            Diagnosis {
                findings,
                rules,
                fails,
                costs: Vec::new(),
                failed_costs: Vec::new(),
                is_blind: self.rule.is_none() && recorded.is_blind(),
                left_out,
            },
            known,
        ))
    }
}

/// Asks the rules whose outcome is not known, adds their findings, and returns the outcome of each rule.
fn rule_rows(
    session: &Session,
    recorded: &Recorded,
    chosen: Vec<(&Rule, Option<RuleRow>)>,
    findings: &mut Findings<'_>,
) -> Result<Vec<RuleRow>> {
    let are_asked = chosen.iter().filter(|(_, known)| known.is_none());
    let are_asked: Vec<&Rule> = are_asked.map(|(rule, _)| *rule).collect();
    let mut answers = two_at_a_time(session, &are_asked);
    let mut rules = Vec::new();
    // Also rules that were not asked have a row, or a reader would think that they found
    // nothing.
    for (rule, known) in chosen {
        if let Some(known) = known {
            rules.push(known);
            continue;
        }
        // Answers come in the order of the rules that were asked.
        let Some(answer) = answers.pop_front() else {
            continue;
        };
        let row = found(rule, answer, findings)?;
        // The answer itself stays valid: only its silence is not.
        // What it can find without names or some events it has found; that it finds nothing proves
        // nothing.
        let unproved = (row.state == "nothing")
            .then(|| recorded.unproved(session, rule))
            .flatten();
        rules.push(unproved.map_or(row, |missing| RuleRow::not_checked(rule, &missing)));
    }
    Ok(rules)
}

/// Returns the message about a name that no rule has.
// Names are long, and most mistakes are a letter or two.
#[must_use]
pub fn no_such_rule(name: &str, known: &[&str]) -> String {
    let close = similar(name, known);
    let hint = match close.as_slice() {
        [] => "`etwkit diagnose --explain all` lists the rules".to_owned(),
        names => format!("did you mean {}?", names.join(" or ")),
    };
    format!("no rule is called {name:?}; {hint}")
}
