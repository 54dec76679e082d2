//! Rows of GDI and USER objects.

rows! {
    /// Objects by process, type or stack.
    pub struct GdiUserRow: process {
        /// Process that has them, or had them last; missing where none has them, or with rows by type.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// `gdi` or `user`; missing with rows by process.
        class: Option<String>,
        /// Name of the type; its number where it has none.
        type_name: Option<String>,
        /// Objects that were created in the trace.
        created: i64,
        /// Those of them that were destroyed in it.
        destroyed: i64,
        /// Objects that were there before the trace and were destroyed in it.
        destroyed_preexisting: i64,
        /// Objects that were created in the trace and were there at its end.
        outstanding: i64,
        /// Sum of the lifetimes of those that were created and destroyed.
        lifetime_ns: i64,
        /// Longest lifetime of one.
        max_lifetime_ns: Option<i64>,
        /// The stack that created them, with rows by stack; missing where none was recorded.
        stack_id: Option<i64>,
        /// Its frames, innermost first, if they are asked for.
        stack: Option<String>,
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

    /// An object.
    pub struct GdiUserObjectRow: process {
        /// When it was created, if that is in the trace.
        create_ns: Option<i64>,
        /// When it was destroyed, if that was told.
        destroy_ns: Option<i64>,
        /// Time between.
        lifetime_ns: Option<i64>,
        /// `gdi` or `user`.
        class: String,
        /// Name of the type; its number where it has none.
        type_name: String,
        /// Handle, in hexadecimal digits; the last one if it changed.
        handle: String,
        /// `destroyed`, `open`, `process_end` or `reused`.
        outcome: String,
        /// How often another process got it.
        owner_changes: i64,
        /// How often its handle became another one.
        handle_changes: i64,
        /// Process that has it, or had it last.
        process_key: Option<i64>,
        /// Its process id.
        pid: Option<i64>,
        /// Its name.
        process: Option<String>,
        /// Process id of who created it.
        create_pid: Option<i64>,
        /// Name of who created it.
        create_process: Option<String>,
        /// Thread that created it.
        create_tid: Option<i64>,
        /// Process id of who destroyed it.
        destroy_pid: Option<i64>,
        /// Name of who destroyed it.
        destroy_process: Option<String>,
        /// Thread that destroyed it.
        destroy_tid: Option<i64>,
        /// Stack that created it.
        create_stack_id: Option<i64>,
        /// Its frames, innermost first, if they are asked for.
        create_stack: Option<String>,
        /// Stack that destroyed it.
        destroy_stack_id: Option<i64>,
        /// Its frames, innermost first, if they are asked for.
        destroy_stack: Option<String>,
        /// Start of the process, if in the trace.
        process_start_ns: Option<i64>,
        /// End of the process, if in the trace.
        process_stop_ns: Option<i64>,
        /// Terminal session of the object.
        session_id: Option<i64>,
        /// Command line of the process.
        command_line: Option<String>,
        /// What the rows are sorted by.
        sort_value: f64,
    }
}
