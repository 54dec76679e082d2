//! Pieces of SQL that several dumps use.

pub use super::conditions::{Conditions, ends, text_condition};

use crate::zero::ZeroTime;
use crate::{Among, option};

/// Value of a text column that a kind of rows lacks.
pub const NO_TEXT: &str = "CAST(NULL AS VARCHAR)";

/// Value of a number column that a kind of rows lacks: a key, an id, a number of an enumeration.
pub const NO_NUMBER: &str = "CAST(NULL AS INT)";

/// Command lines of processes.
const COMMAND_LINES: Among = Among::Texts(
    "command line",
    "command lines",
    "SELECT command_line AS text FROM process",
);

declare! {
    /// Filters on processes.
    #[derive(Eq)]
    pub request ProcessQuery {
        /// Only these processes: names with or without .exe, or ids (*, ?, several with ;, !
        /// excludes)
        process: Option<String> = option("NAMES").of(Among::Processes),
        /// Only processes with this command line (*, ?, several with ;, ! excludes)
        command_line: Option<String> = option("TEXT").called("cmdline").of(COMMAND_LINES),
        /// Only processes that 0: neither started nor ended, 1: started, -1: ended, 2: started and
        /// did not end, -2: ended and did not start in the trace
        new_process: Option<i8> = option("N").called("new-process").between(-2, 2),
        /// Only processes of these terminal sessions
        session: Option<String> = option("NUMBERS"),
        /// Only processes of these users, by security id
        user: Option<String> = option("SIDS"),
    }
}

impl ProcessQuery {
    /// Returns conditions on a `process` named `p`.
    #[must_use]
    pub fn conditions(&self) -> Conditions {
        Conditions::new()
            .process("p", self.process.as_deref())
            .text("p.command_line", self.command_line.as_deref())
            .text("CAST(p.session_id AS VARCHAR)", self.session.as_deref())
            .text("p.sid", self.user.as_deref())
            .and(self.new_process.map(|new| {
                let condition = match new {
                    // Rows whose process is not known also lack both times, but are not processes
                    // that ran throughout.
                    0 => "p.start_ns IS NULL AND p.stop_ns IS NULL AND p.process_key IS NOT NULL",
                    1 => "p.start_ns IS NOT NULL",
                    2 => "p.start_ns IS NOT NULL AND p.stop_ns IS NULL",
                    -2 => "p.stop_ns IS NOT NULL AND p.start_ns IS NULL",
                    _ => "p.stop_ns IS NOT NULL",
                };
                condition.to_owned()
            }))
    }
}

/// Returns [`PROCESS_COLUMNS`] with moved times.
#[must_use]
pub fn process_columns_from(zero: &ZeroTime) -> String {
    format!(
        "p.pid, p.name AS process, p.command_line, p.session_id, {} AS process_start_ns, {} AS process_stop_ns",
        zero.moved("p.start_ns"),
        zero.moved("p.stop_ns")
    )
}

/// The columns of a `process` named `p` that rows of other dumps carry.
pub const PROCESS_COLUMNS: &str = "p.pid, p.name AS process, p.command_line, p.session_id, \
     p.start_ns AS process_start_ns, p.stop_ns AS process_stop_ns";

/// Joins path and versions of the executable of a `process` named `p`, as `v`. The process may have
/// another name.
// Grouped by process, since two modules can have the name of the executable and would double the
// row.
pub const EXECUTABLES: &str = "
LEFT JOIN (
  SELECT m.process_key, max(m.path) AS path, max(m.file_version) AS file_version, max(m.product_name) AS product_name,
    max(m.company) AS company, max(m.product_version) AS product_version, max(m.description) AS description
  FROM module m JOIN process_recorded r ON r.process_key = m.process_key AND lower(r.name) = lower(m.name)
  GROUP BY m.process_key
) v ON v.process_key = p.process_key";

/// The text that a filter on executables is compared with.
pub const EXECUTABLE_TEXT: &str =
    "concat_ws(', ', v.path, v.file_version, v.product_name, v.company)";

/// Returns the process columns for rows of the table named `table`; they are null if rows are not
/// grouped by process.
#[must_use]
pub fn process_columns(table: &str, per_process: bool) -> String {
    if per_process {
        return format!("{table}.process_key, {PROCESS_COLUMNS}");
    }
    "CAST(NULL AS INT) AS process_key, CAST(NULL AS INT) AS pid, CAST(NULL AS VARCHAR) AS process, \
     CAST(NULL AS VARCHAR) AS command_line, CAST(NULL AS INT) AS session_id, \
     CAST(NULL AS BIGINT) AS process_start_ns, CAST(NULL AS BIGINT) AS process_stop_ns"
        .to_owned()
}

/// Returns the column `stack` with the frames of a stack, innermost first, and the join that it
/// needs; no text unless `wanted`.
#[must_use]
pub fn stack_text(stack: &str, name: &str, wanted: bool) -> (String, String) {
    if !wanted {
        return (format!("{NO_TEXT} AS {name}"), String::new());
    }
    (
        format!("{name}_text.text AS {name}"),
        format!("\nLEFT JOIN stack_text {name}_text ON {name}_text.stack_id = {stack}"),
    )
}

/// Returns the thread of a row of the table named `table`, as `t`; null if rows are not grouped by
/// thread.
#[must_use]
pub fn thread_columns(table: &str, per_thread: bool) -> String {
    if per_thread {
        return format!("{table}.thread_key, t.tid");
    }
    "CAST(NULL AS INT) AS thread_key, CAST(NULL AS INT) AS tid".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_become_conditions() {
        let query = ProcessQuery {
            process: Some("cmd;!7".into()),
            session: Some("1".into()),
            new_process: Some(2),
            ..ProcessQuery::default()
        };
        assert_eq!(
            query.conditions().to_string(),
            "\nWHERE process_match(p.name, p.pid, 'cmd;!7')
  AND wildcard_match(CAST(p.session_id AS VARCHAR), '1')
  AND p.start_ns IS NOT NULL AND p.stop_ns IS NULL"
        );
    }
}
