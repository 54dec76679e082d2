//! Findings of the rules of `diagnose`, on both sides.

use std::collections::{BTreeMap, BTreeSet};

use super::rows::FindingChange;
use super::side::{Side, Sides};
use super::totals::taken;
use crate::Result;
use crate::diagnose::{DiagnoseRequest, Diagnosis, FindingRow};
use crate::duration::duration;

/// Minimum share of the difference of wall times for which a finding is the explanation.
const EXPLAINS: f64 = 0.25;

/// The diagnosis of one side.
struct Judged {
    findings: BTreeMap<Key, FindingRow>,
    not_checked: Reasons,
}

/// Rules that a side could not be checked for, each with the reason.
type Reasons = BTreeMap<String, String>;

/// Findings of both sides, and the reasons for which one side could not be checked for them.
#[derive(Default)]
pub(super) struct Found {
    pub(super) rows: Vec<FindingChange>,
    not_checked: [Reasons; 2],
}

/// Rule and culprit, in lower case: the same cause on both sides.
type Key = (String, String);

/// Returns the findings of both sides, those with the largest difference last. Rules judge whole
/// traces, so there are none for parts.
///
/// # Errors
/// A side cannot be asked.
pub(super) fn findings(both: &Sides) -> Result<Found> {
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
    Ok(Found {
        rows,
        not_checked: [a.not_checked, b.not_checked],
    })
}

/// Rules that one side could not be checked for, for one reason.
struct Unchecked<'f> {
    side: &'f str,
    reason: &'f str,
    rules: Vec<OfRule<'f>>,
}

/// The findings of a rule on the other side.
struct OfRule<'f> {
    rule: &'f str,
    findings: usize,
    longest_ns: Option<i64>,
}

impl Found {
    /// Returns a sentence for each reason for which a side could not be checked: the rules with
    /// findings on the other side, the costliest first.
    pub(super) fn not_checked(&self) -> Vec<String> {
        let mut all: Vec<Unchecked<'_>> = Vec::new();
        for row in self.rows.iter().rev() {
            let Some((side, reason)) = self.reason(row) else {
                continue;
            };
            let known = all
                .iter()
                .position(|one| one.side == side && one.reason == reason);
            let place = known.unwrap_or(all.len());
            if known.is_none() {
                all.push(Unchecked {
                    side,
                    reason,
                    rules: Vec::new(),
                });
            }
            if let Some(unchecked) = all.get_mut(place) {
                unchecked.add(row);
            }
        }
        all.iter().map(Unchecked::sentence).collect()
    }

    /// Returns the side that could not be checked for a finding, and the reason.
    fn reason<'f>(&'f self, row: &'f FindingChange) -> Option<(&'f str, &'f str)> {
        let side = row.not_checked_in.as_deref()?;
        let [of_a, of_b] = &self.not_checked;
        let reasons = if side == "A" { of_a } else { of_b };
        Some((side, reasons.get(&row.rule)?))
    }
}

impl<'f> Unchecked<'f> {
    fn add(&mut self, row: &'f FindingChange) {
        let cost_ns = row.a_ns.max(row.b_ns);
        match self.rules.iter_mut().find(|known| known.rule == row.rule) {
            Some(known) => {
                known.findings = known.findings.saturating_add(1);
                known.longest_ns = known.longest_ns.max(cost_ns);
            }
            None => self.rules.push(OfRule {
                rule: &row.rule,
                findings: 1,
                longest_ns: cost_ns,
            }),
        }
    }

    fn sentence(&self) -> String {
        let Self { side, reason, .. } = self;
        let found_in = if *side == "A" { "B" } else { "A" };
        let rules: Vec<String> = self.rules.iter().map(OfRule::text).collect();
        format!(
            "Not checked in {side}, {reason}: in {found_in} {}",
            rules.join(", ")
        )
    }
}

impl OfRule<'_> {
    /// Formats `gc-pause (1.20 s)`, `dns-timeout (3 findings up to 6.37 s)`.
    fn text(&self) -> String {
        let cost = self.longest_ns.map(duration);
        let known = match (self.findings, cost) {
            (1, None) => return self.rule.to_owned(),
            (1, Some(cost)) => cost,
            (findings, None) => format!("{findings} findings"),
            (findings, Some(cost)) => format!("{findings} findings up to {cost}"),
        };
        format!("{} ({known})", self.rule)
    }
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
        .filter_map(|rule| {
            let missing = rule.missing?;
            let reason = match rule.state.as_str() {
                "not checked" => format!("which has no {missing}"),
                "failed" => format!("where the rule failed ({missing})"),
                _ => return None,
            };
            Some((rule.rule, reason))
        })
        .collect();
    Ok(Judged {
        findings: all,
        not_checked,
    })
}

fn change(
    [a, b]: [Option<FindingRow>; 2],
    [not_in_a, not_in_b]: [&Reasons; 2],
) -> Option<FindingChange> {
    let cost = |side: &Option<FindingRow>| side.as_ref().and_then(|finding| finding.cost_ns);
    let a_ns = cost(&a);
    let b_ns = cost(&b);
    let difference_ns = taken(b_ns).saturating_sub(taken(a_ns));
    let missing = match (&a, &b) {
        (None, Some(finding)) => Some(("A", "B", not_in_a.contains_key(&finding.rule))),
        (Some(finding), None) => Some(("B", "A", not_in_b.contains_key(&finding.rule))),
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

    #[test]
    fn rules_that_one_side_could_not_be_checked_for_are_listed_by_reason() {
        let unknown = |rule: &str, a_ms: Option<i64>, b_ms: Option<i64>| FindingChange {
            rule: rule.to_owned(),
            only_in: None,
            not_checked_in: Some(if a_ms.is_none() { "A" } else { "B" }.to_owned()),
            ..row(rule, a_ms, b_ms)
        };
        let reasons = |all: &[(&str, &str)]| -> Reasons {
            let owned = |(rule, reason): &(&str, &str)| ((*rule).to_owned(), (*reason).to_owned());
            all.iter().map(owned).collect()
        };
        let collections = "which has no .NET collections (keyword GC)";
        let failed = "where the rule failed (too many rows)";
        let leak = FindingChange {
            not_checked_in: Some("B".to_owned()),
            ..unknown("object-leak", None, None)
        };
        let found = Found {
            rows: vec![
                leak,
                unknown("spin", None, Some(5)),
                unknown("gc-pause", Some(20), None),
                unknown("gc-pause", Some(250), None),
                row("checked", None, Some(300)),
                unknown("rundown-stall", Some(1_200), None),
            ],
            not_checked: [
                reasons(&[("spin", collections)]),
                reasons(&[
                    ("gc-pause", collections),
                    ("object-leak", failed),
                    ("rundown-stall", collections),
                    ("unused-start", collections),
                ]),
            ],
        };
        assert_eq!(
            found.not_checked(),
            [
                "Not checked in B, which has no .NET collections (keyword GC): \
                 in A rundown-stall (1.20 s), gc-pause (2 findings up to 250 ms)",
                "Not checked in A, which has no .NET collections (keyword GC): in B spin (5.00 ms)",
                "Not checked in B, where the rule failed (too many rows): in A object-leak",
            ]
        );
    }
}
