//! Building a [`SymbolTable`].

use std::collections::HashMap;

use etwkit_etl::Guid;
use etwkit_etl::bytes::{front, tail};

use super::{CHECKSUM_AT, HEADER_LEN, MAGIC, MAX_DEPTH, MOVE_LEN, Moves, NONE, PUBLIC, VERSION};
use crate::{Error, Result};

/// A function, or a public symbol with the code after it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Function {
    pub(crate) start: u32,
    /// First address after it.
    pub(crate) end: u32,
    pub(crate) name: u32,
    pub(crate) decorated: Option<u32>,
    /// Offset of its rows.
    pub(crate) rows: Option<u32>,
    pub(crate) is_public: bool,
}

/// One function at an address: the outer one, which has the name of the [`Function`], or an inlined
/// one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Frame {
    /// Number of a string; not written for the outermost.
    pub(crate) name: u32,
    /// Number of a string.
    pub(crate) file: Option<u32>,
    /// 0 is none.
    pub(crate) line: u32,
}

#[derive(Default)]
pub(crate) struct Writer {
    numbers: HashMap<Box<str>, u32>,
    offsets: Vec<u32>,
    strings: Vec<u8>,
    rows: Vec<u8>,
    last: Vec<Frame>,
}

impl Writer {
    /// Number of a string, which is kept once.
    pub(crate) fn string(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = u32::try_from(self.offsets.len()).unwrap_or(NONE);
        self.offsets
            .push(u32::try_from(self.strings.len()).unwrap_or(NONE));
        self.strings.extend_from_slice(text.as_bytes());
        self.numbers.insert(text.into(), number);
        number
    }

    /// The string of a number.
    pub(crate) fn text(&self, number: u32) -> Option<&str> {
        let number = usize::try_from(number).ok()?;
        let start = usize::try_from(*self.offsets.get(number)?).ok()?;
        let end = match self.offsets.get(number + 1) {
            Some(end) => usize::try_from(*end).ok()?,
            None => self.strings.len(),
        };
        std::str::from_utf8(self.strings.get(start..end)?).ok()
    }

    /// Writes the rows of a function: (offset from its start, frames from the outermost to the
    /// innermost). Rows equal to the one before are omitted.
    pub(crate) fn rows<'a>(
        &mut self,
        rows: impl Iterator<Item = (u32, &'a [Frame])>,
    ) -> Option<u32> {
        let at = u32::try_from(self.rows.len()).unwrap_or(NONE);
        let mut before = 0;
        self.last.clear();
        let mut is_first = true;
        for (offset, frames) in rows {
            let frames = front(frames, MAX_DEPTH);
            if !is_first && self.last == frames {
                continue;
            }
            is_first = false;
            // Neighbouring rows mostly share their outer frames, so only the frames that differ are
            // written.
            let same = self
                .last
                .iter()
                .zip(frames)
                .take_while(|(a, b)| a == b)
                .count();
            // 0 marks the end, so a row starts with its number of frames plus 1.
            number(&mut self.rows, frames.len() as u64 + 1);
            number(&mut self.rows, u64::from(offset.wrapping_sub(before)));
            number(&mut self.rows, same as u64);
            for (depth, frame) in frames.iter().enumerate().skip(same) {
                // The outermost frame has the name of the function, which is stored once.
                if depth > 0 {
                    number(&mut self.rows, u64::from(frame.name));
                }
                number(
                    &mut self.rows,
                    // 0 means no file.
                    frame.file.map_or(0, |file| u64::from(file) + 1),
                );
                number(&mut self.rows, u64::from(frame.line));
            }
            before = offset;
            self.last.clear();
            self.last.extend_from_slice(frames);
        }
        if is_first {
            return None;
        }
        number(&mut self.rows, 0);
        Some(at)
    }

    /// The file. Functions must be sorted by address and not overlap.
    ///
    /// # Errors
    /// If a part has 4 GiB.
    pub(crate) fn finish(
        self,
        guid: Guid,
        age: u32,
        functions: &[Function],
        moves: &Moves,
    ) -> Result<Vec<u8>> {
        let len = |len: usize| {
            u32::try_from(len).map_err(|_| Error::TooLarge {
                size: len as u64,
                limit: u64::from(u32::MAX),
            })
        };
        let header = [
            len(functions.len())?,
            len(self.offsets.len())?,
            len(self.strings.len())?,
            len(self.rows.len())?,
            len(moves.to_source.len())?,
            len(moves.from_source.len())?,
        ];
        let move_count = moves.to_source.len() + moves.from_source.len();
        let mut bytes = Vec::with_capacity(
            HEADER_LEN
                + 24 * functions.len()
                + 4 * self.offsets.len()
                + self.strings.len()
                + self.rows.len()
                + MOVE_LEN * move_count,
        );
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        // Place of the checksum, filled in when all bytes that it covers are written.
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&guid.to_bytes());
        bytes.extend_from_slice(&age.to_le_bytes());
        header
            .iter()
            .for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        bytes.resize(HEADER_LEN, 0);
        for function in functions {
            bytes.extend(numbers(function).iter().flat_map(|it| it.to_le_bytes()));
        }
        self.offsets
            .iter()
            .for_each(|offset| bytes.extend_from_slice(&offset.to_le_bytes()));
        bytes.extend_from_slice(&self.strings);
        bytes.extend_from_slice(&self.rows);
        for (from, to) in moves.to_source.iter().chain(&moves.from_source) {
            bytes.extend_from_slice(&from.to_le_bytes());
            bytes.extend_from_slice(&to.to_le_bytes());
        }
        let sum = crc32fast::hash(tail(&bytes, CHECKSUM_AT + 4));
        if let Some(place) = bytes.get_mut(CHECKSUM_AT..CHECKSUM_AT + 4) {
            place.copy_from_slice(&sum.to_le_bytes());
        }
        Ok(bytes)
    }
}

/// Seven bits per byte, lowest first. The highest bit is set if more bytes follow.
fn number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        let [lowest, ..] = number.to_le_bytes();
        out.push(lowest | 0x80);
        number >>= 7;
    }
    let [last, ..] = number.to_le_bytes();
    out.push(last);
}

/// Returns the numbers that the table has of a function.
fn numbers(function: &Function) -> [u32; 6] {
    let flags = if function.is_public { PUBLIC } else { 0 };
    let decorated = function.decorated.unwrap_or(NONE);
    let rows = function.rows.unwrap_or(NONE);
    [
        function.start,
        function.end,
        function.name,
        decorated,
        rows,
        flags,
    ]
}
