//! The window-manager lock: its waiters and holders, by process or thread, or single acquisitions.

use etwkit_question::Format::{FineMilliseconds, Id, Process, ProcessLine, Whole, Word};
use etwkit_question::Recorded;
use etwkit_question::declare;
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::sql::{Conditions, PROCESS_COLUMNS, ProcessQuery, stack_text, thread_columns};
use etwkit_question::{Column, Example, Form, Question, Ranked, View, frames, group, option};

declare! {
    /// Options of `dump user-lock`.
    #[derive(Eq)]
    pub request UserLockRequest {
        /// Process filter
        processes: ProcessQuery = group(),
        /// Number of rows, largest first
        top: Top = group(),
        /// Group rows by process or by thread
        by_thread: bool = option("WHAT").called("by").either("process", "thread").shape(),
        /// Only this mode
        mode: Option<String> = option("MODE").among(&["exclusive", "shared"]),
        /// Only acquisitions with this wait (ms)
        wait: Range = option("A..B").unit(Unit::Milliseconds),
        /// Only acquisitions after which the thread held the lock this long (ms)
        hold: Range = option("A..B").unit(Unit::Milliseconds),
        /// Only acquisitions in this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Only acquisitions whose stack has this frame: module!method, or its method alone (*, ?,
        /// several with ;, ! excludes)
        stack: Option<String> = option("FRAMES").called("stack-filter"),
        /// Single acquisitions
        details: bool = option("").excludes(&["by"]).shape(),
        /// With --details: stacks
        stacks: bool = option("").called("show-stack").requires("details").output(),
        /// Order; of single acquisitions wait, hold or time
        sort: UserLockSort = option("ORDER").called("sort-by").shape(),
        /// Sums after the rows: total, or none
        with_total: bool = option("WHAT").called("show-total").either("none", "total").output() => true,
    }

    /// Orders of sums and of single acquisitions.
    pub orders UserLockSort {
        "wait" => Wait: "wait_ns" / "coalesce(l.wait_ns, 0)" =
            "Sum of waits; of single acquisitions the wait.",
        "max-wait" => MaxWait: "coalesce(max_wait_ns, 0)" / "coalesce(l.wait_ns, 0)" = "Longest wait.",
        "hold" => Hold: "hold_ns" / "coalesce(l.hold_ns, 0)" =
            "Sum of holds; of single acquisitions the hold.",
        "max-hold" => MaxHold: "coalesce(max_hold_ns, 0)" / "coalesce(l.hold_ns, 0)" = "Longest hold.",
        "count" => Count: "acquisitions" / "coalesce(l.acquire_ns, l.release_ns)" = "Acquisitions.",
        "time" => Time: "wait_ns" / "coalesce(l.acquire_ns, l.release_ns)" =
            "Time of single acquisitions.",
    }

    /// Acquisitions of a process or thread.
    pub row UserLockRow: process {
        ..process = "Process; missing if it is not known.",
        tid: Option<i64> = "Thread id, with rows for each thread.",
        acquisitions: i64 = "Acquisitions.",
        exclusive: i64 = "Exclusive acquisitions.",
        shared: i64 = "Shared acquisitions.",
        slow: i64 = "Acquisitions that the system also logged as slow.",
        wait_ns: i64 = "Sum of waits.",
        max_wait_ns: Option<i64> = "Longest wait.",
        released: i64 = "Acquisitions with a release.",
        hold_ns: i64 = "Total time from these acquisitions to their releases.",
        max_hold_ns: Option<i64> = "Longest hold.",
        only_released: i64 = "Releases whose acquisition is not in the trace.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// An acquisition.
    pub row UserLockEvent: process {
        acquire_ns: Option<i64> = "When the thread got the lock; missing if only the release was recorded.",
        release_ns: Option<i64> = "When the thread released the lock, if that was recorded.",
        mode: Option<String> = "`exclusive` or `shared`.",
        wait_ns: Option<i64> = "How long the thread waited for the lock.",
        hold_ns: Option<i64> = "How long the thread held the lock.",
        told_hold_ns: Option<i64> =
            "Hold time as the release event reports it; older versions of Windows include the wait.",
        is_slow: bool = "Whether the system also logged it as slow.",
        ..process = "Process; missing if it is not known.",
        tid: Option<i64> = "Thread.",
        stack_id: Option<i64> = "Stack of the acquisition.",
        stack: Option<String> = "Frames of the stack, innermost first, if requested.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by.",
    }
}

type UserLockColumn = Column<UserLockRequest, UserLockRow>;

const SUMS: View<UserLockRequest, UserLockRow> = View::new(
    &[
        UserLockColumn::new("Wait", "Wait ms", FineMilliseconds, |_, row| {
            row.wait_ns.into()
        })
        .cost(),
        UserLockColumn::new("MaxWait", "Max ms", FineMilliseconds, |_, row| {
            row.max_wait_ns.into()
        })
        .worst(),
        UserLockColumn::new("Hold", "Hold ms", FineMilliseconds, |_, row| {
            row.hold_ns.into()
        })
        .cost(),
        UserLockColumn::new("MaxHold", "Max ms", FineMilliseconds, |_, row| {
            row.max_hold_ns.into()
        })
        .worst(),
        UserLockColumn::new("Count", "Count", Whole, |_, row| row.acquisitions.into()).sum(),
        UserLockColumn::new("Exclusive", "Exclusive", Whole, |_, row| {
            row.exclusive.into()
        })
        .sum()
        .hidden(),
        UserLockColumn::new("Shared", "Shared", Whole, |_, row| row.shared.into()).sum(),
        UserLockColumn::new("Slow", "Slow", Whole, |_, row| row.slow.into()).cost(),
        UserLockColumn::new("NotReleased", "Not released", Whole, |_, row| {
            row.acquisitions.saturating_sub(row.released).into()
        })
        .sum()
        .hidden(),
        UserLockColumn::new("OnlyReleased", "Only released", Whole, |_, row| {
            row.only_released.into()
        })
        .sum()
        .hidden(),
        UserLockColumn::new("Tid", "Tid", Id, |_, row| row.tid.into())
            .shown_if(|asked| asked.by_thread),
        UserLockColumn::new("Process", "Process", ProcessLine, |_, row| row.into()),
    ],
    |row| row.sort_value,
)
.with_sums(
    "Total: {Count|acquisition|acquisitions}, {Slow} of them slow, wait {Wait} ms, hold {Hold} ms",
    |asked, _| asked.with_total,
);

type UserLockEventColumn = Column<UserLockRequest, UserLockEvent>;

const ACQUISITIONS: View<UserLockRequest, UserLockEvent> = View::new(
    &[
        UserLockEventColumn::time("Time", |_, row| row.acquire_ns.or(row.release_ns).into()),
        UserLockEventColumn::new("Mode", "Mode", Word, |_, row| row.mode.clone().into())
            .or("(release)"),
        UserLockEventColumn::new("Wait", "Wait ms", FineMilliseconds, |_, row| {
            row.wait_ns.into()
        })
        .cost(),
        UserLockEventColumn::new("Hold", "Hold ms", FineMilliseconds, |_, row| {
            row.hold_ns.into()
        })
        .cost(),
        UserLockEventColumn::new(
            "ToldHold",
            "Reported hold ms",
            FineMilliseconds,
            |_, row| row.told_hold_ns.into(),
        )
        .cost()
        .hidden(),
        UserLockEventColumn::new("Slow", "Slow", Word, |_, row| {
            row.is_slow.then_some("slow").into()
        }),
        UserLockEventColumn::new("Tid", "Tid", Id, |_, row| row.tid.into()),
        UserLockEventColumn::new("Process", "Process", Process, |_, row| row.into()),
    ],
    |row| row.sort_value,
)
.ranking(|asked| {
    Ranked::rows_unless(matches!(
        asked.sort,
        UserLockSort::Count | UserLockSort::Time
    ))
})
.with_below(|_, row| frames(row.stack.as_deref()));

impl Question for UserLockRequest {
    const NAME: &'static str = "user-lock";
    const SENTENCE: &'static str =
        "The global lock of the window manager: who waited for it, who had it";
    const USUAL: &'static [&'static str] = &["mode", "wait", "hold"];
    const EXAMPLES: &'static [Example] = &[
        Example {
            words: "slow.etl",
            answer: "who waited for the window manager",
        },
        Example {
            words: "--details --wait 10ms.. slow.etl",
            answer: "single long waits",
        },
    ];

    fn form(&self) -> Form<Self> {
        let form = if self.details {
            Form::rows(&ACQUISITIONS, self.events_sql())
        } else {
            Form::rows(&SUMS, self.sql())
        };
        form.needs(&LOCK, self.details || self.needs_rows())
            .top(self.top)
    }
}

impl UserLockRequest {
    /// Returns conditions on single acquisitions, which sums of processes cannot answer.
    fn limits(&self) -> Conditions {
        Conditions::new()
            .known("l.wait_ns", self.wait)
            .known("l.hold_ns", self.hold)
            .time("coalesce(l.acquire_ns, l.release_ns)", self.time)
            .stack("l.stack_id", self.stack.as_deref())
    }

    fn needs_rows(&self) -> bool {
        self.by_thread || !self.limits().is_empty()
    }

    fn conditions(&self) -> Conditions {
        self.processes
            .conditions()
            .word("l.mode", self.mode.as_deref())
    }

    /// Returns the sums by process, or the acquisitions to add up to them.
    fn sums(&self) -> String {
        if !self.needs_rows() {
            return "SELECT *, CAST(NULL AS INT) AS thread_key FROM user_lock_process".to_owned();
        }
        // A row without a mode is a release whose acquisition is not in the trace: it has neither a
        // wait nor a hold, and does not count as an acquisition.
        format!(
            "SELECT l.process_key, l.thread_key, l.mode, CASE WHEN l.mode IS NULL THEN 0 ELSE 1 END AS acquisitions,
    CASE WHEN l.is_slow THEN 1 ELSE 0 END AS slow, coalesce(l.wait_ns, 0) AS wait_ns, l.wait_ns AS max_wait_ns,
    CASE WHEN l.hold_ns IS NULL THEN 0 ELSE 1 END AS released, coalesce(l.hold_ns, 0) AS hold_ns, l.hold_ns AS max_hold_ns,
    CASE WHEN l.mode IS NULL THEN 1 ELSE 0 END AS only_released
  FROM user_lock l{}",
            self.limits()
        )
    }

    /// Returns the SQL for sums.
    #[must_use]
    pub fn sql(&self) -> String {
        let sort = self.sort.sql();
        let thread = thread_columns("l", self.by_thread);
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
            conditions = self.conditions(),
        )
    }

    /// Returns the SQL for single acquisitions.
    #[must_use]
    pub fn events_sql(&self) -> String {
        let sort = self.sort.single_sql();
        let conditions = self.conditions().and(self.limits());
        let (text, join) = stack_text("l.stack_id", "stack", self.stacks);
        format!(
            "SELECT l.acquire_ns, l.release_ns, l.mode, l.wait_ns, l.hold_ns, l.told_hold_ns, l.is_slow, l.process_key, {PROCESS_COLUMNS}, t.tid,
  l.stack_id, {text}, CAST({sort} AS DOUBLE) AS sort_value
FROM user_lock l
LEFT JOIN process p ON p.process_key = l.process_key
LEFT JOIN thread t ON t.thread_key = l.thread_key{join}{conditions}
ORDER BY sort_value, coalesce(l.acquire_ns, l.release_ns), l.process_key, t.tid",
        )
    }
}

const LOCK: Recorded = Recorded {
    sums: "user_lock_process",
    rows: "user_lock",
    single: "acquisitions",
    what: "acquisitions of the lock of the window manager",
    how: "record the provider Microsoft-Windows-Win32k with the keyword 0x10000000 (Contention), with stacks if they are \
          wanted. Tens of thousands of events a second are usual; 0x2000000000 instead records only slow acquisitions",
};
