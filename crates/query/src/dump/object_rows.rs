//! Rows of kernel objects, their events, and handles by type.

rows! {
    /// A kernel object or a mapped file.
    pub struct ObjectRow: process {
        /// Number; objects and mapped files are counted on their own.
        id: i64,
        /// Whether it is a mapped file.
        is_map: bool,
        /// Address of the object, or first address of the mapped file, in hexadecimal digits.
        address: String,
        /// Type; of mapped files `FileMapping`.
        type_name: Option<String>,
        /// Name, of mapped files the path.
        name: Option<String>,
        /// Bytes of the mapped file.
        map_size_bytes: Option<i64>,
        /// Its position in the file.
        map_offset_bytes: Option<i64>,
        /// Number of the file in events, in hexadecimal digits.
        file_key: Option<String>,
        /// First event that created it.
        created_ns: Option<i64>,
        /// Last event that ended it, if it ended.
        destroyed_ns: Option<i64>,
        /// From the one to the other.
        lifetime_ns: Option<i64>,
        /// Handles that were created; of mapped files 1 if it was mapped in the trace.
        creates: i64,
        /// Handles that were duplicated or inherited.
        duplicates: i64,
        /// Handles that were closed; of mapped files 1 if it was unmapped in the trace.
        closes: i64,
        /// Changes of references.
        reference_changes: i64,
        /// Sum of references taken less those given back.
        reference_balance: i64,
        /// Handles, or mapped files, that were created in the trace and open at its end.
        leaked: i64,
        /// Handles that were open before the trace.
        preexisting: i64,
        /// Processes that had those.
        preexisting_owners: i64,
        /// Most handles that were open at one time.
        max_open: i64,
        /// Whether events are of several processes.
        is_multi_process: bool,
        /// Process that inherited a handle.
        inherited_by: Option<String>,
        /// Process that created it; missing if that is not in the trace.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Its terminal session.
        session_id: Option<i64>,
        /// Its command line.
        command_line: Option<String>,
    }

    /// An event of an object; an object that is only known from lists of open handles has one row without an event.
    pub struct ObjectEvent {
        /// The object.
        object: ObjectRow,
        /// Time.
        ts_ns: Option<i64>,
        /// `handle_create`, `handle_duplicate`, `handle_inherit`, `handle_close`, `object_create`, `object_delete`, `reference`, `dereference`,
        /// `map` or `unmap`.
        event: Option<String>,
        /// Process that did it.
        event_pid: Option<i64>,
        /// Its name.
        event_process: Option<String>,
        /// Start of that process, if in the trace.
        event_process_start_ns: Option<i64>,
        /// Its command line.
        event_command_line: Option<String>,
        /// Thread that did it.
        event_tid: Option<i64>,
        /// Handle, in hexadecimal digits.
        handle: Option<String>,
        /// Process that has the handle.
        owner_pid: Option<i64>,
        /// Its name.
        owner_process: Option<String>,
        /// Process of the handle that was duplicated.
        source_pid: Option<i64>,
        /// Its name.
        source_process: Option<String>,
        /// Handle that was duplicated, in hexadecimal digits.
        source_handle: Option<String>,
        /// Whether the handle, or mapped file, was open at the end.
        is_leaked: Option<bool>,
        /// References.
        count: Option<i64>,
        /// Who holds them.
        tag: Option<String>,
        /// The stack.
        stack_id: Option<i64>,
        /// Its frames, innermost first, if they are asked for.
        stack: Option<String>,
        /// What objects are sorted by.
        sort_value: f64,
    }

    /// Handles by process and type, or by type.
    pub struct HandleTypeRow: process {
        /// Process, with rows for each process; missing if it is not known.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Type.
        type_name: Option<String>,
        /// Handles that were created in the trace.
        created: i64,
        /// Handles that were duplicated into the process.
        duplicated_in: i64,
        /// Handles of both that were closed in the trace.
        closed: i64,
        /// Handles that were open before the trace and closed in it.
        closed_preexisting: i64,
        /// Handles that were created or duplicated in the trace and open at its end.
        leaked: i64,
        /// Handles that were open before the trace and at its end.
        preexisting: i64,
        /// Sum of lifetimes of the closed ones.
        lifetime_ns: i64,
        /// Longest lifetime.
        max_lifetime_ns: Option<i64>,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Its terminal session.
        session_id: Option<i64>,
        /// Its command line.
        command_line: Option<String>,
        /// What the rows are sorted by: handles that are open at the end.
        sort_value: f64,
    }
}
