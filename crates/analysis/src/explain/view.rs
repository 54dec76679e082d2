//! Columns and titles of the tables for people.

use etwkit_question::Format::{Fixed, Id, Whole, Word};
use etwkit_question::{Column, Line, Ranked, View};

use super::ExplainRequest;
use super::rows::{CauseRow, ChangeRow, EffectRow, GroupRow, MissingRow, RunRow};

type Cause = Column<ExplainRequest, CauseRow>;
type Run = Column<ExplainRequest, RunRow>;
type Group = Column<ExplainRequest, GroupRow>;
type Effect = Column<ExplainRequest, EffectRow>;
type Change = Column<ExplainRequest, ChangeRow>;
type Missing = Column<ExplainRequest, MissingRow>;

pub(super) const CAUSES: View<ExplainRequest, CauseRow> = View::new(
    &[
        Cause::new("Cause", "#", Id, |_, row| row.cause.into()),
        Cause::new("Effect", "Effect ms", Fixed(1), |_, row| {
            row.effect_ms.into()
        }),
        Cause::new("Share", "%", Fixed(0), |_, row| row.share_percent.into()),
        Cause::new("Slow", "Slow runs", Fixed(1), |_, row| row.slow.into()),
        Cause::new("Fast", "Fast runs", Fixed(1), |_, row| row.fast.into()),
        Cause::new("Unit", "Unit", Word, |_, row| row.unit.clone().into()),
        Cause::new("PerUnit", "ms per unit", Fixed(3), |_, row| {
            row.ms_per_unit.into()
        })
        .hidden(),
        Cause::new("Base", "Base ms", Fixed(1), |_, row| row.base_ms.into()).hidden(),
        Cause::new("Runs", "Runs slowed", Whole, |_, row| row.runs.into()),
        Cause::new("Correlation", "Correlation", Fixed(2), |_, row| {
            row.correlation.into()
        }),
        Cause::new("P", "p", Word, |_, row| p_of_one(row).into()).shown_if_known(|_| true),
        Cause::new("Measure", "Measure", Word, |_, row| {
            row.measure.clone().into()
        }),
        Cause::new("Kind", "Kind", Word, |_, row| row.kind.clone().into()),
        Cause::new("Name", "Name", Word, |_, row| name(row).into()),
        Cause::new("Process", "Process", Word, |_, row| {
            row.process.clone().into()
        }),
    ],
    |_| 0.0,
)
.ranking(|_| Ranked::No)
.with_below(|_, row| {
    let mut lines: Vec<Line> = row
        .moves_with
        .split("; ")
        .filter(|name| !name.is_empty())
        .map(|name| Line::new(format!("      = {name}")))
        .collect();
    if row.more > 0 {
        lines.push(Line::new("      = ").whole(row.more).words(" more"));
    }
    lines
});

fn name(row: &CauseRow) -> String {
    let rest = if row.is_rest { "the rest of " } else { "" };
    format!("{rest}{}", row.name)
}

/// Formats a probability with three decimals, or with its order of magnitude if it is smaller.
fn p_text(p: f64) -> String {
    if p >= 0.001 {
        format!("{p:.3}")
    } else {
        format!("{p:.0e}")
    }
}

/// Returns the probability of a cause, if it is not of several causes together.
pub(super) fn p_of_one(row: &CauseRow) -> Option<String> {
    row.p_value.filter(|_| !row.is_p_of_all).map(p_text)
}

/// The meaning of the two numbers where causes add up.
const OF_SUM: &str = "the probability that times add up as well by chance; each correlation is with what \
    the other causes leave";

/// Returns a line with the probability of causes together.
pub(super) fn p_of_all(rows: &[CauseRow]) -> Option<String> {
    let together: Vec<&CauseRow> = rows.iter().filter(|row| row.is_p_of_all).collect();
    let p = p_text(together.first()?.p_value?);
    let of = if together.len() == rows.len() {
        "all causes".to_owned()
    } else {
        let numbers: Vec<String> = together.iter().map(|row| row.cause.to_string()).collect();
        format!("causes {}", numbers.join(", "))
    };
    Some(format!("p of {of} together: {p}, {OF_SUM}"))
}

pub(super) const RUNS: View<ExplainRequest, RunRow> = View::new(
    &[
        Run::new("Run", "Run", Id, |_, row| row.run.into()),
        Run::new("Metric", "ms", Fixed(1), |_, row| row.metric_ms.into()),
        Run::new("Half", "Half", Word, |_, row| row.half.clone().into()).shown_if_known(|_| true),
        Run::new("Spreads", "Spreads from median", Fixed(1), |_, row| {
            row.spreads.into()
        }),
        Run::new("Explained", "Explained ms", Fixed(1), |_, row| {
            row.explained_ms.into()
        }),
        Run::new("State", "State", Word, |_, row| row.state.clone().into()),
        Run::new("Start", "Start", Word, |_, row| {
            row.start_utc.clone().into()
        })
        .hidden(),
        Run::new("Extract", "Extract", Word, |_, row| {
            row.extract.clone().into()
        }),
        Run::new("NotComparable", "Not comparable", Word, |_, row| {
            row.not_comparable.clone().into()
        })
        .shown_if_known(|_| true),
    ],
    |_| 0.0,
)
.ranking(|_| Ranked::No)
.alarming_if(|row| row.state != "ok");

pub(super) const GROUPS: View<ExplainRequest, GroupRow> = View::new(
    &[
        Group::new("Runs", "Runs", Whole, |_, row| row.runs.into()),
        Group::new("Mean", "Mean ms", Fixed(1), |_, row| row.mean_ms.into()),
        Group::new("Median", "Median ms", Fixed(1), |_, row| {
            row.median_ms.into()
        }),
        Group::new("Spread", "Spread ms", Fixed(1), |_, row| {
            row.spread_ms.into()
        }),
        Group::new("Min", "Min ms", Fixed(1), |_, row| row.min_ms.into()),
        Group::new("Max", "Max ms", Fixed(1), |_, row| row.max_ms.into()),
        Group::new("FastestCore", "P-core ms", Fixed(1), |_, row| {
            row.fastest_core_ms.into()
        })
        .shown_if_known(|_| true),
        Group::new("OtherCore", "E-core ms", Fixed(1), |_, row| {
            row.other_core_ms.into()
        })
        .shown_if_known(|_| true),
        Group::new("Labels", "Labels", Word, |_, row| row.labels.clone().into()),
    ],
    |_| 0.0,
)
.ranking(|_| Ranked::No);

pub(super) const EFFECTS: View<ExplainRequest, EffectRow> = View::new(
    &[
        Effect::new("Run", "Run", Id, |_, row| row.run.into()),
        Effect::new("Cause", "#", Id, |_, row| row.cause.into()),
        Effect::new("Effect", "Effect ms", Fixed(1), |_, row| {
            row.effect_ms.into()
        }),
        Effect::new("Value", "Value", Fixed(1), |_, row| row.value.into()),
        Effect::new("Unit", "Unit", Word, |_, row| row.unit.clone().into()),
        Effect::new("Extract", "Extract", Word, |_, row| {
            row.extract.clone().into()
        }),
        Effect::new("Name", "Name", Word, |_, row| row.name.clone().into()),
    ],
    |_| 0.0,
)
.ranking(|_| Ranked::No);

pub(super) const CHANGES: View<ExplainRequest, ChangeRow> = View::new(
    &[
        Change::new("Before", "Before ms", Fixed(1), |_, row| {
            row.before_ms.into()
        }),
        Change::new("After", "After ms", Fixed(1), |_, row| row.after_ms.into()),
        Change::new("Change", "Change ms", Fixed(1), |_, row| {
            row.change_ms.into()
        }),
        Change::new("RunsBefore", "Runs before", Whole, |_, row| {
            row.runs_before.into()
        }),
        Change::new("RunsAfter", "Runs after", Whole, |_, row| {
            row.runs_after.into()
        }),
        Change::new("P", "p", Word, |_, row| p_text(row.p_value).into()),
        Change::new("Start", "Start", Word, |_, row| {
            row.start_utc.clone().into()
        }),
        Change::new("Extract", "First run after it", Word, |_, row| {
            row.extract.clone().into()
        }),
    ],
    |_| 0.0,
)
.ranking(|_| Ranked::No);

pub(super) const NOT_RECORDED: View<ExplainRequest, MissingRow> = View::new(
    &[
        Missing::new("Topic", "Topic", Word, |_, row| row.topic.clone().into()),
        Missing::new("Runs", "Runs without", Whole, |_, row| row.runs.into()),
        Missing::new("AllRuns", "of", Whole, |_, row| row.all_runs.into()),
        Missing::new("Means", "Not known", Word, |_, row| {
            row.means.clone().into()
        }),
        Missing::new("RecordedBy", "Recorded by", Word, |_, row| {
            row.recorded_by.clone().into()
        })
        .hidden(),
    ],
    |_| 0.0,
)
.ranking(|_| Ranked::No);

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(cause: i64, is_p_of_all: bool) -> CauseRow {
        CauseRow {
            cause,
            p_value: Some(0.005),
            is_p_of_all,
            ..CauseRow::default()
        }
    }

    #[test]
    fn one_probability_of_several_causes_is_said_once() {
        let text = |rows: &[CauseRow]| p_of_all(rows).unwrap_or_default();
        let (one, two, own) = (cause(1, true), cause(2, true), cause(3, false));
        assert_eq!(p_of_one(&one), None);
        assert_eq!(p_of_one(&own).as_deref(), Some("0.005"));
        assert_eq!(
            text(&[one.clone(), two.clone()]),
            format!("p of all causes together: 0.005, {OF_SUM}")
        );
        assert_eq!(
            text(&[one, two, own.clone()]),
            format!("p of causes 1, 2 together: 0.005, {OF_SUM}")
        );
        assert_eq!(text(&[own]), "");
    }
}
