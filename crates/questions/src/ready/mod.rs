//! Percentiles of ready times, in addition to the rows of processes and methods.

use etwkit_question::declare;
pub mod instead;

declare! {
    /// Ready times of threads before they were switched in: after a deep sleep of the processor,
    /// and in all other cases.
    pub row ReadyTimes {
        deep_sleep_ready_count: Option<i64> = "Switch-ins after a deep sleep.",
        deep_sleep_ready_min_ns: Option<i64> = "Shortest ready time.",
        deep_sleep_ready_p5_ns: Option<i64> = "5th percentile.",
        deep_sleep_ready_p25_ns: Option<i64> = "25th percentile.",
        deep_sleep_ready_p50_ns: Option<i64> = "Median.",
        deep_sleep_ready_p90_ns: Option<i64> = "90th percentile.",
        deep_sleep_ready_p95_ns: Option<i64> = "95th percentile.",
        deep_sleep_ready_p99_ns: Option<i64> = "99th percentile.",
        deep_sleep_ready_max_ns: Option<i64> = "Longest ready time.",
        deep_sleep_ready_sum_ns: Option<i64> = "Sum.",
        deep_sleep_ready_longest_sum_ns: Option<i64> = "Sum of the longest hundredth.",
        other_ready_count: Option<i64> = "All other switch-ins.",
        other_ready_min_ns: Option<i64> = "Shortest ready time.",
        other_ready_p5_ns: Option<i64> = "5th percentile.",
        other_ready_p25_ns: Option<i64> = "25th percentile.",
        other_ready_p50_ns: Option<i64> = "Median.",
        other_ready_p90_ns: Option<i64> = "90th percentile.",
        other_ready_p95_ns: Option<i64> = "95th percentile.",
        other_ready_p99_ns: Option<i64> = "99th percentile.",
        other_ready_max_ns: Option<i64> = "Longest ready time.",
        other_ready_sum_ns: Option<i64> = "Sum.",
        other_ready_longest_sum_ns: Option<i64> = "Sum of the longest hundredth.",
    }
}

/// The times of one of the two kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percentiles {
    /// Switch-ins.
    pub count: i64,
    /// Shortest, 5th, 25th, 50th, 90th, 95th, 99th percentile, longest; in nanoseconds.
    pub values: [i64; 8],
    /// Sum in nanoseconds.
    pub sum_ns: i64,
    /// Sum of the longest hundredth.
    pub longest_sum_ns: i64,
}

impl ReadyTimes {
    /// Times after a deep sleep, if there were enough of them.
    #[must_use]
    pub fn deep_sleep(&self) -> Option<Percentiles> {
        Some(Percentiles {
            count: self.deep_sleep_ready_count?,
            values: [
                self.deep_sleep_ready_min_ns?,
                self.deep_sleep_ready_p5_ns?,
                self.deep_sleep_ready_p25_ns?,
                self.deep_sleep_ready_p50_ns?,
                self.deep_sleep_ready_p90_ns?,
                self.deep_sleep_ready_p95_ns?,
                self.deep_sleep_ready_p99_ns?,
                self.deep_sleep_ready_max_ns?,
            ],
            sum_ns: self.deep_sleep_ready_sum_ns?,
            longest_sum_ns: self.deep_sleep_ready_longest_sum_ns?,
        })
    }

    /// Returns all other times, if there were enough of them.
    #[must_use]
    pub fn other(&self) -> Option<Percentiles> {
        Some(Percentiles {
            count: self.other_ready_count?,
            values: [
                self.other_ready_min_ns?,
                self.other_ready_p5_ns?,
                self.other_ready_p25_ns?,
                self.other_ready_p50_ns?,
                self.other_ready_p90_ns?,
                self.other_ready_p95_ns?,
                self.other_ready_p99_ns?,
                self.other_ready_max_ns?,
            ],
            sum_ns: self.other_ready_sum_ns?,
            longest_sum_ns: self.other_ready_longest_sum_ns?,
        })
    }
}

/// Columns of `ready_percentile` that rows have.
const COLUMNS: [&str; 11] = [
    "count",
    "min_ns",
    "p5_ns",
    "p25_ns",
    "p50_ns",
    "p90_ns",
    "p95_ns",
    "p99_ns",
    "max_ns",
    "sum_ns",
    "longest_sum_ns",
];

/// The two kinds: their table in a question, the prefix of their columns, and the condition on
/// their rows.
const KINDS: [(&str, &str, &str); 2] = [
    ("rd", "deep_sleep_ready", "is_deep_sleep"),
    ("ro", "other_ready", "NOT is_deep_sleep"),
];

/// Returns the columns of the joined percentiles.
pub(super) fn columns() -> String {
    let one = |(table, name, _): (&str, &str, &str)| {
        COLUMNS
            .map(|column| format!("{table}.{column} AS {name}_{column}"))
            .join(", ")
    };
    KINDS.map(one).join(",\n  ")
}

/// Returns the columns of ready times, all missing: for ranges, which have no percentiles.
pub(super) fn no_columns() -> String {
    let one = |(_, name, _): (&str, &str, &str)| {
        COLUMNS
            .map(|column| format!("CAST(NULL AS BIGINT) AS {name}_{column}"))
            .join(", ")
    };
    KINDS.map(one).join(",\n  ")
}

/// Joins the percentiles of the process of the rows named `of`.
pub(super) fn join_processes(of: &str) -> String {
    join(of, "method IS NULL", |_| String::new())
}

/// Joins the percentiles of the method of the rows named `of`.
pub(super) fn join_methods(of: &str) -> String {
    join(of, "method IS NOT NULL", |table| {
        format!(
            " AND {table}.method = {of}.method AND coalesce({table}.module_path, '') = coalesce({of}.module_path, '')"
        )
    })
}

// Threads without a process have a missing key, which an equation never pairs; no key is negative.
fn join(of: &str, rows: &str, on: impl Fn(&str) -> String) -> String {
    let one = |(table, _, kind): (&str, &str, &str)| {
        format!(
            "\nLEFT JOIN (SELECT * FROM ready_percentile WHERE {rows} AND {kind}) {table}
  ON coalesce({table}.process_key, -1) = coalesce({of}.process_key, -1){}",
            on(table)
        )
    };
    KINDS.map(one).concat()
}
