//! Files of rules that a user names.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use etwkit_question::Files;
use etwkit_sql::xml;

use crate::{Error, Result};

/// Maximum number of bytes of a file that are read; the parsers refuse much smaller ones.
const MAX_BYTES: u64 = 64 << 20;

/// Returns the bytes of a file of rules, and no more of them than a parser accepts.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?
        .take(MAX_BYTES)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a file of rules with the parser of its kind, which gets the name for its errors.
///
/// # Errors
/// The file cannot be read, or is not a file of rules.
pub fn read_rules<R>(
    file: &Path,
    parse: impl Fn(&str, &[u8]) -> std::result::Result<R, xml::FileError>,
) -> Result<R> {
    let bytes = read(file).map_err(Error::system("read", file))?;
    Ok(parse(&file.display().to_string(), &bytes)?)
}

/// Access to files on disk and environment variables of this process.
#[derive(Debug, Clone, Copy, Default)]
pub struct DiskFiles;

impl Files for DiskFiles {
    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        read(&PathBuf::from(name))
    }

    fn named_by(&self, variable: &str) -> Option<String> {
        std::env::var(variable).ok().filter(|file| !file.is_empty())
    }
}
