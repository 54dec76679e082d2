//! Spilling: data beyond the memory limit goes to files without a name.
//!
//! A file with a name outlives a program that is interrupted or killed, and a question that sorts
//! gigabytes would leave gigabytes. The system removes a file without a name when its last user is
//! gone, however that ended.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SpillFile, SpillWriter, TempFileFactory};
use futures::{Stream, stream};

/// Maximum size in bytes of the temporary files of one session.
const MAX_BYTES: u64 = 100 << 30;
/// Number of bytes read at once.
const PIECE: usize = 128 << 10;

/// Creates temporary files in a folder.
pub(crate) struct Spill {
    /// The folder; `None` is the folder of the system.
    folder: Option<PathBuf>,
    used: Arc<AtomicU64>,
}

impl Spill {
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self {
            folder,
            used: Arc::default(),
        }
    }
}

impl TempFileFactory for Spill {
    fn create_temp_file(&self, _description: &str) -> Result<Arc<dyn SpillFile>> {
        let made = match &self.folder {
            Some(folder) => tempfile::tempfile_in(folder),
            None => tempfile::tempfile(),
        };
        let file = made.map_err(|error| {
            let folder = self.folder.clone().unwrap_or_else(std::env::temp_dir);
            let text = format!(
                "cannot write a temporary file in {}: {error}",
                folder.display()
            );
            DataFusionError::IoError(io::Error::new(error.kind(), text))
        })?;
        Ok(Arc::new(Unnamed(Arc::new(Written {
            file,
            size: AtomicU64::new(0),
            used: self.used.clone(),
        }))))
    }
}

/// A temporary file.
struct Unnamed(Arc<Written>);

struct Written {
    file: File,
    size: AtomicU64,
    /// Bytes of all files of the session.
    used: Arc<AtomicU64>,
}

impl Drop for Written {
    fn drop(&mut self) {
        self.used
            .fetch_sub(self.size.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

impl SpillFile for Unnamed {
    fn size(&self) -> Option<u64> {
        Some(self.0.size.load(Ordering::Relaxed))
    }

    fn read_stream(&self) -> Result<Pin<Box<dyn Stream<Item = Result<Bytes>> + Send>>> {
        let pieces = stream::try_unfold((self.0.clone(), 0u64), |(written, position)| async move {
            let file = written.clone();
            // A slow disk does not delay computation.
            let read = tokio::task::spawn_blocking(move || {
                let mut piece = vec![0; PIECE];
                read_at(&file.file, &mut piece, position).map(|read| {
                    piece.truncate(read);
                    piece
                })
            });
            let ended = |error| DataFusionError::External(Box::new(error));
            let piece = read
                .await
                .map_err(ended)?
                .map_err(DataFusionError::IoError)?;
            let next = position.saturating_add(piece.len() as u64);
            Ok((!piece.is_empty()).then(|| (Bytes::from(piece), (written, next))))
        });
        Ok(Box::pin(pieces))
    }

    fn open_writer(&self) -> Result<Box<dyn SpillWriter>> {
        Ok(Box::new(Writer(self.0.clone())))
    }
}

struct Writer(Arc<Written>);

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len() as u64;
        // The bytes are counted before they are written, so that several writers together cannot
        // pass the limit.
        if self
            .0
            .used
            .fetch_add(count, Ordering::Relaxed)
            .saturating_add(count)
            > MAX_BYTES
        {
            self.0.used.fetch_sub(count, Ordering::Relaxed);
            let text = format!(
                "the answer needs more than {} GiB of temporary files",
                MAX_BYTES >> 30
            );
            return Err(io::Error::new(io::ErrorKind::QuotaExceeded, text));
        }
        // Its current end: reading moves the position of the file on some systems.
        let written = write_at(&self.0.file, bytes, self.0.size.load(Ordering::Relaxed));
        let done = *written.as_ref().unwrap_or(&0) as u64;
        // A write may take only a part of the bytes; the rest comes again.
        self.0
            .used
            .fetch_sub(count - done.min(count), Ordering::Relaxed);
        self.0.size.fetch_add(done, Ordering::Relaxed);
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        (&self.0.file).flush()
    }
}

impl SpillWriter for Writer {
    fn finish(&mut self) -> Result<()> {
        self.flush().map_err(DataFusionError::IoError)
    }
}

#[cfg(unix)]
fn read_at(file: &File, buf: &mut [u8], position: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buf, position)
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], position: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::write_at(file, bytes, position)
}

#[cfg(windows)]
fn read_at(file: &File, buf: &mut [u8], position: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buf, position)
}

#[cfg(windows)]
fn write_at(file: &File, bytes: &[u8], position: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_write(file, bytes, position)
}
