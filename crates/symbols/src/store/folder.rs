//! Stores that are folders, and folders with symbol files.
//!
//! In a folder that the user names, links are followed. In a folder that came with a trace they are
//! not: a link or a `file.ptr` in it could name a pipe, which hangs, or on Windows a network share,
//! whose owner would learn of the request.

use std::fs;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::check::SymbolFileKind;
use super::sought::Sought;
use super::{Attempt, COMPRESSED, StorePath, breakpad, places_in_folder};
use crate::{Error, Result};

/// Maximum bytes of a `file.ptr`; it holds one path.
const POINTER_LEN: u64 = 4096;

/// Target folder for unpacked files, and their maximum size.
pub(super) struct Unpacking<'a> {
    pub(super) store: Option<&'a Path>,
    pub(super) limit: u64,
}

/// The origin of a folder: the user, or a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The user named it.
    User,
    /// It came with a trace or an extract.
    Trace,
}

const A_LINK: &str = "a link; those in a folder that came with a trace are not followed: name the folder \
                      with --symbols";
const A_POINTER: &str = "a pointer to another place; those in a folder that came with a trace are not \
                         followed: name the folder with --symbols";

impl Origin {
    /// A path that may be opened: it exists, and is not a link that came with a trace.
    pub(super) fn path(self, path: PathBuf) -> Result<Option<PathBuf>> {
        match self {
            Self::User => Ok(path.exists().then_some(path)),
            Self::Trace => match path.symlink_metadata() {
                Ok(metadata) if metadata.is_symlink() => Err(Error::Unsupported(A_LINK)),
                found => Ok(found.is_ok().then_some(path)),
            },
        }
    }

    /// A regular file that may be opened.
    fn file(self, path: PathBuf) -> Result<Option<PathBuf>> {
        Ok(self.path(path)?.filter(|path| path.is_file()))
    }
}

/// Looks into a store. `None` if it does not have the file. The reasons for which existing files
/// cannot be used go to `tried`.
pub(super) fn find_in_store(
    store: &Path,
    origin: Origin,
    sought: Sought<'_>,
    unpacking: &Unpacking<'_>,
    tried: &mut Vec<Attempt>,
) -> Option<(PathBuf, SymbolFileKind)> {
    let is_two_tier = matches!(origin.file(store.join("index2.txt")), Ok(Some(_)));
    for place in places_in_folder(sought, is_two_tier) {
        let path = match existing(store, origin, &place) {
            Ok(Some(path)) => path,
            Ok(None) => continue,
            Err(error) => {
                tried.push(attempt(&store.join(place.path()), &error));
                continue;
            }
        };
        let found = if place.is_pointer {
            match origin {
                Origin::User => pointed(&path, store, sought),
                Origin::Trace => Err(Error::Unsupported(A_POINTER)),
            }
        } else if place.is_packed {
            unpacked(&path, sought, unpacking)
        } else {
            sought.check(&path).map(|kind| (path.clone(), kind))
        };
        match found {
            Ok(found) => return Some(found),
            Err(error) => tried.push(attempt(&path, &error)),
        }
    }
    None
}

pub(super) fn attempt(place: &Path, error: &Error) -> Attempt {
    Attempt {
        place: place.display().to_string(),
        reason: error.to_string(),
    }
}

/// Finds a file of that name directly in a folder, without the folders of a store.
pub(super) fn find_flat(
    folder: &Path,
    origin: Origin,
    sought: Sought<'_>,
    unpacking: &Unpacking<'_>,
    tried: &mut Vec<Attempt>,
) -> Option<(PathBuf, SymbolFileKind)> {
    let packed = super::packed(sought.name());
    for name in sought.flat_names().into_iter().chain([packed.clone()]) {
        let found = entry(folder, origin, &name).map(|path| path.filter(|path| path.is_file()));
        let checked = match found {
            Ok(None) => continue,
            Ok(Some(path)) if name == packed => {
                unpacked(&path, sought, unpacking).map_err(|it| attempt(&path, &it))
            }
            Ok(Some(path)) => sought
                .check(&path)
                .map(|kind| (path.clone(), kind))
                .map_err(|it| attempt(&path, &it)),
            Err(error) => Err(attempt(&folder.join(&name), &error)),
        };
        match checked {
            Ok(found) => return Some(found),
            Err(attempt) => tried.push(attempt),
        }
    }
    None
}

/// The file of a place, ignoring case: Windows ignores case, and its stores are copied to systems
/// that do not.
fn existing(store: &Path, origin: Origin, place: &StorePath) -> Result<Option<PathBuf>> {
    let exact = store.join(place.path());
    if origin == Origin::User && exact.is_file() {
        return Ok(Some(exact));
    }
    let mut path = store.to_owned();
    for part in &place.parts {
        match entry(&path, origin, part)? {
            Some(inner) => path = inner,
            None => return Ok(None),
        }
    }
    Ok(path.is_file().then_some(path))
}

fn entry(folder: &Path, origin: Origin, name: &str) -> Result<Option<PathBuf>> {
    let exact = origin.path(folder.join(name))?;
    if exact.is_some() || cfg!(windows) {
        return Ok(exact);
    }
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(None);
    };
    let same = entries
        .filter_map(io::Result::ok)
        .filter(|entry| is_same_name(&entry.file_name().to_string_lossy(), name));
    // File systems list folders in any order; taking the smallest name gives the same choice
    // everywhere.
    match same.map(|entry| entry.path()).min() {
        Some(path) => origin.path(path),
        None => Ok(None),
    }
}

/// True if the file systems of Windows take both names for one.
fn is_same_name(one: &str, other: &str) -> bool {
    let lower = |c: char| c.to_lowercase();
    let one = one.chars();
    let other = other.chars();
    one.flat_map(lower).eq(other.flat_map(lower))
}

/// Follows a pointer (`PATH:` and a path) in a store that is a folder. Pointers from servers are
/// not trusted and not followed.
fn pointed(pointer: &Path, store: &Path, sought: Sought<'_>) -> Result<(PathBuf, SymbolFileKind)> {
    let mut text = String::new();
    fs::File::open(pointer)?
        .take(POINTER_LEN)
        .read_to_string(&mut text)?;
    let text = text.trim();
    let path = match text.split_at_checked(5) {
        Some((prefix, path)) if prefix.eq_ignore_ascii_case("PATH:") => path.trim(),
        Some((prefix, _)) if prefix.to_ascii_uppercase().starts_with("MSG:") => {
            return Err(Error::Unsupported(
                "the store says why it does not have the file, in file.ptr",
            ));
        }
        _ => text,
    };
    if !cfg!(windows) && (path.contains('\\') || path.get(1..2) == Some(":")) {
        return Err(Error::Unsupported(
            "it points to a Windows path, which this system cannot use",
        ));
    }
    let path = store.join(path);
    sought.check(&path).map(|kind| (path, kind))
}

fn unpacked(
    packed: &Path,
    sought: Sought<'_>,
    unpacking: &Unpacking<'_>,
) -> Result<(PathBuf, SymbolFileKind)> {
    let Some(store) = unpacking.store else {
        return Err(Error::Unsupported(
            "it is packed, and there is no cache folder to unpack it in",
        ));
    };
    keep(store, sought, sought.name(), |file| {
        unpack(fs::File::open(packed)?, file, unpacking.limit)
    })
}

/// Copies a symbol file into a store.
pub(super) fn copy(
    from: &Path,
    store: &Path,
    sought: Sought<'_>,
    kind: SymbolFileKind,
) -> Result<PathBuf> {
    let name = if kind == SymbolFileKind::Breakpad {
        breakpad(sought.name())
    } else {
        sought.name().to_owned()
    };
    let (path, _) = keep(store, sought, &name, |file| {
        Ok(io::copy(&mut fs::File::open(from)?, file).map(drop)?)
    })?;
    Ok(path)
}

/// The folder of a file in a store that we write.
pub(super) fn folder_in(store: &Path, sought: Sought<'_>) -> PathBuf {
    store.join(sought.name()).join(sought.key())
}

/// Prefix of the names of unfinished files.
const UNFINISHED: &str = ".etwkit-";
/// An unlocked file of this age belongs to a program that died: a live program locks its file at
/// once.
const ABANDONED: std::time::Duration = std::time::Duration::from_secs(60);

/// Writes a temporary file next to its place, and moves it there when it is complete and checked. A
/// concurrent reader, or a reader after a crash, sees all of it or nothing.
pub(super) fn keep(
    store: &Path,
    sought: Sought<'_>,
    name: &str,
    write: impl FnOnce(&mut fs::File) -> Result<()>,
) -> Result<(PathBuf, SymbolFileKind)> {
    let mut folder = folder_in(store, sought);
    fs::create_dir_all(&folder)?;
    sweep(&folder);
    // In the same folder, because a file can be renamed only within a file system.
    let mut file = NamedTempFile::with_prefix_in(UNFINISHED, &folder)?;
    // Locked while it is written. If the file system has no locks, `sweep` cannot lock it either.
    let _ = file.as_file().try_lock();
    write(file.as_file_mut())?;
    file.flush()?;
    let kind = sought.check(file.path())?;
    if kind == SymbolFileKind::CompressedPdb {
        folder.push(COMPRESSED);
        fs::create_dir_all(&folder)?;
    }
    let path = folder.join(name);
    file.persist(&path).map_err(|error| error.error)?;
    Ok((path, kind))
}

/// Removes unfinished files of programs that were killed. Files that cannot be removed are left for
/// the next time.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_ours = entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(UNFINISHED.as_bytes());
        let age = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
        if is_ours && entry.file_type().is_ok_and(|kind| kind.is_file()) && age() > Some(ABANDONED)
        {
            let path = entry.path();
            if fs::File::options()
                .write(true)
                .open(&path)
                .is_ok_and(|file| file.try_lock().is_ok())
            {
                let _ = fs::remove_file(path);
            }
        }
    }
}

fn cut_off(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => Error::Unsupported("the cabinet is cut off"),
        _ => error.into(),
    }
}

/// Unpacks the one file of a cabinet, as `makecab` and the store tools pack it.
pub(super) fn unpack(packed: impl Read + Seek, into: &mut fs::File, limit: u64) -> Result<()> {
    // The decoders of cabinets panic over some damaged blocks; that is an error of the file.
    let unpack = std::panic::AssertUnwindSafe(|| -> Result<()> {
        let mut cabinet = cab::Cabinet::new(packed).map_err(cut_off)?;
        let name = cabinet
            .folder_entries()
            .flat_map(|folder| folder.file_entries().map(|file| file.name().to_owned()))
            .next();
        let Some(name) = name else {
            return Err(Error::Unsupported("the cabinet is empty"));
        };
        let size = u64::from(
            cabinet
                .get_file_entry(&name)
                .map_or(0, cab::FileEntry::uncompressed_size),
        );
        if size > limit {
            return Err(Error::TooLarge { size, limit });
        }
        // The header may claim less than the data unpacks to, so the limit is also applied while
        // unpacking.
        let copied = io::copy(
            &mut cabinet.read_file(&name).map_err(cut_off)?.take(limit),
            into,
        )
        .map_err(cut_off)?;
        if copied == size {
            Ok(())
        } else {
            Err(Error::damaged("cabinet", copied, "it is cut off"))
        }
    });
    std::panic::catch_unwind(unpack).unwrap_or_else(|panic| Err(Error::of_panic(&*panic)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_killed_programs_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let old = std::time::SystemTime::now() - ABANDONED * 2;
        let make = |name: &str, is_old: bool| {
            let file = fs::File::create(folder.path().join(name)).unwrap();
            if is_old {
                file.set_modified(old).unwrap();
            }
            file
        };
        for (name, is_old) in [
            (".etwkit-left", true),
            (".etwkit-new", false),
            ("kernel.pdb", true),
        ] {
            make(name, is_old);
        }
        let held = make(".etwkit-held", true);
        held.lock().unwrap();
        sweep(folder.path());
        let mut left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        left.sort();
        assert_eq!(left, [".etwkit-held", ".etwkit-new", "kernel.pdb"]);
    }
}
