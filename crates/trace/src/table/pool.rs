//! Tables of kernel pool, the memory that drivers allocate, and tables computed from them.

use std::sync::Arc;

tables! {
    /// A block of the kernel's memory (pool), from its allocation to its free.
    ///
    /// Events name neither process nor thread: they belong to the thread that ran on the processor.
    Pool / PoolColumns = "pool", order [] {
        /// Pool tag: four characters by which the caller identifies the purpose of the block,
        /// without trailing blanks and zeros; bytes that are not visible ASCII characters are
        /// `\x1b`.
        tag: Arc<str>;
        /// Type of pool, a number of the enumeration `POOL_TYPE`.
        pool_type: i32;
        /// `paged` or `nonpaged`; null for types outside of the enumeration.
        paging: Option<&'static str>;
        /// Terminal session that owns the memory; null for memory that all sessions share.
        session_id: Option<i32>;
        /// Address, as bit pattern.
        address: i64;
        /// Bytes from the allocation event; from the free event if the allocation is not in the
        /// trace.
        size_bytes: i64, "bytes";
        /// Outcome: `freed`; `outstanding` to the end; `replaced`: something else was allocated at
        /// its address, so its free is missing; `unknown`: too many were held to follow it.
        outcome: &'static str;
        /// Time at which it was allocated; null if that is not in the trace.
        alloc_ns: Option<i64>, "ns";
        /// Time at which it was freed; null if that is not in the trace.
        free_ns: Option<i64>, "ns";
        /// `free_ns` − `alloc_ns`.
        lifetime_ns: Option<i64>, "ns";
        /// Process whose thread allocated it.
        alloc_process_key: Option<i32>, "key";
        /// Thread that allocated it.
        alloc_thread_key: Option<i32>, "key";
        /// Process whose thread freed it.
        free_process_key: Option<i32>, "key";
        /// Thread that freed it.
        free_thread_key: Option<i32>, "key";
        /// Stack that allocated it.
        alloc_stack_id: Option<i32>, "key";
        /// Stack that freed it.
        free_stack_id: Option<i32>, "key";
    }

    /// Blocks of kernel pool by tag and pool type.
    PoolTag / PoolTagColumns = "pool_tag", order ["tag", "pool_type"] {
        /// Tag, as in `pool`; null for the sum of all others after the first 65,536 tags and types.
        tag: Option<Arc<str>>;
        /// Type of pool; null if the tag is null.
        pool_type: Option<i32>;
        /// `paged` or `nonpaged`; null for types outside of the enumeration.
        paging: Option<&'static str>;
        /// Number of allocations.
        allocations: i64;
        /// Total bytes of the allocations.
        allocated_bytes: i64, "bytes";
        /// Largest allocation.
        max_allocated_bytes: Option<i64>, "bytes";
        /// Number of frees.
        frees: i64;
        /// Total bytes of the frees.
        freed_bytes: i64, "bytes";
        /// Number of these frees whose allocation is not in the trace.
        frees_of_earlier: i64;
        /// Sum of the lifetimes of the other ones.
        lifetime_ns: i64, "ns";
        /// Blocks that were allocated in the trace and not freed to its end.
        outstanding_blocks: i64;
        /// Total bytes of the outstanding blocks.
        outstanding_bytes: i64, "bytes";
    }
}
