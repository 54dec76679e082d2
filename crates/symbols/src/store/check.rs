//! Checks that a file is the requested one.

use std::fs::{self, File};
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use etwkit_etl::bytes::front;

use crate::image::{Image, ImageIdentity};
use crate::pdb::Pdb;
use crate::portable::Portable;
use crate::{Error, Identity, Result, breakpad, pdb, portable};

/// Maximum bytes of an assembly that is read for the symbol file that it carries.
const MAX_ASSEMBLY: u64 = 1 << 29;

/// Kinds of symbol files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SymbolFileKind {
    /// A PDB of native code, or of .NET before portable ones.
    Pdb,
    /// A PDB in the compressed container of symbol servers.
    CompressedPdb,
    /// A portable PDB of .NET.
    Portable,
    /// Text symbols of Breakpad.
    Breakpad,
    /// An image, which names its symbol file.
    Image,
    /// A .NET assembly that carries its portable PDB.
    Carrier,
}

/// Checks a file against the identity and returns its kind, which its first bytes determine.
///
/// # Errors
/// If it is neither kind of symbol file, cannot be read, or belongs to another build.
pub(super) fn symbols(path: &Path, identity: &Identity) -> Result<SymbolFileKind> {
    let mut file = BufReader::new(open(path)?);
    let mut begin = Vec::new();
    file.by_ref().take(64).read_to_end(&mut begin)?;
    file.seek(SeekFrom::Start(0))?;
    if begin.starts_with(portable::MAGIC) {
        // Portable PDB files have no age to compare.
        identity.check_guid(portable::identity_of(&mut file)?)?;
        return Ok(SymbolFileKind::Portable);
    }
    if begin.starts_with(breakpad::MAGIC) {
        let (guid, age) = breakpad::identity(&mut file)?;
        identity.check(guid, age)?;
        return Ok(SymbolFileKind::Breakpad);
    }
    let kind = if pdb::is_msfz(&begin) {
        SymbolFileKind::CompressedPdb
    } else {
        SymbolFileKind::Pdb
    };
    if kind == SymbolFileKind::Pdb && !begin.starts_with(front(pdb::MAGIC, 24)) {
        let found = front(&begin, 24).escape_ascii();
        return Err(Error::OtherFile {
            expected: "a symbol file",
            found: format!("\"{found}\""),
        });
    }
    let (guid, age) = Pdb::open(file)?.identity();
    identity.check(guid, age)?;
    Ok(kind)
}

/// Checks that the file is the right image.
///
/// # Errors
/// If it is not an image, is damaged, or belongs to another build.
pub(super) fn image(path: &Path, wanted: &ImageIdentity) -> Result<SymbolFileKind> {
    wanted
        .check(&Image::open(open(path)?)?)
        .map(|()| SymbolFileKind::Image)
}

/// Checks that the file carries the right portable PDB.
///
/// # Errors
/// If it carries none, is damaged, or carries that of another build.
pub(super) fn carrier(path: &Path, wanted: &Identity) -> Result<SymbolFileKind> {
    wanted
        .check_guid(carried(path)?.guid())
        .map(|()| SymbolFileKind::Carrier)
}

/// The portable PDB that an assembly carries.
///
/// # Errors
/// If it carries none, or is damaged.
pub(crate) fn carried(path: &Path) -> Result<Portable> {
    let size = open(path)?.metadata()?.len();
    if size >= MAX_ASSEMBLY {
        return Err(Error::TooLarge {
            size,
            limit: MAX_ASSEMBLY,
        });
    }
    let packed = portable::embedded(&fs::read(path)?)?;
    Portable::open(packed.ok_or(Error::Unsupported("it carries no portable PDB"))?)
}

fn open(path: &Path) -> Result<File> {
    // Checked before opening: opening a pipe waits for its writer.
    if !path.metadata()?.is_file() {
        return Err(Error::Unsupported("it is not a regular file"));
    }
    Ok(File::open(path)?)
}
