//! Refusal of lakes where only the files of an extract help, and of addresses everywhere.

use std::path::{Path, PathBuf};

use etwkit_extract::lake::{is_lake, refuse_unknown, split};

use crate::{Error, Result};

/// Returns an error if one of these paths is a lake or a run of one. `who` does not open them, and `hint`
/// says what can be done instead.
///
/// # Errors
/// One of them is.
pub fn refuse_lakes<'p>(
    paths: impl IntoIterator<Item = &'p PathBuf>,
    who: &str,
    hint: &'static str,
) -> Result<()> {
    let mut paths = paths.into_iter();
    match paths.find(|path| is_of_lake(path)) {
        Some(path) => Err(Error::Named {
            message: format!("{who} does not open the runs of a lake: {}", path.display()),
            hint: hint.into(),
            source: None,
        }),
        None => Ok(()),
    }
}

/// Returns an error if a path is the address of a store that etwkit does not open. As a path it would
/// only be missing, and as a pattern match nothing. A file can have any name, even that of an address.
///
/// # Errors
/// It is such an address.
pub fn refuse_address(path: &Path) -> Result<()> {
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    Ok(refuse_unknown(path)?)
}

/// Returns `true` for a lake, and for a run of one.
pub(crate) fn is_of_lake(path: &Path) -> bool {
    is_lake(path) || split(path).is_some()
}
