//! Tables that name things: processes, threads, modules, methods, frames, stacks.

tables! {
    /// A process instance. Windows reuses process IDs; `process_key` is unique.
    Process / ProcessColumns = "process", order ["process_key"] {
        /// Number of the process in this extract, from 0.
        process_key: i32, "key";
        /// Process ID.
        pid: i32;
        /// Process ID of the parent.
        parent_pid: Option<i32>;
        /// The parent, if it is known and had that ID when this process started.
        parent_process_key: Option<i32>, "key";
        /// File name of the executable; `Idle` for process 0; null if no event reports it.
        name: Option<String>;
        /// Command line.
        command_line: Option<String>;
        /// Terminal session; -1 for none.
        session_id: Option<i32>;
        /// Security identifier of the user, in the form `S-1-…`.
        sid: Option<String>;
        /// Thread that started it, which need not belong to the parent; null if its start is not in
        /// the trace or names none.
        creator_thread_key: Option<i32>, "key";
        /// Start; null if it was running before the trace started.
        start_ns: Option<i64>, "ns";
        /// Entry of the creator's system call in which it started; null if system calls were not
        /// recorded.
        create_call_ns: Option<i64>, "ns";
        /// Its first thread: the one with the earliest start. Null if its start, or its process's
        /// start, is not in the trace.
        first_thread_key: Option<i32>, "key";
        /// Cost of starting it: from `create_call_ns` to the first switch-in of its first thread.
        /// If `create_call_ns` is null, from `start_ns`, which the kernel logs during the creator's
        /// call. Null if one of the two is not in the trace.
        start_cost_ns: Option<i64>, "ns";
        /// Time at which it started to end (event `Process/Terminate`); null if no event reports
        /// it.
        terminate_ns: Option<i64>, "ns";
        /// Stop: its last thread has ended; null if it was still running when the trace ended.
        stop_ns: Option<i64>, "ns";
        /// `stop_ns` − `terminate_ns`.
        exit_duration_ns: Option<i64>, "ns";
        /// Exit code.
        exit_code: Option<i32>;
        /// Full name of the app package.
        package: Option<String>;
        /// True if it had ended but was still referred to.
        is_defunct: bool;
        /// True if it ran 32-bit code on a 64-bit system; null in traces of older versions of
        /// Windows, whose events do not contain it. The same holds for the next column.
        is_wow64: Option<bool>;
        /// True if it was protected, so that others could not open it with full access.
        is_protected: Option<bool>;
        /// Address of its kernel object, as bit pattern: events about objects name it.
        object_address: Option<i64>;
    }

    /// A thread instance. Windows reuses thread IDs; `thread_key` is unique.
    Thread / ThreadColumns = "thread", order ["thread_key"] {
        /// Number of the thread in this extract, from 0.
        thread_key: i32, "key";
        /// Thread ID; 0 for the idle threads of all processors.
        tid: i32;
        /// Process of the thread; null if no event reports it.
        process_key: Option<i32>, "key";
        /// Thread that created it; null if its start is not in the trace or names none.
        creator_thread_key: Option<i32>, "key";
        /// Start; null if it was running before the trace started.
        start_ns: Option<i64>, "ns";
        /// Time at which it became ready for the first time: from here to `first_in_ns` it could
        /// have run and had no processor. Null if it started before the trace, if no event reports
        /// it, and if events are missing.
        first_readied_ns: Option<i64>, "ns";
        /// Time at which it was switched in for the first time; null if it started before the
        /// trace, never ran, or if events are missing.
        first_in_ns: Option<i64>, "ns";
        /// Stop; null if it was still running when the trace ended.
        stop_ns: Option<i64>, "ns";
        /// The name that its program gave it.
        name: Option<String>;
        /// Priority without boosts, at its first description.
        base_priority: Option<i32>;
        /// Processors on which it was allowed to run at its first description: a bit for each one
        /// of its group. Changes are in `thread_affinity`.
        affinity: Option<i64>;
        /// Address at which its program's own code started, as bit pattern.
        start_address: Option<i64>;
        /// Module and function at that address; null if no module is known there.
        start_frame_id: Option<i32>, "key";
        /// Ideal processor, by its number in the group, from the first switch-out in the trace.
        ideal_cpu: Option<i32>;
    }

    /// A change of the processors on which a thread may run.
    ThreadAffinity / ThreadAffinityColumns = "thread_affinity", order ["ts_ns"] {
        /// Time.
        ts_ns: i64, "ns";
        /// Thread.
        thread_key: i32, "key";
        /// Processor group.
        processor_group: i32;
        /// A bit for each processor of the group.
        affinity: i64;
    }

    /// An executable file, library or driver, mapped into a process; also a .NET assembly that was
    /// not mapped as one.
    Module / ModuleColumns = "module", order ["module_id"] {
        /// Number of the module in this extract, from 0.
        module_id: i32, "key";
        /// Process that mapped it; null for the kernel and its drivers.
        process_key: Option<i32>, "key";
        /// Path with drive letter, if volumes are known.
        path: String;
        /// File name, the last part of the path.
        name: String;
        /// First address, as bit pattern; 0 for an assembly that only its runtime knows.
        base: i64;
        /// Size in memory; 0 for an assembly that only its runtime knows.
        size: i64;
        /// Load; null if it was loaded before the trace started.
        load_ns: Option<i64>, "ns";
        /// Unload; null if it was still loaded when the trace ended.
        unload_ns: Option<i64>, "ns";
        /// Identity of the symbol file: GUID.
        pdb_guid: Option<String>;
        /// Identity of the symbol file: age.
        pdb_age: Option<i32>;
        /// Path of the symbol file, written by the linker.
        pdb_name: Option<String>;
        /// File version of the version resource.
        file_version: Option<String>;
        /// Product version of the version resource.
        product_version: Option<String>;
        /// Product name of the version resource.
        product_name: Option<String>;
        /// Company of the version resource.
        company: Option<String>;
        /// Description of the version resource.
        description: Option<String>;
        /// Time stamp of the PE header, as bit pattern.
        time_date_stamp: i32;
        /// Checksum of the PE header, as bit pattern.
        checksum: i32;
        /// Reason for which its program loaded it: number of `LDR_DLL_LOAD_REASON` (0 a loaded
        /// module needs it, 4 the program requested it); null without the loader's own events.
        load_reason: Option<i32>;
        /// The module that needed it; null if `load_reason` is null.
        parent_module_id: Option<i32>, "key";
        /// Functions and public symbols in its symbol file; null if none was read, or only parts of
        /// it.
        function_count: Option<i32>;
    }

    /// A module that is a driver of a known kind, by its file name.
    DriverCategory / DriverCategoryColumns = "driver_category", order ["module_id"] {
        /// The module.
        module_id: i32, "key";
        /// File name, in the spelling of the list of drivers.
        driver: String;
        /// Company.
        vendor: String;
        /// Kind of these drivers: `antivirus`, `activity_monitor`, `encryption`,
        /// `continuous_backup`, `replication` and others.
        category: String;
    }

    /// A named function: .NET methods from their own events, native ones from symbol files.
    Method / MethodColumns = "method", order ["method_id"] {
        /// Number of the method in this extract, from 0.
        method_id: i32, "key";
        /// Module that contains its code. For native code it is one of those with the same symbol
        /// file. For code compiled at run time it is the source assembly, null if the runtime does
        /// not name it.
        module_id: Option<i32>, "key";
        /// `Namespace.Type.Method` or `Type::Method`.
        name: String;
        /// Signature, from the runtime or the symbol file.
        signature: Option<String>;
        /// Process that has it; null for native code.
        process_key: Option<i32>, "key";
        /// First address of its code, as bit pattern; null for native code.
        address: Option<i64>;
        /// Bytes of code.
        size_bytes: Option<i64>, "bytes";
        /// Hash of the method, comparable between traces: equal if file name of the module and name
        /// are equal. Null if no frame has the method.
        method_hash: Option<i64>;
    }

    /// A code address of a process, during the time in which the same code was at that address.
    Frame / FrameColumns = "frame", order ["frame_id"] {
        /// Number of the frame in this extract, from 0.
        frame_id: i32, "key";
        /// Module that contains it; for code compiled at run time the source assembly. Null if
        /// there is none.
        module_id: Option<i32>, "key";
        /// Offset in the module; null without a module, and for code compiled at run time.
        rva: Option<i64>;
        /// Address as bit pattern.
        address: i64;
        /// Method of the address, if the name is known.
        method_id: Option<i32>, "key";
        /// Source file of the method at the address, if symbols contain it; with inlined calls, the
        /// file of the outermost one.
        source_file: Option<String>;
        /// Line in it, counted from 1.
        line: Option<i32>;
        /// Functions that the compiler inlined at the address, innermost first, separated by `; `.
        inlined: Option<String>;
    }

    /// The place of a .NET frame in the intermediate language (IL) of its method: with the portable
    /// PDB of the assembly it gives `source_file` and `line` of the frame. Only frames of methods
    /// whose map the trace contains (event `MethodILToNativeMap`) have a row.
    IlOffset / IlOffsetColumns = "il_offset", order ["frame_id"] {
        /// The frame.
        frame_id: i32, "key";
        /// Metadata token of the method in its assembly.
        method_token: i32;
        /// Offset in the IL of the method for the code at the address; null if the compiler made
        /// that code of no IL, such as the start and end of a method.
        il_offset: Option<i32>;
        /// Offset in the IL for the byte before the address, where a call ends. It counts if the
        /// frame called another one; null as in `il_offset`.
        call_il_offset: Option<i32>;
        /// Identity of the symbol file of the assembly: GUID; null if no event contains it.
        pdb_guid: Option<String>;
        /// Identity of the symbol file of the assembly: age.
        pdb_age: Option<i32>;
        /// Path of the symbol file of the assembly, written by the compiler.
        pdb_name: Option<String>;
    }

    /// A node of the tree of call stacks. A stack is identified by its innermost node; the parent
    /// of a node is the caller.
    Stack / StackColumns = "stack", order ["stack_id"] {
        /// Number of the node in this extract, from 0.
        stack_id: i32, "key";
        /// Node of the caller; null for the outermost frame. It is always smaller than `stack_id`.
        parent_id: Option<i32>, "key";
        /// Frame of the node.
        frame_id: i32, "key";
        /// Number of callers: 0 for the outermost frame.
        depth: i32;
    }

    /// Hashes of stacks, equal in all traces for equal stacks. In `etwkit sql` each node of `stack`
    /// has one, computed on read. The file contains hashes of stacks that rows of other tables
    /// name, in extracts created with `--tables '*'`.
    StackHash / StackHashColumns = "stack_hash", order ["stack_id"] {
        /// The stack.
        stack_id: i32, "key";
        /// Hash of the stack: equal if the methods are equal from the outermost frame to this one.
        /// Code without a name counts by its offset in its module.
        stack_hash: i64;
    }
}
