//! Images (`.exe`, `.dll`, `.sys`): the build of an image, and its symbol file.
//!
//! A trace that was never merged does not name the symbol files of its modules. But the kernel
//! reports the time stamp and the size in memory of each image, and symbol stores keep images under
//! these two numbers. The debug directory of an image names its symbol file. Layout: the PE format
//! as Microsoft documents it. Only some kilobytes of an image are read, whatever its header claims.

use std::fmt;
use std::io::{Read, Seek, SeekFrom};

use etwkit_base::path::file_name;
use etwkit_etl::bytes::{front, guid_at, u16_at, u32_at};

use crate::identity::is_plain_name;
use crate::{Error, Identity, Result};

const PART: &str = "image";
/// Maximum bytes of an optional header, enough for all needed fields; linkers write 240.
const MAX_OPTIONAL: u16 = 512;
/// The loader of Windows takes 96.
const MAX_SECTIONS: u16 = 1024;
/// Maximum bytes of a debug directory: 64 entries; linkers write up to six.
const MAX_DIRECTORY: u32 = 64 * 28;
const ENTRY_LEN: usize = 28;
const CODE_VIEW: u32 = 2;
/// Signature, GUID and age of a `RSDS` record, which precede the path.
const RSDS_HEAD: usize = 24;
/// Maximum size of a record in bytes; Windows paths have at most 520.
const MAX_RSDS: u32 = 4096;

/// The build of an image that a trace refers to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageIdentity {
    name: String,
    time_date_stamp: u32,
    size: u32,
}

impl ImageIdentity {
    /// Creates an identity from the values in a trace: path, time stamp of the PE header, size in
    /// memory in bytes. Only the last component of `path` is used. `None` if that component is not
    /// a plain file name on every system, or if one of the numbers is zero, as in events without
    /// them.
    #[must_use]
    pub fn new(path: &str, time_date_stamp: u32, size: u32) -> Option<Self> {
        let name = file_name(path);
        let is_known = time_date_stamp != 0 && size != 0 && is_plain_name(name);
        is_known.then(|| Self {
            name: name.to_owned(),
            time_date_stamp,
            size,
        })
    }

    /// Name of the image, without folders.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Folder of a symbol store: the time stamp as eight upper-case hexadecimal digits, then the
    /// size as lower-case ones without leading zeros.
    #[must_use]
    pub fn key(&self) -> String {
        key(self.time_date_stamp, self.size)
    }

    /// Checks that a file is this image.
    ///
    /// # Errors
    /// [`Error::OtherBuild`] if it is not.
    pub(crate) fn check(&self, image: &Image) -> Result<()> {
        if (image.time_date_stamp, image.size) == (self.time_date_stamp, self.size) {
            return Ok(());
        }
        Err(Error::OtherBuild {
            found: key(image.time_date_stamp, image.size),
            wanted: self.key(),
        })
    }
}

impl fmt::Display for ImageIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.key())
    }
}

fn key(time_date_stamp: u32, size: u32) -> String {
    format!("{time_date_stamp:08X}{size:x}")
}

/// The identity of an image and of its symbol file, as the image states them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Time stamp of its header; of reproducible builds a hash.
    pub time_date_stamp: u32,
    /// Size in memory, bytes.
    pub size: u32,
    /// The symbol file that it names.
    pub pdb: Option<NamedPdb>,
}

/// The symbol file that an image names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPdb {
    /// The identity of the symbol file.
    pub identity: Identity,
    /// Its path, as the linker wrote it.
    pub path: String,
}

impl Image {
    /// Reads the header and the debug directory. A .NET image that was compiled ahead of time names
    /// two symbol files; the first one, for its native code, is taken.
    ///
    /// # Errors
    /// If it is not an image, or damaged.
    pub fn open(mut file: impl Read + Seek) -> Result<Self> {
        let begin = piece(&mut file, 0, 64)?;
        if !begin.starts_with(b"MZ") {
            return Err(not_an_image(&begin));
        }
        // The DOS header contains the offset of the PE header.
        let at = u64::from(u32_at(&begin, 0x3C).ok_or_else(|| cut_off(0x3C))?);
        let header = piece(&mut file, at, 24)?;
        if !header.starts_with(b"PE\0\0") {
            return Err(not_an_image(&header));
        }
        let number = |offset| u16_at(&header, offset).ok_or_else(|| cut_off(at));
        // The size of the optional header depends on the number of its data directories.
        let sections = number(6)?;
        let optional_len = number(20)?;
        let optional = piece(
            &mut file,
            at + 24,
            u32::from(optional_len.min(MAX_OPTIONAL)),
        )?;
        let mut image = Self {
            time_date_stamp: u32_at(&header, 8).ok_or_else(|| cut_off(at))?,
            // The size in memory has the same offset in PE32 and PE32+.
            size: u32_at(&optional, 56).ok_or_else(|| cut_off(at + 80))?,
            pdb: None,
        };
        let Some((rva, len)) = debug_directory(&optional) else {
            return Ok(image);
        };
        let sections_at = at + 24 + u64::from(optional_len);
        let sections = piece(
            &mut file,
            sections_at,
            u32::from(sections.min(MAX_SECTIONS)) * 40,
        )?;
        let Some(at) = offset_of(rva, &sections) else {
            return Err(Error::damaged(
                PART,
                u64::from(rva),
                "no section has its debug directory",
            ));
        };
        let entries = piece(&mut file, at, len.min(MAX_DIRECTORY))?;
        for entry in entries.as_chunks::<ENTRY_LEN>().0 {
            if u32_at(entry, 12) == Some(CODE_VIEW)
                && let Some(pdb) = code_view(&mut file, entry)?
            {
                image.pdb = Some(pdb);
                break;
            }
        }
        Ok(image)
    }
}

/// Address and bytes of the debug directory, the seventh entry of the data directories in the
/// optional header.
fn debug_directory(optional: &[u8]) -> Option<(u32, u32)> {
    // 0x20B is PE32+. Its fields for addresses and sizes are wider, so the list is at a larger
    // offset.
    let directories = if u16_at(optional, 0)? == 0x20B {
        112
    } else {
        96
    };
    let count = u32_at(optional, directories - 4)?;
    let rva = u32_at(optional, directories + 48)?;
    let len = u32_at(optional, directories + 52)?;
    // If the header lists fewer directories, other data is at this position.
    (count > 6 && rva != 0).then_some((rva, len))
}

/// Offset in the file of an address.
fn offset_of(rva: u32, sections: &[u8]) -> Option<u64> {
    sections.as_chunks::<40>().0.iter().find_map(|section| {
        let inside = rva.checked_sub(u32_at(section, 12)?)?;
        // Compared with the size in the file: the rest of a section exists only in memory.
        (inside < u32_at(section, 16)?)
            .then_some(u64::from(u32_at(section, 20)?) + u64::from(inside))
    })
}

/// The symbol file that an entry of the debug directory names; `None` if it names one in the way of
/// compilers before 2002.
fn code_view(file: &mut (impl Read + Seek), entry: &[u8]) -> Result<Option<NamedPdb>> {
    let (Some(len), Some(at)) = (u32_at(entry, 16), u32_at(entry, 24)) else {
        return Ok(None);
    };
    let record = piece(file, u64::from(at), len.min(MAX_RSDS))?;
    let named = || {
        let guid = guid_at(&record, 4)?;
        let age = u32_at(&record, 20)?;
        let path = record.get(RSDS_HEAD..)?.split(|byte| *byte == 0).next()?;
        let path = String::from_utf8_lossy(path).into_owned();
        Some(NamedPdb {
            identity: Identity::new(&path, guid, age)?,
            path,
        })
    };
    Ok(if record.starts_with(b"RSDS") {
        named()
    } else {
        None
    })
}

/// Bytes of the file.
fn piece(file: &mut (impl Read + Seek), at: u64, len: u32) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(at))?;
    file.take(u64::from(len)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == u64::from(len) {
        Ok(bytes)
    } else {
        Err(cut_off(at))
    }
}

fn cut_off(at: u64) -> Error {
    Error::damaged(PART, at, "it is cut off")
}

fn not_an_image(bytes: &[u8]) -> Error {
    let found = front(bytes, 24).escape_ascii();
    Error::OtherFile {
        expected: "an image",
        found: format!("\"{found}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_that_of_symbol_stores() {
        let key = |stamp, size| {
            ImageIdentity::new("C:\\x\\Ab.dll", stamp, size)
                .unwrap()
                .key()
        };
        assert_eq!(key(0x4FFD_0109, 0x14_7000), "4FFD0109147000");
        // A hash in place of a time may start with zeros, which are kept; leading zeros of the size
        // are not.
        assert_eq!(key(0x0D9F_641E, 0x59_9000), "0D9F641E599000");
        assert_eq!(key(1, 0xABC_D000), "00000001abcd000");
        assert_eq!(
            ImageIdentity::new("C:\\x\\Ab.dll", 1, 2).unwrap().name(),
            "Ab.dll"
        );
        for (path, stamp, size) in [
            ("..", 1, 1),
            ("a\\", 1, 1),
            ("nul", 1, 1),
            ("a.dll", 0, 1),
            ("a.dll", 1, 0),
        ] {
            assert_eq!(ImageIdentity::new(path, stamp, size), None, "{path}");
        }
    }
}
