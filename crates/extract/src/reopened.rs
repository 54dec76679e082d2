//! Files that are open only while they are read often: a question about hundreds of extracts has more
//! of them than a process may have open.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use etwkit_base::lock::lock;
use etwkit_etl::source::ByteSource as _;

use crate::source::Source;

/// Files that stay open: far fewer than the 256 that some systems allow, and enough for all that a
/// question reads at the same time.
const OPEN: usize = 96;

/// The open files, the one that was read last at the end.
static OPENED: Mutex<VecDeque<(u64, Source)>> = Mutex::new(VecDeque::new());

/// Number of the next file.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A file that is read by position. It is opened for the first read, and closed when many others
/// were read after it; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Reopened(Arc<Place>);

#[derive(Debug)]
struct Place {
    number: u64,
    path: PathBuf,
    size: u64,
}

impl Drop for Place {
    fn drop(&mut self) {
        // Nothing else can read it any more.
        let closed = take(self.number);
        drop(closed);
    }
}

impl Reopened {
    /// Opens the file.
    ///
    /// # Errors
    /// The system refuses it.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let source = opened(path)?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let size = source.size();
        keep(number, source);
        Ok(Self(Arc::new(Place {
            number,
            path: path.to_owned(),
            size,
        })))
    }

    /// Returns the size that the file had when it was opened.
    pub(crate) fn size(&self) -> u64 {
        self.0.size
    }

    /// Fills `buf` from a position; returns how many bytes there were.
    ///
    /// # Errors
    /// The file cannot be read, or not be opened again, or has another size by now.
    pub(crate) fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let Place { number, path, size } = &*self.0;
        let source = match take(*number) {
            Some(source) => source,
            None => opened(path)?,
        };
        if source.size() != *size {
            return Err(io::Error::other("it was replaced while it was read"));
        }
        // Back before it is read, so that other threads find it open.
        keep(*number, source.clone());
        source.read_at(offset, buf)
    }
}

fn opened(path: &Path) -> io::Result<Source> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    Ok(Source::new(file, size, false))
}

/// Takes an open file out of the list.
fn take(number: u64) -> Option<Source> {
    let mut opened = lock(&OPENED);
    // From the end, where a file is that is read again and again.
    let at = opened.iter().rposition(|(of, _)| *of == number)?;
    opened.remove(at).map(|(_, source)| source)
}

/// Puts a file at the end of the list, and closes the first one if there are too many.
fn keep(number: u64, source: Source) {
    let closed = {
        let mut opened = lock(&OPENED);
        if opened.iter().any(|(of, _)| *of == number) {
            // Another thread opened it as well.
            return;
        }
        opened.push_back((number, source));
        if opened.len() > OPEN {
            opened.pop_front()
        } else {
            None
        }
    };
    // Outside of the lock: closing a file of a network can take long.
    drop(closed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_files_is_read_with_few_open_ones() {
        let folder = tempfile::tempdir().unwrap();
        let files: Vec<Reopened> = (0..3 * OPEN)
            .map(|number| {
                let path = folder.path().join(number.to_string());
                std::fs::write(&path, format!("{number:08}")).unwrap();
                Reopened::open(&path).unwrap()
            })
            .collect();
        for _ in 0..2 {
            for (number, file) in files.iter().enumerate() {
                let mut bytes = [0; 4];
                assert_eq!(file.read_at(4, &mut bytes).unwrap(), 4);
                assert_eq!(bytes, format!("{number:08}").as_bytes()[4..]);
                assert_eq!(file.size(), 8);
            }
        }
        let numbers: Vec<u64> = files.iter().map(|file| file.0.number).collect();
        let is_open = |number: &&u64| {
            let opened = OPENED.lock().unwrap();
            opened.iter().any(|(of, _)| of == *number)
        };
        assert!(numbers.iter().filter(is_open).count() <= OPEN);
        drop(files);
        assert_eq!(numbers.iter().filter(is_open).count(), 0);
    }

    #[test]
    fn a_file_of_another_size_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table");
        std::fs::write(&path, b"before").unwrap();
        let file = Reopened::open(&path).unwrap();
        drop(take(file.0.number));
        std::fs::write(&path, b"another").unwrap();
        let error = file.read_at(0, &mut [0; 4]).unwrap_err();
        assert_eq!(error.to_string(), "it was replaced while it was read");
        std::fs::remove_file(&path).unwrap();
        let error = file.read_at(0, &mut [0; 4]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
