//! A portable PDB inside of the assembly: an entry of the debug directory, packed with deflate.

use etwkit_etl::bytes::{Cursor, u16_at, u32_at};

use super::MAX_LEN;
use crate::{Error, Result};

const PART: &str = "embedded portable PDB";
const KIND: u32 = 17;
const MAGIC: &[u8] = b"MPDB";

/// The portable PDB that an assembly (`.dll`, `.exe`) carries, unpacked; `None` if it carries none.
///
/// # Errors
/// If it contains one that cannot be unpacked.
pub fn embedded(image: &[u8]) -> Result<Option<Vec<u8>>> {
    let Some(packed) = entry(image) else {
        return Ok(None);
    };
    let mut cursor = Cursor::new(packed);
    let magic = cursor.take(MAGIC.len());
    let (Some(MAGIC), Some(size)) = (magic, cursor.u32()) else {
        return Err(Error::damaged(PART, 0_u64, "it has no valid header"));
    };
    if u64::from(size) >= MAX_LEN {
        return Err(Error::TooLarge {
            size: u64::from(size),
            limit: MAX_LEN,
        });
    }
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    match miniz_oxide::inflate::decompress_to_vec_with_limit(cursor.rest(), size) {
        Ok(bytes) if bytes.len() == size => Ok(Some(bytes)),
        _ => Err(Error::damaged(PART, 8_u64, "it cannot be unpacked")),
    }
}

/// Bytes of the entry, by its offset in the file.
fn entry(image: &[u8]) -> Option<&[u8]> {
    let number = |at: usize| u32_at(image, at).and_then(|number| usize::try_from(number).ok());
    let header = number(0x3C)?;
    if image.get(header..header.checked_add(4)?)? != b"PE\0\0" {
        return None;
    }
    let sections = u16_at(image, header + 6)?;
    let optional_len = usize::from(u16_at(image, header + 20)?);
    let optional = header + 24;
    // 0x20B is PE32+, whose wider fields put the list at a larger offset.
    let directories = optional
        + if u16_at(image, optional)? == 0x20B {
            112
        } else {
            96
        };
    // The seventh entry is the directory of debug information.
    let rva = number(directories + 48)?;
    let len = number(directories + 52)?;
    let offset = (0..usize::from(sections)).find_map(|nth| {
        let section = optional + optional_len + 40 * nth;
        let inside = rva.checked_sub(number(section + 12)?)?;
        (inside < number(section + 16)?).then(|| number(section + 20)?.checked_add(inside))?
    })?;
    let entries = image.get(offset..offset.checked_add(len)?)?;
    let found = entries
        .as_chunks::<28>()
        .0
        .iter()
        .find(|entry| u32_at(*entry, 12) == Some(KIND))?;
    let len = usize::try_from(u32_at(found, 16)?).ok()?;
    let at = usize::try_from(u32_at(found, 24)?).ok()?;
    image.get(at..at.checked_add(len)?)
}
