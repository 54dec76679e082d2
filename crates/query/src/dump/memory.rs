//! Memory of processes and of the machine: the last sample of a trace, and the difference to its first one.

use super::sql::{EXECUTABLE_TEXT, EXECUTABLES, ProcessQuery, filtered, range_condition, text_condition};
use super::{Error, Result, Top, ask, has_rows};
use crate::Session;
use crate::range::Range;

/// Orders of processes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MemorySort {
    /// Committed at the end.
    #[default]
    Commit,
    /// In memory at the end.
    WorkingSet,
    /// Shared and committed at the end.
    SharedCommit,
    /// How much more or less is committed at the end than at the begin.
    Diff,
}

/// Which processes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryRequest {
    /// Which processes.
    pub processes: ProcessQuery,
    /// A filter on path, version, product and company of the executable.
    pub modules: Option<String>,
    /// Committed at the end, in bytes.
    pub commit: Range,
    /// In memory at the end, in bytes.
    pub working_set: Range,
    /// Bytes in memory at the first sample; 0 where the process was not there yet.
    pub first_working_set: Range,
    /// In memory and not shared at the end, in bytes.
    pub private_working_set: Range,
    /// Shared and committed at the end, in bytes.
    pub shared_commit: Range,
    /// Least change of what is committed, in bytes, up or down. A process that came in between counts with all that it has.
    pub min_diff: i64,
    /// Only this part of the trace, in nanoseconds: its first and last sample.
    pub time: Range,
    /// Order.
    pub sort: MemorySort,
    /// How many of the largest rows.
    pub top: Top,
}

rows! {
    /// Memory of a process.
    pub struct MemoryRow {
        /// Process; missing for parts of the system.
        process_key: Option<i64>,
        /// Its process id; other numbers stand for parts of the system.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Time of the last sample.
        ts_ns: i64,
        /// Committed.
        commit_bytes: i64,
        /// Committed at the end less at the begin; 0 for a process that the first sample does not have.
        commit_diff_bytes: i64,
        /// In memory.
        working_set_bytes: i64,
        /// The same difference.
        working_set_diff_bytes: i64,
        /// In memory, and not shared.
        private_working_set_bytes: i64,
        /// Shared and committed; missing in old recordings.
        shared_commit_bytes: Option<i64>,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Terminal session.
        session_id: Option<i64>,
        /// Command line.
        command_line: Option<String>,
        /// Path of the executable.
        module_path: Option<String>,
        /// Its file version.
        file_version: Option<String>,
        /// Its product.
        product_name: Option<String>,
        /// Its company.
        company: Option<String>,
        /// Product version of the executable.
        product_version: Option<String>,
        /// Description of the executable.
        description: Option<String>,
        /// What rows are sorted by.
        sort_value: f64,
    }

    /// Memory of the machine.
    pub struct MachineRow {
        /// Time of the last sample.
        ts_ns: i64,
        /// Committed; missing in old recordings.
        commit_bytes: Option<i64>,
        /// The same at the end less at the begin.
        commit_diff_bytes: Option<i64>,
        /// In use; missing where the size of the memory is not known.
        in_use_bytes: Option<i64>,
        /// The same at the end less at the begin.
        in_use_diff_bytes: Option<i64>,
        /// On standby.
        standby_bytes: i64,
        /// Free and zeroed.
        free_bytes: i64,
        /// Changed, to be written.
        modified_bytes: i64,
        /// Memory of the machine.
        memory_bytes: Option<i64>,
        /// Samples.
        samples: i64,
    }
}

impl MemoryRequest {
    /// The question for processes.
    #[must_use]
    pub fn sql(&self) -> String {
        let mut conditions = vec!["l.ts_ns = e.last_ns".to_owned()];
        conditions.extend(self.processes.conditions());
        conditions.extend(text_condition(EXECUTABLE_TEXT, self.modules.as_deref()));
        for (column, range) in [
            ("l.commit_bytes", self.commit),
            ("l.working_set_bytes", self.working_set),
            ("coalesce(f.working_set_bytes, 0)", self.first_working_set),
            ("l.private_working_set_bytes", self.private_working_set),
            ("l.shared_commit_bytes", self.shared_commit),
        ] {
            conditions.extend(range_condition(column, range));
        }
        if self.min_diff > 0 {
            let diff =
                "abs(CASE WHEN f.pid IS NULL THEN l.commit_bytes ELSE l.commit_bytes - f.commit_bytes END)";
            conditions.push(format!("{diff} >= {}", self.min_diff));
        }
        let sort = match self.sort {
            MemorySort::Commit => "commit_bytes",
            MemorySort::WorkingSet => "working_set_bytes",
            MemorySort::SharedCommit => "coalesce(shared_commit_bytes, 0)",
            MemorySort::Diff => "abs(commit_diff_bytes)",
        };
        let range: Vec<String> = range_condition("ts_ns", self.time).into_iter().collect();
        format!(
            "SELECT *, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT l.ts_ns, l.process_key, l.pid, coalesce(p.name, l.part) AS process, p.command_line, p.session_id,
  p.start_ns AS process_start_ns,
  p.stop_ns AS process_stop_ns, l.commit_bytes, coalesce(l.commit_bytes - f.commit_bytes, 0) AS commit_diff_bytes, l.working_set_bytes,
  coalesce(l.working_set_bytes - f.working_set_bytes, 0) AS working_set_diff_bytes, l.private_working_set_bytes, l.shared_commit_bytes,
  v.path AS module_path, v.file_version, v.product_name, v.company, v.product_version, v.description
FROM memory_sample l
CROSS JOIN (SELECT min(ts_ns) AS first_ns, max(ts_ns) AS last_ns FROM memory_sample{range}) e
LEFT JOIN memory_sample f ON f.ts_ns = e.first_ns AND f.pid = l.pid AND coalesce(f.process_key, -1) = coalesce(l.process_key, -1)
  AND coalesce(f.part, '') = coalesce(l.part, '')
LEFT JOIN process p ON p.process_key = l.process_key{EXECUTABLES}{conditions}
)
ORDER BY sort_value, commit_bytes, pid, process_key",
            range = filtered(&range),
            conditions = filtered(&conditions),
        )
    }

    /// The question for the machine.
    #[must_use]
    pub fn machine_sql(&self) -> String {
        let range: Vec<String> = range_condition("ts_ns", self.time).into_iter().collect();
        format!(
            "SELECT l.ts_ns, l.commit_bytes, l.commit_bytes - f.commit_bytes AS commit_diff_bytes, l.in_use_bytes,
  l.in_use_bytes - f.in_use_bytes AS in_use_diff_bytes, l.standby_bytes, l.free_bytes + l.zero_bytes AS free_bytes, l.modified_bytes,
  t.memory_bytes, e.samples
FROM memory_machine l
CROSS JOIN (SELECT min(ts_ns) AS first_ns, max(ts_ns) AS last_ns, count(*) AS samples FROM memory_machine{}) e
JOIN memory_machine f ON f.ts_ns = e.first_ns
CROSS JOIN trace t
WHERE l.ts_ns = e.last_ns
LIMIT 1",
            filtered(&range)
        )
    }

    /// Asks for processes.
    ///
    /// # Errors
    /// There are no samples of processes; the query fails.
    pub fn ask(&self, session: &Session) -> Result<Vec<MemoryRow>> {
        check(session, "memory_sample", "memory of processes", "MEMINFO_WS")?;
        let mut rows = ask(session, &self.sql())?;
        self.top.cut(&mut rows);
        Ok(rows)
    }

    /// Asks for the machine.
    ///
    /// # Errors
    /// There are no samples of the machine; the query fails.
    pub fn machine(&self, session: &Session) -> Result<Vec<MachineRow>> {
        check(session, "memory_machine", "memory of the machine", "MEMINFO")?;
        ask(session, &self.machine_sql())
    }
}

fn check(session: &Session, table: &str, what: &'static str, keyword: &str) -> Result<()> {
    if has_rows(session, table)? {
        return Ok(());
    }
    let how = match keyword {
        "MEMINFO" => {
            "record with the kernel keyword MEMINFO, for example `xperf -on PROC_THREAD+LOADER+MEMINFO+MEMINFO_WS`"
        }
        _ => {
            "record with the kernel keyword MEMINFO_WS, for example `xperf -on PROC_THREAD+LOADER+MEMINFO+MEMINFO_WS`"
        }
    };
    Err(Error::NotRecorded { what, how })
}
