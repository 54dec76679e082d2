//! Rows of a table of the extract by their numbers.

use std::path::PathBuf;

use arrow_array::RecordBatch;
use etwkit_base::ordered::both;
use etwkit_extract::{Slice, TableFile};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::PageIndexPolicy;

use crate::error::{Error, Result};
use crate::page::{guarded, rows_of};

/// Minimum number of rows for which a second thread decodes half of them.
const ROWS_FOR_TWO: u64 = 1 << 15;

/// A table file that is open for any number of readers.
#[derive(Debug)]
pub(crate) struct BaseFile {
    path: PathBuf,
    slice: Slice,
    metadata: ArrowReaderMetadata,
    /// First row of each row group, followed by the total number of rows.
    starts: Vec<u64>,
    /// That total number.
    rows: u64,
}

impl BaseFile {
    pub(crate) fn open(file: &TableFile) -> Result<Self> {
        let slice = file.open()?;
        let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
        let load = || {
            slice.check_schema()?;
            let metadata = ArrowReaderMetadata::load(&slice, options)?;
            slice.check_pages(metadata.metadata())?;
            Ok(metadata)
        };
        let metadata = guarded(load).map_err(Error::pages(&file.path))?;
        let mut rows = 0u64;
        let mut starts = vec![rows];
        for group in metadata.metadata().row_groups() {
            let of_group = rows_of(group).map_err(Error::pages(&file.path))?;
            rows = rows.saturating_add(of_group as u64);
            starts.push(rows);
        }
        Ok(Self {
            path: file.path.clone(),
            slice,
            metadata,
            starts,
            rows,
        })
    }

    pub(crate) const fn rows(&self) -> u64 {
        self.rows
    }

    /// Reads these columns of the rows from `from` up to `to` in batches, each with the number of
    /// its first row. Returns the number of rows.
    pub(crate) fn read(
        &self,
        columns: Option<&[&str]>,
        (from, to): (u64, u64),
        on_batch: &mut dyn FnMut(&RecordBatch, u64) -> Result<()>,
    ) -> Result<u64> {
        let to = to.min(self.rows());
        if to.saturating_sub(from) < ROWS_FOR_TWO {
            return self.decode(columns, (from, to), on_batch);
        }
        let middle = from + (to - from) / 2;
        // The half decoded by the other thread waits in memory until the first half was handed on,
        // because the caller receives rows in order.
        let collect = || -> Result<Vec<(RecordBatch, u64)>> {
            let mut batches = Vec::new();
            self.decode(columns, (middle, to), &mut |batch, first| {
                batches.push((batch.clone(), first));
                Ok(())
            })?;
            Ok(batches)
        };
        let (back, front) = both(collect, || self.decode(columns, (from, middle), on_batch));
        front?;
        back?
            .iter()
            .try_for_each(|(batch, first)| on_batch(batch, *first))?;
        Ok(to - from)
    }

    /// Decodes rows in order, one batch after the other.
    fn decode(
        &self,
        columns: Option<&[&str]>,
        (from, to): (u64, u64),
        on_batch: &mut dyn FnMut(&RecordBatch, u64) -> Result<()>,
    ) -> Result<u64> {
        if from >= to {
            return Ok(0);
        }
        let reader =
            guarded(|| self.reader(columns, (from, to))).map_err(Error::pages(&self.path))?;
        let mut reader = reader.into_iter();
        let mut at = from;
        loop {
            let next = guarded(|| reader.next().transpose().map_err(ParquetError::from));
            let Some(batch) = next.map_err(Error::pages(&self.path))? else {
                return Ok(at - from);
            };
            on_batch(&batch, at)?;
            at = at.saturating_add(batch.num_rows() as u64);
        }
    }

    fn reader(
        &self,
        columns: Option<&[&str]>,
        (from, to): (u64, u64),
    ) -> std::result::Result<parquet::arrow::arrow_reader::ParquetRecordBatchReader, ParquetError>
    {
        let ends = self.starts.iter().skip(1);
        let touched: Vec<(usize, u64, u64)> = self
            .starts
            .iter()
            .zip(ends)
            .enumerate()
            .map(|(group, (begin, end))| (group, *begin, *end))
            .filter(|(_, begin, end)| *begin < to && *end > from)
            .collect();
        let groups = touched.iter().map(|(group, ..)| *group).collect();
        let (Some((_, base, _)), Some((_, _, end))) = (touched.first(), touched.last()) else {
            return Err(ParquetError::General(format!(
                "no row group has the rows {from} to {to}"
            )));
        };
        // The selection counts from the first row of the first row group that is read, not from the
        // first row of the file.
        let rows = end.saturating_sub(*base);
        let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let wanted = number(from - base)..number(to - base);
        let selection =
            RowSelection::from_consecutive_ranges(std::iter::once(wanted), number(rows));
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(
            self.slice.clone(),
            self.metadata.clone(),
        );
        let mask = match columns {
            Some(names) => ProjectionMask::columns(builder.parquet_schema(), names.iter().copied()),
            None => ProjectionMask::all(),
        };
        builder
            .with_projection(mask)
            .with_row_groups(groups)
            .with_row_selection(selection)
            .with_batch_size(8192)
            .build()
    }
}
