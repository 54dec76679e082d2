//! Records made for tests.

use etwkit_etl::wire::extended::write_items;
use etwkit_etl::{Guid, HeaderKind, RawEvent};

/// The provider of test events.
pub(crate) const PROVIDER: Guid = Guid::literal("11111111-2222-3333-4444-555555555555");

/// A record with its time stamp.
pub(crate) struct Record {
    kind: HeaderKind,
    time: i64,
    bytes: Vec<u8>,
}

impl Record {
    /// A manifest event of [`PROVIDER`], logged by process 1, thread 2.
    pub(crate) fn event(time: i64, (id, version, opcode): (u16, u8, u8), payload: &[u8]) -> Self {
        Self::extended(time, (id, version, opcode), &[], payload)
    }

    /// A manifest event of [`PROVIDER`] with extended items.
    pub(crate) fn extended(
        time: i64,
        (id, version, opcode): (u16, u8, u8),
        items: &[(u16, &[u8])],
        payload: &[u8],
    ) -> Self {
        let mut bytes = vec![0; 80];
        bytes[4] = u8::from(!items.is_empty());
        bytes[8..16].copy_from_slice(&[2, 0, 0, 0, 1, 0, 0, 0]);
        bytes[24..40].copy_from_slice(&PROVIDER.to_bytes());
        bytes[40..42].copy_from_slice(&id.to_le_bytes());
        (bytes[42], bytes[45]) = (version, opcode);
        write_items(items, &mut bytes);
        bytes.extend(payload);
        Self {
            kind: HeaderKind::Event64,
            time,
            bytes,
        }
    }

    /// Changes the provider of the event.
    #[allow(
        dead_code,
        reason = "other crates that share this file have no use for it"
    )]
    pub(crate) fn set_provider(&mut self, provider: Guid) {
        self.bytes[24..40].copy_from_slice(&provider.to_bytes());
    }

    /// The event.
    pub(crate) fn raw(&self) -> RawEvent<'_> {
        RawEvent {
            kind: self.kind,
            timestamp: self.time,
            cpu: 0,
            file: 0,
            buffer: 0,
            position: 0,
            record: &self.bytes,
        }
    }
}

/// Metadata of a self-describing event.
pub(crate) fn metadata(name: &str, fields: &[u8]) -> Vec<u8> {
    let len = (4 + name.len() + fields.len()) as u16;
    [&len.to_le_bytes()[..], &[0], name.as_bytes(), &[0], fields].concat()
}

/// Traits of a provider.
pub(crate) fn traits(name: &str) -> Vec<u8> {
    [
        &(3 + name.len() as u16).to_le_bytes()[..],
        name.as_bytes(),
        &[0],
    ]
    .concat()
}
