//! CPU, waiting and ready time of processes in a range of the trace: computed from single events,
//! clipped to the range.

use std::collections::BTreeSet;

use super::fact;
use etwkit_base::digits::ranges;
use etwkit_question::range::Range;
use etwkit_question::sql::ProcessQuery;

/// Name of the rows, which have the columns of `cpu_process`.
pub(super) const TABLE: &str = "cpu_in_range";

/// Returns the `WITH` clause that computes the rows.
///
/// First and last times are those within the range.
pub(super) fn with(time: Range, processes: &ProcessQuery) -> String {
    // Waits of the threads of a process overlap: their union is the time in which at least one
    // waited, a sum could exceed the time that passed. Priorities are weighted by CPU, without
    // samples by time on processors.
    let facts = fact::rows(time, processes);
    format!(
        "WITH {facts},
{TABLE} AS (
  SELECT *, coalesce(array_length(core_list), 0) AS core_count, coalesce(array_to_string(core_list, ','), '') AS cores
  FROM (
    SELECT process_key,
      count(cpu_ns) AS samples,
      coalesce(sum(cpu_ns), 0) AS cpu_ns,
      CASE WHEN has_switches THEN coalesce(sum(run_end - run_start) FILTER (WHERE run_end > run_start), 0) END AS run_ns,
      CASE WHEN has_switches THEN coalesce(union_duration(wait_start, wait_end) FILTER (WHERE wait_end > wait_start), 0) END AS wait_ns,
      CASE WHEN has_switches THEN coalesce(union_duration(ready_start, ready_end) FILTER (WHERE ready_end > ready_start), 0) END AS ready_ns,
      CASE WHEN has_switches THEN sum(is_switch) END AS switches,
      CASE WHEN has_switches THEN sum(is_preempted) END AS preemptions,
      count(DISTINCT thread_key) AS threads,
      coalesce(
        CAST(sum(priority * cpu_ns) AS DOUBLE) / nullif(sum(cpu_ns) FILTER (WHERE priority IS NOT NULL), 0),
        CAST(sum(priority * (run_end - run_start)) FILTER (WHERE run_end > run_start) AS DOUBLE)
          / nullif(sum(run_end - run_start) FILTER (WHERE run_end > run_start AND priority IS NOT NULL), 0)
      ) AS priority,
      array_sort(array_agg(DISTINCT cpu) FILTER (WHERE cpu IS NOT NULL)) AS core_list,
      coalesce(min(first_ns), min(least(wait_start, ready_start))) AS first_ns,
      coalesce(max(last_ns), max(greatest(wait_end, ready_end))) AS last_ns
    FROM fact CROSS JOIN (SELECT count(*) > 0 AS has_switches FROM context_switch)
    GROUP BY process_key, has_switches
  )
)
"
    )
}

/// Returns the processors of a row as the stored sums have them: `0-3,6` instead of `0,1,2,3,6`.
pub(super) fn cores(listed: &str) -> String {
    let numbers: BTreeSet<i32> = listed
        .split(',')
        .filter_map(|number| number.parse().ok())
        .collect();
    ranges(&numbers)
}
