//! Lines of a compiland: the source file and line of the code at an offset, and the first lines of
//! inlined functions.
//!
//! Layout: the C13 subsections of a compiland's stream, as `cvinfo.h` of Microsoft's published
//! sources and the LLVM documentation have them.

use std::collections::HashMap;

use etwkit_etl::bytes::{Cursor, front, tail, u8_at, u32_at};
use rustc_hash::FxHashMap;

const LINES: u32 = 0xF2;
const FILES: u32 = 0xF4;
const INLINEES: u32 = 0xF6;
const IMPORTS: u32 = 0xF7;
const EXPORTS: u32 = 0xF8;
/// Line numbers that debuggers do not show: compiler-generated code.
const HIDDEN: [u32; 2] = [0xF0_0F00, 0xFE_EFEE];

#[derive(Debug, Clone, Copy)]
pub(super) struct LineRecord {
    pub(super) section: u16,
    pub(super) offset: u32,
    /// Offset in the list of files; `None` for code without a line.
    pub(super) place: Option<FileLine>,
}

/// A file, as its offset in the list of files of the compiland, and a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileLine {
    pub(super) file: u32,
    pub(super) line: u32,
}

#[derive(Default)]
pub(super) struct Lines<'a> {
    /// Sorted by section and offset.
    pub(super) lines: Vec<LineRecord>,
    /// First line of each inlined function, by its ID.
    pub(super) inlinees: FxHashMap<u32, FileLine>,
    files: &'a [u8],
    /// Names of other compilands, as offsets in the string table, with those of their IDs that are
    /// used here.
    pub(super) imports: Vec<(u32, Vec<u32>)>,
    /// IDs that others use, to the number that they have in the ID stream.
    pub(super) exports: HashMap<u32, u32>,
}

impl<'a> Lines<'a> {
    /// Reads all complete subsections.
    pub(super) fn read(bytes: &'a [u8]) -> Self {
        let mut lines = Self::default();
        let mut cursor = Cursor::new(bytes);
        while let (Some(kind), Some(len)) = (cursor.u32(), cursor.u32()) {
            let len = usize::try_from(len).unwrap_or(usize::MAX);
            // A subsection that is cut off ends the list.
            let Some(part) = cursor.take(len) else { break };
            // Subsections start at multiples of four; the padding is not part of their length.
            cursor.take(len.wrapping_neg() % 4);
            match kind {
                LINES => {
                    lines.add_lines(part);
                }
                FILES => lines.files = part,
                INLINEES => {
                    lines.add_inlinees(part);
                }
                IMPORTS => {
                    lines.add_imports(part);
                }
                EXPORTS => lines.exports.extend(pairs(part)),
                _ => {}
            }
        }
        // The sort is stable: of several records for one offset the first stays first.
        lines.lines.sort_by_key(|line| (line.section, line.offset));
        lines
    }

    fn add_lines(&mut self, part: &[u8]) -> Option<()> {
        let mut cursor = Cursor::new(part);
        let (start, section, flags, _len) =
            // The length of the block is not used: blocks end with the subsection.
            (cursor.u32()?, cursor.u16()?, cursor.u16()?, cursor.u32()?);
        let has_columns = flags & 1 != 0;
        loop {
            let file = cursor.u32()?;
            let count = cursor.u32()?;
            let _len = cursor.u32()?;
            // The product is checked, because the count comes from the file.
            let count = usize::try_from(count).ok()?;
            let (entries, _) = cursor.take(count.checked_mul(8)?)?.as_chunks::<8>();
            for entry in entries {
                let offset = u32_at(entry, 0)?;
                let bits = u32_at(entry, 4)?;
                // The upper bits are the number of further lines, and whether it is a statement or
                // an expression.
                let line = bits & 0xFF_FFFF;
                // A hidden line still ends the one before it, so it is kept as code without a line.
                let place = (!HIDDEN.contains(&line)).then_some(FileLine { file, line });
                self.lines.push(LineRecord {
                    section,
                    offset: start.checked_add(offset)?,
                    place,
                });
            }
            if has_columns {
                // The first and the last column of each line.
                cursor.take(count.checked_mul(4)?)?;
            }
        }
    }

    fn add_inlinees(&mut self, part: &[u8]) -> Option<()> {
        let mut cursor = Cursor::new(part);
        let has_more_files = cursor.u32()? == 1;
        loop {
            let id = cursor.u32()?;
            let file = cursor.u32()?;
            let line = cursor.u32()?;
            if has_more_files {
                let count = usize::try_from(cursor.u32()?).ok()?;
                cursor.take(count.checked_mul(4)?)?;
            }
            // The first record counts, as debuggers have it.
            self.inlinees.entry(id).or_insert(FileLine { file, line });
        }
    }

    fn add_imports(&mut self, part: &[u8]) -> Option<()> {
        let mut cursor = Cursor::new(part);
        loop {
            let name = cursor.u32()?;
            let count = usize::try_from(cursor.u32()?).ok()?;
            let (ids, _) = cursor.take(count.checked_mul(4)?)?.as_chunks::<4>();
            self.imports
                .push((name, ids.iter().map(|id| u32::from_le_bytes(*id)).collect()));
        }
    }

    /// Offset of a file's name in the string table.
    pub(super) fn file_name(&self, file: u32) -> Option<u32> {
        let at = usize::try_from(file).ok()?;
        // After the name come size and kind of a checksum. Without them, this is not an entry.
        u8_at(self.files, at.checked_add(5)?)?;
        u32_at(self.files, at)
    }

    /// Lines that start in a range of code. The end of the range is exclusive.
    pub(super) fn within(&self, section: u16, start: u32, end: u32) -> &[LineRecord] {
        let place = |offset: u32| {
            self.lines
                .partition_point(|line| (line.section, line.offset) < (section, offset))
        };
        let first = place(start);
        // The end may lie before the start in a damaged file.
        front(tail(&self.lines, first), place(end).saturating_sub(first))
    }
}

fn pairs(part: &[u8]) -> impl Iterator<Item = (u32, u32)> {
    part.as_chunks::<8>()
        .0
        .iter()
        .filter_map(|pair| Some((u32_at(pair, 0)?, u32_at(pair, 4)?)))
}
