//! Messages of Protocol Buffers, written by their wire format
//! (<https://protobuf.dev/programming-guides/encoding/>).
//!
//! A message is written field by field, with the numbers of its definition. That needs no generated
//! code, and absent fields take no bytes.

/// A message, or the fields of one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Message(Vec<u8>);

/// The encoding of the value of a field.
#[derive(Clone, Copy)]
enum Wire {
    Varint = 0,
    EightBytes = 1,
    Bytes = 2,
}

impl Message {
    /// Creates a message without fields.
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Returns its bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Adds a field of one of the types `uint32`, `uint64`, `bool` and of enumerations.
    pub(crate) fn number(mut self, field: u32, value: u64) -> Self {
        self.key(field, Wire::Varint);
        self.varint(value);
        self
    }

    /// Adds a field of one of the types `int32` and `int64`: negative numbers take ten bytes.
    pub(crate) fn int(self, field: u32, value: i64) -> Self {
        self.number(field, value.cast_unsigned())
    }

    /// Adds a field of type `fixed64`.
    pub(crate) fn fixed(mut self, field: u32, value: u64) -> Self {
        self.key(field, Wire::EightBytes);
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// Adds a field of one of the types `sint32` and `sint64`.
    pub(crate) fn zigzag(self, field: u32, value: i64) -> Self {
        self.number(field, ((value << 1) ^ (value >> 63)).cast_unsigned())
    }

    /// Adds a field of type `string`, or of `bytes` that hold a text.
    pub(crate) fn text(mut self, field: u32, value: &str) -> Self {
        self.block(field, value.as_bytes());
        self
    }

    /// Adds a field that is a message.
    pub(crate) fn message(mut self, field: u32, value: &Self) -> Self {
        self.block(field, &value.0);
        self
    }

    /// Adds a repeated field of numbers, one after the other.
    pub(crate) fn packed(mut self, field: u32, values: impl IntoIterator<Item = u64>) -> Self {
        let mut packed = Self::new();
        values.into_iter().for_each(|value| packed.varint(value));
        self.block(field, &packed.0);
        self
    }

    /// Adds a field if its value is present.
    pub(crate) fn some<T>(self, value: Option<T>, field: impl FnOnce(Self, T) -> Self) -> Self {
        match value {
            Some(value) => field(self, value),
            None => self,
        }
    }

    fn block(&mut self, field: u32, bytes: &[u8]) {
        self.key(field, Wire::Bytes);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn key(&mut self, field: u32, wire: Wire) {
        self.varint(u64::from(field) << 3 | wire as u64);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_as_the_page_of_the_format_has_them() {
        for (message, bytes) in [
            (Message::new().number(1, 150), &[0x08, 0x96, 0x01][..]),
            (Message::new().text(2, "testing"), b"\x12\x07testing"),
            (
                Message::new().message(3, &Message::new().number(1, 150)),
                &[0x1a, 0x03, 0x08, 0x96, 0x01],
            ),
            (Message::new().zigzag(1, -1), &[0x08, 0x01]),
            (
                Message::new().fixed(3, 0x0102),
                &[0x19, 0x02, 0x01, 0, 0, 0, 0, 0, 0],
            ),
            (
                Message::new().zigzag(1, 0x7fff_ffff),
                &[0x08, 0xfe, 0xff, 0xff, 0xff, 0x0f],
            ),
            (
                Message::new().int(1, -2),
                &[
                    0x08, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01,
                ],
            ),
            (Message::new().number(135, 0), &[0xb8, 0x08, 0x00]),
            (
                Message::new().packed(4, [3, 270, 86942]),
                &[0x22, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05],
            ),
            (
                Message::new().some(None, |message, n| message.number(1, n)),
                &[],
            ),
        ] {
            assert_eq!(message.bytes(), bytes, "{message:?}");
        }
    }
}
