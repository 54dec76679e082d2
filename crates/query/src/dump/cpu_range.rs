//! CPU, waiting and ready time of processes in a part of the trace: computed from single events, clipped to the part.

use super::sql::ends;
use crate::range::Range;

/// Name of the rows, which look like those of `cpu_process`.
pub(super) const TABLE: &str = "cpu_in_range";

/// The `WITH` that makes the rows.
///
/// A sample belongs to the range with its moment. Stays, waits and times ready are clipped. A switch-in counts if it lies in the
/// range. First and last are those in the range.
pub(super) fn with(time: Range) -> String {
    let (a, b) = ends(time);
    format!(
        "WITH fact AS (
  SELECT process_key, thread_key, cpu, ts_ns AS first_ns, ts_ns AS last_ns, weight_ns AS cpu_ns, priority,
    CAST(NULL AS BIGINT) AS run_start, CAST(NULL AS BIGINT) AS run_end, CAST(NULL AS BIGINT) AS wait_start,
    CAST(NULL AS BIGINT) AS wait_end, CAST(NULL AS BIGINT) AS ready_start, CAST(NULL AS BIGINT) AS ready_end,
    0 AS is_switch, 0 AS is_preempted
  FROM cpu_sample
  WHERE NOT is_idle AND ts_ns BETWEEN {a} AND {b}
  UNION ALL
  SELECT process_key, thread_key,
    CASE WHEN run_end >= run_start THEN cpu END,
    CASE WHEN run_end >= run_start THEN run_start END,
    CASE WHEN run_end >= run_start THEN run_end END,
    CAST(NULL AS BIGINT), priority, run_start, run_end, wait_start, wait_end, ready_start, ready_end,
    is_switch, is_preempted
  FROM (
    SELECT process_key, thread_key, cpu, priority,
      CASE WHEN run_ns IS NOT NULL THEN greatest(coalesce(in_ns, out_ns - run_ns), {a}) END AS run_start,
      CASE WHEN run_ns IS NOT NULL THEN least(coalesce(out_ns, in_ns + run_ns), {b}) END AS run_end,
      CASE WHEN wait_ns IS NOT NULL THEN greatest(last_out_ns, {a}) END AS wait_start,
      CASE WHEN wait_ns IS NOT NULL THEN least(last_out_ns + wait_ns, {b}) END AS wait_end,
      CASE WHEN ready_ns IS NOT NULL THEN greatest(in_ns - ready_ns, {a}) END AS ready_start,
      CASE WHEN ready_ns IS NOT NULL THEN least(in_ns, {b}) END AS ready_end,
      CASE WHEN in_ns BETWEEN {a} AND {b} THEN 1 ELSE 0 END AS is_switch,
      CASE WHEN in_ns BETWEEN {a} AND {b} AND prev_state = 1 THEN 1 ELSE 0 END AS is_preempted
    FROM context_switch
  )
  WHERE run_end >= run_start OR wait_end > wait_start OR ready_end > ready_start
),
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
