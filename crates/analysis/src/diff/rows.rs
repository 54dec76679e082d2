//! Rows of the tables of a comparison.

etwkit_question::declare! {
    /// The comparison in one sentence, and the wall times.
    pub row Summary {
        sentence: String = "The largest difference, in one sentence: a finding of one side if there is one, otherwise \
            a setting, otherwise a process.",
        busiest: Option<String> = "The process that explains most of the difference, in one sentence; missing if no \
            process differs.",
        wall: String = "What the wall time is: `marks`, `process`, `range` or `recording`.",
        wall_a_ns: i64 = "Wall time of A.",
        wall_b_ns: i64 = "Wall time of B.",
        wall_difference_ns: i64 = "B − A.",
        trace_a: String = "Trace of A.",
        trace_b: String = "Trace of B.",
        from_a_ns: i64 = "Start of the part of A that is compared.",
        to_a_ns: i64 = "Its end.",
        from_b_ns: i64 = "Start of the part of B that is compared.",
        to_b_ns: i64 = "Its end.",
    }

    /// A limit of the comparison.
    pub row Remark {
        remark: String = "What the reader should know, in one sentence.",
    }

    /// A finding of the rules of `diagnose` on one side or on both.
    pub row FindingChange {
        rule: String = "Rule that found it.",
        culprit: String = "What is to blame: a driver, process, server, file or setting.",
        process: Option<String> = "The process that it cost most.",
        only_in: Option<String> = "`A` or `B`, where the other side was checked and has none of it.",
        not_checked_in: Option<String> = "`A` or `B`, where the other side lacks what the rule needs.",
        a_ns: Option<i64> = "Its cost in A; missing for notes, which cost no time, and where A has none of it.",
        b_ns: Option<i64> = "Its cost in B.",
        difference_ns: i64 = "B − A.",
        is_explained: bool = "Whether another finding of the same side explains most of its time.",
        sentence: String = "The finding as a sentence, of the side where it costs more.",
    }

    /// A result of operations that failed, on one side or on both.
    pub row ResultChange {
        kind: String = "`system call`, `file`, `registry` or `exception`.",
        name: String = "The function or operation that failed; the type of an exception.",
        result: String = "Name of the status; the message of an exception.",
        process: Option<String> = "Process.",
        only_in: Option<String> = "`A` or `B`, where the other side has none of it.",
        is_new_result: bool = "Whether no operation of the other side ends with this result.",
        count_a: i64 = "How often in A.",
        count_b: i64 = "How often in B.",
    }

    /// Something on both sides that is not a number: about the machine, a module or a setting.
    pub row Fact {
        topic: Option<String> = "What it belongs to.",
        name: String = "What is compared: process, method, file, mark or setting.",
        a: Option<String> = "Its value in A; missing where A has none.",
        b: Option<String> = "Its value in B.",
    }

    /// From one mark to the next one that both sides have.
    pub row MarkChange {
        name: String = "What is compared: process, method, file, mark or setting.",
        until: String = "The mark at its end.",
        a_ns: Option<i64> = "Time of A.",
        b_ns: Option<i64> = "Time of B.",
        difference_ns: i64 = "B − A.",
    }

    /// Times, sizes and counts of something on both sides. A missing value was not recorded, or
    /// exists only on the other side.
    pub row Change {
        name: String = "What is compared: process, method, file, mark or setting.",
        of: Option<String> = "Of processes the command line without numbers, of other rows the process.",
        only_in: Option<String> = "`A` or `B`, where the other side has none of it.",
        of_time: String = "Which time differs most: `cpu`, `wait`, `ready` or `time`.",
        a_ns: Option<i64> = "That time of A.",
        b_ns: Option<i64> = "That time of B.",
        difference_ns: i64 = "B − A of that time.",
        explains_percent: Option<f64> = "Share of `difference_ns` in the difference of the wall times, where there is one.",
        cpu_a_ns: Option<i64> = "CPU of A.",
        cpu_b_ns: Option<i64> = "CPU of B.",
        wait_a_ns: Option<i64> = "Waiting of A: time in which at least one thread waited.",
        wait_b_ns: Option<i64> = "Waiting of B.",
        ready_a_ns: Option<i64> = "Ready time of A.",
        ready_b_ns: Option<i64> = "Ready time of B.",
        duration_a_ns: Option<i64> = "Duration in A: of processes the lifetime, of methods from first to last.",
        duration_b_ns: Option<i64> = "Duration in B.",
        duration_ratio: Option<f64> = "Duration in B / duration in A.",
        is_longer: bool = "Whether it lasts more than three times as long on one side.",
        count_a: Option<i64> = "Operations, waits or queries of A.",
        count_b: Option<i64> = "Operations, waits or queries of B.",
        bytes_a: Option<i64> = "Bytes of A.",
        bytes_b: Option<i64> = "Bytes of B.",
        timeouts_a: Option<i64> = "Queries of A during which a server did not answer in time.",
        timeouts_b: Option<i64> = "Queries of B during which a server did not answer in time.",
        is_shown: bool =
            "Whether text shows it: of several methods of a process with the same times only the innermost one.",
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// Counters of processors on both sides.
    pub row CounterChange {
        name: String = "What is compared: process, method, file, mark or setting.",
        of: Option<String> = "Of processes the command line without numbers, of other rows the process.",
        instructions_a: Option<i64> = "Instructions of A.",
        instructions_b: Option<i64> = "Instructions of B.",
        cycles_a: Option<i64> = "Cycles of A.",
        cycles_b: Option<i64> = "Cycles of B.",
        cpi_a: Option<f64> = "Cycles per instruction of A.",
        cpi_b: Option<f64> = "Cycles per instruction of B.",
        cpi_change_percent: Option<f64> = "By how much B has more cycles per instruction.",
        is_interference: bool =
            "Whether these differ by 10 % or more while the numbers of instructions differ by less than 3 %.",
        sort_value: f64 = "What the rows are sorted by.",
    }
}
