//! Processes: when they ran, what started them, how they ended.

use super::sql::{ProcessQuery, filtered, quoted, range_condition};
use super::zero::ZeroTime;
use super::{Result, Top, ask};
use crate::Session;
use crate::range::Range;

/// Orders of processes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProcessSort {
    /// Name, start, process id.
    #[default]
    Name,
    /// Those that ran all the time by name, then those that only ended by end, then by start.
    Time,
    /// End; those that ran on come first.
    StopTime,
    /// Session.
    Session,
    /// Each process below its parent.
    Tree,
}

/// Which processes, and in which order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessRequest {
    /// Which processes.
    pub processes: ProcessQuery,
    /// A process filter on parents: they and what they started.
    pub parent: Option<String>,
    /// Time between start and end, in nanoseconds; 0 if not both are in the trace.
    pub duration: Range,
    /// Start in nanoseconds; 0 if it is not in the trace.
    pub start: Range,
    /// Only processes that crashed.
    pub crashed: bool,
    /// What becomes second 0 of times.
    pub zero: ZeroTime,
    /// Order.
    pub sort: ProcessSort,
    /// How many from the end of the list.
    pub top: Top,
}

rows! {
    /// A process.
    pub struct ProcessRow {
        /// Key in the extract.
        process_key: i64,
        /// Process id.
        pid: i64,
        /// File name of its executable.
        name: Option<String>,
        /// Start, if in the trace.
        start_ns: Option<i64>,
        /// End, if in the trace.
        stop_ns: Option<i64>,
        /// From start to end, if both are in the trace.
        duration_ns: Option<i64>,
        /// Exit code.
        exit_code: Option<i64>,
        /// Whether the exit code is an error of Windows or of a runtime, or Windows Error Reporting was called for it.
        is_crash: bool,
        /// Process id of the parent.
        parent_pid: Option<i64>,
        /// Key of the parent, if that is known.
        parent_process_key: Option<i64>,
        /// Name of the parent.
        parent: Option<String>,
        /// Terminal session.
        session_id: Option<i64>,
        /// User.
        sid: Option<String>,
        /// Command line.
        command_line: Option<String>,
        /// App package.
        package: Option<String>,
        /// Parents above it in the tree; 0 in other orders.
        level: i64,
    }
}

/// Processes and their numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessAnswer {
    /// The processes.
    pub rows: Vec<ProcessRow>,
    /// What they are.
    pub counts: ProcessCounts,
}

/// What a list of processes consists of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct ProcessCounts {
    /// Processes.
    pub processes: usize,
    /// Those that started in the trace.
    pub started: usize,
    /// Those that ended in the trace.
    pub ended: usize,
    /// Those that did neither.
    pub permanent: usize,
    /// Terminal sessions.
    pub sessions: usize,
    /// Users.
    pub users: usize,
}

impl ProcessCounts {
    /// Counts the processes of a list.
    #[must_use]
    pub fn of(rows: &[ProcessRow]) -> Self {
        let count = |test: &dyn Fn(&ProcessRow) -> bool| rows.iter().filter(|row| test(row)).count();
        let sessions: std::collections::HashSet<_> = rows.iter().filter_map(|row| row.session_id).collect();
        let users: std::collections::HashSet<_> = rows.iter().filter_map(|row| row.sid.as_deref()).collect();
        Self {
            processes: rows.len(),
            started: count(&|row| row.start_ns.is_some()),
            ended: count(&|row| row.stop_ns.is_some()),
            permanent: count(&|row| row.start_ns.is_none() && row.stop_ns.is_none()),
            sessions: sessions.len(),
            users: users.len(),
        }
    }
}

/// Exit codes that mean a crash: errors of Windows (NTSTATUS 0xC…), a break point, and the exceptions of .NET and C++.
/// -1 (0xFFFFFFFF) is what programs themselves return.
const CRASH_CODES: &str = "(p.exit_code BETWEEN -1073741824 AND -805306369 \
     OR p.exit_code IN (-2147483645, -532462766, -529697949))";

/// Processes that Windows Error Reporting was started for: `WerFault.exe … -p PID`.
const REPORTED: &str = "
  SELECT DISTINCT c.process_key
  FROM process c
  JOIN (
    SELECT CAST(regexp_match(command_line, '(?i)\\s-p\\s+([0-9]{1,9})(?:\\s|$)')[1] AS INT) AS pid, start_ns
    FROM process_recorded WHERE lower(name) = 'werfault.exe'
  ) w ON w.pid = c.pid
  WHERE (c.start_ns IS NULL OR w.start_ns >= c.start_ns) AND (c.stop_ns IS NULL OR w.start_ns <= c.stop_ns)";

impl ProcessRequest {
    /// The question.
    #[must_use]
    pub fn sql(&self) -> String {
        let mut conditions = self.processes.conditions();
        conditions.extend(self.parent.as_ref().map(|filter| {
            let filter = quoted(filter);
            // A parent that ended before the trace has a number, but no name.
            format!(
                "(process_match(p.name, p.pid, {filter}) OR process_match(q.name, p.parent_pid, {filter}))"
            )
        }));
        conditions.extend(range_condition("p.stop_ns - p.start_ns", self.duration));
        conditions.extend(range_condition(&self.zero.moved("p.start_ns"), self.start));
        if self.crashed {
            conditions.push(format!("({CRASH_CODES} OR r.process_key IS NOT NULL)"));
        }
        format!(
            "SELECT * FROM (
SELECT p.process_key, p.pid, p.name, {}, {}, p.stop_ns - p.start_ns AS duration_ns, p.exit_code,
  coalesce({CRASH_CODES}, FALSE) OR r.process_key IS NOT NULL AS is_crash,
  p.parent_pid, p.parent_process_key, q.name AS parent, p.session_id, p.sid, p.command_line, p.package, 0 AS level
FROM process p
LEFT JOIN process q ON q.process_key = p.parent_process_key
LEFT JOIN ({REPORTED}
) r ON r.process_key = p.process_key{}{}
) p
ORDER BY {}",
            self.zero.column("p", "start_ns"),
            self.zero.column("p", "stop_ns"),
            self.zero.join(),
            filtered(&conditions),
            self.order()
        )
    }

    const fn order(&self) -> &'static str {
        match self.sort {
            ProcessSort::Name => "lower(p.name) NULLS FIRST, p.start_ns NULLS FIRST, p.pid, p.process_key",
            ProcessSort::Time => {
                "CASE WHEN p.start_ns IS NOT NULL THEN 2 WHEN p.stop_ns IS NOT NULL THEN 1 ELSE 0 END, \
                 CASE WHEN p.start_ns IS NULL THEN p.stop_ns ELSE p.start_ns END, lower(p.name), p.process_key"
            }
            ProcessSort::StopTime => "p.stop_ns NULLS FIRST, lower(p.name), p.process_key",
            ProcessSort::Session => "p.session_id NULLS FIRST, lower(p.name), p.process_key",
            ProcessSort::Tree => {
                "p.start_ns NULLS FIRST, p.session_id NULLS FIRST, lower(p.name), p.process_key"
            }
        }
    }

    /// Asks.
    ///
    /// # Errors
    /// The query fails.
    pub fn ask(&self, session: &Session) -> Result<ProcessAnswer> {
        let mut rows: Vec<ProcessRow> = ask(session, &self.sql())?;
        if self.sort == ProcessSort::Tree {
            rows = tree(rows);
        }
        self.top.cut(&mut rows);
        Ok(ProcessAnswer { counts: ProcessCounts::of(&rows), rows })
    }
}

/// Puts each process behind its parent; those whose parent is not in the list are roots.
fn tree(rows: Vec<ProcessRow>) -> Vec<ProcessRow> {
    let listed: std::collections::HashSet<i64> = rows.iter().map(|row| row.process_key).collect();
    let mut children: std::collections::HashMap<Option<i64>, Vec<ProcessRow>> =
        std::collections::HashMap::new();
    let total = rows.len();
    // From behind, so that taking from the end gives the first one.
    for row in rows.into_iter().rev() {
        let parent = row.parent_process_key.filter(|key| listed.contains(key) && *key != row.process_key);
        children.entry(parent).or_default().push(row);
    }
    let mut out = Vec::with_capacity(total);
    let mut open = vec![children.remove(&None).unwrap_or_default()];
    while let Some(siblings) = open.last_mut() {
        let Some(mut row) = siblings.pop() else {
            open.pop();
            continue;
        };
        row.level = i64::try_from(open.len()).unwrap_or(i64::MAX) - 1;
        open.push(children.remove(&Some(row.process_key)).unwrap_or_default());
        out.push(row);
    }
    // Parents that go round in a circle have no root; a damaged trace can say so.
    let mut rest: Vec<ProcessRow> = children.into_values().flatten().collect();
    rest.sort_by_key(|row| row.process_key);
    out.extend(rest);
    out
}
