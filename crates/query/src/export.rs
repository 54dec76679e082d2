//! Answers as Parquet files.

use std::io::Write;

use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::errors::ParquetError;
use datafusion::parquet::file::properties::WriterProperties;

use crate::{Answer, Error, Result};

impl Answer {
    /// Writes all rows as a Parquet file, as they come. Returns how many there were.
    ///
    /// # Errors
    /// An error of the answer, or the file cannot be written.
    pub fn write_parquet(self, file: impl Write + Send) -> Result<usize> {
        let properties =
            WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
        let schema = self.schema().clone();
        let mut writer = ArrowWriter::try_new(file, schema, Some(properties)).map_err(|e| failed(&e))?;
        let mut rows = 0;
        for batch in self {
            let batch = batch?;
            rows += batch.num_rows();
            writer.write(&batch).map_err(|e| failed(&e))?;
        }
        writer.close().map_err(|e| failed(&e))?;
        Ok(rows)
    }
}

fn failed(error: &ParquetError) -> Error {
    Error::Failed { message: format!("cannot write the Parquet file: {error}") }
}
