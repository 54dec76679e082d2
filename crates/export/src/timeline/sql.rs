//! SQL of a timeline. Items that cross an edge of the exported range are cut there.

use etwkit_question::sql::ends;

use super::{Order, TimelineSelection};

/// Start of the recording.
pub(super) const ABOUT: &str = "SELECT CAST(start_utc AS BIGINT) AS start_unix_us FROM extract";

/// Interval of samples.
pub(super) const INTERVAL: &str =
    "SELECT min(weight_ns) AS sampling_ns FROM cpu_sample WHERE NOT is_idle AND weight_ns > 0";

/// Returns the condition that the process `p` is exported: never the idle one.
fn chosen(asked: TimelineSelection<'_>) -> String {
    let is_not_idle = "coalesce(p.pid, -1) <> 0".to_owned();
    let all = asked.processes.conditions().and([is_not_idle]);
    // A row without a process has no name to compare, and NULL would neither be chosen nor left
    // out.
    format!("coalesce({}, FALSE)", all.joined())
}

/// Returns the condition that an item of the process `p` with a stack is exported.
fn chosen_stack(asked: TimelineSelection<'_>, stack: &str) -> String {
    let tagged = asked
        .tags
        .condition(stack)
        .map_or_else(String::new, |tagged| format!(" AND {tagged}"));
    format!("{}{tagged}", chosen(asked))
}

/// Returns the condition that a process or thread lived in the range of the trace.
fn lived(of: &str, (a, b): (i64, i64)) -> String {
    format!("coalesce({of}.start_ns, {a}) <= {b} AND coalesce({of}.stop_ns, {b}) >= {a}")
}

/// Threads have keys in the order in which the trace first mentions them, so the smallest key
/// belongs to the first thread of a process that was running before the trace.
pub(super) fn processes(asked: TimelineSelection<'_>) -> String {
    format!(
        "SELECT p.process_key, p.pid, p.parent_pid, p.name, p.command_line, p.start_ns, p.stop_ns,
  coalesce(p.first_thread_key, t.first_key) AS main_thread_key, {} AND {} AS is_chosen
FROM process p
LEFT JOIN (SELECT process_key, min(thread_key) AS first_key FROM thread GROUP BY process_key) t
  ON t.process_key = p.process_key",
        chosen(asked),
        lived("p", ends(asked.time))
    )
}

/// Returns the processes that are exported.
pub(super) fn choices(asked: TimelineSelection<'_>) -> String {
    format!(
        "SELECT p.process_key, p.pid, p.name AS process, count(t.thread_key) AS threads
FROM process p
LEFT JOIN thread t ON t.process_key = p.process_key
WHERE {} AND {}
GROUP BY p.process_key, p.pid, p.name
ORDER BY p.process_key",
        chosen(asked),
        lived("p", ends(asked.time))
    )
}

pub(super) fn threads(asked: TimelineSelection<'_>) -> String {
    format!(
        "SELECT t.thread_key, t.tid, t.process_key, t.name, t.start_ns, t.stop_ns, {} AND {} AS is_chosen
FROM thread t
LEFT JOIN process p ON p.process_key = t.process_key",
        chosen(asked),
        lived("t", ends(asked.time))
    )
}

/// Sorts items in the requested order, and simultaneous ones by further columns, so that the same
/// extract becomes the same file.
fn sorted(select: &str, order: Order, then: &str) -> String {
    let by = match order {
        Order::Time => "time_ns, thread_key",
        Order::Thread => "thread_key NULLS FIRST, time_ns",
    };
    format!("{select}\nORDER BY {by}, {then}")
}

/// Returns the SQL of scheduling slices. The end of a slice is in the next row of its thread, which
/// counts only if its wait starts at the time at which the slice ended: if events are missing, the
/// next row is about a later switch-out. Formats that take items by time show processors, and need
/// the slices of all threads for that.
pub(super) fn slices(asked: TimelineSelection<'_>, order: Order) -> String {
    let (a, b) = ends(asked.time);
    let chosen = chosen_stack(asked, "s.stack_id");
    // The window of the next row has to see all rows, including those after the range, so rows are
    // left out only outside of it.
    let only = if order == Order::Thread {
        format!(" AND {chosen}")
    } else {
        String::new()
    };
    // A row of the table has the wait before its slice, so state and reason of a switch-out are in
    // the next row of the thread. A wait that is still open at the end of the trace has a row
    // without a slice: it sorts by its switch-out.
    let next = |column: &str| {
        format!(
            "lead({column}) OVER (PARTITION BY thread_key \
             ORDER BY coalesce(in_ns, out_ns - coalesce(run_ns, 0), last_out_ns))"
        )
    };
    let select = format!(
        "SELECT s.thread_key, s.cpu, greatest(s.from_ns, {a}) AS time_ns, least(s.to_ns, {b}) AS end_ns, s.priority,
  CASE WHEN s.is_followed THEN s.state END AS state, CASE WHEN s.is_followed THEN s.reason END AS reason,
  CASE WHEN s.is_followed THEN s.is_user END AS is_user, {chosen} AS is_chosen
FROM (
  SELECT *, next_out_ns IS NOT NULL AND out_ns IS NOT NULL AND next_out_ns = out_ns AND out_ns <= {b} AS is_followed
  FROM (
    SELECT thread_key, process_key, stack_id, cpu, priority, run_ns, out_ns,
      coalesce(in_ns, out_ns - run_ns) AS from_ns, coalesce(out_ns, in_ns + run_ns) AS to_ns,
      {} AS state, {} AS reason, {} AS is_user, {} AS next_out_ns
    FROM context_switch
  )
) s
LEFT JOIN process p ON p.process_key = s.process_key
WHERE s.run_ns IS NOT NULL AND s.cpu IS NOT NULL AND s.from_ns <= {b} AND s.to_ns >= {a}{only}",
        next("prev_state"),
        next("wait_reason"),
        next("is_user_wait"),
        next("last_out_ns")
    );
    sorted(&select, order, "cpu, end_ns")
}

/// Returns the SQL of waits; waits that were still open at the end of the trace have no end.
pub(super) fn waits(asked: TimelineSelection<'_>, order: Order) -> String {
    let (a, b) = ends(asked.time);
    let select = format!(
        "SELECT c.thread_key, greatest(c.last_out_ns, {a}) AS time_ns,
  CASE WHEN NOT c.is_open_wait THEN least(c.last_out_ns + c.wait_ns, {b}) END AS end_ns, c.wait_reason AS reason,
  CASE WHEN NOT c.is_readied_by_dpc THEN c.readying_thread_key END AS by_thread_key, c.is_readied_by_dpc AS is_dpc
FROM context_switch c
LEFT JOIN process p ON p.process_key = c.process_key
WHERE c.last_out_ns IS NOT NULL AND (c.is_open_wait OR c.wait_ns > 0)
  AND c.last_out_ns <= {b} AND (c.is_open_wait OR c.last_out_ns + c.wait_ns >= {a}) AND {}",
        chosen_stack(asked, "c.stack_id")
    );
    sorted(&select, order, "end_ns")
}

/// Returns the SQL of ready times; a ready time without a later switch-in has no end. A thread that
/// was preempted is ready from its switch-out on, without an event for it.
pub(super) fn readies(asked: TimelineSelection<'_>, order: Order) -> String {
    let (a, b) = ends(asked.time);
    let select = format!(
        "SELECT c.thread_key, greatest(c.from_ns, {a}) AS time_ns, least(c.in_ns, {b}) AS end_ns, c.cpu,
  c.readied_ns IS NOT NULL AND c.readied_ns BETWEEN {a} AND {b} AS is_event,
  CASE WHEN NOT c.is_readied_by_dpc THEN c.readying_thread_key END AS by_thread_key, c.is_readied_by_dpc AS is_dpc,
  c.adjust_reason
FROM (
  SELECT *, coalesce(readied_ns, CASE WHEN ready_ns IS NOT NULL THEN last_out_ns END) AS from_ns FROM context_switch
) c
LEFT JOIN process p ON p.process_key = c.process_key
WHERE c.from_ns IS NOT NULL AND c.from_ns <= {b} AND coalesce(c.in_ns, {b}) >= {a} AND {}",
        chosen_stack(asked, "c.stack_id")
    );
    sorted(&select, order, "end_ns")
}

pub(super) fn samples(asked: TimelineSelection<'_>, order: Order) -> String {
    let (a, b) = ends(asked.time);
    let select = format!(
        "SELECT s.thread_key, s.ts_ns AS time_ns, s.cpu, s.weight_ns, s.stack_id
FROM cpu_sample s
LEFT JOIN process p ON p.process_key = s.process_key
WHERE NOT s.is_idle AND s.ts_ns BETWEEN {a} AND {b} AND {}",
        chosen_stack(asked, "s.stack_id")
    );
    sorted(&select, order, "cpu, stack_id, weight_ns")
}

/// Returns the SQL of disk operations.
pub(super) fn disk_operations(asked: TimelineSelection<'_>, order: Order) -> String {
    let (a, b) = ends(asked.time);
    let select = format!(
        "SELECT d.thread_key, greatest(d.init_ns, {a}) AS time_ns, least(d.complete_ns, {b}) AS end_ns,
  d.kind AS operation, d.path, d.offset_bytes, d.size_bytes, d.disk, CAST(NULL AS INT) AS status
FROM disk_io d
LEFT JOIN process p ON p.process_key = d.process_key
WHERE d.complete_ns >= {a} AND d.init_ns <= {b} AND {}",
        chosen_stack(asked, "d.stack_id")
    );
    sorted(
        &select,
        order,
        "end_ns, disk, offset_bytes, operation, path",
    )
}

/// Returns the SQL of file operations. For an operation whose start is not in the trace only the
/// time of its end is known.
pub(super) fn file_operations(asked: TimelineSelection<'_>, order: Order) -> String {
    let (a, b) = ends(asked.time);
    let select = format!(
        "SELECT f.thread_key, greatest(coalesce(f.start_ns, f.end_ns), {a}) AS time_ns, least(f.end_ns, {b}) AS end_ns,
  f.kind AS operation, f.path, f.offset_bytes, f.size_bytes, CAST(NULL AS INT) AS disk, f.status
FROM file_io f
LEFT JOIN process p ON p.process_key = f.process_key
WHERE coalesce(f.end_ns, {b}) >= {a} AND coalesce(f.start_ns, f.end_ns) <= {b} AND {}",
        chosen_stack(asked, "f.stack_id")
    );
    sorted(
        &select,
        order,
        "end_ns, operation, path, offset_bytes, size_bytes, status",
    )
}

/// Returns the SQL of marks. They concern the whole trace, regardless of the process that set them,
/// and belong to no thread.
pub(super) fn marks(asked: TimelineSelection<'_>, order: Order) -> String {
    let (a, b) = ends(asked.time);
    let select = format!(
        "SELECT CAST(NULL AS INT) AS thread_key, ts_ns AS time_ns, text FROM mark WHERE ts_ns BETWEEN {a} AND {b}"
    );
    sorted(&select, order, "text")
}
