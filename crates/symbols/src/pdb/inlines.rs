//! Inlined functions of a function: the ranges of its code that came from other functions.
//!
//! Each site is a record with a small program, the binary annotations, which advances an offset and
//! a line and so describes ranges. Sites can be nested. Operations: `cvinfo.h` of Microsoft's
//! published sources (`CV_BA_OP_…`).

use etwkit_etl::bytes::Cursor;

use super::lines::{FileLine, Lines};

/// An inlined call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Site {
    /// The enclosing site, as its position in the list.
    pub(super) parent: Option<u32>,
    /// ID of the function.
    pub(super) inlinee: u32,
    /// Calls inlined around it.
    pub(super) depth: u16,
}

/// Code that came from an inlined function, as offsets from the start of the enclosing function.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) site: u32,
    pub(super) place: Option<FileLine>,
}

/// The effect of the operation that ends a range by its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lengths {
    /// The next range counts from the end of this one.
    Advance,
    /// The next range counts from the start of this one, as LLVM wrote programs before version 9.
    Stay,
}

/// Adds the ranges of one site. Returns true if they depend on `lengths`.
pub(super) fn add_ranges(
    annotations: &[u8],
    site: u32,
    inlinee: u32,
    lines: &Lines<'_>,
    lengths: Lengths,
    ranges: &mut Vec<Range>,
) -> bool {
    // The annotations are differences to the place of the inlined function itself.
    let begin = lines.inlinees.get(&inlinee);
    let mut file = begin.map(|place| place.file);
    let mut line = begin.map_or(0, |place| place.line);
    let mut base = 0_u32;
    let mut offset = 0_u32;
    let mut open = None::<(u32, Option<FileLine>)>;
    let mut operations = Operations(Cursor::new(annotations));
    let mut has_length = false;
    let mut is_ambiguous = false;
    let mut close = |open: &mut Option<(u32, Option<FileLine>)>, end: u32| {
        // Empty ranges are dropped, as no address is in them.
        if let Some((start, place)) = open.take().filter(|(start, _)| *start < end) {
            ranges.push(Range {
                start,
                end,
                site,
                place,
            });
        }
    };
    while let Some(operation) = operations.next() {
        let mut len = None;
        match operation {
            Operation::Offset(to) => {
                offset = to;
                continue;
            }
            Operation::Base(to) => {
                base = to;
                continue;
            }
            Operation::Len(len) => {
                let start = open.map(|(start, _)| start);
                // The end is taken from the open range: a length without one means nothing.
                if let Some(start) = start {
                    close(&mut open, start.saturating_add(len));
                }
                has_length = true;
                if lengths == Lengths::Advance {
                    offset = offset.wrapping_add(len);
                }
                continue;
            }
            Operation::File(to) => {
                file = Some(to);
                continue;
            }
            Operation::Line(delta) => {
                line = line.wrapping_add_signed(delta);
                continue;
            }
            Operation::Other => continue,
            Operation::Move {
                code,
                line: delta,
                len: own,
            } => {
                // After a length it depends on the compiler whether the offset has moved.
                is_ambiguous |= has_length;
                offset = offset.wrapping_add(code);
                line = line.wrapping_add_signed(delta);
                len = own.or(len);
            }
        }
        // Most programs give a range no end of its own: it continues until the next one starts.
        // Wrapping, since damaged differences may lead anywhere; such ranges lie outside of the
        // function.
        let at = base.wrapping_add(offset);
        close(&mut open, at);
        open = Some((at, file.map(|file| FileLine { file, line })));
        if let Some(len) = len {
            close(&mut open, at.saturating_add(len));
        }
    }
    is_ambiguous
}

enum Operation {
    Offset(u32),
    Base(u32),
    /// Ends the range that is open.
    Len(u32),
    File(u32),
    Line(i32),
    /// Starts a range. With a length, the range is complete.
    Move {
        code: u32,
        line: i32,
        len: Option<u32>,
    },
    /// Columns, ends of lines.
    Other,
}

struct Operations<'a>(Cursor<'a>);

impl Operations<'_> {
    fn next(&mut self) -> Option<Operation> {
        Some(match self.number()? {
            1 => Operation::Offset(self.number()?),
            2 => Operation::Base(self.number()?),
            3 => Operation::Move {
                code: self.number()?,
                line: 0,
                len: None,
            },
            4 => Operation::Len(self.number()?),
            5 => Operation::File(self.number()?),
            6 => Operation::Line(signed(self.number()?)),
            // Last lines, columns, and whether a range is a statement.
            7..=10 | 13 => {
                self.number()?;
                Operation::Other
            }
            // A small step of the code and of the line in one number.
            11 => {
                let both = self.number()?;
                Operation::Move {
                    code: both & 15,
                    line: signed(both >> 4),
                    len: None,
                }
            }
            12 => {
                let len = self.number()?;
                let code = self.number()?;
                Operation::Move {
                    code,
                    line: 0,
                    len: Some(len),
                }
            }
            // 0 fills up the record.
            _ => return None,
        })
    }

    /// One, two or four bytes; the first one contains the length.
    fn number(&mut self) -> Option<u32> {
        let first = self.0.u8()?;
        // Missing bytes end the list, and what was read before them stays.
        let mut more = || self.0.u8().map(u32::from);
        let first = u32::from(first);
        Some(match first {
            0..0x80 => first,
            0x80..0xC0 => (first & 0x3F) << 8 | more()?,
            0xC0..0xE0 => (first & 0x1F) << 24 | more()? << 16 | more()? << 8 | more()?,
            _ => return None,
        })
    }
}

/// The lowest bit is the sign.
fn signed(number: u32) -> i32 {
    let size = (number >> 1).cast_signed();
    if number & 1 == 0 { size } else { -size }
}
