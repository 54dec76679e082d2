//! WPP messages: which parts they have.

use super::event::HeaderKind;
use crate::bytes::{guid_at, i64_at, u16_at, u32_at};
use crate::guid::Guid;

/// `OptionFlags` of a WPP message: which optional parts follow the 8 fixed bytes, in this order.
pub mod message_flag {
    /// Sequence number, u32.
    pub const SEQUENCE: u16 = 0x01;
    /// Message GUID.
    pub const GUID: u16 = 0x02;
    /// Component ID, u32.
    pub const COMPONENT_ID: u16 = 0x04;
    /// Time stamp, i64.
    pub const TIMESTAMP: u16 = 0x08;
    /// Thread and process ID, u32 each.
    pub const SYSTEM_INFO: u16 = 0x20;
    /// Pointers have 4 bytes.
    pub const POINTER32: u16 = 0x40;
    /// Pointers have 8 bytes.
    pub const POINTER64: u16 = 0x80;
}

/// The optional parts of a WPP message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MessageParts {
    /// Sequence number.
    pub sequence: Option<u32>,
    /// Message GUID.
    pub guid: Guid,
    /// Time stamp.
    pub timestamp: Option<i64>,
    /// Thread ID and process ID.
    pub ids: Option<(u32, u32)>,
    /// Offset of the arguments.
    pub end: usize,
}

impl MessageParts {
    /// Reads the parts that the flags announce.
    #[must_use]
    pub fn parse(record: &[u8]) -> Self {
        // Both callers have the fixed bytes, and `record::cut` drops a record that ends inside of a
        // part. So nothing here is read past the end, and a zero stands for no part.
        let flags = u16_at(record, 6).unwrap_or_default();
        let mut parts = Self {
            end: HeaderKind::Message.header_len(),
            ..Self::default()
        };
        if flags & message_flag::SEQUENCE != 0 {
            parts.sequence = u32_at(record, parts.end);
            parts.end += 4;
        }
        if flags & message_flag::GUID != 0 {
            parts.guid = guid_at(record, parts.end).unwrap_or_default();
            parts.end += 16;
        // GUID and component ID exclude each other. A record with both flags has the GUID only.
        } else if flags & message_flag::COMPONENT_ID != 0 {
            parts.end += 4;
        }
        if flags & message_flag::TIMESTAMP != 0 {
            parts.timestamp = i64_at(record, parts.end);
            parts.end += 8;
        }
        if flags & message_flag::SYSTEM_INFO != 0 {
            parts.ids = u32_at(record, parts.end).zip(u32_at(record, parts.end + 4));
            parts.end += 8;
        }
        parts
    }
}
