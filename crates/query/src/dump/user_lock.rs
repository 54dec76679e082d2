//! The global lock of the window manager: who waited for it and who had it, by process or thread, or single acquisitions.

use super::sql::{
    PROCESS_COLUMNS, ProcessQuery, ends, filtered, quoted, stack_condition, stack_text, told_condition,
};
use super::{Result, Top, ask, check_recorded, check_rows};
use crate::Session;
use crate::range::Range;

/// Orders of sums and of single acquisitions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UserLockSort {
    /// Sum of waits; of single acquisitions the wait.
    #[default]
    Wait,
    /// Longest wait.
    MaxWait,
    /// Sum of holds; of single acquisitions the hold.
    Hold,
    /// Longest hold.
    MaxHold,
    /// Acquisitions.
    Count,
    /// Time of the acquisition, of single ones.
    Time,
}

/// Which acquisitions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserLockRequest {
    /// Which processes.
    pub processes: ProcessQuery,
    /// Only this mode: `exclusive` or `shared`.
    pub mode: Option<String>,
    /// Only those that waited so long, in nanoseconds. Releases whose acquisition is not known are left out by any limit.
    pub wait: Range,
    /// Only those that had the lock so long, in nanoseconds.
    pub hold: Range,
    /// Only those in this part of the trace, in nanoseconds: by their acquisition, of a release without one by that.
    pub time: Range,
    /// Only those whose stack has such a frame.
    pub stack: Option<String>,
    /// Sums of threads, in place of processes.
    pub by_thread: bool,
    /// Order.
    pub sort: UserLockSort,
    /// How many of the largest rows.
    pub top: Top,
    /// With stacks, of single acquisitions.
    pub stacks: bool,
}

rows! {
    /// Acquisitions of a process or thread.
    pub struct UserLockRow {
        /// Process; missing if it is not known.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Thread id, with rows for each thread.
        tid: Option<i64>,
        /// Acquisitions.
        acquisitions: i64,
        /// Those that were exclusive.
        exclusive: i64,
        /// Those that were shared.
        shared: i64,
        /// Those that the system logged as slow ones, too.
        slow: i64,
        /// Sum of waits.
        wait_ns: i64,
        /// Longest wait.
        max_wait_ns: Option<i64>,
        /// Acquisitions with a release.
        released: i64,
        /// Sum of the times between these.
        hold_ns: i64,
        /// Longest one.
        max_hold_ns: Option<i64>,
        /// Releases whose acquisition is not in the trace.
        only_released: i64,
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

    /// An acquisition.
    pub struct UserLockEvent {
        /// When the thread had the lock; missing where only the release was told.
        acquire_ns: Option<i64>,
        /// When it gave it back, if that was told.
        release_ns: Option<i64>,
        /// `exclusive` or `shared`.
        mode: Option<String>,
        /// How long it waited before.
        wait_ns: Option<i64>,
        /// How long it had it.
        hold_ns: Option<i64>,
        /// The same as the release tells it; older versions of Windows count the wait, too.
        told_hold_ns: Option<i64>,
        /// Whether the system logged it as a slow one, too.
        is_slow: bool,
        /// Process; missing if it is not known.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Thread.
        tid: Option<i64>,
        /// The stack that acquired it.
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
}

impl UserLockRequest {
    /// Conditions on single acquisitions, which sums of processes know nothing of.
    fn limits(&self) -> Vec<String> {
        let mut all = told_condition("l.wait_ns", self.wait);
        all.extend(told_condition("l.hold_ns", self.hold));
        if !self.time.is_unlimited() {
            let (a, b) = ends(self.time);
            all.push(format!("coalesce(l.acquire_ns, l.release_ns) BETWEEN {a} AND {b}"));
        }
        all.extend(stack_condition("l.stack_id", self.stack.as_deref()));
        all
    }

    fn needs_rows(&self) -> bool {
        self.by_thread || !self.limits().is_empty()
    }

    fn conditions(&self) -> Vec<String> {
        let mut all = self.processes.conditions();
        all.extend(self.mode.as_deref().map(|mode| format!("l.mode = {}", quoted(mode))));
        all
    }

    /// Sums by process, or what is added up to such sums.
    fn sums(&self) -> String {
        if !self.needs_rows() {
            return "SELECT *, CAST(NULL AS INT) AS thread_key FROM user_lock_process".to_owned();
        }
        format!(
            "SELECT l.process_key, l.thread_key, l.mode, CASE WHEN l.mode IS NULL THEN 0 ELSE 1 END AS acquisitions,
    CASE WHEN l.is_slow THEN 1 ELSE 0 END AS slow, coalesce(l.wait_ns, 0) AS wait_ns, l.wait_ns AS max_wait_ns,
    CASE WHEN l.hold_ns IS NULL THEN 0 ELSE 1 END AS released, coalesce(l.hold_ns, 0) AS hold_ns, l.hold_ns AS max_hold_ns,
    CASE WHEN l.mode IS NULL THEN 1 ELSE 0 END AS only_released
  FROM user_lock l{}",
            filtered(&self.limits())
        )
    }

    /// The question for sums.
    #[must_use]
    pub fn sql(&self) -> String {
        let sort = match self.sort {
            UserLockSort::Wait | UserLockSort::Time => "wait_ns",
            UserLockSort::MaxWait => "coalesce(max_wait_ns, 0)",
            UserLockSort::Hold => "hold_ns",
            UserLockSort::MaxHold => "coalesce(max_hold_ns, 0)",
            UserLockSort::Count => "acquisitions",
        };
        let thread = if self.by_thread {
            "l.thread_key, t.tid"
        } else {
            "CAST(NULL AS INT) AS thread_key, CAST(NULL AS INT) AS tid"
        };
        let keys = "process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, thread_key, tid";
        format!(
            "SELECT *, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT {keys}, sum(acquisitions) AS acquisitions,
  coalesce(sum(acquisitions) FILTER (WHERE mode = 'exclusive'), 0) AS exclusive,
  coalesce(sum(acquisitions) FILTER (WHERE mode = 'shared'), 0) AS shared, sum(slow) AS slow,
  sum(wait_ns) AS wait_ns, max(max_wait_ns) AS max_wait_ns, sum(released) AS released, sum(hold_ns) AS hold_ns,
  max(max_hold_ns) AS max_hold_ns, sum(only_released) AS only_released
FROM (
  SELECT l.process_key, {PROCESS_COLUMNS}, {thread}, l.mode, l.acquisitions, l.slow, l.wait_ns, l.max_wait_ns, l.released, l.hold_ns, l.max_hold_ns,
    l.only_released
  FROM (
  {sums}
  ) l
  LEFT JOIN process p ON p.process_key = l.process_key
  LEFT JOIN thread t ON t.thread_key = l.thread_key{conditions}
)
GROUP BY {keys}
)
ORDER BY sort_value, wait_ns, hold_ns, acquisitions, process_key, thread_key",
            sums = self.sums(),
            conditions = filtered(&self.conditions()),
        )
    }

    /// The question for single acquisitions.
    #[must_use]
    pub fn events_sql(&self) -> String {
        let sort = match self.sort {
            UserLockSort::Wait | UserLockSort::MaxWait => "coalesce(l.wait_ns, 0)",
            UserLockSort::Hold | UserLockSort::MaxHold => "coalesce(l.hold_ns, 0)",
            UserLockSort::Count | UserLockSort::Time => "coalesce(l.acquire_ns, l.release_ns)",
        };
        let mut conditions = self.conditions();
        conditions.extend(self.limits());
        let (text, join) = stack_text("l.stack_id", "stack", self.stacks);
        format!(
            "SELECT l.acquire_ns, l.release_ns, l.mode, l.wait_ns, l.hold_ns, l.told_hold_ns, l.is_slow, l.process_key, {PROCESS_COLUMNS}, t.tid,
  l.stack_id, {text}, CAST({sort} AS DOUBLE) AS sort_value
FROM user_lock l
LEFT JOIN process p ON p.process_key = l.process_key
LEFT JOIN thread t ON t.thread_key = l.thread_key{join}{conditions}
ORDER BY sort_value, coalesce(l.acquire_ns, l.release_ns), l.process_key, t.tid",
            conditions = filtered(&conditions),
        )
    }

    /// Asks for sums.
    ///
    /// # Errors
    /// The lock was not recorded; single acquisitions are needed, and the extract has none; the query fails.
    pub fn ask(&self, session: &Session) -> Result<Vec<UserLockRow>> {
        check(session, self.needs_rows())?;
        let mut rows = ask(session, &self.sql())?;
        self.top.cut(&mut rows);
        Ok(rows)
    }

    /// Asks for single acquisitions.
    ///
    /// # Errors
    /// Those of [`Self::ask`].
    pub fn ask_events(&self, session: &Session) -> Result<Vec<UserLockEvent>> {
        check(session, true)?;
        let mut rows = ask(session, &self.events_sql())?;
        self.top.cut(&mut rows);
        Ok(rows)
    }
}

fn check(session: &Session, needs_rows: bool) -> Result<()> {
    check_recorded(
        session,
        "user_lock_process",
        "acquisitions of the lock of the window manager",
        "record the provider Microsoft-Windows-Win32k with the keyword 0x10000000 (Contention), with stacks if they are wanted. \
                  Tens of thousands of events a second are usual; 0x2000000000 instead records only slow acquisitions",
    )?;
    check_rows(session, "user_lock", needs_rows, "acquisitions")
}
