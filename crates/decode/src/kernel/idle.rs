//! Idle states of processors (power group).

use etwkit_etl::bytes::u32_at;

/// Types of these events.
pub mod opcode {
    types! {
        POWER {
            /// The processor enters an idle state.
            ENTER = 57, "IdleStateEnter";
            /// The processor leaves an idle state.
            EXIT = 58, "IdleStateExit";
        }
    }
}

/// The idle state that is entered or was left.
#[must_use]
pub fn state(payload: &[u8]) -> Option<u32> {
    u32_at(payload, 0)
}
