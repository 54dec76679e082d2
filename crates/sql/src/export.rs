//! Answers as Parquet files and as streams of Arrow.

use std::io::{self, Write};

use datafusion::arrow::error::ArrowError;
use datafusion::arrow::ipc::writer::StreamWriter;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::errors::ParquetError;
use datafusion::parquet::file::properties::WriterProperties;

use crate::{Answer, Error, Result};

impl Answer {
    /// Writes all rows as a Parquet file, batch by batch. Returns their number.
    ///
    /// # Errors
    /// An error of the answer, or the file cannot be written.
    pub fn write_parquet(self, file: impl Write + Send) -> Result<usize> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build();
        let schema = self.schema().clone();
        let mut writer = ArrowWriter::try_new(file, schema, Some(properties)).map_err(of_file)?;
        let mut rows = 0;
        for batch in self {
            let batch = batch?;
            rows += batch.num_rows();
            writer.write(&batch).map_err(of_file)?;
        }
        // Without its footer, a file of Parquet cannot be read, so an error leaves nothing
        // usable.
        writer.close().map_err(of_file)?;
        Ok(rows)
    }

    /// Writes all rows as a stream of Arrow messages (the IPC format, without compression, which
    /// every reader knows), batch by batch. Returns their number.
    ///
    /// # Errors
    /// An error of the answer, or one of `out`. What was written has no end mark then, so that no
    /// reader takes it for the whole answer.
    pub fn write_arrow(self, out: impl Write) -> Result<usize> {
        let mut writer = StreamWriter::try_new(out, self.schema()).map_err(of_stream)?;
        let mut rows = 0;
        for batch in self {
            let batch = batch?;
            rows += batch.num_rows();
            writer.write(&batch).map_err(of_stream)?;
        }
        writer.finish().map_err(of_stream)?;
        Ok(rows)
    }
}

/// Converts an error of writing a stream.
fn of_stream(error: ArrowError) -> Error {
    // The error of the file is unwrapped, so that a full disk is reported as such.
    Error::Write(match error {
        ArrowError::IoError(_, error) => error,
        other => io::Error::other(other),
    })
}

/// Converts an error of writing a file of Parquet.
fn of_file(error: ParquetError) -> Error {
    Error::Write(match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::array::{ArrayRef, Int32Array, RecordBatch};

    use super::*;

    /// A disk without space.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_an_error_of_the_system() {
        let rows = || {
            let pids: ArrayRef = Arc::new(Int32Array::from(vec![4]));
            Answer::of_rows(RecordBatch::try_from_iter([("pid", pids)]).unwrap())
        };
        for error in [
            rows().write_parquet(Full).unwrap_err(),
            rows().write_arrow(Full).unwrap_err(),
        ] {
            let Error::Write(error) = error else {
                panic!("{error}");
            };
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        }
    }
}
