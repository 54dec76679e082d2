//! Open traces and their state.

use serde::{Deserialize, Serialize};

use super::Range;

/// `GET api/v1/info`: everything that is open. The page asks again while something is not ready.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Info {
    /// Version of the program.
    pub version: String,
    /// Open traces, in the order in which they were opened; `id` is the place in this list.
    pub traces: Vec<TraceInfo>,
    /// Traces that were opened before, the latest first.
    pub recent: Vec<Recent>,
    /// Folders that are open, the latest first.
    pub folders: Vec<String>,
}

/// A trace or an extract that is open, or about to be.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TraceInfo {
    /// Its number in requests.
    pub id: u32,
    /// File name.
    pub name: String,
    /// Its path, as it was named.
    pub path: String,
    /// The path as a word of a command line, for any shell.
    pub word: String,
    /// Progress of opening it.
    pub state: State,
    /// Nothing before it is ready.
    pub opening: Option<Opening>,
    /// Number of times that its extract was replaced while it was open: what is known of it with
    /// another number may have changed.
    pub replaced: u32,
}

/// Description of a trace that is ready.
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
    /// Topics, and for each whether it was recorded.
    pub topics: Vec<TopicInfo>,
    /// Parts that are missing from the trace, in sentences; empty if none is known.
    pub missing: Vec<String>,
    /// Questions of `GET api/v1/schema` that have something to answer from, by name.
    pub questions: Vec<String>,
    /// Tables and questions without rows although their events were recorded, by name.
    pub did_not_happen: Vec<String>,
}

/// Number of rows of a table.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TableCount {
    /// The table.
    pub name: String,
    /// Its rows.
    pub rows: u64,
}

/// A topic of recordings, and its presence in this trace.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TopicInfo {
    /// Its name in `etwkit info`.
    pub name: String,
    /// It was recorded.
    pub is_recorded: bool,
}

/// Progress of opening a trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum State {
    /// It is being read.
    Opening {
        /// The current step, in words.
        step: String,
        /// Share of it that is done, 0 to 1; nothing where that is not known.
        done: Option<f64>,
    },
    /// It can be asked.
    Ready,
    /// It cannot be opened.
    Failed {
        /// The error.
        message: String,
        /// Advice for correcting it.
        hint: Option<String>,
    },
}

/// A trace that was opened before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Recent {
    /// File name.
    pub name: String,
    /// Its path.
    pub path: String,
}

/// `POST api/v1/folder`: lists a folder that is open.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FolderRequest {
    /// Its path, as [`Info`] has it.
    pub path: String,
}

/// The recordings in a folder.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FolderAnswer {
    /// Name of the folder.
    pub name: String,
    /// Its absolute path.
    pub place: String,
    /// Folder that contains it; nothing if that one is not open.
    pub above: Option<String>,
    /// Its recordings.
    pub recordings: Vec<FolderRecording>,
    /// Number of recordings beyond the longest list.
    pub left_out: u64,
    /// The folders in it.
    pub folders: Vec<FolderIn>,
}

/// A folder in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FolderIn {
    /// Its name.
    pub name: String,
    /// Its path.
    pub path: String,
}

/// A recording in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FolderRecording {
    /// File name.
    pub name: String,
    /// Path that opens it.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// Wall clock at its start, if its head was read: units of 100 ns since 1601, as text.
    pub start_filetime: Option<String>,
    /// Name of the machine, which only extracts have in their head.
    pub computer: Option<String>,
    /// An extract of it exists. Nothing where its head was not read.
    pub is_extracted: Option<bool>,
    /// Missing or damaged parts; nothing if none is known.
    pub gaps: Option<String>,
    /// The reason why it cannot be read.
    pub failure: Option<String>,
}

/// `POST api/v1/open`: opens one more, and answers with [`Info`]. A folder is listed instead, by
/// [`FolderRequest`]. A file that the page has, and the
/// server has not, is sent as the body of `POST api/v1/upload?name=NAME`; `POST api/v1/demo` opens
/// the demonstration.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct OpenRequest {
    /// Path of a trace, an extract or a folder on the machine of the server.
    pub path: String,
}
