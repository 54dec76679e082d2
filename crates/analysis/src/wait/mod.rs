//! Waits: single waits, and sums by process, thread, method, module, stack tag, reason or the
//! thread that ended them.

mod by_code;
mod grouping;
mod question;
mod window;

use etwkit_question::group::Top;
use etwkit_question::range::Range;
use etwkit_question::{ProcessQuery, ask};
use etwkit_sql::Session;

use crate::Result;
use crate::trace_end::check;

/// The grouping of the waits of a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WaitBy {
    /// Process.
    #[default]
    Process,
    /// Thread.
    Thread,
    /// Method: any frame of the stack with which threads were switched in, once for each stack.
    Method,
    /// Module: the file of any frame of that stack, once for each stack.
    Module,
    /// Stack tag of the stack with which threads were switched in, of each set of tags.
    Tag,
    /// Wait reason.
    Reason,
    /// Process of the thread that ended the wait.
    Readying,
    /// Thread that ended the wait.
    ReadyingThread,
}

/// Orders of sums and of single waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WaitSort {
    /// Time in which at least one thread waited; for single waits their length.
    #[default]
    Wait,
    /// Sum of the waits.
    WaitSum,
    /// Longest wait.
    WaitMax,
    /// Mean wait.
    WaitMean,
    /// Time in which at least one thread was ready; for single waits the ready time of the thread.
    Ready,
    /// Sum of the ready times.
    ReadySum,
    /// Longest ready time.
    ReadyMax,
    /// Number of waits.
    Count,
    /// Longest wait that was still open at the end.
    Open,
    /// Start of the first wait.
    Time,
}

/// A query for waits: filters, grouping and order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WaitRequest {
    /// Processes that waited.
    pub processes: ProcessQuery,
    /// Thread id of the thread that waited.
    pub tid: Option<i64>,
    /// Wait reasons: a [`TextFilter`](etwkit_sql::filter::TextFilter) on their names or numbers.
    pub reason: Option<String>,
    /// Methods: only waits with a matching frame in the stack: `method`, `module!method` or
    /// `module+0x1a2b`.
    pub method: Option<String>,
    /// Stack tags: a [`TextFilter`](etwkit_sql::filter::TextFilter) on the tags of the stack of
    /// the switch-in. For sums by tag it chooses rows, otherwise waits with at least one matching
    /// tag.
    pub tag: Option<String>,
    /// Sets of stack tags, by name; the default is the built-in one. The session must know them
    /// ([`Session::use_tags`]).
    pub tag_sets: Vec<String>,
    /// Their grouping.
    pub by: WaitBy,
    /// Only this range of the trace, in nanoseconds; intervals are clipped to it.
    pub time: Range,
    /// Only rows whose wait is in this range, in nanoseconds: for sums the union, for single waits
    /// the wait itself.
    pub wait: Range,
    /// Only rows whose ready time is in this range, in nanoseconds.
    pub ready: Range,
    /// Only rows whose number of waits is in this range.
    pub count: Range,
    /// Only rows whose longest wait is in this range, in nanoseconds.
    pub max: Range,
    /// True for single waits without switch-outs of preempted threads, which have only a ready
    /// time.
    pub only_waits: bool,
    /// Order.
    pub sort: WaitSort,
    /// Number of rows, largest first.
    pub top: Top,
}

etwkit_question::declare! {
    /// Waits, summed up.
    pub row WaitSum: process {
        ..process = "Key of the process that waited; missing for threads whose process is not known.",
        thread_key: Option<i64> = "Thread key, by thread.",
        tid: Option<i64> = "Thread id, by thread.",
        module: Option<String> = "Module, by method and module; missing where no file was mapped.",
        method: Option<String> =
            "Method, by method: its name; without one the offset in the module or the address, as `+0x1a2b`.",
        tag_set: Option<String> = "Set of stack tags, by tag.",
        tag: Option<String> = "Stack tag, by tag: its path, separated by `\\`.",
        wait_reason: Option<String> = "Wait reason, by reason.",
        ended_by: Option<String> =
            "Who ended the waits, by readying thread or process: `thread`, `dpc`, `open` or `not_recorded`.",
        readying_pid: Option<i64> = "Process id of who ended the waits.",
        readying_process: Option<String> = "File name of the executable of who ended the waits.",
        readying_tid: Option<i64> = "Thread id of who ended the waits, by readying thread.",
        waits: i64 = "Waits of known length.",
        wait_ns: i64 = "Time in which at least one thread waited: the union.",
        wait_sum_ns: i64 = "Sum of the waits.",
        wait_max_ns: Option<i64> = "Longest wait.",
        wait_mean_ns: Option<i64> = "Mean wait, rounded down.",
        ready_ns: i64 = "Time in which at least one thread was ready and had no processor: the union.",
        ready_sum_ns: i64 = "Sum of the ready times.",
        ready_max_ns: Option<i64> = "Longest ready time.",
        preemptions: i64 = "Switch-ins after a thread had been preempted: ready, not waiting.",
        unknown: i64 = "Waits that no event separates from the ready time; not in the sums.",
        open_waits: i64 = "Waits that were still open when the trace ended.",
        open_max_ns: Option<i64> = "Longest open wait, up to the end of the trace or range; not in the sums.",
        threads: i64 = "Number of threads.",
        first_ns: Option<i64> = "Start of the first wait.",
        process_start_ns: Option<i64> = "Start of the process, if in the trace.",
        process_stop_ns: Option<i64> = "End of the process, if in the trace.",
        command_line: Option<String> = "Command line.",
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// A single wait. A range chooses the waits that reach into it; they are shown in full.
    pub row WaitRow: process {
        ..process = "Key of the process; missing for threads whose process is not known.",
        thread_key: i64 = "Thread key.",
        tid: Option<i64> = "Thread id.",
        start_ns: i64 = "When the thread was switched out.",
        readied_ns: Option<i64> = "When it was made ready; missing if it was preempted, or if no event says it.",
        in_ns: Option<i64> = "When it was switched in; missing for an open wait.",
        wait_ns: Option<i64> =
            "How long it waited, an open wait up to the end of the trace; missing where it is not known.",
        ready_ns: Option<i64> = "How long it was ready.",
        wait_reason: Option<String> = "Wait reason.",
        is_open_wait: bool = "Whether the wait was still open when the trace ended.",
        ended_by: Option<String> =
            "Who ended the wait: `thread`, `dpc`, `open` or `not_recorded`; missing for a preempted thread.",
        readying_pid: Option<i64> =
            "Process id of the thread that ended the wait; for a DPC, of the thread that it interrupted.",
        readying_process: Option<String> = "File name of the executable of who ended the wait.",
        readying_tid: Option<i64> = "Thread id of who ended the wait.",
        stack_id: Option<i64> = "Stack with which it was switched in.",
        readying_stack_id: Option<i64> = "Stack that made it ready.",
        process_start_ns: Option<i64> = "Start of the process, if in the trace.",
        process_stop_ns: Option<i64> = "End of the process, if in the trace.",
        command_line: Option<String> = "Command line.",
        sort_value: f64 = "What the rows are sorted by.",
    }
}

impl WaitRequest {
    /// Queries sums.
    ///
    /// # Errors
    /// Context switches or ready events were not recorded, or are not kept; the query fails.
    pub fn ask(&self, session: &Session) -> Result<Vec<WaitSum>> {
        self.ask_holding(session, by_code::HELD_WAITS)
    }

    /// Queries sums, those by method or module with about `held` waits in memory.
    ///
    /// # Errors
    /// The errors of [`WaitRequest::ask`].
    pub fn ask_holding(&self, session: &Session, held: i64) -> Result<Vec<WaitSum>> {
        // Without ready events all lengths would be missing, which looks like an idle machine.
        check(session)?;
        let mut rows = match self.by {
            // By code in memory: a join of stacks with their frames would multiply the rows of each
            // wait.
            WaitBy::Method | WaitBy::Module => by_code::sums(self, session, held)?,
            _ => ask(session, &self.sql())?,
        };
        // After the sums: the largest of them are known only now.
        self.top.cut(&mut rows);
        Ok(rows)
    }

    /// Queries single waits, ascending; a wait that was still open lasts up to the end of the
    /// trace.
    ///
    /// # Errors
    /// The errors of [`WaitRequest::ask`].
    pub fn list(&self, session: &Session) -> Result<Vec<WaitRow>> {
        check(session)?;
        let mut rows: Vec<WaitRow> = ask(session, &self.list_sql())?;
        if self.top.most().is_some() {
            // With a limit the SQL sorts them in descending order, so that the engine keeps only
            // the largest.
            rows.reverse();
        }
        self.top.cut(&mut rows);
        Ok(rows)
    }
}
