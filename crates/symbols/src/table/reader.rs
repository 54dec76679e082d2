//! Asking a [`SymbolTable`].

use etwkit_etl::Guid;
use etwkit_etl::bytes::{Cursor, front, guid_at, tail, u32_at};

use super::{
    CHECKSUM_AT, FUNCTION_LEN, Frame, HEADER_LEN, MAGIC, MAX_DEPTH, MOVE_LEN, Moves, NONE, PUBLIC,
    VERSION,
};
use crate::symbol::{Inlined, Symbol};
use crate::{Error, Result};

const PART: &str = "table of symbols";

/// Functions of one module, sorted by address.
#[derive(Clone)]
pub struct SymbolTable {
    bytes: Vec<u8>,
    /// GUID and age of the build.
    identity: (Guid, u32),
    functions: usize,
    strings: usize,
    /// Offsets of the strings and the rows.
    text_at: usize,
    rows_at: usize,
    /// Of a module that was rearranged: functions have the addresses from before.
    moves: Moves,
}

#[derive(Clone, Copy)]
struct Entry {
    start: u32,
    end: u32,
    name: u32,
    decorated: u32,
    rows: u32,
    flags: u32,
}

impl SymbolTable {
    /// Checks the header, the sizes and the checksum.
    ///
    /// # Errors
    /// If the bytes are not a table of this version, or damaged.
    pub fn open(bytes: Vec<u8>) -> Result<Self> {
        let damaged = |at: usize, why| Error::damaged(PART, at, why);
        let number = |at| u32_at(&bytes, at).and_then(|number| usize::try_from(number).ok());
        if !bytes.starts_with(&MAGIC) || u32_at(&bytes, MAGIC.len()) != Some(VERSION) {
            return Err(damaged(0, "no table of this version"));
        }
        let sum = crc32fast::hash(tail(&bytes, CHECKSUM_AT + 4));
        if u32_at(&bytes, CHECKSUM_AT) != Some(sum) {
            return Err(damaged(CHECKSUM_AT, "its checksum is wrong"));
        }
        let (
            Some(guid),
            Some(age),
            Some(functions),
            Some(strings),
            Some(text_len),
            Some(rows_len),
            Some(to_source),
            Some(from_source),
        ) = (
            guid_at(&bytes, 16),
            u32_at(&bytes, 32),
            number(36),
            number(40),
            number(44),
            number(48),
            number(52),
            number(56),
        )
        else {
            return Err(damaged(0, "it is cut off"));
        };
        let text_at = functions.checked_mul(FUNCTION_LEN).and_then(|len| {
            len.checked_add(strings.checked_mul(4)?)?
                .checked_add(HEADER_LEN)
        });
        let rows_at = text_at.and_then(|at| at.checked_add(text_len));
        let moves_at = rows_at.and_then(|at| at.checked_add(rows_len));
        let reverse_at = moves_at.and_then(|at| at.checked_add(to_source.checked_mul(MOVE_LEN)?));
        let end = reverse_at.and_then(|at| at.checked_add(from_source.checked_mul(MOVE_LEN)?));
        let places = (text_at, rows_at, moves_at, reverse_at);
        match places {
            (Some(text_at), Some(rows_at), Some(moves_at), Some(reverse_at))
                if end == Some(bytes.len()) =>
            {
                let moves = Moves {
                    to_source: pairs(front(tail(&bytes, moves_at), to_source * MOVE_LEN)),
                    from_source: pairs(tail(&bytes, reverse_at)),
                };
                Ok(Self {
                    identity: (guid, age),
                    functions,
                    strings,
                    text_at,
                    rows_at,
                    moves,
                    bytes,
                })
            }
            _ => Err(damaged(36, "its sizes do not match")),
        }
    }

    /// GUID and age of the build that it is for.
    #[must_use]
    pub const fn identity(&self) -> (Guid, u32) {
        self.identity
    }

    /// Functions and public symbols.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.functions
    }

    /// True if the table has no functions.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.functions == 0
    }

    /// The file.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The symbol at an address, counted from the base of the module; `None` if there is none.
    #[must_use]
    pub fn resolve(&self, rva: u32) -> Option<Symbol> {
        self.resolve_sorted(&[rva]).pop()?
    }

    /// The symbols at each of the addresses. If the addresses are sorted, those in one function are
    /// found in one walk.
    #[must_use]
    pub fn resolve_sorted(&self, rvas: &[u32]) -> Vec<Option<Symbol>> {
        let mut last: Option<(usize, Rows<'_>)> = None;
        let mut one = |rva: u32| {
            let rva = self.moves.source(rva)?;
            let nth = self.below(rva)?;
            let entry = self.entry(nth).filter(|entry| rva < entry.end)?;
            let wanted = rva.checked_sub(entry.start)?;
            let rows = match last.take() {
                // Rows can only be walked forwards, because each one is stored as the difference to
                // the one before. An address after the last one continues from there.
                Some((of, rows)) if of == nth && rows.start <= wanted => rows,
                _ => self.rows(entry),
            };
            let (_, rows) = last.insert((nth, rows));
            rows.advance(wanted);
            self.symbol(entry, &rows.frames)
        };
        rvas.iter().map(|rva| one(*rva)).collect()
    }

    /// All functions and public symbols, in the order in which they were linked, each as if asked
    /// for its first byte.
    pub fn functions(&self) -> impl Iterator<Item = Symbol> {
        (0..self.functions)
            .filter_map(|nth| self.entry(nth))
            .filter(|entry| self.moves.image(entry.start).is_some())
            .filter_map(|entry| {
                let mut rows = self.rows(entry);
                rows.advance(0);
                self.symbol(entry, &rows.frames)
            })
    }

    /// Index of the last function that starts at or before the address.
    fn below(&self, rva: u32) -> Option<usize> {
        let mut low = 0;
        let mut high = self.functions;
        while low < high {
            let middle = low.midpoint(high);
            if self.entry(middle)?.start <= rva {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low.checked_sub(1)
    }

    fn entry(&self, nth: usize) -> Option<Entry> {
        let mut cursor = Cursor::new(
            self.bytes
                .get(HEADER_LEN + nth.checked_mul(FUNCTION_LEN)?..)?,
        );
        let mut next = || cursor.u32();
        let (start, end, name, decorated, rows, flags) =
            (next()?, next()?, next()?, next()?, next()?, next()?);
        Some(Entry {
            start,
            end,
            name,
            decorated,
            rows,
            flags,
        })
    }

    fn symbol(&self, entry: Entry, frames: &[Frame]) -> Option<Symbol> {
        // A function without rows has neither file nor line.
        let mut frames = frames.iter();
        let outer = frames.next();
        let text = |number: Option<u32>| {
            number
                .and_then(|number| self.string(number))
                .map(str::to_owned)
        };
        let line = |frame: &Frame| (frame.line != 0).then_some(frame.line);
        let mut inlined: Vec<Inlined> = frames
            .filter_map(|frame| {
                Some(Inlined {
                    name: text(Some(frame.name))?,
                    file: text(frame.file),
                    line: line(frame),
                })
            })
            .collect();
        // Rows are stored from the outermost frame on; answers give inlined functions innermost
        // first.
        inlined.reverse();
        let is_public = entry.flags & PUBLIC != 0;
        Some(Symbol {
            name: text(Some(entry.name))?,
            decorated: text((entry.decorated != NONE).then_some(entry.decorated)),
            // The start of a function may be removed although other pieces of it stay.
            start_rva: self.moves.image(entry.start).unwrap_or(entry.start),
            size: if is_public {
                None
            } else {
                entry.end.checked_sub(entry.start)
            },
            is_public,
            file: outer.and_then(|outer| text(outer.file)),
            line: outer.and_then(line),
            inlined,
        })
    }

    /// The rows of a function, of which it may have none.
    fn rows(&self, entry: Entry) -> Rows<'_> {
        let bytes: &[u8] = match entry.rows {
            NONE => &[],
            at => tail(tail(&self.bytes, self.rows_at), at as usize),
        };
        let mut rows = Rows {
            numbers: Numbers(Cursor::new(bytes)),
            next: None,
            start: 0,
            frames: Vec::new(),
        };
        rows.next = rows.head();
        rows
    }

    fn string(&self, number: u32) -> Option<&str> {
        let number = usize::try_from(number)
            .ok()
            .filter(|number| *number < self.strings)?;
        let offsets = self
            .bytes
            .get(HEADER_LEN + self.functions * FUNCTION_LEN..self.text_at)?;
        let start = usize::try_from(u32_at(offsets, number * 4)?).ok()?;
        let text = self.bytes.get(self.text_at..self.rows_at)?;
        let end = u32_at(offsets, number * 4 + 4)
            .map_or(Some(text.len()), |end| usize::try_from(end).ok())?;
        std::str::from_utf8(text.get(start..end)?).ok()
    }
}

fn pairs(bytes: &[u8]) -> Vec<(u32, u32)> {
    let (pairs, _) = bytes.as_chunks::<MOVE_LEN>();
    pairs
        .iter()
        .filter_map(|pair| Some((u32_at(pair, 0)?, u32_at(pair, 4)?)))
        .collect()
}

/// A walk over the rows of one function.
struct Rows<'a> {
    numbers: Numbers<'a>,
    /// Number of frames and offset of the next row.
    next: Option<(usize, u32)>,
    /// Offset of the row that holds now.
    start: u32,
    /// Its frames, outermost first.
    frames: Vec<Frame>,
}

impl Rows<'_> {
    /// To the row that holds at an offset in the function.
    fn advance(&mut self, wanted: u32) {
        while let Some((count, start)) = self.next.filter(|(_, start)| *start <= wanted) {
            self.start = start;
            self.next = if self.read(count).is_some() {
                self.head()
            } else {
                None
            };
        }
    }

    fn head(&mut self) -> Option<(usize, u32)> {
        let count = self.numbers.index()?.checked_sub(1)?;
        Some((count, self.start.checked_add(self.numbers.next()?)?))
    }

    /// The frames of the next row, of which the first ones may be as before.
    fn read(&mut self, count: usize) -> Option<()> {
        let same = self.numbers.index()?;
        if count > MAX_DEPTH || same > count || same > self.frames.len() {
            self.frames.clear();
            return None;
        }
        self.frames.truncate(same);
        for depth in same..count {
            let name = if depth == 0 { 0 } else { self.numbers.next()? };
            let file = self.numbers.next()?.checked_sub(1);
            self.frames.push(Frame {
                name,
                file,
                line: self.numbers.next()?,
            });
        }
        Some(())
    }
}

struct Numbers<'a>(Cursor<'a>);

impl Numbers<'_> {
    fn next(&mut self) -> Option<u32> {
        let mut number = 0_u64;
        // Five bytes hold 35 bits. A 32-bit number never needs more, so a longer one is damage.
        for shift in (0..35).step_by(7) {
            let byte = self.0.u8()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return u32::try_from(number).ok();
            }
        }
        None
    }

    fn index(&mut self) -> Option<usize> {
        self.next().and_then(|number| usize::try_from(number).ok())
    }
}
