//! Columns of critical paths: segments, the tree, and shares of the time. The answer has their rows
//! in reading order, so none is ranked again.

use etwkit_question::Format::{FineMilliseconds, Fixed, Id, Seconds, Whole, Word};
use etwkit_question::{Column, Ranked, View};
use serde::Serialize;

use super::rows::{Node, ProcessShare, Segment, Share};
use crate::stacks::Stacks;
use crate::time_line::State;

/// A row with its stacks as text.
#[derive(Debug, Clone, Serialize)]
pub(super) struct WithStacks<R> {
    #[serde(flatten)]
    pub(super) row: R,
    #[serde(flatten)]
    pub(super) stacks: Stacks,
}

/// Properties of a path that decide its columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathProperties {
    /// True if part of the time is unknown.
    pub(super) has_unknown: bool,
}

type OfSegment = Column<PathProperties, WithStacks<Segment>>;

pub(super) const SEGMENTS: View<PathProperties, WithStacks<Segment>> = View::new(
    &[
        OfSegment::new("Start", "Start s", Seconds(6), |_, it| {
            it.row.start_ns.into()
        }),
        OfSegment::new("Time", "Time ms", FineMilliseconds, |_, it| {
            it.row.duration_ns.into()
        })
        .cost(),
        OfSegment::new("Depth", "Depth", Id, |_, it| it.row.depth.into()),
        OfSegment::new("State", "State", Word, |_, it| {
            state(it.row.state, it.row.wait_reason.as_deref()).into()
        }),
        OfSegment::new("Process", "Thread", Word, |_, it| {
            who(it.row.process.as_deref(), it.row.pid, it.row.tid).into()
        }),
        OfSegment::new("EndedBy", "Ended by", Word, |_, it| {
            ended_by(&it.row).into()
        }),
        OfSegment::new("Stack", "Waited in", Word, |_, it| {
            it.stacks.stack.clone().into()
        }),
    ],
    |it| it.row.duration_ns as f64,
)
.ranking(|_| Ranked::No);

type OfNode = Column<PathProperties, WithStacks<Node>>;

pub(super) const TREE: View<PathProperties, WithStacks<Node>> = View::new(
    &[
        OfNode::new("Total", "Total ms", FineMilliseconds, |_, it| {
            it.row.total_ns.into()
        })
        .worst(),
        OfNode::new("Percent", "%", Fixed(1), |_, it| {
            it.row.total_percent.into()
        }),
        OfNode::new("Run", "Ran ms", FineMilliseconds, |_, it| {
            it.row.run_ns.into()
        })
        .cost(),
        OfNode::new("Ready", "Ready ms", FineMilliseconds, |_, it| {
            it.row.ready_ns.into()
        })
        .cost(),
        OfNode::new("Wait", "Waited ms", FineMilliseconds, |_, it| {
            it.row.wait_ns.into()
        })
        .cost(),
        OfNode::new("Unknown", "Unknown ms", FineMilliseconds, |_, it| {
            it.row.unknown_ns.into()
        })
        .sum()
        .shown_if(|shown| shown.has_unknown),
        OfNode::new("Waits", "Waits", Whole, |_, it| it.row.waits.into()).sum(),
        OfNode::new("Process", "Thread", Word, |_, it| {
            let indent: String = (0..it.row.depth).map(|_| "  ").collect();
            let creator = if it.row.is_creator {
                ", its creator"
            } else {
                ""
            };
            format!(
                "{indent}{}{creator}",
                who(it.row.process.as_deref(), it.row.pid, it.row.tid)
            )
            .into()
        }),
        OfNode::new("Stack", "Waited for it in", Word, |_, it| {
            it.stacks.stack.clone().into()
        }),
        OfNode::new("ReadyingStack", "It ended the wait in", Word, |_, it| {
            it.stacks.readying_stack.clone().into()
        }),
    ],
    |it| it.row.total_ns as f64,
)
.ranking(|_| Ranked::No);

type OfShare = Column<PathProperties, Share>;

pub(super) const SHARES: View<PathProperties, Share> = View::new(
    &[
        OfShare::new("Time", "Time ms", FineMilliseconds, |_, row| {
            row.duration_ns.into()
        })
        .cost(),
        OfShare::new("Percent", "%", Fixed(1), |_, row| row.percent.into()),
        OfShare::new("Segments", "Segments", Whole, |_, row| row.segments.into()).sum(),
        OfShare::new("State", "State", Word, |_, row| {
            state(row.state, row.wait_reason.as_deref()).into()
        }),
        OfShare::new("EndedBy", "Ended by", Word, |_, row| {
            row.ended_by
                .as_deref()
                .unwrap_or("")
                .replace('_', " ")
                .into()
        }),
        OfShare::new("Process", "Thread", Word, |_, row| {
            who(row.process.as_deref(), row.pid, row.tid).into()
        }),
    ],
    |row| row.duration_ns as f64,
)
.ranking(|_| Ranked::No);

type OfProcess = Column<PathProperties, ProcessShare>;

pub(super) const PROCESSES: View<PathProperties, ProcessShare> = View::new(
    &[
        OfProcess::new("Time", "Time ms", FineMilliseconds, |_, row| {
            row.total_ns.into()
        })
        .cost(),
        OfProcess::new("Percent", "%", Fixed(1), |_, row| row.percent.into()),
        OfProcess::new("Run", "Ran ms", FineMilliseconds, |_, row| {
            row.run_ns.into()
        })
        .cost(),
        OfProcess::new("Ready", "Ready ms", FineMilliseconds, |_, row| {
            row.ready_ns.into()
        })
        .cost(),
        OfProcess::new("Wait", "Waited ms", FineMilliseconds, |_, row| {
            row.wait_ns.into()
        })
        .cost(),
        OfProcess::new("Disk", "for disk ms", FineMilliseconds, |_, row| {
            row.disk_ns.into()
        })
        .cost(),
        OfProcess::new("Unknown", "Unknown ms", FineMilliseconds, |_, row| {
            row.unknown_ns.into()
        })
        .sum()
        .shown_if(|shown| shown.has_unknown),
        OfProcess::new("Threads", "Threads", Whole, |_, row| row.threads.into()),
        OfProcess::new("Process", "Process", Word, |_, row| {
            who(row.process.as_deref(), row.pid, None).into()
        }),
    ],
    |row| row.total_ns as f64,
)
.ranking(|_| Ranked::No);

fn state(state: State, reason: Option<&str>) -> String {
    reason.map_or_else(
        || state.name().to_owned(),
        |reason| format!("{} ({reason})", state.name()),
    )
}

fn ended_by(row: &Segment) -> String {
    let kind = row.ended_by.as_deref().unwrap_or("").replace('_', " ");
    let parts = [
        Some(kind.as_str()),
        row.operation.as_deref(),
        row.object.as_deref(),
    ];
    parts
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns a process with its id, or one of its threads.
pub(super) fn who(process: Option<&str>, pid: Option<i64>, tid: Option<i64>) -> String {
    let pid = pid.map_or_else(String::new, |pid| format!("({pid})"));
    let tid = tid.map_or_else(String::new, |tid| format!(" thread {tid}"));
    format!("{}{pid}{tid}", process.unwrap_or("(unknown)"))
}
