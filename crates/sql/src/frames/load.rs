//! Reading frames and stacks from the tables of a session.

use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{Int32Type, Int64Type};
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::{DataFusionError, Result};
use datafusion::physical_plan::execute_stream;
use etwkit_trace::table::{self, Row, Table};
use futures::TryStreamExt;
use tokio::sync::OnceCell;

use super::{Frame, Frames, Method, Module, Node, TraceFrames};
use crate::provider::{DeclaredTable, TRACE_ID};

/// Reads frames and stacks when they are first needed.
#[derive(Debug)]
pub(crate) struct Loader {
    traces: usize,
    tables: [Arc<DeclaredTable>; 4],
    frames: OnceCell<Arc<Frames>>,
}

/// The tables that are read: declaration and columns.
const TABLES: [(&Table, &[&str]); 4] = [
    (table::Stack::TABLE, &["stack_id", "parent_id", "frame_id"]),
    (
        table::Frame::TABLE,
        &["frame_id", "module_id", "method_id", "rva", "address"],
    ),
    (table::Module::TABLE, &["module_id", "name", "path"]),
    (table::Method::TABLE, &["method_id", "name", "module_id"]),
];

impl Loader {
    /// Creates a loader for a session with `traces` traces; `find` returns its tables.
    pub(crate) fn new(traces: usize, find: impl Fn(&'static Table) -> Arc<DeclaredTable>) -> Self {
        Self {
            traces,
            tables: TABLES.map(|(table, _)| find(table)),
            frames: OnceCell::new(),
        }
    }

    /// Returns the frames, if they were read already.
    pub(crate) fn loaded(&self) -> Option<Arc<Frames>> {
        self.frames.get().cloned()
    }

    /// Returns the frames, which the first caller reads.
    pub(crate) async fn frames(&self, session: &dyn Session) -> Result<Arc<Frames>> {
        self.frames
            .get_or_try_init(|| self.load(session))
            .await
            .cloned()
    }

    async fn load(&self, session: &dyn Session) -> Result<Arc<Frames>> {
        let mut frames = Frames::default();
        frames.traces.resize_with(self.traces, TraceFrames::default);
        for (fill, (provider, (_, columns))) in FILL.into_iter().zip(self.tables.iter().zip(TABLES))
        {
            let batches = read(session, provider, columns).await?;
            // Numbers are below the number of rows; so is the memory that they can ask for.
            for trace_id in 0..self.traces {
                let rows = batches.iter().map(|batch| of_trace(batch, trace_id)).sum();
                if let Some(trace) = frames.traces.get_mut(trace_id) {
                    for batch in &batches {
                        fill(trace, rows, batch, trace_id);
                    }
                }
            }
        }
        frames.traces.iter_mut().for_each(TraceFrames::identify);
        Ok(Arc::new(frames))
    }
}

type Fill = fn(&mut TraceFrames, usize, &RecordBatch, usize);
const FILL: [Fill; 4] = [fill_stacks, fill_frames, fill_modules, fill_methods];

/// Reads columns of a table, in that order, with the number of the extract after them if there are
/// several.
async fn read(
    session: &dyn Session,
    table: &DeclaredTable,
    columns: &[&str],
) -> Result<Vec<RecordBatch>> {
    let schema = table.schema();
    let trace_id = schema.index_of(TRACE_ID).ok();
    let columns: std::result::Result<Vec<usize>, _> =
        columns.iter().map(|name| schema.index_of(name)).collect();
    let mut columns = columns.map_err(|e| DataFusionError::Internal(e.to_string()))?;
    // The number of the extract goes last, so that the positions of the other columns do not depend
    // on it.
    columns.extend(trace_id);
    let plan = table.scan(session, Some(&columns), &[], None).await?;
    execute_stream(plan, session.task_ctx())?
        .try_collect()
        .await
}

/// Returns the rows of an extract in a batch.
fn rows_of(batch: &RecordBatch, trace_id: usize) -> impl Iterator<Item = usize> + '_ {
    let traces = batch
        .column_by_name(TRACE_ID)
        .map(|column| column.as_primitive::<Int32Type>().values().clone());
    let is_there = move |row: &usize| match &traces {
        Some(traces) => traces
            .get(*row)
            .is_some_and(|id| usize::try_from(*id) == Ok(trace_id)),
        None => true,
    };
    (0..batch.num_rows()).filter(is_there)
}

fn of_trace(batch: &RecordBatch, trace_id: usize) -> usize {
    rows_of(batch, trace_id).count()
}

fn int32(batch: &RecordBatch, column: usize, row: usize) -> Option<i32> {
    let column = batch
        .columns()
        .get(column)?
        .as_primitive_opt::<Int32Type>()?;
    column.is_valid(row).then(|| column.value(row))
}

fn int64(batch: &RecordBatch, column: usize, row: usize) -> Option<i64> {
    let column = batch
        .columns()
        .get(column)?
        .as_primitive_opt::<Int64Type>()?;
    column.is_valid(row).then(|| column.value(row))
}

fn text(batch: &RecordBatch, column: usize, row: usize) -> Option<Box<str>> {
    let column = batch.columns().get(column)?.as_string_opt::<i32>()?;
    column.is_valid(row).then(|| column.value(row).into())
}

/// Returns the place for the row's number in a list of at most `rows` entries.
fn place<'l, T>(
    list: &'l mut Vec<T>,
    rows: usize,
    batch: &RecordBatch,
    row: usize,
    empty: fn() -> T,
) -> Option<&'l mut T> {
    // Numbers are dense in a sound extract. One beyond the rows is damage and has no place: memory
    // must not grow with a number that a file claims.
    list.resize_with(rows, empty);
    list.get_mut(usize::try_from(int32(batch, 0, row)?).ok()?)
}

fn fill_stacks(trace: &mut TraceFrames, rows: usize, batch: &RecordBatch, trace_id: usize) {
    for row in rows_of(batch, trace_id) {
        if let Some(node) = place(&mut trace.nodes, rows, batch, row, || Node::MISSING) {
            *node = Node {
                parent: int32(batch, 1, row).unwrap_or(-1),
                frame: int32(batch, 2, row).unwrap_or(-1),
            };
        }
    }
}

fn fill_frames(trace: &mut TraceFrames, rows: usize, batch: &RecordBatch, trace_id: usize) {
    let empty = || Frame {
        module: -1,
        method: -1,
        rva: None,
        address: 0,
        identity: 0,
    };
    for row in rows_of(batch, trace_id) {
        // A frame without an address is damage, and counts as missing.
        let frame = place(&mut trace.frames, rows, batch, row, empty);
        if let Some((frame, address)) = frame.zip(int64(batch, 4, row)) {
            *frame = Frame {
                module: int32(batch, 1, row).unwrap_or(-1),
                method: int32(batch, 2, row).unwrap_or(-1),
                rva: int64(batch, 3, row),
                address,
                identity: 0,
            };
        }
    }
}

fn fill_modules(trace: &mut TraceFrames, rows: usize, batch: &RecordBatch, trace_id: usize) {
    for row in rows_of(batch, trace_id) {
        // A module without a name or a path is damage, and counts as missing.
        let read = || {
            Some(Module {
                name: text(batch, 1, row)?,
                path: text(batch, 2, row)?,
            })
        };
        if let Some(module) = place(&mut trace.modules, rows, batch, row, || None) {
            *module = read();
        }
    }
}

fn fill_methods(trace: &mut TraceFrames, rows: usize, batch: &RecordBatch, trace_id: usize) {
    for row in rows_of(batch, trace_id) {
        let read = || {
            Some(Method {
                name: text(batch, 1, row)?,
                module: int32(batch, 2, row).unwrap_or(-1),
            })
        };
        if let Some(method) = place(&mut trace.methods, rows, batch, row, || None) {
            *method = read();
        }
    }
}
