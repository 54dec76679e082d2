//! Payloads, field after field, little-endian; pointers have 8 bytes.

use etwkit_etl::Guid;

/// A payload under construction.
#[derive(Debug, Default)]
pub(crate) struct Payload(pub(crate) Vec<u8>);

impl Payload {
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    pub(crate) fn zeros(&mut self, count: usize) -> &mut Self {
        self.0.resize(self.0.len() + count, 0);
        self
    }

    pub(crate) fn u16(&mut self, value: u16) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    pub(crate) fn u32(&mut self, value: u32) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    pub(crate) fn u64(&mut self, value: u64) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    pub(crate) fn time(&mut self, value: i64) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    pub(crate) fn guid(&mut self, value: Guid) -> &mut Self {
        self.bytes(&value.to_bytes())
    }

    /// Appends 8-bit text with its terminator.
    pub(crate) fn ansi(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes()).bytes(&[0])
    }

    /// Appends UTF-16 text with its terminator.
    pub(crate) fn wide(&mut self, text: &str) -> &mut Self {
        text.encode_utf16().chain([0]).for_each(|unit| {
            self.u16(unit);
        });
        self
    }

    /// Appends UTF-16 text without a terminator, after its number of units.
    pub(crate) fn counted_wide(&mut self, text: &str) -> &mut Self {
        self.u16(text.encode_utf16().count() as u16);
        text.encode_utf16().for_each(|unit| {
            self.u16(unit);
        });
        self
    }

    /// Appends UTF-16 text in a field of `units` units.
    pub(crate) fn wide_fixed(&mut self, text: &str, units: usize) -> &mut Self {
        let end = self.0.len() + 2 * units;
        // A text that is too long is cut, including its terminator.
        self.wide(text).0.resize(end, 0);
        self
    }
}
