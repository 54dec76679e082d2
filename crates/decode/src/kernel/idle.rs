//! Idle states of processors (power group).

use etwkit_etl::bytes::u32_at;

/// Types of these events.
pub mod opcode {
    /// The processor goes to sleep.
    pub const ENTER: u8 = 57;
    /// It woke up.
    pub const EXIT: u8 = 58;
}

/// The idle state that is entered or was left.
#[must_use]
pub fn state(payload: &[u8]) -> Option<u32> {
    u32_at(payload, 0)
}
