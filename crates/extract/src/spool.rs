//! Members of archives become temporary files.
//!
//! The files have no name (on Unix) or are deleted when they are closed (on Windows). So no file is
//! left over, and the names in an archive never reach the file system.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::options::{Limits, Options};
use crate::{AtLeast, Error, Result};

/// The rest of the limits, over all inputs of one call.
pub(crate) struct Spool {
    dir: PathBuf,
    limits: Limits,
    left: u64,
    members: usize,
}

/// A member to unpack.
pub(crate) struct Packed<'a> {
    pub(crate) archive: &'a str,
    pub(crate) member: &'a str,
    /// Size by the archive's directory: no byte more is written.
    pub(crate) size: u64,
    /// Its bytes in the archive (the whole archive, if members are packed together).
    pub(crate) packed: u64,
}

impl Spool {
    pub(crate) fn new(options: &Options) -> Self {
        let limits = options.limits;
        Self {
            dir: options.spool_dir(),
            limits,
            left: limits.total_bytes,
            members: 0,
        }
    }

    /// A spool with separate limits, for files that are unpacked into a folder under their names.
    pub(crate) fn of_folder(dir: &Path, limits: Limits) -> Self {
        Self {
            dir: dir.to_owned(),
            limits,
            left: limits.total_bytes,
            members: 0,
        }
    }

    /// Refuses a member before anything of it is unpacked.
    pub(crate) fn admit(&mut self, packed: &Packed<'_>) -> Result<()> {
        let archive = packed.archive.to_owned();
        let member = packed.member.to_owned();
        let bytes = packed.size;
        let ratio = self.limits.ratio;
        // Counted before the sizes: millions of empty members are an attack as well.
        self.count(packed.archive)?;
        // A ratio alone is no sign of malice: a few bytes pack very well, hence the minimum size
        // for the check.
        if bytes > self.limits.ratio_from_bytes && bytes / packed.packed.max(1) > ratio {
            return Err(Error::Bomb {
                archive,
                member,
                packed: packed.packed,
                bytes,
                at_least: AtLeast(false),
                ratio,
            });
        }
        // By the size that the archive claims, before a byte is unpacked.
        self.fits(packed)?;
        // Checked once, although other programs may fill the disk later: the message is better than
        // that of a write that fails.
        if let Some(free) = free_bytes(&self.dir).filter(|free| *free < bytes) {
            return Err(Error::NoSpace {
                dir: self.dir.clone(),
                member,
                bytes,
                free,
            });
        }
        // Reserved before anything is unpacked, so that members that are each small enough cannot
        // be too large together.
        self.left -= bytes;
        Ok(())
    }

    /// Counts one more member.
    fn count(&mut self, archive: &str) -> Result<()> {
        // Refused members count as well, as each of them costs time.
        self.members += 1;
        if self.members <= self.limits.members {
            return Ok(());
        }
        Err(Error::TooMany {
            archive: archive.to_owned(),
            found: self.members,
            limit: self.limits.members,
        })
    }

    /// Begins a member whose size is not known before it is unpacked. `packed` is the size of all
    /// packed bytes.
    pub(crate) fn begin<'a>(
        &'a mut self,
        archive: &'a str,
        member: &str,
        packed: u64,
    ) -> Result<Growing<'a>> {
        self.count(archive)?;
        Ok(Growing {
            file: self.temporary()?,
            spool: self,
            archive,
            member: member.to_owned(),
            packed,
            size: 0,
        })
    }

    fn temporary(&self) -> Result<File> {
        // A temporary file without a name, which the system removes even if the program is killed.
        tempfile::tempfile_in(&self.dir).map_err(|source| Error::Spool {
            dir: self.dir.clone(),
            source,
        })
    }

    /// Refuses a member that is larger than the rest of the limit. Nothing is reserved.
    pub(crate) fn fits(&self, packed: &Packed<'_>) -> Result<()> {
        if packed.size <= self.left {
            return Ok(());
        }
        Err(Error::TooLarge {
            archive: packed.archive.to_owned(),
            member: packed.member.to_owned(),
            bytes: packed.size,
            at_least: AtLeast(false),
            left: self.left,
            limit: self.limits.total_bytes,
        })
    }

    /// Unpacks an admitted member into a temporary file.
    pub(crate) fn unpack(&self, packed: &Packed<'_>, from: &mut dyn Read) -> Result<File> {
        let mut file = self.temporary()?;
        self.copy(packed, from, &mut file)?;
        Ok(file)
    }

    /// Unpacks an admitted member.
    pub(crate) fn copy(
        &self,
        packed: &Packed<'_>,
        from: &mut dyn Read,
        file: &mut File,
    ) -> Result<()> {
        let spool_error = |source| Error::Spool {
            dir: self.dir.clone(),
            source,
        };
        // One byte more than declared: this reveals a member that is longer, and lets the unpacker
        // verify the checksum.
        let mut from = from.take(packed.size.saturating_add(1));
        // Not larger than the member: an archive may hold many small ones.
        let mut chunk = vec![0; packed.size.saturating_add(1).min(1 << 18) as usize];
        let mut done = 0u64;
        loop {
            let len = match from.read(&mut chunk) {
                Ok(0) if done == packed.size => return Ok(()),
                Ok(0) => return Err(damaged(packed, done, io::ErrorKind::UnexpectedEof.into())),
                Ok(len) => len,
                // A signal is no damage.
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(damaged(packed, done, e)),
            };
            done += len as u64;
            if done > packed.size {
                return Err(damaged(
                    packed,
                    packed.size,
                    io::Error::other("the member is longer than that"),
                ));
            }
            let (read, _) = chunk.split_at(len);
            file.write_all(read).map_err(spool_error)?;
        }
    }
}

/// A temporary file that grows while a member of unknown size is unpacked.
pub(crate) struct Growing<'a> {
    spool: &'a mut Spool,
    file: File,
    archive: &'a str,
    member: String,
    packed: u64,
    size: u64,
}

impl Growing<'_> {
    /// Adds unpacked bytes, unless the member grows beyond the limits.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let Limits {
            ratio,
            ratio_from_bytes,
            total_bytes,
            ..
        } = self.spool.limits;
        let len = bytes.len() as u64;
        let size = self.size + bytes.len() as u64;
        // The ratio is checked while it grows: the size is known only at the end.
        if size > ratio_from_bytes && size / self.packed.max(1) > ratio {
            return Err(Error::Bomb {
                archive: self.archive.to_owned(),
                member: self.member.clone(),
                packed: self.packed,
                bytes: size,
                at_least: AtLeast(true),
                ratio,
            });
        }
        // Nothing is written beyond the limit, so that the disk is never filled by an archive.
        let Some(left) = self.spool.left.checked_sub(len) else {
            return Err(Error::TooLarge {
                archive: self.archive.to_owned(),
                member: self.member.clone(),
                bytes: size,
                at_least: AtLeast(true),
                left: self.spool.left + self.size,
                limit: total_bytes,
            });
        };
        self.file.write_all(bytes).map_err(|source| Error::Spool {
            dir: self.spool.dir.clone(),
            source,
        })?;
        self.spool.left = left;
        self.size = size;
        Ok(())
    }

    /// Bytes so far.
    pub(crate) const fn size(&self) -> u64 {
        self.size
    }

    /// The file and its size.
    pub(crate) fn finish(self) -> (File, u64) {
        (self.file, self.size)
    }
}

fn damaged(packed: &Packed<'_>, position: u64, source: io::Error) -> Error {
    Error::DamagedArchive {
        archive: packed.archive.to_owned(),
        member: Some(packed.member.to_owned()),
        position,
        expected: format!("{} intact bytes as its directory says", packed.size),
        source: source.into(),
    }
}

/// Bytes that may be written in `dir`, if the system reports them.
#[cfg(unix)]
fn free_bytes(dir: &Path) -> Option<u64> {
    let fs = rustix::fs::statvfs(dir).ok()?;
    fs.f_bavail.checked_mul(fs.f_frsize)
}

/// Unknown here; a full disk is noticed when writing fails.
#[cfg(not(unix))]
fn free_bytes(_dir: &Path) -> Option<u64> {
    None
}
