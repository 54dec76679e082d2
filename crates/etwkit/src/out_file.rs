//! Files that commands write: under another name until they are complete.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use tempfile::NamedTempFile;

/// Refuses a file that is there, unless it may be overwritten.
pub(crate) fn check(path: &Path, force: bool) -> anyhow::Result<()> {
    if path.exists() && !force {
        bail!("{} exists; --force overwrites it", path.display());
    }
    Ok(())
}

/// Gives the file its name.
pub(crate) fn keep(file: NamedTempFile, path: &Path, force: bool) -> anyhow::Result<()> {
    let kept = if force { file.persist(path) } else { file.persist_noclobber(path) };
    kept.with_context(|| cannot(path))?;
    Ok(())
}

/// What is said when a file cannot be written.
pub(crate) fn cannot(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

/// A file in the folder of another one, so that renaming it does not copy it. It goes away unless it is kept.
pub(crate) fn temporary_beside(path: &Path) -> anyhow::Result<NamedTempFile> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = parent.map_or_else(|| PathBuf::from("."), Path::to_path_buf);
    let mut builder = tempfile::Builder::new();
    builder.prefix(".etwkit-").suffix(".part");
    // Readable for others as far as the user's mask allows, like any file; temporary ones usually are not.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(&folder).with_context(|| format!("cannot write into {}", folder.display()))
}
