//! Columns of stacks of virtual memory and of single allocations.

use super::VirtualAllocRequest;
use super::rows::{VirtualAllocTotal, VirtualEvent, VirtualStackRow};
use etwkit_question::Format::{Bytes, Id, Moment, Process, ProcessLine, Whole, Word};
use etwkit_question::group::Group;
use etwkit_question::{Column, Line, Ranked, View, frames};

type VirtualStackColumn = Column<VirtualAllocRequest, VirtualStackRow>;

pub(super) const STACKS: View<VirtualAllocRequest, VirtualStackRow> = View::new(
    &[
        VirtualStackColumn::new("NotReleasedSize", "Outstanding", Bytes, |_, row| {
            row.outstanding_bytes.into()
        })
        .cost(),
        VirtualStackColumn::new("NotReleasedCount", "Count", Whole, |_, row| {
            row.outstanding_commits.into()
        })
        .cost(),
        VirtualStackColumn::new("CommitSize", "Committed", Bytes, |_, row| {
            row.commit_bytes.into()
        })
        .cost(),
        VirtualStackColumn::new("CommitCount", "Count", Whole, |_, row| row.commits.into()).cost(),
        VirtualStackColumn::new("MaxCommitSize", "Largest", Bytes, |_, row| {
            row.max_commit_bytes.into()
        })
        .worst()
        .hidden(),
        VirtualStackColumn::new("StackId", "Stack", Word, |_, row| row.stack_id.into())
            .or("(none)")
            .shown_if(|asked| asked.methods.is_none()),
        VirtualStackColumn::new("Method", "Method", Word, |_, row| row.method.clone().into())
            .shown_if(|asked| asked.methods.is_some()),
        VirtualStackColumn::new("Process", "Process", Process, |_, row| row.into())
            .shown_when_merged(|_| true),
    ],
    |row| row.sort_value,
)
.with_below(|_, row| frames(row.stack.as_deref()));

/// Returns the line above the stacks of a process: sums over all of its stacks, including hidden
/// ones.
pub(super) fn of_process(
    group: Group<VirtualStackRow, VirtualAllocTotal>,
) -> (Line, Vec<VirtualStackRow>) {
    let Group { total, rows } = group;
    let process = rows
        .first()
        .map_or_else(Line::default, |row| Line::new("  ").value(ProcessLine, row));
    let line = process
        .words(": ")
        .value(Bytes, total.outstanding_bytes)
        .words(" in ");
    (
        line.counted(total.outstanding_commits, ["commit", "commits"]),
        rows,
    )
}

type VirtualEventColumn = Column<VirtualAllocRequest, VirtualEvent>;

pub(super) const ALLOCATIONS: View<VirtualAllocRequest, VirtualEvent> = View::new(
    &[
        VirtualEventColumn::new("Time", "Time", Moment, |_, row| row.ts_ns.into()),
        VirtualEventColumn::new("Kind", "What", Word, |_, row| row.kind.as_str().into()),
        VirtualEventColumn::new("Size", "Size", Bytes, |_, row| row.size_bytes.into()).cost(),
        VirtualEventColumn::new("NotReleasedSize", "Outstanding", Bytes, |_, row| {
            row.outstanding_bytes.into()
        })
        .cost(),
        VirtualEventColumn::new("Address", "Address", Word, |_, row| {
            row.address.as_str().into()
        }),
        VirtualEventColumn::new("StackId", "Stack", Word, |_, row| row.stack_id.into())
            .or("(none)"),
        VirtualEventColumn::new("Tid", "Tid", Id, |_, row| row.tid.into()).hidden(),
        VirtualEventColumn::new("Process", "Process", Process, |_, row| row.into()),
    ],
    |row| row.ts_ns as f64,
)
.ranking(|_| Ranked::No)
.with_below(|_, row| frames(row.stack.as_deref()));
