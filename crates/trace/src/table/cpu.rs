//! Tables of processors: samples, switches and DPCs, and tables computed from them.

tables! {
    /// A CPU sample: the activity of a processor at one moment.
    CpuSample / CpuSampleColumns = "cpu_sample", order ["ts_ns"] {
        /// Time.
        ts_ns: i64, "ns";
        /// Processor.
        cpu: i32;
        /// Process of the thread; null if the thread is unknown.
        process_key: Option<i32>, "key";
        /// Thread that ran, or that a DPC or interrupt had interrupted.
        thread_key: i32, "key";
        /// Time that it represents: its count times the sampling interval in force.
        weight_ns: i64, "ns";
        /// Its stack; a sample that recorded none has the one-frame stack of its address.
        stack_id: i32, "key";
        /// True if the processor was idle. Idle samples are not CPU time.
        is_idle: bool;
        /// True if a DPC or interrupt ran.
        is_dpc_isr: bool;
        /// Priority of the thread, if the sample contains it.
        priority: Option<i32>;
        /// True if a stack was recorded.
        has_stack: bool;
        /// True if the stack lacks its kernel half, although the sample was taken in the kernel:
        /// its address is then the innermost frame, directly on top of the user half. Null in
        /// extracts of earlier versions.
        is_stack_incomplete: Option<bool>;
    }

    /// A scheduling slice of a thread, with its preceding wait; or a wait that was still open at
    /// the end.
    ///
    /// Rows are written when scheduling slices end, so long ones come after shorter ones that
    /// started later.
    ContextSwitch / ContextSwitchColumns = "context_switch", order ["out_ns"] {
        /// The thread.
        thread_key: i32, "key";
        /// Process of the thread; null if the thread is unknown.
        process_key: Option<i32>, "key";
        /// Processor; null for an open wait.
        cpu: Option<i32>;
        /// Time at which it was last switched out; null if not in the trace.
        last_out_ns: Option<i64>, "ns";
        /// Time at which it became ready, not before `last_out_ns`; for a thread that was not on a
        /// processor before in the trace, the first time. Null if it was preempted or no event
        /// reports it.
        readied_ns: Option<i64>, "ns";
        /// Time at which it was switched in; null for an open wait, for a thread that was running
        /// when the kernel logger started, and after a gap.
        in_ns: Option<i64>, "ns";
        /// Time at which it was switched out; null for an open wait, for a thread that was running
        /// when the kernel logger ended, and before a gap.
        out_ns: Option<i64>, "ns";
        /// `readied_ns` − `last_out_ns`; 0 for a preempted thread; null if unknown.
        wait_ns: Option<i64>, "ns";
        /// `in_ns` − `readied_ns`, for a preempted thread `in_ns` − `last_out_ns`; null if unknown.
        ready_ns: Option<i64>, "ns";
        /// `out_ns` − `in_ns`. For threads that were running at the first or last event of the
        /// kernel logger, or at the edge of a gap, only up to this event or edge. Null if unknown.
        run_ns: Option<i64>, "ns";
        /// Time in `run_ns` in which DPCs and interrupts had the processor, each moment counted
        /// once; threaded DPCs, which run on threads of their own, are excluded. Null if neither
        /// was recorded.
        dpc_isr_ns: Option<i64>, "ns";
        /// State in which it was switched out: number of `KTHREAD_STATE` (1, 3, 7 ready: it was
        /// preempted; 5, 8, 9 waiting).
        prev_state: Option<i32>;
        /// Reason for the switch-out: number of `KWAIT_REASON`.
        wait_reason: Option<i32>;
        /// Its stack when it was switched in, which shows the cause of its wait.
        stack_id: Option<i32>, "key";
        /// Thread that ran where it was readied: the thread that ended the wait, unless a DPC did.
        readying_thread_key: Option<i32>, "key";
        /// Stack that readied it.
        readying_stack_id: Option<i32>, "key";
        /// True if a DPC readied it; the readying thread was only interrupted then.
        is_readied_by_dpc: bool;
        /// True if the thread had not been readied when the kernel logger ended.
        is_open_wait: bool;
        /// Priority with which it was switched in.
        priority: Option<i32>;
        /// Priority with which it was switched out, if it differs from `priority`; null if it is
        /// the same or unknown.
        out_priority: Option<i32>;
        /// True if it waited in user mode, in which the kernel may page out its stack; null unless
        /// it waited.
        is_user_wait: Option<bool>;
        /// Reason for adjusting its priority when it was readied: 0 no adjustment, 1 its wait was
        /// over, 2 it was boosted; null without a ready event.
        adjust_reason: Option<i32>;
        /// Thread that ran instead of it while it was ready: the thread that had the processor of
        /// the switch-in longest in that time, of equal ones the last, among the last 1,024 slices
        /// there. Null if only idle had it, or if the ready time is unknown.
        instead_thread_key: Option<i32>, "key";
        /// Time that this other thread ran there, if that is not all of `ready_ns`:
        /// `coalesce(instead_ns, ready_ns)` is its run time if there is such a thread.
        instead_ns: Option<i64>, "ns";
        /// Priority with which that thread had been switched in there, the last time.
        instead_priority: Option<i32>;
        /// Deepest C-state of the processor before it was switched in: 0 if it did not sleep, null
        /// if it was not idle.
        prev_c_state: Option<i32>;
    }

    /// A DPC or interrupt.
    DpcIsr / DpcIsrColumns = "dpc_isr", order ["end_ns"] {
        /// `dpc`, `timer_dpc`, `threaded_dpc` or `isr`.
        kind: &'static str;
        /// Processor.
        cpu: i32;
        /// Start.
        start_ns: i64, "ns";
        /// End.
        end_ns: i64, "ns";
        /// `end_ns` − `start_ns`.
        duration_ns: i64, "ns";
        /// Time in `duration_ns` taken by DPCs and interrupts that interrupted this one:
        /// `duration_ns - nested_ns` is its own time.
        nested_ns: i64, "ns";
        /// Frame of the routine.
        frame_id: i32, "key";
        /// Message-signalled interrupt or vector, for interrupts.
        vector: Option<i32>;
        /// Stack, if one was recorded.
        stack_id: Option<i32>, "key";
    }

    /// A change of a priority of a thread.
    ThreadPriority / ThreadPriorityColumns = "thread_priority", order ["ts_ns"] {
        /// Time.
        ts_ns: i64, "ns";
        /// Thread whose priority changes.
        thread_key: i32, "key";
        /// Process of the thread; null if unknown.
        process_key: Option<i32>, "key";
        /// Kind of priority: `dynamic` with which the thread runs, `base` that boosts start from,
        /// `page` of the memory that it uses, `io`.
        kind: &'static str;
        /// Priority before.
        old_priority: i32;
        /// Priority from then on.
        new_priority: i32;
        /// Thread that ran where it was changed; null if unknown.
        by_thread_key: Option<i32>, "key";
        /// Stack that changed it, if one was recorded.
        stack_id: Option<i32>, "key";
    }

    /// CPU, waiting and ready time of a process.
    ///
    /// Idle time is excluded. `wait_ns` and `ready_ns` are lengths of unions over all threads: time
    /// in which at least one thread waited. The sums add up over threads and can exceed the length
    /// of the trace.
    CpuProcess / CpuProcessColumns = "cpu_process", order ["process_key"] {
        /// The process; null for threads of unknown process.
        process_key: Option<i32>, "key";
        /// Busy samples.
        samples: i64;
        /// Sampled CPU.
        cpu_ns: i64, "ns";
        /// Part of `cpu_ns` that was sampled in DPCs and interrupts, which had interrupted its
        /// threads; null in an extract created from sums without it.
        dpc_isr_cpu_ns: Option<i64>, "ns";
        /// CPU from context switches; null if there are none in the trace.
        run_ns: Option<i64>, "ns";
        /// Time in `run_ns` that DPCs and interrupts took from its threads; null if they were not
        /// recorded.
        dpc_isr_ns: Option<i64>, "ns";
        /// Union of the waits of its threads.
        wait_ns: Option<i64>, "ns";
        /// Union of the times in which its threads were ready.
        ready_ns: Option<i64>, "ns";
        /// Sum of the waits of its threads.
        wait_sum_ns: Option<i64>, "ns";
        /// Sum of the times in which its threads were ready.
        ready_sum_ns: Option<i64>, "ns";
        /// Number of switch-ins.
        switches: Option<i64>;
        /// Switch-ins after it had been preempted.
        preemptions: Option<i64>;
        /// Threads that were sampled or switched in.
        threads: i64;
        /// Mean priority: of the samples, otherwise of the switch-ins, weighted by time.
        priority: Option<f64>;
        /// Processors it ran on, as ranges: `0-3,6`.
        cores: String;
        /// Number of processors it ran on.
        core_count: i32;
        /// First sample or switch-in.
        first_ns: i64, "ns";
        /// Last sample or switch-out.
        last_ns: i64, "ns";
    }

    /// CPU, waiting and ready time of a method in a process. A method counts once for each stack it
    /// is in, even if it is in the stack several times.
    CpuMethod / CpuMethodColumns = "cpu_method", order ["process_key"] {
        /// The process; null for threads of unknown process.
        process_key: Option<i32>, "key";
        /// File name of the module; null if none was mapped there.
        module: Option<String>;
        /// Name of the function; without one the offset in the module or the address, such as
        /// `+0x1a2b`.
        method: String;
        /// Path of the module.
        module_path: Option<String>;
        /// Busy samples with the method in their stack.
        samples: i64;
        /// Sampled CPU with the method in the stack.
        cpu_ns: i64, "ns";
        /// Sampled CPU with the method as innermost frame; null in an extract created from sums
        /// without it.
        exclusive_ns: Option<i64>, "ns";
        /// CPU from context switches: of scheduling slices whose thread was switched in with the
        /// method in its stack; null if there are none in the trace.
        run_ns: Option<i64>, "ns";
        /// Union of the waits of stacks with the method, over all threads.
        wait_ns: Option<i64>, "ns";
        /// Union of the times in which threads with the method in their stack were ready.
        ready_ns: Option<i64>, "ns";
        /// Sum of the waits.
        wait_sum_ns: Option<i64>, "ns";
        /// Sum of the ready times.
        ready_sum_ns: Option<i64>, "ns";
        /// Switch-ins with the method in the stack.
        switches: Option<i64>;
        /// Switch-ins with a known ready time.
        ready_count: Option<i64>;
        /// Number of threads.
        threads: i64;
        /// Mean number of frames between the method and the innermost frame.
        depth: f64;
        /// First sample or switch-in.
        first_ns: i64, "ns";
        /// Last sample or switch-out.
        last_ns: i64, "ns";
    }

    /// CPU, waiting and ready time of a stack tag in a process, by one set of tags. Each stack has
    /// one tag of a set: sampled CPU and the sums of all tags of the set `default` add up to the
    /// process, unions do not.
    CpuTag / CpuTagColumns = "cpu_tag", order ["process_key"] {
        /// The process; null for threads of unknown process.
        process_key: Option<i32>, "key";
        /// The rules that define it: `default`, or the name of the user's file.
        tag_set: String;
        /// Path of the tag, in the form `Parent\Child`; `Other` if no rule of the set `default`
        /// matches, or no stack was recorded.
        tag: String;
        /// Busy samples with the tag.
        samples: i64;
        /// Sampled CPU with the tag.
        cpu_ns: i64, "ns";
        /// Sampled CPU of all stacks of the process that have the tag, or have it without some of
        /// their innermost frames: callees are included. A tag that no stack of the process has has
        /// no row; null in an extract created from sums.
        inclusive_ns: Option<i64>, "ns";
        /// Union of the waits with the tag, over all threads.
        wait_ns: Option<i64>, "ns";
        /// Union of the times in which threads were ready.
        ready_ns: Option<i64>, "ns";
        /// Sum of the waits.
        wait_sum_ns: Option<i64>, "ns";
        /// Sum of the ready times.
        ready_sum_ns: Option<i64>, "ns";
        /// Switch-ins with the tag.
        switches: Option<i64>;
        /// Threads that were sampled or switched in with the tag.
        threads: i64;
        /// First sample or switch-in.
        first_ns: i64, "ns";
        /// Last sample or switch-out.
        last_ns: i64, "ns";
    }

    /// Percentiles of the time that threads were ready before they were switched in: of a process,
    /// and of a method in their stacks.
    ///
    /// Ready times after a deep sleep of the processor have rows of their own: they result from the
    /// power plan, all others from competition. A method has a row only if it was switched in more
    /// than 50 times that way. A percentile is interpolated between the two nearest values
    /// (`PERCENTILE.INC`), truncated to whole nanoseconds.
    ReadyPercentile / ReadyPercentileColumns = "ready_percentile", order ["process_key"] {
        /// The process; null for threads of unknown process.
        process_key: Option<i32>, "key";
        /// File name of the module of the method.
        module: Option<String>;
        /// The method, named as in `cpu_method`; null for the row of a process.
        method: Option<String>;
        /// Path of the module.
        module_path: Option<String>;
        /// True if the processor was idle before, in a C-state above 0.
        is_deep_sleep: bool;
        /// Switch-ins with a known ready time.
        count: i64;
        /// Shortest ready time.
        min_ns: i64, "ns";
        /// 5th percentile.
        p5_ns: i64, "ns";
        /// 25th percentile.
        p25_ns: i64, "ns";
        /// Median.
        p50_ns: i64, "ns";
        /// 90th percentile.
        p90_ns: i64, "ns";
        /// 95th percentile.
        p95_ns: i64, "ns";
        /// 99th percentile.
        p99_ns: i64, "ns";
        /// Longest ready time.
        max_ns: i64, "ns";
        /// Sum.
        sum_ns: i64, "ns";
        /// Sum of the longest ones: of all in ascending order those from number `count` × 99 / 100
        /// on, counted from 0.
        longest_sum_ns: i64, "ns";
    }

    /// CPU by process and stack: the part of the samples that `--detail summary` keeps.
    CpuStack / CpuStackColumns = "cpu_stack", order ["process_key", "stack_id"] {
        /// The process; null for threads of unknown process.
        process_key: Option<i32>, "key";
        /// The stack.
        stack_id: i32, "key";
        /// Busy samples.
        samples: i64;
        /// Sampled CPU.
        cpu_ns: i64, "ns";
    }
}
