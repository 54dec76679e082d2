//! Table files of extracts, as the engine reads them: by position, whether a file of its own or a
//! slice of an archive.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::stats::Precision;
use datafusion::common::{ScalarValue, Statistics};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::ParquetFileReaderFactory;
use datafusion::error::{DataFusionError, Result};
use datafusion::parquet::arrow::arrow_reader::ArrowReaderOptions;
use datafusion::parquet::arrow::async_reader::AsyncFileReader;
use datafusion::parquet::errors::{ParquetError, Result as ParquetResult};
use datafusion::parquet::file::metadata::{
    PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader,
};
use datafusion::parquet::file::reader::Length;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use etwkit_base::lock::lock;
use etwkit_extract::lake::{LakeFile, Snapshot};
use etwkit_extract::{Slice, TableFile};
use futures::future::{BoxFuture, ready};
use futures::{FutureExt, TryFutureExt};

/// A table file. Its footer is read once.
#[derive(Debug)]
pub(crate) struct OpenFile {
    place: Place,
    described: Mutex<Option<Described>>,
}

/// The place of a file.
#[derive(Debug)]
enum Place {
    /// This computer.
    Here(Slice),
    /// A lake in a bucket. Opening a file reads its end, so that only a scan does so that reads the file.
    Far(Arc<Snapshot>, LakeFile),
}

/// An open file with its description.
#[derive(Debug, Clone)]
struct Described {
    slice: Slice,
    metadata: Arc<ParquetMetaData>,
}

impl OpenFile {
    fn at(place: Place) -> Arc<Self> {
        Arc::new(Self {
            place,
            described: Mutex::new(None),
        })
    }

    pub(crate) fn open(file: &TableFile) -> Result<Arc<Self>> {
        let slice = file
            .open()
            .map_err(|e| DataFusionError::External(Box::new(e)))?;
        Ok(Self::at(Place::Here(slice)))
    }

    fn of_lake(file: &LakeFile, lake: &Arc<Snapshot>) -> etwkit_extract::lake::Result<Arc<Self>> {
        if lake.is_folder() {
            let slice = opened(lake, file)?;
            return Ok(Self::at(Place::Here(slice)));
        }
        Ok(Self::at(Place::Far(lake.clone(), file.clone())))
    }

    /// Returns `true` if reading does not wait for anything.
    fn is_in_memory(&self) -> bool {
        match &self.place {
            Place::Here(slice) => slice.is_in_memory(),
            // The lock is held while the file is being opened.
            Place::Far(..) => self
                .described
                .try_lock()
                .is_ok_and(|known| matches!(&*known, Some(known) if known.slice.is_in_memory())),
        }
    }

    fn read(&self, ranges: &[Range<u64>]) -> ParquetResult<Vec<Bytes>> {
        let Described { slice, metadata } = self.described()?;
        slice.read_columns(&metadata, ranges)
    }

    fn metadata(&self) -> ParquetResult<Arc<ParquetMetaData>> {
        Ok(self.described()?.metadata)
    }

    fn described(&self) -> ParquetResult<Described> {
        // Parallel parts of a scan wait here for the first one instead of reading it again.
        // A panic elsewhere leaves the value as it was, so the lock can be used on.
        let mut known = lock(&self.described);
        if let Some(known) = &*known {
            return Ok(known.clone());
        }
        let slice = match &self.place {
            Place::Here(slice) => slice.clone(),
            Place::Far(lake, file) => {
                opened(lake, file).map_err(|e| ParquetError::External(Box::new(e)))?
            }
        };
        // Both checks come first: the reader trusts lengths in a file, which may be damaged.
        slice.check_schema()?;
        let reader = ParquetMetaDataReader::new().with_page_index_policy(PageIndexPolicy::Optional);
        let metadata = Arc::new(reader.parse_and_finish(&slice)?);
        slice.check_pages(&metadata)?;
        // The ends of thousands of files would take much memory.
        let slice = slice.without_end();
        let read = Described { slice, metadata };
        *known = Some(read.clone());
        Ok(read)
    }
}

/// Opens a file of a lake, whose log has its size.
fn opened(lake: &Snapshot, file: &LakeFile) -> etwkit_extract::lake::Result<Slice> {
    let slice = lake.opened(file)?;
    // A file of another length was changed behind the log, and its rows would be others.
    if slice.len() != file.size {
        return Err(etwkit_extract::lake::Error::File {
            path: file.path.clone(),
            expected: format!("{} bytes, found {}", file.size, slice.len()),
            source: None,
        });
    }
    Ok(slice)
}

/// Describes a file to the scan: its rows, and the numbers of its extract and its trace as the
/// values of the additional columns.
pub(crate) fn describe(
    file: &TableFile,
    open: Arc<OpenFile>,
    ids: Option<(i32, i64)>,
    schema: &SchemaRef,
) -> PartitionedFile {
    let of = |(trace_id, run_id)| {
        vec![
            ScalarValue::Int32(Some(trace_id)),
            ScalarValue::Int64(Some(run_id)),
        ]
    };
    let mut statistics = Statistics::new_unknown(schema);
    // Without an exact number, `count(*)` would read the file and joins would hold the wrong side.
    // A number that does not fit is no number that a file can have.
    statistics.num_rows = Precision::Exact(usize::try_from(file.rows).unwrap_or(usize::MAX));
    // Plans identify files by name; the bytes come from the extension.
    PartitionedFile::new(file.path.to_string_lossy(), file.length)
        .with_partition_values(ids.map_or_else(Vec::new, of))
        .with_statistics(Arc::new(statistics))
        .with_extension(Opened(open))
}

/// Describes a file of a lake to the scan.
pub(crate) fn of_lake(
    file: &LakeFile,
    lake: &Arc<Snapshot>,
    schema: &SchemaRef,
) -> etwkit_extract::lake::Result<PartitionedFile> {
    let open = OpenFile::of_lake(file, lake)?;
    let mut statistics = Statistics::new_unknown(schema);
    // Logs of other writers need not have the number.
    if let Some(rows) = file.rows {
        statistics.num_rows = Precision::Exact(usize::try_from(rows).unwrap_or(usize::MAX));
    }
    let described = PartitionedFile::new(file.path.to_string_lossy(), file.size);
    Ok(described
        .with_statistics(Arc::new(statistics))
        .with_extension(Opened(open)))
}

struct Opened(Arc<OpenFile>);

/// Reads files that carry their [`OpenFile`].
#[derive(Debug)]
pub(crate) struct Readers;

impl ParquetFileReaderFactory for Readers {
    fn create_reader(
        &self,
        _partition_index: usize,
        file: PartitionedFile,
        _metadata_size_hint: Option<usize>,
        _metrics: &ExecutionPlanMetricsSet,
    ) -> Result<Box<dyn AsyncFileReader + Send>> {
        // The engine passes descriptions through; only the extension has the open file.
        let opened = file.extension::<Opened>().map(|opened| opened.0.clone());
        let opened = opened
            .ok_or_else(|| DataFusionError::Internal("a file that was not opened".to_owned()))?;
        Ok(Box::new(FileReader(opened)))
    }
}

struct FileReader(Arc<OpenFile>);

impl AsyncFileReader for FileReader {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, ParquetResult<Bytes>> {
        blocking(self.0.clone(), move |file| {
            let mut read = file.read(&[range])?;
            read.pop()
                .ok_or_else(|| ParquetError::EOF("no bytes were read".to_owned()))
        })
    }

    // All at once: a file in another place takes a while for each read.
    fn get_byte_ranges(
        &mut self,
        ranges: Vec<Range<u64>>,
    ) -> BoxFuture<'_, ParquetResult<Vec<Bytes>>> {
        blocking(self.0.clone(), move |file| file.read(&ranges))
    }

    fn get_metadata<'a>(
        &'a mut self,
        _options: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, ParquetResult<Arc<ParquetMetaData>>> {
        blocking(self.0.clone(), OpenFile::metadata)
    }
}

/// Reads on a thread for blocking work, so that a slow disk does not delay computation. Data in
/// memory is returned at once.
fn blocking<T: Send + 'static>(
    file: Arc<OpenFile>,
    read: impl FnOnce(&OpenFile) -> ParquetResult<T> + Send + 'static,
) -> BoxFuture<'static, ParquetResult<T>> {
    // A thread would cost more than the read.
    if file.is_in_memory() {
        return ready(read(&file)).boxed();
    }
    let ended = |e| ParquetError::External(Box::new(e));
    tokio::task::spawn_blocking(move || read(&file))
        .map_err(ended)
        .map(Result::flatten)
        .boxed()
}
