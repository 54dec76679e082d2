//! `WMI_BUFFER_HEADER`: the 72 bytes at the start of every buffer.

use crate::bytes::{i64_at, u16_at, u32_at};

/// Bytes of the header; the first record starts here.
pub const HEADER_LEN: usize = 0x48;

/// No buffer of any Windows version is larger than 16 MiB. A larger claim is damage (or an attack
/// on the reader's memory).
pub const MAX_BUFFER_LEN: u32 = 16 << 20;

/// `BufferFlag`.
pub mod flag {
    /// Last buffer of a processor at a flush or stop, and the header buffer.
    pub const FLUSH_MARKER: u16 = 0x01;
    /// Events were lost while this buffer was current.
    pub const EVENTS_LOST: u16 = 0x02;
    /// A buffer was lost before this one.
    pub const BUFFER_LOST: u16 = 0x04;
    /// Damage in the backup file of a real-time session.
    pub const RTBACKUP_CORRUPT: u16 = 0x08;
    /// The buffer is from the backup file of a real-time session.
    pub const RTBACKUP: u16 = 0x10;
    /// The word at 0x28 is a 16-bit processor index.
    pub const PROCESSOR_INDEX: u16 = 0x20;
    /// The bytes after the header are compressed.
    pub const COMPRESSED: u16 = 0x40;
}

/// `BufferType`.
pub mod buffer_type {
    /// Events.
    pub const GENERIC: u16 = 0;
    /// Events of a rundown.
    pub const RUNDOWN: u16 = 1;
    /// Compact context-switch packets of old Windows versions, which are not records.
    pub const CONTEXT_SWAP: u16 = 2;
    /// Reference time.
    pub const REFERENCE_TIME: u16 = 3;
    /// The first buffer of a file.
    pub const HEADER: u16 = 4;
    /// Events in a batch.
    pub const BATCHED: u16 = 5;
    /// A marker without events.
    pub const EMPTY_MARKER: u16 = 6;
    /// Debugger information.
    pub const DEBUG_INFO: u16 = 7;
}

/// A buffer header as stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BufferHeader {
    /// Bytes that the buffer takes in the file, header included.
    pub buffer_size: u32,
    /// End of the valid data as flushed; 0 or too small in header buffers.
    pub saved_offset: u32,
    /// Reservation cursor; it can be larger than the buffer. Never used for reading.
    pub current_offset: u32,
    /// Reference count at run time.
    pub reference_count: i32,
    /// Flush time: session ticks in a raw file, FILETIME in a merged one, 0 in the header buffer.
    pub time_stamp: i64,
    /// Counts the buffers that a session flushed.
    pub sequence_number: i64,
    /// Clock type and frequency in debug buffers, otherwise the rest of a pointer.
    pub clock: u64,
    /// Processor word, see [`BufferHeader::cpu`].
    pub processor: u16,
    /// Session ID.
    pub logger_id: u16,
    /// State; its low half is the compression format in the header buffer of a compressed file.
    pub state: u32,
    /// End of the valid (decompressed) data, counted from the start of the header.
    pub offset: u32,
    /// Bits of [`flag`].
    pub buffer_flag: u16,
    /// One of [`buffer_type`].
    pub buffer_type: u16,
}

impl BufferHeader {
    /// Reads the fields; `None` if there are fewer than 72 bytes.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..HEADER_LEN)?;
        Some(Self {
            buffer_size: u32_at(bytes, 0x00)?,
            saved_offset: u32_at(bytes, 0x04)?,
            current_offset: u32_at(bytes, 0x08)?,
            // Not used by the reader, but written back by the writer as it was.
            reference_count: i64_at(bytes, 0x08).map(|both| (both >> 32) as i32)?,
            time_stamp: i64_at(bytes, 0x10)?,
            sequence_number: i64_at(bytes, 0x18)?,
            clock: i64_at(bytes, 0x20)?.cast_unsigned(),
            processor: u16_at(bytes, 0x28)?,
            logger_id: u16_at(bytes, 0x2A)?,
            state: u32_at(bytes, 0x2C)?,
            offset: u32_at(bytes, 0x30)?,
            buffer_flag: u16_at(bytes, 0x34)?,
            buffer_type: u16_at(bytes, 0x36)?,
        })
    }

    /// The 72 bytes; the union at 0x38, which holds pointers at run time, is zero.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; HEADER_LEN] {
        let mut out = Vec::with_capacity(HEADER_LEN);
        // In the order of the layout, which is that of `WMI_BUFFER_HEADER`.
        out.extend(self.buffer_size.to_le_bytes());
        out.extend(self.saved_offset.to_le_bytes());
        out.extend(self.current_offset.to_le_bytes());
        out.extend(self.reference_count.to_le_bytes());
        out.extend(self.time_stamp.to_le_bytes());
        out.extend(self.sequence_number.to_le_bytes());
        out.extend(self.clock.to_le_bytes());
        out.extend(self.processor.to_le_bytes());
        out.extend(self.logger_id.to_le_bytes());
        out.extend(self.state.to_le_bytes());
        out.extend(self.offset.to_le_bytes());
        out.extend(self.buffer_flag.to_le_bytes());
        out.extend(self.buffer_type.to_le_bytes());
        let mut header = [0; HEADER_LEN];
        for (to, from) in header.iter_mut().zip(out) {
            *to = from;
        }
        header
    }

    /// The processor that the buffer belongs to.
    #[must_use]
    pub const fn cpu(&self) -> u16 {
        // Before Windows 8 the second byte is an alignment (8), which would turn processor 1 into
        // 2049.
        if self.buffer_flag & flag::PROCESSOR_INDEX != 0 {
            self.processor
        } else {
            self.processor & 0xFF
        }
    }

    /// True if the bytes after the header are compressed.
    #[must_use]
    pub const fn is_compressed(&self) -> bool {
        self.buffer_flag & flag::COMPRESSED != 0
    }

    /// True if the buffer holds records (compact context switches and debug data are not records).
    #[must_use]
    pub const fn holds_records(&self) -> bool {
        !matches!(
            self.buffer_type,
            buffer_type::CONTEXT_SWAP | buffer_type::EMPTY_MARKER | buffer_type::DEBUG_INFO
        )
    }

    /// True if these can be the first bytes of a buffer: every field with limits keeps them.
    #[must_use]
    pub const fn is_plausible(&self) -> bool {
        // Damage is recognized by these tests alone, so each field with a bound is tested.
        self.buffer_size as usize >= HEADER_LEN
            && self.buffer_size <= MAX_BUFFER_LEN
            && (self.offset == 0 || self.offset as usize >= HEADER_LEN)
            && self.offset <= MAX_BUFFER_LEN
            && self.buffer_flag <= 0x7F
            && self.buffer_type <= buffer_type::DEBUG_INFO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_reads_back_what_it_wrote() {
        let header = BufferHeader {
            buffer_size: 0x10000,
            saved_offset: 2,
            current_offset: 3,
            reference_count: -4,
            time_stamp: -5,
            sequence_number: 6,
            clock: u64::MAX,
            processor: 0x0203,
            logger_id: 8,
            state: 9,
            offset: 0x48,
            buffer_flag: flag::PROCESSOR_INDEX | flag::COMPRESSED,
            buffer_type: buffer_type::BATCHED,
        };
        assert_eq!(BufferHeader::parse(&header.to_bytes()), Some(header));
        assert_eq!(header.cpu(), 0x0203);
        assert_eq!(
            BufferHeader {
                buffer_flag: 0,
                ..header
            }
            .cpu(),
            3
        );
        assert!(header.is_plausible() && header.is_compressed());
    }
}
