//! System calls: sums by function, process, thread or status, or single calls.

use super::sql::{
    PROCESS_COLUMNS, ProcessQuery, any_text_condition, ends, filtered, range_condition, status_condition,
};
use super::{Error, Result, Top, ask, has_rows};
use crate::Session;
use crate::range::Range;

/// What a row is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SyscallBy {
    /// All calls of a function.
    #[default]
    Function,
    /// All calls of a process.
    Process,
    /// All calls of a thread.
    Thread,
    /// All calls that returned the same.
    Status,
}

/// Orders of sums and of single calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SyscallSort {
    /// Sum of durations; of single calls their duration.
    #[default]
    Duration,
    /// Calls.
    Count,
    /// Calls that failed.
    Failed,
    /// Longest call.
    Max,
    /// Mean duration.
    Mean,
    /// Time of the entry, of single calls.
    Time,
}

/// Which calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SyscallRequest {
    /// Which processes.
    pub processes: ProcessQuery,
    /// Which functions: a filter on `name`, `module!name` or `module+0x1a2b`.
    pub function: Option<String>,
    /// Which results: numbers, names of statuses, `failed`, with `;` and `!`.
    pub status: Option<String>,
    /// Only this thread id.
    pub thread: Option<u32>,
    /// Duration of a call in nanoseconds. A call that did not end in the trace has none and is left out by a limit.
    pub duration: Range,
    /// Only calls that began in this part of the trace, in nanoseconds; where the begin is not known, that ended in it.
    pub time: Range,
    /// Calls of a row.
    pub count: Range,
    /// Rows of sums.
    pub by: SyscallBy,
    /// Rows for each process, with functions and statuses.
    pub per_process: bool,
    /// Order.
    pub sort: SyscallSort,
    /// How many of the largest rows.
    pub top: Top,
    /// With the stacks of entries, of single calls.
    pub stacks: bool,
}

rows! {
    /// Calls of a function, process, thread or with the same result.
    pub struct SyscallRow {
        /// Process, with rows for each process; missing if it is not known.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Thread id, with rows for each thread.
        tid: Option<i64>,
        /// File name of the module of the function.
        module: Option<String>,
        /// Function; without a name the offset in the module, as `+0x1a2b`. Missing for calls whose entry is not in the trace.
        function: Option<String>,
        /// What was returned, with rows for each result.
        status: Option<i64>,
        /// Its name; digits where it has none.
        status_name: Option<String>,
        /// Calls with entry and exit.
        count: i64,
        /// Those of them that failed: their status is an error or a warning.
        failures: i64,
        /// Those that left the kernel on another processor.
        moved: i64,
        /// Sum of durations.
        duration_ns: i64,
        /// Shortest.
        min_duration_ns: Option<i64>,
        /// Longest.
        max_duration_ns: Option<i64>,
        /// Mean.
        mean_duration_ns: Option<f64>,
        /// Half of them were not longer.
        p50_duration_ns: Option<i64>,
        /// 90 per cent of them were not longer.
        p90_duration_ns: Option<i64>,
        /// 95 per cent of them were not longer.
        p95_duration_ns: Option<i64>,
        /// 99 per cent of them were not longer.
        p99_duration_ns: Option<i64>,
        /// Calls whose entry is not in the trace.
        open_at_start: i64,
        /// Calls whose exit is not in the trace.
        open_at_end: i64,
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

    /// A call.
    pub struct SyscallCall {
        /// Entry; missing if it is not in the trace.
        enter_ns: Option<i64>,
        /// Exit; missing if it is not in the trace.
        exit_ns: Option<i64>,
        /// From entry to exit.
        duration_ns: Option<i64>,
        /// Process; missing if it is not known.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Thread id.
        tid: Option<i64>,
        /// File name of the module of the function.
        module: Option<String>,
        /// Function; without a name the offset in the module, as `+0x1a2b`. Missing for a call whose entry is not in the trace.
        function: Option<String>,
        /// What it returned, as signed number.
        status: Option<i64>,
        /// Its name; digits where it has none.
        status_name: Option<String>,
        /// Processor of the entry.
        enter_cpu: Option<i64>,
        /// Processor of the exit.
        exit_cpu: Option<i64>,
        /// Stack of the entry, innermost frame first, if it is asked for.
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

/// Percentiles of a row.
const PERCENTILES: [u32; 4] = [50, 90, 95, 99];

impl SyscallRequest {
    fn conditions(&self) -> Vec<String> {
        let mut all = self.processes.conditions();
        all.extend(any_text_condition(&["function", "full_name"], self.function.as_deref()));
        all.extend(self.status.as_deref().and_then(|filter| status_condition("s.status", filter)));
        all.extend(self.thread.map(|tid| format!("t.tid = {}", tid.cast_signed())));
        if !self.duration.is_unlimited() {
            all.push("duration_ns IS NOT NULL".to_owned());
            all.extend(range_condition("duration_ns", self.duration));
        }
        if !self.time.is_unlimited() {
            let (a, b) = ends(self.time);
            all.push(format!("coalesce(enter_ns, exit_ns) BETWEEN {a} AND {b}"));
        }
        all
    }

    /// The calls that are asked for.
    fn calls(&self) -> String {
        format!(
            "call AS (
  SELECT s.*, {PROCESS_COLUMNS}, t.tid, CASE WHEN s.status IS NULL THEN NULL ELSE ntstatus_name(s.status) END AS status_name
  FROM (
    SELECT s.*, d.name AS module,
      CASE WHEN s.frame_id IS NULL THEN NULL ELSE coalesce(m.name, concat('+', hex(coalesce(f.rva, f.address)))) END AS function,
      CASE WHEN s.frame_id IS NULL THEN NULL
        WHEN m.name IS NULL THEN concat(coalesce(d.name, ''), '+', hex(coalesce(f.rva, f.address)))
        ELSE concat(coalesce(d.name, '?'), '!', m.name) END AS full_name
    FROM syscall s
    LEFT JOIN frame f ON f.frame_id = s.frame_id
    LEFT JOIN method m ON m.method_id = f.method_id
    LEFT JOIN module d ON d.module_id = f.module_id
  ) s
  LEFT JOIN process p ON p.process_key = s.process_key
  LEFT JOIN thread t ON t.thread_key = s.thread_key{conditions}
)",
            conditions = filtered(&self.conditions())
        )
    }

    /// Columns of a call that tell rows apart, with what stands in the others.
    fn keys(&self) -> String {
        let with_process = matches!(self.by, SyscallBy::Process | SyscallBy::Thread) || self.per_process;
        let column = |is_key: bool, name: &str, kind: &str| {
            if is_key { name.to_owned() } else { format!("CAST(NULL AS {kind}) AS {name}") }
        };
        let is_function = self.by == SyscallBy::Function;
        let is_status = self.by == SyscallBy::Status;
        [
            column(with_process, "process_key", "INT"),
            column(with_process, "pid", "INT"),
            column(with_process, "process", "VARCHAR"),
            column(with_process, "command_line", "VARCHAR"),
            column(with_process, "session_id", "INT"),
            column(with_process, "process_start_ns", "BIGINT"),
            column(with_process, "process_stop_ns", "BIGINT"),
            column(self.by == SyscallBy::Thread, "thread_key", "INT"),
            column(self.by == SyscallBy::Thread, "tid", "INT"),
            column(is_function, "module", "VARCHAR"),
            column(is_function, "function", "VARCHAR"),
            column(is_status, "status", "INT"),
            column(is_status, "status_name", "VARCHAR"),
        ]
        .join(", ")
    }

    /// The question for sums.
    #[must_use]
    pub fn sql(&self) -> String {
        let keys = "process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, thread_key, tid, module, \
                    function, status, status_name";
        let percentile = |percent: u32| {
            // The value at (n - 1) * percent / 100, between two values in proportion.
            let at = |more: u32| {
                format!("max(duration_ns) FILTER (WHERE place = (ended - 1) * {percent} / 100 + {more})")
            };
            let (low, high) = (at(0), at(1));
            format!(
                "{low} + (coalesce({high}, {low}) - {low}) * ((max(ended) - 1) * {percent} % 100) / 100 AS p{percent}_duration_ns"
            )
        };
        format!(
            "WITH {calls},
ranked AS (
  SELECT *, row_number() OVER (PARTITION BY {keys} ORDER BY duration_ns NULLS LAST) - 1 AS place,
    count(duration_ns) OVER (PARTITION BY {keys}) AS ended
  FROM (SELECT {own_keys}, enter_ns, exit_ns, duration_ns, result, enter_cpu, exit_cpu FROM (SELECT *, status AS result FROM call))
)
SELECT *, CAST({sort} AS DOUBLE) AS sort_value
FROM (
SELECT {keys},
  count(duration_ns) AS count,
  count(*) FILTER (WHERE duration_ns IS NOT NULL AND result < 0) AS failures,
  count(*) FILTER (WHERE duration_ns IS NOT NULL AND enter_cpu <> exit_cpu) AS moved,
  coalesce(sum(duration_ns), 0) AS duration_ns, min(duration_ns) AS min_duration_ns, max(duration_ns) AS max_duration_ns,
  CAST(sum(duration_ns) AS DOUBLE) / nullif(count(duration_ns), 0) AS mean_duration_ns,
  {percentiles},
  count(*) FILTER (WHERE enter_ns IS NULL) AS open_at_start, count(*) FILTER (WHERE exit_ns IS NULL) AS open_at_end
FROM ranked
GROUP BY {keys}
){limits}
ORDER BY sort_value, duration_ns, count, module, function, status, process_key, thread_key",
            calls = self.calls(),
            own_keys = self.keys(),
            sort = self.sort_value(),
            percentiles = PERCENTILES.map(percentile).join(",\n  "),
            limits = filtered(&range_condition("count", self.count).into_iter().collect::<Vec<_>>()),
        )
    }

    const fn sort_value(&self) -> &'static str {
        match self.sort {
            SyscallSort::Duration | SyscallSort::Time => "duration_ns",
            SyscallSort::Count => "count",
            SyscallSort::Failed => "failures",
            SyscallSort::Max => "coalesce(max_duration_ns, 0)",
            SyscallSort::Mean => "coalesce(mean_duration_ns, 0)",
        }
    }

    /// The question for sums of an extract that has no single calls.
    fn sums_sql(&self) -> String {
        let mut conditions = self.processes.conditions();
        conditions.extend(any_text_condition(&["s.function", "s.full_name"], self.function.as_deref()));
        let with_process = self.by == SyscallBy::Process || self.per_process;
        let process = super::sql::process_columns("s", with_process);
        let function = if self.by == SyscallBy::Function {
            "s.module, s.function"
        } else {
            "CAST(NULL AS VARCHAR) AS module, CAST(NULL AS VARCHAR) AS function"
        };
        let keys = "process_key, pid, process, command_line, session_id, process_start_ns, process_stop_ns, module, function";
        format!(
            "SELECT *, CAST({sort} AS DOUBLE) AS sort_value FROM (
SELECT {keys}, CAST(NULL AS INT) AS tid, CAST(NULL AS INT) AS status, CAST(NULL AS VARCHAR) AS status_name,
  sum(count) AS count, sum(failures) AS failures, sum(moved) AS moved, sum(duration_ns) AS duration_ns,
  min(min_duration_ns) AS min_duration_ns, max(max_duration_ns) AS max_duration_ns,
  CAST(sum(duration_ns) AS DOUBLE) / nullif(sum(count), 0) AS mean_duration_ns,
  {percentiles},
  sum(open_at_start) AS open_at_start, sum(open_at_end) AS open_at_end
FROM (
  SELECT {process}, {function}, s.count, s.failures, s.moved, s.duration_ns, s.min_duration_ns, s.max_duration_ns, s.open_at_start, s.open_at_end
  FROM (
    SELECT *, CASE WHEN starts_with(function, '+') THEN concat(coalesce(module, ''), function)
      ELSE concat(coalesce(module, '?'), '!', function) END AS full_name
    FROM syscall_function
  ) s
  LEFT JOIN process p ON p.process_key = s.process_key{conditions}
)
GROUP BY {keys}
){limits}
ORDER BY sort_value, duration_ns, count, module, function, process_key",
            sort = self.sort_value(),
            percentiles = PERCENTILES.map(|p| format!("CAST(NULL AS BIGINT) AS p{p}_duration_ns")).join(", "),
            conditions = filtered(&conditions),
            limits = filtered(&range_condition("count", self.count).into_iter().collect::<Vec<_>>()),
        )
    }

    /// The question for single calls.
    #[must_use]
    pub fn calls_sql(&self) -> String {
        let (stack, join) = if self.stacks {
            ("x.text AS stack", "\nLEFT JOIN stack_text x ON x.stack_id = call.stack_id")
        } else {
            ("CAST(NULL AS VARCHAR) AS stack", "")
        };
        let order = match self.sort {
            SyscallSort::Time => "coalesce(enter_ns, exit_ns)",
            _ => "coalesce(duration_ns, -1), coalesce(enter_ns, exit_ns)",
        };
        format!(
            "WITH {}
SELECT call.*, {stack}
FROM call{join}
ORDER BY {order}, process_key, thread_key",
            self.calls()
        )
    }

    /// Whether sums of an extract without single calls tell too little.
    fn needs_calls(&self) -> bool {
        self.status.is_some()
            || self.thread.is_some()
            || !self.duration.is_unlimited()
            || !self.time.is_unlimited()
            || matches!(self.by, SyscallBy::Thread | SyscallBy::Status)
    }

    /// Asks for sums. Of an extract without single calls they lack percentiles.
    ///
    /// # Errors
    /// No system calls were recorded; single calls are needed, and the extract has none; the query fails.
    pub fn ask(&self, session: &Session) -> Result<Vec<SyscallRow>> {
        let has_calls = check(session, self.needs_calls())?;
        let mut rows = ask(session, &if has_calls { self.sql() } else { self.sums_sql() })?;
        self.top.cut(&mut rows);
        Ok(rows)
    }

    /// Asks for single calls.
    ///
    /// # Errors
    /// Those of [`Self::ask`].
    pub fn ask_calls(&self, session: &Session) -> Result<Vec<SyscallCall>> {
        check(session, true)?;
        let mut rows = ask(session, &self.calls_sql())?;
        self.top.cut(&mut rows);
        Ok(rows)
    }
}

/// Whether there are single calls; an error if there is nothing, or if they are needed.
fn check(session: &Session, needs_calls: bool) -> Result<bool> {
    let has_calls = has_rows(session, "syscall")?;
    match (has_calls, has_calls || has_rows(session, "syscall_function")?) {
        (_, false) => Err(Error::NotRecorded {
            what: "system calls",
            how: "record with the kernel keywords SYSCALL+CSWITCH+PROC_THREAD+LOADER, with `-stackwalk SyscallEnter` for their stacks: \
                  `xperf -on SYSCALL+CSWITCH+PROC_THREAD+LOADER -stackwalk SyscallEnter`",
        }),
        (false, true) if needs_calls => Err(Error::NeedsRows { what: "system calls" }),
        _ => Ok(has_calls),
    }
}
