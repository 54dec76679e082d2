//! Rows of the answer.

etwkit_question::declare! {
    /// Something that goes with the slow runs.
    pub row CauseRow {
        cause: i64 = "Number of the cause, from 1: the one with the largest effect.",
        effect_ms: f64 = "How much of the difference between slow and fast runs it accounts for (ms).",
        share_percent: f64 = "The effect in percent of that difference.",
        measure: String =
            "What is measured: `wait`, `CPU`, `ready`, `time`, `bytes`, `count`, `ratio`, or `has it`.",
        kind: String = "What it is about: `method`, `stack tag`, `process`, `disk I/O` and so on.",
        name: String = "Its most specific name; empty where kind and process say everything.",
        process: Option<String> = "Name of the processes; missing where the cause concerns the whole machine.",
        slow: f64 = "Its mean in slow runs, in its own unit.",
        fast: f64 = "Its mean in fast runs.",
        unit: String = "That unit: `ms`, `bytes`, `0 or 1`, or empty for a number.",
        ms_per_unit: f64 = "How much longer a run takes with each unit.",
        base_ms: f64 =
            "Metric of a run without it (ms), by the line with this slope that has half of the runs above it.",
        correlation: f64 = "Rank correlation with the metric minus what stronger causes account for.",
        p_value: Option<f64> =
            "Share of false discoveries among causes that are at least as likely, corrected for all features \
             that were tried; missing where runs are too few.",
        is_p_of_all: bool =
            "Whether `p_value` is the probability that the causes with this mark add up to the metric by chance.",
        runs: i64 = "Runs that it slows: it adds at least 5% of that difference to them, above the mean of the fast runs.",
        is_rest: bool = "Whether only the part is meant that the causes found before it leave.",
        moves_with: String = "Other names for it: what is larger or smaller in the same runs, separated by `; `.",
        more: i64 = "How many of these names are left out.",
    }

    /// A run.
    pub row RunRow {
        run: i64 = "Number of the run, from 0, in the order of the extracts.",
        extract: String = "Name of its extract.",
        start_utc: String = "Start of the recording, UTC.",
        metric_ms: Option<f64> = "The metric (ms); missing if the run has none.",
        half: Option<String> =
            "`slow` or `fast`; missing for the run in the middle, for runs without a metric, and if no run is slower.",
        state: String = "`ok`, `outlier`, `not comparable`, both, or `no metric`.",
        spreads: Option<f64> =
            "How far its metric is from the median, in median absolute deviations × 1.4826.",
        explained_ms: Option<f64> = "What all causes together add to it, above the mean of the fast runs.",
        not_comparable: Option<String> = "What differs from the other runs, separated by `; `.",
    }

    /// The contribution of a cause to a run.
    pub row EffectRow {
        run: i64 = "Number of the run.",
        extract: String = "Name of its extract.",
        cause: i64 = "Number of the cause.",
        name: String = "Its name.",
        value: f64 = "Its value in the run, in its own unit.",
        unit: String = "That unit.",
        effect_ms: f64 = "What it adds, above the mean of the fast runs (ms).",
    }

    /// Runs with the same values of the labels of `--group-by`.
    pub row GroupRow {
        labels: String = "The labels with their values: `NAME=VALUE`, separated by `, `.",
        first: String = "Value of the first label; `(none)` for runs without it.",
        second: Option<String> = "Value of the second label; missing if runs are grouped by one.",
        runs: i64 = "Number of runs with a metric.",
        mean_ms: f64 = "Mean of the metric (ms).",
        median_ms: f64 = "Median of the metric (ms).",
        spread_ms: f64 =
            "Spread of the metric around its median (ms): median absolute deviation × 1.4826.",
        min_ms: f64 = "Least metric (ms).",
        max_ms: f64 = "Greatest metric (ms).",
        fastest_core_ms: Option<f64> =
            "Mean CPU of a run on the fastest kind of core, the P-cores (ms), of `--process` or of all processes; \
             missing if the cores of a run are of one kind.",
        other_core_ms: Option<f64> = "Mean CPU of a run on all other cores, the E-cores (ms).",
    }

    /// A change over time.
    pub row ChangeRow {
        extract: String = "The first run after the change, in the order of the recordings.",
        start_utc: String = "When that run was recorded, UTC.",
        runs_before: i64 = "Runs before it.",
        runs_after: i64 = "Runs from there on.",
        before_ms: f64 = "Median of the metric before it.",
        after_ms: f64 = "Median of the metric from there on.",
        change_ms: f64 = "The difference.",
        p_value: f64 = "Probability that the same runs in random order change this much somewhere.",
    }

    /// A topic that runs did not record.
    pub row MissingRow {
        topic: String = "What was not recorded.",
        runs: i64 = "The number of runs that did not record it.",
        all_runs: i64 = "The number of all runs.",
        means: String = "What cannot be found as a cause for that reason.",
        recorded_by: Option<String> = "What records it.",
    }
}
