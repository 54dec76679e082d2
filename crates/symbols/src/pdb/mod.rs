//! PDB files, plain or compressed (MSFZ): functions, public symbols, lines, inlined functions.
//!
//! Parsed by hand and not with a library, because files from unknown sources must neither panic nor
//! overflow a stack, and because only the needed parts should be read. A PDB has no checksum: if
//! damage leaves its structure valid, the damaged part may give wrong names.

mod compile;
mod dbi;
mod inlines;
mod lines;
mod msf;
mod msfz;
mod records;
mod rows;
mod streams;
mod stubs;
mod types;

use etwkit_etl::Guid;

pub use msf::{MAGIC, ReadSeek};
pub(crate) use msfz::is_msfz;

use crate::Result;
use crate::table::SymbolTable;

/// An open PDB.
pub struct Pdb<'f> {
    msf: streams::Streams<'f>,
    guid: Guid,
    age: u32,
    damage: Vec<String>,
}

impl<'f> Pdb<'f> {
    /// Reads the directory and the identity.
    ///
    /// # Errors
    /// If it is not a PDB, or cut off.
    pub fn open(file: impl ReadSeek + 'f) -> Result<Self> {
        let mut msf = streams::Streams::open(Box::new(file))?;
        let (guid, age) = dbi::identity(&mut msf)?;
        Ok(Self {
            msf,
            guid,
            age,
            damage: Vec::new(),
        })
    }

    /// GUID and age that the image of this build has.
    #[must_use]
    pub const fn identity(&self) -> (Guid, u32) {
        (self.guid, self.age)
    }

    /// The parts of the last table that could not be read to their ends.
    #[must_use]
    pub fn damage(&self) -> &[String] {
        &self.damage
    }

    /// Everything it names.
    ///
    /// # Errors
    /// If a part that everything depends on is damaged or missing. Of a damaged compiland the
    /// readable part is used, and [`Pdb::damage`] has its name.
    pub fn table(&mut self) -> Result<SymbolTable> {
        compile::table(self, None)
    }

    /// A table of the functions in the compilands that contain one of the addresses, and of all
    /// public symbols. This is much less work for a few addresses in a large file.
    ///
    /// # Errors
    /// See [`Pdb::table`].
    pub fn table_of(&mut self, sorted_rvas: &[u32]) -> Result<SymbolTable> {
        compile::table(self, Some(sorted_rvas))
    }
}
