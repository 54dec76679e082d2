//! Loading one buffer: reading, decompressing, and finding the end of its valid data.

use super::TraceFile;
use super::directory::{BufferEntry, read};
use crate::Result;
use crate::bytes::{front, tail};
use crate::damage::{Damage, DamageAt, DamageKind};
use crate::source::ByteSource;
use crate::wire::buffer::{HEADER_LEN, MAX_BUFFER_LEN};
use crate::wire::lz77::{self, Broken};
use crate::wire::record::{self, Cut, Trouble};
use crate::wire::{lznt1, xpress_huffman};

/// `COMPRESSION_FORMAT_LZNT1`.
pub(super) const FORMAT_LZNT1: u16 = 2;
/// `COMPRESSION_FORMAT_XPRESS`.
pub(super) const FORMAT_LZ77: u16 = 3;
/// `COMPRESSION_FORMAT_XPRESS_HUFF`.
pub(super) const FORMAT_HUFFMAN: u16 = 4;

/// Bytes of a buffer, borrowed from a mapped file or owned.
#[derive(Debug)]
pub(super) enum Bytes<'s> {
    Mapped(&'s [u8]),
    Owned(Vec<u8>),
}

impl Bytes<'_> {
    pub(super) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Mapped(bytes) => bytes,
            Self::Owned(bytes) => bytes,
        }
    }

    /// Bytes of memory in use.
    pub(super) fn held(&self) -> usize {
        match self {
            Self::Mapped(_) => 0,
            Self::Owned(bytes) => bytes.capacity(),
        }
    }
}

/// A buffer in memory. Offsets are those of the documented layout and include the header.
#[derive(Debug)]
pub(super) struct Loaded<'s> {
    pub(super) bytes: Bytes<'s>,
    pub(super) end: usize,
    pub(super) damage: Option<(DamageKind, u64)>,
    truncated: bool,
}

impl<'s> Loaded<'s> {
    pub(super) fn read(
        source: &'s dyn ByteSource,
        entry: &BufferEntry,
        format: u16,
    ) -> Result<Self> {
        let stored = fetch(source, entry)?;
        // Known before decompression: a cut buffer does not decompress to its end, which is not
        // damage of its own.
        let truncated = entry.is_truncated();
        if entry.header.is_compressed() {
            return Ok(Self::decompressed(
                stored.as_slice(),
                entry,
                format,
                truncated,
            ));
        }
        let len = stored.as_slice().len();
        let end = valid_end(entry, len);
        // A cut buffer was counted when the directory was read.
        let damage =
            (end > len && !truncated).then(|| (DamageKind::BufferSize, (end - len) as u64));
        Ok(Self {
            bytes: stored,
            end: end.min(len),
            damage,
            truncated,
        })
    }

    fn decompressed(stored: &[u8], entry: &BufferEntry, format: u16, truncated: bool) -> Self {
        // At least the header, whatever the header says of itself.
        let end = (entry.header.offset as usize).clamp(HEADER_LEN, MAX_BUFFER_LEN as usize);
        // The header may claim 16 MiB for a few stored bytes. Memory is allocated as data appears,
        // so many of these headers do not cost the memory that they claim.
        let mut out = Vec::with_capacity(end.min(1 << 20));
        // The header is stored as it is, even in compressed buffers.
        out.extend_from_slice(front(stored, HEADER_LEN));
        out.resize(HEADER_LEN, 0);
        // What was decompressed before an error stays, as records in it are complete.
        let result = decompress(tail(stored, HEADER_LEN), format, &mut out, end);
        let lost = end.saturating_sub(out.len()) as u64;
        let damage = (result.is_err() && !truncated).then_some((DamageKind::Decompression, lost));
        Self {
            end: out.len(),
            bytes: Bytes::Owned(out),
            damage,
            // The last record is probably cut, as with the end of a file.
            truncated: truncated || result.is_err(),
        }
    }

    /// Cuts the buffer into records. A record that the end of the file cut is not reported again:
    /// the truncation is counted already.
    #[inline]
    pub(super) fn cut(&self, event: impl FnMut(Cut), mut trouble: impl FnMut(Trouble)) {
        record::cut(self.bytes.as_slice(), self.end, event, |t| {
            if !(self.truncated && matches!(t, Trouble::Broken { .. })) {
                trouble(t);
            }
        });
    }
}

/// Loads a buffer and cuts it. `event` gets the bytes of the buffer and each event in it; damage
/// goes to `damage`.
#[inline]
pub(super) fn cut<'s>(
    trace: &'s TraceFile,
    file: u16,
    entry: &BufferEntry,
    damage: &mut Damage,
    mut event: impl FnMut(&[u8], Cut),
) -> Result<Bytes<'s>> {
    let loaded = Loaded::read(&*trace.source, entry, trace.format)?;
    let place = |(kind, bytes), position| DamageAt {
        // Positions in a decompressed buffer are not places in the file, so that they are added to
        // that of the buffer.
        kind,
        file: usize::from(file),
        offset: entry.offset + position,
        bytes,
    };
    if let Some(found) = loaded.damage {
        damage.add_loss(place(found, 0), entry.offset);
    }
    let bytes = loaded.bytes.as_slice();
    loaded.cut(
        |cut| event(bytes, cut),
        |trouble| {
            let place = place(trouble_of(trouble), position_of(trouble));
            match trouble {
                // A record without an event is not a loss.
                Trouble::Skipped { .. } => damage.add(place),
                Trouble::Broken { .. } => damage.add_loss(place, entry.offset),
            }
        },
    );
    Ok(loaded.bytes)
}

fn trouble_of(trouble: Trouble) -> (DamageKind, u64) {
    match trouble {
        Trouble::Skipped { len, .. } => (DamageKind::SkippedRecord, len as u64),
        Trouble::Broken { len, .. } => (DamageKind::RecordHeader, len as u64),
    }
}

const fn position_of(trouble: Trouble) -> u64 {
    match trouble {
        Trouble::Skipped { position, .. } | Trouble::Broken { position, .. } => position as u64,
    }
}

fn fetch<'s>(source: &'s dyn ByteSource, entry: &BufferEntry) -> Result<Bytes<'s>> {
    let len = entry.len as usize;
    // A mapped file needs no copy, and the system drops its pages when memory is short.
    if let Some(all) = source.mapped() {
        let from = usize::try_from(entry.offset).unwrap_or(usize::MAX);
        return Ok(Bytes::Mapped(front(tail(all, from), len)));
    }
    let mut bytes = vec![0; len];
    let got = read(source, entry.offset, &mut bytes)?.len();
    bytes.truncate(got);
    Ok(Bytes::Owned(bytes))
}

/// End of the valid data of an uncompressed buffer according to its header. It can exceed `len`.
fn valid_end(entry: &BufferEntry, len: usize) -> usize {
    let offset = entry.header.offset as usize;
    let saved = entry.header.saved_offset as usize;
    // A buffer that was never flushed properly has no end: cut until the filler or an invalid
    // header.
    [offset, saved]
        .into_iter()
        .find(|end| *end >= HEADER_LEN)
        .unwrap_or(len)
}

pub(super) fn decompress(
    input: &[u8],
    format: u16,
    out: &mut Vec<u8>,
    end: usize,
) -> std::result::Result<(), Broken> {
    match format {
        FORMAT_LZNT1 => lznt1::decompress(input, out, end),
        FORMAT_HUFFMAN => xpress_huffman::decompress(input, out, end),
        // The header buffer names the format. Plain LZ77 is the only one found in real traces, so
        // it is also used for values without a meaning.
        _ => lz77::decompress(input, out, end),
    }
}

/// Stored bytes that contain the first record header of a compressed buffer in every format: a
/// table of 256 bytes in format 4, then more than a header stored as literals would take.
pub(super) const PREFIX_LEN: usize = HEADER_LEN + 256 + 128;

/// The first `end` bytes of a compressed buffer (72 bytes of header included) from the first bytes
/// of its stored form; `None` if `head` is too short for that.
pub(super) fn decompress_prefix(head: &[u8], format: u16, end: usize) -> Option<Vec<u8>> {
    let mut out = head.get(..HEADER_LEN)?.to_vec();
    // An error means that the head is too short. The caller then reads the whole buffer.
    decompress(head.get(HEADER_LEN..)?, format, &mut out, end).ok()?;
    Some(out)
}
