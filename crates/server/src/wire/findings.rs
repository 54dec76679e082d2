//! Findings of the rules, which the page begins with.

use serde::{Deserialize, Serialize};

use super::{Chip, ColumnFilter, Range, Source, Weight};

/// `POST api/v1/findings`: asks the rules what made a trace slow. The answer is kept as long as the
/// trace is open.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FindingsRequest {
    /// The trace.
    pub trace: u32,
}

/// The answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FindingsAnswer {
    /// The findings, the costliest first and notes last.
    pub findings: Vec<Finding>,
    /// All rules, and what came of each; also costs that could not be computed.
    pub rules: Vec<RuleState>,
    /// The largest costs by kind if no finding costs time: where to look. They are no findings.
    pub costs: Vec<Cost>,
    /// Origin of the answer.
    pub source: Source,
}

/// Something that a rule found.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Finding {
    /// Its place in the order of cost, from 1.
    pub number: i64,
    /// The rule that found it.
    pub rule: String,
    /// The finding, as a sentence.
    pub sentence: String,
    /// The cause: a driver, process, server, file or setting.
    pub culprit: String,
    /// Time in which at least one victim could not go on because of it; null for what is only to be
    /// known.
    pub cost_ns: Option<i64>,
    /// Share of the recording that this is, 0 to 1.
    pub share: Option<f64>,
    /// The process that it cost most, with its id; null where it is none.
    pub victim: Option<String>,
    /// Key of this process.
    pub process_key: Option<i64>,
    /// Number of the finding that explains most of its time; null without one.
    pub explained_by: Option<i64>,
    /// All processes that it cost something, the first ones with how much.
    pub victims: String,
    /// Number of occurrences.
    pub count: Option<i64>,
    /// From the first piece to the last one.
    pub range: Option<Range>,
    /// Begin of the longest piece.
    pub at_ns: Option<i64>,
    /// Length of the longest piece.
    pub longest_ns: Option<i64>,
    /// Thread of the longest piece.
    pub thread_key: Option<i64>,
    /// Frames of its stack, innermost first.
    pub stack: Vec<String>,
    /// Wait chain of the longest piece, the victim first.
    pub chain: Vec<String>,
    /// `high`, `medium` or `low`, and why it is not high.
    pub confidence: String,
    /// Command lines that show the rows behind it.
    pub evidence: Vec<Evidence>,
    /// What these lines show if it is not just the cost of the finding; empty otherwise.
    pub shows: String,
    /// The view that shows these rows; null where the rule names none.
    pub spot: Option<Spot>,
    /// Explanation of the finding.
    pub why: String,
    /// Recommended fix.
    pub fix: String,
    /// Conclusions that do not follow from it.
    pub not_proved: String,
}

/// A view of the page, and what narrows it to the rows behind a finding or a cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Spot {
    /// Name of the view.
    pub view: String,
    /// Table whose rows it shows; null where it shows the answer to a question.
    pub table: Option<String>,
    /// Question that it answers; null where it shows rows.
    pub question: Option<String>,
    /// Quantity that the view adds up, if it knows several.
    pub weight: Option<Weight>,
    /// Conditions on its rows.
    pub chips: Vec<Chip>,
    /// Conditions on columns of the table.
    pub columns: Vec<ColumnFilter>,
    /// Options of the question that no chip says.
    #[cfg_attr(test, ts(type = "Record<string, unknown>"))]
    pub options: serde_json::Map<String, serde_json::Value>,
}

/// One of the largest costs of a trace.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Cost {
    /// `processor`, `wait`, `disk`, `dpc`, `gc` or `hard-fault`.
    pub kind: String,
    /// What took the time, as a sentence.
    pub sentence: String,
    /// How long.
    pub cost_ns: i64,
    /// Share of the recording; above 1 on several processors.
    pub share: Option<f64>,
    /// Wait chain of a wait, the victim first.
    pub chain: Vec<String>,
    /// Command lines that show its rows.
    pub evidence: Vec<Evidence>,
    /// The view that shows these rows; null where the first line says it.
    pub spot: Option<Spot>,
}

/// A command line that shows the rows behind a finding or a cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Evidence {
    /// The whole line, quoted for a shell.
    pub command: String,
    /// Its words, without the program and the trace.
    pub words: Vec<String>,
}

/// A rule, and what came of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RuleState {
    /// Its name.
    pub rule: String,
    /// The problem that it finds.
    pub title: String,
    /// `found`, `nothing`, `not checked` or `failed`.
    pub state: String,
    /// The data that it needs and that was not recorded, or the reason for its failure.
    pub missing: Option<String>,
}
