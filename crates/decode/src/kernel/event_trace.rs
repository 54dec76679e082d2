//! The header of a trace (group 0).

/// Types of these events.
pub mod opcode {
    types! {
        EVENT_TRACE {
            /// The header itself.
            HEADER = 0, "Header";
        }
    }
}
