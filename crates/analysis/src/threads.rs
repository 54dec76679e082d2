//! Threads and their processes by key.

use std::collections::HashMap;

use etwkit_question::sql::Conditions;
use etwkit_question::{ProcessQuery, ask};
use etwkit_sql::Session;

use crate::Result;

etwkit_question::declare! {
    /// A thread with its process.
    pub row Thread {
        thread_key: i64 = "Key of the thread.",
        tid: i64 = "Thread id.",
        ..process = "Key of its process; missing if not known.",
        start_ns: Option<i64> = "Start of the thread, if in the trace.",
        process_start_ns: Option<i64> = "Start of the process, if in the trace.",
        creator_thread_key: Option<i64> = "Key of the thread that created it, if known.",
        process_stop_ns: Option<i64> = "End of the process, if in the trace.",
        command_line: Option<String> = "Command line.",
    }
}

/// All threads of an extract.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    all: HashMap<i32, Thread>,
}

const COLUMNS: &str = "SELECT t.thread_key, t.tid, t.process_key, p.pid, p.name AS process, t.start_ns, \
     p.start_ns AS process_start_ns, t.creator_thread_key, p.stop_ns AS process_stop_ns, p.command_line
FROM thread t LEFT JOIN process p ON p.process_key = t.process_key";

impl Threads {
    /// Reads all threads.
    pub(crate) fn load(session: &Session) -> Result<Self> {
        let rows: Vec<Thread> = ask(session, COLUMNS)?;
        let key = |thread: &Thread| i32::try_from(thread.thread_key).ok();
        Ok(Self {
            all: rows
                .into_iter()
                // A key that does not fit cannot come from an extract of this program.
                .filter_map(|thread| Some((key(&thread)?, thread)))
                .collect(),
        })
    }

    /// Returns the thread with that key.
    pub(crate) fn get(&self, thread_key: i32) -> Option<&Thread> {
        self.all.get(&thread_key)
    }

    /// Returns `true` if it is the idle thread of processors, which waits for nothing.
    pub(crate) fn is_idle(&self, thread_key: i32) -> bool {
        self.get(thread_key).is_some_and(|thread| thread.tid == 0)
    }

    /// Returns threads of processes that pass the filters, without idle threads, ordered by key.
    pub(crate) fn chosen(
        session: &Session,
        processes: &ProcessQuery,
        tid: Option<i64>,
    ) -> Result<Vec<Thread>> {
        let conditions = Conditions::of("t.tid <> 0")
            .and(processes.conditions())
            .number("t.tid", tid);
        ask(
            session,
            &format!("{COLUMNS}{conditions}\nORDER BY t.thread_key"),
        )
    }
}
