//! Events of the TCP/IP driver that describe connections.
//!
//! A connection is identified by the address of its control block (TCB), which Windows reuses once
//! the connection is closed. Sends and receives are logged in the thread that happens to run, so
//! only the events that open, list or close a connection identify its process.

use etwkit_etl::bytes::Cursor;
use etwkit_etl::{Guid, RawEvent};

use crate::kernel::net::Ends;
use crate::named::{NamedFields, Values};
use crate::{Decoder, socket};

/// Microsoft-Windows-TCPIP.
pub const TCPIP: Guid = Guid::literal("2f07e2ee-15db-40f1-90ef-9d7ba282188a");

/// The kind of an event of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TcpEventKind {
    /// A process requests it. The header contains the process.
    Connect,
    /// It was accepted.
    Accept,
    /// It exists at the start or end of the session.
    Rundown,
    /// It is established.
    Connected,
    /// It could not be established.
    ConnectFailed,
    /// A segment was sent.
    Send,
    /// Data was received.
    Receive,
    /// A program sends data.
    Post,
    /// Data that a filter had held back is sent.
    Inject,
    /// Segments are sent again.
    Retransmit,
    /// The last segment is sent again because no acknowledgement came.
    TailLossProbe,
    /// The template of its settings changes.
    Template,
    /// A keep-alive probe is sent.
    KeepAlive,
    /// Statistics of the system.
    Summary,
    /// It is reset by this side.
    Abort,
    /// The other side reset it.
    RemoteReset,
    /// It is closed.
    Close,
    /// Sending is shut down.
    Shutdown,
    /// It is reset because nothing was acknowledged in time.
    RetransmitTimeout,
}

impl TcpEventKind {
    /// The kind of an ID; posted and injected data have one ID.
    #[must_use]
    pub const fn of(id: u16) -> Option<Self> {
        Some(match id {
            1002 => Self::Connect,
            1017 => Self::Accept,
            1033 => Self::Connected,
            1034 | 1045 | 1183 => Self::ConnectFailed,
            1038 => Self::Close,
            1039 => Self::Abort,
            1044 => Self::Shutdown,
            1046 => Self::RetransmitTimeout,
            1074 => Self::Receive,
            1159 => Self::Post,
            1184 => Self::RemoteReset,
            1188 => Self::KeepAlive,
            1224 => Self::Template,
            1300 => Self::Rundown,
            1332 => Self::Send,
            1351 => Self::Retransmit,
            1352 | 1477 => Self::Summary,
            1385 => Self::TailLossProbe,
            _ => return None,
        })
    }

    /// Its name in the extract.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Accept => "accept",
            Self::Rundown => "rundown",
            Self::Connected => "connected",
            Self::ConnectFailed => "connect_failed",
            Self::Send => "send",
            Self::Receive => "receive",
            Self::Post => "post",
            Self::Inject => "inject",
            Self::Retransmit => "retransmit",
            Self::TailLossProbe => "tail_loss_probe",
            Self::Template => "template",
            Self::KeepAlive => "keep_alive",
            Self::Summary => "summary",
            Self::Abort => "abort",
            Self::RemoteReset => "remote_reset",
            Self::Close => "close",
            Self::Shutdown => "shutdown",
            Self::RetransmitTimeout => "retransmit_timeout",
        }
    }
}

/// An event of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpEvent {
    /// The kind of event.
    pub kind: TcpEventKind,
    /// Address of the control block.
    pub tcb: u64,
    /// Both ends, if the event contains them.
    pub ends: Option<Ends>,
    /// Process, if the payload contains it.
    pub pid: Option<u32>,
    /// Bytes of data.
    pub bytes: Option<u32>,
    /// Sequence number of the first byte; for retransmissions and keep-alives the first
    /// unacknowledged one.
    pub sequence: Option<u32>,
    /// Number of the template.
    pub template: Option<u32>,
    /// Windows and times of a send.
    pub state: SendState,
    /// Statistics of the system.
    pub summary: Option<Summary>,
}

/// The state of the connection that a send reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SendState {
    /// Congestion window in bytes.
    pub congestion_window: Option<u32>,
    /// Window offered by the other side, in bytes.
    pub send_window: Option<u32>,
    /// Smoothed round-trip time, ms.
    pub smoothed_rtt: Option<u32>,
    /// Time until it is sent again, ms.
    pub retransmit_timeout: Option<u32>,
}

/// Statistics of the system over the whole life of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Bytes of data received.
    pub data_bytes_in: u64,
    /// Bytes of data sent.
    pub data_bytes_out: u64,
    /// Segments with data received.
    pub data_segments_in: u64,
    /// Segments with data sent.
    pub data_segments_out: u64,
    /// Received segments, including those without data.
    pub segments_in: u64,
    /// Sent segments, including those without data.
    pub segments_out: u64,
    /// Round-trip times in microseconds: last, least, greatest. The older of the two events has
    /// none.
    pub rtt_us: Option<(u32, u32, u32)>,
}

/// Fields, in the order of [`FIELDS`].
mod field {
    pub(super) const TCB: usize = 0;
    pub(super) const LOCAL_ADDRESS: usize = 1;
    pub(super) const REMOTE_ADDRESS: usize = 2;
    pub(super) const PROCESS_ID: usize = 3;
    pub(super) const PID: usize = 4;
    pub(super) const NUM_BYTES: usize = 5;
    pub(super) const BYTES_SENT: usize = 6;
    pub(super) const SEQ_NO: usize = 7;
    pub(super) const SND_NXT: usize = 8;
    pub(super) const SND_UNA: usize = 9;
    pub(super) const INJECTED: usize = 10;
    pub(super) const TEMPLATE_TYPE: usize = 11;
    pub(super) const CWND: usize = 12;
    pub(super) const SND_WND: usize = 13;
    pub(super) const SRTT: usize = 14;
    pub(super) const RTO: usize = 15;
    pub(super) const DATA_BYTES_IN: usize = 16;
    pub(super) const DATA_BYTES_OUT: usize = 17;
    pub(super) const DATA_SEGMENTS_IN: usize = 18;
    pub(super) const DATA_SEGMENTS_OUT: usize = 19;
    pub(super) const SEGMENTS_IN: usize = 20;
    pub(super) const SEGMENTS_OUT: usize = 21;
    pub(super) const RTT_US: usize = 22;
    pub(super) const MIN_RTT_US: usize = 23;
    pub(super) const MAX_RTT_US: usize = 24;
}

const FIELDS: [&str; 25] = [
    "Tcb",
    "LocalAddress",
    "RemoteAddress",
    "ProcessId",
    "Pid",
    "NumBytes",
    "BytesSent",
    "SeqNo",
    "SndNxt",
    "SndUna",
    "Injected",
    "TemplateType",
    "Cwnd",
    "SndWnd",
    "SRtt",
    "RTO",
    "DataBytesIn",
    "DataBytesOut",
    "DataSegmentsIn",
    "DataSegmentsOut",
    "SegmentsIn",
    "SegmentsOut",
    "RttUs",
    "MinRttUs",
    "MaxRttUs",
];

type Fields<'e> = Values<'e, { FIELDS.len() }>;

/// Reads events of connections.
#[derive(Debug)]
pub struct TcpReader(NamedFields<{ FIELDS.len() }>);

impl Default for TcpReader {
    fn default() -> Self {
        Self(NamedFields::new(FIELDS))
    }
}

impl TcpReader {
    /// The kind of an event; `None` for events that are not about a connection.
    #[must_use]
    pub fn kind(event: &RawEvent<'_>) -> Option<TcpEventKind> {
        if !event.kind.is_manifest() || event.provider() != TCPIP {
            return None;
        }
        TcpEventKind::of(event.descriptor().id)
    }

    /// Reads an event of that kind; `None` if it cannot be decoded.
    pub fn read(
        &mut self,
        kind: TcpEventKind,
        event: &RawEvent<'_>,
        decoder: &mut Decoder,
    ) -> Option<TcpEvent> {
        self.0.read(event, decoder, |fields| read(kind, fields))
    }
}

fn read(kind: TcpEventKind, fields: Fields<'_>) -> Option<TcpEvent> {
    let mut event = TcpEvent {
        kind,
        // The address of the control block is the only thing that all of these events have.
        tcb: fields.u64(field::TCB)?,
        ends: ends(fields),
        pid: fields
            // Versions have one of the two names.
            .u32(field::PROCESS_ID)
            .or_else(|| fields.u32(field::PID))
            .filter(|pid| *pid != 0),
        bytes: None,
        sequence: None,
        template: None,
        state: SendState::default(),
        summary: None,
    };
    match kind {
        // These start a connection: without its ends there would be nothing to show. A missing
        // field causes the next description to be tried.
        TcpEventKind::Connect | TcpEventKind::Accept | TcpEventKind::Rundown => _ = event.ends?,
        TcpEventKind::Send => {
            event.bytes = Some(fields.u32(field::BYTES_SENT)?);
            event.sequence = Some(fields.u32(field::SEQ_NO)?);
            event.state = SendState {
                congestion_window: fields.u32(field::CWND),
                send_window: fields.u32(field::SND_WND),
                smoothed_rtt: fields.u32(field::SRTT),
                retransmit_timeout: fields.u32(field::RTO),
            };
        }
        TcpEventKind::Receive => {
            event.bytes = Some(fields.u32(field::NUM_BYTES)?);
            event.sequence = Some(fields.u32(field::SEQ_NO)?);
        }
        // One event ID reports both kinds; the field `Injected` distinguishes them.
        TcpEventKind::Post | TcpEventKind::Inject => {
            event.bytes = Some(fields.u32(field::NUM_BYTES)?);
            event.sequence = Some(fields.u32(field::SND_NXT)?);
            let is_injected = fields
                .text(field::INJECTED)?
                .eq_ignore_ascii_case("injected");
            event.kind = if is_injected {
                TcpEventKind::Inject
            } else {
                TcpEventKind::Post
            };
        }
        TcpEventKind::Retransmit | TcpEventKind::TailLossProbe | TcpEventKind::KeepAlive => {
            // The oldest data that was not acknowledged is what is sent again.
            event.sequence = Some(fields.u32(field::SND_UNA)?);
        }
        TcpEventKind::Template => event.template = Some(fields.u32(field::TEMPLATE_TYPE)?),
        TcpEventKind::Summary => event.summary = Some(summary(fields)?),
        _ => {}
    }
    Some(event)
}

fn ends(fields: Fields<'_>) -> Option<Ends> {
    let local = socket::address(fields.bytes(field::LOCAL_ADDRESS)?)?;
    Some(Ends {
        local,
        remote: socket::address(fields.bytes(field::REMOTE_ADDRESS)?)?,
    })
}

fn summary(fields: Fields<'_>) -> Option<Summary> {
    let rtt = [field::RTT_US, field::MIN_RTT_US, field::MAX_RTT_US].map(|field| fields.u32(field));
    Some(Summary {
        data_bytes_in: fields.u64(field::DATA_BYTES_IN)?,
        data_bytes_out: fields.u64(field::DATA_BYTES_OUT)?,
        data_segments_in: fields.u64(field::DATA_SEGMENTS_IN)?,
        data_segments_out: fields.u64(field::DATA_SEGMENTS_OUT)?,
        segments_in: fields.u64(field::SEGMENTS_IN)?,
        segments_out: fields.u64(field::SEGMENTS_OUT)?,
        // All three or none: a minimum without a maximum means nothing.
        rtt_us: if let [Some(last), Some(min), Some(max)] = rtt {
            Some((last, min, max))
        } else {
            None
        },
    })
}

/// The process in the payload of an event, in the layout that all versions of these events share.
/// Without process events, this is the only evidence of a process that owns a connection and logs
/// nothing itself.
// A fixed layout, so that it works without any description.
#[must_use]
pub fn owner(event: &RawEvent<'_>) -> Option<u32> {
    let has_tcb = match TcpReader::kind(event)? {
        TcpEventKind::Rundown => true,
        TcpEventKind::Accept
        | TcpEventKind::Connected
        | TcpEventKind::Close
        | TcpEventKind::Abort
        | TcpEventKind::Shutdown
        | TcpEventKind::RetransmitTimeout => false,
        _ => return None,
    };
    // The length precedes both addresses, so the fields after them are found without a description.
    let mut c = Cursor::new(event.payload());
    // Only this kind starts with the address of the connection.
    if has_tcb {
        c.pointer(event.pointer_size())?;
    }
    for _ in 0..2 {
        let len = c.u32()?;
        // Both addresses are skipped by their lengths.
        c.take(len as usize)?;
    }
    c.u32()?; // state or status
    c.u32().filter(|pid| *pid != 0)
}

/// Name of a template of settings.
#[must_use]
pub const fn template_name(number: u32) -> Option<&'static str> {
    Some(match number {
        0 => "Internet",
        1 => "DataCenter",
        2 => "Compat",
        3 => "DatacenterCustom",
        4 => "InternetCustom",
        6 => "Default",
        7 => "Automatic",
        _ => return None,
    })
}
