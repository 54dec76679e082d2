//! The SQL of processes, and their order as a tree.

use super::{ProcessAnswer, ProcessCounts, ProcessRequest, ProcessRow, ProcessSort};
use crate::cpu::source::SAMPLED_OF_ALL;
use etwkit_question::{Result, ask};
use etwkit_sql::Session;
use etwkit_sql::literal::quoted;

/// Exit codes that mean a crash: errors of Windows (NTSTATUS 0xC…), a break point, and the
/// exceptions of .NET and C++. -1 (0xFFFFFFFF) is not a crash: programs return it themselves.
const CRASH_CODES: &str = "(p.exit_code BETWEEN -1073741824 AND -805306369 \
     OR p.exit_code IN (-2147483645, -532462766, -529697949))";

/// Processes that Windows Error Reporting was started for: `WerFault.exe … -p PID`.
// Ids are reused, so the process has to have run when the report was started.
const REPORTED: &str = "
  SELECT DISTINCT c.process_key
  FROM process c
  JOIN (
    SELECT CAST(regexp_match(command_line, '(?i)\\s-p\\s+([0-9]{1,9})(?:\\s|$)')[1] AS INT) AS pid, start_ns
    FROM process_recorded WHERE lower(name) = 'werfault.exe'
  ) w ON w.pid = c.pid
  WHERE (c.start_ns IS NULL OR w.start_ns >= c.start_ns) AND (c.stop_ns IS NULL OR w.start_ns <= c.stop_ns)";

impl ProcessRequest {
    /// Returns the SQL of the question.
    #[must_use]
    pub fn sql(&self) -> String {
        let parent = self.parent.as_ref().map(|filter| {
            let filter = quoted(filter);
            // A parent that ended before the trace has a number, but no name.
            format!(
                "(process_match(p.name, p.pid, {filter}) OR process_match(q.name, p.parent_pid, {filter}))"
            )
        });
        let has_crashed = format!("({CRASH_CODES} OR r.process_key IS NOT NULL)");
        let conditions = self
            .processes
            .conditions()
            .and(parent)
            .range("p.stop_ns - p.start_ns", self.duration)
            .range(&self.zero.moved("p.start_ns"), self.start)
            .when(self.crashed, &has_crashed);
        format!(
            "SELECT * FROM (
SELECT p.process_key, p.pid, p.name, {}, {}, p.stop_ns - p.start_ns AS duration_ns, p.exit_code,
  coalesce({CRASH_CODES}, FALSE) OR r.process_key IS NOT NULL AS is_crash,
  p.parent_pid, p.parent_process_key, q.name AS parent, p.session_id, p.sid, p.command_line, p.package, 0 AS level,
  CASE WHEN u.sampled > 0 THEN u.cpu_ns ELSE u.run_ns END AS cpu_ns
FROM process p
LEFT JOIN (SELECT process_key, cpu_ns, run_ns, {SAMPLED_OF_ALL} AS sampled FROM cpu_process) u
  ON u.process_key = p.process_key
LEFT JOIN process q ON q.process_key = p.parent_process_key
LEFT JOIN ({REPORTED}
) r ON r.process_key = p.process_key{}{conditions}
) p
ORDER BY {}",
            self.zero.column("p", "start_ns"),
            self.zero.column("p", "stop_ns"),
            self.zero.join(),
            self.order()
        )
    }

    /// Returns `true` if processes are sorted by CPU.
    pub(super) fn is_by_cpu(&self) -> bool {
        match self.sort {
            ProcessSort::Cpu => true,
            ProcessSort::Usual => self.top.most().is_some() || self.top.skip > 0,
            _ => false,
        }
    }

    /// Returns the order. Among processes with equal CPU the last name comes first: the largest row
    /// is the last one, so the list reads by name from its end.
    fn order(&self) -> &'static str {
        match self.sort {
            _ if self.is_by_cpu() => {
                "p.cpu_ns NULLS FIRST, lower(p.name) DESC, p.pid DESC, p.process_key"
            }
            ProcessSort::Usual | ProcessSort::Cpu | ProcessSort::Name => {
                "lower(p.name) NULLS FIRST, p.start_ns NULLS FIRST, p.pid, p.process_key"
            }
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

    /// Runs the question and returns its answer.
    ///
    /// # Errors
    /// The query fails.
    pub fn ask(&self, session: &Session) -> Result<ProcessAnswer> {
        let mut rows: Vec<ProcessRow> = ask(session, &self.sql())?;
        if self.sort == ProcessSort::Tree {
            rows = tree(rows);
        }
        self.top.cut(&mut rows);
        Ok(ProcessAnswer {
            counts: ProcessCounts::of(&rows),
            rows,
        })
    }
}

/// Puts each process after its parent; processes whose parent is not in the list are roots.
fn tree(rows: Vec<ProcessRow>) -> Vec<ProcessRow> {
    let listed: std::collections::HashSet<i64> = rows.iter().map(|row| row.process_key).collect();
    let mut children: std::collections::HashMap<Option<i64>, Vec<ProcessRow>> =
        std::collections::HashMap::new();
    let total = rows.len();
    // In reverse order, so that taking from the end gives the first one.
    for row in rows.into_iter().rev() {
        let parent = row
            .parent_process_key
            .filter(|key| listed.contains(key) && *key != row.process_key);
        children.entry(parent).or_default().push(row);
    }
    let mut out = Vec::with_capacity(total);
    // Most processes have no children.
    let mut children_of = |parent: Option<i64>| children.remove(&parent).unwrap_or_default();
    let mut open = vec![children_of(None)];
    while let Some(siblings) = open.last_mut() {
        let Some(mut row) = siblings.pop() else {
            open.pop();
            continue;
        };
        row.level = i64::try_from(open.len()).unwrap_or(i64::MAX) - 1;
        open.push(children_of(Some(row.process_key)));
        out.push(row);
    }
    // Cyclic parents have no root; a damaged trace can contain them.
    let mut rest: Vec<ProcessRow> = children.into_values().flatten().collect();
    rest.sort_by_key(|row| row.process_key);
    out.extend(rest);
    out
}
