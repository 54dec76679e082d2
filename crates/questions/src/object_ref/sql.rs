//! The SQL of questions for kernel objects, mapped files and handles.

use super::{NEVER_NS, ObjectRequest, ObjectSort};
use etwkit_question::sql::{
    Conditions, PROCESS_COLUMNS, process_columns, stack_text, text_condition,
};
use etwkit_sql::literal::quoted;

/// Every event of objects and mapped files. `step` is its change of the number of open handles.
///
/// `is_map` and `step` are written so that the engine does not take them for constants: it sorts a
/// union by columns that are constant in each part only by the others, and then refuses its own
/// plan.
const EVENTS: &str = "event AS (
  SELECT h.open_ns IS NULL AS is_map, h.object_id AS id, h.open_ns AS ts_ns, concat('handle_', h.origin) AS event,
    CASE WHEN h.open_ns IS NULL THEN 0 ELSE 1 END AS step,
    h.open_process_key AS by_key, h.open_thread_key AS thread_key, h.handle AS handle, h.process_key AS owner_key,
    h.source_process_key AS source_key, h.source_handle AS source_handle, h.outcome = 'open' AS is_leaked,
    CAST(NULL AS BIGINT) AS count, CAST(NULL AS VARCHAR) AS tag, h.open_stack_id AS stack_id
  FROM handle h WHERE h.open_ns IS NOT NULL
  UNION ALL
  SELECT h.close_ns IS NULL AS is_map, h.object_id AS id, h.close_ns AS ts_ns, 'handle_close' AS event,
    CASE WHEN h.close_ns IS NULL THEN 0 ELSE -1 END AS step,
    h.close_process_key AS by_key, h.close_thread_key AS thread_key, h.handle AS handle, h.process_key AS owner_key,
    CAST(NULL AS INT) AS source_key, CAST(NULL AS BIGINT) AS source_handle, FALSE AS is_leaked,
    CAST(NULL AS BIGINT) AS count, CAST(NULL AS VARCHAR) AS tag, h.close_stack_id AS stack_id
  FROM handle h WHERE h.close_ns IS NOT NULL
  UNION ALL
  SELECT FALSE AS is_map, r.object_id AS id, r.ts_ns AS ts_ns, CASE WHEN r.count IS NULL THEN concat('object_', r.kind) ELSE r.kind END AS event,
    0 AS step, r.process_key AS by_key, r.thread_key AS thread_key, CAST(NULL AS BIGINT) AS handle, CAST(NULL AS INT) AS owner_key,
    CAST(NULL AS INT) AS source_key, CAST(NULL AS BIGINT) AS source_handle, FALSE AS is_leaked,
    r.count AS count, r.tag AS tag, r.stack_id AS stack_id
  FROM object_ref r
  UNION ALL
  SELECT m.map_ns IS NOT NULL AS is_map, m.map_id AS id, m.map_ns AS ts_ns, 'map' AS event,
    CASE WHEN m.map_ns IS NULL THEN 0 ELSE 1 END AS step,
    m.process_key AS by_key, m.map_thread_key AS thread_key, CAST(NULL AS BIGINT) AS handle, m.process_key AS owner_key,
    CAST(NULL AS INT) AS source_key, CAST(NULL AS BIGINT) AS source_handle, m.outcome = 'open' AS is_leaked,
    CAST(NULL AS BIGINT) AS count, CAST(NULL AS VARCHAR) AS tag, m.map_stack_id AS stack_id
  FROM file_map m WHERE m.map_ns IS NOT NULL
  UNION ALL
  SELECT m.unmap_ns IS NOT NULL AS is_map, m.map_id AS id, m.unmap_ns AS ts_ns, 'unmap' AS event,
    CASE WHEN m.unmap_ns IS NULL THEN 0 ELSE -1 END AS step,
    m.process_key AS by_key, m.unmap_thread_key AS thread_key, CAST(NULL AS BIGINT) AS handle, m.process_key AS owner_key,
    CAST(NULL AS INT) AS source_key, CAST(NULL AS BIGINT) AS source_handle, FALSE AS is_leaked,
    CAST(NULL AS BIGINT) AS count, CAST(NULL AS VARCHAR) AS tag, m.unmap_stack_id AS stack_id
  FROM file_map m WHERE m.unmap_ns IS NOT NULL
)";

/// Objects and mapped files in one table.
const THINGS: &str = "thing AS (
  SELECT FALSE AS is_map, o.object_id AS id, hex(o.address) AS address, o.address AS base, o.type_name, o.name,
    CAST(NULL AS BIGINT) AS map_size_bytes, CAST(NULL AS BIGINT) AS map_offset_bytes, CAST(NULL AS VARCHAR) AS file_key,
    o.deleted_ns IS NOT NULL AS is_deleted, coalesce(b.handles, 0) AS preexisting, coalesce(b.owners, 0) AS preexisting_owners
  FROM object o
  LEFT JOIN (
    SELECT object_id, count(*) AS handles, count(DISTINCT process_key) AS owners FROM handle WHERE open_ns IS NULL GROUP BY object_id
  ) b ON b.object_id = o.object_id
  UNION ALL
  SELECT TRUE AS is_map, m.map_id AS id, hex(m.address) AS address, m.address AS base, 'FileMapping' AS type_name, m.path AS name,
    m.size_bytes AS map_size_bytes, m.offset_bytes AS map_offset_bytes, hex(m.file_key) AS file_key, FALSE AS is_deleted,
    CASE WHEN m.map_ns IS NULL THEN 1 ELSE 0 END AS preexisting, CASE WHEN m.map_ns IS NULL THEN 1 ELSE 0 END AS preexisting_owners
  FROM file_map m
)";

impl ObjectRequest {
    fn event_limits(&self) -> Conditions {
        Conditions::new()
            .time("e.ts_ns", self.time)
            .stack("e.stack_id", self.stack.as_deref())
    }

    /// Returns the facts about an object that follow from its events.
    fn facts(&self) -> String {
        // An aggregate over nulls would be null, and a condition on it would drop the object.
        let flag = |condition: Option<String>| {
            condition.map_or_else(
                || "TRUE".to_owned(),
                |all| format!("coalesce({all}, FALSE)"),
            )
        };
        let related = self
            .related
            .as_deref()
            .map(|filter| format!("process_match(q.name, q.pid, {})", quoted(filter)));
        let handle = text_condition("hex(e.handle)", self.handle.as_deref());
        let handle = handle.map(|condition| format!("e.handle IS NOT NULL AND {condition}"));
        // At equal times closes (step -1) come before opens, so that a handle that is replaced at
        // once does not look like two that were open together.
        format!(
            "fact AS (
  SELECT is_map, id, count(*) AS events,
    min(ts_ns) FILTER (WHERE is_create) AS created_ns, max(ts_ns) FILTER (WHERE is_end) AS ended_ns,
    count(*) FILTER (WHERE event IN ('handle_create', 'map')) AS creates,
    count(*) FILTER (WHERE event IN ('handle_duplicate', 'handle_inherit')) AS duplicates,
    count(*) FILTER (WHERE event IN ('handle_close', 'unmap')) AS closes,
    count(*) FILTER (WHERE event IN ('reference', 'dereference')) AS reference_changes,
    coalesce(sum(CASE WHEN event = 'reference' THEN count WHEN event = 'dereference' THEN -count END), 0) AS reference_balance,
    count(*) FILTER (WHERE is_leaked) AS leaked, coalesce(max(open), 0) AS max_open,
    count(DISTINCT by_key) > 1 OR bool_or(coalesce(source_key <> owner_key, FALSE)) AS is_multi_process,
    bool_or(event = 'handle_inherit') AS is_inherited, max(owner_key) FILTER (WHERE event = 'handle_inherit') AS heir_key,
    bool_or(is_related) AS is_related, bool_or(has_handle) AS has_handle,
    first_value(by_key ORDER BY is_create DESC, ts_ns) AS first_key,
    first_value(stack_id ORDER BY is_create DESC, ts_ns) AS first_stack_id,
    first_value(stack_id ORDER BY is_end DESC, ts_ns DESC) AS last_stack_id
  FROM (
    SELECT e.*, e.step > 0 OR e.event = 'object_create' AS is_create, e.step < 0 OR e.event = 'object_delete' AS is_end,
      sum(e.step) OVER (PARTITION BY e.is_map, e.id ORDER BY e.ts_ns, e.step ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS open,
      {related} AS is_related, {handle} AS has_handle
    FROM event e
    LEFT JOIN process q ON q.process_key = e.by_key{limits}
  )
  GROUP BY is_map, id
)",
            related = flag(related),
            handle = flag(handle),
            limits = self.event_limits(),
        )
    }

    fn conditions(&self) -> Conditions {
        // An option that only one of both kinds has chooses that kind.
        let maps = match self.maps {
            None if self.handle.is_some() || self.name.is_some() => Some(false),
            None if self.pointer_in_map.is_some()
                || self.view_base.is_some()
                || !self.map_size.is_unlimited() =>
            {
                Some(true)
            }
            maps => maps,
        };
        // A missing lifetime counts as longer than any trace, so that `10..` finds objects that
        // never ended.
        let lifetime = format!("coalesce(o.lifetime_ns, {NEVER_NS})");
        Conditions::new()
            .when(maps == Some(true), "o.is_map")
            .when(maps == Some(false), "NOT o.is_map")
            .range("o.id", self.id)
            .text("o.name", self.name.as_deref())
            .text("o.type_name", self.type_name.as_deref())
            .text("o.address", self.object.as_deref())
            .text("o.address", self.view_base.as_deref())
            .range("o.map_size_bytes", self.map_size)
            .and(self.pointer_in_map.map(|pointer| {
                let pointer = pointer.cast_signed();
                format!("{pointer} >= o.base AND {pointer} - o.base < o.map_size_bytes")
            }))
            .and(self.processes.conditions())
            .when(self.leaked, "o.leaked > 0")
            .when(self.multi_process, "o.is_multi_process")
            .when(self.inherited, "o.is_inherited")
            .when(self.overlapped, "o.max_open > 1")
            .when(self.related.is_some(), "o.is_related")
            .when(self.handle.is_some(), "o.has_handle")
            .when(!self.event_limits().is_empty(), "o.events > 0")
            .stack("o.create_stack_id", self.create_stack.as_deref())
            .stack("o.destroy_stack_id", self.destroy_stack.as_deref())
            .range(&lifetime, self.lifetime)
    }

    /// Returns the SQL for objects with their events.
    #[must_use]
    pub fn sql(&self) -> String {
        let (text, join) = stack_text("e.stack_id", "stack", self.stacks);
        let sort = match self.sort {
            ObjectSort::Id => "0",
            ObjectSort::Lifetime => "coalesce(o.lifetime_ns, -1)",
            ObjectSort::Handles => "o.creates + o.duplicates",
            ObjectSort::Leaked => "o.leaked",
        };
        let of_references = "e.event NOT IN ('reference', 'dereference')";
        let shown = self.event_limits().when(!self.references, of_references);
        format!(
            "WITH {EVENTS},
{THINGS},
{facts},
life AS (
  SELECT *, CASE WHEN destroyed_ns >= created_ns THEN destroyed_ns - created_ns END AS lifetime_ns
  FROM (
    SELECT t.*, coalesce(f.events, 0) AS events, f.created_ns,
      CASE WHEN t.is_deleted OR f.closes >= f.creates + f.duplicates THEN f.ended_ns END AS destroyed_ns,
      coalesce(f.creates, 0) AS creates, coalesce(f.duplicates, 0) AS duplicates, coalesce(f.closes, 0) AS closes,
      coalesce(f.reference_changes, 0) AS reference_changes, coalesce(f.reference_balance, 0) AS reference_balance,
      coalesce(f.leaked, 0) AS leaked, greatest(coalesce(f.max_open, 0), 0) + t.preexisting AS max_open,
      coalesce(f.is_multi_process, FALSE) AS is_multi_process, coalesce(f.is_inherited, FALSE) AS is_inherited, f.heir_key,
      coalesce(f.is_related, FALSE) AS is_related, coalesce(f.has_handle, FALSE) AS has_handle,
      CASE WHEN f.created_ns IS NULL THEN NULL ELSE f.first_key END AS process_key,
      CASE WHEN f.created_ns IS NULL THEN NULL ELSE f.first_stack_id END AS create_stack_id,
      CASE WHEN f.ended_ns IS NULL THEN NULL ELSE f.last_stack_id END AS destroy_stack_id
    FROM thing t
    LEFT JOIN fact f ON f.is_map = t.is_map AND f.id = t.id
  )
),
chosen AS (
  SELECT o.*, {PROCESS_COLUMNS}, CASE WHEN heir.pid IS NULL THEN NULL ELSE concat(coalesce(heir.name, '?'), '(', heir.pid, ')') END AS inherited_by,
    {sort} AS sort_value
  FROM life o
  LEFT JOIN process p ON p.process_key = o.process_key
  LEFT JOIN process heir ON heir.process_key = o.heir_key{conditions}
)
SELECT o.*, e.ts_ns, e.event, hex(e.handle) AS handle, hex(e.source_handle) AS source_handle, e.is_leaked, e.count, e.tag, e.stack_id,
  q.pid AS event_pid, q.name AS event_process, q.start_ns AS event_process_start_ns, q.command_line AS event_command_line, t.tid AS event_tid, w.pid AS owner_pid, w.name AS owner_process,
  s.pid AS source_pid, s.name AS source_process, {text}
FROM chosen o
LEFT JOIN (
  SELECT * FROM event e{shown}
) e ON e.is_map = o.is_map AND e.id = o.id
LEFT JOIN process q ON q.process_key = e.by_key
LEFT JOIN thread t ON t.thread_key = e.thread_key
LEFT JOIN process w ON w.process_key = e.owner_key
LEFT JOIN process s ON s.process_key = e.source_key{join}
ORDER BY o.sort_value, o.is_map, o.id, e.ts_ns, e.step, e.owner_key, hex(e.handle)",
            facts = self.facts(),
            conditions = self.conditions(),
        )
    }

    /// Returns the SQL for handles by type.
    #[must_use]
    pub fn types_sql(&self, per_process: bool) -> String {
        let conditions = self
            .processes
            .conditions()
            .text("h.type_name", self.type_name.as_deref());
        let process = process_columns("h", per_process);
        let keys = "process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, type_name";
        format!(
            "SELECT *, CAST(leaked + preexisting AS DOUBLE) AS sort_value
FROM (
SELECT {keys}, sum(created) AS created, sum(duplicated_in) AS duplicated_in, sum(closed) AS closed,
  sum(closed_preexisting) AS closed_preexisting, sum(leaked) AS leaked, sum(preexisting) AS preexisting,
  sum(lifetime_ns) AS lifetime_ns, max(max_lifetime_ns) AS max_lifetime_ns
FROM (
  SELECT {process}, h.type_name, h.created, h.duplicated_in, h.closed, h.closed_preexisting, h.leaked, h.preexisting, h.lifetime_ns,
    h.max_lifetime_ns
  FROM handle_type h
  LEFT JOIN process p ON p.process_key = h.process_key{conditions}
)
GROUP BY {keys}
)
ORDER BY sort_value, created + duplicated_in, process_key, type_name",
        )
    }
}
