//! The files of a lake by their names, as an object store has them. The store is a folder, or one of a
//! bucket.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use futures::TryStreamExt;
use futures::executor::block_on;
use object_store::local::LocalFileSystem;
use object_store::path::Path as Name;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions};

use crate::Slice;
use crate::lake::bucket::{self, Spooled};
use crate::lake::place::in_bucket;
use crate::lake::{Error, Result};

/// Maximum bytes of a commit. Parsed JSON takes many times as much memory.
const MAX_READ: u64 = 64 << 20;

/// Milliseconds between attempts to create a file while another request for it has not ended.
const PAUSES: [u64; 6] = [50, 100, 200, 400, 800, 1600];

/// The files of a lake.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    objects: Arc<dyn ObjectStore>,
    root: PathBuf,
    is_folder: bool,
}

/// A file that is read as a whole.
pub(crate) struct Whole {
    pub(crate) slice: Slice,
    /// The copy that it is read from, if it is not in a folder.
    pub(crate) spooled: Option<Spooled>,
}

impl Store {
    /// Opens a folder, or one of a bucket.
    pub(crate) fn open(root: &Path) -> Result<Self> {
        let is_folder = in_bucket(root).is_none();
        let objects: Arc<dyn ObjectStore> = if is_folder {
            let local = LocalFileSystem::new_with_prefix(root).map_err(failed("open", ""))?;
            Arc::new(local)
        } else {
            bucket::open(root)?
        };
        Ok(Self {
            objects,
            root: root.to_owned(),
            is_folder,
        })
    }

    /// The place of the lake, as it was given.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns `true` for a folder of this computer, where a look costs nothing.
    pub(crate) const fn is_folder(&self) -> bool {
        self.is_folder
    }

    /// Waits for a request.
    fn wait<T, F>(&self, request: impl FnOnce(Arc<dyn ObjectStore>) -> F) -> object_store::Result<T>
    where
        F: Future<Output = object_store::Result<T>> + Send + 'static,
        T: Send + 'static,
    {
        let request = request(self.objects.clone());
        if self.is_folder {
            block_on(request)
        } else {
            bucket::wait(request)
        }
    }

    /// The path of a file in the file system; for messages, if the lake is in a bucket.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        // Names in a lake have slashes on every system.
        let parts = name.split('/');
        parts.fold(self.root.clone(), |path, part| path.join(part))
    }

    /// Returns `true` if a file lies in the folder of the lake, and not behind a link out of it.
    pub(crate) fn has_inside(&self, name: &str) -> bool {
        if !self.is_folder {
            return true;
        }
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
        if self.is_folder && path.metadata().is_ok_and(|found| !found.is_file()) {
            return Err(Error::File {
                path,
                expected: "a regular file".to_owned(),
                source: None,
            });
        }
        let opened = found(self.wait(|objects| async move { objects.get(&at).await }));
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
        let bytes = self.wait(|_| opened.bytes());
        Ok(Some(bytes.map_err(failed("read", name))?))
    }

    /// Opens a file to read some of its columns.
    pub(crate) fn slice(&self, name: &str) -> Result<Slice> {
        if self.is_folder {
            return Ok(Slice::of_file(&self.path(name))?);
        }
        let at = named(name)?;
        let opened = self.wait(|objects| bucket::slice(objects, at));
        opened.map_err(failed("read", name))
    }

    /// Opens a file to read all of it.
    pub(crate) fn whole(&self, name: &str) -> Result<Whole> {
        if self.is_folder {
            return Ok(Whole {
                slice: self.slice(name)?,
                spooled: None,
            });
        }
        let at = named(name)?;
        let read = self.wait(|objects| bucket::whole(objects, at));
        let (slice, spooled) = read.map_err(failed("read", name))?;
        Ok(Whole { slice, spooled })
    }

    /// The size of a file; `None` if there is none.
    pub(crate) fn size(&self, name: &str) -> Result<Option<u64>> {
        let at = named(name)?;
        let head = found(self.wait(|objects| async move { objects.head(&at).await }));
        let head = head.map_err(failed("read", name))?;
        Ok(head.map(|head| head.size))
    }

    /// Creates a file; `false` if another writer has created it, whose file stays as it is. What this
    /// returns for is on the disk.
    pub(crate) fn create(&self, name: &str, bytes: Bytes) -> Result<bool> {
        let attempt = move || self.try_to_create(name, &bytes);
        let Some(is_own) = until_decided(&PAUSES, attempt)? else {
            return Err(failed("write", name)(undecided()));
        };
        if is_own {
            self.sync(name)?;
        }
        Ok(is_own)
    }

    /// Creates a file as [`Self::create`] does; `None` if it is refused although there is none.
    fn try_to_create(&self, name: &str, bytes: &Bytes) -> Result<Option<bool>> {
        let at = named(name)?;
        let options = PutOptions {
            mode: PutMode::Create,
            ..PutOptions::default()
        };
        let content = bytes.clone().into();
        // Creating fails if the file exists, which is what makes a commit atomic between programs.
        let created =
            self.wait(|objects| async move { objects.put_opts(&at, content, options).await });
        match created {
            Ok(_) => return Ok(Some(true)),
            Err(object_store::Error::AlreadyExists { .. }) => {}
            Err(source) => return Err(failed("write", name)(source)),
        }
        // A network share can lose the answer, try again and then find the file that it has made.
        // Each writer's files have names and numbers of their own, so equal bytes are the own ones.
        let size = bytes.len() as u64;
        match self.size(name)? {
            // A bucket also refuses while another request for the file has not ended, which may be the
            // first attempt of this one.
            None if !self.is_folder => Ok(None),
            // The size is compared first, so that a foreign file is not read in vain.
            Some(found) if found == size => {
                let found = self.read_up_to(size, name)?;
                Ok(Some(found.as_ref() == Some(bytes)))
            }
            _ => Ok(Some(false)),
        }
    }

    /// Writes a file in the place of one that may be there. What this returns for is on the disk.
    pub(crate) fn replace(&self, name: &str, bytes: Bytes) -> Result<()> {
        let at = named(name)?;
        let content = bytes.into();
        let written = self.wait(|objects| async move { objects.put(&at, content).await });
        written.map_err(failed("write", name))?;
        self.sync(name)
    }

    /// Waits until a file is on the disk: a commit that outlives a power failure must not name files
    /// that do not. A bucket answers only then.
    fn sync(&self, name: &str) -> Result<()> {
        if !self.is_folder {
            return Ok(());
        }
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
        let deleted = found(self.wait(|objects| async move { objects.delete(&at).await }));
        deleted.map_err(failed("delete", name))?;
        Ok(())
    }

    /// The files in a folder and below it, by name.
    pub(crate) fn list(&self, folder: &str) -> Result<Vec<ObjectMeta>> {
        let at = named(folder)?;
        let listed = self.wait(|objects| objects.list(Some(&at)).try_collect());
        let mut all: Vec<ObjectMeta> = listed.map_err(failed("list", folder))?;
        // The order of a folder differs between systems, and answers must not.
        all.sort_by(|a, b| a.location.cmp(&b.location));
        Ok(all)
    }

    /// The names of the files directly in a folder; none if it does not exist. Quicker than a list, which
    /// looks at each file.
    pub(crate) fn names(&self, folder: &str) -> Result<Vec<String>> {
        if !self.is_folder {
            return self.names_in_bucket(folder);
        }
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

    fn names_in_bucket(&self, folder: &str) -> Result<Vec<String>> {
        let at = named(folder)?;
        let list = |objects: Arc<dyn ObjectStore>| async move {
            objects.list_with_delimiter(Some(&at)).await
        };
        let listed = self.wait(list).map_err(failed("list", folder))?;
        let files = listed.objects.iter();
        let names = files.filter_map(|file| file.location.filename().map(str::to_owned));
        Ok(names.collect())
    }

    /// Returns `true` if there is a folder.
    pub(crate) fn has_folder(&self, name: &str) -> Result<bool> {
        if self.is_folder {
            return Ok(self.path(name).is_dir());
        }
        Ok(!self.is_empty(Some(name))?)
    }

    /// Returns `true` if a folder has no file in it or below it; with `None`, the lake.
    pub(crate) fn is_empty(&self, folder: Option<&str>) -> Result<bool> {
        let at = folder.map(named).transpose()?;
        let is_empty = self.wait(|objects| has_no_file(objects, at));
        is_empty.map_err(failed("list", folder.unwrap_or("files")))
    }

    /// The names of the folders directly in the lake.
    pub(crate) fn folders(&self) -> Result<Vec<String>> {
        let listed = self.wait(|objects| async move { objects.list_with_delimiter(None).await });
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

/// Returns `true` if no file is in a folder or below it.
async fn has_no_file(
    objects: Arc<dyn ObjectStore>,
    folder: Option<Name>,
) -> object_store::Result<bool> {
    let mut listed = objects.list(folder.as_ref());
    while let Some(file) = listed.try_next().await? {
        if !is_placeholder(&file) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns `true` for the empty file that programs make in a bucket to show a folder. Its name is that of
/// the lake.
fn is_placeholder(file: &ObjectMeta) -> bool {
    file.size == 0 && file.location.as_ref().is_empty()
}

/// Tries until an attempt has a result, with pauses of so many milliseconds; `None` if none has.
fn until_decided(
    pauses: &[u64],
    mut attempt: impl FnMut() -> Result<Option<bool>>,
) -> Result<Option<bool>> {
    for pause in pauses {
        if let Some(decided) = attempt()? {
            return Ok(Some(decided));
        }
        thread::sleep(Duration::from_millis(*pause));
    }
    attempt()
}

/// The error of a file that cannot be created although there is none.
fn undecided() -> object_store::Error {
    object_store::Error::Generic {
        store: "bucket",
        source: "another request for this file has not ended".into(),
    }
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

    #[test]
    fn attempts_end() {
        let mut results = vec![Some(true), None];
        let decided = until_decided(&[0, 0], || Ok(results.pop().unwrap()));
        assert_eq!(decided.unwrap(), Some(true));
        let mut attempts = 0;
        let decided = until_decided(&[0, 0], || {
            attempts += 1;
            Ok(None)
        });
        assert_eq!((decided.unwrap(), attempts), (None, 3));
    }
}
