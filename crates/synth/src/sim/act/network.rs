//! Packets of TCP connections (group `TcpIp`).

use std::io::{Seek, Write};
use std::net::Ipv4Addr;

use super::super::{Sim, kind};
use crate::Result;
use crate::act::{Packet, Way};
use crate::table::{Cpu, Thread};
use crate::tape::SECOND;

/// Address of the machine, as its first adapter has it.
const LOCAL: Ipv4Addr = Ipv4Addr::new(192, 168, 1, 20);
/// Ticks of a millisecond.
const MILLISECOND: i64 = SECOND / 1000;

impl<W: Write + Seek> Sim<W> {
    /// Writes a packet. The event names the program of the connection, which need not be that of the
    /// running thread: the kernel receives and repeats packets for it.
    pub(super) fn transfers(&mut self, cpu: Cpu, thread: Thread, packet: Packet) -> Result<()> {
        let Packet {
            connection,
            way,
            bytes,
        } = packet;
        let kind = match way {
            Way::Sent => kind::TCP_SEND,
            Way::SentAgain => kind::TCP_RETRANSMIT,
            Way::Received => kind::TCP_RECEIVE,
        };
        let pid = self.plan.programs[connection.program].pid;
        let sent_ms = (self.tape.next() / MILLISECOND) as u32;
        self.kernel_event(cpu, thread, kind, |p| {
            // The remote end comes first, and ports are in network byte order.
            p.u32(pid)
                .u32(bytes)
                .bytes(&connection.remote.octets())
                .bytes(&LOCAL.octets())
                .u16(connection.remote_port.swap_bytes())
                .u16(connection.local_port.swap_bytes());
            if way == Way::Sent {
                // Start and end of the send.
                p.u32(sent_ms).u32(sent_ms);
            }
            // Windows leaves the sequence number and the connection empty.
            p.u32(0).u64(0);
        })?;
        Ok(())
    }
}
