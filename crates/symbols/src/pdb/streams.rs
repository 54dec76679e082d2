//! The streams of a PDB, in either of the two containers.

use std::io::{Seek, SeekFrom};

use super::msf::{Msf, ReadSeek, read_at};
use super::msfz::{self, Msfz};
use crate::Result;

/// Numbered streams of bytes.
pub(super) enum Streams<'f> {
    /// Streams in pages.
    Pages(Msf<'f>),
    /// Packed in chunks.
    Chunks(Msfz<'f>),
}

impl<'f> Streams<'f> {
    /// Reads the directory.
    pub(super) fn open(mut file: Box<dyn ReadSeek + 'f>) -> Result<Self> {
        let len = file.seek(SeekFrom::End(0))?;
        let mut begin = vec![
            0;
            msfz::MAGIC
                .len()
                .min(usize::try_from(len).unwrap_or(msfz::MAGIC.len()))
        ];
        // Only as much as the longest mark.
        read_at(&mut *file, 0, &mut begin)?;
        if msfz::is_msfz(&begin) {
            Msfz::open(file).map(Self::Chunks)
        } else {
            Msf::open(file).map(Self::Pages)
        }
    }

    /// Bytes of a stream; 0 if there is none.
    pub(super) fn len(&self, stream: u16) -> u32 {
        match self {
            Self::Pages(msf) => msf.len(stream),
            Self::Chunks(msfz) => msfz.len(stream),
        }
    }

    /// The whole stream; empty if there is none.
    pub(super) fn stream(&mut self, stream: u16) -> Result<Vec<u8>> {
        self.part(stream, 0, self.len(stream))
    }

    /// A part of a stream, cut at its end.
    pub(super) fn part(&mut self, stream: u16, start: u32, len: u32) -> Result<Vec<u8>> {
        match self {
            Self::Pages(msf) => msf.part(stream, start, len),
            Self::Chunks(msfz) => msfz.part(stream, start, len),
        }
    }
}
