//! Names of inlined functions, which only the streams of IDs and types have.
//!
//! Both streams are lists of records numbered from a first index. To find one, a skip list in the
//! hash stream has the position of every few hundredth; only the pieces that are needed are read.
//! Kinds and layouts: `cvinfo.h` and `tpi.h` of Microsoft's published sources.

use std::collections::BTreeMap;

use etwkit_etl::bytes::{Cursor, u16_at, u32_at};

use super::streams::Streams;
use crate::Result;

const TYPE_STREAM: u16 = 2;
const ID_STREAM: u16 = 4;
const LF_FUNC_ID: u16 = 0x1601;
const LF_MFUNC_ID: u16 = 0x1602;
const LF_STRING_ID: u16 = 0x1605;
/// Class, structure, interface: they have a size before the name.
const LF_CLASSES: [u16; 3] = [0x1504, 0x1505, 0x1519];
const LF_UNION: u16 = 0x1506;
const LF_ENUM: u16 = 0x1507;
/// Step in bytes of the skip list that is built if the file has none.
const STEP: u32 = 1 << 14;
/// Maximum number of bytes between two steps; linkers write one for every 8 KiB.
const FARTHEST: u32 = 1 << 18;
/// Pieces that are kept, bytes.
const KEPT: usize = 64 << 20;
/// Scopes in scopes; deeper ones are a loop.
const DEEPEST: u32 = 16;

pub(super) struct Names {
    ids: Numbered,
    types: Numbered,
}

impl Names {
    pub(super) fn open(msf: &mut Streams<'_>) -> Result<Self> {
        Ok(Self {
            ids: Numbered::open(msf, ID_STREAM)?,
            types: Numbered::open(msf, TYPE_STREAM)?,
        })
    }

    /// Name of the function with that ID, as `Scope::name`.
    pub(super) fn function(&mut self, msf: &mut Streams<'_>, id: u32) -> Result<Option<String>> {
        self.of_id(msf, id, DEEPEST)
    }

    fn of_id(&mut self, msf: &mut Streams<'_>, id: u32, depth: u32) -> Result<Option<String>> {
        let Some((kind, content)) = self.ids.record(msf, id)? else {
            return Ok(None);
        };
        let mut cursor = Cursor::new(&content);
        // Scopes may form a loop in a damaged file.
        let (Some(scope), Some(deeper)) = (cursor.u32(), depth.checked_sub(1)) else {
            return Ok(None);
        };
        if kind == LF_STRING_ID {
            return Ok(Some(text(cursor.ansi())));
        }
        // The type of the function is not part of its name.
        cursor.take(4);
        let name = text(cursor.ansi());
        let scope = match kind {
            LF_FUNC_ID if scope == 0 => None,
            LF_FUNC_ID => self.of_id(msf, scope, deeper)?,
            LF_MFUNC_ID => self.of_type(msf, scope)?,
            _ => return Ok(None),
        };
        Ok(Some(scope.map_or_else(
            || name.clone(),
            |scope| format!("{scope}::{name}"),
        )))
    }

    fn of_type(&mut self, msf: &mut Streams<'_>, index: u32) -> Result<Option<String>> {
        let Some((kind, content)) = self.types.record(msf, index)? else {
            return Ok(None);
        };
        Ok(name_of_type(kind, &content).map(text))
    }
}

fn name_of_type(kind: u16, content: &[u8]) -> Option<&[u8]> {
    let mut cursor = Cursor::new(content);
    let fixed = match kind {
        _ if LF_CLASSES.contains(&kind) => 16,
        // The fixed part before the size differs by kind.
        LF_UNION => 8,
        LF_ENUM => 12,
        _ => return None,
    };
    cursor.take(fixed)?;
    // An enumeration has the size of its underlying type and no size of its own.
    if kind != LF_ENUM {
        // The size: a number, or the kind of a longer number that follows.
        let more = match cursor.u16()? {
            // A small number is its own kind. The others are numbers of 1, 2, 4 and 8 bytes, with
            // and without a sign.
            0..0x8000 => 0,
            0x8000 => 1,
            0x8001 | 0x8002 => 2,
            0x8003 | 0x8004 => 4,
            0x8009 | 0x800A => 8,
            _ => return None,
        };
        cursor.take(more)?;
    }
    Some(cursor.ansi())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A stream of numbered records.
struct Numbered {
    stream: u16,
    first: u32,
    end: u32,
    /// (Number of a record, offset in the stream), from which to walk.
    steps: Vec<(u32, u32)>,
    /// Offset after the last record.
    stop: u32,
    pieces: BTreeMap<usize, Vec<u8>>,
    kept: usize,
}

impl Numbered {
    fn open(msf: &mut Streams<'_>, stream: u16) -> Result<Self> {
        let header = msf.part(stream, 0, 56)?;
        // A file without types has no such stream: zeros mean that it has no records, and only
        // names of inlined functions are missing then.
        let number = |at| u32_at(&header, at).unwrap_or_default();
        let start = number(4);
        let first = number(8);
        let end = number(12);
        let stop = start.saturating_add(number(16)).min(msf.len(stream));
        let hash_stream = u16_at(&header, 20).unwrap_or(u16::MAX);
        let mut numbered = Self {
            stream,
            first,
            end,
            steps: Vec::new(),
            stop,
            pieces: BTreeMap::new(),
            kept: 0,
        };
        // The stream of hashes also lists every so many records with their offsets, which spares a
        // walk from the first record.
        // At the place that the header names.
        let list = msf.part(hash_stream, number(40), number(44))?;
        let pairs = list.as_chunks::<8>().0.iter();
        let pairs =
            pairs.filter_map(|pair| Some((u32_at(pair, 0)?, start.checked_add(u32_at(pair, 4)?)?)));
        numbered.steps = pairs.collect();
        // Steps that are far apart would mean long walks, so the list of such a file is not used.
        let ends = numbered
            .steps
            .iter()
            .skip(1)
            .map(|(_, at)| *at)
            .chain([stop]);
        let is_near = numbered
            .steps
            .iter()
            .zip(ends)
            .all(|((_, at), end)| end.saturating_sub(*at) <= FARTHEST);
        let is_rising = is_near && numbered.steps.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1);
        // The list comes from the file: a search in it relies on its order and its start.
        if numbered.steps.first() != Some(&(first, start)) || !is_rising {
            // Walked once if the list cannot be trusted.
            numbered.steps = numbered.walk(msf, start)?;
        }
        Ok(numbered)
    }

    /// The skip list, if the file has none.
    fn walk(&self, msf: &mut Streams<'_>, start: u32) -> Result<Vec<(u32, u32)>> {
        let mut steps = Vec::new();
        let mut number = self.first;
        let mut at = start;
        while number < self.end && at < self.stop {
            steps.push((number, at));
            // A record has at most 64 KiB.
            // One record more than the step, so that the last record of the step is whole.
            let piece = msf.part(self.stream, at, STEP + (1 << 16))?;
            let mut cursor = Cursor::new(&piece);
            while cursor.position() < STEP as usize && number < self.end {
                let Some(len) = cursor.u16() else {
                    return Ok(steps);
                };
                if cursor.take(usize::from(len)).is_none() {
                    return Ok(steps);
                }
                number += 1;
            }
            at = at.saturating_add(u32::try_from(cursor.position()).unwrap_or(u32::MAX));
        }
        Ok(steps)
    }

    /// Kind and content of a record.
    fn record(&mut self, msf: &mut Streams<'_>, number: u32) -> Result<Option<(u16, Vec<u8>)>> {
        // A number outside of the stream belongs to another compiland, or is damage.
        if !(self.first..self.end).contains(&number) {
            return Ok(None);
        }
        let Some(step) = self
            .steps
            .partition_point(|(first, _)| *first <= number)
            .checked_sub(1)
        else {
            return Ok(None);
        };
        let Some((first, start)) = self.steps.get(step).copied() else {
            return Ok(None);
        };
        if !self.pieces.contains_key(&step) {
            let stop = self
                .steps
                .get(step + 1)
                .map_or(self.stop, |(_, next)| (*next).min(self.stop));
            let piece = msf.part(self.stream, start, stop.saturating_sub(start))?;
            // All pieces are given up at once: which one is needed again is not known.
            if self.kept + piece.len() > KEPT {
                self.pieces.clear();
                self.kept = 0;
            }
            self.kept += piece.len();
            self.pieces.insert(step, piece);
        }
        let Some(piece) = self.pieces.get(&step) else {
            return Ok(None);
        };
        let mut cursor = Cursor::new(piece);
        // Records have no fixed length, so that those before it are skipped one by one.
        for _ in first..number {
            let Some(len) = cursor.u16() else {
                return Ok(None);
            };
            if cursor.take(usize::from(len)).is_none() {
                return Ok(None);
            }
        }
        let content = cursor.u16().and_then(|len| cursor.take(usize::from(len)));
        let Some((kind, content)) = content.and_then(<[u8]>::split_first_chunk::<2>) else {
            return Ok(None);
        };
        Ok(Some((u16::from_le_bytes(*kind), content.to_vec())))
    }
}
