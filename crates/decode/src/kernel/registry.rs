//! The registry (group 9): operations of programs, and the key of each control block.

use etwkit_etl::bytes::Cursor;

/// Types of these events.
pub mod opcode {
    types! {
        REGISTRY {
            /// A key is created or opened.
            CREATE = 10, "Create";
            /// A key is opened.
            OPEN = 11, "Open";
            /// A key is deleted.
            DELETE = 12, "Delete";
            /// The contents of a key are read.
            QUERY = 13, "Query";
            /// A value is set.
            SET_VALUE = 14, "SetValue";
            /// A value is deleted.
            DELETE_VALUE = 15, "DeleteValue";
            /// A value is read.
            QUERY_VALUE = 16, "QueryValue";
            /// The keys below a key are listed, one at a time.
            ENUMERATE_KEY = 17, "EnumerateKey";
            /// The values of a key are listed, one at a time.
            ENUMERATE_VALUE = 18, "EnumerateValueKey";
            /// Several values are read at once.
            QUERY_MULTIPLE_VALUES = 19, "QueryMultipleValue";
            /// A time stamp or flags of a key are set.
            SET_INFORMATION = 20, "SetInformation";
            /// A key is flushed to disk.
            FLUSH = 21, "Flush";
            /// A key gets a control block. In version 1: a control block that exists when the
            /// session starts.
            BLOCK_CREATE = 22, "KCBCreate";
            /// A control block is deleted.
            BLOCK_DELETE = 23, "KCBDelete";
            /// A control block that exists at the start of the session.
            BLOCK_START = 24, "KCBRundownBegin";
            /// A control block that exists at the end of the session.
            BLOCK_END = 25, "KCBRundownEnd";
            /// A key is redirected for a program without rights.
            VIRTUALIZE = 26, "Virtualize";
            /// A handle to a key is closed.
            CLOSE = 27, "Close";
            /// The rights of a key are set.
            SET_SECURITY = 28, "SetSecurity";
            /// The rights of a key are read.
            QUERY_SECURITY = 29, "QuerySecurity";
        }
    }
}

/// Types of operations.
pub const OPERATIONS: &[u8] = &[
    opcode::CREATE,
    opcode::OPEN,
    opcode::DELETE,
    opcode::QUERY,
    opcode::SET_VALUE,
    opcode::DELETE_VALUE,
    opcode::QUERY_VALUE,
    opcode::ENUMERATE_KEY,
    opcode::ENUMERATE_VALUE,
    opcode::QUERY_MULTIPLE_VALUES,
    opcode::SET_INFORMATION,
    opcode::FLUSH,
    opcode::VIRTUALIZE,
    opcode::CLOSE,
    opcode::SET_SECURITY,
    opcode::QUERY_SECURITY,
];

/// Types that give the key of a control block.
pub const BLOCKS: &[u8] = &[
    opcode::BLOCK_CREATE,
    opcode::BLOCK_DELETE,
    opcode::BLOCK_START,
    opcode::BLOCK_END,
];

/// The name of an operation, by its type; `None` for other events.
#[must_use]
pub const fn name(op: u8) -> Option<&'static str> {
    Some(match op {
        opcode::CREATE => "create_key",
        opcode::OPEN => "open_key",
        opcode::DELETE => "delete_key",
        opcode::QUERY => "query_key",
        opcode::SET_VALUE => "set_value",
        opcode::DELETE_VALUE => "delete_value",
        opcode::QUERY_VALUE => "query_value",
        opcode::ENUMERATE_KEY => "enumerate_key",
        opcode::ENUMERATE_VALUE => "enumerate_value",
        opcode::QUERY_MULTIPLE_VALUES => "query_multiple_values",
        opcode::SET_INFORMATION => "set_information",
        opcode::FLUSH => "flush_key",
        opcode::VIRTUALIZE => "virtualize",
        opcode::CLOSE => "close_key",
        opcode::SET_SECURITY => "set_security",
        opcode::QUERY_SECURITY => "query_security",
        _ => return None,
    })
}

/// True if a type gives the key of a control block.
#[must_use]
pub const fn is_block(op: u8) -> bool {
    matches!(op, opcode::BLOCK_CREATE..=opcode::BLOCK_END)
}

/// True if the text of an operation is the name of a value. The text of all others is a key below
/// the key of the control block.
#[must_use]
pub const fn names_value(op: u8) -> bool {
    matches!(
        op,
        opcode::SET_VALUE
            ..=opcode::QUERY_VALUE | opcode::ENUMERATE_VALUE | opcode::QUERY_MULTIPLE_VALUES
    )
}

/// Start of an operation, in ticks of the session's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// Duration up to its event. Versions 0 and 1. The documented structure names no unit, and the
    /// times next to it are ticks.
    Elapsed(i64),
    /// Absolute start time.
    At(i64),
}

/// An operation, or a control block with its key: both have the same layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// Start of the operation; its event is its end.
    pub begin: Begin,
    /// The NTSTATUS that it returned.
    pub status: u32,
    /// Index of an enumeration, class of information of queries and settings; version 0 has none.
    pub index: Option<u32>,
    /// Address of the control block of the key; 0 for none.
    pub block: u64,
    /// Key or value; empty for none.
    pub name: String,
}

impl Operation {
    /// Reads a payload: documented as `Registry_V0_TypeGroup1`, `Registry_V1_TypeGroup1` and
    /// `Registry_TypeGroup1`.
    #[must_use]
    pub fn parse(payload: &[u8], version: u8, pointer_size: usize) -> Option<Self> {
        let mut c = Cursor::new(payload);
        if version >= 2 {
            let begin = Begin::At(c.u64()? as i64);
            let status = c.u32()?;
            let index = c.u32()?;
            let block = c.pointer(pointer_size)?;
            return Some(Self {
                begin,
                status,
                index: Some(index),
                block,
                name: c.text(),
            });
        }
        // The status has the size of a pointer in versions 0 and 1, but is a number of 32 bits in
        // any case.
        let status = c.pointer(pointer_size)? as u32;
        let block = c.pointer(pointer_size)?;
        let begin = Begin::Elapsed(c.u64()? as i64);
        let index = if version == 1 { Some(c.u32()?) } else { None };
        Some(Self {
            begin,
            status,
            index,
            block,
            name: c.text(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(text: &str) -> Vec<u8> {
        text.encode_utf16()
            .chain([0])
            .flat_map(u16::to_le_bytes)
            .collect()
    }

    #[test]
    fn each_version_has_its_layout() {
        let read = |begin, index, name: &str| Operation {
            begin,
            status: 0xC000_0034,
            index,
            block: 0xA0,
            name: name.into(),
        };
        let old = [
            &0xC000_0034u64.to_le_bytes()[..],
            &0xA0u64.to_le_bytes(),
            &7u64.to_le_bytes(),
        ]
        .concat();
        let zero = [&old[..], &wide("Run")].concat();
        assert_eq!(
            Operation::parse(&zero, 0, 8),
            Some(read(Begin::Elapsed(7), None, "Run"))
        );
        let one = [&old[..], &3u32.to_le_bytes(), &wide("Run")].concat();
        assert_eq!(
            Operation::parse(&one, 1, 8),
            Some(read(Begin::Elapsed(7), Some(3), "Run"))
        );
        let two = [
            &7u64.to_le_bytes()[..],
            &0xC000_0034u32.to_le_bytes(),
            &3u32.to_le_bytes(),
            &0xA0u32.to_le_bytes(),
            &wide("Run"),
        ]
        .concat();
        assert_eq!(
            Operation::parse(&two, 2, 4),
            Some(read(Begin::At(7), Some(3), "Run"))
        );
        // The text may be missing, the rest may not.
        assert_eq!(
            Operation::parse(&two[..20], 2, 4),
            Some(read(Begin::At(7), Some(3), ""))
        );
        assert_eq!(Operation::parse(&two[..19], 2, 4), None);
    }

    #[test]
    fn texts_are_keys_but_for_operations_on_values() {
        let values: Vec<&str> = (0..=255)
            .filter(|op| names_value(*op))
            .filter_map(name)
            .collect();
        assert_eq!(
            values,
            [
                "set_value",
                "delete_value",
                "query_value",
                "enumerate_value",
                "query_multiple_values"
            ]
        );
        assert!((22..=25).all(|op| is_block(op) && name(op).is_none()));
        assert_eq!(
            (name(30), name(9), is_block(21), is_block(26)),
            (None, None, false, false)
        );
    }
}
