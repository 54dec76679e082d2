//! Record headers of every kind, and the event type of the reader.

use super::extended::ExtendedItems;
use super::message::{MessageParts, message_flag};
use crate::bytes::{array, tail, u64_at};
use crate::guid::Guid;

/// The kinds of record headers (`HeaderType`, the third byte of a record).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum HeaderKind {
    /// Kernel event with thread and process, 32-bit pointers.
    System32 = 0x01,
    /// Kernel event with thread and process, 64-bit pointers.
    System64 = 0x02,
    /// Kernel event without CPU times, 32-bit pointers.
    Compact32 = 0x03,
    /// Kernel event without CPU times, 64-bit pointers.
    Compact64 = 0x04,
    /// Classic event with a class GUID, 32-bit pointers.
    Full32 = 0x0A,
    /// Classic event with an instance, 32-bit pointers.
    Instance32 = 0x0B,
    /// WPP message.
    Message = 0x0F,
    /// Kernel event without thread and process, 32-bit pointers.
    Perfinfo32 = 0x10,
    /// Kernel event without thread and process, 64-bit pointers.
    Perfinfo64 = 0x11,
    /// Manifest or TraceLogging event, 32-bit pointers.
    Event32 = 0x12,
    /// Manifest or TraceLogging event, 64-bit pointers.
    Event64 = 0x13,
    /// Classic event with a class GUID, 64-bit pointers.
    Full64 = 0x14,
    /// Classic event with an instance, 64-bit pointers.
    Instance64 = 0x15,
}

impl HeaderKind {
    /// All kinds.
    pub const ALL: [Self; 13] = [
        Self::System32,
        Self::System64,
        Self::Compact32,
        Self::Compact64,
        Self::Full32,
        Self::Instance32,
        Self::Message,
        Self::Perfinfo32,
        Self::Perfinfo64,
        Self::Event32,
        Self::Event64,
        Self::Full64,
        Self::Instance64,
    ];

    /// From the third byte of a record that carries the marker 0xC0.
    #[inline]
    #[must_use]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            0x01 => Self::System32,
            0x02 => Self::System64,
            0x03 => Self::Compact32,
            0x04 => Self::Compact64,
            0x0A => Self::Full32,
            0x0B => Self::Instance32,
            0x0F => Self::Message,
            0x10 => Self::Perfinfo32,
            0x11 => Self::Perfinfo64,
            0x12 => Self::Event32,
            0x13 => Self::Event64,
            0x14 => Self::Full64,
            0x15 => Self::Instance64,
            _ => return None,
        })
    }

    /// Bytes of the header, without the extended items, PEBS and PMC words that follow it. For
    /// messages: the fixed part.
    #[inline]
    #[must_use]
    pub const fn header_len(self) -> usize {
        match self {
            Self::System32 | Self::System64 => 32,
            Self::Compact32 | Self::Compact64 => 24,
            Self::Perfinfo32 | Self::Perfinfo64 => 16,
            Self::Full32 | Self::Full64 => 48,
            Self::Instance32 | Self::Instance64 => 72,
            Self::Event32 | Self::Event64 => 80,
            Self::Message => 8,
        }
    }

    /// Size of a pointer in the payload: 4 or 8.
    #[inline]
    #[must_use]
    pub const fn pointer_size(self) -> usize {
        // Not the pointer size of the trace: 32-bit processes on 64-bit systems log events with
        // 32-bit headers into the same file.
        match self {
            Self::System32
            | Self::Compact32
            | Self::Full32
            | Self::Instance32
            | Self::Perfinfo32
            | Self::Event32 => 4,
            _ => 8,
        }
    }

    /// True if the header contains group and type of a kernel event.
    #[inline]
    #[must_use]
    pub const fn is_kernel(self) -> bool {
        matches!(
            self,
            Self::System32
                | Self::System64
                | Self::Compact32
                | Self::Compact64
                | Self::Perfinfo32
                | Self::Perfinfo64
        )
    }

    /// True if the header belongs to a classic provider.
    #[inline]
    #[must_use]
    pub const fn is_classic(self) -> bool {
        matches!(
            self,
            Self::Full32 | Self::Full64 | Self::Instance32 | Self::Instance64
        )
    }

    /// True if the header is an `EVENT_HEADER`.
    #[inline]
    #[must_use]
    pub const fn is_manifest(self) -> bool {
        matches!(self, Self::Event32 | Self::Event64)
    }

    /// `system32`, `event64` and so on.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::System32 => "system32",
            Self::System64 => "system64",
            Self::Compact32 => "compact32",
            Self::Compact64 => "compact64",
            Self::Full32 => "full32",
            Self::Instance32 => "instance32",
            Self::Message => "message",
            Self::Perfinfo32 => "perfinfo32",
            Self::Perfinfo64 => "perfinfo64",
            Self::Event32 => "event32",
            Self::Event64 => "event64",
            Self::Full64 => "full64",
            Self::Instance64 => "instance64",
        }
    }

    /// Offset of the time stamp in bytes; `None` for messages, whose layout depends on flags.
    #[inline]
    #[must_use]
    pub const fn time_stamp_at(self) -> Option<usize> {
        match self {
            Self::Perfinfo32 | Self::Perfinfo64 => Some(8),
            Self::Message => None,
            _ => Some(16),
        }
    }
}

/// `TRACE_HEADER_FLAG | TRACE_HEADER_EVENT_TRACE`: a structured header follows.
pub(crate) const MARKER_EVENT: u8 = 0xC0;
/// `TRACE_HEADER_FLAG | TRACE_MESSAGE`: a WPP message.
pub(crate) const MARKER_MESSAGE: u8 = 0x90;

/// Bits of the version word of kernel events.
pub mod version_word {
    /// A PEBS index follows the header.
    pub const PEBS: u16 = 0x8000;
    /// Number of PMC values that follow, shifted by 8.
    pub const PMC_COUNT: u16 = 0x0700;
}

/// Bits of `EVENT_HEADER.Flags` in a file.
pub const EVENT_FLAG_EXTENDED_INFO: u16 = 0x0001;

/// The identity of an event according to its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Identity {
    /// Kernel event: group, type and version (the low byte of the version word).
    Kernel {
        /// Group.
        group: u8,
        /// Type within the group.
        opcode: u8,
        /// Version of the layout.
        version: u8,
    },
    /// Event of a classic (MOF) class.
    Classic {
        /// Class GUID.
        class: Guid,
        /// Type.
        opcode: u8,
        /// Version of the layout.
        version: u16,
    },
    /// Manifest, EventSource or TraceLogging event.
    Manifest {
        /// Provider.
        provider: Guid,
        /// Event ID.
        id: u16,
        /// Version of the layout.
        version: u8,
        /// Opcode.
        opcode: u8,
    },
    /// WPP message.
    Message {
        /// Message GUID, zero if the record has none.
        guid: Guid,
        /// Message number.
        number: u16,
    },
}

/// `EVENT_DESCRIPTOR` of a manifest event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Descriptor {
    /// Event ID.
    pub id: u16,
    /// Version of the layout.
    pub version: u8,
    /// Channel; 11 for TraceLogging.
    pub channel: u8,
    /// 0 always, 1 critical, 2 error, 3 warning, 4 information, 5 verbose.
    pub level: u8,
    /// Opcode.
    pub opcode: u8,
    /// Task.
    pub task: u16,
    /// Keywords.
    pub keyword: u64,
}

/// An event in its buffer: one record, and the place where it was found.
///
/// The record is at least as long as its header. Its parts are parsed on access.
#[derive(Debug, Clone, Copy)]
pub struct RawEvent<'a> {
    /// Kind of the header.
    pub kind: HeaderKind,
    /// Raw clock ticks; see [`crate::clock::Clock`].
    pub timestamp: i64,
    /// Processor of the buffer.
    pub cpu: u16,
    /// Index of the file in the session, from 0.
    pub file: u16,
    /// Index of the buffer in the file, from 0.
    pub buffer: u32,
    /// Offset of the record in its (decompressed) buffer.
    pub position: u32,
    /// The whole record, header included, without padding.
    pub record: &'a [u8],
}

impl<'a> RawEvent<'a> {
    /// Bytes of the header, which no record is shorter than: `record::cut` drops those. The zeros
    /// after the end are for events that a caller put together.
    #[inline]
    fn header<const N: usize>(&self, at: usize) -> [u8; N] {
        array(self.record, at).unwrap_or([0; N])
    }

    #[inline]
    fn u8(&self, at: usize) -> u8 {
        u8::from_le_bytes(self.header(at))
    }

    #[inline]
    fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.header(at))
    }

    #[inline]
    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.header(at))
    }

    #[inline]
    fn guid(&self, at: usize) -> Guid {
        Guid::from_bytes(self.header(at))
    }

    /// Size of a pointer in the payload: 4 or 8.
    #[inline]
    #[must_use]
    pub fn pointer_size(&self) -> usize {
        // Messages have one header kind for both pointer sizes, and state the size in a flag.
        if self.kind == HeaderKind::Message && self.u16(6) & message_flag::POINTER32 != 0 {
            return 4;
        }
        self.kind.pointer_size()
    }

    /// Group and type of a kernel event as one number (`group << 8 | type`); `None` for other
    /// events.
    #[inline]
    #[must_use]
    pub fn hook_id(&self) -> Option<u16> {
        // The type is the low byte in the file, the group the high one.
        // One number for both, as tables are indexed by it.
        self.kind.is_kernel().then(|| self.u16(6))
    }

    /// Version of the layout.
    #[inline]
    #[must_use]
    pub fn version(&self) -> u16 {
        match self.kind {
            // The high byte of the word has flags and the number of counters.
            kind if kind.is_kernel() => self.u16(0) & 0xFF,
            kind if kind.is_classic() => self.u16(6),
            HeaderKind::Message => 0,
            _ => u16::from(self.u8(42)),
        }
    }

    /// Opcode (type) of the event; 0 for messages.
    #[inline]
    #[must_use]
    pub fn opcode(&self) -> u8 {
        match self.kind {
            // Both are in the word at offset 6; the group is its second byte.
            kind if kind.is_kernel() => self.u8(6),
            kind if kind.is_classic() => self.u8(4),
            HeaderKind::Message => 0,
            _ => self.u8(45),
        }
    }

    /// Severity level; 0 if the header has none.
    #[must_use]
    pub fn level(&self) -> u8 {
        match self.kind {
            kind if kind.is_classic() => self.u8(5),
            kind if kind.is_manifest() => self.u8(44),
            _ => 0,
        }
    }

    /// Provider of a manifest event, class of a classic one, message GUID of a message; zero for
    /// kernel events.
    #[inline]
    #[must_use]
    pub fn provider(&self) -> Guid {
        match self.kind {
            // Both kinds have it at the same place.
            kind if kind.is_manifest() || kind.is_classic() => self.guid(24),
            HeaderKind::Message => self.message_parts().guid,
            _ => Guid::ZERO,
        }
    }

    /// The identity of the event.
    #[inline]
    #[must_use]
    pub fn identity(&self) -> Identity {
        match self.kind {
            kind if kind.is_kernel() => Identity::Kernel {
                group: self.u8(7),
                opcode: self.u8(6),
                version: self.u8(0),
            },
            kind if kind.is_classic() => Identity::Classic {
                class: self.guid(24),
                opcode: self.u8(4),
                version: self.u16(6),
            },
            HeaderKind::Message => Identity::Message {
                // A message without a GUID is found by its number alone.
                guid: self.message_parts().guid,
                number: self.u16(4),
            },
            _ => Identity::Manifest {
                provider: self.guid(24),
                id: self.u16(40),
                version: self.u8(42),
                opcode: self.u8(45),
            },
        }
    }

    /// Descriptor of a manifest event; zeros for other kinds.
    #[must_use]
    pub fn descriptor(&self) -> Descriptor {
        if !self.kind.is_manifest() {
            return Descriptor::default();
        }
        Descriptor {
            id: self.u16(40),
            version: self.u8(42),
            channel: self.u8(43),
            level: self.u8(44),
            opcode: self.u8(45),
            task: self.u16(46),
            keyword: u64::from_le_bytes(self.header(48)),
        }
    }

    /// Activity ID of a manifest event, unless it is zero.
    #[must_use]
    pub fn activity_id(&self) -> Option<Guid> {
        // Zero means that the provider set none.
        Some(self.guid(64)).filter(|id| self.kind.is_manifest() && *id != Guid::ZERO)
    }

    /// Thread that logged the event, if the header contains one (`0xFFFFFFFF` means none).
    #[inline]
    #[must_use]
    pub fn thread_id(&self) -> Option<u32> {
        self.header_ids()
            .map(|ids| ids.0)
            // Events injected by the merge step have all bits set.
            .filter(|id| *id != u32::MAX)
    }

    /// Process that logged the event, if the header contains one (`0xFFFFFFFF` means none).
    #[inline]
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.header_ids()
            .map(|ids| ids.1)
            .filter(|id| *id != u32::MAX)
    }

    #[inline]
    fn header_ids(&self) -> Option<(u32, u32)> {
        match self.kind {
            // The short header has only a time, to keep the most frequent events small.
            HeaderKind::Perfinfo32 | HeaderKind::Perfinfo64 => None,
            HeaderKind::Message => self.message_parts().ids,
            _ => Some((self.u32(8), self.u32(12))),
        }
    }

    /// Extended data items; none for kinds other than manifest events.
    #[must_use]
    pub fn extended(&self) -> ExtendedItems<'a> {
        // Without the flag the payload starts right after the header, and its first bytes would be
        // read as an item.
        let present = self.kind.is_manifest() && self.u16(4) & EVENT_FLAG_EXTENDED_INFO != 0;
        ExtendedItems::new(tail(self.record, 80), present)
    }

    /// Number of PEBS (0 or 1) and PMC words after a kernel header.
    #[inline]
    fn counter_words(&self) -> (usize, usize) {
        if !self.kind.is_kernel() {
            return (0, 0);
        }
        let word = self.u16(0);
        (
            usize::from(word & version_word::PEBS != 0),
            usize::from((word & version_word::PMC_COUNT) >> 8),
        )
    }

    /// The PEBS index that was logged with a kernel event.
    #[must_use]
    pub fn pebs_index(&self) -> Option<u64> {
        (self.counter_words().0 == 1)
            .then(|| u64_at(self.record, self.kind.header_len()))
            .flatten()
    }

    /// The performance counters that were logged with a kernel event, in the order of the trace's
    /// configuration.
    pub fn pmc_values(&self) -> impl Iterator<Item = u64> + use<'a> {
        let (pebs, count) = self.counter_words();
        // The PEBS index precedes the counters.
        let start = self.kind.header_len() + 8 * pebs;
        // A record too short for its counters has none: their number is in doubt, and so is the
        // place of each.
        // Checked as a whole, so that no counter takes the bytes of the payload.
        self.record
            .get(start..start + 8 * count)
            .into_iter()
            .flat_map(|words| words.as_chunks::<8>().0)
            .map(|word| u64::from_le_bytes(*word))
    }

    /// The payload: the bytes after header, counters and extended items.
    #[inline]
    #[must_use]
    pub fn payload(&self) -> &'a [u8] {
        tail(self.record, self.payload_at())
    }

    #[inline]
    fn payload_at(&self) -> usize {
        let header = self.kind.header_len();
        match self.kind {
            kind if kind.is_manifest() => {
                let mut items = self.extended();
                // Items state only their own length, so the start of the payload is known only
                // after the last.
                while items.next().is_some() {}
                header + items.position()
            }
            HeaderKind::Message => self.message_parts().end,
            _ => {
                let (pebs, pmc) = self.counter_words();
                header + 8 * (pebs + pmc)
            }
        }
    }

    fn message_parts(&self) -> MessageParts {
        MessageParts::parse(self.record)
    }
}
