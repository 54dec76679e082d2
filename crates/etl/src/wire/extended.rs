//! `EVENT_HEADER_EXTENDED_DATA_ITEM`: optional data between an event header and its payload.

use crate::bytes::{align8, u16_at};

/// `ExtType`.
pub mod kind {
    /// GUID of the related activity.
    pub const RELATED_ACTIVITY_ID: u16 = 1;
    /// SID of the user.
    pub const SID: u16 = 2;
    /// Terminal session ID, u32.
    pub const TERMINAL_SESSION_ID: u16 = 3;
    /// Instance ID, parent instance ID (u32 each), parent GUID.
    pub const INSTANCE_INFO: u16 = 4;
    /// Match ID (u64), then 32-bit addresses.
    pub const STACK_TRACE_32: u16 = 5;
    /// Match ID (u64), then 64-bit addresses.
    pub const STACK_TRACE_64: u16 = 6;
    /// PEBS index, u64.
    pub const PEBS_INDEX: u16 = 7;
    /// Performance counters, u64 each.
    pub const PMC_COUNTERS: u16 = 8;
    /// Package state.
    pub const PSM_KEY: u16 = 9;
    /// Unique event key, u64.
    pub const EVENT_KEY: u16 = 10;
    /// TraceLogging metadata.
    pub const EVENT_SCHEMA_TL: u16 = 11;
    /// Provider name and traits.
    pub const PROVIDER_TRAITS: u16 = 12;
    /// Process start key, u64.
    pub const PROCESS_START_KEY: u16 = 13;
    /// Control GUID.
    pub const CONTROL_GUID: u16 = 14;
    /// QPC delta, i64.
    pub const QPC_DELTA: u16 = 15;
    /// Container ID, GUID.
    pub const CONTAINER_ID: u16 = 16;
}

/// One item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtendedItem<'a> {
    /// One of [`kind`].
    pub kind: u16,
    /// Its data, without padding.
    pub data: &'a [u8],
}

/// The items of one event, in the order of the file.
#[derive(Debug, Clone, Default)]
pub struct ExtendedItems<'a> {
    bytes: &'a [u8],
    at: usize,
    more: bool,
}

impl<'a> ExtendedItems<'a> {
    /// Items that start at `bytes`; `present` is the flag of the event header.
    #[must_use]
    pub const fn new(bytes: &'a [u8], present: bool) -> Self {
        Self {
            bytes,
            at: 0,
            more: present,
        }
    }

    /// Offset of the next item or, after the last item, of the payload.
    #[must_use]
    pub const fn position(&self) -> usize {
        self.at
    }

    /// The data of the first item of that kind.
    #[must_use]
    pub fn find(mut self, kind: u16) -> Option<&'a [u8]> {
        Iterator::find(&mut self, |item| item.kind == kind).map(|item| item.data)
    }
}

impl<'a> Iterator for ExtendedItems<'a> {
    type Item = ExtendedItem<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        if !self.more {
            return None;
        }
        let head = self.bytes.get(self.at..)?;
        let kind = u16_at(head, 2)?;
        let linkage = u16_at(head, 4)?;
        let len = usize::from(u16_at(head, 6)?);
        let Some(data) = head.get(8..8 + len) else {
            // A broken length: nothing after it can be trusted, so the payload is empty.
            self.at = self.bytes.len();
            self.more = false;
            return None;
        };
        // The padding of the last item may be missing at the end of a record.
        self.at = (self.at + align8(8 + len)).min(self.bytes.len());
        self.more = linkage & 1 != 0;
        Some(ExtendedItem { kind, data })
    }
}

/// Appends items in their stored form, each padded to 8 bytes.
pub fn write_items(items: &[(u16, &[u8])], out: &mut Vec<u8>) {
    for (index, (kind, data)) in items.iter().enumerate() {
        let total = align8(8 + data.len());
        out.extend((total as u16).to_le_bytes());
        out.extend(kind.to_le_bytes());
        out.extend(u16::from(index + 1 < items.len()).to_le_bytes());
        out.extend((data.len() as u16).to_le_bytes());
        out.extend_from_slice(data);
        out.resize(out.len() + total - 8 - data.len(), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_end_where_the_link_ends() {
        let mut bytes = Vec::new();
        write_items(
            &[(kind::SID, b"abc"), (kind::EVENT_KEY, b"12345678")],
            &mut bytes,
        );
        bytes.extend(b"payload");
        let mut items = ExtendedItems::new(&bytes, true);
        assert_eq!(
            items.next(),
            Some(ExtendedItem {
                kind: 2,
                data: b"abc"
            })
        );
        assert_eq!(
            items.next(),
            Some(ExtendedItem {
                kind: 10,
                data: b"12345678"
            })
        );
        assert_eq!(items.next(), None);
        assert_eq!(&bytes[items.position()..], b"payload");
        assert_eq!(ExtendedItems::new(&bytes, false).next(), None);
    }

    #[test]
    fn a_length_behind_the_end_gives_no_item() {
        let mut items = ExtendedItems::new(&[16, 0, 2, 0, 1, 0, 255, 255, 0], true);
        assert_eq!(items.next(), None);
        assert_eq!(items.position(), 9);
    }
}
