//! Rows of kernel objects, their events, and handles by type.

use etwkit_question::declare;
declare! {
    /// A kernel object or a mapped file.
    pub row ObjectRow: process {
        id: i64 = "Number; objects and mapped files are counted on their own.",
        is_map: bool = "Whether it is a mapped file.",
        address: String =
            "Address of the object, or first address of the mapped file, in hexadecimal digits.",
        type_name: Option<String> = "Type; of mapped files `FileMapping`.",
        name: Option<String> = "Name, of mapped files the path.",
        map_size_bytes: Option<i64> = "Bytes of the mapped file.",
        map_offset_bytes: Option<i64> = "Position of the mapping in the file.",
        file_key: Option<String> = "Number of the file in events, in hexadecimal digits.",
        created_ns: Option<i64> = "First event that created it.",
        destroyed_ns: Option<i64> = "Last event that ended it, if it ended.",
        lifetime_ns: Option<i64> = "From creation to end.",
        creates: i64 = "Handles that were created; of mapped files 1 if it was mapped in the trace.",
        duplicates: i64 = "Handles that were duplicated or inherited.",
        closes: i64 = "Handles that were closed; of mapped files 1 if it was unmapped in the trace.",
        reference_changes: i64 = "Changes of references.",
        reference_balance: i64 = "Sum of references taken less those given back.",
        leaked: i64 = "Handles, or mapped files, that were created in the trace and open at its end.",
        preexisting: i64 = "Handles that were open before the trace.",
        preexisting_owners: i64 = "Processes that had these handles.",
        max_open: i64 = "Most handles that were open at one time.",
        is_multi_process: bool = "Whether several processes caused events.",
        inherited_by: Option<String> = "Process that inherited a handle.",
        ..process = "Process that created it; missing if that is not in the trace.",
        ..process_details,
    }

    /// An event of an object; an object that is only known from lists of open handles has one row
    /// without an event.
    pub row ObjectEvent {
        object: ObjectRow = "The object.",
        ts_ns: Option<i64> = "Time.",
        event: Option<String> =
            "`handle_create`, `handle_duplicate`, `handle_inherit`, `handle_close`, `object_create`, \
             `object_delete`, `reference`, `dereference`, `map` or `unmap`.",
        event_pid: Option<i64> = "Process that did it.",
        event_process: Option<String> = "Name of that process.",
        event_process_start_ns: Option<i64> = "Start of that process, if in the trace.",
        event_command_line: Option<String> = "Command line of that process.",
        event_tid: Option<i64> = "Thread that did it.",
        handle: Option<String> = "Handle, in hexadecimal digits.",
        owner_pid: Option<i64> = "Process that has the handle.",
        owner_process: Option<String> = "Name of the owner.",
        source_pid: Option<i64> = "Process of the handle that was duplicated.",
        source_process: Option<String> = "Name of that process.",
        source_handle: Option<String> = "Handle that was duplicated, in hexadecimal digits.",
        is_leaked: Option<bool> = "Whether the handle, or mapped file, was open at the end.",
        count: Option<i64> = "References.",
        tag: Option<String> = "Who holds them.",
        stack_id: Option<i64> = "Stack of the event.",
        stack: Option<String> = "Frames of the stack, innermost first, if requested.",
        sort_value: f64 = "What objects are sorted by.",
    }

    /// Handles by process and type, or by type.
    pub row HandleTypeRow: process {
        ..process = "Process, with rows for each process; missing if it is not known.",
        type_name: Option<String> = "Type.",
        created: i64 = "Handles that were created in the trace.",
        duplicated_in: i64 = "Handles that were duplicated into the process.",
        closed: i64 = "Handles of both that were closed in the trace.",
        closed_preexisting: i64 = "Handles that were open before the trace and closed in it.",
        leaked: i64 = "Handles that were created or duplicated in the trace and open at its end.",
        preexisting: i64 = "Handles that were open before the trace and at its end.",
        lifetime_ns: i64 = "Sum of lifetimes of the closed ones.",
        max_lifetime_ns: Option<i64> = "Longest lifetime.",
        ..process_details,
        sort_value: f64 = "What the rows are sorted by: handles that are open at the end.",
    }
}
