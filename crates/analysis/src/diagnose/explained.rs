//! Findings that another finding explains: a window hangs since its thread waits for a share, and both rules
//! find the same waits.

use std::collections::{BTreeMap, HashMap};

use etwkit_question::any_rows::{AnyRow, AnyValue, ask_any};
use etwkit_sql::Session;

use super::finding::FindingRow;
use super::rule::Rule;
use crate::Result;

/// Pieces of a rule that are compared, at most.
// What is beyond explains less than it could, but a rule of a user cannot fill the memory.
const MOST_PIECES: usize = 200_000;

/// Parts of time of each process, in order and apart from each other.
type Pieces = HashMap<i64, Vec<(i64, i64)>>;

/// Says of each symptom which other finding explains at least half of its time, by the number of that
/// finding.
pub(super) fn point_to_causes(
    session: &Session,
    rules: &[&Rule],
    findings: &mut [FindingRow],
) -> Result<()> {
    let rule_of = |finding: &FindingRow| {
        rules
            .iter()
            .find(|rule| rule.name == finding.rule)
            .copied()
            // A note took no time, so it explains none.
            .filter(|_| finding.cost_ns.is_some())
    };
    let has_causes = |finding: &FindingRow| rule_of(finding).is_some_and(Rule::has_causes);
    // Most diagnoses have no symptom, and then the pieces of all rules need not be read.
    if !findings.iter().any(has_causes) {
        return Ok(());
    }
    let mut pieces: Vec<(i64, &Rule, Pieces)> = Vec::new();
    let mut rows: BTreeMap<&str, Vec<AnyRow>> = BTreeMap::new();
    for finding in &*findings {
        let Some((rule, query)) = rule_of(finding).and_then(|rule| Some((rule, rule.pieces()?)))
        else {
            continue;
        };
        // Several findings share a rule, whose query is then asked once.
        if !rows.contains_key(rule.name.as_str()) {
            let (of_rule, _) = ask_any(session, &query, &[], MOST_PIECES)?;
            rows.insert(&rule.name, of_rule);
        }
        let of_rule = rows.get(rule.name.as_str()).map_or(&[][..], Vec::as_slice);
        let pieces_of = pieces_of(of_rule, &finding.culprit);
        pieces.push((finding.number, rule, pieces_of));
    }
    for finding in findings.iter_mut() {
        let number = finding.number;
        let Some((_, rule, own)) = pieces.iter().find(|(of, ..)| *of == number) else {
            continue;
        };
        // Half is enough to be the main reason; both may have further ones.
        let half = length(own) / 2;
        finding.explained_by = pieces
            .iter()
            .filter(|(_, cause, _)| rule.may_be_due_to(cause))
            .map(|(of, _, other)| (common(own, other), *of))
            // A symptom without pieces has a half of 0, which anything would reach.
            .filter(|(common, _)| *common > 0 && *common >= half)
            // Of equal ones the first, which costs most.
            .max_by_key(|(common, of)| (*common, std::cmp::Reverse(*of)))
            .map(|(_, of)| of);
    }
    Ok(())
}

/// The pieces of the findings with a culprit; rows without a culprit are pieces of all findings of the rule.
fn pieces_of(rows: &[AnyRow], culprit: &str) -> Pieces {
    let mut pieces = Pieces::new();
    for row in rows {
        let whole = |name: &str| row.get(name).and_then(AnyValue::whole);
        let is_of_it = match row.get("culprit").and_then(AnyValue::text) {
            Some(of) => of == culprit,
            // It then belongs to all findings of the rule.
            None => true,
        };
        if let (true, Some(process), Some(from), Some(to)) = (
            is_of_it,
            whole("process_key"),
            whole("from_ns"),
            whole("to_ns"),
        ) {
            pieces.entry(process).or_default().push((from, to));
        }
    }
    // Victims overlap in time, and time that is in several pieces must count once.
    pieces.values_mut().for_each(|pieces| {
        pieces.sort_unstable();
        merge(pieces);
    });
    pieces
}

/// Joins pieces that overlap; they are sorted.
fn merge(pieces: &mut Vec<(i64, i64)>) {
    // `dedup_by` passes the later one first.
    pieces.dedup_by(|next, last| {
        let overlaps = next.0 <= last.1;
        if overlaps {
            last.1 = last.1.max(next.1);
        }
        overlaps
    });
}

fn length(pieces: &Pieces) -> i64 {
    pieces
        .values()
        .flatten()
        .map(|(from, to)| to.saturating_sub(*from))
        .sum()
}

/// The time that is in both, of the same processes.
fn common(one: &Pieces, other: &Pieces) -> i64 {
    one.iter()
        .filter_map(|(process, pieces)| Some((pieces, other.get(process)?)))
        .map(|(one, other)| common_of(one, other))
        .sum()
}

fn common_of(one: &[(i64, i64)], other: &[(i64, i64)]) -> i64 {
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    let mut sum = 0_i64;
    // Both lists are sorted and without overlaps, so a single pass is enough.
    while let (Some(&&(from, to)), Some(&&(other_from, other_to))) = (one.peek(), other.peek()) {
        // Pieces that do not overlap have a negative length here.
        sum = sum.saturating_add((to.min(other_to) - from.max(other_from)).max(0));
        // The one that ends first has nothing in common with what follows.
        if to <= other_to {
            one.next();
        } else {
            other.next();
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_of_the_same_process_counts_once() {
        let of = |process, mut pieces: Vec<(i64, i64)>| {
            merge(&mut pieces);
            Pieces::from([(process, pieces)])
        };
        let hang = of(1, vec![(0, 100), (200, 300)]);
        let waits = of(1, vec![(10, 60), (50, 110), (250, 260), (290, 400)]);
        assert_eq!((length(&hang), length(&waits)), (200, 220));
        assert_eq!(common(&hang, &waits), 90 + 10 + 10);
        assert_eq!(common(&waits, &hang), 110);
        assert_eq!(common(&hang, &of(2, vec![(0, 400)])), 0);
    }
}
