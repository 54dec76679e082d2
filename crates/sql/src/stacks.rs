//! `stack_frame`, `stack_text` and `stack_hash`: stacks unrolled, as text and as numbers, computed
//! while they are read and only for the requested stacks.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::builder::{
    BooleanBuilder, Int32Builder, Int64Builder, StringBuilder,
};
use datafusion::arrow::array::{ArrayRef, AsArray, Int32Array, RecordBatch};
use datafusion::arrow::compute::filter_record_batch;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DFSchema, project_schema};
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use etwkit_trace::table::{Row, StackHash, Table};
use futures::stream;

use crate::frames::{Frames, Loader, TraceFrames};
use crate::provider::{RUN_ID, TRACE_ID, leading_values, schema_of};
use crate::views::{STACK_FRAME, STACK_TEXT};

/// Maximum number of rows of a batch, unless a single stack has more.
const BATCH_ROWS: usize = 8192;
/// Maximum size of the texts of a batch in bytes, unless a single stack has more.
const BATCH_BYTES: usize = 8 << 20;
/// Number of a stack: the column that filters can use.
const STACK_ID: &str = "stack_id";

/// A table with rows for each stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unrolled {
    /// `stack_frame`: a row for each frame.
    Frames,
    /// `stack_text`: a row for each stack.
    Text,
    /// `stack_hash`: a row for each stack, even if the file of the table has none.
    Hash,
}

impl Unrolled {
    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::Frames, Self::Text, Self::Hash]
            .into_iter()
            .find(|unrolled| unrolled.table().name == name)
    }

    fn table(self) -> &'static Table {
        match self {
            Self::Frames => &STACK_FRAME,
            Self::Text => &STACK_TEXT,
            Self::Hash => StackHash::TABLE,
        }
    }
}

/// The provider of one of these tables.
#[derive(Debug)]
pub(crate) struct StackTable {
    unrolled: Unrolled,
    schema: SchemaRef,
    /// `trace_id` and `run_id`, if rows carry them, and `stack_id`.
    ids: SchemaRef,
    loader: Arc<Loader>,
    /// The traces of the extracts.
    run_ids: Vec<i64>,
}

/// Returns `true` for columns that filters can use.
fn is_id(name: &str) -> bool {
    [TRACE_ID, RUN_ID, STACK_ID].contains(&name)
}

impl StackTable {
    pub(crate) fn new(
        unrolled: Unrolled,
        has_trace_id: bool,
        loader: Arc<Loader>,
        run_ids: Vec<i64>,
    ) -> Self {
        let schema = schema_of(unrolled.table(), has_trace_id);
        let ids: Vec<_> = schema
            .fields()
            .iter()
            .filter(|field| is_id(field.name()))
            .cloned()
            .collect();
        Self {
            unrolled,
            schema,
            ids: Arc::new(Schema::new(ids)),
            loader,
            run_ids,
        }
    }

    /// Returns the stacks of a trace that pass the filters, in their order.
    fn select(
        &self,
        session: &dyn Session,
        filters: &[Expr],
        ids: (i32, i64),
        trace: &TraceFrames,
    ) -> Result<Int32Array> {
        // Choosing works on the numbers of stacks alone: nothing is unrolled for stacks that a
        // filter leaves out.
        let all = Int32Array::from_iter_values((0..).take(trace.stacks()));
        let Some(filter) = conjunction(filters.to_vec()) else {
            return Ok(all);
        };
        let filter =
            session.create_physical_expr(filter, &DFSchema::try_from(self.ids.clone())?)?;
        let mut columns: Vec<ArrayRef> = vec![Arc::new(all)];
        if self.ids.fields().len() > 1 {
            columns.splice(0..0, leading_values(ids, trace.stacks()));
        }
        let ids = RecordBatch::try_new(self.ids.clone(), columns)?;
        let passes = filter.evaluate(&ids)?.into_array(ids.num_rows())?;
        let chosen = filter_record_batch(&ids, passes.as_boolean())?;
        let stacks = chosen
            .columns()
            .last()
            .map(|column| column.as_primitive().clone());
        Ok(stacks.unwrap_or_else(|| Int32Array::from_iter_values([])))
    }
}

#[async_trait]
impl TableProvider for StackTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::View
    }

    /// Returns the filters that apply to the numbers of stacks, which choose before anything is
    /// unrolled.
    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        // A condition that changes from row to row must be evaluated exactly as often as in the
        // query.
        let by_ids = |filter: &Expr| {
            !filter.is_volatile()
                && filter
                    .column_refs()
                    .iter()
                    .all(|column| is_id(&column.name))
        };
        let support = |filter: &&Expr| {
            if by_ids(filter) {
                TableProviderFilterPushDown::Exact
            } else {
                TableProviderFilterPushDown::Unsupported
            }
        };
        Ok(filters.iter().map(support).collect())
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let frames = self.loader.frames(session).await?;
        let mut parts: Vec<Arc<dyn PartitionStream>> = Vec::new();
        for (trace_id, trace) in (0..).zip(frames.traces()) {
            let run_id = usize::try_from(trace_id)
                .ok()
                .and_then(|index| self.run_ids.get(index));
            let ids = (trace_id, run_id.copied().unwrap_or_default());
            let stacks = self.select(session, filters, ids, trace)?;
            // The number of a stack needs the numbers of all its callers, so computing all of them
            // at once is the least work.
            let hashes: Arc<[i64]> = if self.unrolled == Unrolled::Hash {
                trace.stack_hashes().into()
            } else {
                Arc::default()
            };
            // Parts are not smaller than a batch, since each costs a task of the engine.
            let size = stacks
                .len()
                .div_ceil(session.config().target_partitions())
                .max(BATCH_ROWS);
            for from in (0..stacks.len()).step_by(size) {
                parts.push(Arc::new(Part {
                    unrolled: self.unrolled,
                    hashes: hashes.clone(),
                    schema: self.schema.clone(),
                    frames: frames.clone(),
                    ids,
                    stacks: stacks.slice(from, size.min(stacks.len() - from)),
                }));
            }
        }
        if parts.is_empty() {
            return Ok(Arc::new(EmptyExec::new(project_schema(
                &self.schema,
                projection,
            )?)));
        }
        Ok(Arc::new(StreamingTableExec::try_new(
            self.schema.clone(),
            parts,
            projection,
            [],
            false,
            limit,
        )?))
    }
}

/// Some stacks of one extract.
#[derive(Debug, Clone)]
struct Part {
    unrolled: Unrolled,
    /// Numbers of all stacks, if they are requested.
    hashes: Arc<[i64]>,
    schema: SchemaRef,
    frames: Arc<Frames>,
    /// The extract and its trace.
    ids: (i32, i64),
    stacks: Int32Array,
}

impl PartitionStream for Part {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let part = self.clone();
        let mut next = 0;
        let mut seen = Seen::default();
        let batches = std::iter::from_fn(move || {
            (next < part.stacks.len()).then(|| part.batch(&mut next, &mut seen))
        });
        Box::pin(RecordBatchStreamAdapter::new(
            self.schema.clone(),
            stream::iter(batches),
        ))
    }
}

/// The methods of the current stack so far: for each method, the number of the last stack that had
/// it.
#[derive(Debug, Default)]
struct Seen {
    last: Vec<usize>,
    stack: usize,
}

impl Seen {
    fn next_stack(&mut self) {
        self.stack += 1;
    }

    fn is_first(&mut self, identity: u32) -> bool {
        let identity = identity as usize;
        if self.last.len() <= identity {
            self.last.resize(identity + 1, 0);
        }
        // A number of the stack in place of a set that is emptied for each one: a set would be
        // filled and cleared for millions of stacks.
        self.last
            .get_mut(identity)
            .is_some_and(|last| std::mem::replace(last, self.stack) != self.stack)
    }
}

impl Part {
    /// Returns the next stacks, until a batch is full.
    fn batch(&self, next: &mut usize, seen: &mut Seen) -> Result<RecordBatch> {
        let mut rows = 0;
        let mut stacks = Int32Builder::new();
        let mut columns = Columns::default();
        let trace = self.frames.trace(self.ids.0);
        // Stacks are never cut between batches, so the limits may be passed by one stack.
        while rows < BATCH_ROWS && columns.text_bytes < BATCH_BYTES && *next < self.stacks.len() {
            let stack_id = self.stacks.value(*next);
            *next += 1;
            let Some(trace) = trace else { continue };
            let added = match self.unrolled {
                Unrolled::Frames => columns.frames(trace, stack_id, seen),
                Unrolled::Text => columns.text(trace, stack_id),
                Unrolled::Hash => columns.hash(&self.hashes, stack_id),
            };
            rows += added;
            stacks.append_value_n(stack_id, added);
        }
        let mut all: Vec<ArrayRef> = Vec::new();
        // The schema has as many leading columns before the columns of the table itself.
        if self.schema.index_of(TRACE_ID).is_ok() {
            all.extend(leading_values(self.ids, rows));
        }
        all.push(Arc::new(stacks.finish()));
        match self.unrolled {
            Unrolled::Frames => all.extend::<[ArrayRef; 3]>([
                Arc::new(columns.frame_ids.finish()),
                Arc::new(columns.depths.finish()),
                Arc::new(columns.firsts.finish()),
            ]),
            Unrolled::Text => all.push(Arc::new(columns.texts.finish())),
            Unrolled::Hash => all.push(Arc::new(columns.hashes.finish())),
        }
        Ok(RecordBatch::try_new(self.schema.clone(), all)?)
    }
}

#[derive(Default)]
struct Columns {
    frame_ids: Int32Builder,
    depths: Int32Builder,
    firsts: BooleanBuilder,
    texts: StringBuilder,
    hashes: Int64Builder,
    text_bytes: usize,
    line: String,
}

impl Columns {
    fn frames(&mut self, trace: &TraceFrames, stack_id: i32, seen: &mut Seen) -> usize {
        seen.next_stack();
        let mut added = 0;
        for (depth, frame_id) in (0..).zip(trace.stack(stack_id)) {
            self.frame_ids.append_value(frame_id);
            self.depths.append_value(depth);
            self.firsts.append_value(
                trace
                    .identity(frame_id)
                    .is_none_or(|identity| seen.is_first(identity)),
            );
            added += 1;
        }
        added
    }

    fn hash(&mut self, hashes: &[i64], stack_id: i32) -> usize {
        let hash = usize::try_from(stack_id)
            .ok()
            .and_then(|stack| hashes.get(stack));
        self.hashes.extend(hash.map(|hash| Some(*hash)));
        usize::from(hash.is_some())
    }

    fn text(&mut self, trace: &TraceFrames, stack_id: i32) -> usize {
        self.line.clear();
        trace.write_stack(stack_id, &mut self.line);
        self.text_bytes += self.line.len();
        self.texts.append_value(&self.line);
        1
    }
}
