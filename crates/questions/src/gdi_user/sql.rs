//! The SQL of GDI and USER objects.

use super::{GdiUserBy, GdiUserRequest, GdiUserSort};
use crate::object_ref::NEVER_NS;
use etwkit_question::sql::{Conditions, PROCESS_COLUMNS, stack_text};

/// Name of the type of a row named `o`, or its number if it has no name.
const TYPE: &str = "coalesce(o.type_name, CAST(o.type_id AS VARCHAR))";

impl GdiUserRequest {
    /// Returns conditions on single objects, which sums of types cannot answer.
    fn limits(&self) -> Conditions {
        // A missing lifetime counts as longer than any trace, so that `10..` finds objects that
        // were never destroyed.
        let lifetime = format!("coalesce(o.lifetime_ns, {NEVER_NS})");
        Conditions::new()
            .time("o.create_ns", self.time)
            .range(&lifetime, self.lifetime)
            .text("hex(o.handle)", self.handle.as_deref())
            .stack("o.create_stack_id", self.create_stack.as_deref())
            .stack("o.destroy_stack_id", self.destroy_stack.as_deref())
    }

    pub(super) fn needs_rows(&self) -> bool {
        self.by == GdiUserBy::Stack || !self.limits().is_empty()
    }

    fn conditions(&self) -> Conditions {
        self.processes
            .conditions()
            .word("o.class", self.class.as_deref())
            .text(TYPE, self.type_name.as_deref())
    }

    /// Returns the sums by process and type, or the single objects to add up to them.
    fn sums(&self) -> String {
        if !self.needs_rows() {
            return "SELECT *, CAST(NULL AS INT) AS create_stack_id FROM gdi_user_type".to_owned();
        }
        format!(
            "SELECT o.process_key, o.class, o.type_id, o.type_name, o.create_stack_id,
    CASE WHEN o.create_ns IS NULL THEN 0 ELSE 1 END AS created,
    CASE WHEN o.create_ns IS NOT NULL AND o.outcome = 'destroyed' THEN 1 ELSE 0 END AS destroyed,
    CASE WHEN o.create_ns IS NULL AND o.outcome = 'destroyed' THEN 1 ELSE 0 END AS destroyed_preexisting,
    CASE WHEN o.create_ns IS NOT NULL AND o.outcome = 'open' THEN 1 ELSE 0 END AS outstanding,
    coalesce(o.lifetime_ns, 0) AS lifetime_ns, o.lifetime_ns AS max_lifetime_ns
  FROM gdi_user_object o{}",
            self.limits()
        )
    }

    /// Returns the SQL for sums.
    #[must_use]
    pub fn sql(&self) -> String {
        let sort = self.sort.sql();
        let process = etwkit_question::sql::process_columns("o", self.by != GdiUserBy::Type);
        let kind = if self.by == GdiUserBy::Process {
            "CAST(NULL AS VARCHAR) AS class, CAST(NULL AS VARCHAR) AS type_name".to_owned()
        } else {
            format!("o.class, {TYPE} AS type_name")
        };
        let stack = if self.by == GdiUserBy::Stack {
            "o.create_stack_id"
        } else {
            "CAST(NULL AS INT) AS create_stack_id"
        };
        let keys = "process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, class, type_name, create_stack_id";
        let (text, join) = stack_text(
            "s.create_stack_id",
            "stack",
            self.stacks && self.by == GdiUserBy::Stack,
        );
        let limits = Conditions::new().when(self.leaked, "s.outstanding > 0");
        format!(
            "SELECT s.*, s.create_stack_id AS stack_id, {text}, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT {keys}, sum(created) AS created, sum(destroyed) AS destroyed, sum(destroyed_preexisting) AS destroyed_preexisting,
  sum(outstanding) AS outstanding, sum(lifetime_ns) AS lifetime_ns, max(max_lifetime_ns) AS max_lifetime_ns
FROM (
  SELECT {process}, {kind}, {stack}, o.created, o.destroyed, o.destroyed_preexisting, o.outstanding, o.lifetime_ns, o.max_lifetime_ns
  FROM (
  {sums}
  ) o
  LEFT JOIN process p ON p.process_key = o.process_key{conditions}
)
GROUP BY {keys}
) s{join}{limits}
ORDER BY sort_value, created, destroyed, process_key, class, type_name, create_stack_id",
            sums = self.sums(),
            conditions = self.conditions(),
        )
    }

    /// Returns the SQL for single objects.
    #[must_use]
    pub fn objects_sql(&self) -> String {
        let conditions = self.conditions().and(self.limits()).when(
            self.leaked,
            "o.create_ns IS NOT NULL AND o.outcome = 'open'",
        );
        let time = "coalesce(o.create_ns, o.destroy_ns, 0)";
        let sort = if self.sort == GdiUserSort::Lifetime {
            "coalesce(o.lifetime_ns, -1)"
        } else {
            time
        };
        let (create, create_join) = stack_text("o.create_stack_id", "create_stack", self.stacks);
        let (destroy, destroy_join) =
            stack_text("o.destroy_stack_id", "destroy_stack", self.stacks);
        let process = PROCESS_COLUMNS.replace("p.session_id", "o.session_id");
        format!(
            "SELECT o.create_ns, o.destroy_ns, o.lifetime_ns, o.class, {TYPE} AS type_name, hex(o.handle) AS handle, o.outcome, o.owner_changes,
  o.handle_changes, o.process_key, {process}, c.pid AS create_pid, c.name AS create_process, t.tid AS create_tid, d.pid AS destroy_pid,
  d.name AS destroy_process, u.tid AS destroy_tid, o.create_stack_id, {create}, o.destroy_stack_id, {destroy}, CAST({sort} AS DOUBLE) AS sort_value
FROM gdi_user_object o
LEFT JOIN process p ON p.process_key = o.process_key
LEFT JOIN process c ON c.process_key = o.create_process_key
LEFT JOIN thread t ON t.thread_key = o.create_thread_key
LEFT JOIN process d ON d.process_key = o.destroy_process_key
LEFT JOIN thread u ON u.thread_key = o.destroy_thread_key{create_join}{destroy_join}{conditions}
ORDER BY sort_value, {time}, o.class, hex(o.handle)",
        )
    }
}
