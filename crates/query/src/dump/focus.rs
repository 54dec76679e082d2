//! Where the focus of the user was: sums by process or thread, or single stays.

use super::rows::Field;
use super::sql::{PROCESS_COLUMNS, ProcessQuery, ends, filtered, told_condition};
use super::{Result, Top, ask, check_recorded};
use crate::Session;
use crate::question::Format::{Id, Moment, ProcessLine, Seconds, Whole};
use crate::question::{Answer, Column, Line, Question, View, Words, fields, group, option};
use crate::range::{Range, Unit};

/// Orders of sums and of single stays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FocusSort {
    /// Sums by duration, single stays by time.
    #[default]
    Usual,
    /// How long.
    Duration,
    /// Longest stay.
    Max,
    /// How many stays.
    Count,
    /// First stay, of single ones their begin.
    Time,
}

impl Words for FocusSort {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("default", Self::Usual),
        ("duration", Self::Duration),
        ("max", Self::Max),
        ("count", Self::Count),
        ("time", Self::Time),
    ];
}

request! {
    /// Which stays of the focus.
    #[derive(Eq)]
    pub struct FocusRequest {
        /// Which processes
        processes: ProcessQuery = group(),
        /// How many of the largest rows
        top: Top = group(),
        /// What a row is
        by_thread: bool = option("WHAT").called("by").either("process", "thread").shape(),
        /// Only stays that were so long (s)
        duration: Range = option("A..B").unit(Unit::Seconds),
        /// Only stays that reach into this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Seconds),
        /// Single stays, from when to when
        details: bool = option("").excludes(&["by"]).shape(),
        /// Order; without it sums by duration, single stays by time
        sort: FocusSort = option("ORDER").called("sort-by").shape(),
        /// Sums behind the rows: total, or none
        with_total: bool = option("WHAT").called("show-total").either("none", "total").output() => true,
    }
}

rows! {
    /// The focus of a process or thread.
    pub struct FocusRow: process {
        /// Process; missing if it is not known.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Thread id, with rows for each thread.
        tid: Option<i64>,
        /// Terminal session of the focus.
        session_id: Option<i64>,
        /// Stays.
        count: i64,
        /// Their length, of those whose length is known.
        duration_ns: i64,
        /// Longest one.
        max_duration_ns: Option<i64>,
        /// Begin of the first one; the start of the trace if it was there before.
        first_ns: i64,
        /// End of the last one; the end of the trace if it stayed.
        last_ns: i64,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Its command line.
        command_line: Option<String>,
        /// What the rows are sorted by.
        sort_value: f64,
    }

    /// A stay of the focus.
    pub struct FocusStay: process {
        /// Begin; missing if it was there before the trace, or that was not told.
        ts_ns: Option<i64>,
        /// End; missing if it stayed to the end of the trace, or that was not told.
        end_ns: Option<i64>,
        /// How long it was in the trace; missing if a change was not told.
        duration_ns: Option<i64>,
        /// `thread` or `process`: what was recorded.
        level: String,
        /// Process; missing if it is not known.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Thread, if threads were recorded.
        tid: Option<i64>,
        /// Terminal session of the focus.
        session_id: Option<i64>,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Its command line.
        command_line: Option<String>,
        /// What the rows are sorted by.
        sort_value: f64,
    }
}

type Sum = Column<FocusRequest, FocusRow>;

const SUMS: View<FocusRequest, FocusRow> = View::new(
    &[
        Sum::new("Duration", "Duration s", Seconds(3), |_, row| row.duration_ns.into()).sum(),
        Sum::new("Max", "Longest s", Seconds(3), |_, row| row.max_duration_ns.into()),
        Sum::new("Count", "Count", Whole, |_, row| row.count.into()).sum(),
        Sum::new("First", "First", Moment, |_, row| row.first_ns.into()),
        Sum::new("Last", "Last", Moment, |_, row| row.last_ns.into()),
        Sum::new("Session", "Session", Whole, |_, row| row.session_id.into()).hidden(),
        Sum::new("Tid", "Tid", Id, |_, row| row.tid.into()).shown_if(|asked| asked.by_thread),
        Sum::new("Process", "Process", ProcessLine, |_, row| row.into()),
    ],
    |row| row.sort_value,
)
.with_total(|asked, rows, _| {
    let sum = |of: fn(&FocusRow) -> i64| rows.iter().map(|row| of(row)).fold(0, i64::saturating_add);
    total(asked, sum(|row| row.count), sum(|row| row.duration_ns))
});

type Single = Column<FocusRequest, FocusStay>;

const SINGLE_STAYS: View<FocusRequest, FocusStay> = View::new(
    &[
        Single::new("From", "From", Moment, |_, row| row.ts_ns.into()),
        Single::new("To", "To", Moment, |_, row| row.end_ns.into()),
        Single::new("Duration", "Duration s", Seconds(3), |_, row| row.duration_ns.into()).sum().or("?"),
        Single::new("Session", "Session", Whole, |_, row| row.session_id.into()).hidden(),
        Single::new("Tid", "Tid", Id, |_, row| row.tid.into()),
        Single::new("Process", "Process", ProcessLine, |_, row| row.into()),
    ],
    |row| row.sort_value,
)
.with_total(|asked, rows, _| {
    let known = rows.iter().filter_map(|row| row.duration_ns);
    total(asked, rows.len() as i64, known.fold(0, i64::saturating_add))
});

/// How long all of it was, if that is asked for.
fn total(asked: &FocusRequest, stays: i64, duration_ns: i64) -> Vec<Line> {
    let line =
        Line::new("Total: ").value(Seconds(3), duration_ns).words(" s in ").whole(stays).words(" stays");
    if asked.with_total { vec![line] } else { Vec::new() }
}

impl Question for FocusRequest {
    const NAME: &'static str = "focus";
    const SENTENCE: &'static str = "Which program had the focus, from when to when";

    fn show_sql(&self) -> String {
        if self.details { self.stays_sql() } else { self.sql() }
    }

    fn fields(&self) -> Vec<Field> {
        if self.details { fields::<FocusStay>() } else { fields::<FocusRow>() }
    }

    fn answer(&self, session: &Session) -> Result<Answer> {
        if self.details {
            return Ok(Answer::rows(self, &SINGLE_STAYS, self.ask_stays(session)?));
        }
        Ok(Answer::rows(self, &SUMS, self.ask(session)?))
    }

    fn top(&self) -> Top {
        self.top
    }
}

/// Stays with the ends of what was extracted in place of those that are missing. Threads are taken where they were recorded: rows of processes tell of the same focus.
const STAYS: &str = "stay AS (
  SELECT f.*,
    coalesce(f.ts_ns, CASE WHEN f.duration_ns IS NULL THEN f.end_ns ELSE coalesce(f.end_ns, r.stop_ns) - f.duration_ns END) AS from_ns,
    coalesce(f.end_ns, CASE WHEN f.duration_ns IS NULL THEN f.ts_ns ELSE r.stop_ns END) AS to_ns
  FROM focus_change f
  CROSS JOIN (SELECT coalesce(range_end_ns, duration_ns) AS stop_ns FROM trace) r
  WHERE f.level = (SELECT max(level) FROM focus_change)
)";

impl FocusRequest {
    fn conditions(&self) -> String {
        let mut all = self.processes.conditions();
        all.extend(told_condition("f.duration_ns", self.duration));
        if !self.time.is_unlimited() {
            let (a, b) = ends(self.time);
            all.push(format!("f.from_ns <= {b} AND f.to_ns >= {a}"));
        }
        filtered(&all)
    }

    /// The question for sums.
    #[must_use]
    pub fn sql(&self) -> String {
        let sort = match self.sort {
            FocusSort::Usual | FocusSort::Duration => "duration_ns",
            FocusSort::Max => "coalesce(max_duration_ns, 0)",
            FocusSort::Count => "count",
            FocusSort::Time => "first_ns",
        };
        let thread = if self.by_thread {
            "f.thread_key, t.tid"
        } else {
            "CAST(NULL AS INT) AS thread_key, CAST(NULL AS INT) AS tid"
        };
        let keys = "process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, thread_key, tid";
        let process = PROCESS_COLUMNS.replace("p.session_id", "f.session_id");
        format!(
            "WITH {STAYS}
SELECT *, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT {keys}, count(*) AS count, coalesce(sum(duration_ns), 0) AS duration_ns, max(duration_ns) AS max_duration_ns, min(from_ns) AS first_ns,
  max(to_ns) AS last_ns
FROM (
  SELECT f.process_key, {process}, {thread}, f.duration_ns, f.from_ns, f.to_ns
  FROM stay f
  LEFT JOIN process p ON p.process_key = f.process_key
  LEFT JOIN thread t ON t.thread_key = f.thread_key{conditions}
)
GROUP BY {keys}
)
ORDER BY sort_value, duration_ns, first_ns, process_key, thread_key, session_id",
            conditions = self.conditions(),
        )
    }

    /// The question for single stays.
    #[must_use]
    pub fn stays_sql(&self) -> String {
        let sort = match self.sort {
            FocusSort::Usual if self.details => "f.from_ns",
            FocusSort::Usual | FocusSort::Duration | FocusSort::Max => "coalesce(f.duration_ns, 0)",
            FocusSort::Count | FocusSort::Time => "f.from_ns",
        };
        let process = PROCESS_COLUMNS.replace("p.session_id", "f.session_id");
        format!(
            "WITH {STAYS}
SELECT f.ts_ns, f.end_ns, f.duration_ns, f.level, f.process_key, {process}, t.tid, CAST({sort} AS DOUBLE) AS sort_value
FROM stay f
LEFT JOIN process p ON p.process_key = f.process_key
LEFT JOIN thread t ON t.thread_key = f.thread_key{conditions}
ORDER BY sort_value, f.from_ns, f.to_ns, f.session_id, f.process_key, t.tid",
            conditions = self.conditions(),
        )
    }

    /// Asks for sums.
    ///
    /// # Errors
    /// The focus was not recorded; the query fails.
    pub fn ask(&self, session: &Session) -> Result<Vec<FocusRow>> {
        check(session)?;
        let mut rows = ask(session, &self.sql())?;
        self.top.cut(&mut rows);
        Ok(rows)
    }

    /// Asks for single stays.
    ///
    /// # Errors
    /// Those of [`Self::ask`].
    pub fn ask_stays(&self, session: &Session) -> Result<Vec<FocusStay>> {
        check(session)?;
        let mut rows = ask(session, &self.stays_sql())?;
        self.top.cut(&mut rows);
        Ok(rows)
    }
}

fn check(session: &Session) -> Result<()> {
    check_recorded(
        session,
        "focus_change",
        "changes of the focus",
        "record the provider Microsoft-Windows-Win32k with the keyword 0x2000 (Focus), or 0x20000 (UserActivity) for processes alone; \
              where that was recorded, the focus did not move",
    )
}
