//! Merging of files into few that are sorted by run.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{FieldRef, Schema, SchemaRef};

use crate::lake::log::{File, UncommittedFile};
use crate::lake::read::{Key, Rows, Span, spans};
use crate::lake::store::Store;
use crate::lake::write::Writer;
use crate::lake::{Result, layout};

/// A file that is merged, and its next rows.
struct Source {
    rows: Rows,
    batch: Option<RecordBatch>,
    spans: VecDeque<Span>,
}

impl Source {
    fn open(store: &Store, name: &str) -> Result<Self> {
        Ok(Self {
            rows: Rows::open(store, name, None)?,
            batch: None,
            spans: VecDeque::new(),
        })
    }

    /// Returns the run of the next rows; `None` at the end.
    fn next_run(&mut self) -> Result<Option<i64>> {
        // A batch may be empty, and then the next one is looked at.
        while self.spans.is_empty() {
            let Some(batch) = self.rows.next().transpose()? else {
                return Ok(None);
            };
            self.spans = spans(self.rows.path(), &batch)?.into();
            self.batch = Some(batch);
        }
        Ok(self.spans.front().map(|span| span.key.0))
    }

    /// Takes the next rows, which have one key.
    fn take(&mut self) -> Option<(Key, RecordBatch)> {
        let span = self.spans.pop_front()?;
        let batch = self.batch.as_ref()?;
        // Slices share the memory of the batch.
        Some((span.key, batch.slice(span.from, span.rows)))
    }
}

/// Writes the rows of files that are sorted by run into new ones, in which each run is in one piece.
/// Rows whose key is not kept are left out.
pub(crate) fn merged(
    store: &Store,
    (table, part): (&str, &str),
    files: &[&File],
    keeps: &dyn Fn(Key) -> bool,
) -> Result<Vec<UncommittedFile>> {
    let mut sources = Vec::new();
    for file in files {
        sources.push(Source::open(store, &file.name_in(table))?);
    }
    let schema = all_columns(sources.iter().map(|source| source.rows.schema()));
    let mut writer = Writer::new(store, table, part, schema.clone());
    // A merge by run: each source is sorted, so that the lowest next run is the next in the output,
    // and no file is held in memory.
    while let Some(source) = lowest(&mut sources)? {
        if let Some((key, rows)) = source.take()
            && keeps(key)
        {
            writer.write(&conformed(table, &schema, &rows)?)?;
        }
    }
    writer.finish()
}

/// Returns the columns of all files: versions of the program have different ones.
fn all_columns(schemas: impl Iterator<Item = SchemaRef>) -> SchemaRef {
    let mut fields: Vec<FieldRef> = Vec::new();
    for schema in schemas {
        for field in schema.fields() {
            // By name, since the order of columns differs between versions.
            if fields.iter().all(|known| known.name() != field.name()) {
                fields.push(field.clone());
            }
        }
    }
    Arc::new(Schema::new(fields))
}

/// Returns the source with the lowest run. Of several the first one, so that rows keep their order.
fn lowest(sources: &mut [Source]) -> Result<Option<&mut Source>> {
    let mut lowest: Option<(i64, usize)> = None;
    for (at, source) in sources.iter_mut().enumerate() {
        if let Some(run) = source.next_run()?
            && lowest.is_none_or(|(least, _)| run < least)
        {
            lowest = Some((run, at));
        }
    }
    Ok(lowest.and_then(|(_, at)| sources.get_mut(at)))
}

/// Returns rows with all columns of a schema. Those that the rows lack have no values.
fn conformed(table: &str, schema: &SchemaRef, rows: &RecordBatch) -> Result<RecordBatch> {
    if rows.schema_ref() == schema {
        return Ok(rows.clone());
    }
    // Without this the writer would refuse rows that lack a column of the others.
    layout::filled(table, schema, rows.num_rows(), |name| {
        rows.column_by_name(name).cloned()
    })
}

#[cfg(test)]
mod tests {
    use arrow_schema::{DataType, Field};

    use super::*;

    #[test]
    fn merged_files_keep_the_columns_of_each() {
        let schema = |names: [&str; 2]| {
            let fields = names.map(|name| Field::new(name, DataType::Int64, true));
            Arc::new(Schema::new(fields.to_vec()))
        };
        let all = all_columns([schema(["a", "old"]), schema(["a", "new"])].into_iter());
        let names: Vec<&str> = all
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .collect();
        assert_eq!(names, ["a", "old", "new"]);
    }
}
