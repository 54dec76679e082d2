//! The global lock of the window manager: who waited for it and who had it, by process or thread, or single acquisitions.

use super::rows::Field;
use super::sql::{
    PROCESS_COLUMNS, ProcessQuery, ends, filtered, quoted, stack_condition, stack_text, told_condition,
};
use super::{Result, Top, ask, check_recorded, check_rows};
use crate::Session;
use crate::question::Format::{FineMilliseconds, Id, Process, ProcessLine, Whole, Word};
use crate::question::{Answer, Column, Line, Question, View, Words, fields, frames, group, option};
use crate::range::{Range, Unit};

request! {
    /// Which acquisitions.
    #[derive(Eq)]
    pub struct UserLockRequest {
        /// Which processes
        processes: ProcessQuery = group(),
        /// How many of the largest rows
        top: Top = group(),
        /// What a row is
        by_thread: bool = option("WHAT").called("by").either("process", "thread").shape(),
        /// Only this mode
        mode: Option<String> = option("MODE").among(&["exclusive", "shared"]),
        /// Only acquisitions that waited so long (ms)
        wait: Range = option("A..B").unit(Unit::Milliseconds),
        /// Only acquisitions after which the thread had the lock so long (ms)
        hold: Range = option("A..B").unit(Unit::Milliseconds),
        /// Only acquisitions in this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Seconds),
        /// Only acquisitions whose stack has such a frame: module!method, or its method alone (*, ?, several with ;, ! excludes)
        stack: Option<String> = option("FRAMES").called("stack-filter"),
        /// Single acquisitions
        details: bool = option("").excludes(&["by"]).shape(),
        /// With --details: stacks
        stacks: bool = option("").called("show-stack").requires("details").output(),
        /// Order; of single acquisitions wait, hold or time
        sort: UserLockSort = option("ORDER").called("sort-by").shape(),
        /// Sums behind the rows: total, or none
        with_total: bool = option("WHAT").called("show-total").either("none", "total").output() => true,
    }
}

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

impl Words for UserLockSort {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("wait", Self::Wait),
        ("max-wait", Self::MaxWait),
        ("hold", Self::Hold),
        ("max-hold", Self::MaxHold),
        ("count", Self::Count),
        ("time", Self::Time),
    ];
}

rows! {
    /// Acquisitions of a process or thread.
    pub struct UserLockRow: process {
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
    pub struct UserLockEvent: process {
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

type Sum = Column<UserLockRequest, UserLockRow>;

const SUMS: View<UserLockRequest, UserLockRow> = View::new(
    &[
        Sum::new("Wait", "Wait ms", FineMilliseconds, |_, row| row.wait_ns.into()).cost(),
        Sum::new("MaxWait", "Longest ms", FineMilliseconds, |_, row| row.max_wait_ns.into()).worst(),
        Sum::new("Hold", "Hold ms", FineMilliseconds, |_, row| row.hold_ns.into()).cost(),
        Sum::new("MaxHold", "Longest ms", FineMilliseconds, |_, row| row.max_hold_ns.into()).worst(),
        Sum::new("Count", "Count", Whole, |_, row| row.acquisitions.into()).sum(),
        Sum::new("Exclusive", "Exclusive", Whole, |_, row| row.exclusive.into()).sum().hidden(),
        Sum::new("Shared", "Shared", Whole, |_, row| row.shared.into()).sum(),
        Sum::new("Slow", "Slow", Whole, |_, row| row.slow.into()).cost(),
        Sum::new("NotReleased", "Not released", Whole, |_, row| {
            row.acquisitions.saturating_sub(row.released).into()
        })
        .sum()
        .hidden(),
        Sum::new("OnlyReleased", "Only released", Whole, |_, row| row.only_released.into()).sum().hidden(),
        Sum::new("Tid", "Tid", Id, |_, row| row.tid.into()).shown_if(|asked| asked.by_thread),
        Sum::new("Process", "Process", ProcessLine, |_, row| row.into()),
    ],
    |row| row.sort_value,
)
.with_total(|asked, rows, _| {
    let sum = |of: fn(&UserLockRow) -> i64| rows.iter().map(|row| of(row)).fold(0, i64::saturating_add);
    let total = Line::new("Total: ")
        .whole(sum(|row| row.acquisitions))
        .words(" acquisitions, ")
        .whole(sum(|row| row.slow))
        .words(" of them slow, wait ")
        .value(FineMilliseconds, sum(|row| row.wait_ns))
        .words(" ms, hold ")
        .value(FineMilliseconds, sum(|row| row.hold_ns))
        .words(" ms");
    if asked.with_total { vec![total] } else { Vec::new() }
});

type Single = Column<UserLockRequest, UserLockEvent>;

const ACQUISITIONS: View<UserLockRequest, UserLockEvent> = View::new(
    &[
        Single::time("Time", |_, row| row.acquire_ns.or(row.release_ns).into()),
        Single::new("Mode", "Mode", Word, |_, row| row.mode.clone().into()).or("(release)"),
        Single::new("Wait", "Wait ms", FineMilliseconds, |_, row| row.wait_ns.into()).cost(),
        Single::new("Hold", "Hold ms", FineMilliseconds, |_, row| row.hold_ns.into()).cost(),
        Single::new("ToldHold", "Hold as told ms", FineMilliseconds, |_, row| row.told_hold_ns.into())
            .cost()
            .hidden(),
        Single::new("Slow", "Slow", Word, |_, row| row.is_slow.then_some("slow").into()),
        Single::new("Tid", "Tid", Id, |_, row| row.tid.into()),
        Single::new("Process", "Process", Process, |_, row| row.into()),
    ],
    |row| row.sort_value,
)
.with_below(|_, row| frames(row.stack.as_deref()));

impl Question for UserLockRequest {
    const NAME: &'static str = "user-lock";
    const SENTENCE: &'static str = "The global lock of the window manager: who waited for it, who had it";

    fn show_sql(&self) -> String {
        if self.details { self.events_sql() } else { self.sql() }
    }

    fn fields(&self) -> Vec<Field> {
        if self.details { fields::<UserLockEvent>() } else { fields::<UserLockRow>() }
    }

    fn answer(&self, session: &Session) -> Result<Answer> {
        if self.details {
            return Ok(Answer::rows(self, &ACQUISITIONS, self.ask_events(session)?));
        }
        Ok(Answer::rows(self, &SUMS, self.ask(session)?))
    }

    fn top(&self) -> Top {
        self.top
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
