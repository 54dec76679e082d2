//! Rows of the answer.

etwkit_query::declare! {
    /// Something that goes with the slow runs.
    pub row CauseRow {
        cause: i64 = "Number of the cause, from 1: the one with the largest effect.",
        effect_ms: f64 = "How much of the difference between slow and fast runs it accounts for (ms).",
        share_percent: f64 = "The same in percent of that difference.",
        measure: String =
            "What is measured: `wait`, `CPU`, `ready`, `time`, `bytes`, `count`, `ratio`, or `has it`.",
        kind: String = "What it is of: `method`, `stack tag`, `process`, `disk I/O` and so on.",
        name: String = "Its most specific name; empty where kind and process say all.",
        process: Option<String> = "Name of the processes; missing for what is of the whole machine.",
        slow: f64 = "Its mean in slow runs, in its own unit.",
        fast: f64 = "Its mean in fast runs.",
        unit: String = "That unit: `ms`, `bytes`, `0 or 1`, or empty for a number.",
        ms_per_unit: f64 = "How much longer a run takes with each unit.",
        correlation: f64 = "Rank correlation with the metric without what stronger causes account for.",
        p_value: Option<f64> =
            "Share of false ones among causes that are at least that likely, with all features that were \
             tried; missing where runs are too few.",
        runs: i64 = "Runs that have any of it.",
        is_rest: bool = "Only what the causes found before it leave of it is meant.",
        moves_with: String = "Other names of it: what is more or less in the same runs, with `; ` between.",
        more: i64 = "How many of these are left out.",
    }

    /// A run.
    pub row RunRow {
        run: i64 = "Number of the run, from 0, in the order of the extracts.",
        extract: String = "Name of its extract.",
        start_utc: String = "Start of the recording, UTC.",
        metric_ms: Option<f64> = "The metric (ms); missing if the run has none.",
        half: Option<String> =
            "`slow` or `fast`; missing for the one in the middle and for runs without a metric.",
        state: String = "`ok`, `outlier`, `not comparable`, both, or `no metric`.",
        spreads: Option<f64> =
            "How far its metric is from the median, in median absolute deviations × 1.4826.",
        explained_ms: Option<f64> = "What all causes together add to it, above the mean of the fast runs.",
        not_comparable: Option<String> = "What is not as in the other runs, with `; ` between.",
    }

    /// What a cause adds to a run.
    pub row EffectRow {
        run: i64 = "Number of the run.",
        extract: String = "Name of its extract.",
        cause: i64 = "Number of the cause.",
        name: String = "Its name.",
        effect_ms: f64 = "What it adds, above the mean of the fast runs (ms).",
    }

    /// A change over time.
    pub row ChangeRow {
        extract: String = "The first run behind it, in the order of the recordings.",
        start_utc: String = "When that was recorded, UTC.",
        runs_before: i64 = "Runs before it.",
        runs_after: i64 = "Runs from there on.",
        before_ms: f64 = "Median of the metric before it.",
        after_ms: f64 = "Median of the metric from there on.",
        change_ms: f64 = "The difference.",
        p_value: f64 = "Probability that runs in any order change that much somewhere.",
    }

    /// What runs did not record.
    pub row MissingRow {
        topic: String = "What was not recorded.",
        runs: i64 = "In so many runs.",
        all_runs: i64 = "Of so many.",
        means: String = "What cannot be a cause here for that reason.",
        recorded_by: Option<String> = "What records it.",
    }
}
