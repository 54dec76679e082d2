//! Truth about planted causes.

use serde::Serialize;

/// A cause of slowness.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// Number of its card.
    pub card: u8,
    /// Name of its card.
    pub rule: String,
    /// The culprit: a driver, process, server, file or setting.
    pub culprit: String,
    /// Processes that suffer.
    pub victims: Vec<Victim>,
    /// Additional time of the operation compared with a trace without the cause; missing if one
    /// trace cannot show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_ns: Option<i64>,
    /// Time in which it acts on its victims; missing for a setting that is permanent and costs no
    /// time.
    #[serde(flatten)]
    pub acted: Option<Acted>,
}

/// Time in which a cause acts on its victims, since the start of the trace.
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
