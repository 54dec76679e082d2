//! Chunks to the bytes of a manifest.

use std::collections::BTreeMap;

use etwkit_etl::bytes::{u8_at, u16_at};
use etwkit_etl::{Guid, RawEvent};
use rustc_hash::FxHashMap;

/// Event ID of chunks.
pub const CHUNK_ID: u16 = 0xFFFE;
/// Opcode of the event.
pub const CHUNK_OPCODE: u8 = 0xFE;
/// Fourth byte of the payload.
const MAGIC: u8 = 0x5B;
/// Format of the manifest: XML.
const FORMAT_XML: u8 = 1;
/// Bytes before the XML.
const HEAD_LEN: usize = 8;

/// Bytes of one manifest; more are refused. The largest ones of .NET have about 200 KB.
const MAX_MANIFEST: usize = 16 << 20;
/// Maximum bytes of all manifests that wait for chunks.
const MAX_PENDING: usize = 64 << 20;
/// Memory cost of a waiting chunk in addition to its bytes.
const OVERHEAD: usize = 128;

/// A chunk of a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// 1: XML.
    pub format: u8,
    /// Number of chunks of the manifest.
    pub total: u16,
    /// Number of this chunk, from 0.
    pub number: u16,
    /// Its part of the manifest, UTF-8.
    pub bytes: &'a [u8],
}

impl<'a> Chunk<'a> {
    /// Reads a chunk; `None` if the event is none.
    #[must_use]
    pub fn of(event: &RawEvent<'a>) -> Option<Self> {
        let descriptor = event.descriptor();
        // The ID alone is not enough: 0xFFFE is an ordinary ID for providers other than
        // EventSource.
        if descriptor.id != CHUNK_ID || descriptor.opcode != CHUNK_OPCODE {
            return None;
        }
        let payload = event.payload();
        if u8_at(payload, 3)? != MAGIC {
            return None;
        }
        Some(Self {
            format: u8_at(payload, 0)?,
            total: u16_at(payload, 4)?,
            number: u16_at(payload, 6)?,
            bytes: payload.get(HEAD_LEN..)?,
        })
    }
}

/// The writer of a manifest: one thread writes all its chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Writer {
    pub(super) provider: Guid,
    pub(super) process: Option<u32>,
    pub(super) thread: Option<u32>,
}

/// The reason for which a chunk cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// It contradicts itself.
    Broken,
    /// Too much waits already, or the manifest is too large.
    TooMuch,
}

/// A manifest of which chunks are missing.
#[derive(Debug, Default)]
struct Pending {
    total: u16,
    chunks: BTreeMap<u16, Box<[u8]>>,
    /// Its memory cost.
    bytes: usize,
    written: i64,
}

#[derive(Debug, Default)]
pub(super) struct Assembler {
    pending: FxHashMap<Writer, Pending>,
    bytes: usize,
}

impl Assembler {
    /// Adds a chunk. Returns the whole manifest and the time of its last chunk if it is complete
    /// now.
    pub(super) fn add(
        &mut self,
        writer: Writer,
        chunk: Chunk<'_>,
        time: i64,
    ) -> Result<Option<(Vec<u8>, i64)>, Refused> {
        if chunk.number >= chunk.total || chunk.format != FORMAT_XML {
            return Err(Refused::Broken);
        }
        if chunk.total == 1 {
            return Ok(Some((trimmed(chunk.bytes.to_vec()), time)));
        }
        let cost = chunk.bytes.len() + OVERHEAD;
        if self.bytes + cost > MAX_PENDING {
            return Err(Refused::TooMuch);
        }
        let pending = self.pending.entry(writer).or_default();
        // The cost of this manifest is subtracted from the sum, and added again if it still waits:
        // adding a chunk may also drop others of it.
        self.bytes -= pending.bytes;
        pending.add(chunk, cost, time);
        if pending.bytes > MAX_MANIFEST {
            self.pending.remove(&writer);
            return Err(Refused::TooMuch);
        }
        // Counted and not compared by number: chunks may be observed in the order of the file,
        // where the last one need not be last.
        if pending.chunks.len() < usize::from(pending.total) {
            self.bytes += pending.bytes;
            return Ok(None);
        }
        let Some(whole) = self.pending.remove(&writer) else {
            return Ok(None);
        };
        let bytes = whole
            .chunks
            .values()
            .flat_map(|chunk| chunk.iter().copied())
            .collect();
        Ok(Some((trimmed(bytes), whole.written)))
    }

    /// Manifests that are not complete.
    pub(super) fn pending(&self) -> u64 {
        self.pending.len() as u64
    }
}

impl Pending {
    /// Adds a chunk to its manifest. If another chunk with this number exists, it belongs to the
    /// next manifest of that thread, and the end of the previous one was lost: the previous chunks
    /// from here on are dropped.
    fn add(&mut self, chunk: Chunk<'_>, cost: usize, time: i64) {
        if self.total != chunk.total {
            *self = Self {
                total: chunk.total,
                ..Self::default()
            };
        }
        match self.chunks.get(&chunk.number) {
            Some(known) if **known == *chunk.bytes => {
                self.written = self.written.max(time);
                return;
            }
            Some(_) => {
                let dropped = self.chunks.split_off(&chunk.number);
                self.bytes -= dropped
                    .values()
                    .map(|chunk| chunk.len() + OVERHEAD)
                    .sum::<usize>();
            }
            None => {}
        }
        self.chunks.insert(chunk.number, chunk.bytes.into());
        self.bytes += cost;
        self.written = self.written.max(time);
    }
}

/// Removes the zeros that fill the last chunk.
fn trimmed(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes
        .iter()
        .rposition(|byte| *byte != 0)
        .map_or(0, |last| last + 1);
    bytes.truncate(end);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITER: Writer = Writer {
        provider: Guid::ZERO,
        process: Some(1),
        thread: Some(2),
    };

    fn chunk(number: u16, total: u16, bytes: &[u8]) -> Chunk<'_> {
        Chunk {
            format: FORMAT_XML,
            total,
            number,
            bytes,
        }
    }

    #[test]
    fn chunks_come_in_any_order_and_more_than_once() {
        let mut assembler = Assembler::default();
        assert_eq!(assembler.add(WRITER, chunk(2, 3, b"c\0\0"), 30), Ok(None));
        assert_eq!(assembler.add(WRITER, chunk(0, 3, b"a"), 10), Ok(None));
        assert_eq!(assembler.add(WRITER, chunk(0, 3, b"a"), 11), Ok(None));
        assert_eq!(
            assembler.add(WRITER, chunk(1, 3, b"b"), 20),
            Ok(Some((b"abc".to_vec(), 30)))
        );
        assert_eq!((assembler.pending(), assembler.bytes), (0, 0));
    }

    #[test]
    fn a_manifest_that_lost_its_end_gives_way_to_the_next_one() {
        let mut assembler = Assembler::default();
        for (number, bytes) in [(0, b"a"), (1, b"b"), (0, b"A"), (1, b"B")] {
            assert_eq!(assembler.add(WRITER, chunk(number, 3, bytes), 0), Ok(None));
        }
        assert_eq!(
            assembler.add(WRITER, chunk(2, 3, b"C"), 5),
            Ok(Some((b"ABC".to_vec(), 5)))
        );
        assert_eq!(assembler.add(WRITER, chunk(0, 2, b"x"), 6), Ok(None));
        assert_eq!(
            assembler.add(WRITER, chunk(0, 9, b"x"), 7),
            Ok(None),
            "another number of chunks"
        );
        assert_eq!(assembler.pending(), 1);
    }

    #[test]
    fn senseless_and_endless_chunks_are_refused() {
        let mut assembler = Assembler::default();
        assert_eq!(
            assembler.add(WRITER, chunk(0, 0, b"a"), 0),
            Err(Refused::Broken)
        );
        assert_eq!(
            assembler.add(WRITER, chunk(3, 3, b"a"), 0),
            Err(Refused::Broken)
        );
        let other = Chunk {
            format: 2,
            ..chunk(0, 1, b"a")
        };
        assert_eq!(assembler.add(WRITER, other, 0), Err(Refused::Broken));
        let big = vec![b'x'; 60_000];
        let refused = (0..u16::MAX - 1)
            .find_map(|n| assembler.add(WRITER, chunk(n, u16::MAX, &big), 0).err());
        assert_eq!(refused, Some(Refused::TooMuch));
        for thread in 0..2000 {
            let writer = Writer {
                thread: Some(thread),
                ..WRITER
            };
            let _ = assembler.add(writer, chunk(0, 2, &big), 0);
        }
        assert!(assembler.bytes <= MAX_PENDING && assembler.pending() < 2000);
    }
}
