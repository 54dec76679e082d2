//! The stored form of records: the inverse of [`crate::wire::event`].

use super::record::{
    ClassicEvent, KernelContext, KernelEvent, ManifestEvent, MessageEvent, MessageSource, Record,
    Width,
};
use crate::bytes::align8;
use crate::wire::event::{
    EVENT_FLAG_EXTENDED_INFO, HeaderKind, MARKER_EVENT, MARKER_MESSAGE, version_word,
};
use crate::wire::extended::write_items;
use crate::wire::message::message_flag;

impl Record<'_> {
    /// Appends the stored form, padded to 8 bytes. `len` is the result of [`Record::stored_len`].
    pub(super) fn encode(&self, len: u16, out: &mut Vec<u8>) {
        let start = out.len();
        let kind = self.kind();
        match self {
            Self::Kernel(event) => event.encode(kind, len, out),
            Self::Classic(event) => event.encode(kind, len, out),
            Self::Manifest(event) => event.encode(kind, len, out),
            Self::Message(event) => event.encode(len, out),
            Self::Stored(event) => out.extend_from_slice(event.bytes),
        }
        debug_assert_eq!(out.len() - start, usize::from(len), "{kind:?}");
        // Records start at multiples of eight bytes. The padding is not part of the length.
        out.resize(start + align8(usize::from(len)), 0);
    }
}

impl KernelEvent<'_> {
    fn encode(&self, kind: HeaderKind, len: u16, out: &mut Vec<u8>) {
        let pebs = if self.pebs_index.is_some() {
            version_word::PEBS
        } else {
            0
        };
        let version = u16::from(self.version) | (self.pmc_values.len() as u16) << 8 | pebs;
        out.extend(version.to_le_bytes());
        out.extend([kind as u8, MARKER_EVENT]);
        out.extend(len.to_le_bytes());
        // The type comes first, so that both bytes read together are the hook ID (`group << 8 |
        // type`).
        out.extend([self.opcode, self.group]);
        match self.context {
            KernelContext::None => {}
            KernelContext::Ids {
                thread_id,
                process_id,
            }
            | KernelContext::IdsAndTimes {
                thread_id,
                process_id,
                ..
            } => {
                out.extend(thread_id.to_le_bytes());
                out.extend(process_id.to_le_bytes());
            }
        }
        out.extend(self.timestamp.to_le_bytes());
        if let KernelContext::IdsAndTimes {
            kernel_time,
            user_time,
            ..
        } = self.context
        {
            out.extend(kernel_time.to_le_bytes());
            out.extend(user_time.to_le_bytes());
        }
        for word in self.pebs_index.iter().chain(self.pmc_values) {
            out.extend(word.to_le_bytes());
        }
        out.extend_from_slice(self.payload);
    }
}

impl ClassicEvent<'_> {
    fn encode(&self, kind: HeaderKind, len: u16, out: &mut Vec<u8>) {
        out.extend(len.to_le_bytes());
        out.extend([kind as u8, MARKER_EVENT, self.opcode, self.level]);
        out.extend(self.version.to_le_bytes());
        out.extend(self.thread_id.to_le_bytes());
        out.extend(self.process_id.to_le_bytes());
        out.extend(self.timestamp.to_le_bytes());
        out.extend(self.class.to_bytes());
        out.extend(self.processor_time.to_le_bytes());
        if let Some(instance) = self.instance {
            out.extend(instance.id.to_le_bytes());
            out.extend(instance.parent_id.to_le_bytes());
            out.extend(instance.parent_class.to_bytes());
        }
        out.extend_from_slice(self.payload);
    }
}

impl ManifestEvent<'_> {
    fn encode(&self, kind: HeaderKind, len: u16, out: &mut Vec<u8>) {
        // Without the flag, a reader takes the items for the start of the payload.
        let flags = if self.extended.is_empty() {
            0
        } else {
            EVENT_FLAG_EXTENDED_INFO
        };
        out.extend(len.to_le_bytes());
        out.extend([kind as u8, MARKER_EVENT]);
        out.extend(flags.to_le_bytes());
        out.extend(self.property.to_le_bytes());
        out.extend(self.thread_id.to_le_bytes());
        out.extend(self.process_id.to_le_bytes());
        out.extend(self.timestamp.to_le_bytes());
        out.extend(self.provider.to_bytes());
        let d = &self.descriptor;
        out.extend(d.id.to_le_bytes());
        out.extend([d.version, d.channel, d.level, d.opcode]);
        out.extend(d.task.to_le_bytes());
        out.extend(d.keyword.to_le_bytes());
        out.extend(self.processor_time.to_le_bytes());
        out.extend(self.activity_id.to_bytes());
        write_items(self.extended, out);
        out.extend_from_slice(self.payload);
    }
}

impl MessageEvent<'_> {
    fn flags(&self) -> u16 {
        // The flags announce the optional fields; a reader finds the fields only by them.
        let mut flags = match self.source {
            MessageSource::None => 0,
            MessageSource::Guid(_) => message_flag::GUID,
            MessageSource::Component(_) => message_flag::COMPONENT_ID,
        };
        for (flag, present) in [
            (message_flag::SEQUENCE, self.sequence.is_some()),
            (message_flag::TIMESTAMP, self.timestamp.is_some()),
            (message_flag::SYSTEM_INFO, self.ids.is_some()),
            (message_flag::POINTER32, self.width == Some(Width::Bits32)),
            (message_flag::POINTER64, self.width == Some(Width::Bits64)),
        ] {
            flags |= if present { flag } else { 0 };
        }
        flags
    }

    fn encode(&self, len: u16, out: &mut Vec<u8>) {
        out.extend(len.to_le_bytes());
        out.extend([0, MARKER_MESSAGE]);
        out.extend(self.number.to_le_bytes());
        out.extend(self.flags().to_le_bytes());
        if let Some(sequence) = self.sequence {
            out.extend(sequence.to_le_bytes());
        }
        match self.source {
            MessageSource::None => {}
            MessageSource::Guid(guid) => out.extend(guid.to_bytes()),
            MessageSource::Component(id) => out.extend(id.to_le_bytes()),
        }
        if let Some(timestamp) = self.timestamp {
            out.extend(timestamp.to_le_bytes());
        }
        if let Some((thread_id, process_id)) = self.ids {
            out.extend(thread_id.to_le_bytes());
            out.extend(process_id.to_le_bytes());
        }
        out.extend_from_slice(self.payload);
    }
}
