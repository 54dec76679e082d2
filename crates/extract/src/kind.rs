//! The kind of a file, by its first bytes.

/// The way to open a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A zip archive with any extension (`.etl.zip`, `.diagsession`).
    Zip,
    /// A 7z archive.
    SevenZip,
    /// An archive that is not read: its name.
    Other(&'static str),
    /// Anything else: the reader of traces judges it.
    Trace,
}

/// Number of bytes that [`Kind::of`] checks.
pub(crate) const MAGIC_LEN: usize = 8;

/// The record types at the start of zip files: a member, the end of an empty archive, a part of a
/// spanned one.
const ZIP: [&[u8]; 3] = [b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08"];
const SEVEN_ZIP: &[u8] = b"7z\xBC\xAF\x27\x1C";
/// Other archive formats, which the user has to unpack.
const OTHER: [(&[u8], &str); 7] = [
    (b"MSCF", "a cabinet file (.cab)"),
    (b"\x1F\x8B", "a gzip file (.gz)"),
    (b"\xFD7zXZ\0", "an xz file (.xz)"),
    (b"\x28\xB5\x2F\xFD", "a zstd file (.zst)"),
    (b"BZh", "a bzip2 file (.bz2)"),
    (b"Rar!\x1A\x07", "a RAR archive (.rar)"),
    (b"MSWIM\0\0\0", "a Windows image (.wim)"),
];

impl Kind {
    /// Detects the kind from the first bytes of a file.
    pub(crate) fn of(head: &[u8]) -> Self {
        if ZIP.iter().any(|magic| head.starts_with(magic)) {
            Self::Zip
        } else if head.starts_with(SEVEN_ZIP) {
            Self::SevenZip
        } else {
            let other = OTHER.iter().find(|(magic, _)| head.starts_with(magic));
            other.map_or(Self::Trace, |(_, name)| Self::Other(name))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magic_bytes_decide() {
        assert_eq!(Kind::of(b"PK\x03\x04rest"), Kind::Zip);
        assert_eq!(Kind::of(b"PK\x05\x06"), Kind::Zip);
        assert_eq!(Kind::of(b"7z\xBC\xAF\x27\x1C\0\x04"), Kind::SevenZip);
        assert_eq!(
            Kind::of(b"MSCF\0\0\0\0"),
            Kind::Other("a cabinet file (.cab)")
        );
        assert_eq!(Kind::of(&[0, 0, 1, 0]), Kind::Trace);
        assert_eq!(Kind::of(b"PK"), Kind::Trace);
    }
}
