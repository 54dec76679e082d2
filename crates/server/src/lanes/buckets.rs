//! States by bucket, as SQL.

use super::selection::{ResolvedSelection, is_one_of};
use super::states::{OWNER, Origin};
use crate::wire::{LaneKind, Range, TimelineRequest};

/// The buckets of an answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Buckets {
    pub(super) range: Range,
    pub(super) count: u32,
}

/// Returns SQL for the nanoseconds of each state of each lane and bucket, and switch-ins; empty
/// buckets are left out.
pub(super) fn timeline(
    origin: Origin,
    request: &TimelineRequest,
    chosen: &ResolvedSelection,
    Buckets {
        range: Range {
            from_ns: from,
            to_ns: to,
        },
        count,
    }: Buckets,
) -> String {
    let width = (to.saturating_sub(from) / i64::from(count.max(1))).max(1);
    let (key, states, columns) = match request.kind {
        LaneKind::Core => ("cpu", 1, "running, dpc"),
        LaneKind::Process => ("owner", STATES.len(), "running, ready, waiting"),
        LaneKind::Thread => ("thread_key", STATES.len(), "running, ready, waiting"),
    };
    let bucket = |time: &str| format!("({time} - ({from})) / {width} AS bucket");
    let mut lines = Vec::new();
    let mut moments = Vec::new();
    if origin.has_switches {
        lines.extend(STATES.iter().take(states).map(|(name, begin, length)| {
            format!(
                "SELECT {key} AS key, '{name}' AS state, {begin} AS from_ns, {begin} + {length} AS to_ns \
                 FROM t WHERE {length} > 0"
            )
        }));
        let at = bucket("in_ns");
        moments.push(format!(
            "SELECT {key}, 'switch', {at}, 1 FROM t WHERE in_ns >= {from} AND in_ns < {to}"
        ));
    } else {
        let at = bucket("ts_ns");
        moments.push(format!(
            "SELECT {key}, 'running', {at}, weight_ns FROM t WHERE ts_ns >= {from} AND ts_ns < {to}"
        ));
    }
    if request.kind == LaneKind::Core {
        lines.push(dpcs(request, chosen));
    }
    if lines.is_empty() {
        // A relation with the columns and no rows.
        lines.push(format!(
            "SELECT {key} AS key, '' AS state, ts_ns AS from_ns, ts_ns AS to_ns FROM t WHERE false"
        ));
    }
    let sums: Vec<String> = columns
        .split(", ")
        .map(|state| {
            format!("coalesce(sum(amount) FILTER (WHERE state = '{state}'), 0) AS {state}_ns")
        })
        .collect();
    format!(
        "WITH {}, stretch AS (
  {}), cut AS (
  SELECT key, state, from_ns, to_ns, unnest(range(
    (greatest(from_ns, {from}) - ({from})) / {width},
    (least(to_ns, {to}) - 1 - ({from})) / {width} + 1)) AS bucket
  FROM stretch WHERE from_ns < {to} AND to_ns > {from} AND from_ns < to_ns), cell AS (
  SELECT key, state, bucket, least(to_ns, {from} + (bucket + 1) * {width})
    - greatest(from_ns, {from} + bucket * {width}) AS amount FROM cut
  UNION ALL {})
SELECT key, bucket, {},
  coalesce(sum(amount) FILTER (WHERE state = 'switch'), 0) AS switches
FROM cell
GROUP BY key, bucket
ORDER BY key, bucket",
        origin.rows(&conditions(request, chosen), ""),
        lines.join("\n  UNION ALL "),
        moments.join("\n  UNION ALL "),
        sums.join(", "),
    )
}

/// States, with the columns of their start and length.
const STATES: [(&str, &str, &str); 3] = [
    ("running", "run_from", "run_ns"),
    ("ready", "ready_from", "ready_ns"),
    ("waiting", "wait_from", "wait_ns"),
];

/// Returns the conditions that select the rows of the lanes and match the chips.
fn conditions(request: &TimelineRequest, chosen: &ResolvedSelection) -> Vec<String> {
    let mut all = chosen.of_process(OWNER);
    match request.kind {
        LaneKind::Core => {
            all.push(is_one_of("s.cpu", &request.keys));
            all.extend(chosen.of_core("s.cpu"));
        }
        LaneKind::Process => {
            all.push(is_one_of(OWNER, &request.keys));
            all.extend(chosen.of_thread("s.thread_key"));
        }
        LaneKind::Thread => {
            all.push(is_one_of("s.thread_key", &request.keys));
            all.extend(chosen.of_thread("s.thread_key"));
        }
    }
    all
}

/// Returns SQL for the own time of DPCs and interrupts, which a process does not restrict.
fn dpcs(request: &TimelineRequest, chosen: &ResolvedSelection) -> String {
    let mut all = vec![
        "kind <> 'threaded_dpc'".to_owned(),
        is_one_of("cpu", &request.keys),
    ];
    all.extend(chosen.of_core("cpu"));
    format!(
        "SELECT cpu AS key, 'dpc' AS state, end_ns - (duration_ns - nested_ns) AS from_ns, end_ns AS to_ns \
         FROM dpc_isr WHERE {}",
        all.join(" AND ")
    )
}
