//! What a comparison answers: rows of its tables.

etwkit_query::declare! {
    /// The comparison in one sentence, and the wall times.
    pub row Summary {
        sentence: String = "What differs most, in one sentence.",
        wall: String = "What the wall time is: `marks`, `process`, `range` or `recording`.",
        wall_a_ns: i64 = "Wall time of A.",
        wall_b_ns: i64 = "Wall time of B.",
        wall_difference_ns: i64 = "B − A.",
        trace_a: String = "Trace of A.",
        trace_b: String = "Trace of B.",
        from_a_ns: i64 = "Begin of what is compared of A.",
        to_a_ns: i64 = "Its end.",
        from_b_ns: i64 = "Begin of what is compared of B.",
        to_b_ns: i64 = "Its end.",
    }

    /// What limits the comparison.
    pub row Remark {
        remark: String = "What the reader should know, in one sentence.",
    }

    /// Something of both sides that is no number: of the machine, of a module, a setting.
    pub row Fact {
        topic: Option<String> = "What it belongs to.",
        name: String = "What is compared: process, method, file, mark, setting or whatever the table has.",
        a: Option<String> = "What A has; missing where it has none.",
        b: Option<String> = "What B has.",
    }

    /// From one mark to the next one that both sides have.
    pub row MarkChange {
        name: String = "What is compared: process, method, file, mark, setting or whatever the table has.",
        until: String = "The mark at its end.",
        a_ns: Option<i64> = "Time of A.",
        b_ns: Option<i64> = "Time of B.",
        difference_ns: i64 = "B − A.",
    }

    /// Times, sizes and counts of something on both sides. What is missing was not recorded, or is of the
    /// other side alone.
    pub row Change {
        name: String = "What is compared: process, method, file, mark, setting or whatever the table has.",
        of: Option<String> = "Of processes the command line without numbers, of other rows the process.",
        only_in: Option<String> = "`A` or `B`, where the other side has none of it.",
        of_time: String = "Which time differs most: `cpu`, `wait`, `ready` or `time`.",
        a_ns: Option<i64> = "That time of A.",
        b_ns: Option<i64> = "That time of B.",
        difference_ns: i64 = "B − A of it.",
        explains_percent: Option<f64> = "`difference_ns` of the difference in wall time, where there is one.",
        cpu_a_ns: Option<i64> = "CPU of A.",
        cpu_b_ns: Option<i64> = "CPU of B.",
        wait_a_ns: Option<i64> = "Waiting of A: time in which at least one thread waited.",
        wait_b_ns: Option<i64> = "Waiting of B.",
        ready_a_ns: Option<i64> = "Ready time of A.",
        ready_b_ns: Option<i64> = "Ready time of B.",
        duration_a_ns: Option<i64> = "Of processes the lifetime, of methods from first to last, of A.",
        duration_b_ns: Option<i64> = "The same of B.",
        duration_ratio: Option<f64> = "B / A of it.",
        is_longer: bool = "Whether it lasts more than three times as long on one side.",
        count_a: Option<i64> = "Operations, waits or queries of A.",
        count_b: Option<i64> = "Those of B.",
        bytes_a: Option<i64> = "Bytes of A.",
        bytes_b: Option<i64> = "Bytes of B.",
        timeouts_a: Option<i64> = "Queries of A during which a server did not answer in time.",
        timeouts_b: Option<i64> = "Those of B.",
        is_told: bool =
            "Whether people see it: of several methods of a process with the same times the innermost one.",
        sort_value: f64 = "What the rows are sorted by.",
    }

    /// Counters of processors on both sides.
    pub row CounterChange {
        name: String = "What is compared: process, method, file, mark, setting or whatever the table has.",
        of: Option<String> = "Of processes the command line without numbers, of other rows the process.",
        instructions_a: Option<i64> = "Instructions of A.",
        instructions_b: Option<i64> = "Instructions of B.",
        cycles_a: Option<i64> = "Cycles of A.",
        cycles_b: Option<i64> = "Cycles of B.",
        cpi_a: Option<f64> = "Cycles for each instruction of A.",
        cpi_b: Option<f64> = "The same of B.",
        cpi_change_percent: Option<f64> = "By how much B has more of them.",
        is_interference: bool =
            "Whether these differ by more than 10 % with nearly the same instructions (less than 3 %).",
        sort_value: f64 = "What the rows are sorted by.",
    }
}
