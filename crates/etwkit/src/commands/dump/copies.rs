//! Copies of recordings into a folder.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::out_file::all_different;

/// Result of copying recordings into a folder.
#[derive(Debug)]
pub(super) struct Copied {
    /// Files and extracts in the folder.
    pub(super) count: usize,
    /// Links, pipes and devices, which were not copied.
    pub(super) left_out: Vec<PathBuf>,
}

/// Copies files, and extracts with all that is in them, into a folder. A path for which `is_named`
/// holds was given on a command line and may be a link. A path that was found in a folder may not:
/// another user's link could point to any file of this system, and a pipe would wait for its
/// writer.
///
/// # Errors
/// Two recordings would have one name, one exists already and `overwrite` does not allow to replace
/// it, or a file cannot be written.
pub(super) fn copy_into(
    folder: &Path,
    recordings: impl Iterator<Item = PathBuf>,
    is_named: impl Fn(&Path) -> bool,
    overwrite: bool,
) -> anyhow::Result<Copied> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create {}", folder.display()))?;
    let (chosen, mut left_out): (Vec<_>, Vec<_>) =
        recordings.partition(|from| is_named(from) || is_plain(from));
    let targets: Vec<PathBuf> = chosen
        .iter()
        .map(|from| target(from, folder))
        .collect::<anyhow::Result<_>>()?;
    let copies = || chosen.iter().map(PathBuf::as_path).zip(&targets);
    // Before any copy, so that a command that cannot do all of its work changes nothing.
    all_different(copies().map(|(from, to)| (from, to.clone())))?;
    for (from, to) in copies() {
        make_room(from, to, overwrite)?;
        copy_all(from, to, &mut left_out)
            .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    }
    Ok(Copied {
        count: chosen.len(),
        left_out,
    })
}

/// Returns the path of a copy in the folder. Without a name of its own it would be the folder itself,
/// which [`make_room`] would remove, so `.` has the name of the folder that it means.
fn target(from: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    if let Some(name) = from.file_name() {
        return Ok(folder.join(name));
    }
    let whole = from
        .canonicalize()
        .with_context(|| format!("cannot find {}", from.display()))?;
    let name = whole
        .file_name()
        .with_context(|| format!("{} has no name that its copy could have", from.display()))?;
    Ok(folder.join(name))
}

/// Removes the existing file or folder at the target of a copy, if it may be replaced.
fn make_room(from: &Path, to: &Path, overwrite: bool) -> anyhow::Result<()> {
    // Not `exists`: a dangling link would count as a free place, and the copy would be written to
    // the link's target.
    if to.symlink_metadata().is_err() {
        return Ok(());
    }
    if !overwrite {
        bail!("{} is there already; --overwrite replaces it", to.display());
    }
    // The target is removed before it is written: a copy onto itself would lose the recording.
    if to
        .canonicalize()
        .is_ok_and(|to| from.canonicalize().is_ok_and(|from| from == to))
    {
        bail!("{} would be copied onto itself", from.display());
    }
    // An extract is a folder.
    let removed = if to.is_dir() {
        std::fs::remove_dir_all(to)
    } else {
        std::fs::remove_file(to)
    };
    removed.with_context(|| format!("cannot replace {}", to.display()))
}

/// True for a regular file or a folder; false for a link, pipe or device.
fn is_plain(path: &Path) -> bool {
    path.symlink_metadata()
        .is_ok_and(|found| found.is_file() || found.is_dir())
}

/// Copies a file, or a folder with all of its contents except links, pipes and devices, which go to
/// `left_out`.
fn copy_all(from: &Path, to: &Path, left_out: &mut Vec<PathBuf>) -> io::Result<()> {
    if !from.is_dir() {
        return std::fs::copy(from, to).map(|_| ());
    }
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        if is_plain(&entry.path()) {
            copy_all(&entry.path(), &to.join(entry.file_name()), left_out)?;
        } else {
            left_out.push(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(paths: &[&str], folder: &Path) -> Vec<PathBuf> {
        paths.iter().map(|name| folder.join(name)).collect()
    }

    #[test]
    fn a_recording_is_replaced_only_on_request_and_never_by_itself() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        std::fs::create_dir_all(from.join("a.etwx")).unwrap();
        std::fs::write(from.join("a.etwx/rows"), "1").unwrap();
        std::fs::write(from.join("b.etl"), "2").unwrap();
        let copy = |to: &Path, overwrite| {
            copy_into(
                to,
                names(&["a.etwx", "b.etl"], &from).into_iter(),
                |_| false,
                overwrite,
            )
        };
        assert_eq!(copy(&to, false).unwrap().count, 2);
        assert!(
            copy(&to, false)
                .unwrap_err()
                .to_string()
                .ends_with("--overwrite replaces it")
        );
        std::fs::write(from.join("a.etwx/rows"), "3").unwrap();
        copy(&to, true).unwrap();
        assert_eq!(
            std::fs::read_to_string(to.join("a.etwx/rows")).unwrap(),
            "3"
        );
        assert!(
            copy(&from, true)
                .unwrap_err()
                .to_string()
                .ends_with("copied onto itself")
        );
        assert_eq!(
            std::fs::read_to_string(from.join("a.etwx/rows")).unwrap(),
            "3"
        );
    }

    #[test]
    fn a_recording_without_a_name_in_its_path_does_not_replace_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        std::fs::create_dir_all(from.join("a.etwx/tables")).unwrap();
        std::fs::create_dir_all(&to).unwrap();
        std::fs::write(to.join("other.etl"), "1").unwrap();
        let nameless = names(&["a.etwx/tables/.."], &from);
        let copied = copy_into(&to, nameless.into_iter(), |_| false, true).unwrap();
        assert_eq!(copied.count, 1);
        assert!(to.join("other.etl").is_file());
        assert!(to.join("a.etwx/tables").is_dir());
    }

    #[test]
    fn two_recordings_of_one_name_are_refused_before_one_is_copied() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        for part in ["x", "y"] {
            std::fs::create_dir_all(from.join(part)).unwrap();
            std::fs::write(from.join(part).join("a.etl"), part).unwrap();
        }
        let two = names(&["x/a.etl", "y/a.etl"], &from);
        assert!(copy_into(&to, two.into_iter(), |_| false, true).is_err());
        assert_eq!(std::fs::read_dir(&to).unwrap().count(), 0);
    }

    #[test]
    #[cfg(unix)]
    fn a_link_is_copied_where_it_was_named() {
        let folder = tempfile::tempdir().unwrap();
        let (from, link, to) = (
            folder.path().join("b.etl"),
            folder.path().join("l.etl"),
            folder.path().join("to"),
        );
        std::fs::write(&from, "2").unwrap();
        std::os::unix::fs::symlink(&from, &link).unwrap();
        let copy = |is_named: bool| {
            copy_into(&to, [link.clone()].into_iter(), |_| is_named, false).unwrap()
        };
        let found = copy(false);
        assert_eq!((found.count, found.left_out), (0, vec![link.clone()]));
        assert_eq!(copy(true).count, 1);
        assert_eq!(std::fs::read_to_string(to.join("l.etl")).unwrap(), "2");
    }
}
