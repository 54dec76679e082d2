//! Virtual memory: what processes committed and did not give back, by process, stack or method.

use super::group::grouped;
use super::sql::{
    PROCESS_COLUMNS, ProcessQuery, ends, filtered, range_condition, stack_condition, text_condition,
};
use super::{Group, Result, Top, ask, check_recorded, check_rows};
use crate::Session;
use crate::range::Range;

/// Orders of processes, stacks and methods.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum VirtualAllocSort {
    /// Bytes that were not given back.
    #[default]
    NotReleasedSize,
    /// Commits that were not given back.
    NotReleasedCount,
    /// Bytes of commits.
    CommitSize,
    /// Commits.
    CommitCount,
    /// Bytes of decommits and releases.
    FreedSize,
    /// Decommits and releases.
    FreedCount,
    /// Largest commit.
    MaxCommitSize,
    /// The most that was committed at one time.
    PeakSize,
}

/// Which memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VirtualAllocRequest {
    /// Which processes.
    pub processes: ProcessQuery,
    /// Only allocations in this part of the trace, in nanoseconds. What was given back is known from the whole trace.
    pub time: Range,
    /// Only commits with such a frame in the stack: a filter on texts of frames and names of methods.
    pub stack: Option<String>,
    /// Bytes of a row that were not given back.
    pub not_released_size: Range,
    /// Commits of a row that were not given back.
    pub not_released_count: Range,
    /// Whether what a process had when it ended counts as not given back.
    pub include_exited: bool,
    /// Order.
    pub sort: VirtualAllocSort,
    /// How many of the largest processes.
    pub top: Top,
    /// How many of the largest stacks or methods of each process.
    pub top_stacks: Top,
}

rows! {
    /// Virtual memory of a process.
    pub struct VirtualAllocRow {
        /// Process; missing if it is not known.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Bytes of pages that were committed and not given back.
        outstanding_bytes: i64,
        /// Commits with such pages.
        outstanding_commits: i64,
        /// Bytes of commits.
        commit_bytes: i64,
        /// Commits.
        commits: i64,
        /// Bytes of decommits and releases.
        freed_bytes: i64,
        /// Decommits and releases.
        frees: i64,
        /// Decommits.
        decommits: i64,
        /// Releases.
        releases: i64,
        /// Reservations without a commit.
        reserves: i64,
        /// Largest commit.
        max_commit_bytes: i64,
        /// The most that it had committed at one time, of what was committed in the trace.
        peak_bytes: i64,
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

    /// Commits of a process with one stack, or with one method in their stacks.
    pub struct VirtualStackRow {
        /// Process; missing if it is not known.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// The stack, with rows for each stack; missing where none was recorded.
        stack_id: Option<i64>,
        /// Its frames, innermost first, if they are asked for.
        stack: Option<String>,
        /// The method, with rows for each method.
        method: Option<String>,
        /// Bytes of pages that were committed and not given back.
        outstanding_bytes: i64,
        /// Commits with such pages.
        outstanding_commits: i64,
        /// Bytes of commits.
        commit_bytes: i64,
        /// Commits.
        commits: i64,
        /// Largest commit.
        max_commit_bytes: i64,
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

    /// An allocation.
    pub struct VirtualEvent {
        /// Time.
        ts_ns: i64,
        /// Process; missing if it is not known.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Thread that did it.
        tid: Option<i64>,
        /// `commit`, `reserve`, `decommit` or `release`.
        kind: String,
        /// First address, in hexadecimal digits.
        address: String,
        /// Bytes.
        size_bytes: i64,
        /// Flags, in hexadecimal digits.
        flags: String,
        /// Bytes of it that were not given back.
        outstanding_bytes: i64,
        /// The stack.
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
    }
}

/// Stacks or methods by process.
pub type VirtualStackAnswer = Vec<Group<VirtualStackRow, VirtualAllocTotal>>;

/// Sums over rows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct VirtualAllocTotal {
    /// Bytes that were not given back.
    pub outstanding_bytes: i64,
    /// Commits that were not given back.
    pub outstanding_commits: i64,
    /// What groups are sorted by.
    pub sort_value: f64,
}

/// What stacks are put together by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StackBy {
    /// Each stack; with its text or without it.
    Stack {
        /// With the text.
        text: bool,
    },
    /// Each method that passes a filter, by all frames of a stack.
    Method(String),
}

impl VirtualAllocRequest {
    /// Outstanding bytes as SQL: those of processes that ended are gone, unless they are asked for.
    fn outstanding(&self, column: &str) -> String {
        if self.include_exited {
            return format!("coalesce({column}, 0)");
        }
        format!("CASE WHEN p.stop_ns IS NULL THEN coalesce({column}, 0) ELSE 0 END")
    }

    /// Conditions on an allocation named `a`.
    fn limits(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        if !self.time.is_unlimited() {
            let (a, b) = ends(self.time);
            all.push(format!("a.ts_ns BETWEEN {a} AND {b}"));
        }
        all.extend(stack_condition("a.stack_id", self.stack.as_deref()));
        all
    }

    /// Sums of processes, by `process_key`.
    fn sums(&self) -> String {
        let limits = self.limits();
        if limits.is_empty() {
            return "SELECT * FROM virtual_alloc_process".to_owned();
        }
        format!(
            "SELECT a.process_key, count(*) FILTER (WHERE a.kind = 'commit') AS commits,
    coalesce(sum(a.size_bytes) FILTER (WHERE a.kind = 'commit'), 0) AS commit_bytes,
    coalesce(max(a.size_bytes) FILTER (WHERE a.kind = 'commit'), 0) AS max_commit_bytes,
    count(*) FILTER (WHERE a.kind = 'reserve') AS reserves, count(*) FILTER (WHERE a.kind = 'decommit') AS decommits,
    count(*) FILTER (WHERE a.kind = 'release') AS releases,
    coalesce(sum(a.size_bytes) FILTER (WHERE a.kind IN ('decommit', 'release')), 0) AS freed_bytes,
    coalesce(sum(r.size_bytes), 0) AS outstanding_bytes, count(r.alloc_id) AS outstanding_commits,
    max(a.committed_bytes) AS peak_bytes
  FROM virtual_alloc a
  LEFT JOIN (SELECT alloc_id, sum(size_bytes) AS size_bytes FROM virtual_range GROUP BY alloc_id) r ON r.alloc_id = a.alloc_id{}
  GROUP BY a.process_key",
            filtered(&limits)
        )
    }

    fn row_limits(&self) -> String {
        let limits = [
            range_condition("outstanding_bytes", self.not_released_size),
            range_condition("outstanding_commits", self.not_released_count),
        ];
        filtered(&limits.into_iter().flatten().collect::<Vec<_>>())
    }

    /// The question for processes.
    #[must_use]
    pub fn sql(&self) -> String {
        format!(
            "SELECT *, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT a.process_key, {PROCESS_COLUMNS}, a.commits, a.commit_bytes, a.max_commit_bytes, a.reserves, a.decommits, a.releases,
  a.decommits + a.releases AS frees, a.freed_bytes, a.peak_bytes,
  {bytes} AS outstanding_bytes, {commits} AS outstanding_commits
FROM (
  {sums}
) a
LEFT JOIN process p ON p.process_key = a.process_key{conditions}
){limits}
ORDER BY sort_value, outstanding_bytes, commit_bytes, process_key",
            sort = self.sort_value(),
            bytes = self.outstanding("a.outstanding_bytes"),
            commits = self.outstanding("a.outstanding_commits"),
            sums = self.sums(),
            conditions = filtered(&self.processes.conditions()),
            limits = self.row_limits(),
        )
    }

    const fn sort_value(&self) -> &'static str {
        match self.sort {
            VirtualAllocSort::NotReleasedSize => "outstanding_bytes",
            VirtualAllocSort::NotReleasedCount => "outstanding_commits",
            VirtualAllocSort::CommitSize => "commit_bytes",
            VirtualAllocSort::CommitCount => "commits",
            VirtualAllocSort::FreedSize => "freed_bytes",
            VirtualAllocSort::FreedCount => "frees",
            VirtualAllocSort::MaxCommitSize => "max_commit_bytes",
            VirtualAllocSort::PeakSize => "peak_bytes",
        }
    }

    /// The question for stacks or methods of commits.
    #[must_use]
    pub fn stacks_sql(&self, by: &StackBy) -> String {
        let sort = match self.sort {
            VirtualAllocSort::NotReleasedCount => "outstanding_commits",
            VirtualAllocSort::CommitSize => "commit_bytes",
            VirtualAllocSort::CommitCount => "commits",
            VirtualAllocSort::MaxCommitSize => "max_commit_bytes",
            _ => "outstanding_bytes",
        };
        let mut conditions = self.processes.conditions();
        conditions.extend(self.limits());
        conditions.push("a.kind = 'commit'".to_owned());
        let by_stack = format!(
            "SELECT a.process_key, a.stack_id, count(*) AS commits, sum(a.size_bytes) AS commit_bytes, max(a.size_bytes) AS max_commit_bytes,
    sum({bytes}) AS outstanding_bytes, sum(CASE WHEN {bytes} > 0 THEN 1 ELSE 0 END) AS outstanding_commits
  FROM virtual_alloc a
  LEFT JOIN (SELECT alloc_id, sum(size_bytes) AS size_bytes FROM virtual_range GROUP BY alloc_id) r ON r.alloc_id = a.alloc_id
  LEFT JOIN process p ON p.process_key = a.process_key{conditions}
  GROUP BY a.process_key, a.stack_id",
            bytes = self.outstanding("r.size_bytes"),
            conditions = filtered(&conditions),
        );
        let (columns, from) = match by {
            StackBy::Stack { text } => {
                let (text, join) = if *text {
                    ("x.text AS stack", "\nLEFT JOIN stack_text x ON x.stack_id = a.stack_id")
                } else {
                    ("CAST(NULL AS VARCHAR) AS stack", "")
                };
                (format!("a.stack_id, {text}, CAST(NULL AS VARCHAR) AS method"), format!("by_stack a{join}"))
            }
            StackBy::Method(filter) => {
                let filter = text_condition("name", Some(filter)).unwrap_or_else(|| "TRUE".to_owned());
                (
                    "CAST(NULL AS INT) AS stack_id, CAST(NULL AS VARCHAR) AS stack, a.name AS method".to_owned(),
                    format!(
                        "(
  SELECT b.process_key, n.name, sum(b.commits) AS commits, sum(b.commit_bytes) AS commit_bytes, max(b.max_commit_bytes) AS max_commit_bytes,
    sum(b.outstanding_bytes) AS outstanding_bytes, sum(b.outstanding_commits) AS outstanding_commits
  FROM by_stack b
  JOIN (
    SELECT * FROM (
      SELECT s.stack_id, CASE WHEN m.name IS NULL THEN concat(coalesce(d.name, ''), '+', hex(coalesce(f.rva, f.address)))
        ELSE concat(coalesce(d.name, '?'), '!', m.name) END AS name
      FROM stack_frame s
      JOIN frame f ON f.frame_id = s.frame_id
      LEFT JOIN method m ON m.method_id = f.method_id
      LEFT JOIN module d ON d.module_id = f.module_id
      WHERE s.first AND s.stack_id IN (SELECT stack_id FROM by_stack)
    ) WHERE {filter}
  ) n ON n.stack_id = b.stack_id
  GROUP BY b.process_key, n.name
) a"
                    ),
                )
            }
        };
        format!(
            "WITH by_stack AS (
  {by_stack}
)
SELECT *, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT a.process_key, {PROCESS_COLUMNS}, {columns}, a.commits, a.commit_bytes, a.max_commit_bytes, a.outstanding_bytes, a.outstanding_commits
FROM {from}
LEFT JOIN process p ON p.process_key = a.process_key
){limits}
ORDER BY sort_value, commit_bytes, process_key, stack_id, method",
            limits = self.row_limits(),
        )
    }

    /// The question for single allocations; with `stacks` those of these stacks alone.
    #[must_use]
    pub fn events_sql(&self, stacks: &[i32], text: bool) -> String {
        let mut conditions = self.processes.conditions();
        conditions.extend(self.limits());
        if !stacks.is_empty() {
            let list: Vec<String> = stacks.iter().map(i32::to_string).collect();
            conditions.push(format!("a.stack_id IN ({})", list.join(", ")));
        }
        let (text, join) = if text {
            ("x.text AS stack", "\nLEFT JOIN stack_text x ON x.stack_id = a.stack_id")
        } else {
            ("CAST(NULL AS VARCHAR) AS stack", "")
        };
        format!(
            "SELECT a.ts_ns, a.process_key, {PROCESS_COLUMNS}, t.tid, a.kind, hex(a.address) AS address, a.size_bytes,
  hex(a.flags) AS flags, {bytes} AS outstanding_bytes, a.stack_id, {text}
FROM virtual_alloc a
LEFT JOIN (SELECT alloc_id, sum(size_bytes) AS size_bytes FROM virtual_range GROUP BY alloc_id) r ON r.alloc_id = a.alloc_id
LEFT JOIN process p ON p.process_key = a.process_key
LEFT JOIN thread t ON t.thread_key = a.thread_key{join}{conditions}
ORDER BY a.ts_ns, a.alloc_id",
            bytes = self.outstanding("r.size_bytes"),
            conditions = filtered(&conditions),
        )
    }

    /// Asks for processes.
    ///
    /// # Errors
    /// Virtual memory was not recorded; single allocations are needed, and the extract has none; the query fails.
    pub fn ask(&self, session: &Session) -> Result<Vec<VirtualAllocRow>> {
        check(session, !self.limits().is_empty())?;
        let mut rows = ask(session, &self.sql())?;
        self.top.cut(&mut rows);
        Ok(rows)
    }

    /// Asks for stacks or methods of commits, by process.
    ///
    /// # Errors
    /// Those of [`Self::ask`].
    pub fn ask_stacks(&self, session: &Session, by: &StackBy) -> Result<VirtualStackAnswer> {
        check(session, true)?;
        let rows: Vec<VirtualStackRow> = ask(session, &self.stacks_sql(by))?;
        let is_method = matches!(by, StackBy::Method(_));
        // Sums are those of all stacks, whatever is shown of them.
        let mut groups = grouped(rows, |row| row.process_key, Top::default(), |rows| total(rows, is_method));
        groups.iter_mut().for_each(|group| self.top_stacks.cut(&mut group.rows));
        groups.retain(|group| !group.rows.is_empty());
        groups.sort_by(|a, b| a.total.sort_value.total_cmp(&b.total.sort_value));
        self.top.cut(&mut groups);
        Ok(groups)
    }

    /// Asks for single allocations, in the order of time.
    ///
    /// # Errors
    /// Those of [`Self::ask`].
    pub fn ask_events(&self, session: &Session, stacks: &[i32], text: bool) -> Result<Vec<VirtualEvent>> {
        check(session, true)?;
        let mut rows = ask(session, &self.events_sql(stacks, text))?;
        self.top.cut(&mut rows);
        Ok(rows)
    }
}

/// Sums over stacks. A stack has many methods, so that over methods the largest one is what counts.
fn total(rows: &[VirtualStackRow], is_method: bool) -> VirtualAllocTotal {
    rows.iter().fold(VirtualAllocTotal::default(), |sum, row| {
        if is_method {
            return VirtualAllocTotal {
                outstanding_bytes: sum.outstanding_bytes.max(row.outstanding_bytes),
                outstanding_commits: sum.outstanding_commits.max(row.outstanding_commits),
                sort_value: sum.sort_value.max(row.sort_value),
            };
        }
        VirtualAllocTotal {
            outstanding_bytes: sum.outstanding_bytes.saturating_add(row.outstanding_bytes),
            outstanding_commits: sum.outstanding_commits.saturating_add(row.outstanding_commits),
            sort_value: sum.sort_value + row.sort_value,
        }
    })
}

fn check(session: &Session, needs_rows: bool) -> Result<()> {
    check_recorded(
        session,
        "virtual_alloc_process",
        "virtual memory",
        "record with the kernel keywords VIRT_ALLOC+PROC_THREAD+LOADER, with `-stackwalk VirtualAlloc+VirtualFree` for stacks: \
                  `wpr -start VirtualAllocation`",
    )?;
    check_rows(session, "virtual_alloc", needs_rows, "allocations")
}
