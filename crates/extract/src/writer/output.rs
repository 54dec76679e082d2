//! A file that computes checksums of the bytes written, and keeps the error of a failed write,
//! because the Parquet writer turns some errors into texts.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use crate::checksum::{Checksums, Summing};

#[derive(Debug)]
pub(super) struct Output {
    file: BufWriter<File>,
    failed: Option<io::Error>,
    sums: Summing,
}

impl Output {
    pub(super) fn new(file: File) -> Self {
        Self {
            file: BufWriter::with_capacity(1 << 18, file),
            failed: None,
            sums: Summing::default(),
        }
    }

    /// Takes the first error.
    pub(super) fn take_error(&mut self) -> Option<io::Error> {
        self.failed.take()
    }

    /// Takes the checksums of everything that was written.
    pub(super) fn take_checksums(&mut self) -> Checksums {
        std::mem::take(&mut self.sums).finish()
    }

    /// Bytes of the file.
    pub(super) fn len(&self) -> io::Result<u64> {
        Ok(self.file.get_ref().metadata()?.len())
    }

    fn remember<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &done
            // The first error says what happened; later ones follow from it.
            && self.failed.is_none()
            && error.kind() != io::ErrorKind::Interrupted
        {
            // An error of the system cannot be cloned; one with the same number is equivalent.
            let same = error.raw_os_error().map(io::Error::from_raw_os_error);
            self.failed = Some(same.unwrap_or_else(|| error.kind().into()));
        }
        done
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.file.write(bytes);
        // A part of the bytes may have been taken.
        if let Some(written) = done.as_ref().ok().and_then(|count| bytes.get(..*count)) {
            self.sums.add(written);
        }
        self.remember(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.file.flush();
        self.remember(done)
    }
}
