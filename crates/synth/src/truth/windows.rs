//! Truth about the window manager, and about sessions of the tracing system.

use std::collections::BTreeMap;

use serde::Serialize;

/// The window manager.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Windows {
    /// Its global lock by process id, and `exclusive` or `shared`.
    pub locks: BTreeMap<String, BTreeMap<String, LockSums>>,
    /// Objects by id of the process that owned them last, and class with type: `gdi Bitmap`, `user
    /// Window`.
    pub objects: BTreeMap<String, BTreeMap<String, GuiSums>>,
    /// Times of the focus, for threads and for processes, in the order of their ends.
    pub focus: Vec<FocusStay>,
    /// Delays by process id, and `input`, `message` or `wait_cursor`.
    pub delays: BTreeMap<String, BTreeMap<String, DelaySums>>,
}

/// Acquisitions of the global lock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LockSums {
    /// Number of acquisitions.
    pub acquisitions: u64,
    /// Acquisitions with a wait so long that an event reports it.
    pub slow: u64,
    /// From the request for the lock to its acquisition.
    pub wait_ns: i64,
    /// Acquisitions whose lock was released.
    pub released: u64,
    /// From the event of the acquisition to the event of the release.
    pub hold_ns: i64,
    /// Acquisitions whose lock is not released when the trace ends.
    pub open_at_end: u64,
}

/// Objects of the window manager; all of them are created in the trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct GuiSums {
    /// Objects that were destroyed.
    pub destroyed: u64,
    /// From their creation to their destruction.
    pub lifetime_ns: i64,
    /// Objects that exist when the trace ends.
    pub live_at_end: u64,
}

/// A time in which a thread or a process had the focus.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FocusStay {
    /// `thread` or `process`.
    pub level: String,
    /// Its id.
    pub id: u32,
    /// Start; none if it had the focus before the trace.
    pub from_ns: Option<i64>,
    /// End; none if it has the focus when the trace ends.
    pub to_ns: Option<i64>,
}

/// Delays of programs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct DelaySums {
    /// Number of delays.
    pub count: u64,
    /// Total duration, in whole milliseconds each.
    pub duration_ms: u64,
}

/// Sessions of the tracing system and their providers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Sessions {
    /// Sessions that ran, in the order in which they started.
    pub sessions: Vec<Session>,
    /// Sessions that could not start, by name.
    pub start_errors: BTreeMap<String, u64>,
    /// Providers that were registered, by process id.
    pub registered: BTreeMap<String, u64>,
    /// Providers that were unregistered, by process id.
    pub unregistered: BTreeMap<String, u64>,
    /// Events that were lost, by session.
    pub lost_events: BTreeMap<String, u64>,
}

/// A session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Session {
    /// Name; only one session has it at a time.
    pub name: String,
    /// File.
    pub file: String,
    /// `LogFileMode`.
    pub mode: u32,
    /// Start; none if it runs from before the trace.
    pub start_ns: Option<i64>,
    /// Stop; none if it runs when the trace ends.
    pub stop_ns: Option<i64>,
    /// Lost events, as reported by its stop.
    pub events_lost: Option<u32>,
    /// Number of times that each provider was enabled.
    pub enabled: BTreeMap<String, u64>,
    /// Number of times that each provider was disabled.
    pub disabled: BTreeMap<String, u64>,
}
