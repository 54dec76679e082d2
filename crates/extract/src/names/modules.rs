//! The rows of `module`, with new facts about their symbol files.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use etwkit_symbols::NamedPdb;
use etwkit_trace::derive::TableSource;
use etwkit_trace::derive::columns::{Get, int32, text};
use etwkit_trace::sink::SinkError;
use etwkit_trace::table::{Column, Module, Row};

use super::load::Answer;
use super::rows::Names;

/// New facts for a row: the symbol file that its image names, and the number of functions in that
/// file. Without new facts a row stays as it was.
#[derive(Clone, Copy, Default)]
struct Learned<'a> {
    pdb: Option<&'a NamedPdb>,
    functions: Option<i32>,
}

impl Names<'_> {
    /// The rows of `module`, in their order.
    pub(super) fn modules(&self, source: &dyn TableSource) -> Result<Vec<RecordBatch>, SinkError> {
        let columns: Vec<&str> = Module::TABLE
            .columns
            .iter()
            .map(|column| column.name)
            .collect();
        let mut batches = Vec::new();
        let mut first = 0;
        source.scan(Module::TABLE, &columns, &mut |batch| {
            let learned: Vec<Learned<'_>> = (first..first + batch.num_rows())
                .map(|row| self.learned(row))
                .collect();
            first += batch.num_rows();
            batches.push(rewritten(batch, &learned)?);
            Ok(())
        })?;
        Ok(batches)
    }

    fn learned(&self, row: usize) -> Learned<'_> {
        let file = self.wanted.of_module.get(row).copied().flatten();
        let Some(Answer { pdb, functions, .. }) = file.and_then(|file| self.answers.get(file))
        else {
            return Learned::default();
        };
        Learned {
            pdb: pdb.as_ref(),
            functions: functions.and_then(|count| i32::try_from(count).ok()),
        }
    }
}

fn rewritten(batch: &RecordBatch, learned: &[Learned<'_>]) -> Result<RecordBatch, SinkError> {
    let pdb_text = |name: &str, of: &dyn Fn(&NamedPdb) -> String| -> Result<ArrayRef, SinkError> {
        let old = text(batch, name)?;
        let value = |(row, new): (usize, &Learned<'_>)| {
            // What the trace says stays, unless the image was asked because it said nothing.
            new.pdb.map(of).or_else(|| Some(old.get(row)?.to_owned()))
        };
        Ok(Arc::new(
            learned
                .iter()
                .enumerate()
                .map(value)
                .collect::<StringArray>(),
        ))
    };
    let number = |name: &str, of: &dyn Fn(&Learned<'_>) -> Option<i32>| -> ArrayRef {
        // Extracts of earlier versions have no number of functions.
        let old = int32(batch, name).ok();
        // A new number replaces an old one, since it comes from the file that is used now.
        let value = |(row, new): (usize, &Learned<'_>)| of(new).or_else(|| old?.get(row));
        Arc::new(
            learned
                .iter()
                .enumerate()
                .map(value)
                .collect::<Int32Array>(),
        )
    };
    let column = |column: &Column| -> Result<ArrayRef, SinkError> {
        Ok(match column.name {
            "pdb_guid" => pdb_text(column.name, &|pdb| pdb.identity.guid().to_string())?,
            "pdb_name" => pdb_text(column.name, &|pdb| pdb.path.clone())?,
            "pdb_age" => number(column.name, &|new| {
                Some(new.pdb?.identity.age().cast_signed())
            }),
            "function_count" => number(column.name, &|new| new.functions),
            name => batch
                // All other columns are taken as they are, without a copy.
                .column_by_name(name)
                .cloned()
                .ok_or("the table of modules lacks a column")?,
        })
    };
    let all = Module::TABLE
        .columns
        .iter()
        .map(column)
        .collect::<Result<Vec<ArrayRef>, SinkError>>()?;
    Ok(RecordBatch::try_new(Module::TABLE.schema(), all)?)
}
