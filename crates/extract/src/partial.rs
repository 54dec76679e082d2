//! A folder that appears under its name only when it is complete.
//!
//! Everything is written into `.NAME.<random>.partial/content` next to the target. Publishing makes
//! all of it durable and renames `content` to the target. The previous target ends up in the
//! partial folder, by one atomic exchange if the system has one. Whenever the process is killed,
//! the target is the old folder, the new one, or absent.
//!
//! A partial folder holds a lock file that its writer keeps locked. The system unlocks it when the
//! process dies for any reason, and the next writer in that folder removes the partial folder.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use etwkit_base::path::parent_of;

use crate::store_error::{StoreError, StoreResult};

/// Name of the lock file in a partial folder. It also marks the folder as created by this program.
const LOCK: &str = "etwkit.lock";
const CONTENT: &str = "content";
const SUFFIX: &str = ".partial";
/// Maximum number of attempts. Other writers may take the name between two steps, but hardly that
/// often.
const ATTEMPTS: u32 = 100;

/// A folder on its way to `target`; removed when it is dropped before it is published.
#[derive(Debug)]
pub struct Partial {
    target: PathBuf,
    folder: PathBuf,
    content: PathBuf,
    /// Held as long as the folder exists.
    lock: File,
}

impl Partial {
    /// Creates the folder next to `target`, and removes those that dead processes left there.
    ///
    /// # Errors
    /// If the parent folder of `target` does not exist or cannot be written to.
    pub fn create(target: &Path) -> StoreResult<Self> {
        let name = target.file_name().ok_or_else(|| StoreError::NoName {
            path: target.to_owned(),
        })?;
        let parent = parent_of(target);
        if !parent.is_dir() {
            return Err(StoreError::NoParent {
                path: parent.to_owned(),
            });
        }
        // Folders that dead processes left are removed by the next writer, since nobody else would.
        sweep(parent);
        let failed = StoreError::io("create a folder in", parent);
        // Next to the target, because a rename works only within one file system.
        let (folder, lock) = locked_folder(parent, name).map_err(failed)?;
        let partial = Self {
            target: target.to_owned(),
            content: folder.join(CONTENT),
            folder,
            lock,
        };
        fs::create_dir(&partial.content).map_err(StoreError::io("create", &partial.content))?;
        Ok(partial)
    }

    /// Folder to write to.
    #[must_use]
    pub fn content(&self) -> &Path {
        &self.content
    }

    /// The final path.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Puts the folder at the target path, replacing anything there.
    ///
    /// # Errors
    /// If the system refuses it. The previous target then remains.
    pub fn publish(self) -> StoreResult<()> {
        // The bytes have to be on the disk before the name is. After a power failure the name would
        // otherwise refer to a folder with empty files.
        sync(&self.content)?;
        self.put()
            .map_err(StoreError::io("put the finished extract at", &self.target))?;
        let parent = parent_of(&self.target);
        sync_folder(parent).map_err(StoreError::io("write", parent))
        // Dropping removes the partial folder, and with it the replaced target.
    }

    /// Puts one file of the folder at the target path, replacing an existing file.
    pub(crate) fn publish_file(self, file: &Path) -> StoreResult<()> {
        sync(&self.content)?;
        fs::rename(file, &self.target)
            // A file is replaced in one step by the rename itself.
            .map_err(StoreError::io("put the finished file at", &self.target))?;
        let parent = parent_of(&self.target);
        sync_folder(parent).map_err(StoreError::io("write", parent))
    }

    fn put(&self) -> io::Result<()> {
        let mut moved = None;
        let put = self.put_with(exchange, &mut moved);
        if let (Err(_), Some(before)) = (&put, moved) {
            // Put back the previous target, unless another process has taken the name by now.
            let _ = rename_new(&before, &self.target);
        }
        put
    }

    /// Takes the name of the target by renaming. A previous target that had to be moved out of the
    /// way is at `moved`.
    fn put_with(&self, exchange: Exchange, moved: &mut Option<PathBuf>) -> io::Result<()> {
        let mut attempt = 0;
        loop {
            // A free name is taken at once. This fails if an extract exists there already, and also
            // for reasons that no exchange would cure, hence the check of the target.
            // The common case: nothing is there.
            let Err(error) = rename_new(&self.content, &self.target) else {
                return Ok(());
            };
            attempt += 1;
            // The target vanished or cannot be looked at, so that another attempt would fail as
            // well.
            if attempt > ATTEMPTS || self.target.symlink_metadata().is_err() {
                return Err(error);
            }
            // Exchanging keeps a target at the path at every moment.
            if exchange(&self.content, &self.target).is_ok() {
                return Ok(());
            }
            // The system has no exchange, or another process was faster: move the target out of the
            // way and start again.
            let away = self.folder.join(format!("replaced-{attempt}"));
            match fs::rename(&self.target, &away) {
                Ok(()) => *moved = Some(away),
                // Another process has moved it away in the meantime.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Swaps two folders in one step.
type Exchange = fn(&Path, &Path) -> io::Result<()>;

impl Drop for Partial {
    fn drop(&mut self) {
        // Files that cannot be removed now are removed by the next writer, once the lock is gone.
        // An error here has nobody to tell; the folder is found by its name later.
        let _ = remove(&self.folder);
        let _ = self.lock.unlock();
    }
}

fn locked_folder(parent: &Path, name: &OsStr) -> io::Result<(PathBuf, File)> {
    // A leading dot hides the folder from patterns and from lists of extracts until it is complete.
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    for _ in 0..ATTEMPTS {
        let made = tempfile::Builder::new()
            .prefix(&prefix)
            .suffix(SUFFIX)
            // A random part, as several processes may write the same target.
            .rand_bytes(8)
            .tempdir_in(parent)?;
        let folder = made.keep();
        let path = folder.join(LOCK);
        // A sweeper may see the folder before its lock is held. The folder is then gone, and
        // another one is created.
        let Ok(lock) = OpenOptions::new().write(true).create_new(true).open(&path) else {
            if folder.exists() {
                fs::remove_dir(&folder)?;
            }
            continue;
        };
        // If the file system has no locks, `sweep` cannot lock it either.
        if !matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) && path.exists() {
            return Ok((folder, lock));
        }
    }
    Err(io::Error::other("the folder vanished again and again"))
}

/// Removes the partial folders of processes that have ended. Folders that cannot be removed are
/// left for the next time.
fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        // Only names of this form were made by this program. Everything else in the folder belongs
        // to somebody else.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_folder || !name.starts_with(b".") || !name.ends_with(SUFFIX.as_bytes()) {
            continue;
        }
        let folder = entry.path();
        let lock = folder.join(LOCK);
        // Opening a pipe waits for its reader, and a link may lead anywhere: neither is a lock of
        // this program.
        if lock.symlink_metadata().is_ok_and(|found| !found.is_file()) {
            continue;
        }
        // A lock that can be taken belongs to a process that has ended. A killed process loses its
        // locks.
        match OpenOptions::new().write(true).open(lock) {
            Ok(lock) if lock.try_lock().is_ok() => {
                let _ = remove(&folder);
            }
            // Without a lock file: from another program, just created (then its creator makes
            // another), or an empty remainder.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let _ = fs::remove_dir(&folder);
            }
            _ => {}
        }
    }
}

/// Removes a partial folder, its lock last, so that the remains of a crash can still be recognized.
fn remove(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name() == LOCK {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    // Last: without its lock file the folder would look as if it had just been created.
    fs::remove_file(folder.join(LOCK))?;
    fs::remove_dir(folder)
}

/// Makes every file and folder below `folder` durable: on Linux by one call for the file system,
/// since an extract has a hundred files, and each one alone waits for the journal of the disk.
fn sync(folder: &Path) -> StoreResult<()> {
    if sync_file_system(folder).map_err(StoreError::io("write", folder))? {
        Ok(())
    } else {
        sync_tree(folder)
    }
}

/// Makes all of the file system durable. Returns false if this system cannot do that, or if files
/// are elsewhere, where the call may end before they are stored.
#[cfg(target_os = "linux")]
fn sync_file_system(folder: &Path) -> io::Result<bool> {
    let folder_file = File::open(folder)?;
    if crate::source::is_remote(&folder_file, folder) {
        return Ok(false);
    }
    match rustix::fs::syncfs(&folder_file) {
        Ok(()) => Ok(true),
        // Sandboxes may know the call and not allow it.
        // A sandbox is no error: one file after the other works everywhere.
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "it can fail on Linux")]
fn sync_file_system(_folder: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Makes every file and folder below `folder` durable, one after the other.
fn sync_tree(folder: &Path) -> StoreResult<()> {
    for entry in fs::read_dir(folder).map_err(StoreError::io("read", folder))? {
        let entry = entry.map_err(StoreError::io("read", folder))?;
        let path = entry.path();
        if path.is_dir() {
            // Depth is bounded by what this program has written there.
            sync_tree(&path)?;
        } else {
            // Windows flushes a file only through a handle that may write, so it is not opened for
            // reading.
            let synced = OpenOptions::new()
                .write(true)
                .open(&path)
                .and_then(|file| file.sync_all());
            synced.map_err(StoreError::io("write", &path))?;
        }
    }
    // The folder after its files, since it names them.
    sync_folder(folder).map_err(StoreError::io("write", folder))
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder)?.sync_all() {
        // Some network file systems do not sync folders.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        done => done,
    }
}

/// Windows keeps folders in its journal and offers no way to wait for it.
#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Renames to a name that must be free; an empty folder counts as free.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    if cfg!(windows) && to.symlink_metadata().is_ok() {
        // Windows would replace an existing file. Unix refuses to put a folder in the place of a
        // file or of a folder that is not empty.
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(from, to)
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn exchange(_one: &Path, _other: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_exchange(_: &Path, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// A folder with a target that holds the file `old`, and a partial folder with the file `new`.
    fn prepared() -> (tempfile::TempDir, Partial) {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target");
        fs::create_dir(&target).unwrap();
        fs::write(target.join("old"), b"").unwrap();
        let partial = Partial::create(&target).unwrap();
        fs::write(partial.content().join("new"), b"").unwrap();
        (folder, partial)
    }

    fn names(folder: &Path) -> Vec<OsString> {
        fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect()
    }

    #[test]
    fn without_an_exchange_the_old_one_is_moved_away_first() {
        let (folder, partial) = prepared();
        let mut moved = None;
        partial.put_with(no_exchange, &mut moved).unwrap();
        assert_eq!(names(partial.target()), ["new"]);
        assert_eq!(names(&moved.unwrap()), ["old"]);
        drop(partial);
        assert_eq!(names(folder.path()), ["target"]);
    }

    /// A process that can write next to the target can put these folders there. Opening their locks
    /// would wait forever.
    #[cfg(unix)]
    #[test]
    fn locks_that_are_pipes_or_links_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        fs::write(&victim, b"").unwrap();
        for name in [".pipe.partial", ".link.partial"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let pipe = folder.path().join(".pipe.partial").join(LOCK);
        assert!(
            std::process::Command::new("mkfifo")
                .arg(pipe)
                .status()
                .unwrap()
                .success()
        );
        std::os::unix::fs::symlink(&victim, folder.path().join(".link.partial").join(LOCK))
            .unwrap();
        drop(Partial::create(&folder.path().join("target")).unwrap());
        let mut left = names(folder.path());
        left.sort();
        assert_eq!(left, [".link.partial", ".pipe.partial", "victim"]);
    }

    #[test]
    fn what_was_moved_away_comes_back_if_nothing_takes_its_place() {
        let (folder, partial) = prepared();
        fs::remove_dir_all(partial.content()).unwrap();
        assert_eq!(partial.put().unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(names(partial.target()), ["old"]);
        drop(partial);
        assert_eq!(names(folder.path()), ["target"]);
    }
}
