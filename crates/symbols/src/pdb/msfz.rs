//! The container of a compressed PDB: streams are cut into fragments, which are stored in the file
//! uncompressed or in compressed chunks.
//!
//! Layout: the MSFZ container specification, which Microsoft publishes together with its own
//! reader. That reader allocates as much memory as a file claims and keeps every chunk that it ever
//! unpacked. The format is small, so it is read here instead. Header, directory and table of chunks
//! are checked as a whole before anything is unpacked: all streams together cannot be larger than
//! the contents of the file, and chunks cannot be larger than [`RATIO`] allows. A chunk is unpacked
//! once, when it is first needed, into a temporary file, where consecutive chunks follow each
//! other. So a directory that sends readers to and fro between chunks costs no more than an honest
//! one.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use etwkit_etl::bytes::{Cursor, front, tail, u32_at, u64_at};

use super::msf::{ReadSeek, read_at};
use crate::{Error, Result};

/// First bytes.
pub(super) const MAGIC: &[u8; 32] = b"Microsoft MSFZ Container\r\n\x1aALD\0\0";

const PART: &str = "directory of compressed streams";
const HEADER_LEN: usize = 80;
const CHUNK_LEN: usize = 20;
const FRAGMENT_LEN: usize = 12;
/// In place of the length of its first fragment: the stream does not exist.
const NIL: u32 = u32::MAX;
/// Flag in the location of a fragment: it is in a chunk.
const IN_CHUNK: u64 = 1 << 63;
const STORED: u32 = 0;
const ZSTD: u32 = 1;
const DEFLATE: u32 = 2;
/// Streams have numbers of 16 bits.
const MAX_STREAMS: u32 = 1 << 16;
/// Bytes of the directory, unpacked: five million fragments.
const MAX_DIRECTORY: u32 = 64 << 20;
/// Chunks may unpack to this many times the size of the file; PDB files reach four to eight.
const RATIO: u64 = 100;
/// Chunks may always unpack to this many bytes.
const RATIO_FROM: u64 = 64 << 20;

/// True if a file that starts with these bytes is a compressed PDB. The signature after the name is
/// checked when the file is opened.
pub(crate) fn is_msfz(begin: &[u8]) -> bool {
    begin.starts_with(front(MAGIC, 24))
}

pub(super) struct Msfz<'f> {
    file: Box<dyn ReadSeek + 'f>,
    chunks: Vec<Chunk>,
    fragments: Vec<Fragment>,
    streams: Vec<Stream>,
    /// Unpacked chunks, each at its place.
    unpacked: Option<File>,
}

struct Chunk {
    /// Its offset when all chunks are unpacked one after the other.
    unpacked_at: u64,
    unpacked_len: u32,
    packed_at: u64,
    packed_len: u32,
    method: u32,
    is_unpacked: bool,
}

struct Fragment {
    /// Its offset in the stream.
    start: u64,
    len: u32,
    place: FragmentAt,
}

#[derive(Clone, Copy)]
enum FragmentAt {
    /// An offset in the file.
    File(u64),
    /// An offset in all unpacked chunks.
    Chunks(u64),
}

#[derive(Default)]
struct Stream {
    len: u32,
    fragments: Range<usize>,
}

impl<'f> Msfz<'f> {
    pub(super) fn open(mut file: Box<dyn ReadSeek + 'f>) -> Result<Self> {
        let file_len = file.seek(SeekFrom::End(0))?;
        let mut header = [0; HEADER_LEN];
        let cut_off = || Error::damaged(PART, file_len, "the header is cut off");
        if file_len < HEADER_LEN as u64 {
            return Err(cut_off());
        }
        read_at(&mut *file, 0, &mut header)?;
        let number = |at| u32_at(&header, at).ok_or_else(cut_off);
        let long = |at| u64_at(&header, at).ok_or_else(cut_off);
        // Another version may have another layout, so that nothing of it is read.
        if !header.starts_with(MAGIC) || long(32)? != 0 {
            return Err(Error::Unsupported(
                "it is a compressed PDB (MSFZ) of a version that is not supported",
            ));
        }
        let chunks = chunks(&mut *file, long(48)?, number(72)?, number(76)?, file_len)?;
        let packed = Packed {
            at: long(40)?,
            len: number(64)?,
            unpacked_len: number(68)?,
            method: number(60)?,
        };
        // The directory is unpacked as a whole, so that its size is bounded.
        if packed.unpacked_len > MAX_DIRECTORY || !packed.is_inside(file_len) {
            return Err(Error::damaged(PART, 64_u64, "it is larger than the file"));
        }
        let mut directory = Vec::new();
        packed.unpack(&mut *file, &mut directory)?;
        let mut msfz = Self {
            file,
            chunks,
            fragments: Vec::new(),
            streams: Vec::new(),
            unpacked: None,
        };
        msfz.read_directory(&directory, number(56)?, file_len)?;
        Ok(msfz)
    }

    fn read_directory(&mut self, directory: &[u8], count: u32, file_len: u64) -> Result<()> {
        // Bounded before the list is read.
        if count > MAX_STREAMS {
            return Err(Error::damaged(
                PART,
                56_u64,
                "more streams than there are numbers",
            ));
        }
        let in_chunks = self
            .chunks
            .last()
            .map_or(0, |last| last.unpacked_at + u64::from(last.unpacked_len));
        // Fragments may point at the same bytes again and again. The total size of all streams is
        // limited by the size of the data stored once.
        let mut left = in_chunks.saturating_add(file_len);
        let mut numbers = Cursor::new(directory);
        for _ in 0..count {
            let first = self.fragments.len();
            let mut stream_len = 0_u64;
            loop {
                let at = numbers.position();
                let ends = || Error::damaged(PART, at, "it ends inside a list of fragments");
                let len = numbers.u32().ok_or_else(ends)?;
                // A length of 0 ends the list. `NIL` in place of the first length means that the
                // stream does not exist.
                if len == 0 || (len == NIL && self.fragments.len() == first) {
                    break;
                }
                let location = numbers
                    .take(FRAGMENT_LEN - 4)
                    .and_then(|it| u64_at(it, 0))
                    .ok_or_else(ends)?;
                let past_end =
                    || Error::damaged(PART, at, "a fragment is past the end of the data");
                let place = self
                    .place(location, len, file_len, in_chunks)
                    .ok_or_else(past_end)?;
                let Some(rest) = left.checked_sub(u64::from(len)) else {
                    return Err(Error::damaged(PART, at, "streams are larger than the file"));
                };
                left = rest;
                self.fragments.push(Fragment {
                    start: stream_len,
                    len,
                    place,
                });
                stream_len += u64::from(len);
            }
            let len = u32::try_from(stream_len).map_err(|_| Error::TooLarge {
                size: stream_len,
                limit: u64::from(u32::MAX),
            })?;
            self.streams.push(Stream {
                len,
                fragments: first..self.fragments.len(),
            });
        }
        Ok(())
    }

    /// Returns the place of a fragment, if it is inside of the data.
    fn place(&self, location: u64, len: u32, file_len: u64, in_chunks: u64) -> Option<FragmentAt> {
        let (place, start, limit) = if location & IN_CHUNK == 0 {
            (FragmentAt::File(location), location, file_len)
        } else {
            let chunk = usize::try_from((location & !IN_CHUNK) >> 32).ok()?;
            // A chunk that does not exist is damage.
            let chunk = self.chunks.get(chunk)?;
            // A fragment may continue in the next chunk, so its end is compared with the end of all
            // chunks.
            let start = chunk.unpacked_at + (location & u64::from(u32::MAX));
            (FragmentAt::Chunks(start), start, in_chunks)
        };
        let end = start.checked_add(u64::from(len))?;
        (end <= limit).then_some(place)
    }

    /// Bytes of a stream; 0 if there is none.
    pub(super) fn len(&self, stream: u16) -> u32 {
        self.streams
            .get(usize::from(stream))
            .map_or(0, |stream| stream.len)
    }

    /// A part of a stream, cut at its end.
    pub(super) fn part(&mut self, stream: u16, start: u32, len: u32) -> Result<Vec<u8>> {
        // A stream that does not exist is empty.
        let Some(stream) = self.streams.get(usize::from(stream)) else {
            return Ok(Vec::new());
        };
        let start = start.min(stream.len);
        let mut bytes = vec![0; len.min(stream.len - start) as usize];
        let mut at = u64::from(start);
        let mut rest = bytes.as_mut_slice();
        let Range { start: from, end } = stream.fragments;
        let fragments = tail(front(&self.fragments, end), from);
        let first =
            // Fragments are sorted by their start in the stream.
            fragments.partition_point(|fragment| fragment.start + u64::from(fragment.len) <= at);
        for index in stream.fragments.clone().skip(first) {
            let Some(Fragment { start, len, place }) =
                self.fragments.get(index).filter(|_| !rest.is_empty())
            else {
                // Fragments behind the wanted bytes are not looked at.
                break;
            };
            // Only the first fragment can start before the wanted bytes.
            let skipped = at - start;
            let place = *place;
            let here = usize::try_from(u64::from(*len) - skipped)
                .unwrap_or(usize::MAX)
                .min(rest.len());
            let (head, tail) = std::mem::take(&mut rest).split_at_mut(here);
            match place {
                FragmentAt::File(begin) => read_at(&mut *self.file, begin + skipped, head)?,
                FragmentAt::Chunks(begin) => self.read_unpacked(begin + skipped, head)?,
            }
            (at, rest) = (at + here as u64, tail);
        }
        Ok(bytes)
    }

    /// Reads from all chunks as if they were unpacked one after the other.
    fn read_unpacked(&mut self, at: u64, bytes: &mut [u8]) -> Result<()> {
        let mut unpacked = match self.unpacked.take() {
            Some(file) => file,
            // Unpacked into a file and not into memory: large files unpack to gigabytes.
            None => tempfile::tempfile()?,
        };
        let read = read_chunks(&mut self.chunks, &mut *self.file, &mut unpacked, at, bytes);
        // Kept even if a chunk is damaged: others were unpacked into it.
        self.unpacked = Some(unpacked);
        read
    }
}

/// Unpacks the chunks that contain the bytes, unless that is done already, and reads the bytes.
fn read_chunks(
    chunks: &mut [Chunk],
    file: &mut dyn ReadSeek,
    unpacked: &mut File,
    at: u64,
    bytes: &mut [u8],
) -> Result<()> {
    let end = at + bytes.len() as u64;
    let first =
        chunks.partition_point(|chunk| chunk.unpacked_at + u64::from(chunk.unpacked_len) <= at);
    for chunk in chunks
        .iter_mut()
        .skip(first)
        .take_while(|chunk| chunk.unpacked_at < end)
    {
        // Each chunk is unpacked once, even if many streams have a part in it.
        if !chunk.is_unpacked {
            unpacked.seek(SeekFrom::Start(chunk.unpacked_at))?;
            chunk.packed().unpack(file, unpacked)?;
            chunk.is_unpacked = true;
        }
    }
    unpacked.seek(SeekFrom::Start(at))?;
    unpacked.read_exact(bytes)?;
    Ok(())
}

impl Chunk {
    fn read(entry: &[u8], unpacked_at: u64) -> Option<Self> {
        Some(Self {
            unpacked_at,
            packed_at: u64_at(entry, 0)?,
            method: u32_at(entry, 8)?,
            packed_len: u32_at(entry, 12)?,
            unpacked_len: u32_at(entry, 16)?,
            is_unpacked: false,
        })
    }

    fn packed(&self) -> Packed {
        let Self {
            packed_at,
            packed_len,
            unpacked_len,
            method,
            ..
        } = *self;
        Packed {
            at: packed_at,
            len: packed_len,
            unpacked_len,
            method,
        }
    }
}

/// The table of chunks, which is not compressed itself.
fn chunks(
    file: &mut dyn ReadSeek,
    at: u64,
    count: u32,
    len: u32,
    file_len: u64,
) -> Result<Vec<Chunk>> {
    const TABLE: &str = "table of compressed chunks";
    // Both numbers have to agree, or one of them is damage.
    if u64::from(count) * CHUNK_LEN as u64 != u64::from(len) {
        return Err(Error::damaged(
            TABLE,
            76_u64,
            "its length does not match the number of chunks",
        ));
    }
    if at
        .checked_add(u64::from(len))
        .is_none_or(|end| end > file_len)
        // Without chunks the offset is not used.
        && len > 0
    {
        return Err(Error::damaged(
            TABLE,
            48_u64,
            "it is past the end of the file",
        ));
    }
    let mut table = vec![0; len as usize];
    if len > 0 {
        read_at(file, at, &mut table)?;
    }
    // A small file must not unpack to any size; no compiler writes data that packs as well.
    let limit = file_len.saturating_mul(RATIO).max(RATIO_FROM);
    let mut chunks = Vec::new();
    let mut unpacked_at = 0_u64;
    for (nth, entry) in table.as_chunks::<CHUNK_LEN>().0.iter().enumerate() {
        let Some(chunk) = Chunk::read(entry, unpacked_at) else {
            return Err(Error::damaged(TABLE, nth * CHUNK_LEN, "it is cut off"));
        };
        if !chunk.packed().is_inside(file_len) {
            return Err(Error::damaged(
                TABLE,
                nth * CHUNK_LEN,
                "a chunk is past the end of the file",
            ));
        }
        unpacked_at += u64::from(chunk.unpacked_len);
        if unpacked_at > limit {
            return Err(Error::TooLarge {
                size: unpacked_at,
                limit,
            });
        }
        chunks.push(chunk);
    }
    Ok(chunks)
}

/// A range of the file that unpacks to other bytes.
struct Packed {
    at: u64,
    len: u32,
    unpacked_len: u32,
    method: u32,
}

impl Packed {
    fn is_inside(&self, file_len: u64) -> bool {
        self.at
            .checked_add(u64::from(self.len))
            .is_some_and(|end| end <= file_len)
    }

    /// Memory and time grow with the bytes that are really unpacked, not with the claimed size.
    fn unpack(&self, file: &mut dyn ReadSeek, out: &mut impl io::Write) -> Result<()> {
        file.seek(SeekFrom::Start(self.at))?;
        let mut packed = file.take(u64::from(self.len));
        let len = u64::from(self.unpacked_len);
        let copied = match self.method {
            STORED => io::copy(&mut packed.take(len), out),
            ZSTD => zstd::stream::read::Decoder::new(&mut packed)
                .and_then(|unpacked| io::copy(&mut unpacked.take(len), out)),
            DEFLATE => {
                // The decoder of this method needs all its input at once.
                let mut bytes = Vec::new();
                packed.read_to_end(&mut bytes)?;
                let limit = usize::try_from(len).unwrap_or(usize::MAX);
                let unpacked = miniz_oxide::inflate::decompress_to_vec_with_limit(&bytes, limit);
                let unpacked = unpacked.map_err(|error| Error::Decoder(error.to_string()))?;
                out.write_all(&unpacked).map(|()| unpacked.len() as u64)
            }
            _ => {
                return Err(Error::Unsupported(
                    "it is packed by a method that is not supported",
                ));
            }
        };
        // The decoder's error describes damage; an error of the file system is not damage.
        let copied = copied.map_err(|error| match error.kind() {
            io::ErrorKind::Other | io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => {
                Error::Decoder(error.to_string())
            }
            _ => Error::Io(error),
        })?;
        if copied != len {
            return Err(Error::damaged(
                "compressed chunk",
                self.at,
                "it unpacks to fewer bytes than it claims",
            ));
        }
        Ok(())
    }
}
