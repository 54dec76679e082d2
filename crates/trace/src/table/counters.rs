//! Tables of the processor's performance counters and branch records.

use std::sync::Arc;

tables! {
    /// A recorded performance counter.
    PmcCounter / PmcCounterColumns = "pmc_counter", order ["position"] {
        /// Number of the column of `pmc` with its values, from 0; null for a counter that was only
        /// sampled.
        position: Option<i32>;
        /// Number of its profile source, for a sampled counter.
        source: Option<i32>;
        /// Name of the counter in Windows.
        name: String;
        /// Events between two samples at the start of the trace, for a sampled counter.
        interval: Option<i64>;
    }

    /// Counter increments of a processor during one scheduling slice of a thread: the difference
    /// between two context switches of the processor.
    ///
    /// `pmc_counter` gives the counter of each column. The first switch of a processor, and the
    /// first one after lost events, has no row.
    Pmc / PmcColumns = "pmc", order ["ts_ns"] {
        /// Time at which the thread was switched out.
        ts_ns: i64, "ns";
        /// Time that it had run.
        run_ns: i64, "ns";
        /// Processor.
        cpu: i32;
        /// Process of the thread; null if the thread is unknown.
        process_key: Option<i32>, "key";
        /// Thread that ran.
        thread_key: i32, "key";
        /// Stack with which it had been switched in.
        stack_id: Option<i32>, "key";
        /// Value of the counter with position 0; null if it was not recorded or ran backwards.
        value_0: Option<i64>;
        /// Value of the counter with position 1.
        value_1: Option<i64>;
        /// Value of the counter with position 2.
        value_2: Option<i64>;
        /// Value of the counter with position 3.
        value_3: Option<i64>;
        /// Value of the counter with position 4.
        value_4: Option<i64>;
        /// Value of the counter with position 5.
        value_5: Option<i64>;
        /// Value of the counter with position 6.
        value_6: Option<i64>;
    }

    /// A sample taken when a performance counter had counted `interval` events.
    PmcSample / PmcSampleColumns = "pmc_sample", order ["ts_ns"] {
        /// Time.
        ts_ns: i64, "ns";
        /// Processor.
        cpu: i32;
        /// Process of the thread; null if the thread is unknown.
        process_key: Option<i32>, "key";
        /// Thread that ran.
        thread_key: i32, "key";
        /// Name of the counter, or `source 29` if only the number of its source is known.
        counter: Arc<str>;
        /// Events that it represents; null if the interval was not recorded.
        interval: Option<i64>;
        /// Its stack; a sample that recorded none has the one-frame stack of its address.
        stack_id: i32, "key";
        /// True if a stack was recorded.
        has_stack: bool;
        /// True if the stack lacks its kernel half, as in `cpu_sample`. Null in extracts of earlier
        /// versions.
        is_stack_incomplete: Option<bool>;
    }

    /// Branches recorded by the processor when events were logged (last branch records), by source
    /// and target.
    ///
    /// They are a sample of all branches. A pair can have several rows: sum them up.
    Lbr / LbrColumns = "lbr", order [] {
        /// Process of the thread that ran; null if unknown.
        process_key: Option<i32>, "key";
        /// Source of the branch.
        from_frame_id: i32, "key";
        /// Target of the branch.
        to_frame_id: i32, "key";
        /// Number of occurrences.
        count: i64;
    }

    /// Counters of a thread.
    PmcThread / PmcThreadColumns = "pmc_thread", order ["process_key"] {
        /// The process; null for threads of unknown process.
        process_key: Option<i32>, "key";
        /// The thread.
        thread_key: i32, "key";
        /// Name of the counter.
        counter: String;
        /// `counted`: between context switches; `sampled`: samples × interval, an estimate.
        kind: &'static str;
        /// Events.
        value: i64;
        /// Scheduling slices, or samples.
        count: i64;
        /// Time of these scheduling slices; null for samples.
        run_ns: Option<i64>, "ns";
    }

    /// Branches from one method into another, out of those recorded by the processor; branches
    /// inside a method are excluded.
    LbrMethod / LbrMethodColumns = "lbr_method", order ["process_key"] {
        /// Process of the thread that ran; null if unknown.
        process_key: Option<i32>, "key";
        /// File name of the source module; null if none was mapped there.
        caller_module: Option<Arc<str>>;
        /// Source method; without a name the offset in the module or the address, such as
        /// `+0x1a2b`.
        caller: String;
        /// File name of the target module; null if none was mapped there.
        callee_module: Option<Arc<str>>;
        /// Target method.
        callee: String;
        /// Number of occurrences.
        count: i64;
    }
}
