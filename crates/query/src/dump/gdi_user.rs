//! GDI and USER objects: how many processes created and did not destroy, by type, creating stack, or one by one.

use super::object_ref::NEVER_NS;
use super::sql::{
    PROCESS_COLUMNS, ProcessQuery, ends, filtered, quoted, range_condition, stack_condition, stack_text,
    text_condition,
};
use super::{Result, Top, ask, check_recorded, check_rows};
use crate::Session;
use crate::range::Range;

/// What a sum is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GdiUserBy {
    /// Objects of a type of a process.
    #[default]
    ProcessType,
    /// All objects of a process.
    Process,
    /// All objects of a type.
    Type,
    /// Objects of a type of a process that one stack created.
    Stack,
}

/// Orders of sums and of single objects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GdiUserSort {
    /// Objects that were there at the end; single ones by time.
    #[default]
    Outstanding,
    /// Objects that were created; single ones by time.
    Created,
    /// Objects that were destroyed; single ones by time.
    Destroyed,
    /// Longest lifetime, of single objects their lifetime; those that did not end are the largest.
    Lifetime,
    /// Time of the creation, of single objects.
    Time,
}

/// Which objects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GdiUserRequest {
    /// Processes that have them, or had them last.
    pub processes: ProcessQuery,
    /// `gdi` or `user`.
    pub class: Option<String>,
    /// Names of types; a number where it has no name.
    pub type_name: Option<String>,
    /// Handle, as text `0x1050aaa`.
    pub handle: Option<String>,
    /// Only those that were created in the trace and were there at its end.
    pub leaked: bool,
    /// Lifetime in nanoseconds; that of what did not end, or whose creation is not told, is [`NEVER_NS`].
    pub lifetime: Range,
    /// Only those that were created in this part of the trace, in nanoseconds.
    pub time: Range,
    /// Stack that created it: a filter on texts of frames and names of methods.
    pub create_stack: Option<String>,
    /// Stack that destroyed it.
    pub destroy_stack: Option<String>,
    /// What rows of sums are.
    pub by: GdiUserBy,
    /// With stacks as text.
    pub stacks: bool,
    /// Order.
    pub sort: GdiUserSort,
    /// How many of the largest rows.
    pub top: Top,
}

rows! {
    /// Objects by process, type or stack.
    pub struct GdiUserRow {
        /// Process that has them, or had them last; missing where none has them, or with rows by type.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// `gdi` or `user`; missing with rows by process.
        class: Option<String>,
        /// Name of the type; its number where it has none.
        type_name: Option<String>,
        /// Objects that were created in the trace.
        created: i64,
        /// Those of them that were destroyed in it.
        destroyed: i64,
        /// Objects that were there before the trace and were destroyed in it.
        destroyed_preexisting: i64,
        /// Objects that were created in the trace and were there at its end.
        outstanding: i64,
        /// Sum of the lifetimes of those that were created and destroyed.
        lifetime_ns: i64,
        /// Longest lifetime of one.
        max_lifetime_ns: Option<i64>,
        /// The stack that created them, with rows by stack; missing where none was recorded.
        stack_id: Option<i64>,
        /// Its frames, innermost first, if they are asked for.
        stack: Option<String>,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Its terminal session.
        session_id: Option<i64>,
        /// Its command line.
        command_line: Option<String>,
        /// What the rows are sorted by.
        sort_value: f64,
    }

    /// An object.
    pub struct GdiUserObjectRow {
        /// When it was created, if that is in the trace.
        create_ns: Option<i64>,
        /// When it was destroyed, if that was told.
        destroy_ns: Option<i64>,
        /// Time between.
        lifetime_ns: Option<i64>,
        /// `gdi` or `user`.
        class: String,
        /// Name of the type; its number where it has none.
        type_name: String,
        /// Handle, in hexadecimal digits; the last one if it changed.
        handle: String,
        /// `destroyed`, `open`, `process_end` or `reused`.
        outcome: String,
        /// How often another process got it.
        owner_changes: i64,
        /// How often its handle became another one.
        handle_changes: i64,
        /// Process that has it, or had it last.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Process id of who created it.
        create_pid: Option<i64>,
        /// Name of who created it.
        create_process: Option<String>,
        /// Thread that created it.
        create_tid: Option<i64>,
        /// Process id of who destroyed it.
        destroy_pid: Option<i64>,
        /// Name of who destroyed it.
        destroy_process: Option<String>,
        /// Thread that destroyed it.
        destroy_tid: Option<i64>,
        /// Stack that created it.
        create_stack_id: Option<i64>,
        /// Its frames, innermost first, if they are asked for.
        create_stack: Option<String>,
        /// Stack that destroyed it.
        destroy_stack_id: Option<i64>,
        /// Its frames, innermost first, if they are asked for.
        destroy_stack: Option<String>,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Terminal session of the object.
        session_id: Option<i64>,
        /// Command line of the process.
        command_line: Option<String>,
        /// What the rows are sorted by.
        sort_value: f64,
    }
}

/// Name of the type of a row named `o`, its number where it has no name.
const TYPE: &str = "coalesce(o.type_name, CAST(o.type_id AS VARCHAR))";

impl GdiUserRequest {
    /// Conditions on single objects, which sums of types know nothing of.
    fn limits(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        if !self.time.is_unlimited() {
            let (a, b) = ends(self.time);
            all.push(format!("o.create_ns BETWEEN {a} AND {b}"));
        }
        if !self.lifetime.is_unlimited() {
            all.extend(range_condition(&format!("coalesce(o.lifetime_ns, {NEVER_NS})"), self.lifetime));
        }
        all.extend(text_condition("hex(o.handle)", self.handle.as_deref()));
        all.extend(stack_condition("o.create_stack_id", self.create_stack.as_deref()));
        all.extend(stack_condition("o.destroy_stack_id", self.destroy_stack.as_deref()));
        all
    }

    fn needs_rows(&self) -> bool {
        self.by == GdiUserBy::Stack || !self.limits().is_empty()
    }

    fn conditions(&self) -> Vec<String> {
        let mut all = self.processes.conditions();
        all.extend(self.class.as_deref().map(|class| format!("o.class = {}", quoted(class))));
        all.extend(text_condition(TYPE, self.type_name.as_deref()));
        all
    }

    /// Sums by process and type, or what is added up to such sums.
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
            filtered(&self.limits())
        )
    }

    /// The question for sums.
    #[must_use]
    pub fn sql(&self) -> String {
        let sort = match self.sort {
            GdiUserSort::Outstanding | GdiUserSort::Time => "outstanding",
            GdiUserSort::Created => "created",
            GdiUserSort::Destroyed => "destroyed + destroyed_preexisting",
            GdiUserSort::Lifetime => "coalesce(max_lifetime_ns, 0)",
        };
        let process = super::sql::process_columns("o", self.by != GdiUserBy::Type);
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
        let (text, join) =
            stack_text("s.create_stack_id", "stack", self.stacks && self.by == GdiUserBy::Stack);
        let limits: Vec<String> = self.leaked.then(|| "s.outstanding > 0".to_owned()).into_iter().collect();
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
            conditions = filtered(&self.conditions()),
            limits = filtered(&limits),
        )
    }

    /// The question for single objects.
    #[must_use]
    pub fn objects_sql(&self) -> String {
        let mut conditions = self.conditions();
        conditions.extend(self.limits());
        if self.leaked {
            conditions.push("o.create_ns IS NOT NULL AND o.outcome = 'open'".to_owned());
        }
        let time = "coalesce(o.create_ns, o.destroy_ns, 0)";
        let sort = if self.sort == GdiUserSort::Lifetime {
            format!("coalesce(o.lifetime_ns, {NEVER_NS})")
        } else {
            time.to_owned()
        };
        let (create, create_join) = stack_text("o.create_stack_id", "create_stack", self.stacks);
        let (destroy, destroy_join) = stack_text("o.destroy_stack_id", "destroy_stack", self.stacks);
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
            conditions = filtered(&conditions),
        )
    }

    /// Asks for sums.
    ///
    /// # Errors
    /// Objects were not recorded; single ones are needed, and the extract has none; the query fails.
    pub fn ask(&self, session: &Session) -> Result<Vec<GdiUserRow>> {
        check(session, self.needs_rows())?;
        let mut rows = ask(session, &self.sql())?;
        self.top.cut(&mut rows);
        Ok(rows)
    }

    /// Asks for single objects.
    ///
    /// # Errors
    /// Those of [`Self::ask`].
    pub fn ask_objects(&self, session: &Session) -> Result<Vec<GdiUserObjectRow>> {
        check(session, true)?;
        let mut rows = ask(session, &self.objects_sql())?;
        self.top.cut(&mut rows);
        Ok(rows)
    }
}

fn check(session: &Session, needs_rows: bool) -> Result<()> {
    check_recorded(
        session,
        "gdi_user_type",
        "GDI or USER objects",
        "record the provider Microsoft-Windows-Win32k with the keywords 0x30000000000 (0x10000000000 for GDI, 0x20000000000 for USER) and \
                  with stacks, on Windows 10 1903 or later",
    )?;
    check_rows(session, "gdi_user_object", needs_rows, "objects")
}
