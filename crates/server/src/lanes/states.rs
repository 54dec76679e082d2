//! Statements about states of threads, as defined in `docs/numbers/timeline.md`: from
//! `context_switch`, or from `cpu_sample` if there are no context switches.

use etwkit_question::covered::{Covered, Recorder};

use super::selection::ResolvedSelection;
use super::{UNKNOWN, bounds};
use crate::wire::{LaneKind, LanesRequest, MomentRequest, Range};

/// Largest plausible number of processors.
const MOST_PROCESSORS: i32 = 1 << 12;

/// The source of thread states.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin {
    pub(super) has_switches: bool,
    pub(super) processors: i32,
}

impl Origin {
    /// Returns the expression `t`, in which a row has each state with its beginning and length:
    /// `run_from` and `run_ns`, `ready_from` and `ready_ns`, `wait_from` and `wait_ns`. `owner` is
    /// the process, -1 if it is not known. Of a sample there are only `run_from` and `run_ns`.
    ///
    /// The conditions are of rows that are called `s`.
    pub(super) fn rows(self, conditions: &[String], more: &str) -> String {
        let mut all = vec![
            // The idle process has no lane. A row without a process is in the lane of the unknown
            // process.
            "coalesce(s.process_key <> (SELECT min(process_key) FROM process WHERE pid = 0), true)"
                .to_owned(),
        ];
        all.extend_from_slice(conditions);
        if !self.has_switches {
            all.push("NOT s.is_idle AND s.weight_ns > 0".to_owned());
            return format!(
                "t AS (
  SELECT s.thread_key, coalesce(s.process_key, {UNKNOWN}) AS owner, s.cpu, s.ts_ns, s.weight_ns{more}
  FROM cpu_sample s
  WHERE {})",
                all.join("\n    AND ")
            );
        }
        let known = Covered::whole(Recorder::Kernel).sql();
        format!(
            "t AS (
  SELECT s.thread_key, coalesce(s.process_key, {UNKNOWN}) AS owner, s.cpu, s.in_ns,
    coalesce(s.in_ns, s.out_ns - s.run_ns, k.start_ns) AS run_from, s.run_ns,
    coalesce(s.in_ns - s.ready_ns, s.readied_ns, s.last_out_ns) AS ready_from, s.ready_ns,
    s.last_out_ns AS wait_from,
    CASE WHEN s.is_open_wait THEN k.end_ns - s.last_out_ns ELSE s.wait_ns END AS wait_ns{more}
  FROM context_switch s CROSS JOIN ({known}) k
  WHERE {})",
            all.join("\n    AND ")
        )
    }

    /// Returns the expressions `t` and `part`: the part of each state of a row that is inside the
    /// range.
    pub(super) fn parts(self, conditions: &[String], part: Range) -> String {
        let rows = self.rows(conditions, "");
        let Range {
            from_ns: a,
            to_ns: b,
        } = bounds(part);
        if !self.has_switches {
            return format!(
                "WITH {rows}, part AS (
  SELECT thread_key, owner, cpu, weight_ns AS running_ns, CAST(NULL AS BIGINT) AS ready_ns,
    CAST(NULL AS BIGINT) AS waiting_ns, 0 AS switches
  FROM t WHERE ts_ns >= {a} AND ts_ns < {b})"
            );
        }
        // Rows reach out of the part at both ends; a negative length after clipping means that the
        // row is outside.
        let clipped = |from: &str, length: &str| {
            format!(
                "CASE WHEN {from} IS NOT NULL AND {length} > 0 \
                 THEN greatest(least({from} + {length}, {b}) - greatest({from}, {a}), 0) ELSE 0 END"
            )
        };
        format!(
            "WITH {rows}, part AS (
  SELECT thread_key, owner, cpu,
    {} AS running_ns,
    {} AS ready_ns,
    {} AS waiting_ns,
    CASE WHEN in_ns >= {a} AND in_ns < {b} THEN 1 ELSE 0 END AS switches
  FROM t)",
            clipped("run_from", "run_ns"),
            clipped("ready_from", "ready_ns"),
            clipped("wait_from", "wait_ns"),
        )
    }

    /// Returns SQL for the sums of lanes, in the order of the answer.
    pub(super) fn lanes(
        self,
        request: &LanesRequest,
        chosen: &ResolvedSelection,
        part: Range,
    ) -> String {
        let process = chosen.of_process(OWNER);
        let limit = format!("LIMIT {} OFFSET {}", request.limit, request.offset);
        let (keys, groups) = match request.kind {
            LaneKind::Core => return self.cores(&process, chosen, part, &limit),
            LaneKind::Process => ("owner AS key", "owner"),
            LaneKind::Thread => {
                let keys = "thread_key AS key, nullif(owner, -1) AS process_key";
                (keys, "thread_key, owner")
            }
        };
        let conditions = [process, chosen.of_thread("s.thread_key")].concat();
        let order = if request.kind == LaneKind::Thread {
            ", process_key NULLS FIRST"
        } else {
            ""
        };
        format!(
            "{}
SELECT {keys}, sum(running_ns) AS running_ns, sum(ready_ns) AS ready_ns, sum(waiting_ns) AS waiting_ns
FROM part
GROUP BY {groups}
HAVING sum(running_ns) > 0 OR sum(ready_ns) > 0 OR sum(waiting_ns) > 0 OR sum(switches) > 0
ORDER BY running_ns DESC, key{order}
{limit}",
            self.parts(&conditions, part)
        )
    }

    /// Returns SQL for the sums of processors, including idle ones.
    fn cores(
        self,
        process: &[String],
        chosen: &ResolvedSelection,
        part: Range,
        limit: &str,
    ) -> String {
        let only = chosen
            .of_core("key")
            .map_or_else(String::new, |only| format!("\nWHERE {only}"));
        format!(
            "{}
SELECT key, sum(running_ns) AS running_ns
FROM (
  SELECT cpu AS key, running_ns FROM part WHERE cpu IS NOT NULL AND (running_ns > 0 OR switches > 0)
  UNION ALL SELECT unnest(range(0, {})), 0){only}
GROUP BY key
ORDER BY key
{limit}",
            self.parts(process, part),
            // The number comes from the file, and each processor gets a row.
            self.processors.clamp(0, MOST_PROCESSORS)
        )
    }

    /// Returns SQL for the row at a moment, and the state of it; `None` if there is none.
    pub(super) fn moment(self, request: &MomentRequest) -> Option<String> {
        let at = request.at_ns;
        let within = request.within_ns;
        let condition = match request.kind {
            LaneKind::Process => return None,
            LaneKind::Core => format!("s.cpu = {}", request.key),
            LaneKind::Thread => format!("s.thread_key = {}", request.key),
        };
        let more = ", s.wait_reason, s.stack_id, s.readying_thread_key, s.readying_stack_id";
        let state = |name: &str, from: &str, length: &str| {
            format!(
                "SELECT '{name}' AS state, {from} AS from_ns, {from} + {length} AS to_ns, t.* \
                 FROM t WHERE {length} > 0 AND {from} IS NOT NULL"
            )
        };
        let mut states = vec![state("running", "run_from", "run_ns")];
        if request.kind == LaneKind::Thread {
            states.push(state("ready", "ready_from", "ready_ns"));
            states.push(state("waiting", "wait_from", "wait_ns"));
        }
        Some(format!(
            "WITH {}, lane AS (
  {}), near AS (
  SELECT *, CASE WHEN from_ns > {at} THEN from_ns - {at} ELSE greatest({at} - to_ns + 1, 0) END AS away_ns
  FROM lane)
SELECT state, from_ns, to_ns, thread_key, nullif(owner, {UNKNOWN}) AS process_key,
  CASE WHEN state = 'running' THEN cpu END AS core, wait_reason_name(wait_reason) AS wait_reason, stack_id,
  readying_thread_key, readying_stack_id, ready_ns
FROM near
WHERE away_ns <= {within}
ORDER BY away_ns, from_ns
LIMIT 1",
            self.rows(&[condition], more),
            states.join("\n  UNION ALL ")
        ))
    }
}

/// The process of a row, in conditions of [`Origin::rows`].
pub(super) const OWNER: &str = "coalesce(s.process_key, -1)";
