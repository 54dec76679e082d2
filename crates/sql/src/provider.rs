//! A declared table over all sources of a session.

use std::sync::{Arc, Mutex, OnceLock};

use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch};
use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::{Statistics, project_schema};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::memory::{DataSourceExec, MemorySourceConfig};
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::union::UnionExec;
use etwkit_base::lock::lock;
use etwkit_trace::table::{ColumnKind, RUN_ID as RUN, Table};
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

use crate::files;
use crate::files::{OpenFile, Readers};
use crate::lakes::{self, LakeTable};
use crate::source::{Rows, Source};

/// Name of the column with the number of an extract within its session.
pub(crate) const TRACE_ID: &str = "trace_id";

/// Name of the column with the number of a trace, which is the same in every session.
pub(crate) const RUN_ID: &str = RUN.name;

/// Returns the columns that lead in a session whose rows carry the number of their extract.
fn leading() -> [Arc<Field>; 2] {
    let field = |name, kind| Arc::new(Field::new(name, kind, false));
    [
        field(TRACE_ID, DataType::Int32),
        field(RUN_ID, DataType::Int64),
    ]
}

/// Returns the values of these columns for rows of one extract.
pub(crate) fn leading_values((trace_id, run_id): (i32, i64), rows: usize) -> [ArrayRef; 2] {
    [
        Arc::new(Int32Array::from_value(trace_id, rows)),
        Arc::new(Int64Array::from_value(run_id, rows)),
    ]
}

/// Returns the schema of the table in a session, where `trace_id` and `run_id` may lead.
pub(crate) fn schema_of(table: &Table, has_trace_id: bool) -> SchemaRef {
    let schema = table.schema();
    if !has_trace_id {
        return schema;
    }
    let all = leading().into_iter().chain(schema.fields().iter().cloned());
    Arc::new(Schema::new(all.collect::<Vec<_>>()))
}

/// A declared table.
#[derive(Debug)]
pub(crate) struct DeclaredTable {
    table: &'static Table,
    schema: SchemaRef,
    sources: Arc<[Arc<Source>]>,
    has_trace_id: bool,
    /// Its files, opened by the first question that names it.
    opened: Mutex<Option<Vec<PartitionedFile>>>,
    /// Its files in lakes, listed in the same way.
    of_lakes: OnceCell<Vec<LakeTable>>,
    is_order_checked: OnceLock<()>,
}

impl DeclaredTable {
    pub(crate) fn new(
        table: &'static Table,
        sources: Arc<[Arc<Source>]>,
        has_trace_id: bool,
    ) -> Self {
        let schema = schema_of(table, has_trace_id);
        Self {
            table,
            schema,
            sources,
            has_trace_id,
            opened: Mutex::default(),
            of_lakes: OnceCell::new(),
            is_order_checked: OnceLock::new(),
        }
    }

    pub(crate) const fn declared(&self) -> &'static Table {
        self.table
    }

    const fn has_trace_id(&self) -> bool {
        self.has_trace_id
    }

    /// Returns `true` if no source has rows of it. Opens nothing.
    pub(crate) fn is_empty(&self) -> bool {
        !self
            .sources
            .iter()
            .any(|source| source.has_rows(self.table.name))
    }

    /// Returns the batches of all sources in memory, in the session's schema.
    fn batches(&self) -> Result<Vec<RecordBatch>> {
        let mut all = Vec::new();
        for (trace_id, source) in (0..).zip(self.sources.iter()) {
            let Rows::Batches(rows) = &source.rows else {
                continue;
            };
            for batch in rows.get(self.table.name).into_iter().flatten() {
                let mut columns = batch.columns().to_vec();
                if self.has_trace_id() {
                    let ids = leading_values((trace_id, source.run_id()), batch.num_rows());
                    columns.splice(0..0, ids);
                }
                all.push(RecordBatch::try_new(self.schema.clone(), columns)?);
            }
        }
        Ok(all)
    }

    /// Returns the files of all sources that are extracts with rows of this table.
    fn files(&self, schema: &TableSchema) -> Result<Vec<PartitionedFile>> {
        let mut opened = lock(&self.opened);
        if let Some(files) = &*opened {
            return Ok(files.clone());
        }
        let mut all = Vec::new();
        for (trace_id, source) in (0..).zip(self.sources.iter()) {
            let Rows::Extract(extract) = &source.rows else {
                continue;
            };
            let Some(file) = extract.table(self.table.name) else {
                continue;
            };
            let ids = self.has_trace_id().then(|| (trace_id, source.run_id()));
            all.push(files::describe(
                file,
                OpenFile::open(file)?,
                ids,
                schema.table_schema(),
            ));
        }
        *opened = Some(all.clone());
        Ok(all)
    }

    /// Returns its files in all lakes of the session.
    async fn in_lakes(&self) -> Result<&[LakeTable]> {
        let is_of_lake = |source: &Arc<Source>| matches!(source.rows, Rows::Lake(_));
        if !self.sources.iter().any(is_of_lake) {
            return Ok(&[]);
        }
        let (table, sources) = (self.table, self.sources.clone());
        // A lake in a bucket sends requests, for which a thread of the query must not wait.
        let listed = self.of_lakes.get_or_try_init(|| async move {
            let listed = spawn_blocking(move || lakes::tables(table, &sources));
            let ended = |e| DataFusionError::External(Box::new(e));
            listed.await.map_err(ended).flatten()
        });
        Ok(listed.await?.as_slice())
    }

    /// Reads the rows that lakes have of the sources.
    async fn scan_lakes(
        &self,
        projection: Option<&Vec<usize>>,
        state: &dyn Session,
    ) -> Result<Vec<Arc<dyn ExecutionPlan>>> {
        let schema = project_schema(&self.schema, projection)?;
        let wanted: Vec<&str> = schema
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .collect();
        let lakes = self.in_lakes().await?;
        lakes
            .iter()
            .map(|lake| lake.scan(self.table, &wanted, state))
            .collect()
    }

    /// Returns the order of the rows of the only file, as far as its manifest has it. The manifest
    /// is not trusted: its claim is checked once.
    fn ordering(&self, schema: &SchemaRef) -> Result<Option<LexOrdering>> {
        // Several files are not sorted as a whole, even if each of them is.
        let [source] = &*self.sources else {
            return Ok(None);
        };
        let Rows::Extract(extract) = &source.rows else {
            return Ok(None);
        };
        let Some(file) = extract.table(self.table.name) else {
            return Ok(None);
        };
        // The check works with the numbers of declared columns.
        let column = file.sorted_by.first().filter(|name| {
            self.table
                .column(name)
                .is_some_and(|column| matches!(column.kind, ColumnKind::Int32 | ColumnKind::Int64))
        });
        let Some(Ok(column)) = column.map(|name| Column::new_with_schema(name, schema)) else {
            return Ok(None);
        };
        if self.is_order_checked.get().is_none() {
            file.check_order()
                .map_err(|e| DataFusionError::External(Box::new(e)))?;
            let _ = self.is_order_checked.set(());
        }
        let ascending = SortOptions {
            descending: false,
            nulls_first: false,
        };
        Ok(LexOrdering::new([PhysicalSortExpr::new(
            Arc::new(column),
            ascending,
        )]))
    }

    /// Reads the files, if there are any. Row groups that a filter excludes are not read.
    fn scan_files(
        &self,
        projection: Option<&Vec<usize>>,
        limit: Option<usize>,
        partitions: usize,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        // The number of the extract is not a column of the files, and the number of the trace is
        // the same in all rows of a file: the scan adds both after the columns that it reads.
        let behind = if self.has_trace_id() {
            leading().to_vec()
        } else {
            Vec::new()
        };
        let leading = behind.len();
        let schema = TableSchema::builder(self.table.schema())
            .with_table_partition_cols(behind)
            .build();
        let files = self.files(&schema)?;
        if files.is_empty() {
            return Ok(None);
        }
        let last = self.table.columns.len();
        // The schema of the session has these columns first, the schema of the scan has them last:
        // the numbers are rotated.
        let index = |column: usize| column.checked_sub(leading).unwrap_or(last + column);
        let columns = match projection {
            Some(columns) => columns.iter().copied().map(index).collect(),
            None => (0..self.schema.fields().len()).map(index).collect(),
        };
        // The number of rows decides which side of a join is held in memory, so it is given
        // exactly.
        let rows = files
            .iter()
            .filter_map(|file| Some(*file.statistics.as_ref()?.num_rows.get_value()?))
            .sum();
        let mut statistics = Statistics::new_unknown(schema.table_schema());
        statistics.num_rows = Precision::Exact(rows);
        let ordering = self.ordering(schema.table_schema())?;
        let source = ParquetSource::new(schema)
            .with_enable_page_index(true)
            .with_parquet_file_reader_factory(Arc::new(Readers));
        let groups = FileGroup::new(files).split_files(partitions);
        let scan = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), Arc::new(source))
            .with_file_groups(groups)
            .with_statistics(statistics)
            .with_projection_indices(Some(columns))?
            .with_limit(limit)
            .with_output_ordering(ordering.into_iter().collect())
            .build();
        Ok(Some(DataSourceExec::from_data_source(scan)))
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
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut parts: Vec<Arc<dyn ExecutionPlan>> = Vec::new();
        let batches = self.batches()?;
        // Sources in memory and extracts may be mixed in a session: rows of both are put together.
        if !batches.is_empty() {
            parts.push(MemorySourceConfig::try_new_exec(
                &[batches],
                self.schema.clone(),
                projection.cloned(),
            )?);
        }
        parts.extend(self.scan_files(projection, limit, state.config().target_partitions())?);
        parts.extend(self.scan_lakes(projection, state).await?);
        Ok(match parts.len() {
            0 => Arc::new(EmptyExec::new(project_schema(&self.schema, projection)?)),
            1 => parts.remove(0),
            _ => UnionExec::try_new(parts)?,
        })
    }
}
