//! Truth about requests to the system: timer resolutions, settings, host names.

use std::collections::BTreeMap;

use serde::Serialize;

/// A resolution of the system timer that was requested or in force.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TimerResolution {
    /// `process`, `kernel` or `system`: in force.
    pub kind: String,
    /// Process that requested it.
    pub pid: Option<u32>,
    /// In units of 100 ns.
    pub resolution_100ns: u32,
    /// Start; none if it was in force before the trace.
    pub from_ns: Option<i64>,
    /// End, by another request or the end of the process; none if it is in force when the trace
    /// ends.
    pub to_ns: Option<i64>,
    /// The system ignored the request.
    pub is_ignored: bool,
}

/// A value of a setting.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PowerSetting {
    /// Start; none if it was in force before the trace.
    pub from_ns: Option<i64>,
    /// Its bytes in hexadecimal digits.
    pub data: String,
}

/// Queries of names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Dns {
    /// Answered queries, by id of the requesting process.
    pub by_process: BTreeMap<String, Lookups>,
    /// Queries that were answered, by name.
    pub by_name: BTreeMap<String, Lookups>,
    /// Queries without an answer when the trace ends.
    pub open_at_end: u64,
}

/// Sums over queries of names that were answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Lookups {
    /// Number of queries.
    pub queries: u64,
    /// Queries whose answer is an error.
    pub failed: u64,
    /// Queries for which a server did not answer in time.
    pub timed_out: u64,
    /// From the question to the answer.
    pub duration_ns: i64,
}
