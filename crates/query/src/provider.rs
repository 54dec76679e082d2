//! A declared table over all sources of a session.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, Int32Array, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::project_schema;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::union::UnionExec;
use etwkit_trace::table::Table;

use crate::source::{Rows, Source};

/// Name of the column that tells the extracts of a session apart.
pub(crate) const TRACE_ID: &str = "trace_id";

/// The schema of the table in a session: `trace_id` leads where there are several extracts.
pub(crate) fn schema_of(table: &Table, has_trace_id: bool) -> SchemaRef {
    let schema = table.schema();
    if !has_trace_id {
        return schema;
    }
    let trace_id = Arc::new(Field::new(TRACE_ID, DataType::Int32, false));
    Arc::new(Schema::new(
        std::iter::once(trace_id).chain(schema.fields().iter().cloned()).collect::<Vec<_>>(),
    ))
}

/// A declared table.
#[derive(Debug)]
pub(crate) struct DeclaredTable {
    table: &'static Table,
    schema: SchemaRef,
    sources: Arc<[Source]>,
}

impl DeclaredTable {
    pub(crate) fn new(table: &'static Table, sources: Arc<[Source]>) -> Self {
        let schema = schema_of(table, sources.len() > 1);
        Self { table, schema, sources }
    }

    /// The batches of all sources in memory, in the session's schema.
    fn batches(&self) -> Result<Vec<RecordBatch>> {
        let mut all = Vec::new();
        for (trace_id, source) in (0..).zip(self.sources.iter()) {
            let Rows::Batches(rows) = &source.rows;
            for batch in rows.get(self.table.name).into_iter().flatten() {
                let mut columns = batch.columns().to_vec();
                if self.sources.len() > 1 {
                    let trace_ids: ArrayRef = Arc::new(Int32Array::from_value(trace_id, batch.num_rows()));
                    columns.insert(0, trace_ids);
                }
                all.push(RecordBatch::try_new(self.schema.clone(), columns)?);
            }
        }
        Ok(all)
    }
}

#[async_trait]
impl TableProvider for DeclaredTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        _limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut parts: Vec<Arc<dyn ExecutionPlan>> = Vec::new();
        let batches = self.batches()?;
        if !batches.is_empty() {
            parts.push(MemorySourceConfig::try_new_exec(
                &[batches],
                self.schema.clone(),
                projection.cloned(),
            )?);
        }
        Ok(match parts.len() {
            0 => Arc::new(EmptyExec::new(project_schema(&self.schema, projection)?)),
            1 => parts.remove(0),
            _ => UnionExec::try_new(parts)?,
        })
    }
}
