//! Lakes in a bucket of an object store.

use std::env;
use std::fmt;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock, mpsc};

use bytes::Bytes;
use futures::TryStreamExt;
use object_store::path::Path as Name;
use object_store::prefix::PrefixStore;
use object_store::{
    GetOptions, GetRange, GetResult, OBJECT_STORE_COALESCE_DEFAULT, ObjectStore, ObjectStoreExt,
    coalesce_ranges,
};
use tempfile::{NamedTempFile, TempPath};
use tokio::runtime::{Builder, Runtime};
use tokio::task::block_in_place;

use crate::lake::place::in_bucket;
use crate::lake::{Error, Result, client};
use crate::{Ranges, Slice};

/// Bytes at the end of a file that are read when it is opened: its description and the index of its
/// pages, or all of a small file.
const END: u64 = 256 << 10;

/// Maximum bytes of a file that is in memory while it is read as a whole.
const MAX_IN_MEMORY: u64 = 4 << 20;

/// The variable with the folder for temporary files, as in all of etwkit.
const TEMP_DIR: &str = "ETWKIT_TMP";

/// The name of the store in errors.
const STORE: &str = "bucket";

/// A file on the disk of this computer, which is deleted when it is dropped.
pub(crate) struct Spooled {
    _path: TempPath,
}

/// A file of a bucket.
struct RemoteFile {
    objects: Arc<dyn ObjectStore>,
    name: Name,
}

/// Opens the folder of a bucket with the settings of the environment.
pub(crate) fn open(path: &Path) -> Result<Arc<dyn ObjectStore>> {
    let wrong = |expected: &str| Error::Bucket {
        path: path.to_owned(),
        expected: expected.to_owned(),
        source: None,
    };
    let place = in_bucket(path);
    let (kind, bucket, folder) = place.ok_or_else(|| wrong("the address of a bucket"))?;
    if bucket.is_empty() {
        return Err(wrong(client::address(kind)));
    }
    let folder = Name::parse(folder).map_err(|_| wrong("names between single slashes"))?;
    let store = client::open(path, kind, bucket)?;
    Ok(Arc::new(PrefixStore::new(store, folder)))
}

/// Waits for a request. The client needs a runtime of its own: a thread of another one must not wait for
/// it directly.
pub(crate) fn wait<T: Send + 'static>(
    request: impl Future<Output = object_store::Result<T>> + Send + 'static,
) -> object_store::Result<T> {
    let (answer, answered) = mpsc::channel();
    let runtime = runtime().map_err(|text| other(io::Error::other(text)))?;
    runtime.spawn(async move {
        let _ = answer.send(request.await);
    });
    answered.recv().map_err(other)?
}

/// Returns the runtime of all requests, or the text of the error that there was.
fn runtime() -> std::result::Result<&'static Runtime, &'static str> {
    static RUNTIME: OnceLock<std::result::Result<Runtime, String>> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| {
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.worker_threads(2).enable_all().build();
        runtime.map_err(|error| error.to_string())
    });
    runtime.as_ref().map_err(String::as_str)
}

/// Opens a file to read parts of it.
pub(crate) async fn slice(
    objects: Arc<dyn ObjectStore>,
    name: Name,
) -> object_store::Result<Slice> {
    let opened = match get(&objects, &name, GetRange::Suffix(END)).await {
        // Azure has no ranges that count from the end.
        Err(object_store::Error::NotSupported { .. }) => {
            let size = objects.head(&name).await?.size;
            let end = GetRange::Bounded(size.saturating_sub(END)..size);
            get(&objects, &name, end).await?
        }
        opened => opened?,
    };
    let size = opened.meta.size;
    let length = length(&opened.range);
    let end = of_length(opened.bytes().await?, length)?;
    let file = RemoteFile { objects, name };
    Ok(Slice::of_remote(Arc::new(file), size, end))
}

async fn get(
    objects: &Arc<dyn ObjectStore>,
    name: &Name,
    range: GetRange,
) -> object_store::Result<GetResult> {
    let options = GetOptions {
        range: Some(range),
        ..GetOptions::default()
    };
    objects.get_opts(name, options).await
}

/// Reads a file as a whole, to memory or to the disk.
pub(crate) async fn whole(
    objects: Arc<dyn ObjectStore>,
    name: Name,
) -> object_store::Result<(Slice, Option<Spooled>)> {
    let opened = objects.get(&name).await?;
    if opened.meta.size <= MAX_IN_MEMORY {
        return Ok((Slice::of_bytes(opened.bytes().await?), None));
    }
    let mut file = temporary_file().map_err(other)?;
    let mut bytes = opened.into_stream();
    while let Some(bytes) = bytes.try_next().await? {
        // Other requests go on meanwhile.
        block_in_place(|| file.write_all(&bytes)).map_err(other)?;
    }
    let path = file.into_temp_path();
    let slice = Slice::of_file(&path).map_err(other)?;
    Ok((slice, Some(Spooled { _path: path })))
}

fn temporary_file() -> io::Result<NamedTempFile> {
    match env::var_os(TEMP_DIR).filter(|folder| !folder.is_empty()) {
        Some(folder) => NamedTempFile::new_in(folder),
        None => NamedTempFile::new(),
    }
}

impl Ranges for RemoteFile {
    fn read(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Bytes>> {
        let (objects, name, ranges) = (self.objects.clone(), self.name.clone(), ranges.to_vec());
        let read = wait(async move {
            let read = |range| read_range(objects.clone(), name.clone(), range);
            coalesce_ranges(&ranges, read, OBJECT_STORE_COALESCE_DEFAULT).await
        });
        read.map_err(io::Error::other)
    }
}

async fn read_range(
    objects: Arc<dyn ObjectStore>,
    name: Name,
    range: Range<u64>,
) -> object_store::Result<Bytes> {
    let length = length(&range);
    of_length(objects.get_range(&name, range).await?, length)
}

/// Refuses an answer of another length than its range has, which would be the bytes of other places.
fn of_length(bytes: Bytes, length: u64) -> object_store::Result<Bytes> {
    let found = bytes.len() as u64;
    if found == length {
        return Ok(bytes);
    }
    let text = format!("expected {length} bytes, found {found}");
    Err(other(io::Error::other(text)))
}

fn length(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

impl fmt::Debug for RemoteFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)
    }
}

fn other(source: impl std::error::Error + Send + Sync + 'static) -> object_store::Error {
    object_store::Error::Generic {
        store: STORE,
        source: Box::new(source),
    }
}
