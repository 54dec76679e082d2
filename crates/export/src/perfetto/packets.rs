//! The packets of a trace, all of one sequence.

use std::io::Write;

use crate::protobuf::Message;
use crate::{Error, Result};

// Fields of `TracePacket`.
pub(super) const PROCESS_TREE: u32 = 2;
pub(super) const CLOCK_SNAPSHOT: u32 = 6;
pub(super) const TIMESTAMP: u32 = 8;
const SEQUENCE_ID: u32 = 10;
pub(super) const TRACK_EVENT: u32 = 11;
pub(super) const INTERNED_DATA: u32 = 12;
pub(super) const SEQUENCE_FLAGS: u32 = 13;
pub(super) const DEFAULTS: u32 = 59;
pub(super) const TRACK_DESCRIPTOR: u32 = 60;
pub(super) const ETW_EVENTS: u32 = 95;
pub(super) const STACK_SAMPLE: u32 = 135;

/// Flag of a sequence: earlier definitions are forgotten.
pub(super) const STATE_CLEARED: u64 = 1;
/// Flag of a sequence: the packet needs earlier definitions.
pub(super) const DATA_NEEDED: u64 = 2;

/// Writes packets.
pub(super) struct Packets<'o> {
    out: &'o mut dyn Write,
}

impl<'o> Packets<'o> {
    pub(super) fn new(out: &'o mut dyn Write) -> Self {
        Self { out }
    }

    /// Writes one packet, as a field of `Trace`.
    pub(super) fn write(&mut self, packet: Message) -> Result<()> {
        let packet = packet.number(SEQUENCE_ID, 1);
        self.out
            .write_all(Message::new().message(1, &packet).bytes())
            .map_err(Error::Write)
    }
}

/// Returns the time for Perfetto, which has no times before the start of the trace.
pub(super) fn time(ns: i64) -> u64 {
    ns.max(0).cast_unsigned()
}

/// Returns an id, which extracts keep as a bit pattern of 32 bits.
pub(super) const fn id(number: i64) -> u64 {
    (number as u32) as u64
}
