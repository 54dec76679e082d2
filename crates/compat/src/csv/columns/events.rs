//! Exceptions, marks, thread pools, self-describing events.

use super::Columns;
use crate::csv::cell::Cell::*;

/// One row for each exception.
pub(crate) const EXCEPTION: Columns = &[
    ("CSVOptions", Line),
    ("Time", Time("ts_ns")),
    ("Exception Type", Is("exception_type")),
    ("Message", Is("message")),
    ("Process", Process("process", "pid")),
    ("ProcessName", Is("process")),
    ("Thread", Is("tid")),
    ("Session", Is("session_id")),
    ("Start Time", Time("process_start_ns")),
    ("CommandLine", Is("command_line")),
    ("StackTrace", Frames("stack")),
    ("TestCase", TestCase),
    ("Baseline", Baseline),
    ("PerformedAt", Date),
    ("SourceJsonFile", Source),
];

pub(crate) const MARK: Columns = &[
    ("Mark Time", Time("ts_ns")),
    ("Time Diff To Zero in s", S("diff_to_zero_ns")),
    ("Mark Message", Is("text")),
];

pub(crate) const THREAD_POOL: Columns = &[
    ("ProcessName", Is("process")),
    ("Process", Process("process", "pid")),
    ("CommandLine", Arguments("command_line")),
    ("Starvation Time", Time("ts_ns")),
    ("ThreadCount", Is("worker_threads")),
];

/// One row for each event; the values of its fields follow.
pub(crate) const TRACE_LOG: Columns = &[
    ("Provider Name", Is("provider")),
    ("Provider Guid", Is("provider_guid")),
    ("EventName", Is("event")),
    ("Time", Time("ts_ns")),
    ("Thread Id", Is("tid")),
    ("Stack", Stack("stack_id", "stack")),
];
