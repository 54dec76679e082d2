//! Reading little-endian values out of untrusted bytes.
//!
//! Nothing here can panic: a read past the end is `None`, and the caller decides how to handle it.

use crate::guid::Guid;

/// The `N` bytes at `at`, if the input has them.
#[inline]
#[must_use]
pub fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk::<N>().copied()
}

macro_rules! readers {
    ($($name:ident $type:ty),*) => {$(
        #[doc = concat!("The little-endian `", stringify!($type), "` at `at`, if the input has all of it.")]
        #[inline]
        #[must_use]
        pub fn $name(bytes: &[u8], at: usize) -> Option<$type> {
            array(bytes, at).map(<$type>::from_le_bytes)
        }
    )*};
}

readers!(u8_at u8, u16_at u16, u32_at u32, u64_at u64, i32_at i32, i64_at i64);

/// The GUID at `at`, if the input has all of it.
#[inline]
#[must_use]
pub fn guid_at(bytes: &[u8], at: usize) -> Option<Guid> {
    array(bytes, at).map(Guid::from_bytes)
}

/// The pointer of `size` bytes (4 or 8) at `at`, widened to 64 bits.
#[inline]
#[must_use]
pub fn pointer_at(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    // 32-bit systems write four bytes. All the rest of the program has 64.
    if size == 4 {
        u32_at(bytes, at).map(u64::from)
    } else {
        u64_at(bytes, at)
    }
}

/// The items from `at` to the end. After the end there are none, so a number read there is `None`.
#[inline]
#[must_use]
pub fn tail<T>(items: &[T], at: usize) -> &[T] {
    items.get(at..).unwrap_or_default()
}

/// The first `len` items, or all if there are fewer.
#[inline]
#[must_use]
pub fn front<T>(items: &[T], len: usize) -> &[T] {
    items.get(..len).unwrap_or(items)
}

/// The next multiple of 8.
#[inline]
#[must_use]
pub const fn align8(n: usize) -> usize {
    // Saturating, so that a damaged length cannot wrap around to a small one.
    n.saturating_add(7) & !7
}

/// A position in untrusted bytes that moves forward with each read.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

macro_rules! cursor_readers {
    ($($name:ident $type:ty),*) => {$(
        #[doc = concat!("The next little-endian `", stringify!($type), "`.")]
        #[inline]
        pub fn $name(&mut self) -> Option<$type> {
            self.array().map(<$type>::from_le_bytes)
        }
    )*};
}

impl<'a> Cursor<'a> {
    /// Starts at the first byte.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Bytes read so far.
    #[must_use]
    pub const fn position(&self) -> usize {
        self.at
    }

    /// The bytes that have not been read.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        tail(self.bytes, self.at)
    }

    /// True if all bytes are read.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// The next `len` bytes.
    #[inline]
    pub fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        // Checked, since lengths come from files.
        let end = self.at.checked_add(len)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    /// The next `N` bytes.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let value = array(self.bytes, self.at)?;
        self.at += N;
        Some(value)
    }

    cursor_readers!(u8 u8, u16 u16, u32 u32, u64 u64, i8 i8, i16 i16, i32 i32, i64 i64, f32 f32, f64 f64);

    /// The next GUID.
    pub fn guid(&mut self) -> Option<Guid> {
        self.array().map(Guid::from_bytes)
    }

    /// The next pointer of `size` bytes (4 or 8), widened.
    #[inline]
    pub fn pointer(&mut self, size: usize) -> Option<u64> {
        if size == 4 {
            self.u32().map(u64::from)
        } else {
            self.u64()
        }
    }

    /// The 8-bit string up to the next NUL, which is skipped; a missing NUL means the end of the
    /// bytes (a payload may leave out the last one).
    pub fn ansi(&mut self) -> &'a [u8] {
        let rest = self.rest();
        let len = rest.iter().position(|&b| b == 0).unwrap_or(rest.len());
        // The end is not passed even if the NUL is missing, so that the next read finds nothing.
        self.at = (self.at + len + 1).min(self.bytes.len());
        front(rest, len)
    }

    /// The bytes of the UTF-16 string up to the next NUL character, which is skipped; a missing NUL
    /// means the end of the bytes. The string may start at an odd offset; an odd last byte is left
    /// unread.
    pub fn utf16(&mut self) -> &'a [u8] {
        let rest = self.rest();
        let (units, _) = rest.as_chunks::<2>();
        let len = 2 * units
            .iter()
            .position(|unit| *unit == [0, 0])
            .unwrap_or(units.len());
        // The NUL is skipped if it is there. An odd byte at the end stays, so that it is not taken
        // for a half.
        self.at = (self.at + len + 2).min(self.bytes.len()).max(self.at + len);
        front(rest, len)
    }

    /// The text of the UTF-16 string up to the next NUL character, as [`Self::utf16`] reads it.
    pub fn text(&mut self) -> String {
        utf16_text(self.utf16())
    }

    /// The text of a UTF-16 field of that many bytes, up to its first NUL.
    pub fn fixed_text(&mut self, width: usize) -> Option<String> {
        self.take(width).map(utf16_fixed_text)
    }
}

/// Decodes UTF-16LE. Invalid units become U+FFFD, and an odd last byte is dropped.
#[must_use]
pub fn utf16_text(bytes: &[u8]) -> String {
    let (units, _) = bytes.as_chunks::<2>();
    char::decode_utf16(units.iter().map(|unit| u16::from_le_bytes(*unit)))
        .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

/// The text of a fixed-width UTF-16 field: up to its first NUL (garbage may follow it).
#[must_use]
pub fn utf16_fixed_text(bytes: &[u8]) -> String {
    Cursor::new(bytes).text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_past_the_end_are_none() {
        assert_eq!(u32_at(&[1, 2, 3], 0), None);
        assert_eq!(u32_at(&[1, 2, 3, 4], usize::MAX), None);
        let mut cursor = Cursor::new(&[1, 2, 3]);
        assert_eq!(
            (cursor.u16(), cursor.u16(), cursor.u8(), cursor.u8()),
            (Some(513), None, Some(3), None)
        );
    }

    #[test]
    fn parts_past_the_end_are_cut_at_the_end() {
        let bytes = [1, 2, 3];
        assert_eq!((tail(&bytes, 1), tail(&bytes, 3)), (&[2, 3][..], &[][..]));
        assert!(tail(&bytes, usize::MAX).is_empty());
        assert_eq!((front(&bytes, 0), front(&bytes, 2)), (&[][..], &[1, 2][..]));
        assert_eq!(front(&bytes, usize::MAX), &bytes);
    }

    #[test]
    fn strings_end_at_nul_or_at_the_end() {
        let mut cursor = Cursor::new(b"ab\0cd");
        assert_eq!(
            (cursor.ansi(), cursor.ansi(), cursor.ansi()),
            (&b"ab"[..], &b"cd"[..], &b""[..])
        );
        let mut cursor = Cursor::new(b"xa\0\0\0b\0");
        cursor.u8();
        assert_eq!(utf16_text(cursor.utf16()), "a");
        assert_eq!(utf16_text(cursor.utf16()), "b");
        assert!(cursor.is_empty());
    }

    #[test]
    fn unpaired_surrogates_are_replaced() {
        assert_eq!(utf16_text(&[0x41, 0, 0, 0xD8, 0x42, 0]), "A\u{FFFD}B");
    }
}
