//! Tables of the .NET runtime.

tables! {
    /// An exception that a .NET program threw.
    Exception / ExceptionColumns = "exception", order ["ts_ns"] {
        /// Time.
        ts_ns: i64, "ns";
        /// Process.
        process_key: Option<i32>, "key";
        /// Thread.
        thread_key: Option<i32>, "key";
        /// Type with namespace.
        exception_type: String;
        /// Message of the exception.
        message: String;
        /// HRESULT as bit pattern.
        hresult: Option<i32>;
        /// Flags: 1 has an inner exception, 2 nested, 4 rethrown, 8 corrupts state, 16
        /// CLS-compliant.
        flags: i32;
        /// Stack.
        stack_id: Option<i32>, "key";
    }

    /// A garbage collection of a .NET process.
    Gc / GcColumns = "gc", order ["start_ns"] {
        /// Process.
        process_key: Option<i32>, "key";
        /// Number of the collection in its process.
        number: i32;
        /// Generation that is collected.
        generation: Option<i32>;
        /// Reason: number of `GC_REASON`.
        reason: Option<i32>;
        /// 0 blocking, 1 in the background, 2 blocking while one runs in the background.
        gc_type: Option<i32>;
        /// Start; null if it was not recorded.
        start_ns: Option<i64>, "ns";
        /// End; null if it was not recorded.
        end_ns: Option<i64>, "ns";
        /// `end_ns` − `start_ns`.
        duration_ns: Option<i64>, "ns";
        /// Time that the threads of the program were suspended for it: from each request to stop
        /// until they ran again; null if not recorded.
        suspended_ns: Option<i64>, "ns";
        /// Part of `suspended_ns` until all threads had stopped; null if not recorded.
        suspending_ns: Option<i64>, "ns";
        /// Part of `suspended_ns` in which they were resumed; null if not recorded.
        restarting_ns: Option<i64>, "ns";
        /// Size of generation 0 after the collection; null without the event `GCHeapStats`, as all
        /// columns below.
        gen0_bytes: Option<i64>, "bytes";
        /// Size of generation 1.
        gen1_bytes: Option<i64>, "bytes";
        /// Size of generation 2.
        gen2_bytes: Option<i64>, "bytes";
        /// Size of the heap of large objects.
        large_bytes: Option<i64>, "bytes";
        /// Size of the heap of pinned objects; null before .NET 5.
        pinned_bytes: Option<i64>, "bytes";
        /// Bytes that survived the collection.
        promoted_bytes: Option<i64>, "bytes";
        /// Objects that could not be moved.
        pinned_objects: Option<i32>;
        /// Handles of the runtime.
        handles: Option<i32>;
    }

    /// An event of the thread pool of a .NET process.
    ThreadPool / ThreadPoolColumns = "thread_pool", order ["ts_ns"] {
        /// Time.
        ts_ns: i64, "ns";
        /// Process.
        process_key: Option<i32>, "key";
        /// Thread.
        thread_key: Option<i32>, "key";
        /// `start`, `stop`, `retirement_start`, `retirement_stop` or `wait` of a worker thread;
        /// `sample` of the throughput, `adjustment` of the number of worker threads; `working`:
        /// number of active ones.
        kind: &'static str;
        /// Worker threads; for an adjustment, their target number.
        worker_threads: Option<i32>;
        /// Worker threads that retired.
        retired_threads: Option<i32>;
        /// Throughput, as the runtime measures it.
        throughput: Option<f64>;
        /// Reason for the adjustment: `thread_pool_reason_name` names it. 6 is starvation: no work
        /// was finished for half a second.
        reason: Option<i32>;
        /// Stack.
        stack_id: Option<i32>, "key";
    }

    /// A method that was compiled at run time.
    Jit / JitColumns = "jit", order ["ts_ns"] {
        /// Time at which the compiled code was ready.
        ts_ns: i64, "ns";
        /// Process.
        process_key: Option<i32>, "key";
        /// Thread.
        thread_key: Option<i32>, "key";
        /// `Namespace.Type.Method`.
        method: String;
        /// Start of the compilation; null if it was not recorded.
        start_ns: Option<i64>, "ns";
        /// `ts_ns` − `start_ns`.
        duration_ns: Option<i64>, "ns";
        /// Bytes of intermediate code; null without the event of the start.
        il_size_bytes: Option<i64>, "bytes";
        /// Bytes of compiled code.
        size_bytes: i64, "bytes";
        /// True if it was created at run time and has no metadata.
        is_dynamic: bool;
        /// Optimization tier: `tier0` at first, `tier1` once it was called often, `tier1_osr` while
        /// it ran, each also `…_instrumented`; `optimized`, `minimal`; null if the runtime does not
        /// report it.
        tier: Option<&'static str>;
    }
}
