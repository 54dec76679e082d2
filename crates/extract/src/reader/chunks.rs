//! The bytes of columns, by the description of a file.

use std::ops::Range;

use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::page_index::offset_index::PageLocation;

/// The bytes of a column in a row group.
pub(super) struct Chunk<'m> {
    pub(super) name: String,
    pub(super) range: Range<u64>,
    /// The pages that its index names; empty without an index.
    pub(super) indexed: &'m [PageLocation],
}

impl Chunk<'_> {
    /// The name of the column in the schema of the table: the outermost one of a list or a map.
    pub(super) fn column(&self) -> &str {
        self.name.split('.').next().unwrap_or(&self.name)
    }
}

/// Returns the columns of all row groups.
///
/// # Errors
/// One reaches past the end of the file, or two overlap.
pub(super) fn chunks(
    metadata: &ParquetMetaData,
    size: u64,
) -> Result<Vec<Chunk<'_>>, ParquetError> {
    let mut all = Vec::new();
    for (group, of_group) in metadata.row_groups().iter().enumerate() {
        for (at, column) in of_group.columns().iter().enumerate() {
            let (start, length) = column.byte_range();
            let chunk = Chunk {
                name: column.column_path().string(),
                range: start..start.saturating_add(length),
                indexed: indexed(metadata, group, at),
            };
            if chunk.range.end > size {
                let name = chunk.name;
                return Err(ParquetError::EOF(format!(
                    "the column {name} reaches past the end"
                )));
            }
            all.push(chunk);
        }
    }
    refuse_overlap(&all)?;
    Ok(all)
}

/// Returns the pages that the index of a column in a row group names; none without an index.
pub(super) fn indexed(metadata: &ParquetMetaData, group: usize, column: usize) -> &[PageLocation] {
    let of_group = metadata.offset_index().and_then(|all| all.get(group));
    let of_column = of_group.and_then(|columns| columns.get(column));
    match of_column {
        Some(index) => index.page_locations(),
        None => &[],
    }
}

/// Refuses a byte in two columns. A range of one column would be taken for one of the other, so that a
/// decoder would find headers of pages that nobody has checked.
fn refuse_overlap(chunks: &[Chunk<'_>]) -> Result<(), ParquetError> {
    let has_bytes = |chunk: &&Chunk<'_>| !chunk.range.is_empty();
    let mut sorted: Vec<&Chunk<'_>> = chunks.iter().filter(has_bytes).collect();
    sorted.sort_by_key(|chunk| chunk.range.start);
    let mut neighbours = sorted.iter().zip(sorted.iter().skip(1));
    let overlapping = neighbours.find(|(first, second)| second.range.start < first.range.end);
    let Some((first, second)) = overlapping else {
        return Ok(());
    };
    Err(ParquetError::General(format!(
        "the columns {} and {} overlap",
        first.name, second.name
    )))
}

/// Returns the column that a range is in; `None` for a range outside of all columns, such as an index.
///
/// # Errors
/// The range is partly in a column, or reaches past the end of the file.
pub(super) fn chunk_around<'c, 'm>(
    chunks: &'c [Chunk<'m>],
    range: &Range<u64>,
    size: u64,
) -> Result<Option<&'c Chunk<'m>>, ParquetError> {
    let touches =
        |chunk: &&Chunk<'m>| range.start < chunk.range.end && chunk.range.start < range.end;
    let touched = chunks.iter().find(touches);
    let bounds = touched.map_or(0..size, |chunk| chunk.range.clone());
    if range.start > range.end || range.start < bounds.start || range.end > bounds.end {
        let (start, end) = (range.start, range.end);
        return Err(ParquetError::EOF(format!(
            "the bytes {start} to {end} reach out of their column"
        )));
    }
    Ok(touched)
}
