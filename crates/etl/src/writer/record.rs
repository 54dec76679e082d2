//! Records of every kind, as input of the writer.
//!
//! A record borrows its variable parts, so creating one costs no allocation.

use super::error::{Result, WriteError};
use crate::bytes::align8;
use crate::guid::Guid;
use crate::wire::event::{Descriptor, HeaderKind, RawEvent};

/// Size of pointers in a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Width {
    /// 4 bytes.
    Bits32,
    /// 8 bytes.
    #[default]
    Bits64,
}

impl Width {
    /// Bytes of a pointer.
    #[must_use]
    pub const fn pointer_size(self) -> usize {
        match self {
            Self::Bits32 => 4,
            Self::Bits64 => 8,
        }
    }

    const fn pick(self, bits32: HeaderKind, bits64: HeaderKind) -> HeaderKind {
        match self {
            Self::Bits32 => bits32,
            Self::Bits64 => bits64,
        }
    }
}

/// A record of any kind.
#[derive(Debug, Clone, Copy)]
pub enum Record<'a> {
    /// SYSTEM, COMPACT or PERFINFO header.
    Kernel(KernelEvent<'a>),
    /// FULL or INSTANCE header.
    Classic(ClassicEvent<'a>),
    /// `EVENT_HEADER`.
    Manifest(ManifestEvent<'a>),
    /// WPP message.
    Message(MessageEvent<'a>),
    /// A record of any kind with its original bytes.
    Stored(StoredEvent<'a>),
}

/// A record in its stored form, with the length in its header, read from another trace.
#[derive(Debug, Clone, Copy)]
pub struct StoredEvent<'a> {
    /// Kind of its header.
    pub kind: HeaderKind,
    /// Raw clock ticks.
    pub timestamp: i64,
    /// The whole record, header included, without padding.
    pub bytes: &'a [u8],
}

/// The fields of a kernel event header that describe the running thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KernelContext {
    /// Nothing (PERFINFO header).
    #[default]
    None,
    /// Thread and process (COMPACT header).
    Ids {
        /// Thread.
        thread_id: u32,
        /// Process.
        process_id: u32,
    },
    /// Thread, process and their CPU times (SYSTEM header).
    IdsAndTimes {
        /// Thread.
        thread_id: u32,
        /// Process.
        process_id: u32,
        /// Kernel time in units of the timer resolution.
        kernel_time: u32,
        /// User time in units of the timer resolution.
        user_time: u32,
    },
}

impl KernelContext {
    /// Thread and process with CPU times of 0, as all recent systems write them.
    #[must_use]
    pub const fn ids(thread_id: u32, process_id: u32) -> Self {
        Self::IdsAndTimes {
            thread_id,
            process_id,
            kernel_time: 0,
            user_time: 0,
        }
    }
}

/// An event of a kernel group.
#[derive(Debug, Clone, Copy, Default)]
pub struct KernelEvent<'a> {
    /// Size of pointers.
    pub width: Width,
    /// Running thread; it determines the header kind of the event.
    pub context: KernelContext,
    /// Raw clock ticks.
    pub timestamp: i64,
    /// Group.
    pub group: u8,
    /// Type within the group.
    pub opcode: u8,
    /// Version of the layout.
    pub version: u8,
    /// PEBS index.
    pub pebs_index: Option<u64>,
    /// Performance counters, at most 7.
    pub pmc_values: &'a [u64],
    /// Payload.
    pub payload: &'a [u8],
}

/// An event of a classic (MOF) class.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClassicEvent<'a> {
    /// Size of pointers.
    pub width: Width,
    /// Raw clock ticks.
    pub timestamp: i64,
    /// Class GUID.
    pub class: Guid,
    /// Type.
    pub opcode: u8,
    /// Severity.
    pub level: u8,
    /// Version of the layout.
    pub version: u16,
    /// Thread, `u32::MAX` for none.
    pub thread_id: u32,
    /// Process, `u32::MAX` for none.
    pub process_id: u32,
    /// Kernel time in the low, user time in the high half, or one processor time.
    pub processor_time: u64,
    /// Instance. Events with an instance get an INSTANCE header.
    pub instance: Option<Instance>,
    /// Payload.
    pub payload: &'a [u8],
}

/// The instance that a classic event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Instance {
    /// Its ID.
    pub id: u32,
    /// ID of its parent.
    pub parent_id: u32,
    /// Class of its parent.
    pub parent_class: Guid,
}

/// A manifest, EventSource or TraceLogging event.
#[derive(Debug, Clone, Copy, Default)]
pub struct ManifestEvent<'a> {
    /// Size of pointers.
    pub width: Width,
    /// Raw clock ticks.
    pub timestamp: i64,
    /// Provider.
    pub provider: Guid,
    /// ID, version, level, keyword and so on.
    pub descriptor: Descriptor,
    /// `EventProperty`.
    pub property: u16,
    /// Thread.
    pub thread_id: u32,
    /// Process.
    pub process_id: u32,
    /// Kernel time in the low, user time in the high half, or one processor time.
    pub processor_time: u64,
    /// Activity, zero for none.
    pub activity_id: Guid,
    /// Extended items: kind (see [`crate::wire::extended::kind`]) and data.
    pub extended: &'a [(u16, &'a [u8])],
    /// Payload.
    pub payload: &'a [u8],
}

/// The source of a WPP message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MessageSource {
    /// Unknown.
    #[default]
    None,
    /// Message GUID.
    Guid(Guid),
    /// Component ID.
    Component(u32),
}

/// A WPP message.
#[derive(Debug, Clone, Copy, Default)]
pub struct MessageEvent<'a> {
    /// Pointer size, if the message states it.
    pub width: Option<Width>,
    /// Message number.
    pub number: u16,
    /// Sequence number.
    pub sequence: Option<u32>,
    /// The source.
    pub source: MessageSource,
    /// Raw clock ticks. A message without a time takes the time of the record before it in its
    /// buffer.
    pub timestamp: Option<i64>,
    /// Thread and process.
    pub ids: Option<(u32, u32)>,
    /// Arguments.
    pub payload: &'a [u8],
}

impl<'a> From<StoredEvent<'a>> for Record<'a> {
    fn from(event: StoredEvent<'a>) -> Self {
        Self::Stored(event)
    }
}

impl<'a> From<&RawEvent<'a>> for StoredEvent<'a> {
    fn from(event: &RawEvent<'a>) -> Self {
        Self {
            kind: event.kind,
            timestamp: event.timestamp,
            bytes: event.record,
        }
    }
}

impl<'a> From<KernelEvent<'a>> for Record<'a> {
    fn from(event: KernelEvent<'a>) -> Self {
        Self::Kernel(event)
    }
}

impl<'a> From<ClassicEvent<'a>> for Record<'a> {
    fn from(event: ClassicEvent<'a>) -> Self {
        Self::Classic(event)
    }
}

impl<'a> From<ManifestEvent<'a>> for Record<'a> {
    fn from(event: ManifestEvent<'a>) -> Self {
        Self::Manifest(event)
    }
}

impl<'a> From<MessageEvent<'a>> for Record<'a> {
    fn from(event: MessageEvent<'a>) -> Self {
        Self::Message(event)
    }
}

impl Record<'_> {
    /// Kind of the header.
    #[must_use]
    pub const fn kind(&self) -> HeaderKind {
        match self {
            Self::Kernel(event) => match event.context {
                KernelContext::None => event
                    .width
                    .pick(HeaderKind::Perfinfo32, HeaderKind::Perfinfo64),
                KernelContext::Ids { .. } => event
                    .width
                    .pick(HeaderKind::Compact32, HeaderKind::Compact64),
                KernelContext::IdsAndTimes { .. } => {
                    event.width.pick(HeaderKind::System32, HeaderKind::System64)
                }
            },
            Self::Classic(event) if event.instance.is_some() => event
                .width
                .pick(HeaderKind::Instance32, HeaderKind::Instance64),
            Self::Classic(event) => event.width.pick(HeaderKind::Full32, HeaderKind::Full64),
            Self::Manifest(event) => event.width.pick(HeaderKind::Event32, HeaderKind::Event64),
            Self::Message(_) => HeaderKind::Message,
            Self::Stored(event) => event.kind,
        }
    }

    /// Raw clock ticks; `None` for a message without a time.
    #[must_use]
    pub const fn timestamp(&self) -> Option<i64> {
        match self {
            Self::Kernel(event) => Some(event.timestamp),
            Self::Classic(event) => Some(event.timestamp),
            Self::Manifest(event) => Some(event.timestamp),
            Self::Message(event) => event.timestamp,
            Self::Stored(event) => Some(event.timestamp),
        }
    }

    /// Bytes of the record, header included, without padding.
    ///
    /// # Errors
    /// [`WriteError::RecordTooLong`] and [`WriteError::TooManyCounters`].
    pub fn stored_len(&self) -> Result<u16> {
        // Stored records include their header.
        let header = if matches!(self, Self::Stored(_)) {
            0
        } else {
            self.kind().header_len()
        };
        let len = header
            + match self {
                Self::Kernel(event) => {
                    let count = event.pmc_values.len();
                    // The header has three bits for the number of counters.
                    if count > 7 {
                        return Err(WriteError::TooManyCounters { count });
                    }
                    8 * (count + usize::from(event.pebs_index.is_some())) + event.payload.len()
                }
                Self::Classic(event) => event.payload.len(),
                Self::Manifest(event) => {
                    let items = event
                        .extended
                        .iter()
                        // Items start at multiples of eight bytes.
                        .map(|(_, data)| align8(8 + data.len()));
                    items.sum::<usize>() + event.payload.len()
                }
                Self::Message(event) => event.parts_len() + event.payload.len(),
                Self::Stored(event) => event.bytes.len(),
            };
        u16::try_from(len).map_err(|_| WriteError::RecordTooLong { len })
    }
}

impl MessageEvent<'_> {
    const fn parts_len(&self) -> usize {
        let source = match self.source {
            MessageSource::None => 0,
            MessageSource::Guid(_) => 16,
            MessageSource::Component(_) => 4,
        };
        source
            + if self.sequence.is_some() { 4 } else { 0 }
            + if self.timestamp.is_some() { 8 } else { 0 }
            + if self.ids.is_some() { 8 } else { 0 }
    }
}
