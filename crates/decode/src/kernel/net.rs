//! TCP and UDP (groups 6 and 8, and the provider Microsoft-Windows-Kernel-Network).

use std::net::{IpAddr, SocketAddr};

use etwkit_etl::bytes::{Cursor, u32_at};
use etwkit_etl::{Guid, RawEvent};

use super::{Hook, group};

/// Microsoft-Windows-Kernel-Network.
pub const KERNEL_NETWORK: Guid = Guid::literal("7dd42a49-5329-4832-8dfd-43d979153a88");

/// A network operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// TCP data was sent.
    TcpSend,
    /// TCP data was received.
    TcpReceive,
    /// A connection was opened.
    TcpConnect,
    /// A connection was closed.
    TcpDisconnect,
    /// TCP data was sent again.
    TcpRetransmit,
    /// A connection was accepted.
    TcpAccept,
    /// A datagram was sent.
    UdpSend,
    /// A datagram was received.
    UdpReceive,
}

impl Operation {
    /// Protocol and operation as the extract names them.
    #[must_use]
    pub const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::TcpSend => ("tcp", "send"),
            Self::TcpReceive => ("tcp", "receive"),
            Self::TcpConnect => ("tcp", "connect"),
            Self::TcpDisconnect => ("tcp", "disconnect"),
            Self::TcpRetransmit => ("tcp", "retransmit"),
            Self::TcpAccept => ("tcp", "accept"),
            Self::UdpSend => ("udp", "send"),
            Self::UdpReceive => ("udp", "receive"),
        }
    }
}

/// Types of TCP events.
pub mod tcp {
    types! {
        TCP {
            /// Data was sent.
            SEND = 10, "SendIPV4";
            /// Data was received.
            RECEIVE = 11, "RecvIPV4";
            /// A connection was opened.
            CONNECT = 12, "ConnectIPV4";
            /// A connection was closed.
            DISCONNECT = 13, "DisconnectIPV4";
            /// Data was sent again.
            RETRANSMIT = 14, "RetransmitIPV4";
            /// A connection was accepted.
            ACCEPT = 15, "AcceptIPV4";
            /// Data was sent, IPv6.
            SEND_V6 = 26, "SendIPV6";
            /// Data was received, IPv6.
            RECEIVE_V6 = 27, "RecvIPV6";
            /// A connection was opened, IPv6.
            CONNECT_V6 = 28, "ConnectIPV6";
            /// A connection was closed, IPv6.
            DISCONNECT_V6 = 29, "DisconnectIPV6";
            /// Data was sent again, IPv6.
            RETRANSMIT_V6 = 30, "RetransmitIPV6";
            /// A connection was accepted, IPv6.
            ACCEPT_V6 = 31, "AcceptIPV6";
        }
    }

    /// Types for which [`tcp_operation`](super::tcp_operation) returns an operation.
    pub const TRANSFERS: &[u8] = &[
        SEND,
        RECEIVE,
        CONNECT,
        DISCONNECT,
        RETRANSMIT,
        ACCEPT,
        SEND_V6,
        RECEIVE_V6,
        CONNECT_V6,
        DISCONNECT_V6,
        RETRANSMIT_V6,
        ACCEPT_V6,
    ];
}

/// Types of UDP events.
pub mod udp {
    types! {
        UDP {
            /// A datagram was sent.
            SEND = 10, "SendIPV4";
            /// A datagram was received.
            RECEIVE = 11, "RecvIPV4";
            /// A datagram was sent, IPv6.
            SEND_V6 = 26, "SendIPV6";
            /// A datagram was received, IPv6.
            RECEIVE_V6 = 27, "RecvIPV6";
        }
    }

    /// Types for which [`udp_operation`](super::udp_operation) returns an operation.
    pub const TRANSFERS: &[u8] = &[SEND, RECEIVE, SEND_V6, RECEIVE_V6];
}

/// The operation of a type of [`group::TCP`].
#[must_use]
pub const fn tcp_operation(opcode: u8) -> Option<Operation> {
    Some(match opcode {
        tcp::SEND | tcp::SEND_V6 => Operation::TcpSend,
        tcp::RECEIVE | tcp::RECEIVE_V6 => Operation::TcpReceive,
        tcp::CONNECT | tcp::CONNECT_V6 => Operation::TcpConnect,
        tcp::DISCONNECT | tcp::DISCONNECT_V6 => Operation::TcpDisconnect,
        tcp::RETRANSMIT | tcp::RETRANSMIT_V6 => Operation::TcpRetransmit,
        tcp::ACCEPT | tcp::ACCEPT_V6 => Operation::TcpAccept,
        _ => return None,
    })
}

/// The operation of a type of [`group::UDP`].
#[must_use]
pub const fn udp_operation(opcode: u8) -> Option<Operation> {
    match opcode {
        udp::SEND | udp::SEND_V6 => Some(Operation::UdpSend),
        udp::RECEIVE | udp::RECEIVE_V6 => Some(Operation::UdpReceive),
        _ => None,
    }
}

/// The operation of a kernel event of one of the two groups.
#[must_use]
pub const fn kernel_operation(group: u8, opcode: u8) -> Option<Operation> {
    match group {
        group::TCP => tcp_operation(opcode),
        group::UDP => udp_operation(opcode),
        _ => None,
    }
}

/// True if a type of either group is for IPv6.
#[must_use]
pub const fn is_v6(opcode: u8) -> bool {
    opcode >= tcp::SEND_V6
}

/// True if an ID of [`KERNEL_NETWORK`] is for IPv6. IDs of UDP are the kernel types plus 32.
#[must_use]
pub const fn is_provider_v6(id: u16) -> bool {
    matches!(id, 26..=41 | 58..=73)
}

/// The operation of an event ID of [`KERNEL_NETWORK`], which has TCP and UDP in one number space.
#[must_use]
pub const fn provider_operation(id: u16) -> Option<Operation> {
    match id {
        10..=15 | 26..=31 => tcp_operation(id as u8),
        42 | 58 => Some(Operation::UdpSend),
        43 | 59 => Some(Operation::UdpReceive),
        _ => None,
    }
}

/// Addresses and ports of both ends of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    /// The machine that was recorded.
    pub local: SocketAddr,
    /// The remote end.
    pub remote: SocketAddr,
}

/// Reads the ends of a transfer of the provider, or of version 1 and later of the kernel logger.
/// Process and size are followed by `daddr`, `saddr`, `dport`, `sport`. For TCP they have the
/// orientation of the connection in both directions: `daddr` is the remote end. For UDP they have
/// the orientation of the packet: `daddr` is the receiver, which for a receive is the local end.
#[must_use]
pub fn ends(payload: &[u8], is_v6: bool, operation: Operation) -> Option<Ends> {
    let mut c = Cursor::new(payload);
    c.take(8)?;
    let mut address = || -> Option<IpAddr> {
        Some(if is_v6 {
            IpAddr::from(<[u8; 16]>::try_from(c.take(16)?).ok()?)
        } else {
            IpAddr::from(<[u8; 4]>::try_from(c.take(4)?).ok()?)
        })
    };
    let destination = address()?;
    let source = address()?;
    // Ports are in network byte order.
    let mut port = || Some(c.u16()?.swap_bytes());
    let destination_port = port()?;
    let source_port = port()?;
    let destination = SocketAddr::new(destination, destination_port);
    let source = SocketAddr::new(source, source_port);
    Some(match operation {
        Operation::UdpReceive => Ends {
            local: destination,
            remote: source,
        },
        _ => Ends {
            local: source,
            remote: destination,
        },
    })
}

/// Process ID and bytes of any of these events. In version 0 of the kernel logger, TCP events start
/// with the addresses, and UDP events have no process.
#[must_use]
pub fn process_and_size(event: &RawEvent<'_>) -> Option<(u32, u32)> {
    // Events of the provider are not hooks: they have the layout of the later versions.
    let payload = event.payload();
    match Hook::of(event) {
        Some(Hook {
            group: group::TCP,
            version: 0,
            ..
        }) => u32_at(payload, 16).zip(u32_at(payload, 12)),
        Some(Hook {
            group: group::UDP,
            version: 0,
            ..
        }) => None,
        _ => u32_at(payload, 0).zip(u32_at(payload, 4)),
    }
}
