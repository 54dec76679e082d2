//! Rows of methods, modules, threads and stack tags, from stored sums or from sums over single
//! events.
//!
//! All have the columns of [`COLUMNS`] in that order.

use crate::cpu::By;
use crate::cpu::fact;
use crate::cpu::source::{SAMPLED, SAMPLED_EVENTS};
use etwkit_question::range::Range;
use etwkit_question::sql::ProcessQuery;
use etwkit_question::tag_query::with_default;
use etwkit_sql::literal::quoted;

/// Columns of the rows.
const COLUMNS: &str = "kind, process_key, tid, tag_set, module, method, module_path, cpu_ns, exclusive_ns, wait_ns, ready_ns, \
     wait_sum_ns, ready_sum_ns, ready_count, switches, threads, depth, first_ns, last_ns";

/// The `WITH` clause of a question, empty if it needs none, and the rows.
pub(super) struct Rows {
    /// Named rows that the question starts with.
    pub with: String,
    /// The expression after `FROM`, in brackets.
    pub from: String,
}

/// More than 0 if the trace has a busy sample. A summary does not hold single samples, only sums by
/// stack.
const SAMPLED_OF_STACKS: &str =
    "SELECT (SELECT count(*) FROM cpu_sample WHERE NOT is_idle) + (SELECT count(*) FROM cpu_stack)";

/// Returns SQL that is more than 0 if CPU of the rows is from samples.
pub(super) fn sampled(by: By, time: Range) -> &'static str {
    match by {
        By::Process | By::Method if time.is_unlimited() => SAMPLED,
        By::Process | By::Method | By::Module => SAMPLED_OF_STACKS,
        By::Thread => SAMPLED_EVENTS,
    }
}

/// Returns rows of methods, modules or threads.
pub(super) fn rows(by: By, time: Range, processes: &ProcessQuery) -> Rows {
    match by {
        By::Process | By::Method if time.is_unlimited() => Rows {
            with: String::new(),
            from: methods(),
        },
        By::Process | By::Method | By::Module => {
            let facts = fact::rows(time, processes);
            let sums = if time.is_unlimited() { SUMS } else { "" };
            Rows {
                with: format!("WITH {facts},\n{}", by_frame(by, sums)),
                from: framed(by),
            }
        }
        By::Thread => {
            let facts = fact::rows(time, processes);
            let threads_of = THREADS.replace("EVENTS", SAMPLED_EVENTS);
            Rows {
                with: format!("WITH {facts},\n{threads_of}\n"),
                from: threads(),
            }
        }
    }
}

/// Returns rows of stack tags of the whole trace whose path passes a condition on `tag`. An extract
/// that was made of sums has waits of tags only added up over threads.
pub(super) fn tags(condition: Option<&str>) -> String {
    let condition =
        condition.map_or_else(String::new, |condition| format!("\n  WHERE {condition}"));
    format!(
        "
  SELECT 'tag' AS kind, process_key, CAST(NULL AS INT) AS tid, tag_set, CAST(NULL AS VARCHAR) AS module, tag AS method,
    CAST(NULL AS VARCHAR) AS module_path, cpu_ns, CAST(NULL AS BIGINT) AS exclusive_ns, coalesce(wait_ns, wait_sum_ns) AS wait_ns,
    ready_ns, wait_sum_ns,
    ready_sum_ns, CAST(NULL AS BIGINT) AS ready_count, switches, threads, CAST(NULL AS DOUBLE) AS depth, first_ns, last_ns
  FROM cpu_tag{condition}"
    )
}

/// Returns rows of stack tags of a range of the trace, by some sets: sums over the single events of
/// [`fact`], which are the first part of the question. Each stack is tagged again.
pub(super) fn tags_in_range(sets: &[String], condition: Option<&str>) -> String {
    let condition = condition.map_or_else(String::new, |condition| format!(" AND {condition}"));
    let named = |set: &str| format!("({})", quoted(set));
    let sets = with_default(sets).map(named);
    let sets = sets.collect::<Vec<_>>().join(", ");
    format!(
        "
  SELECT 'tag' AS kind, process_key, CAST(NULL AS INT) AS tid, tag_set, CAST(NULL AS VARCHAR) AS module, tag AS method,
    CAST(NULL AS VARCHAR) AS module_path, coalesce(sum(cpu_ns), 0) AS cpu_ns, CAST(NULL AS BIGINT) AS exclusive_ns,
    CASE WHEN has_switches THEN coalesce(union_duration(wait_start, wait_end) FILTER (WHERE wait_end > wait_start), 0) END AS wait_ns,
    CASE WHEN has_switches THEN coalesce(union_duration(ready_start, ready_end) FILTER (WHERE ready_end > ready_start), 0) END
      AS ready_ns,
    CASE WHEN has_switches THEN coalesce(sum(wait_end - wait_start) FILTER (WHERE wait_end > wait_start), 0) END AS wait_sum_ns,
    CASE WHEN has_switches THEN coalesce(sum(ready_end - ready_start) FILTER (WHERE ready_end > ready_start), 0) END AS ready_sum_ns,
    CAST(NULL AS BIGINT) AS ready_count, CASE WHEN has_switches THEN sum(is_switch) END AS switches,
    count(DISTINCT thread_key) AS threads, CAST(NULL AS DOUBLE) AS depth,
    coalesce(min(first_ns), min(least(wait_start, ready_start))) AS first_ns,
    coalesce(max(last_ns), max(greatest(wait_end, ready_end))) AS last_ns
  FROM (
    SELECT f.*, s.tag_set, stack_tag(f.stack_id, s.tag_set) AS tag
    FROM {} f CROSS JOIN (VALUES {sets}) AS s(tag_set)
  ) CROSS JOIN (SELECT count(*) > 0 AS has_switches FROM context_switch)
  WHERE tag IS NOT NULL{condition}
  GROUP BY process_key, tag_set, tag, has_switches",
        fact::TABLE
    )
}

/// Returns rows of stored sums. Without samples in the trace, CPU comes from context switches.
fn methods() -> String {
    format!(
        "
  SELECT 'method' AS kind, process_key, CAST(NULL AS INT) AS tid, CAST(NULL AS VARCHAR) AS tag_set, module, method, module_path,
    CASE WHEN ({SAMPLED}) > 0 THEN cpu_ns ELSE coalesce(run_ns, 0) END AS cpu_ns,
    exclusive_ns, wait_ns, ready_ns, wait_sum_ns, ready_sum_ns, ready_count, switches, threads, depth, first_ns, last_ns
  FROM cpu_method"
    )
}

/// A summary has no single events, but CPU by stack: without threads and times.
// A full extract has both, and would count its CPU twice without the condition.
const SUMS: &str = "
  UNION ALL
  SELECT process_key, CAST(NULL AS INT), stack_id, samples, cpu_ns, 0, 0, 0, 0, 0, CAST(NULL AS BIGINT), CAST(NULL AS BIGINT)
  FROM cpu_stack
  WHERE (SELECT count(*) FROM cpu_sample) = 0";

/// Times of stacks, which methods or modules the stacks have, and sums by these.
// `part` sums up times by stack first: there are far fewer stacks than events, and each is unrolled
// once. `code` gives frames of one method the same number, `place` keeps the innermost frame of a
// method in a stack, so that recursion counts once. Unions need the intervals themselves and cannot
// be computed from sums.
fn by_frame(by: By, sums: &str) -> String {
    let (method, parts) = match by {
        By::Module => ("CAST('' AS VARCHAR)", "module_path, module"),
        _ => (
            "coalesce(d.name, concat('+', hex(coalesce(f.rva, f.address))))",
            "module_path, module, method",
        ),
    };
    format!(
        "part AS (
  SELECT process_key, thread_key, stack_id,
    count(cpu_ns) AS samples,
    coalesce(sum(cpu_ns), 0) AS cpu_ns,
    coalesce(sum(run_end - run_start) FILTER (WHERE run_end > run_start), 0) AS run_ns,
    coalesce(sum(wait_end - wait_start) FILTER (WHERE wait_end > wait_start), 0) AS wait_ns,
    coalesce(sum(ready_end - ready_start) FILTER (WHERE ready_end > ready_start), 0) AS ready_ns,
    sum(is_ready_known) AS ready_count,
    sum(is_switch) AS switches,
    coalesce(min(first_ns), min(least(wait_start, ready_start))) AS first_ns,
    coalesce(max(last_ns), max(greatest(wait_end, ready_end))) AS last_ns
  FROM fact WHERE stack_id IS NOT NULL GROUP BY process_key, thread_key, stack_id{sums}
),
code AS (
  SELECT *, min(frame_id) OVER (PARTITION BY {parts}) AS code_id
  FROM (
    SELECT f.frame_id, m.path AS module_path, m.name AS module, {method} AS method
    FROM frame f
    LEFT JOIN module m ON m.module_id = f.module_id
    LEFT JOIN method d ON d.method_id = f.method_id
  )
),
place AS (
  SELECT s.stack_id, c.code_id, min(s.depth) AS depth
  FROM stack_frame s
  JOIN code c ON c.frame_id = s.frame_id
  WHERE s.stack_id IN (SELECT stack_id FROM part)
  GROUP BY s.stack_id, c.code_id
),
united AS (
  SELECT f.process_key, l.code_id,
    union_duration(f.wait_start, f.wait_end) FILTER (WHERE f.wait_end > f.wait_start) AS wait_ns,
    union_duration(f.ready_start, f.ready_end) FILTER (WHERE f.ready_end > f.ready_start) AS ready_ns
  FROM fact f
  JOIN place l ON l.stack_id = f.stack_id
  WHERE f.wait_end > f.wait_start OR f.ready_end > f.ready_start
  GROUP BY f.process_key, l.code_id
),
added AS (
  SELECT p.process_key, l.code_id,
    sum(p.samples) AS samples,
    sum(p.cpu_ns) AS cpu_ns,
    sum(p.run_ns) AS run_ns,
    sum(CASE WHEN l.depth = 0 THEN p.cpu_ns ELSE 0 END) AS exclusive_ns,
    sum(p.wait_ns) AS wait_ns,
    sum(p.ready_ns) AS ready_ns,
    sum(p.ready_count) AS ready_count,
    sum(p.switches) AS switches,
    nullif(count(DISTINCT p.thread_key), 0) AS threads,
    CAST(sum(l.depth * (p.samples + p.switches)) AS DOUBLE) / greatest(sum(p.samples + p.switches), 1) AS depth,
    min(p.first_ns) AS first_ns,
    max(p.last_ns) AS last_ns
  FROM part p
  JOIN place l ON l.stack_id = p.stack_id
  GROUP BY p.process_key, l.code_id
),
recorded AS (
  SELECT (SELECT count(*) FROM context_switch) > 0 AS has_switches,
    ({SAMPLED_OF_STACKS}) > 0 AS has_samples
)
"
    )
}

fn framed(by: By) -> String {
    let kind = if by == By::Module { "module" } else { "method" };
    format!(
        "
  SELECT '{kind}' AS kind, a.process_key, CAST(NULL AS INT) AS tid, CAST(NULL AS VARCHAR) AS tag_set, c.module, c.method,
    c.module_path,
    CASE WHEN r.has_samples THEN a.cpu_ns ELSE a.run_ns END AS cpu_ns,
    a.exclusive_ns,
    CASE WHEN r.has_switches THEN coalesce(u.wait_ns, 0) END AS wait_ns,
    CASE WHEN r.has_switches THEN coalesce(u.ready_ns, 0) END AS ready_ns,
    CASE WHEN r.has_switches THEN a.wait_ns END AS wait_sum_ns,
    CASE WHEN r.has_switches THEN a.ready_ns END AS ready_sum_ns,
    CASE WHEN r.has_switches THEN a.ready_count END AS ready_count,
    CASE WHEN r.has_switches THEN a.switches END AS switches,
    a.threads, a.depth, a.first_ns, a.last_ns
  FROM added a
  JOIN code c ON c.frame_id = a.code_id
  LEFT JOIN united u ON u.code_id = a.code_id AND coalesce(u.process_key, -1) = coalesce(a.process_key, -1)
  CROSS JOIN recorded r"
    )
}

/// Sums by thread.
const THREADS: &str = "recorded AS (
  SELECT (SELECT count(*) FROM context_switch) > 0 AS has_switches, (EVENTS) > 0 AS has_samples
),
added AS (
  SELECT process_key, thread_key,
    coalesce(sum(cpu_ns), 0) AS cpu_ns,
    coalesce(sum(run_end - run_start) FILTER (WHERE run_end > run_start), 0) AS run_ns,
    coalesce(union_duration(wait_start, wait_end) FILTER (WHERE wait_end > wait_start), 0) AS wait_ns,
    coalesce(union_duration(ready_start, ready_end) FILTER (WHERE ready_end > ready_start), 0) AS ready_ns,
    coalesce(sum(wait_end - wait_start) FILTER (WHERE wait_end > wait_start), 0) AS wait_sum_ns,
    coalesce(sum(ready_end - ready_start) FILTER (WHERE ready_end > ready_start), 0) AS ready_sum_ns,
    sum(is_ready_known) AS ready_count,
    sum(is_switch) AS switches,
    coalesce(min(first_ns), min(least(wait_start, ready_start))) AS first_ns,
    coalesce(max(last_ns), max(greatest(wait_end, ready_end))) AS last_ns
  FROM fact GROUP BY process_key, thread_key
)";

fn threads() -> String {
    let switched = |columns: &[&str]| {
        let one =
            |column: &&str| format!("CASE WHEN r.has_switches THEN a.{column} END AS {column}");
        columns.iter().map(one).collect::<Vec<_>>().join(",\n    ")
    };
    format!(
        "
  SELECT 'thread' AS kind, a.process_key, t.tid, CAST(NULL AS VARCHAR) AS tag_set, CAST(NULL AS VARCHAR) AS module,
    concat('thread ', CAST(t.tid AS VARCHAR)) AS method, CAST(NULL AS VARCHAR) AS module_path,
    CASE WHEN r.has_samples THEN a.cpu_ns ELSE a.run_ns END AS cpu_ns, CAST(NULL AS BIGINT) AS exclusive_ns,
    {},
    CAST(1 AS BIGINT) AS threads, CAST(NULL AS DOUBLE) AS depth, a.first_ns, a.last_ns
  FROM added a
  LEFT JOIN thread t ON t.thread_key = a.thread_key
  CROSS JOIN recorded r",
        switched(&["wait_ns", "ready_ns", "wait_sum_ns", "ready_sum_ns", "ready_count", "switches"])
    )
}

/// Combines several sources into one.
pub(super) fn union(sources: &[String]) -> String {
    let all: Vec<String> = sources
        .iter()
        .map(|source| format!("SELECT {COLUMNS} FROM ({source}\n  )"))
        .collect();
    all.join("\n  UNION ALL\n  ")
}
