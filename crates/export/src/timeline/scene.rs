//! Processes and threads of a timeline, with their names and lifetimes, and the names of code.

use std::collections::BTreeMap;

use etwkit_sql::Session;
use etwkit_sql::frames::TraceFrames;

use super::{TimelineSelection, sql};

/// The objects that items refer to.
#[derive(Debug)]
pub struct Scene<'s> {
    /// Name of the export.
    pub name: &'s str,
    /// True if all processes are exported: then the idle threads are also shown on processors.
    pub is_everyone: bool,
    /// Start of the trace, in nanoseconds since 1970; missing if it is not in the trace.
    pub start_unix_ns: Option<i64>,
    /// Shortest time that a sample represents; missing without samples.
    pub sampling_ns: Option<i64>,
    /// True if scheduling slices were recorded.
    pub has_slices: bool,
    /// Processes by key, including those that are not exported.
    pub processes: BTreeMap<i64, Process>,
    /// Threads by key, including those that are not exported: they make others ready.
    pub threads: BTreeMap<i64, Thread>,
    /// Frames and stacks.
    pub frames: &'s TraceFrames,
}

etwkit_question::declare! {
    /// A process.
    #[derive(Eq)]
    pub row Process {
        process_key: i64 = "Its key.",
        pid: i64 = "Process id, which other processes of the trace may have had.",
        parent_pid: Option<i64> = "Process id of the parent.",
        name: Option<String> = "What it is called.",
        command_line: Option<String> = "Command line.",
        start_ns: Option<i64> = "Start; missing if it ran before.",
        stop_ns: Option<i64> = "Stop; missing if it ran on.",
        main_thread_key: Option<i64> = "Its first thread, of one that ran before the one that was described first.",
        is_chosen: bool = "Whether it is exported and lived in the exported part of the trace.",
    }

    /// A thread.
    #[derive(Eq)]
    pub row Thread {
        thread_key: i64 = "Its key.",
        tid: i64 = "Thread id, which other threads of the trace may have had; 0 for the idle ones.",
        process_key: Option<i64> = "Its process, if that is known.",
        name: Option<String> = "The name that its program gave it.",
        start_ns: Option<i64> = "Start; missing if it ran before.",
        stop_ns: Option<i64> = "Stop; missing if it ran on.",
        is_chosen: bool = "Whether it is exported and lived in the exported part of the trace.",
    }

    /// Facts about the recording.
    row About {
        start_unix_us: Option<i64> = "Start in microseconds since 1970.",
    }

    /// Interval of samples.
    row Interval {
        sampling_ns: Option<i64> = "Shortest time that a sample stands for.",
    }
}

impl<'s> Scene<'s> {
    /// Queries the processes and threads.
    ///
    /// # Errors
    /// The query fails.
    pub(super) fn of(
        asked: TimelineSelection<'s>,
        session: &Session,
        frames: &'s TraceFrames,
    ) -> etwkit_question::Result<Self> {
        let about: Vec<About> = etwkit_question::ask(session, sql::ABOUT)?;
        let interval: Vec<Interval> = etwkit_question::ask(session, sql::INTERVAL)?;
        let processes: Vec<Process> = etwkit_question::ask(session, &sql::processes(asked))?;
        let threads: Vec<Thread> = etwkit_question::ask(session, &sql::threads(asked))?;
        let start_us = about.first().and_then(|about| about.start_unix_us);
        Ok(Self {
            name: asked.name,
            is_everyone: asked.processes.conditions().is_empty(),
            // The start is a number from the file and may be any.
            start_unix_ns: start_us.map(|us| us.saturating_mul(1000)),
            sampling_ns: interval.first().and_then(|interval| interval.sampling_ns),
            has_slices: etwkit_question::has_rows(session, "context_switch")?,
            processes: processes
                .into_iter()
                .map(|process| (process.process_key, process))
                .collect(),
            threads: threads
                .into_iter()
                .map(|thread| (thread.thread_key, thread))
                .collect(),
            frames,
        })
    }

    /// Returns the threads that are exported.
    pub fn chosen(&self) -> impl Iterator<Item = &Thread> {
        self.threads.values().filter(|thread| thread.is_chosen)
    }

    /// Returns a thread by its key.
    #[must_use]
    pub fn thread(&self, key: Option<i64>) -> Option<&Thread> {
        self.threads.get(&key?)
    }

    /// Returns the process of a thread, if both are known.
    #[must_use]
    pub fn process(&self, thread: Option<i64>) -> Option<&Process> {
        self.processes.get(&self.thread(thread)?.process_key?)
    }

    /// Returns a thread for people: `4711 of cmd.exe (4704)`.
    #[must_use]
    pub fn thread_label(&self, key: Option<i64>) -> Option<String> {
        let thread = self.thread(key)?;
        let process = self.process(key);
        let name = process
            .and_then(|process| process.name.as_deref())
            .unwrap_or("?");
        let pid = process.map_or_else(|| "?".to_owned(), |process| process.pid.to_string());
        Some(format!("{} of {name} ({pid})", thread.tid))
    }
}
