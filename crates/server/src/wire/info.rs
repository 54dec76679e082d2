//! What is open.

use serde::{Deserialize, Serialize};

use super::Range;

/// `GET api/v1/info`: everything that is open. The page asks again while something is not ready.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Info {
    /// Version of the program.
    pub version: String,
    /// What is open, in the order in which it was opened; `id` is the place in this list.
    pub traces: Vec<TraceInfo>,
    /// Traces that were opened before, the latest first.
    pub recent: Vec<Recent>,
}

/// A trace or an extract that is open, or about to be.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TraceInfo {
    /// What requests call it.
    pub id: u32,
    /// File name.
    pub name: String,
    /// Where it lies, as it was named.
    pub path: String,
    /// How far it is.
    pub state: State,
    /// Nothing before it is ready.
    pub opening: Option<Opening>,
}

/// What is known of a trace that is ready.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Opening {
    /// Hash of its source; links name it.
    pub hash: String,
    /// Its first and last moment.
    pub range: Range,
    /// Wall clock at its start: units of 100 ns since 1601, as text.
    pub start_filetime: String,
    /// Name of the machine.
    pub computer: Option<String>,
    /// Version of Windows.
    pub os: Option<String>,
    /// Number of processors.
    pub processors: u32,
    /// It keeps sums, not rows, so that parts of it cannot be asked.
    pub is_summary: bool,
    /// Tables that have rows.
    pub tables: Vec<TableCount>,
    /// What was recorded and what was not.
    pub topics: Vec<TopicInfo>,
    /// What the trace lacks, in sentences; empty where nothing is known to be missing.
    pub missing: Vec<String>,
    /// Questions of `GET api/v1/schema` that have something to answer from, by name.
    pub questions: Vec<String>,
}

/// How many rows a table has.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TableCount {
    /// The table.
    pub name: String,
    /// Its rows.
    pub rows: u64,
}

/// What a topic of recordings has in this trace.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TopicInfo {
    /// Its name in `etwkit info`.
    pub name: String,
    /// It was recorded.
    pub is_recorded: bool,
}

/// How far a trace is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum State {
    /// It is being read.
    Opening {
        /// What is being done, in words.
        step: String,
        /// Share of it that is done, 0 to 1; nothing where that is not known.
        done: Option<f64>,
    },
    /// It can be asked.
    Ready,
    /// It cannot be opened.
    Failed {
        /// Why.
        message: String,
        /// What can be done about it.
        hint: Option<String>,
    },
}

/// A trace that was opened before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Recent {
    /// File name.
    pub name: String,
    /// Where it lies.
    pub path: String,
}

/// `POST api/v1/open`: opens one more, and answers with [`Info`]. A file that the page has, and the server
/// has not, is sent as the body of `POST api/v1/upload?name=NAME`; `POST api/v1/demo` opens the
/// demonstration.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct OpenRequest {
    /// Path of a trace or an extract on the machine of the server.
    pub path: String,
}
