//! The description of a PDB in the file itself: identity, string table, sections, compilands and
//! their contributions.
//!
//! Layout: streams 1 (PDB information) and 3 (debug information), as in Microsoft's published
//! sources and the LLVM documentation.

use etwkit_etl::Guid;
use etwkit_etl::bytes::{Cursor, front, tail, u16_at, u32_at};

use super::streams::Streams;
use crate::table::Moves;
use crate::{Error, Result};

const INFO_STREAM: u16 = 1;
const DBI_STREAM: u16 = 3;
const DBI_HEADER_LEN: usize = 64;
const NO_STREAM: u16 = u16::MAX;
/// Section contributions of 28 and of 32 bytes.
const CONTRIBUTIONS_60: u32 = 0xF12E_BA2D;
const CONTRIBUTIONS_V2: u32 = 0xF131_51E4;
const EXECUTABLE: u32 = 0x2000_0020;
/// Windows loads no image with more than 96.
const MAX_SECTIONS: usize = 1024;
const MACHINE_X86: u16 = 0x14C;

/// GUID and age of a PDB.
///
/// The age of the information stream grows with every tool that edits the file. The linker writes
/// the age known to the image into the debug information, and debuggers compare that age. Files
/// without debug information have only the first.
pub(super) fn identity(msf: &mut Streams<'_>) -> Result<(Guid, u32)> {
    let info = msf.part(INFO_STREAM, 0, 28)?;
    let mut cursor = Cursor::new(tail(&info, 8));
    let (Some(age), Some(guid)) = (cursor.u32(), cursor.guid()) else {
        return Err(Error::damaged(
            "PDB information",
            info.len(),
            "it is cut off",
        ));
    };
    // Twelve bytes are enough: signature, version and age.
    let header = msf.part(DBI_STREAM, 0, 12)?;
    Ok((guid, u32_at(&header, 8).unwrap_or(age)))
}

/// A compiland: an object file that was linked.
pub(super) struct Compiland {
    pub(super) stream: u16,
    /// Bytes of symbols, with their signature, at the start of the stream.
    pub(super) symbols_len: u32,
    /// Bytes of the older line format, which current tools do not write any more.
    pub(super) old_lines_len: u32,
    pub(super) lines_len: u32,
    pub(super) name: String,
}

/// The bytes of a section that came from one compiland.
#[derive(Clone, Copy)]
pub(super) struct Contribution {
    pub(super) start_rva: u32,
    pub(super) end_rva: u32,
    pub(super) compiland: u16,
}

#[derive(Clone, Copy)]
pub(super) struct Section {
    pub(super) rva: u32,
    pub(super) len: u32,
    pub(super) is_code: bool,
}

pub(super) struct Dbi {
    pub(super) compilands: Vec<Compiland>,
    /// Code only, sorted by address, without overlaps.
    pub(super) contributions: Vec<Contribution>,
    pub(super) sections: Vec<Section>,
    /// The stream of public and global symbols.
    pub(super) records: u16,
    pub(super) is_x86: bool,
    /// `/names`: the string table that file names are in; empty if there is none.
    pub(super) names: Vec<u8>,
    /// Of an image that was rearranged after linking: all other addresses here are those from
    /// before.
    pub(super) moves: Moves,
}

impl Dbi {
    pub(super) fn read(msf: &mut Streams<'_>) -> Result<Self> {
        let bytes = msf.stream(DBI_STREAM)?;
        let Some((header, rest)) = bytes.split_at_checked(DBI_HEADER_LEN) else {
            return Err(Error::Unsupported("it has no debug information"));
        };
        let mut parts = Parts { header, rest };
        let compilands = parts.take(24)?;
        let contributions = parts.take(28)?;
        let section_map = parts.take(32)?;
        // These parts are not needed, but parts are stored one after the other: each size has to be
        // skipped to find the next part. In the file, the part of offset 52 comes before the part
        // of offset 48.
        // Their contents are of no use here.
        for skipped in [36, 40, 52] {
            parts.take(skipped)?;
        }
        let streams = parts.take(48)?;
        // Streams by number: 3 and 4 are the moves of a rearranged image, 5 its section headers,
        // and 10 the section headers before the move.
        let debug_stream = |nth: usize| u16_at(streams, 2 * nth).unwrap_or(NO_STREAM);
        let omap_to_source = msf.stream(debug_stream(3))?;
        let omap_from_source = msf.stream(debug_stream(4))?;
        // Symbols of a rearranged image still refer to its original sections. Some tools keep them
        // in another stream; those that do not, leave the original ones where they were.
        let is_rearranged = !omap_to_source.is_empty();
        let original = if is_rearranged {
            sections(&msf.stream(debug_stream(10))?)
        } else {
            Vec::new()
        };
        let mut sections = if original.is_empty() {
            // A file that was not rearranged has its sections where they are.
            sections(&msf.stream(debug_stream(5))?)
        } else {
            original
        };
        // Native images of .NET have no section headers.
        if sections.is_empty() && !is_rearranged {
            sections = sections_of_native_image(section_map);
        }
        if sections.is_empty() {
            return Err(Error::Unsupported(
                "it does not say which sections its module has",
            ));
        }
        // All parts are read once and kept: they are small, unlike the symbols.
        Ok(Self {
            compilands: self::compilands(compilands),
            contributions: self::contributions(contributions, &sections),
            sections,
            records: u16_at(header, 20).unwrap_or(NO_STREAM),
            is_x86: u16_at(header, 58) == Some(MACHINE_X86),
            names: names(msf)?,
            moves: Moves {
                to_source: omap(&omap_to_source),
                from_source: omap(&omap_from_source),
            },
        })
    }

    /// Address of `offset` in the `section`, counted from 1, if the section has code.
    pub(super) fn code_rva(&self, section: u16, offset: u32) -> Option<u32> {
        let section = self.sections.get(usize::from(section).checked_sub(1)?)?;
        // Sections without code have no functions; their symbols are data.
        (section.is_code && offset < section.len).then(|| section.rva.checked_add(offset))?
    }

    /// First address after the section that contains `rva`.
    pub(super) fn section_end(&self, rva: u32) -> Option<u32> {
        let holds = |section: &&Section| {
            rva.checked_sub(section.rva)
                .is_some_and(|offset| offset < section.len)
        };
        self.sections
            .iter()
            .find(holds)
            .map(|section| section.rva.saturating_add(section.len))
    }

    /// The contribution that the linker placed at the address.
    pub(super) fn contribution(&self, rva: u32) -> Option<Contribution> {
        // Contributions are sorted and disjoint, so that the one below is the only candidate.
        let below = self
            .contributions
            .partition_point(|it| it.start_rva <= rva)
            .checked_sub(1)?;
        self.contributions
            .get(below)
            .filter(|it| rva < it.end_rva)
            .copied()
    }
}

/// Substreams that follow the header, which has their sizes.
struct Parts<'a> {
    header: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Parts<'a> {
    fn take(&mut self, size_at: usize) -> Result<&'a [u8]> {
        let len = u32_at(self.header, size_at).and_then(|len| usize::try_from(len).ok());
        // A size that is too large makes all later parts unknown.
        let Some((part, rest)) = len.and_then(|len| self.rest.split_at_checked(len)) else {
            return Err(Error::damaged(
                "debug information",
                size_at,
                "a part is larger than all",
            ));
        };
        self.rest = rest;
        Ok(part)
    }
}

/// Reads until the list becomes invalid; the compilands before that are used.
fn compilands(bytes: &[u8]) -> Vec<Compiland> {
    let mut cursor = Cursor::new(bytes);
    std::iter::from_fn(|| compiland(&mut cursor)).collect()
}

fn compiland(cursor: &mut Cursor<'_>) -> Option<Compiland> {
    let fixed = cursor.take(64)?;
    let name = String::from_utf8_lossy(cursor.ansi()).into_owned();
    // The second name is the name of the library or object file, which is not used here.
    cursor.ansi();
    // Entries start at multiples of four.
    cursor.take(cursor.position().wrapping_neg() % 4);
    Some(Compiland {
        stream: u16_at(fixed, 34)?,
        symbols_len: u32_at(fixed, 36)?,
        old_lines_len: u32_at(fixed, 40)?,
        lines_len: u32_at(fixed, 44)?,
        name,
    })
}

fn contributions(bytes: &[u8], sections: &[Section]) -> Vec<Contribution> {
    let len = match u32_at(bytes, 0) {
        Some(CONTRIBUTIONS_60) => 28,
        Some(CONTRIBUTIONS_V2) => 32,
        _ => return Vec::new(),
    };
    let one = |entry: &[u8]| {
        // Between the parts that are read are flags, and after them checksums of data and
        // relocations.
        let section = u16_at(entry, 0)?;
        let compiland = u16_at(entry, 16)?;
        let offset = u32_at(entry, 4)?;
        let size = u32_at(entry, 8)?;
        let section = sections
            .get(usize::from(section).checked_sub(1)?)
            // Data and resources are never in stacks.
            .filter(|section| section.is_code)?;
        let start_rva = section.rva.checked_add(offset)?;
        (size > 0).then_some(Contribution {
            start_rva,
            end_rva: start_rva.checked_add(size)?,
            compiland,
        })
    };
    // Entries have a fixed length, so that one that is damaged does not move the others.
    let mut found: Vec<Contribution> = tail(bytes, 4).chunks_exact(len).filter_map(one).collect();
    found.sort_by_key(|it| it.start_rva);
    // Binary search needs disjoint pieces; in a damaged file they may overlap.
    found.dedup_by_key(|it| it.start_rva);
    let starts: Vec<u32> = found.iter().skip(1).map(|it| it.start_rva).collect();
    for (it, next) in found.iter_mut().zip(starts) {
        it.end_rva = it.end_rva.min(next);
    }
    found
}

fn sections(bytes: &[u8]) -> Vec<Section> {
    let one = |header: &[u8; 40]| {
        Some(Section {
            rva: u32_at(header, 12)?,
            len: u32_at(header, 8)?,
            is_code: u32_at(header, 36)? & EXECUTABLE != 0,
        })
    };
    // Symbols refer to a section by its number, so none is left out between others.
    bytes
        .as_chunks::<40>()
        .0
        .iter()
        .take(MAX_SECTIONS)
        .map_while(one)
        .collect()
}

/// The sections of a native image of .NET. Its PDB has no section headers, and only the section map
/// has their lengths. In the image they follow each other from the second page on, each on pages of
/// its own. Empty if the map has any other content.
///
/// Layout: a number of entries, twice 16 bits, then entries of 20 bytes: flags, two numbers that
/// are not used here, the number of the section, two offsets of names, offset and length. The last
/// entry is for absolute addresses.
fn sections_of_native_image(map: &[u8]) -> Vec<Section> {
    const PAGE: u32 = 0x1000;
    const MAX_IMAGE: u32 = 1 << 31;
    const EXECUTE: u16 = 0x4;
    const ABSOLUTE: u16 = 0x200;
    let mut sections = Vec::new();
    let mut rva = PAGE;
    for (number, entry) in (1..).zip(tail(map, 4).as_chunks::<20>().0) {
        let (Some(flags), Some(offset), Some(len)) =
            (u16_at(entry, 0), u32_at(entry, 12), u32_at(entry, 16))
        else {
            return Vec::new();
        };
        if flags & ABSOLUTE != 0 {
            // The entry for absolute addresses is the last and has no place in the image.
            break;
        }
        let next = len
            .checked_next_multiple_of(PAGE)
            .and_then(|pages| rva.checked_add(pages));
        let next = next.filter(|end| *end <= MAX_IMAGE);
        // Numbers have to follow each other, since the place of a section follows from those before
        // it.
        let (Some(next), true) = (next, u16_at(entry, 6) == Some(number) && offset == 0) else {
            return Vec::new();
        };
        sections.push(Section {
            rva,
            len,
            is_code: flags & EXECUTE != 0,
        });
        if sections.len() > MAX_SECTIONS {
            return Vec::new();
        }
        rva = next;
    }
    sections
}

fn omap(bytes: &[u8]) -> Vec<(u32, u32)> {
    let (pairs, _) = bytes.as_chunks::<8>();
    let mut pairs: Vec<(u32, u32)> = pairs
        .iter()
        .filter_map(|pair| Some((u32_at(pair, 0)?, u32_at(pair, 4)?)))
        .collect();
    pairs.sort_by_key(|(from, _)| *from);
    pairs
}

/// The string table, found by its name in the table of named streams.
fn names(msf: &mut Streams<'_>) -> Result<Vec<u8>> {
    let info = msf.stream(INFO_STREAM)?;
    let Some(stream) = named_stream(tail(&info, 28), b"/names") else {
        // Without a string table functions have names and no files.
        return Ok(Vec::new());
    };
    let table = msf.stream(stream)?;
    let Some(len) = u32_at(&table, 8) else {
        return Ok(Vec::new());
    };
    Ok(front(tail(&table, 12), len as usize).to_vec())
}

/// A hash table as the linker wrote it: names in one buffer, then the slots that are used as bits,
/// then (name, stream).
fn named_stream(bytes: &[u8], name: &[u8]) -> Option<u16> {
    let mut cursor = Cursor::new(bytes);
    let len = cursor.u32()?;
    let names = cursor.take(usize::try_from(len).ok()?)?;
    let count = cursor.u32()?;
    // The number of slots is not needed: used slots are stored one after the other.
    let _slots = cursor.u32()?;
    for _ in 0..2 {
        let words = usize::try_from(cursor.u32()?).ok()?;
        cursor.take(words.checked_mul(4)?)?;
    }
    for _ in 0..count {
        let at = usize::try_from(cursor.u32()?).ok()?;
        let stream = cursor.u32()?;
        // A name in the buffer is not ended by its length, but by a zero.
        if names
            .get(at..)
            .is_some_and(|rest| Cursor::new(rest).ansi() == name)
        {
            return u16::try_from(stream).ok();
        }
    }
    None
}
