//! Hard page faults (group 2, type 32).

use etwkit_etl::bytes::Cursor;

/// Types of these events.
pub mod opcode {
    types! {
        MEMORY {
            /// A page was read from a file.
            HARD_FAULT = 32, "HardFault";
        }
    }
}

/// A page that was read from a file; stamped when the read is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HardFault {
    /// Raw time stamp of the start of the read.
    pub initial_time: i64,
    /// Offset in the file.
    pub offset: u64,
    /// Address that faulted.
    pub address: u64,
    /// Key of the file.
    pub file_key: u64,
    /// Thread that faulted.
    pub tid: u32,
    /// Bytes read.
    pub bytes: u32,
}

impl HardFault {
    /// Reads a payload.
    #[must_use]
    pub fn parse(payload: &[u8], pointer_size: usize) -> Option<Self> {
        let mut c = Cursor::new(payload);
        Some(Self {
            initial_time: c.i64()?,
            offset: c.u64()?,
            address: c.pointer(pointer_size)?,
            file_key: c.pointer(pointer_size)?,
            tid: c.u32()?,
            bytes: c.u32()?,
        })
    }
}
