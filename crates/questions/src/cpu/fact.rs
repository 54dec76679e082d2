//! Samples, scheduling slices, waits and ready times as rows of one shape, clipped to a range of
//! the trace.

use etwkit_question::range::Range;
use etwkit_question::sql::{ProcessQuery, ends};

/// Name of the rows.
pub(crate) const TABLE: &str = "fact";

/// Returns the part of `WITH` that computes the rows of these processes, and of threads whose
/// process is not known.
///
/// A sample is in the range if its time is. Scheduling slices, waits and ready times are clipped. A
/// switch-in counts if it is in the range.
pub(crate) fn rows(time: Range, processes: &ProcessQuery) -> String {
    // `greatest` and `least` clip an interval to the range. An interval outside the range then ends
    // before it starts, and each sum takes only intervals that end after their start.
    let (a, b) = ends(time);
    // A scheduling slice whose switch-in or switch-out is not in the trace is placed by the other
    // end and its length. The end that is missing is not a first or last time, as it is not in the
    // sums of the whole trace. States 1, 3 and 7 (ready, standby, deferred ready) mean that the
    // thread was preempted. Filtered before sums are made: facts of all processes of a long trace
    // are by far the most rows.
    let only = only(processes);
    format!(
        "{TABLE} AS (
  SELECT process_key, thread_key, cpu, stack_id, ts_ns AS first_ns, ts_ns AS last_ns, weight_ns AS cpu_ns, priority,
    CAST(NULL AS BIGINT) AS run_start, CAST(NULL AS BIGINT) AS run_end, CAST(NULL AS BIGINT) AS wait_start,
    CAST(NULL AS BIGINT) AS wait_end, CAST(NULL AS BIGINT) AS ready_start, CAST(NULL AS BIGINT) AS ready_end,
    0 AS is_switch, 0 AS is_preempted, 0 AS is_ready_known
  FROM cpu_sample
  WHERE NOT is_idle AND ts_ns BETWEEN {a} AND {b}{only}
  UNION ALL
  SELECT process_key, thread_key,
    CASE WHEN run_end >= run_start THEN cpu END,
    stack_id,
    CASE WHEN run_end >= run_start THEN run_first END,
    CASE WHEN run_end >= run_start THEN run_last END,
    CAST(NULL AS BIGINT), priority, run_start, run_end, wait_start, wait_end, ready_start, ready_end,
    is_switch, is_preempted, is_ready_known
  FROM (
    SELECT process_key, thread_key, cpu, stack_id, priority,
      CASE WHEN run_ns IS NOT NULL THEN greatest(coalesce(in_ns, out_ns - run_ns), {a}) END AS run_start,
      CASE WHEN run_ns IS NOT NULL THEN least(coalesce(out_ns, in_ns + run_ns), {b}) END AS run_end,
      least(greatest(coalesce(in_ns, out_ns), {a}), {b}) AS run_first,
      least(greatest(coalesce(out_ns, in_ns), {a}), {b}) AS run_last,
      CASE WHEN wait_ns IS NOT NULL THEN greatest(last_out_ns, {a}) END AS wait_start,
      CASE WHEN wait_ns IS NOT NULL THEN least(last_out_ns + wait_ns, {b}) END AS wait_end,
      CASE WHEN ready_ns IS NOT NULL THEN greatest(coalesce(readied_ns, last_out_ns), {a}) END AS ready_start,
      CASE WHEN ready_ns IS NOT NULL THEN least(coalesce(readied_ns, last_out_ns) + ready_ns, {b}) END AS ready_end,
      CASE WHEN in_ns BETWEEN {a} AND {b} THEN 1 ELSE 0 END AS is_switch,
      CASE WHEN in_ns BETWEEN {a} AND {b} AND prev_state IN (1, 3, 7) THEN 1 ELSE 0 END AS is_preempted,
      CASE WHEN in_ns BETWEEN {a} AND {b} AND ready_ns IS NOT NULL THEN 1 ELSE 0 END AS is_ready_known
    FROM context_switch
    WHERE true{only}
  )
  WHERE run_end >= run_start OR wait_end > wait_start OR ready_end > ready_start OR is_switch = 1
)"
    )
}

/// Excludes other processes early. The later condition on the process is decisive.
fn only(processes: &ProcessQuery) -> String {
    let conditions = processes.conditions();
    if conditions.is_empty() {
        return String::new();
    }
    format!(
        "\n    AND (process_key IS NULL OR process_key IN (SELECT p.process_key FROM process p WHERE {}))",
        conditions.joined()
    )
}
