//! Portable PDB files of .NET: methods by metadata token, and from IL offsets to lines.
//!
//! A portable PDB knows neither the names of methods, which the metadata of the assembly has, nor native
//! addresses: it answers a pair of token and IL offset, which the events of the runtime name. It lies beside
//! the assembly, in a store, or packed inside of the assembly. Layout: the Portable PDB specification
//! of .NET and ECMA-335, partition II.

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

/// Bytes of a portable PDB; the largest known have 30 MiB.
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
    /// Path, as the compiler had it.
    pub file: String,
    /// Counted from 1.
    pub line: u32,
}

/// GUID of the build. There is no age.
pub(crate) fn identity_of(file: &mut impl Read) -> Result<Guid> {
    let mut bytes = Vec::new();
    file.take(MAX_LEN).read_to_end(&mut bytes)?;
    Ok(Portable::open(bytes)?.guid())
}

impl Portable {
    /// Reads the directory of tables.
    ///
    /// # Errors
    /// If it is no portable PDB, or damaged.
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

    /// Where the code at an IL offset of a method comes from. `token` is that of the method (`0x06……`).
    /// `None` for unknown methods and for code that the compiler made up.
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
