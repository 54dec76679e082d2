//! Exceptions of .NET programs: equal ones together, or each one.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::exception_filter::{ExceptionFilters, Thrown};
use super::group::{Group, grouped};
use super::sql::{
    EXECUTABLE_TEXT, EXECUTABLES, ProcessQuery, filtered, process_columns_from, range_condition,
    stack_condition, text_condition,
};
use super::zero::ZeroTime;
use super::{Result, Top, ask, check_recorded};
use crate::Session;
use crate::frames::TraceFrames;
use crate::range::Range;

/// Orders of exceptions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ExceptionSort {
    /// How many: processes by all of theirs, in them types by all of that type, then messages.
    #[default]
    Count,
    /// Name of the process, then type and message.
    Process,
    /// Processes by number, in them the name of the type, then how many.
    Type,
    /// Processes by number, in them the message.
    Message,
}

/// Which exceptions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExceptionRequest {
    /// Which processes.
    pub processes: ProcessQuery,
    /// A filter on types.
    pub exception_type: Option<String>,
    /// A filter on messages; one line has to match.
    pub message: Option<String>,
    /// A filter on frames of stacks: one has to match, none an excluding pattern.
    pub stack: Option<String>,
    /// A filter on path, version, product and company of the executable.
    pub modules: Option<String>,
    /// Rules that leave some out. They are applied to the rows of the answer, so that the SQL has all.
    pub filters: Option<Arc<ExceptionFilters>>,
    /// When they were thrown, in nanoseconds behind the zero of times.
    pub time: Range,
    /// What becomes second 0 of times.
    pub zero: ZeroTime,
    /// Whether the same exception with another stack is a row of its own in [`ExceptionRequest::ask`].
    pub by_stack: bool,
    /// Order of [`ExceptionRequest::ask`].
    pub sort: ExceptionSort,
    /// How many rows from the end of the list, of each process where equal ones are together.
    pub top: Top,
}

rows! {
    /// Exceptions of one process with the same type and message, and with the same stack if that is asked
    /// for.
    pub struct ExceptionRow {
        /// Process; missing if it is not known.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Type with namespace.
        exception_type: String,
        /// Message.
        message: String,
        /// How many were thrown.
        count: i64,
        /// How many of them were thrown again.
        rethrown: i64,
        /// Time of the first one.
        first_ns: i64,
        /// Time of the last one.
        last_ns: i64,
        /// Threads that threw them.
        threads: i64,
        /// Times of all of them in their order, with blanks between.
        times_ns: String,
        /// Thread ids in the same order.
        tids: String,
        /// HRESULT of one of them, as bit pattern.
        hresult: Option<i64>,
        /// Stack, in rows by stack.
        stack_id: Option<i64>,
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
        /// What rows are sorted by with [`ExceptionSort::Count`].
        sort_value: f64,
    }

    /// An exception.
    pub struct ThrownRow {
        /// When it was thrown.
        ts_ns: i64,
        /// Process; missing if it is not known.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Thread id.
        tid: Option<i64>,
        /// Type with namespace.
        exception_type: String,
        /// Message.
        message: String,
        /// HRESULT as bit pattern.
        hresult: Option<i64>,
        /// Flags: 1 has an inner exception, 2 nested, 4 thrown again, 8 corrupts state, 16 CLS-compliant.
        flags: i64,
        /// Stack.
        stack_id: Option<i64>,
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
    }
}

/// Exceptions by process; the sum is their number.
pub type ExceptionAnswer = Vec<Group<ExceptionRow, i64>>;

/// An answer, and how many exceptions rules have left out of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept<A> {
    /// What is left.
    pub answer: A,
    /// Exceptions that rules have left out.
    pub left_out: i64,
}

impl ExceptionRequest {
    /// The chosen exceptions, one row for each.
    fn chosen(&self) -> String {
        let mut conditions = self.processes.conditions();
        conditions.extend(text_condition("e.exception_type", self.exception_type.as_deref()));
        conditions.extend(text_condition("e.message", self.message.as_deref()));
        conditions.extend(stack_condition("e.stack_id", self.stack.as_deref()));
        conditions.extend(text_condition(EXECUTABLE_TEXT, self.modules.as_deref()));
        conditions.extend(range_condition(&self.zero.moved("e.ts_ns"), self.time));
        format!(
            "SELECT {ts}, e.process_key, {process}, t.tid, e.thread_key, e.exception_type, e.message, e.hresult, e.flags, e.stack_id,
    v.path AS module_path, v.file_version, v.product_name, v.company, v.product_version, v.description
  FROM exception e
  LEFT JOIN process p ON p.process_key = e.process_key
  LEFT JOIN thread t ON t.thread_key = e.thread_key{EXECUTABLES}{zero}{conditions}",
            ts = self.zero.column_as("e.ts_ns", "ts_ns"),
            process = process_columns_from(&self.zero),
            zero = self.zero.join(),
            conditions = filtered(&conditions),
        )
    }

    /// The question for equal exceptions together.
    #[must_use]
    pub fn sql(&self) -> String {
        let order = match self.sort {
            ExceptionSort::Count => {
                "process_count, process_key, type_count, exception_type, count, first_ns, message, stack_id"
            }
            ExceptionSort::Process => {
                "lower(process), pid, process_key, exception_type, message, first_ns, stack_id"
            }
            ExceptionSort::Type => {
                "process_count, process_key, exception_type, count, first_ns, message, stack_id"
            }
            ExceptionSort::Message => {
                "process_count, process_key, message, exception_type, first_ns, stack_id"
            }
        };
        // Rules look at stacks: rows that they leave are put together behind them.
        let (stack, by_stack) = if self.by_stack || self.has_rules() {
            ("stack_id", ", stack_id")
        } else {
            ("CAST(NULL AS INTEGER) AS stack_id", "")
        };
        format!(
            "SELECT *, sum(count) OVER (PARTITION BY process_key) AS process_count,
  sum(count) OVER (PARTITION BY process_key, exception_type) AS type_count, CAST(count AS DOUBLE) AS sort_value
FROM (
SELECT process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns,
  exception_type, message, {stack},
  module_path, file_version, product_name, company, product_version, description,
  count(*) AS count, count(*) FILTER (WHERE flags & 4 <> 0) AS rethrown, min(ts_ns) AS first_ns, max(ts_ns) AS last_ns,
  count(DISTINCT thread_key) AS threads, min(hresult) AS hresult,
  string_agg(CAST(ts_ns AS VARCHAR), ' ' ORDER BY ts_ns, thread_key) AS times_ns,
  string_agg(coalesce(CAST(tid AS VARCHAR), '?'), ' ' ORDER BY ts_ns, thread_key) AS tids
FROM (
  {}
)
GROUP BY process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns,
  exception_type, message{by_stack},
  module_path, file_version, product_name, company, product_version, description
)
ORDER BY {order}",
            self.chosen()
        )
    }

    /// The question for each exception, in the order of time.
    #[must_use]
    pub fn list_sql(&self) -> String {
        format!("{}\nORDER BY ts_ns, e.thread_key", self.chosen())
    }

    /// Asks for equal exceptions together.
    ///
    /// # Errors
    /// No exceptions were recorded; the query fails.
    pub fn ask(&self, session: &Session) -> Result<Kept<ExceptionAnswer>> {
        check(session)?;
        let mut rows: Vec<ExceptionRow> = ask(session, &self.sql())?;
        let left_out = self.leave_out(session, &mut rows, ExceptionRow::thrown, |row| row.count)?;
        if self.has_rules() && !self.by_stack {
            rows = without_stacks(rows);
        }
        if self.has_rules() {
            self.order_again(&mut rows);
        }
        let count = |rows: &[ExceptionRow]| rows.iter().map(|row| row.count).sum();
        Ok(Kept { answer: grouped(rows, |row| row.process_key, self.top, count), left_out })
    }

    /// Asks for each exception.
    ///
    /// # Errors
    /// No exceptions were recorded; the query fails.
    pub fn list(&self, session: &Session) -> Result<Kept<Vec<ThrownRow>>> {
        check(session)?;
        let mut rows = ask(session, &self.list_sql())?;
        let left_out = self.leave_out(session, &mut rows, ThrownRow::thrown, |_| 1)?;
        self.top.cut(&mut rows);
        Ok(Kept { answer: rows, left_out })
    }

    fn has_rules(&self) -> bool {
        self.filters.as_deref().is_some_and(|filters| !filters.is_empty())
    }

    /// Takes rows away that the rules leave out, and counts their exceptions. All exceptions of a row have the same process, type,
    /// message and stack.
    fn leave_out<R>(
        &self,
        session: &Session,
        rows: &mut Vec<R>,
        thrown: impl Fn(&R) -> (Thrown<'_>, Option<i64>),
        count: impl Fn(&R) -> i64,
    ) -> Result<i64> {
        let Some(filters) = self.filters.as_deref().filter(|filters| !filters.is_empty()) else {
            return Ok(0);
        };
        let frames = session.frames()?;
        let text = |stack_id: Option<i64>| {
            let stack = stack_id.and_then(|id| i32::try_from(id).ok()).zip(frames.trace(0));
            let lines = |(id, trace): (i32, &TraceFrames)| -> Vec<String> {
                trace.stack(id).map(|frame| trace.text(frame)).collect()
            };
            stack.map(lines).unwrap_or_default().join("\n")
        };
        let mut left_out = 0;
        rows.retain(|row| {
            let (thrown, stack_id) = thrown(row);
            let is_left_out = filters.leave_out(thrown, || text(stack_id));
            left_out += if is_left_out { count(row) } else { 0 };
            !is_left_out
        });
        Ok(left_out)
    }

    /// Brings rows of which some were taken away into the order of their numbers again.
    fn order_again(&self, rows: &mut [ExceptionRow]) {
        let (mut of_process, mut of_type) = (HashMap::new(), HashMap::new());
        for row in rows.iter() {
            *of_process.entry(row.process_key).or_insert(0) += row.count;
            *of_type.entry((row.process_key, row.exception_type.clone())).or_insert(0) += row.count;
        }
        let process = |row: &ExceptionRow| {
            (of_process.get(&row.process_key).copied(), row.process_key.is_none(), row.process_key)
        };
        let kind = |row: &ExceptionRow| of_type.get(&(row.process_key, row.exception_type.clone())).copied();
        let text = |text: &str| text.to_owned();
        let size = |row: &ExceptionRow| (row.count, row.first_ns, row.message.clone(), row.stack_id);
        match self.sort {
            ExceptionSort::Process => {}
            ExceptionSort::Type => {
                rows.sort_by_cached_key(|row| (process(row), text(&row.exception_type), size(row)));
            }
            ExceptionSort::Message => {
                let rest = |row: &ExceptionRow| (text(&row.exception_type), row.first_ns, row.stack_id);
                rows.sort_by_cached_key(|row| (process(row), text(&row.message), rest(row)));
            }
            ExceptionSort::Count => {
                rows.sort_by_cached_key(|row| {
                    (process(row), kind(row), text(&row.exception_type), size(row))
                });
            }
        }
    }
}

/// Rows that differ in their stacks only become one.
fn without_stacks(rows: Vec<ExceptionRow>) -> Vec<ExceptionRow> {
    let mut places: HashMap<(Option<i64>, String, String), usize> = HashMap::new();
    let mut equal: Vec<Vec<ExceptionRow>> = Vec::new();
    for row in rows {
        let next = equal.len();
        let key = (row.process_key, row.exception_type.clone(), row.message.clone());
        match equal.get_mut(*places.entry(key).or_insert(next)) {
            Some(known) => known.push(row),
            None => equal.push(vec![row]),
        }
    }
    equal.into_iter().filter_map(ExceptionRow::together).collect()
}

impl ExceptionRow {
    /// Equal exceptions with several stacks as one row.
    fn together(rows: Vec<Self>) -> Option<Self> {
        let thrown = |row: &Self| -> Vec<(i64, String)> {
            let times = row.times_ns.split(' ').filter_map(|time| time.parse().ok());
            times.zip(row.tids.split(' ').map(str::to_owned)).collect()
        };
        let mut all: Vec<(i64, String)> = rows.iter().flat_map(thrown).collect();
        all.sort_by_key(|(time, _)| *time);
        let tids: HashSet<&str> = all.iter().map(|(_, tid)| tid.as_str()).collect();
        let threads = i64::try_from(tids.len()).unwrap_or(i64::MAX);
        let texts = |part: fn(&(i64, String)) -> String| all.iter().map(part).collect::<Vec<_>>().join(" ");
        let (times_ns, tids) = (texts(|(time, _)| time.to_string()), texts(|(_, tid)| tid.clone()));
        let mut one = rows.into_iter().reduce(|one, other| Self {
            count: one.count.saturating_add(other.count),
            rethrown: one.rethrown.saturating_add(other.rethrown),
            first_ns: one.first_ns.min(other.first_ns),
            last_ns: one.last_ns.max(other.last_ns),
            hresult: one.hresult.into_iter().chain(other.hresult).min(),
            ..one
        })?;
        (one.stack_id, one.threads, one.times_ns, one.tids) = (None, threads, times_ns, tids);
        one.sort_value = one.count as f64;
        Some(one)
    }

    fn thrown(&self) -> (Thrown<'_>, Option<i64>) {
        let process = self.process.as_deref().unwrap_or_default();
        let thrown = Thrown { process, exception_type: &self.exception_type, message: &self.message };
        (thrown, self.stack_id)
    }
}

impl ThrownRow {
    fn thrown(&self) -> (Thrown<'_>, Option<i64>) {
        let process = self.process.as_deref().unwrap_or_default();
        let thrown = Thrown { process, exception_type: &self.exception_type, message: &self.message };
        (thrown, self.stack_id)
    }
}

fn check(session: &Session) -> Result<()> {
    check_recorded(
        session,
        "exception",
        ".NET exceptions",
        "record the provider Microsoft-Windows-DotNETRuntime with the keyword 0x8000 (Exception) and stacks, for example \
              `wpr -start DotNET`",
    )
}
