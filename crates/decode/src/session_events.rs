//! Microsoft-Windows-Kernel-EventTracing: events of sessions and providers about themselves.

use etwkit_etl::{Guid, RawEvent};

use crate::Decoder;
use crate::named::{NamedFields, Values};

/// The provider.
pub const EVENT_TRACING: Guid = Guid::literal("b675ec37-bdb6-4648-bc92-f3fdc74d3ca2");

/// The subject of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionEventKind {
    /// A session writes to its file, and that failed (IDs 0, 1 and 4).
    WriteError,
    /// A session could not start (ID 2).
    StartError,
    /// A session stopped because of an error (ID 3).
    StopError,
    /// A process registers a provider (ID 8).
    Register,
    /// A process takes a provider back (ID 9).
    Unregister,
    /// A session starts (ID 10).
    Start,
    /// A session stops (ID 11).
    Stop,
    /// A provider is switched on for a session (ID 14).
    Enable,
    /// A provider is switched off for a session (ID 15).
    Disable,
    /// An event of a provider was lost (IDs 19 and 31).
    LostEvent,
    /// An existing session (ID 20).
    Running,
    /// An event of the kernel was lost (ID 34).
    LostSystemEvent,
}

impl SessionEventKind {
    /// The kind of an event ID; `None` for events that are not about sessions.
    #[must_use]
    pub const fn of(id: u16) -> Option<Self> {
        Some(match id {
            0 | 1 | 4 => Self::WriteError,
            2 => Self::StartError,
            3 => Self::StopError,
            8 => Self::Register,
            9 => Self::Unregister,
            10 => Self::Start,
            11 => Self::Stop,
            14 => Self::Enable,
            15 => Self::Disable,
            19 | 31 => Self::LostEvent,
            20 => Self::Running,
            34 => Self::LostSystemEvent,
            _ => return None,
        })
    }

    /// The name of the kind as one word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::WriteError => "write_error",
            Self::StartError => "start_error",
            Self::StopError => "stop_error",
            Self::Register => "register",
            Self::Unregister => "unregister",
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Enable => "enable",
            Self::Disable => "disable",
            Self::LostEvent => "lost_event",
            Self::Running => "running",
            Self::LostSystemEvent => "lost_system_event",
        }
    }
}

/// The fields of an event; fields that it does not have are `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFields {
    /// Name of the session.
    pub session: Option<String>,
    /// Its GUID, unless it is zero.
    pub session_guid: Option<Guid>,
    /// Bits of `LogFileMode`.
    pub mode: Option<u32>,
    /// Its file.
    pub file: Option<String>,
    /// Minimum number of buffers.
    pub minimum_buffers: Option<u32>,
    /// Maximum number of buffers.
    pub maximum_buffers: Option<u32>,
    /// Size of its buffers. The unit is not documented.
    pub buffer_size: Option<u32>,
    /// Largest number of buffers that it had.
    pub peak_buffers: Option<u32>,
    /// The buffers that it has.
    pub current_buffers: Option<u32>,
    /// Events lost.
    pub events_lost: Option<u32>,
    /// Buffers lost.
    pub buffers_lost: Option<u32>,
    /// Buffers that a reader in real time lost.
    pub real_time_buffers_lost: Option<u32>,
    /// Number of the session.
    pub logger_id: Option<u32>,
    /// Status of an error or a loss.
    pub status: Option<u32>,
    /// The provider.
    pub provider: Option<Guid>,
    /// Keywords of which an event needs one.
    pub any_keyword: Option<u64>,
    /// Keywords of which an event needs all.
    pub all_keyword: Option<u64>,
    /// Most detailed level.
    pub level: Option<u32>,
    /// `EVENT_ENABLE_PROPERTY_…` bits.
    pub enable_property: Option<u32>,
    /// The lost event: its ID, of the kernel its hook ID.
    pub event_id: Option<u32>,
    /// Name of the lost event.
    pub event_name: Option<String>,
}

/// Fields by name; some have other names in events of errors and losses.
const NAMES: [&str; 26] = [
    "SessionName",
    "SessionGuid",
    "LoggerMode",
    "LoggingMode",
    "LogFileName",
    "FileName",
    "MinimumBuffers",
    "MaximumBuffers",
    "BufferSize",
    "PeakBuffersCount",
    "CurrentBuffersCount",
    "EventsLost",
    "BuffersLost",
    "RealTimeBuffersLost",
    "LoggerId",
    "ErrorCode",
    "StatusCode",
    "ProviderName",
    "ProviderId",
    "MatchAnyKeyword",
    "MatchAllKeyword",
    "Level",
    "EnableProperty",
    "EventId",
    "HookId",
    "EventName",
];

type Fields<'e> = Values<'e, { NAMES.len() }>;

/// Reads these events.
#[derive(Debug)]
pub struct SessionReader(NamedFields<{ NAMES.len() }>);

impl Default for SessionReader {
    fn default() -> Self {
        Self(NamedFields::new(NAMES))
    }
}

impl SessionReader {
    /// Reads an event. `None` for events of other providers, events that are not about sessions,
    /// and unknown layouts.
    pub fn read(
        &mut self,
        event: &RawEvent<'_>,
        decoder: &mut Decoder,
    ) -> Option<(SessionEventKind, SessionFields)> {
        if !event.kind.is_manifest() || event.provider() != EVENT_TRACING {
            return None;
        }
        // Most events of this provider are about other things.
        let kind = SessionEventKind::of(event.descriptor().id)?;
        let fields = self.0.read(event, decoder, |values| Some(fields(values)))?;
        Some((kind, fields))
    }
}

/// Place of a field among [`NAMES`]; these events are few.
fn at(name: &str) -> usize {
    NAMES
        .iter()
        .position(|known| *known == name)
        // A name that does not exist has no position, which reads as a missing field.
        .unwrap_or(usize::MAX)
}

fn fields(values: Fields<'_>) -> SessionFields {
    let text = |name| values.text(at(name)).filter(|text| !text.is_empty());
    let guid = |name| {
        let bytes: [u8; 16] = values.bytes(at(name))?.try_into().ok()?;
        Some(Guid::from_bytes(bytes)).filter(|guid| *guid != Guid::ZERO)
    };
    let number = |name| values.u32(at(name));
    SessionFields {
        session: text("SessionName"),
        session_guid: guid("SessionGuid"),
        // Names of fields differ between events that report the same thing.
        mode: number("LoggerMode").or_else(|| number("LoggingMode")),
        file: text("LogFileName").or_else(|| text("FileName")),
        minimum_buffers: number("MinimumBuffers"),
        maximum_buffers: number("MaximumBuffers"),
        buffer_size: number("BufferSize"),
        peak_buffers: number("PeakBuffersCount"),
        current_buffers: number("CurrentBuffersCount"),
        events_lost: number("EventsLost"),
        buffers_lost: number("BuffersLost"),
        real_time_buffers_lost: number("RealTimeBuffersLost"),
        logger_id: number("LoggerId"),
        status: number("ErrorCode").or_else(|| number("StatusCode")),
        provider: guid("ProviderName").or_else(|| guid("ProviderId")),
        any_keyword: values.u64(at("MatchAnyKeyword")),
        all_keyword: values.u64(at("MatchAllKeyword")),
        level: number("Level"),
        enable_property: number("EnableProperty"),
        event_id: number("EventId").or_else(|| number("HookId")),
        event_name: text("EventName"),
    }
}
