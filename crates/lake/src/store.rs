//! The files of a lake by their names, as an object store has them. Today the store is a folder.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use futures::TryStreamExt;
use futures::executor::block_on;
use object_store::local::LocalFileSystem;
use object_store::path::Path as Name;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions};

use crate::{Error, Result};

/// Maximum bytes of a commit. Parsed JSON takes many times as much memory.
const MAX_READ: u64 = 64 << 20;

/// The files of a lake.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    objects: Arc<dyn ObjectStore>,
    root: PathBuf,
}

impl Store {
    /// Opens a folder.
    pub(crate) fn open(root: &Path) -> Result<Self> {
        let local = LocalFileSystem::new_with_prefix(root).map_err(failed("open", ""))?;
        Ok(Self {
            objects: Arc::new(local),
            root: root.to_owned(),
        })
    }

    /// The path of a file in the file system.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        // Names in a lake have slashes on every system.
        let parts = name.split('/');
        parts.fold(self.root.clone(), |path, part| path.join(part))
    }

    /// The path of a file by its name in the folder of a table.
    pub(crate) fn file(&self, table: &str, name: &str) -> PathBuf {
        self.path(&format!("{table}/{name}"))
    }

    /// Returns `true` if a file lies in the folder of the lake, and not behind a link out of it.
    pub(crate) fn has_inside(&self, name: &str) -> bool {
        let path = self.path(name);
        let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
        // Both have to be resolved, since the lake itself may be reached through a link.
        let root = self.root.canonicalize().ok();
        folder
            .zip(root)
            .is_some_and(|(folder, root)| folder.starts_with(root))
    }

    /// Reads a commit; `None` if there is none.
    pub(crate) fn read(&self, name: &str) -> Result<Option<Bytes>> {
        self.read_up_to(MAX_READ, name)
    }

    fn read_up_to(&self, most: u64, name: &str) -> Result<Option<Bytes>> {
        let at = named(name)?;
        let path = self.path(name);
        // Opening a pipe waits for its writer.
        if path.metadata().is_ok_and(|found| !found.is_file()) {
            return Err(Error::File {
                path,
                expected: "a regular file".to_owned(),
                source: None,
            });
        }
        let opened = found(block_on(self.objects.get(&at)));
        let Some(opened) = opened.map_err(failed("read", name))? else {
            return Ok(None);
        };
        let size = opened.meta.size;
        // The size is known before anything is read into memory.
        if size > most {
            return Err(Error::File {
                path,
                expected: format!("{most} bytes at most, found {size}"),
                source: None,
            });
        }
        let bytes = block_on(opened.bytes()).map_err(failed("read", name))?;
        Ok(Some(bytes))
    }

    /// The size of a file; `None` if there is none.
    pub(crate) fn size(&self, name: &str) -> Result<Option<u64>> {
        let at = named(name)?;
        let head = found(block_on(self.objects.head(&at)));
        let head = head.map_err(failed("read", name))?;
        Ok(head.map(|head| head.size))
    }

    /// Creates a file; `false` if another writer has created it, whose file stays as it is. What this
    /// returns for is on the disk.
    pub(crate) fn create(&self, name: &str, bytes: Bytes) -> Result<bool> {
        let at = named(name)?;
        let options = PutOptions {
            mode: PutMode::Create,
            ..PutOptions::default()
        };
        // Creating fails if the file exists, which is what makes a commit atomic between programs.
        match block_on(self.objects.put_opts(&at, bytes.clone().into(), options)) {
            Ok(_) => {}
            // A network share can lose the answer, try again and then find the file that it has made.
            // Each writer's files have names and numbers of their own, so equal bytes are the own ones.
            Err(object_store::Error::AlreadyExists { .. }) => {
                let size = bytes.len() as u64;
                // The size is compared first, so that a foreign file is not read in vain.
                if self.size(name)? != Some(size) || self.read_up_to(size, name)? != Some(bytes) {
                    return Ok(false);
                }
            }
            Err(source) => return Err(failed("write", name)(source)),
        }
        self.sync(name)?;
        Ok(true)
    }

    /// Writes a file in the place of one that may be there. What this returns for is on the disk.
    pub(crate) fn replace(&self, name: &str, bytes: Bytes) -> Result<()> {
        let at = named(name)?;
        let written = block_on(self.objects.put(&at, bytes.into()));
        written.map_err(failed("write", name))?;
        self.sync(name)
    }

    /// Waits until a file is on the disk: a commit that outlives a power failure must not name files
    /// that do not.
    fn sync(&self, name: &str) -> Result<()> {
        let path = self.path(name);
        let synced = File::options()
            .read(true)
            // A folder is not synced: a commit whose file is on the disk without its name simply
            // did not happen.
            .write(true)
            .open(&path)
            .and_then(|file| file.sync_all());
        synced.map_err(|source| Error::Io {
            doing: "write",
            path,
            source,
        })
    }

    /// Deletes a file. One that is gone already is no error.
    pub(crate) fn delete(&self, name: &str) -> Result<()> {
        let at = named(name)?;
        let deleted = found(block_on(self.objects.delete(&at)));
        deleted.map_err(failed("delete", name))?;
        Ok(())
    }

    /// The files in a folder and below it, by name.
    pub(crate) fn list(&self, folder: &str) -> Result<Vec<ObjectMeta>> {
        let at = named(folder)?;
        let listed = block_on(self.objects.list(Some(&at)).try_collect());
        let mut all: Vec<ObjectMeta> = listed.map_err(failed("list", folder))?;
        // The order of a folder differs between systems, and answers must not.
        all.sort_by(|a, b| a.location.cmp(&b.location));
        Ok(all)
    }

    /// The names of the files directly in a folder; none if it does not exist. Quicker than a list, which
    /// looks at each file.
    pub(crate) fn names(&self, folder: &str) -> Result<Vec<String>> {
        let path = self.path(folder);
        let wrong = |source| Error::Io {
            doing: "read",
            path: path.clone(),
            source,
        };
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            // A lake without a log is a folder, which others may create at the same time.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(wrong(error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let name = entry.map_err(wrong)?.file_name();
            let name = name.to_string_lossy();
            // The store gives such a name to a file until it is complete.
            if !name.contains('#') {
                names.push(name.into_owned());
            }
        }
        Ok(names)
    }

    /// The names of the folders directly in the lake.
    pub(crate) fn folders(&self) -> Result<Vec<String>> {
        let listed = block_on(self.objects.list_with_delimiter(None));
        let listed = listed.map_err(failed("list", ""))?;
        let mut all: Vec<String> = listed
            .common_prefixes
            .iter()
            .map(|folder| folder.as_ref().to_owned())
            .collect();
        all.sort_unstable();
        Ok(all)
    }
}

/// Parses a name, which cannot lead out of the lake.
fn named(name: &str) -> Result<Name> {
    Name::parse(name).map_err(|error| failed("use", name)(error.into()))
}

fn failed(doing: &'static str, name: &str) -> impl Fn(object_store::Error) -> Error {
    let name = name.to_owned();
    move |source| Error::Store {
        doing,
        name: name.clone(),
        source: Box::new(source),
    }
}

/// Returns `None` for a file that does not exist.
fn found<T>(result: object_store::Result<T>) -> object_store::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_of_another_writer_is_in_the_way() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let create = |bytes: &'static [u8]| store.create("a/b", Bytes::from_static(bytes));
        assert!(create(b"own").unwrap());
        assert!(
            create(b"own").unwrap(),
            "the answer of the first attempt was lost"
        );
        assert!(!create(b"its").unwrap());
        assert_eq!(store.read("a/b").unwrap(), Some(Bytes::from_static(b"own")));
    }
}
