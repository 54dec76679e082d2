//! A file that remembers why it could not be written: the Parquet writer turns some errors into texts.

use std::fs::File;
use std::io::{self, BufWriter, Write};

#[derive(Debug)]
pub(super) struct Output {
    file: BufWriter<File>,
    failed: Option<io::Error>,
}

impl Output {
    pub(super) fn new(file: File) -> Self {
        Self { file: BufWriter::with_capacity(1 << 18, file), failed: None }
    }

    /// The first error, once.
    pub(super) fn take_error(&mut self) -> Option<io::Error> {
        self.failed.take()
    }

    /// Bytes of the file.
    pub(super) fn len(&self) -> io::Result<u64> {
        Ok(self.file.get_ref().metadata()?.len())
    }

    fn remember<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &done
            && self.failed.is_none()
            && error.kind() != io::ErrorKind::Interrupted
        {
            let same = error.raw_os_error().map(io::Error::from_raw_os_error);
            self.failed = Some(same.unwrap_or_else(|| error.kind().into()));
        }
        done
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.file.write(bytes);
        self.remember(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.file.flush();
        self.remember(done)
    }
}
