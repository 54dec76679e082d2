//! How findings are shown: a line for each with what it costs, and what is known about it below.

use std::collections::HashMap;

use etwkit_question::Format::{Fixed, Moment, Process, Whole, Word};
use etwkit_question::group::Top;
use etwkit_question::{Column, Line, ProcessCell, Ranked, Source, Value, View, largest};

use super::costs::CostRow;
use super::finding::{FindingRow, RuleRow, order};
use super::recorded::{NAMED_BY, how_named};
use super::sentence::of_cause;
use crate::chain::middle;
use crate::duration::duration;

/// How much of a finding is shown.
#[derive(Clone)]
pub(super) struct FindingDetail {
    /// All that is known about each.
    pub(super) details: bool,
    /// Whether the sentence of the first finding is above all.
    pub(super) has_headline: bool,
}

type FindingColumn = Column<FindingDetail, FindingRow>;

pub(super) const FINDINGS: View<FindingDetail, FindingRow> = View::new(
    &[
        FindingColumn::new("Number", "#", Whole, |_, row| row.number.into()),
        FindingColumn::new("Cost", "Cost", Word, |_, row| cost(row).into()),
        FindingColumn::new("Share", "Share %", Fixed(1), |_, row| {
            row.cost_percent.into()
        })
        .or(""),
        FindingColumn::new("Count", "Times", Whole, |_, row| row.count.into()).or(""),
        FindingColumn::new("At", "Longest at", Moment, |_, row| {
            row.at_ns.or(row.from_ns).into()
        })
        .or(""),
        FindingColumn::new("Rule", "Rule", Word, |_, row| row.rule.clone().into()),
        FindingColumn::new("Culprit", "Culprit", Word, |_, row| {
            row.culprit.clone().into()
        }),
        FindingColumn::new("Process", "Victim", Process, |_, row| victim(row)).or(""),
        FindingColumn::new("Finding", "Finding", Word, |_, row| {
            row.sentence.clone().into()
        })
        .hidden(),
        FindingColumn::new("Victims", "Victims", Word, |_, row| {
            row.victims.clone().into()
        })
        .hidden(),
    ],
    |row| order(row) as f64,
)
.ranking(|_| Ranked::No)
.alarming_if(|row| row.cost_ns.is_some())
.with_below(below)
.with_merge(merged)
.changed_when_merged(|shown| FindingDetail {
    details: shown.details,
    has_headline: false,
});

/// The findings of several traces, the costliest first and those that others explain after these, numbered in
/// that order.
fn merged(
    _: &FindingDetail,
    sources: Vec<Source<FindingRow>>,
    top: Top,
) -> Vec<(usize, FindingRow)> {
    let mut all = largest(sources, top, |row| order(row) as f64);
    all.sort_by_key(|(_, row)| {
        let is_explained = row.explained_by.is_some();
        (
            row.cost_ns.is_none(),
            is_explained,
            std::cmp::Reverse(order(row)),
        )
    });
    let numbers: HashMap<(usize, i64), i64> = all
        .iter()
        .zip(1..)
        .map(|((of, row), number)| ((*of, row.number), number))
        .collect();
    for ((of, row), number) in all.iter_mut().zip(1..) {
        row.number = number;
        row.explained_by = row
            .explained_by
            .and_then(|cause| numbers.get(&(*of, cause)).copied());
    }
    all
}

type RuleColumn = Column<FindingDetail, RuleRow>;

pub(super) const RULES: View<FindingDetail, RuleRow> = View::new(
    &[
        RuleColumn::new("Rule", "Rule", Word, |_, row| row.rule.clone().into()),
        RuleColumn::new("State", "State", Word, |_, row| row.state.clone().into()),
        RuleColumn::new("Missing", "Missing", Word, |_, row| {
            row.missing.clone().into()
        }),
    ],
    |_| 0.0,
)
.ranking(|_| Ranked::No);

fn victim(row: &FindingRow) -> Value {
    if row.process_key.is_none() {
        return Value::Missing;
    }
    Value::Process(ProcessCell {
        name: row.process.clone(),
        pid: row.pid,
        ..ProcessCell::default()
    })
}

fn cost(row: &FindingRow) -> String {
    row.cost_ns.map_or_else(|| "note".to_owned(), duration)
}

/// Lines below a finding: its fix and evidence, or with details all that is known.
fn below(shown: &FindingDetail, row: &FindingRow) -> Vec<Line> {
    let width = if shown.details {
        "does not prove  ".len()
    } else {
        11
    };
    let label = |label: &str| format!("        {label:<width$}");
    let labelled =
        |name: &str, text: &str| (!text.is_empty()).then(|| Line::new(label(name)).words(text));
    let is_first = shown.has_headline && row.number == 1 && row.cost_ns.is_some();
    let mut lines = Vec::new();
    if !is_first {
        lines.push(Line::new(format!("        {}", row.sentence)));
    }
    if shown.details {
        lines.extend(labelled("why", &row.why));
        lines.extend(labelled("does not prove", &row.not_proved));
        lines.extend(labelled("victims", &row.victims));
        lines.extend(labelled("confidence", &row.confidence));
    }
    if let Some(cause) = row.explained_by {
        lines.extend(labelled("cause", &of_cause(cause)));
    }
    lines.extend(labelled("fix", &row.fix));
    let names = ["evidence"].into_iter().chain(std::iter::repeat(""));
    let evidence = row.evidence.lines().zip(names);
    lines.extend(evidence.map(|(command, name)| Line::command(label(name), command)));
    lines.extend(labelled("shows", &row.shows));
    if shown.details {
        let frames = |stack: &str| stack.lines().map(str::to_owned).collect();
        let chain = row.chain.as_deref().map(shortened);
        let stack: Option<Vec<String>> = row.stack.as_deref().map(frames);
        for (name, parts) in [("chain", chain), ("stack", stack)] {
            let names = [name].into_iter().chain(std::iter::repeat(""));
            lines.extend(
                parts
                    .iter()
                    .flatten()
                    .zip(names)
                    .filter_map(|(part, name)| labelled(name, part)),
            );
        }
    }
    lines
}

type Cost = Column<FindingDetail, CostRow>;

pub(super) const COSTS: View<FindingDetail, CostRow> = View::new(
    &[
        Cost::new("Kind", "Kind", Word, |_, row| row.kind.clone().into()),
        Cost::new("Cost", "Cost", Word, |_, row| duration(row.cost_ns).into()),
        Cost::new("What", "What took it", Word, |_, row| {
            row.sentence.clone().into()
        }),
    ],
    |row| row.cost_ns as f64,
)
.ranking(|_| Ranked::No)
.with_below(|_, row| details_of_cost(row));

/// The first links of a chain of waits and its root; machine output has all of them.
fn shortened(chain: &str) -> Vec<String> {
    let links: Vec<&str> = chain.lines().collect();
    let waits = links.len().saturating_sub(1);
    let Some(middle) = middle(waits) else {
        return links.into_iter().map(str::to_owned).collect();
    };
    let first = links.iter().take(middle.start);
    let root = links.last();
    first
        .map(|link| (*link).to_owned())
        .chain([format!("… {} more waits …", middle.len())])
        .chain(root.map(|root| (*root).to_owned()))
        .collect()
}

fn details_of_cost(row: &CostRow) -> Vec<Line> {
    const INDENT: &str = "        ";
    let evidence = row
        .evidence
        .lines()
        .map(|command| Line::command(INDENT, command));
    let chain = row.chain.as_deref().map(shortened);
    let links = chain
        .into_iter()
        .flatten()
        .map(|link| Line::new(format!("{INDENT}{link}")));
    evidence.chain(links).collect()
}

/// The largest costs below a diagnosis without a cause, marked as no findings.
pub(super) fn costs_instead(costs: &[CostRow]) -> Vec<Line> {
    let title =
        (!costs.is_empty()).then(|| Line::new("Largest costs (not findings; they may be normal):"));
    let each = costs.iter().flat_map(|cost| {
        let head = Line::new(format!("  {}", cost.sentence));
        [head].into_iter().chain(details_of_cost(cost))
    });
    title.into_iter().chain(each).collect()
}

/// What could not be checked, with a title. The command that gets the names of functions follows once if it
/// was not printed before: only a line of its own gets the trace.
pub(super) fn not_checked(rules: &[RuleRow], with_command: bool) -> Vec<Line> {
    let lines = unchecked(rules);
    let how = how_named();
    let title = (!lines.is_empty()).then(|| Line::new("Not checked:"));
    let is_nameless = lines.iter().any(|line| line.ends_with(&how));
    let command =
        (with_command && is_nameless).then(|| Line::command("  names of functions: ", NAMED_BY));
    let short = lines.iter().map(|line| {
        let line = line.strip_suffix(&how).unwrap_or(line);
        Line::new(format!("  {line}"))
    });
    title.into_iter().chain(short).chain(command).collect()
}

/// What could not be checked: a line for each thing that was not recorded, with the rules that need it, and
/// for each rule that failed.
pub(super) fn unchecked(rules: &[RuleRow]) -> Vec<String> {
    let mut missing: Vec<(&str, Vec<&str>)> = Vec::new();
    for rule in rules.iter().filter(|rule| rule.state == "not checked") {
        let what = rule.missing.as_deref().unwrap_or("");
        match missing.iter_mut().find(|(known, _)| *known == what) {
            Some((_, names)) => names.push(&rule.rule),
            None => missing.push((what, vec![&rule.rule])),
        }
    }
    let failed = rules.iter().filter(|rule| rule.state == "failed");
    let failed =
        failed.map(|rule| format!("{}: {}", rule.rule, rule.missing.as_deref().unwrap_or("")));
    missing
        .into_iter()
        .map(|(what, names)| format!("{}: no {what}", names.join(", ")))
        .chain(failed)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_for_names_follows_once_and_gets_the_trace() {
        let row = |rule: &str| RuleRow {
            rule: rule.to_owned(),
            title: String::new(),
            state: "not checked".to_owned(),
            found: 0,
            missing: Some(format!("names of functions in {rule}.sys{}", how_named())),
        };
        let rules = [row("one"), row("two")];
        let lines = not_checked(&rules, true);
        let commands: Vec<bool> = lines.iter().map(|line| line.is_command).collect();
        assert_eq!(commands, [false, false, false, true], "{lines:?}");
        assert!(
            !format!("{:?}", lines[1]).contains("symbols load"),
            "{lines:?}"
        );
        let lines = not_checked(&rules, false);
        assert!(lines.iter().all(|line| !line.is_command), "{lines:?}");
    }

    #[test]
    fn rules_that_lack_the_same_are_one_line() {
        let row = |rule: &str, missing: &str| RuleRow {
            rule: rule.to_owned(),
            state: "not checked".to_owned(),
            missing: Some(missing.to_owned()),
            ..RuleRow::default()
        };
        let rules = [
            row("gc-pause", ".NET collections (keyword GC)"),
            row("jit-start", ".NET compilations (keyword JIT)"),
            row("rundown-stall", ".NET collections (keyword GC)"),
        ];
        assert_eq!(
            unchecked(&rules),
            [
                "gc-pause, rundown-stall: no .NET collections (keyword GC)",
                "jit-start: no .NET compilations (keyword JIT)",
            ]
        );
    }

    #[test]
    fn a_long_chain_is_shown_by_its_ends() {
        let chain = |links: usize| {
            let lines: Vec<String> = (1..=links).map(|link| format!("wait {link}")).collect();
            shortened(&lines.join("\n"))
        };
        assert_eq!(chain(5).len(), 5);
        assert_eq!(
            chain(9),
            ["wait 1", "wait 2", "wait 3", "… 5 more waits …", "wait 9"]
        );
    }

    #[test]
    fn findings_of_several_traces_are_numbered_by_their_cost() {
        let finding = |number, cost_ns, explained_by| FindingRow {
            number,
            cost_ns,
            explained_by,
            ..FindingRow::default()
        };
        let source = |rows| Source {
            start_filetime: 0,
            computer: None,
            rows,
        };
        let shown = FindingDetail {
            details: false,
            has_headline: true,
        };
        let sources = vec![
            source(vec![finding(1, Some(5), None), finding(2, None, None)]),
            source(vec![
                finding(1, Some(9), None),
                finding(2, Some(7), Some(1)),
            ]),
        ];
        let all = merged(&shown, sources, Top::default());
        let all: Vec<_> = all
            .iter()
            .map(|(of, row)| (*of, row.number, row.cost_ns, row.explained_by))
            .collect();
        assert_eq!(
            all,
            [
                (1, 1, Some(9), None),
                (0, 2, Some(5), None),
                (1, 3, Some(7), Some(1)),
                (0, 4, None, None)
            ]
        );
    }
}
