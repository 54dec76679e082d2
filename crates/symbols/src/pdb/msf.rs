//! The container of a PDB: a file of pages, over which streams are scattered.
//!
//! Layout: the multi-stream file format, as Microsoft's published sources of the debugger library
//! and the LLVM documentation describe it. The directory is checked as a whole before anything else
//! is read: no stream may use pages outside of the file, and all streams together cannot be larger
//! than the file. So a claimed size cannot cause a large allocation.

use std::io::{Read, Seek, SeekFrom};

use etwkit_etl::bytes::{Cursor, front, u32_at};

use crate::{Error, Result};

/// First bytes of every PDB since 1998.
pub const MAGIC: &[u8; 32] = b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0";

const SUPER_BLOCK_LEN: usize = 56;
const PART: &str = "directory of streams";

/// Bytes of a file.
pub trait ReadSeek: Read + Seek + Send {}
impl<T: Read + Seek + Send> ReadSeek for T {}

pub(super) struct Msf<'f> {
    file: Box<dyn ReadSeek + 'f>,
    page_len: u64,
    streams: Vec<Stream>,
}

struct Stream {
    len: u32,
    pages: Vec<u32>,
}

impl<'f> Msf<'f> {
    pub(super) fn open(mut file: Box<dyn ReadSeek + 'f>) -> Result<Self> {
        let file_len = file.seek(SeekFrom::End(0))?;
        let mut block =
            // A short file is read as far as it goes, and the numbers that are missing are
            // reported.
            vec![0; SUPER_BLOCK_LEN.min(usize::try_from(file_len).unwrap_or(SUPER_BLOCK_LEN))];
        read_at(&mut *file, 0, &mut block)?;
        let number = |at| {
            u32_at(&block, at).ok_or_else(|| Error::damaged(PART, at, "the first page is cut off"))
        };
        if !block.starts_with(MAGIC) {
            let found = front(&block, 16).escape_ascii();
            return Err(Error::OtherFile {
                expected: "a PDB",
                found: format!("\"{found}\""),
            });
        }
        // The number at 36 is the map of free pages, which only a writer needs.
        let (page_len, page_count, directory_len) =
            (u64::from(number(32)?), u64::from(number(40)?), number(44)?);
        // Pages of other sizes do not exist, and a size of zero would never end.
        if !page_len.is_power_of_two() || !(512..=1 << 16).contains(&page_len) {
            return Err(Error::damaged(PART, 32_u64, "no size of a page"));
        }
        // Before anything is allocated by these numbers.
        if page_count.saturating_mul(page_len) > file_len {
            return Err(Error::damaged(
                PART,
                40_u64,
                "the file is cut off: it has fewer pages than it claims",
            ));
        }
        let mut msf = Self {
            file,
            page_len,
            streams: Vec::new(),
        };
        let directory = msf.directory(directory_len, page_count)?;
        msf.streams = streams(&directory, page_len, page_count)?;
        Ok(msf)
    }

    /// The directory, which is found through a list of its pages. This list may itself take several
    /// pages.
    fn directory(&mut self, len: u32, page_count: u64) -> Result<Vec<u8>> {
        let pages = u64::from(len).div_ceil(self.page_len);
        let map_pages = (pages * 4).div_ceil(self.page_len);
        // The list of pages of the directory's own list is in the first page, after the fields of
        // the super block, and nowhere else.
        let too_large = || Error::damaged(PART, 44_u64, "it is larger than the file");
        // The directory cannot have more pages than the file.
        if pages > page_count || map_pages * 4 > self.page_len {
            return Err(too_large());
        }
        let roots_len = usize::try_from(map_pages * 4).map_err(|_| too_large())?;
        let map_len = u32::try_from(pages * 4).map_err(|_| too_large())?;
        let mut roots = vec![0; roots_len];
        read_at(&mut *self.file, 52, &mut roots)?;
        let mut roots = Cursor::new(&roots);
        let map = Stream::of(&mut roots, map_len, self.page_len, page_count)?;
        let map = self.read_pages(&map, 0, map.len)?;
        let stream = Stream::of(&mut Cursor::new(&map), len, self.page_len, page_count)?;
        self.read_pages(&stream, 0, len)
    }

    /// Bytes of a stream; 0 if there is none.
    pub(super) fn len(&self, stream: u16) -> u32 {
        self.streams
            .get(usize::from(stream))
            .map_or(0, |stream| stream.len)
    }

    /// A part of a stream, cut at its end.
    pub(super) fn part(&mut self, stream: u16, start: u32, len: u32) -> Result<Vec<u8>> {
        // Taken out while reading, which needs the file mutably. Put back below, also after an
        // error.
        let streams = std::mem::take(&mut self.streams);
        let bytes = match streams.get(usize::from(stream)) {
            Some(stream) => {
                // Cut at the end of the stream, whatever the caller asks for.
                let start = start.min(stream.len);
                self.read_pages(stream, start, len.min(stream.len - start))
            }
            None => Ok(Vec::new()),
        };
        self.streams = streams;
        bytes
    }

    fn read_pages(&mut self, stream: &Stream, start: u32, len: u32) -> Result<Vec<u8>> {
        let mut bytes = vec![0; len as usize];
        let mut at = u64::from(start);
        let mut rest = bytes.as_mut_slice();
        while !rest.is_empty() {
            let index = usize::try_from(at / self.page_len).unwrap_or(usize::MAX);
            let Some((first, more)) = stream.pages.get(index..).and_then(<[u32]>::split_first)
            else {
                return Err(Error::damaged(
                    PART,
                    at,
                    "a stream has fewer pages than bytes",
                ));
            };
            // Streams of large files have hundreds of thousands of pages, most of them in order.
            // Pages that follow each other in the file are read at once.
            let run = 1
                + (1..)
                    .zip(more)
                    .take_while(|(nth, page)| u64::from(**page) == u64::from(*first) + nth)
                    .count() as u64;
            let inside = at % self.page_len;
            let here = usize::try_from(run * self.page_len - inside)
                .unwrap_or(usize::MAX)
                .min(rest.len());
            let (head, tail) = rest.split_at_mut(here);
            read_at(
                &mut *self.file,
                u64::from(*first) * self.page_len + inside,
                head,
            )?;
            (at, rest) = (at + here as u64, tail);
        }
        Ok(bytes)
    }
}

impl Stream {
    fn of(numbers: &mut Cursor<'_>, len: u32, page_len: u64, page_count: u64) -> Result<Self> {
        let count = usize::try_from(u64::from(len).div_ceil(page_len)).unwrap_or(usize::MAX);
        let at = numbers.position();
        let Some(list) = numbers.take(count.saturating_mul(4)) else {
            return Err(Error::damaged(PART, at, "it ends inside a list of pages"));
        };
        let pages: Vec<u32> = list
            .as_chunks::<4>()
            .0
            .iter()
            .map(|page| u32::from_le_bytes(*page))
            .collect();
        // Checked once, so that reading needs no further check.
        if pages.iter().any(|page| u64::from(*page) >= page_count) {
            return Err(Error::damaged(
                PART,
                at,
                "a page is past the end of the file",
            ));
        }
        Ok(Self { len, pages })
    }
}

fn streams(directory: &[u8], page_len: u64, page_count: u64) -> Result<Vec<Stream>> {
    let mut numbers = Cursor::new(directory);
    let Some(count) = numbers.u32() else {
        return Err(Error::damaged(PART, 0_u64, "it is empty"));
    };
    let Some(lens) = numbers.take((count as usize).saturating_mul(4)) else {
        return Err(Error::damaged(
            PART,
            0_u64,
            "more streams than it has room for",
        ));
    };
    // A stream that was removed has a size of −1.
    let lens: Vec<u32> = lens
        .as_chunks::<4>()
        .0
        .iter()
        .map(|len| u32::from_le_bytes(*len))
        .map(|len| if len == u32::MAX { 0 } else { len })
        .collect();
    // Several streams could name the same pages; together they must not be larger than the file.
    if lens.iter().map(|len| u64::from(*len)).sum::<u64>() > page_count * page_len {
        return Err(Error::damaged(
            PART,
            4_u64,
            "streams are larger than the file",
        ));
    }
    lens.into_iter()
        .map(|len| Stream::of(&mut numbers, len, page_len, page_count))
        .collect()
}

pub(super) fn read_at(file: &mut dyn ReadSeek, at: u64, bytes: &mut [u8]) -> Result<()> {
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(bytes)?;
    Ok(())
}
