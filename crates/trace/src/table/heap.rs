//! Tables of heaps of programs, and tables computed from them.

tables! {
    /// A block of a heap that was allocated, resized or freed; or a heap that was created or
    /// destroyed.
    Heap / HeapColumns = "heap", order ["ts_ns"] {
        /// Number.
        heap_event_id: i64, "key";
        /// Time.
        ts_ns: i64, "ns";
        /// Process; null if unknown.
        process_key: Option<i32>, "key";
        /// Thread; null if unknown.
        thread_key: Option<i32>, "key";
        /// Handle of the heap, as bit pattern.
        heap_handle: i64;
        /// `create` and `destroy` of a heap; `allocate`, `reallocate` and `free` of a block.
        kind: &'static str;
        /// Address of the block, as bit pattern; null for heaps.
        address: Option<i64>;
        /// Requested bytes of the block; for a freed block its bytes, if its allocation is in the
        /// trace; null for heaps.
        size_bytes: Option<i64>, "bytes";
        /// The row that gave the block the size that it loses here; null if that is not in the
        /// trace.
        allocation_id: Option<i64>, "key";
        /// Time since the block was allocated, if that is in the trace; resizing does not restart
        /// it.
        lifetime_ns: Option<i64>, "ns";
        /// Bytes by which it changed the size of the heap, counting blocks that were allocated in
        /// the trace.
        changed_bytes: i64, "bytes";
        /// Number of blocks by which it changed the heap, counted in the same way.
        changed_blocks: i64;
        /// Bytes in the heap after it, counting blocks that were allocated in the trace.
        held_bytes: i64, "bytes";
        /// Stack.
        stack_id: Option<i32>, "key";
    }

    /// Blocks of a heap of a process.
    HeapProcess / HeapProcessColumns = "heap_process", order ["process_key"] {
        /// The process; null if unknown.
        process_key: Option<i32>, "key";
        /// Handle of the heap, as bit pattern.
        heap_handle: i64;
        /// Number of allocations.
        allocations: i64;
        /// Total bytes of the allocations.
        allocated_bytes: i64, "bytes";
        /// Largest allocation.
        max_allocated_bytes: Option<i64>, "bytes";
        /// Changes of size.
        reallocations: i64;
        /// Blocks that were freed one by one.
        frees: i64;
        /// Blocks that were allocated in the trace and not freed.
        outstanding_blocks: i64;
        /// Total bytes of the outstanding blocks.
        outstanding_bytes: i64, "bytes";
        /// Largest size of the heap, counting blocks that were allocated in the trace.
        peak_bytes: i64, "bytes";
    }
}
