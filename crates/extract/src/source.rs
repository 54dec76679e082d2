//! Bytes of one file: mapped, or read by position.

use std::fs::File;
use std::io;
use std::sync::Arc;

use etwkit_etl::source::ByteSource;
use memmap2::Mmap;

/// An opened file, cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Source(Arc<Bytes>);

#[derive(Debug)]
struct Bytes {
    // Unmapped before the file is closed: a temporary file that Windows deletes on close must not
    // be mapped.
    map: Option<Mmap>,
    file: File,
    size: u64,
}

impl Source {
    /// Takes a file of `size` bytes. If mapping fails (a 32-bit system and a large file), it is
    /// read by position.
    pub(crate) fn new(file: File, size: u64, mmap: bool) -> Self {
        let map = if mmap && size > 0 {
            map(&file).ok()
        } else {
            None
        };
        Self(Arc::new(Bytes { map, file, size }))
    }
}

impl ByteSource for Source {
    fn size(&self) -> u64 {
        self.0
            .map
            .as_deref()
            .map_or(self.0.size, |all| all.len() as u64)
    }

    fn mapped(&self) -> Option<&[u8]> {
        self.0.map.as_deref()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        if let Some(all) = self.0.map.as_deref() {
            return all.read_at(offset, buf);
        }
        if offset >= self.0.size {
            return Ok(0);
        }
        // A read may return fewer bytes than requested, which readers of buffers would mistake for
        // the end of the file.
        let mut done = 0;
        while let Some(rest) = buf.get_mut(done..).filter(|rest| !rest.is_empty()) {
            match read_once(&self.0.file, rest, offset + done as u64) {
                Ok(0) => break,
                Ok(len) => done += len,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(done)
    }
}

#[cfg(unix)]
fn read_once(file: &File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buf, offset)
}

#[cfg(windows)]
fn read_once(file: &File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buf, offset)
}

/// The one unsafe block of the workspace.
#[expect(unsafe_code, reason = "mapping a file is what makes reading it cheap")]
fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the mapping is private to this process, read-only, and unmapped when its last user is
    // gone (`Mmap` owns it; slices borrow from it). The compiler cannot know that no other process
    // changes the file while it is mapped. Readers treat every byte as untrusted and copy values
    // before they base a decision on them, so changed bytes give damage reports, not undefined
    // lengths. A file that is cut while mapped ends the process with a bus error. Files of network
    // and user-space file systems, where that happens by itself, are not mapped (see `is_remote`),
    // and `Options::mmap` turns mapping off.
    unsafe { Mmap::map(file) }
}

/// True if the file is on a network or user-space file system, where it can vanish while it is
/// mapped.
#[cfg(target_os = "linux")]
pub(crate) fn is_remote(file: &File, _path: &std::path::Path) -> bool {
    /// `f_type` of NFS, SMB, CIFS, SMB2, FUSE, 9P, AFS, Ceph.
    const REMOTE: [u32; 8] = [
        0x6969,
        0x517B,
        0xFF53_4D42,
        0xFE53_4D42,
        0x6573_5546,
        0x0102_1997,
        0x5346_414F,
        0x00C3_6400,
    ];
    rustix::fs::fstatfs(file).is_ok_and(|fs| REMOTE.contains(&(fs.f_type as u32)))
}

/// True if the file has a network path.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_remote(_file: &File, path: &std::path::Path) -> bool {
    use std::path::{Component, Prefix};
    matches!(path.components().next(), Some(Component::Prefix(prefix))
        if matches!(prefix.kind(), Prefix::UNC(..) | Prefix::VerbatimUNC(..)))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn positions_read_like_a_map() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let map = Source::new(file.try_clone().unwrap(), 10, true);
        let positions = Source::new(file, 10, false);
        assert!(map.mapped().is_some() && positions.mapped().is_none());
        for (offset, want) in [
            (0, &b"0123"[..]),
            (8, b"89"),
            (10, b""),
            (u64::MAX >> 1, b""),
        ] {
            for source in [&map, &positions] {
                let mut buf = [0; 4];
                let len = source.read_at(offset, &mut buf).unwrap();
                assert_eq!(&buf[..len], want);
                assert_eq!(source.size(), 10);
            }
        }
    }
}
