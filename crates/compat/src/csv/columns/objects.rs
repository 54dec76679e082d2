//! Kernel objects, virtual memory, memory of processes.

use super::Columns;
use crate::csv::cell::Cell::*;

/// Names of events.
const EVENTS: &[(&str, &str)] = &[
    ("handle_create", "HandleCreateEvent"),
    ("handle_duplicate", "HandleDuplicateEvent"),
    ("handle_inherit", "HandleDuplicateEvent"),
    ("handle_close", "HandleCloseEvent"),
    ("object_create", "ObjectCreateEvent"),
    ("object_delete", "ObjectDeleteEvent"),
    ("reference", "RefCountChangeEvent"),
    ("dereference", "RefCountChangeEvent"),
    ("map", "FileMapEvent"),
    ("unmap", "FileUnmapEvent"),
    ("", "Existing Handle"),
];

/// One row for each event of an object or mapped file.
pub(crate) const OBJECT_REF: Columns = &[
    ("Id", Is("id")),
    ("Stack", Stack("stack_id", "stack")),
    ("EventName", Named("event", EVENTS)),
    ("Time", Is("ts_ns")),
    ("Thread Id", Is("event_tid")),
    ("Handle Value", Is("handle")),
    ("Type", Is("type_name")),
    ("Object Name", Is("name")),
    ("Object Ptr", Is("address")),
    // ETWAnalyzer spells the title like this, and the titles here have to be the same.
    ("SourceProces", Process("source_process", "source_pid")),
    ("SourceHandleValue", Is("source_handle")),
    ("ViewBase", If("is_map", &Is("address"))),
    ("ViewSize", Is("map_size_bytes")),
    ("File Object", Is("file_key")),
    ("File Offset", Is("map_offset_bytes")),
    ("RefChange", References),
    ("Lifetime in s (9999 is not closed)", Lifetime),
    ("MultiProcess", Bool("is_multi_process")),
    ("MaxRefCount", Empty),
    ("Overlapped (Opened multiple times)", More("max_open", 1)),
    ("Inherited by Process", Is("inherited_by")),
    ("Process", Process("event_process", "event_pid")),
    ("ProcessName", Is("event_process")),
    ("Start Time", Time("event_process_start_ns")),
    ("CommandLine", Arguments("event_command_line")),
];

pub(crate) const VIRTUAL_ALLOC: Columns = &[
    ("NotReleasedCount", Is("outstanding_commits")),
    ("NotReleasedSizeInBytes", Is("outstanding_bytes")),
    ("CommitCount", Is("commits")),
    ("CommitSizeInBytes", Is("commit_bytes")),
    ("FreedCount", Is("frees")),
    ("FreedSizeInBytes", Is("freed_bytes")),
    ("MaxCommitSizeInBytes", Is("max_commit_bytes")),
];

/// One row for each commit that was not released.
pub(crate) const ALLOCATION: Columns = &[
    ("StackIdx", Is("stack_id")),
    ("Stack", Is("stack")),
    ("Flags", Is("flags")),
    ("BaseAddress", Is("address")),
    ("SizeInBytes", Is("size_bytes")),
    ("TimeInS", Moment("ts_ns")),
];

pub(crate) const MEMORY: Columns = &[
    ("CSVOptions", Line),
    ("Time", Time("ts_ns")),
    ("Process", Process("process", "pid")),
    ("ProcessName", Is("process")),
    ("Session", Is("session_id")),
    ("Commit MiB", Mib("commit_bytes")),
    ("Shared CommitMiB", Mib("shared_commit_bytes")),
    ("Working Set MiB", Mib("working_set_bytes")),
    ("Working Set Private MiB", Mib("private_working_set_bytes")),
    ("CommandLine", Arguments("command_line")),
    ("Baseline", Baseline),
    ("TestCase", TestCase),
    ("Test Time in ms", TestTime),
    ("SourceJsonFile", Source),
    ("Machine", Machine),
];
