//! Findings of the rules of `diagnose`, on both sides.

use std::collections::{BTreeMap, BTreeSet};

use super::rows::FindingChange;
use super::side::{Side, Sides};
use super::totals::taken;
use crate::Result;
use crate::diagnose::{DiagnoseRequest, Diagnosis, FindingRow};

/// Minimum share of the difference of wall times for which a finding is the explanation.
const EXPLAINS: f64 = 0.25;

/// The diagnosis of one side.
struct Judged {
    findings: BTreeMap<Key, FindingRow>,
    not_checked: BTreeSet<String>,
}

/// Rule and culprit, in lower case: the same cause on both sides.
type Key = (String, String);

/// Returns the findings of both sides, those with the largest difference last. Rules judge whole
/// traces, so there are none for parts.
///
/// # Errors
/// A side cannot be asked.
pub(super) fn findings(both: &Sides) -> Result<Vec<FindingChange>> {
    let [a, b] = &both.sides;
    let mut a = judged(a)?;
    let mut b = judged(b)?;
    let keys: BTreeSet<Key> = a
        .findings
        .keys()
        .chain(b.findings.keys())
        .cloned()
        .collect();
    let mut rows: Vec<FindingChange> = keys
        .iter()
        .filter_map(|key| {
            let of_a = a.findings.remove(key);
            let of_b = b.findings.remove(key);
            change([of_a, of_b], [&a.not_checked, &b.not_checked])
        })
        .collect();
    rows.sort_by(|x, y| {
        weight(x)
            .cmp(&weight(y))
            .then_with(|| y.culprit.cmp(&x.culprit))
    });
    Ok(rows)
}

/// Returns `true` if the rules can judge what is compared.
pub(super) fn can_be_judged(both: &Sides) -> bool {
    !both.is_one_trace && both.sides.iter().all(|side| side.time.is_unlimited())
}

/// Returns the row that explains most: one that goes with the wall times, and is not explained by
/// another one. `wall_ns` is their difference, if they measure the same work on both sides. Without
/// it a finding that the other side could not be checked for is better than none.
pub(super) fn lead(
    rows: &[FindingChange],
    wall_ns: Option<i64>,
    noise_ns: i64,
) -> Option<&FindingChange> {
    let wall_ns = wall_ns.filter(|wall| wall.abs() > noise_ns);
    let explains = |row: &&FindingChange| {
        if row.is_explained || row.not_checked_in.is_some() || row.difference_ns.abs() <= noise_ns {
            return false;
        }
        match wall_ns {
            Some(wall) => {
                let share = row.difference_ns as f64 / wall as f64;
                share >= EXPLAINS
            }
            None => true,
        }
    };
    let costly = rows.iter().rev().find(explains);
    // A fault that costs no time, such as a leak, explains no difference of wall times.
    let is_note = |row: &&FindingChange| row.a_ns.is_none() && row.b_ns.is_none();
    let notes = || {
        rows.iter()
            .rev()
            .find(|row| is_note(row) && row.only_in.is_some() && wall_ns.is_none())
    };
    let is_unchecked = |row: &&FindingChange| {
        row.not_checked_in.is_some() && !row.is_explained && row.difference_ns.abs() > noise_ns
    };
    let unchecked = || {
        rows.iter()
            .rev()
            .filter(|_| wall_ns.is_none())
            .find(is_unchecked)
    };
    costly.or_else(notes).or_else(unchecked)
}

fn judged(side: &Side) -> Result<Judged> {
    let Diagnosis {
        findings, rules, ..
    } = DiagnoseRequest::default().ask_without_chains(&side.session)?;
    let mut all = BTreeMap::new();
    for finding in findings {
        let key = (finding.rule.clone(), finding.culprit.to_lowercase());
        // The first of several is the costliest.
        all.entry(key).or_insert(finding);
    }
    let not_checked = rules
        .into_iter()
        .filter(|rule| rule.state == "not checked" || rule.state == "failed")
        .map(|rule| rule.rule)
        .collect();
    Ok(Judged {
        findings: all,
        not_checked,
    })
}

fn change(
    [a, b]: [Option<FindingRow>; 2],
    [not_in_a, not_in_b]: [&BTreeSet<String>; 2],
) -> Option<FindingChange> {
    let cost = |side: &Option<FindingRow>| side.as_ref().and_then(|finding| finding.cost_ns);
    let a_ns = cost(&a);
    let b_ns = cost(&b);
    let difference_ns = taken(b_ns).saturating_sub(taken(a_ns));
    let missing = match (&a, &b) {
        (None, Some(finding)) => Some(("A", "B", not_in_a.contains(&finding.rule))),
        (Some(finding), None) => Some(("B", "A", not_in_b.contains(&finding.rule))),
        _ => None,
    };
    let only_in = missing.filter(|(.., is_unknown)| !is_unknown);
    let unknown = missing.filter(|(.., is_unknown)| *is_unknown);
    let finding = match (a, b) {
        (Some(a), Some(b)) if difference_ns < 0 || b.cost_ns.is_none() => a,
        (_, Some(b)) => b,
        (Some(a), None) => a,
        (None, None) => return None,
    };
    Some(FindingChange {
        rule: finding.rule,
        culprit: finding.culprit,
        process: finding.process,
        only_in: only_in.map(|(_, side, _)| side.to_owned()),
        not_checked_in: unknown.map(|(side, ..)| side.to_owned()),
        a_ns,
        b_ns,
        difference_ns,
        is_explained: finding.explained_by.is_some(),
        sentence: finding.sentence,
    })
}

/// Returns the order of a row: notes of both sides, notes of one, then by the difference of costs.
/// What only B has goes last among equals.
fn weight(row: &FindingChange) -> (u64, bool, bool) {
    (
        row.difference_ns.unsigned_abs(),
        row.only_in.is_some(),
        row.only_in.as_deref() == Some("B"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn row(culprit: &str, a_ms: Option<i64>, b_ms: Option<i64>) -> FindingChange {
        let ns = |ms: Option<i64>| ms.map(|ms| ms * MS);
        FindingChange {
            culprit: culprit.to_owned(),
            a_ns: ns(a_ms),
            b_ns: ns(b_ms),
            difference_ns: (b_ms.unwrap_or(0) - a_ms.unwrap_or(0)) * MS,
            only_in: match (a_ms, b_ms) {
                (None, Some(_)) => Some("B".to_owned()),
                (Some(_), None) => Some("A".to_owned()),
                _ => None,
            },
            ..FindingChange::default()
        }
    }

    #[test]
    fn the_lead_goes_with_the_wall_times() {
        let mut rows = vec![
            row("less", Some(900), None),
            row("more", Some(100), Some(500)),
            row("little", None, Some(40)),
        ];
        rows.sort_by_key(weight);
        let lead = |wall_ms: Option<i64>| {
            lead(&rows, wall_ms.map(|ms| ms * MS), 5 * MS).map(|row| row.culprit.as_str())
        };
        assert_eq!(lead(None), Some("less"), "the largest difference");
        assert_eq!(lead(Some(600)), Some("more"));
        assert_eq!(lead(Some(-1_000)), Some("less"));
        assert_eq!(lead(Some(9_000)), None, "400 ms explain no 9 s");
        assert_eq!(
            lead(Some(3)),
            Some("less"),
            "wall times within noise say nothing"
        );
    }

    #[test]
    fn what_another_finding_explains_or_one_side_could_not_check_leads_last() {
        let explained = FindingChange {
            is_explained: true,
            ..row("symptom", None, Some(900))
        };
        let unknown = FindingChange {
            only_in: None,
            not_checked_in: Some("A".to_owned()),
            ..row("unknown", None, Some(800))
        };
        let note = FindingChange {
            only_in: Some("B".to_owned()),
            ..row("leak", None, None)
        };
        let rows = [note, unknown, explained];
        let without_note = &rows[1..];
        assert_eq!(
            lead(without_note, None, MS).map(|row| row.culprit.as_str()),
            Some("unknown")
        );
        assert_eq!(
            lead(&rows, None, MS).map(|row| row.culprit.as_str()),
            Some("leak")
        );
        assert_eq!(lead(&rows, Some(900 * MS), MS), None);
    }
}
