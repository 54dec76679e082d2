//! Waits: single waits, and sums by process, thread, method, module, stack tag, reason or the
//! thread that ended them.

mod by_code;
mod chains;
mod grouping;
mod question;
mod single;
mod sql;
mod sums;
mod window;

use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::{Among, ProcessQuery, ask, group, option};
use etwkit_sql::Session;

use crate::Result;
use crate::trace_end::check;

etwkit_question::declare! {
    /// The grouping of the waits of a process.
    pub words WaitBy {
        "process" => Process = "Process.",
        "thread" => Thread = "Thread.",
        "method" => Method = "Method: any frame of the stack with which threads were switched in, once for each stack.",
        "module" => Module = "Module: the file of any frame of that stack, once for each stack.",
        "tag" => Tag = "Stack tag of the stack with which threads were switched in, of each set of tags.",
        "reason" => Reason = "Wait reason.",
        "readying" => Readying = "Process of the thread that ended the wait.",
        "readying-thread" => ReadyingThread = "Thread that ended the wait.",
        "wait" => Wait = "No grouping: single waits.",
    }

    /// Orders of sums and of single waits.
    pub words WaitSort {
        "wait" => Wait = "Time in which at least one thread waited; for single waits their length.",
        "wait-sum" => WaitSum = "Sum of the waits.",
        "max" => WaitMax = "Longest wait.",
        "mean" => WaitMean = "Mean wait.",
        "ready" => Ready = "Time in which at least one thread was ready; for single waits the ready time of the thread.",
        "ready-sum" => ReadySum = "Sum of the ready times.",
        "ready-max" => ReadyMax = "Longest ready time.",
        "count" => Count = "Number of waits.",
        "open" => Open = "Longest wait that was still open at the end.",
        "time" => Time = "Start of the first wait.",
    }

    /// A query for waits: filters, grouping and order.
    pub request WaitRequest {
        /// Processes that waited
        processes: ProcessQuery = group(),
        /// Number of rows, largest first
        top: Top = group(),
        /// Only waits of the thread with this id
        tid: Option<i64> = option("TID").called("thread").of(Among::THREADS),
        /// Only waits for these reasons, by name or number (*, ?, several with ;, ! excludes)
        reason: Option<String> = option("REASONS"),
        /// Only waits with this method in the stack: method, module!method or module+0x1a2b (*, ?,
        /// several with ;)
        method: Option<String> = option("NAMES"),
        /// Only waits with these stack tags, paths separated by \ (*, ?, several with ;, !
        /// excludes)
        tag: Option<String> = option("TAGS").of(Among::TAGS),
        /// Also tag stacks by the rules of this file (.stacktags of Windows Performance Analyzer);
        /// can be repeated
        stack_tag_file: Vec<String> = option("FILE").called("stack-tag-file").shape(),
        /// Rows: sums of each process by this, or single waits
        by: WaitBy = option("WHAT").shape(),
        /// The longest waits, each with the thread that ended it and the wait of that thread, down
        /// to the root
        chain: bool = option("").excludes(&["by"]).shape(),
        /// With --chain: also start from sleeps and waits of idle pools, and show at each step the
        /// other waits, which explain less than the one that is followed
        all_waits: bool = option("").called("all-waits").requires("chain").shape(),
        /// Order
        sort: WaitSort = option("ORDER").called("sort-by").shape(),
        /// Only rows with this waiting time (ms without a unit)
        wait: Range = option("A..B").unit(Unit::Milliseconds),
        /// Only rows with this ready time (ms)
        ready: Range = option("A..B").unit(Unit::Milliseconds),
        /// Only rows with this number of waits
        count: Range = option("A..B").unit(Unit::Count),
        /// Only rows whose longest wait is this long (ms)
        max: Range = option("A..B").unit(Unit::Milliseconds),
        /// Only this part of the trace (s); intervals are clipped to it
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Show all frames of stacks
        stacks: bool = option("").called("show-stack").also(&["stacks"]).output(),
        /// Also show sums over threads, ready times, preemptions and the number of threads
        details: bool = option("").output(),
    }
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

/// Returns the end of a wait.
fn ended_by(
    kind: Option<&str>,
    process: Option<&str>,
    pid: Option<i64>,
    tid: Option<i64>,
) -> String {
    match kind {
        Some("thread") => {
            let thread = tid.map_or_else(String::new, |tid| format!(" thread {tid}"));
            let pid = pid.map_or_else(String::new, |pid| format!("({pid})"));
            format!("{}{pid}{thread}", process.unwrap_or("(unknown)"))
        }
        Some("dpc") => "(DPC)".into(),
        Some("open") => "(still open)".into(),
        Some(_) => "(not recorded)".into(),
        None => "(preempted)".into(),
    }
}
