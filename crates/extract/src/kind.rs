//! The kind of a file, by its first bytes.

/// The way to open a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// A zip archive with any extension (`.etl.zip`, `.diagsession`).
    Zip,
    /// A 7z archive.
    SevenZip,
    /// A cabinet.
    Cab,
    /// One packed file without a directory.
    Packed(Format),
    /// An archive that is not read: its name.
    Other(&'static str),
    /// Anything else: the reader of traces judges it.
    Trace,
}

/// The format of a packed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Gzip,
    Zstd,
    Xz,
    Bzip2,
    Lz4,
}

/// Number of bytes that [`FileKind::of`] checks.
pub(crate) const MAGIC_LEN: usize = TAR_AT + TAR.len();

/// Starts of files, and their kinds. Zip has three: a member, the end of an empty archive, a part of
/// a spanned one.
const STARTS: [(&[u8], FileKind); 13] = [
    (b"PK\x03\x04", FileKind::Zip),
    (b"PK\x05\x06", FileKind::Zip),
    (b"PK\x07\x08", FileKind::Zip),
    (b"7z\xBC\xAF\x27\x1C", FileKind::SevenZip),
    (b"MSCF", FileKind::Cab),
    (b"\x1F\x8B", FileKind::Packed(Format::Gzip)),
    (ZSTD, FileKind::Packed(Format::Zstd)),
    (b"\xFD7zXZ\0", FileKind::Packed(Format::Xz)),
    (b"BZh", FileKind::Packed(Format::Bzip2)),
    (b"\x04\x22\x4D\x18", FileKind::Packed(Format::Lz4)),
    (b"\x02\x21\x4C\x18", FileKind::Other(OLD_LZ4)),
    (b"Rar!\x1A\x07", FileKind::Other(RAR)),
    (b"MSWIM\0\0\0", FileKind::Other(WINDOWS_IMAGE)),
];

/// Kinds of files that are not read.
const OLD_LZ4: &str = "an old lz4 file (lz4 -l)";
const RAR: &str = "a RAR archive (.rar)";
const WINDOWS_IMAGE: &str = "a Windows image (.wim)";
const TAR_ARCHIVE: &str = "a tar archive (.tar)";
const LZMA: &str = "an LZMA file (.lzma)";

const ZSTD: &[u8] = b"\x28\xB5\x2F\xFD";
/// The first frame of pzstd holds four bytes for unpackers, which others skip.
const PZSTD: &[u8] = b"\x50\x2A\x4D\x18\x04\0\0\0";

/// The mark of a tar archive, which has its place behind the first name.
const TAR: &[u8] = b"ustar";
const TAR_AT: usize = 257;

impl FileKind {
    /// Detects the kind from the first bytes of a file.
    pub(crate) fn of(head: &[u8]) -> Self {
        if let Some((_, kind)) = STARTS.iter().find(|(magic, _)| head.starts_with(magic)) {
            return *kind;
        }
        if head.starts_with(PZSTD) && head.get(12..16) == Some(ZSTD) {
            return Self::Packed(Format::Zstd);
        }
        if head.get(TAR_AT..TAR_AT + TAR.len()) == Some(TAR) {
            return Self::Other(TAR_ARCHIVE);
        }
        if is_lzma(head) {
            return Self::Other(LZMA);
        }
        Self::Trace
    }

    /// The name of a kind that is not read in this place; `None` for a trace.
    pub(crate) const fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::Zip => "a zip archive (.zip)",
            Self::SevenZip => "a 7z archive (.7z)",
            Self::Cab => "a cabinet file (.cab)",
            Self::Packed(Format::Gzip) => "a gzip file (.gz)",
            Self::Packed(Format::Zstd) => "a zstd file (.zst)",
            Self::Packed(Format::Xz) => "an xz file (.xz)",
            Self::Packed(Format::Bzip2) => "a bzip2 file (.bz2)",
            Self::Packed(Format::Lz4) => "an lz4 file (.lz4)",
            Self::Other(name) => name,
            Self::Trace => return None,
        })
    }
}

/// Returns `true` for the start of an LZMA file, which has no mark of its own: the usual properties, a
/// dictionary of whole 64 KiB, and the size of the content, which is unknown or below a terabyte.
fn is_lzma(head: &[u8]) -> bool {
    const PROPERTIES: [u8; 3] = [0x5D, 0, 0];
    let Some(size) = head.get(5..13) else {
        return false;
    };
    let is_size = matches!(
        size,
        [_, _, _, _, _, 0, 0, 0] | [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
    );
    head.starts_with(&PROPERTIES) && is_size
}

/// Advice for a file that has to be unpacked by hand.
macro_rules! unpack {
    ($by:literal) => {
        concat!(
            "unpack it (",
            $by,
            ") and name the .etl files; etwkit itself unpacks .zip, .7z, .cab, and .gz, .zst, .xz, .bz2 \
             and .lz4 of a trace"
        )
    };
}

/// Returns how to unpack a kind of file that is not read.
pub(crate) fn how_to_unpack(kind: &str) -> &'static str {
    match kind {
        TAR_ARCHIVE => unpack!("`tar -xf FILE`, also on Windows"),
        LZMA => unpack!("`xz -d FILE`, or 7-Zip"),
        RAR => unpack!("`unrar x FILE`, or 7-Zip"),
        WINDOWS_IMAGE => unpack!("`7z x FILE`"),
        OLD_LZ4 => unpack!("`lz4 -d FILE`"),
        _ => "unpack it and name the .etl files",
    }
}

impl Format {
    /// What a message calls a file of this format.
    pub(crate) const fn noun(self) -> &'static str {
        match self {
            Self::Gzip => "gzip file",
            Self::Zstd => "zstd file",
            Self::Xz => "xz file",
            Self::Bzip2 => "bzip2 file",
            Self::Lz4 => "lz4 file",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magic_bytes_decide() {
        let mut tar = vec![0; 512];
        tar[257..262].copy_from_slice(b"ustar");
        for (head, kind) in [
            (&b"PK\x03\x04rest"[..], FileKind::Zip),
            (b"PK\x05\x06", FileKind::Zip),
            (b"7z\xBC\xAF\x27\x1C\0\x04", FileKind::SevenZip),
            (b"MSCF\0\0\0\0", FileKind::Cab),
            (b"\x1F\x8B\x08\0", FileKind::Packed(Format::Gzip)),
            (
                b"\x50\x2A\x4D\x18\x04\0\0\0\x11\0\0\0\x28\xB5\x2F\xFD",
                FileKind::Packed(Format::Zstd),
            ),
            (&tar, FileKind::Other(TAR_ARCHIVE)),
            // Without its size, and with one of 16 MiB.
            (
                b"\x5D\0\0\x80\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0",
                FileKind::Other(LZMA),
            ),
            (b"\x5D\0\0\x80\0\0\0\0\x01\0\0\0\0\0", FileKind::Other(LZMA)),
            (b"\x5D\0\0\x80\0\0\0\0\x01\0\0\0\x01\0", FileKind::Trace),
            (b"\x5D\0\0", FileKind::Trace),
            (&[0, 0, 1, 0], FileKind::Trace),
            (b"PK", FileKind::Trace),
        ] {
            assert_eq!(FileKind::of(head), kind, "{head:?}");
        }
    }

    #[test]
    fn files_that_are_not_read_have_a_command_that_unpacks_them() {
        for kind in [OLD_LZ4, RAR, WINDOWS_IMAGE, TAR_ARCHIVE, LZMA] {
            let how = how_to_unpack(kind);
            assert!(how.contains(" FILE`"), "{kind}: {how}");
            for read in [FileKind::Zip, FileKind::SevenZip, FileKind::Cab] {
                let (_, ending) = read.name().unwrap().split_once('(').unwrap();
                assert!(
                    how.contains(ending.trim_end_matches(')')),
                    "{kind}: {ending}"
                );
            }
        }
    }
}
