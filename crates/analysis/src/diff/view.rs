//! Columns of comparisons.

use etwkit_question::Format::{Bytes, Fixed, Milliseconds, Seconds, Whole, Word};
use etwkit_question::{Column, Ranked, View};

use super::rows::{
    Change, CounterChange, Fact, FindingChange, MarkChange, Remark, ResultChange, Summary,
};
use super::totals::taken;

/// The values of a table of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Has {
    /// CPU, waiting and ready time; a lifetime.
    Times,
    /// Waiting and ready time, and the number of waits.
    Waits,
    /// One time, bytes and operations.
    Io,
    /// One time, queries and timeouts.
    Queries,
}

/// Properties of a table that decide its columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct TableProperties {
    pub has: Has,
    /// Title of the column of names.
    pub name: &'static str,
    /// Title of the column after the names.
    pub of: &'static str,
    /// True if wall times differ.
    pub has_percent: bool,
}

type Row = Column<TableProperties, Change>;

fn difference(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    (a.is_some() || b.is_some()).then(|| taken(b).saturating_sub(taken(a)))
}

const fn has_times(shown: &TableProperties) -> bool {
    matches!(shown.has, Has::Times)
}

const fn has_waits(shown: &TableProperties) -> bool {
    matches!(shown.has, Has::Times | Has::Waits)
}

const fn has_bytes(shown: &TableProperties) -> bool {
    matches!(shown.has, Has::Io)
}

const fn has_counts(shown: &TableProperties) -> bool {
    !has_times(shown)
}

/// Returns the remark in a row: `only in B`, `3.5 x as long`.
fn remark(row: &Change) -> Option<String> {
    let only = row.only_in.as_ref().map(|side| format!("only in {side}"));
    let longer = row
        .duration_ratio
        .filter(|_| row.is_longer)
        .map(|ratio| format!("{ratio:.1} x as long"));
    only.or(longer)
}

pub(super) const CHANGES: View<TableProperties, Change> = View::new(
    &[
        Row::new("Difference", "B-A ms", Milliseconds, |_, row| {
            row.difference_ns.into()
        }),
        Row::new("Percent", "of wall %", Fixed(0), |_, row| {
            row.explains_percent.into()
        })
        .shown_if(|shown| shown.has_percent),
        Row::new("Of", "Of", Word, |_, row| row.of_time.clone().into()).shown_if(has_waits),
        Row::new("A", "A ms", Milliseconds, |_, row| row.a_ns.into()),
        Row::new("B", "B ms", Milliseconds, |_, row| row.b_ns.into()),
        Row::new("Cpu", "CPU B-A", Milliseconds, |_, row| {
            difference(row.cpu_a_ns, row.cpu_b_ns).into()
        })
        .shown_if_known(has_times),
        Row::new("Wait", "Wait B-A", Milliseconds, |_, row| {
            difference(row.wait_a_ns, row.wait_b_ns).into()
        })
        .shown_if_known(has_times),
        Row::new("Ready", "Ready B-A", Milliseconds, |_, row| {
            difference(row.ready_a_ns, row.ready_b_ns).into()
        })
        .shown_if_known(has_waits),
        Row::new("Duration", "Lasts B-A", Milliseconds, |_, row| {
            difference(row.duration_a_ns, row.duration_b_ns).into()
        })
        .shown_if_known(has_times),
        Row::new("CountA", "Count A", Whole, |_, row| row.count_a.into())
            .shown_if_known(has_counts),
        Row::new("CountB", "Count B", Whole, |_, row| row.count_b.into())
            .shown_if_known(has_counts),
        Row::new("BytesA", "Size A", Bytes, |_, row| row.bytes_a.into()).shown_if_known(has_bytes),
        Row::new("BytesB", "Size B", Bytes, |_, row| row.bytes_b.into()).shown_if_known(has_bytes),
        Row::new("TimeoutsA", "Timeouts A", Whole, |_, row| {
            row.timeouts_a.into()
        })
        .shown_if_known(|shown| shown.has == Has::Queries),
        Row::new("TimeoutsB", "Timeouts B", Whole, |_, row| {
            row.timeouts_b.into()
        })
        .shown_if_known(|shown| shown.has == Has::Queries),
        Row::new("Remark", "", Word, |_, row| remark(row).into()).shown_if_known(|_| true),
        Row::new("Name", "", Word, |_, row| row.name.clone().into())
            .titled(|shown| shown.name.to_owned()),
        Row::new("Process", "", Word, |_, row| row.of.clone().into())
            .titled(|shown| shown.of.to_owned())
            .shown_if_known(|shown| !shown.of.is_empty()),
    ],
    |row| row.sort_value,
)
.listing("", |row| row.is_shown);

type Counted = Column<TableProperties, CounterChange>;

pub(super) const COUNTERS: View<TableProperties, CounterChange> = View::new(
    &[
        Counted::new("CpiA", "CPI A", Fixed(2), |_, row| row.cpi_a.into()),
        Counted::new("CpiB", "CPI B", Fixed(2), |_, row| row.cpi_b.into()),
        Counted::new("CpiChange", "Change %", Fixed(1), |_, row| {
            row.cpi_change_percent.into()
        }),
        Counted::new("InstructionsA", "Instructions A", Whole, |_, row| {
            row.instructions_a.into()
        }),
        Counted::new("InstructionsB", "Instructions B", Whole, |_, row| {
            row.instructions_b.into()
        }),
        Counted::new("CyclesA", "Cycles A", Whole, |_, row| row.cycles_a.into()),
        Counted::new("CyclesB", "Cycles B", Whole, |_, row| row.cycles_b.into()),
        Counted::new("Remark", "", Word, |_, row| {
            row.is_interference.then_some("interference").into()
        })
        .shown_if_known(|_| true),
        Counted::new("Name", "Process", Word, |_, row| row.name.clone().into()),
        Counted::new("Process", "Command line", Word, |_, row| {
            row.of.clone().into()
        })
        .shown_if_known(|_| true),
    ],
    |row| row.sort_value,
);

type Mark = Column<(), MarkChange>;

pub(super) const MARKS: View<(), MarkChange> = View::new(
    &[
        Mark::new("Difference", "B-A s", Seconds(3), |(), row| {
            row.difference_ns.into()
        }),
        Mark::new("A", "A s", Seconds(3), |(), row| row.a_ns.into()),
        Mark::new("B", "B s", Seconds(3), |(), row| row.b_ns.into()),
        Mark::new("Name", "From", Word, |(), row| row.name.clone().into()),
        Mark::new("Until", "To", Word, |(), row| row.until.clone().into()),
    ],
    |_| 0.0,
)
.ranking(|()| Ranked::No);

type FactColumn = Column<&'static str, Fact>;

/// Facts, given the title of the column of names.
pub(super) const FACTS: View<&'static str, Fact> = View::new(
    &[
        FactColumn::new("Topic", "Of", Word, |_, row| row.topic.clone().into())
            .shown_if_known(|_| true),
        FactColumn::new("Name", "", Word, |_, row| row.name.clone().into())
            .titled(|name| (*name).to_owned()),
        FactColumn::new("A", "A", Word, |_, row| row.a.clone().into()).or("-"),
        FactColumn::new("B", "B", Word, |_, row| row.b.clone().into()).or("-"),
    ],
    |_| 0.0,
)
.ranking(|_| Ranked::No);

/// The summary has no columns: the line above it is complete.
pub(super) const SUMMARY: View<(), Summary> = View::new(&[], |_| 0.0).ranking(|()| Ranked::No);

type RemarkColumn = Column<(), Remark>;

pub(super) const REMARKS: View<(), Remark> = View::new(
    &[RemarkColumn::new("Remark", "", Word, |(), row| {
        row.remark.clone().into()
    })],
    |_| 0.0,
)
.ranking(|()| Ranked::No);

type Found = Column<(), FindingChange>;

pub(super) const FINDINGS: View<(), FindingChange> = View::new(
    &[
        Found::new("Difference", "B-A ms", Milliseconds, |(), row| {
            cost(row, Some(row.difference_ns)).into()
        })
        .or("note"),
        Found::new("A", "A ms", Milliseconds, |(), row| row.a_ns.into()).or(""),
        Found::new("B", "B ms", Milliseconds, |(), row| row.b_ns.into()).or(""),
        Found::new("Remark", "", Word, |(), row| {
            row.only_in
                .as_ref()
                .map(|side| format!("only in {side}"))
                .into()
        })
        .or(""),
        Found::new("Rule", "Rule", Word, |(), row| row.rule.clone().into()),
        Found::new("Culprit", "Culprit", Word, |(), row| {
            row.culprit.clone().into()
        }),
        Found::new("Process", "Victim", Word, |(), row| {
            row.process.clone().into()
        })
        .or(""),
        Found::new("Finding", "Finding", Word, |(), row| {
            row.sentence.clone().into()
        })
        .hidden(),
    ],
    |row| row.difference_ns.unsigned_abs() as f64,
);

/// Returns a time unless the finding is a note, which costs none.
fn cost(row: &FindingChange, ns: Option<i64>) -> Option<i64> {
    ns.filter(|_| row.a_ns.is_some() || row.b_ns.is_some())
}

type Failed = Column<(), ResultChange>;

pub(super) const RESULTS: View<(), ResultChange> = View::new(
    &[
        Failed::new("CountA", "Count A", Whole, |(), row| row.count_a.into()),
        Failed::new("CountB", "Count B", Whole, |(), row| row.count_b.into()),
        Failed::new("Remark", "", Word, |(), row| {
            row.only_in
                .as_ref()
                .map(|side| format!("only in {side}"))
                .into()
        })
        .or(""),
        Failed::new("Kind", "Of", Word, |(), row| row.kind.clone().into()),
        Failed::new("Name", "Operation", Word, |(), row| row.name.clone().into()),
        Failed::new("Result", "Result", Word, |(), row| {
            row.result.clone().into()
        }),
        Failed::new("Process", "Process", Word, |(), row| {
            row.process.clone().into()
        }),
    ],
    |row| row.count_a.abs_diff(row.count_b) as f64,
);
