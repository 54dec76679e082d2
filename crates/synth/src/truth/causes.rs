//! What is wrong in a trace with planted causes.

use serde::Serialize;

/// A cause of slowness.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// Number of its card.
    pub card: u8,
    /// Name of its card.
    pub rule: String,
    /// What to blame: a driver, process, server, file or setting.
    pub culprit: String,
    /// Processes that suffer.
    pub victims: Vec<Victim>,
    /// How much longer the operation takes than without it; missing where one trace cannot show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_ns: Option<i64>,
    /// When it acts on its victims; missing for a setting that holds all the time and takes nobody's time.
    #[serde(flatten)]
    pub acted: Option<Acted>,
}

/// When a cause acts on its victims, since the start of the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Acted {
    /// The first moment.
    pub from_ns: i64,
    /// The last moment.
    pub to_ns: i64,
}

/// A process that suffers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Victim {
    /// Process id.
    pub pid: u32,
    /// Name.
    pub name: String,
}
