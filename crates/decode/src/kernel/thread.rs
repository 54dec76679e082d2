//! Thread events (group 5): types 1 to 4 (`Thread_V0_TypeGroup1` and later) and the context switch.

use etwkit_etl::bytes::u32_at;

/// Types of these events.
pub mod opcode {
    /// The thread starts.
    pub const START: u8 = 1;
    /// It ends.
    pub const END: u8 = 2;
    /// It runs when the session starts.
    pub const DC_START: u8 = 3;
    /// It runs when the session stops.
    pub const DC_END: u8 = 4;
    /// A processor goes over to another thread.
    pub const CSWITCH: u8 = 36;
}

/// The identity in a thread event. The ids of the header are those of the creator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thread {
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
}

impl Thread {
    /// Reads a payload; version 0 has the two ids in the other order.
    #[must_use]
    pub fn parse(payload: &[u8], version: u8) -> Option<Self> {
        let (first, second) = (u32_at(payload, 0)?, u32_at(payload, 4)?);
        Some(if version == 0 { Self { pid: second, tid: first } } else { Self { pid: first, tid: second } })
    }
}

/// New and old thread id of a context switch.
#[inline]
#[must_use]
pub fn switch(payload: &[u8]) -> Option<(u32, u32)> {
    u32_at(payload, 0).zip(u32_at(payload, 4))
}
