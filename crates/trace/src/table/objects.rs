//! Tables of kernel objects, handles and mapped files, and tables computed from them.

use std::sync::Arc;

tables! {
    /// A kernel object: an event, a file, a key, a process, …
    ///
    /// Addresses are reused; each row is one object from its start to its end. With events of
    /// objects (`OB_OBJECT`) an object ends when it is deleted, otherwise when its last handle is
    /// closed.
    Object / ObjectColumns = "object", order [] {
        /// Number.
        object_id: i32, "key";
        /// Address, as bit pattern.
        address: i64;
        /// Number of its type, which differs between systems; null if only references were
        /// reported.
        type_id: Option<i32>;
        /// Name of its type; null if the trace does not contain it.
        type_name: Option<Arc<str>>;
        /// Its name in the object namespace, from closed handles and the lists of open ones; null
        /// if it has none.
        name: Option<Arc<str>>;
        /// First event about it; null if it is only known from the list of handles that were open
        /// when the trace ended.
        first_ns: Option<i64>, "ns";
        /// Time at which it was created, if that was reported.
        created_ns: Option<i64>, "ns";
        /// Time at which it was deleted, if that was reported.
        deleted_ns: Option<i64>, "ns";
    }

    /// A handle of a process, from its creation to its close.
    Handle / HandleColumns = "handle", order ["close_ns"] {
        /// Process that has it: its creator, the target of a duplicate, or the heir. Kernel handles
        /// belong to System.
        process_key: Option<i32>, "key";
        /// Value of the handle, which is reused.
        handle: i64;
        /// The object.
        object_id: Option<i32>, "key";
        /// Origin: `create`; `duplicate`; `inherit`: a process that was started got a copy with the
        /// same value; `rundown`: it was open before, a list of open handles contains it;
        /// `unknown`: only its close was reported.
        origin: &'static str;
        /// Outcome: `closed`; `open` to the end; `process_end`: not closed, and its process ended;
        /// `reused`: its value was given again, so its close is missing.
        outcome: &'static str;
        /// Time at which it was created; null if that is not in the trace.
        open_ns: Option<i64>, "ns";
        /// Time at which it was closed; null if no event reports it.
        close_ns: Option<i64>, "ns";
        /// `close_ns` − `open_ns`.
        lifetime_ns: Option<i64>, "ns";
        /// Process that created or duplicated it.
        open_process_key: Option<i32>, "key";
        /// Thread that created or duplicated it.
        open_thread_key: Option<i32>, "key";
        /// Process in which it was closed.
        close_process_key: Option<i32>, "key";
        /// Thread that closed it.
        close_thread_key: Option<i32>, "key";
        /// Process of the handle that was duplicated.
        source_process_key: Option<i32>, "key";
        /// Handle that was duplicated.
        source_handle: Option<i64>;
        /// Stack that created it.
        open_stack_id: Option<i32>, "key";
        /// Stack that closed it.
        close_stack_id: Option<i32>, "key";
    }

    /// An object is created or deleted, or references to it are taken or released.
    ObjectRef / ObjectRefColumns = "object_ref", order ["ts_ns"] {
        /// Time.
        ts_ns: i64, "ns";
        /// Process that did this.
        process_key: Option<i32>, "key";
        /// Thread that did this.
        thread_key: Option<i32>, "key";
        /// The object.
        object_id: Option<i32>, "key";
        /// `create`, `delete`, `reference` or `dereference`.
        kind: &'static str;
        /// Pool tag of the holder of the references: four characters.
        tag: Option<Arc<str>>;
        /// Number of references.
        count: Option<i64>;
        /// Stack.
        stack_id: Option<i32>, "key";
    }

    /// A file, or memory backed by the page file, that was mapped into a process.
    FileMap / FileMapColumns = "file_map", order ["unmap_ns"] {
        /// Number.
        map_id: i32, "key";
        /// Process.
        process_key: Option<i32>, "key";
        /// First address, as bit pattern.
        address: i64;
        /// Bytes.
        size_bytes: i64, "bytes";
        /// Position in the file; null if the system does not report it.
        offset_bytes: Option<i64>, "bytes";
        /// Path with drive letter, if known.
        path: Option<Arc<str>>;
        /// Number of the file in events, as bit pattern.
        file_key: i64;
        /// Protection of the pages and flags of the section, as bit pattern.
        flags: i32;
        /// Origin: `map`, `rundown` (a list of mapped files contains it) or `unknown` (only its end
        /// was reported).
        origin: &'static str;
        /// Outcome: `unmapped`; `open` to the end; `process_end`; `reused`: the address was mapped
        /// again.
        outcome: &'static str;
        /// Time at which it was mapped; null if that is not in the trace.
        map_ns: Option<i64>, "ns";
        /// Time at which it was unmapped; null if no event reports it.
        unmap_ns: Option<i64>, "ns";
        /// `unmap_ns` − `map_ns`.
        lifetime_ns: Option<i64>, "ns";
        /// Thread that mapped it.
        map_thread_key: Option<i32>, "key";
        /// Thread that unmapped it.
        unmap_thread_key: Option<i32>, "key";
        /// Stack that mapped it.
        map_stack_id: Option<i32>, "key";
        /// Stack that unmapped it.
        unmap_stack_id: Option<i32>, "key";
    }

    /// Handles of a process by type of their objects.
    HandleType / HandleTypeColumns = "handle_type", order ["process_key"] {
        /// Process that has them; null if unknown.
        process_key: Option<i32>, "key";
        /// Type; null if the trace does not contain it.
        type_name: Option<Arc<str>>;
        /// Handles that were created in the trace.
        created: i64;
        /// Handles that were duplicated into the process, or that it inherited.
        duplicated_in: i64;
        /// Handles that were created or duplicated in the trace and closed in it.
        closed: i64;
        /// Handles that were open before the trace and closed in it.
        closed_preexisting: i64;
        /// Handles that were created or duplicated in the trace and were open at its end.
        leaked: i64;
        /// Handles that were open before the trace and at its end.
        preexisting: i64;
        /// Sum of the lifetimes of the closed ones.
        lifetime_ns: i64, "ns";
        /// Longest lifetime of a closed one; null if there is none.
        max_lifetime_ns: Option<i64>, "ns";
    }
}
