//! GUIDs in the byte order of a trace.

use std::fmt;
use std::str::FromStr;

/// A GUID, kept as the 16 bytes of the file read as one little-endian number. Comparing and hashing
/// it is one machine operation.
///
/// Text form: lower case, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Guid(u128);

impl Guid {
    /// The GUID of all zeros.
    pub const ZERO: Self = Self(0);

    /// From the 16 bytes of the file (mixed-endian, as Windows stores them).
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_le_bytes(bytes))
    }

    /// The 16 bytes of the file.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }

    /// From the text of the usual form, at compile time:
    /// `Guid::literal("3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c")`.
    ///
    /// Parses a GUID in a constant. A malformed text gives [`Guid::ZERO`]; [`FromStr`] reports it.
    #[must_use]
    pub const fn literal(text: &str) -> Self {
        match parse(text.as_bytes()) {
            Some(guid) => guid,
            None => Self::ZERO,
        }
    }
}

/// The byte of the file that the n-th pair of hexadecimal digits of the text describes.
const BYTE_OF_PAIR: [usize; 16] = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];

#[expect(
    clippy::indexing_slicing,
    reason = "indices are checked against the length of 36 and constant tables"
)]
const fn parse(text: &[u8]) -> Option<Guid> {
    if text.len() != 36 {
        return None;
    }
    let mut bytes = [0u8; 16];
    let mut at = 0;
    let mut pair = 0;
    while pair < 16 {
        if matches!(at, 8 | 13 | 18 | 23) {
            if text[at] != b'-' {
                return None;
            }
            at += 1;
        }
        let (Some(high), Some(low)) = (hex_digit(text[at]), hex_digit(text[at + 1])) else {
            return None;
        };
        bytes[BYTE_OF_PAIR[pair]] = high << 4 | low;
        at += 2;
        pair += 1;
    }
    Some(Guid::from_bytes(bytes))
}

const fn hex_digit(c: u8) -> Option<u8> {
    match c {
        b'0'..=b'9' => Some(c - b'0'),
        b'a'..=b'f' => Some(c - b'a' + 10),
        b'A'..=b'F' => Some(c - b'A' + 10),
        _ => None,
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.to_bytes();
        let in_order = BYTE_OF_PAIR.iter().filter_map(|&at| bytes.get(at));
        for (pair, byte) in in_order.enumerate() {
            if matches!(pair, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is not a GUID.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no GUID; expected xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx, with or without braces")]
pub struct ParseGuidError(String);

impl FromStr for Guid {
    type Err = ParseGuidError;

    /// Reads the usual form, in any case, with or without braces.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bare = text.trim().trim_start_matches('{').trim_end_matches('}');
        parse(bare.as_bytes()).ok_or_else(|| ParseGuidError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_bytes_follow_the_windows_layout() {
        let guid = Guid::literal("01020304-0506-0708-090a-0b0c0d0e0f10");
        assert_eq!(
            guid.to_bytes(),
            [4, 3, 2, 1, 6, 5, 8, 7, 9, 10, 11, 12, 13, 14, 15, 16]
        );
        assert_eq!(guid.to_string(), "01020304-0506-0708-090a-0b0c0d0e0f10");
        assert_eq!("{01020304-0506-0708-090A-0B0C0D0E0F10}".parse(), Ok(guid));
    }

    #[test]
    fn other_text_is_refused() {
        for text in [
            "",
            "01020304",
            "01020304-0506-0708-090a-0b0c0d0e0f1g",
            "01020304x0506-0708-090a-0b0c0d0e0f10",
        ] {
            assert!(text.parse::<Guid>().is_err(), "{text}");
        }
    }
}
