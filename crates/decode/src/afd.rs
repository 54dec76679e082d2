//! Sockets: requests of processes to the Winsock driver, reported by Microsoft-Windows-Winsock-AFD.
//!
//! The meaning of the events is documented, but their layouts are not built in. They are read by
//! field name if the trace describes them.

use etwkit_etl::{Guid, RawEvent};

use crate::Decoder;
use crate::named::{NamedFields, Values};
use crate::socket::address;

/// Microsoft-Windows-Winsock-AFD.
pub const WINSOCK_AFD: Guid = Guid::literal("e53c6823-7bb8-44bb-90dc-3f86090d48a6");

/// The operation on a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// It is created.
    Create,
    /// It is closed.
    Close,
    /// Data is sent.
    Send,
    /// Data is received.
    Receive,
    /// It is connected to an address.
    Connect,
    /// It is bound to a local address.
    Bind,
    /// Any other operation.
    Other,
}

impl Operation {
    /// The operation of an event ID.
    const fn of(id: u16) -> Option<Self> {
        Some(match id {
            1000 => Self::Create,
            1001 => Self::Close,
            1003 | 1005 | 1007 | 1011 | 1013 => Self::Send,
            1004 | 1006 | 1009 | 1012 | 1015 => Self::Receive,
            1017 | 1018 | 1020 | 1021 => Self::Connect,
            1029 | 1030 => Self::Bind,
            1023 | 1024 | 1026 | 1027 | 1032 | 1035..=1037 => Self::Other,
            _ => return None,
        })
    }
}

/// The stage of a request that an event reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Start of the request.
    Enter,
    /// It is completed.
    Exit,
    /// An internal operation of the driver, or of the driver below it.
    Internal,
}

/// An event of a socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocketEvent {
    /// The operation.
    pub operation: Operation,
    /// Start or end of the request.
    pub stage: Stage,
    /// Address of the endpoint.
    pub endpoint: u64,
    /// Bytes of the buffers; for a completed request the transferred bytes.
    pub bytes: Option<u64>,
    /// NTSTATUS.
    pub status: Option<u32>,
    /// Address family, type and protocol, of a creation.
    pub kind: Option<(u32, u32, u32)>,
    /// Process that it is created for, for a creation.
    pub pid: Option<u32>,
    /// Address with port that the request names.
    pub address: Option<String>,
}

const NAMES: [&str; 9] = [
    "EnterExit",
    "Endpoint",
    "BufferLength",
    "Status",
    "AddressFamily",
    "SocketType",
    "Protocol",
    "ProcessId",
    "Address",
];

/// Reads these events.
#[derive(Debug)]
pub struct SocketReader(NamedFields<{ NAMES.len() }>);

impl Default for SocketReader {
    fn default() -> Self {
        Self(NamedFields::new(NAMES))
    }
}

impl SocketReader {
    /// Reads an event; `None` for all others, and for events without a description.
    pub fn read(&mut self, event: &RawEvent<'_>, decoder: &mut Decoder) -> Option<SocketEvent> {
        if !event.kind.is_manifest() || event.provider() != WINSOCK_AFD {
            return None;
        }
        // The ID is checked before anything is decoded: this provider logs each packet.
        let operation = Operation::of(event.descriptor().id)?;
        self.0
            .read(event, decoder, |values| socket_event(operation, values))
    }
}

fn socket_event(operation: Operation, values: Values<'_, { NAMES.len() }>) -> Option<SocketEvent> {
    // Without the stage an event cannot be paired with another one.
    let stage = match values.u32(0)? {
        0 => Stage::Enter,
        1 => Stage::Exit,
        _ => Stage::Internal,
    };
    let kind = values.u32(4).zip(values.u32(5)).zip(values.u32(6));
    Some(SocketEvent {
        operation,
        stage,
        endpoint: values.u64(1)?,
        bytes: values.u64(2),
        status: values.u32(3),
        kind: kind.map(|((family, socket_type), protocol)| (family, socket_type, protocol)),
        pid: values.u32(7),
        address: values
            .bytes(8)
            .and_then(address)
            .map(|address| address.to_string()),
    })
}
