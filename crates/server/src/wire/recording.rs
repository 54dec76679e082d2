//! The recording that the page controls.

use serde::{Deserialize, Serialize};

use super::Failure;

/// `POST api/v1/record`: the recorder of the machine of the server. The other requests below
/// `record/` answer with it: `start`, `mark`, `stop`, `cancel`. Except for `mark`, they start in the
/// background what `step` names.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RecordAnswer {
    /// This machine can be recorded.
    pub is_possible: bool,
    /// Profiles to choose from.
    pub profiles: Vec<RecordProfile>,
    /// Folder that recordings are written to.
    pub folder: String,
    /// The current step.
    pub step: RecordStep,
    /// Names of the profiles that are being recorded.
    pub recorded: Vec<String>,
    /// Seconds since the start of the recording.
    pub seconds: f64,
    /// Marks that the page has set in the recording.
    pub marks: u32,
    /// Counts of events that the recorder reports; empty if it reports none.
    pub counts: Vec<RecordCount>,
    /// Warnings about the recording, or about the last one.
    pub warnings: Vec<String>,
    /// Path of the last recording, which is opened as soon as it is written.
    pub written: Option<String>,
    /// The error of the last step.
    pub failure: Option<Failure>,
}

/// Progress of a recording.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RecordStep {
    /// Nothing is being recorded by this server.
    #[default]
    Idle,
    /// The recorder is being started.
    Starting,
    /// Events are being recorded.
    Recording,
    /// The recording is being written.
    Stopping,
    /// The recording is being discarded.
    Cancelling,
}

/// A profile to record with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RecordProfile {
    /// Its name, for requests.
    pub name: String,
    /// What it records, in one sentence.
    pub sentence: String,
    /// Questions that its recordings answer, by name.
    pub questions: Vec<String>,
    /// It needs counters of the processor, which virtual machines do not have.
    pub needs_counters: bool,
}

/// A count that the recorder reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RecordCount {
    /// Its name, in the words of the recorder.
    pub name: String,
    /// The sum over all collectors.
    pub value: u64,
}

/// `POST api/v1/record/start`: starts a recording.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RecordRequest {
    /// Names of profiles.
    pub profiles: Vec<String>,
    /// All events are kept, in a file; otherwise the last ones, in memory.
    pub to_file: bool,
}

/// `POST api/v1/record/mark`: puts a mark into the recording.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MarkRequest {
    /// One line of at most 200 characters.
    pub text: String,
}
