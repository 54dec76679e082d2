//! Rules are asked, and what becomes of their answers.

use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use etwkit_question::any_rows::{AnyRow, ask_any};
use etwkit_sql::Session;

use super::finding::{Findings, RuleRow};
use super::rule::Rule;
use crate::Result;

/// Most rows of a rule that are looked at. Rules sort the costliest first, so that only cheap ones are lost.
const MOST_ROWS: usize = 10_000;

/// The rows of a rule, and whether there are more.
pub(super) type Rows = etwkit_sql::Result<(Vec<AnyRow>, bool)>;

/// Evaluates rules, two at a time: much of a rule is work for one processor, such as planning it and putting
/// its few rows together. More at a time would need more memory for each. Answers come in the order of the
/// rules.
pub(super) fn two_at_a_time(session: &Session, rules: &[&Rule]) -> VecDeque<Rows> {
    // A thread that is done takes the next rule: two halves of the list would take very different times.
    let next = AtomicUsize::new(0);
    // A closure for both threads, so that the calling one works as well.
    let ask = || -> Vec<(usize, Rows)> {
        let mut answers = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(rule) = rules.get(at) else {
                return answers;
            };
            answers.push((at, ask_any(session, rule.query(), &[], MOST_ROWS)));
        }
    };
    let mut answers = thread::scope(|scope| {
        let other = scope.spawn(ask);
        let mut answers = ask();
        answers.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        answers
    });
    // Threads finish in any order, and the caller matches answers with rules by their order.
    answers.sort_by_key(|(at, _)| *at);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

/// Adds what a rule found, and says what came of the rule.
pub(super) fn found(rule: &Rule, answer: Rows, findings: &mut Findings<'_>) -> Result<RuleRow> {
    match answer {
        Ok((rows, is_cut)) => {
            let found = findings.add(rule, rows)?;
            Ok(RuleRow::asked(rule, found, is_cut))
        }
        // A rule that fails, usually one of the user's, must not hide what the others find.
        Err(error) if !matches!(error, etwkit_sql::Error::Cancelled) => {
            Ok(RuleRow::failed(rule, &error.to_string()))
        }
        Err(error) => Err(error.into()),
    }
}
