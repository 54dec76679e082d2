//! `method_hash`: hashes of methods that are equal in all traces. They are set when all names are
//! known.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use etwkit_trace::code_hash::of_method;
use etwkit_trace::derive::TableSource;
use etwkit_trace::derive::columns::{Get, int32, text};
use etwkit_trace::sink::SinkError;
use etwkit_trace::table::{Frame, Method, Module, Row, Table};

use crate::Writer;
use crate::sealed::Sealed;

/// Sets the column for methods that frames have, from the names known now.
pub(crate) fn write(sealed: Sealed, writer: &mut Writer) -> Result<Sealed, SinkError> {
    let Some(methods) = sealed.0.get(Method::TABLE.name) else {
        return Ok(sealed);
    };
    let names = module_names(&sealed)?;
    let mut is_in_frame = vec![false; usize::try_from(methods.rows)?];
    sealed.scan(Frame::TABLE, &["method_id"], &mut |batch| {
        let method = int32(batch, "method_id")?;
        for row in 0..batch.num_rows() {
            let place = method
                .get(row)
                .and_then(|id| is_in_frame.get_mut(usize::try_from(id).ok()?));
            if let Some(place) = place {
                *place = true;
            }
        }
        Ok(())
    })?;
    let mut id = 0;
    writer.rewrite(&sealed, Method::TABLE, &mut |batch| {
        let of = int32(batch, "module_id")?;
        let name = text(batch, "name")?;
        let module = |row| Some(names.get(usize::try_from(of.get(row)?).ok()?)?.as_str());
        let mut hashes = Vec::with_capacity(batch.num_rows());
        for row in 0..batch.num_rows() {
            let hash = || of_method(module(row).unwrap_or(""), name.get(row).unwrap_or(""));
            hashes.push(is_in_frame.get(id).filter(|is| **is).map(|_| hash()));
            id += 1;
        }
        with_column(Method::TABLE, batch, "method_hash", hashes)
    })?;
    Ok(Sealed(writer.seal()?))
}

fn module_names(sealed: &Sealed) -> Result<Vec<String>, SinkError> {
    let mut names = Vec::new();
    sealed.scan(Module::TABLE, &["name"], &mut |batch| {
        let name = text(batch, "name")?;
        names.extend((0..batch.num_rows()).map(|row| name.get(row).unwrap_or("").to_owned()));
        Ok(())
    })?;
    Ok(names)
}

/// Rows of a table with other values in one column.
fn with_column(
    table: &Table,
    batch: &RecordBatch,
    name: &str,
    values: Vec<Option<i64>>,
) -> Result<RecordBatch, SinkError> {
    let values: ArrayRef = Arc::new(Int64Array::from(values));
    let column = |column: &etwkit_trace::table::Column| {
        if column.name == name {
            Some(values.clone())
        } else {
            batch.column_by_name(column.name).cloned()
        }
    };
    let all: Option<Vec<ArrayRef>> = table.columns.iter().map(column).collect();
    Ok(RecordBatch::try_new(
        table.schema(),
        all.ok_or("the table lacks a column")?,
    )?)
}
