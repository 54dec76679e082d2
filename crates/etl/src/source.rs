//! Sources of the bytes of a file.

use std::io;

use crate::bytes::tail;

/// Random access to the bytes of one file.
///
/// A mapped file returns slices; a network file, or a file that still grows, is read by position.
/// Readers must tolerate a file that shrinks while they read.
pub trait ByteSource: Send + Sync {
    /// Length in bytes when the file was opened.
    fn size(&self) -> u64;

    /// All bytes, if they are in memory or mapped.
    fn mapped(&self) -> Option<&[u8]> {
        None
    }

    /// Fills `buf` from `offset`; returns how many bytes there were (fewer only at the end of the
    /// file).
    ///
    /// # Errors
    /// The error of the operating system.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize>;
}

impl<T: AsRef<[u8]> + Send + Sync> ByteSource for T {
    fn size(&self) -> u64 {
        self.as_ref().len() as u64
    }

    fn mapped(&self) -> Option<&[u8]> {
        Some(self.as_ref())
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let all = self.as_ref();
        let rest = tail(all, usize::try_from(offset).unwrap_or(usize::MAX));
        let len = rest.len().min(buf.len());
        if let (Some(to), Some(from)) = (buf.get_mut(..len), rest.get(..len)) {
            to.copy_from_slice(from);
        }
        Ok(len)
    }
}
