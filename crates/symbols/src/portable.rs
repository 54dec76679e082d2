//! Portable PDB files of .NET: methods by metadata token, and from IL offsets to lines.
//!
//! A portable PDB contains neither the names of methods, which are in the metadata of the assembly,
//! nor native addresses. It maps a pair of token and IL offset, which the events of the runtime
//! contain, to a source line. It is stored next to the assembly, in a store, or packed inside the
//! assembly. Layout: the Portable PDB specification of .NET and ECMA-335, partition II.

mod embedded;
mod metadata;
mod points;

use std::io::Read;

use etwkit_etl::Guid;

pub use embedded::embedded;

use crate::{Error, Result};
use metadata::Metadata;

/// First bytes of the file.
pub const MAGIC: &[u8] = b"BSJB";

/// Maximum bytes of a portable PDB; the largest known ones have 30 MiB.
const MAX_LEN: u64 = 1 << 30;

/// An open portable PDB.
#[derive(Debug)]
pub struct Portable {
    bytes: Vec<u8>,
    metadata: Metadata,
}

/// A line of a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    /// Path, as the compiler recorded it.
    pub file: String,
    /// Counted from 1.
    pub line: u32,
}

/// GUID of the build. Portable PDB files have no age.
pub(crate) fn identity_of(file: &mut impl Read) -> Result<Guid> {
    let mut bytes = Vec::new();
    file.take(MAX_LEN).read_to_end(&mut bytes)?;
    Ok(Portable::open(bytes)?.guid())
}

impl Portable {
    /// Reads the directory of tables.
    ///
    /// # Errors
    /// If it is not a portable PDB, or damaged.
    pub fn open(bytes: Vec<u8>) -> Result<Self> {
        if bytes.len() as u64 >= MAX_LEN {
            return Err(Error::TooLarge {
                size: bytes.len() as u64,
                limit: MAX_LEN,
            });
        }
        let metadata = Metadata::read(&bytes)?;
        Ok(Self { bytes, metadata })
    }

    /// GUID of the build.
    #[must_use]
    pub const fn guid(&self) -> Guid {
        self.metadata.guid
    }

    /// Source file and line of the code at an IL offset of a method. `token` is the method's token
    /// (`0x06……`). `None` for unknown methods and for code that the compiler generated.
    #[must_use]
    pub fn source_line(&self, token: u32, il_offset: u32) -> Option<SourceLine> {
        let row = (token >> 24 == 6).then_some(token & 0xFF_FFFF)?;
        let (document, blob) = self.metadata.method(&self.bytes, row)?;
        let (document, line) =
            points::line_at(self.metadata.blob(&self.bytes, blob)?, document, il_offset)?;
        Some(SourceLine {
            file: self.metadata.document(&self.bytes, document)?,
            line,
        })
    }
}
