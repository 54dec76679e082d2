//! Common causes of slow runs.

use serde::{Deserialize, Serialize};

use super::Source;

/// `POST api/v1/explain`: compares traces, each of which is a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ExplainRequest {
    /// The traces. Two traces with one extract are one run.
    pub traces: Vec<u32>,
    /// Values of the options of the question `explain`.
    #[cfg_attr(test, ts(type = "Record<string, unknown>"))]
    pub options: serde_json::Map<String, serde_json::Value>,
}

/// The causes that slow runs have in common.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ExplainAnswer {
    /// The answer in one sentence.
    pub sentence: String,
    /// Further facts about the runs.
    pub lines: Vec<String>,
    /// Name of the metric.
    pub metric: String,
    /// The runs.
    pub runs: Vec<ExplainRun>,
    /// The causes, the one with the largest effect first.
    pub causes: Vec<ExplainCause>,
    /// Runs with the same labels; empty if runs are not grouped.
    pub groups: Vec<ExplainGroup>,
    /// Origin of the answer.
    pub source: Source,
}

/// A run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ExplainRun {
    /// Its trace.
    pub trace: u32,
    /// The metric (ms), if the run has one.
    pub metric_ms: Option<f64>,
    /// `slow` or `fast`, if the run is in one of the halves.
    pub half: Option<String>,
    /// `ok`, `outlier`, `not comparable`, both, or `no metric`.
    pub state: String,
    /// Differences from the other runs.
    pub not_comparable: Option<String>,
}

/// A cause.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ExplainCause {
    /// Its name.
    pub name: String,
    /// The measured quantity: `wait`, `CPU`, `bytes` and so on.
    pub measure: String,
    /// Unit of its values: `ms`, `bytes`, `0 or 1`, or empty.
    pub unit: String,
    /// The part of the difference between slow and fast runs that it accounts for (ms).
    pub effect_ms: f64,
    /// The effect as a share of the difference, 0 to 1.
    pub share: f64,
    /// Its mean in slow runs.
    pub slow: f64,
    /// Its mean in fast runs.
    pub fast: f64,
    /// Milliseconds of a run for each unit.
    pub ms_per_unit: f64,
    /// Metric of a run without it (ms), by the line with this slope.
    pub base_ms: f64,
    /// Share of false discoveries; nothing if the runs are too few.
    pub p_value: Option<f64>,
    /// `p_value` is of all causes with this mark together.
    pub is_p_of_all: bool,
    /// Other names for it.
    pub moves_with: Vec<String>,
    /// Number of further names.
    pub more: i64,
    /// The runs with a metric, each with its value.
    pub points: Vec<ExplainPoint>,
}

/// The value of a cause in a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ExplainPoint {
    /// Place of the run in the list of runs.
    pub run: i64,
    /// The value, in the unit of the cause.
    pub value: f64,
}

/// Runs with the same values of labels.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ExplainGroup {
    /// Value of the first label.
    pub first: String,
    /// Value of the second label, if runs are grouped by two.
    pub second: Option<String>,
    /// Number of runs.
    pub runs: i64,
    /// Median of the metric (ms).
    pub median_ms: f64,
    /// Spread of the metric around its median (ms).
    pub spread_ms: f64,
    /// Least metric (ms).
    pub min_ms: f64,
    /// Greatest metric (ms).
    pub max_ms: f64,
    /// Mean CPU on P-cores (ms), if the machines have several kinds of cores.
    pub fastest_core_ms: Option<f64>,
    /// Mean CPU on E-cores (ms).
    pub other_core_ms: Option<f64>,
}
