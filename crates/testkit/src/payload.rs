//! Pieces of the payloads of events.

/// Returns numbers in little-endian order, each with its number of bytes.
#[must_use]
pub fn bytes(parts: &[(u64, usize)]) -> Vec<u8> {
    parts
        .iter()
        .flat_map(|(number, size)| number.to_le_bytes().into_iter().take(*size))
        .collect()
}

/// Returns a text in UTF-16 that ends with NUL.
#[must_use]
pub fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16()
        .chain([0])
        .flat_map(u16::to_le_bytes)
        .collect()
}
