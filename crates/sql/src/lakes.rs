//! The rows of lakes: files with rows of many runs. The scan reads the key of each row, gives it the
//! number of its run in the session, and leaves out rows of other runs.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int32Array, PrimitiveArray};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use datafusion::catalog::Session;
use datafusion::common::Statistics;
use datafusion::common::stats::Precision;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::memory::DataSourceExec;
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{Operator, ScalarUDF};
use datafusion::physical_expr::expressions::{BinaryExpr, Column, lit};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use etwkit_extract::lake::{GENERATION, LakeFile, LakeRun, Snapshot};
use etwkit_trace::table::Table;

use crate::files::{self, Readers};
use crate::functions::scalar::{Scalar, arguments};
use crate::provider::{RUN_ID, TRACE_ID};
use crate::source::{Rows, Source};

/// The columns of a file before those of its table.
const KEYS: [&str; 2] = [RUN_ID, GENERATION.name];

/// The number of rows of runs that are not in the session.
const NO_RUN: i32 = -1;

/// The runs of a session by `run_id` and `generation`, with their numbers.
type Numbers = HashMap<(i64, i64), i32>;

/// The files of a table in one lake, and the runs whose rows are wanted.
#[derive(Debug, Clone)]
pub(crate) struct LakeTable {
    numbers: Arc<Numbers>,
    /// The smallest and the largest `run_id`; `None` if all runs of the lake are wanted.
    only: Option<(i64, i64)>,
    files: Vec<PartitionedFile>,
    /// Rows of the wanted runs.
    rows: usize,
}

/// Runs of one lake, each with its number in the session.
struct OfLake<'s> {
    lake: &'s Arc<Snapshot>,
    runs: Vec<(i32, &'s LakeRun)>,
}

/// Returns the files of a table in all lakes of a session. Footers are read when a question reads
/// rows.
///
/// # Errors
/// A log or a file cannot be opened.
pub(crate) fn tables(table: &Table, sources: &[Arc<Source>]) -> Result<Vec<LakeTable>> {
    // A scan gives each row one number, so a run that is named twice is in two scans.
    let mut times: HashMap<(usize, i64), usize> = HashMap::new();
    let mut lakes: BTreeMap<(usize, usize), OfLake<'_>> = BTreeMap::new();
    for (number, source) in (0..).zip(sources) {
        let Rows::Lake(run) = &source.rows else {
            continue;
        };
        // The address stands for the lake: sources share it, and comparing its contents would be
        // slow.
        let place = Arc::as_ptr(&run.lake).addr();
        let before = times.entry((place, run.run.run_id())).or_default();
        let of_lake = lakes.entry((place, *before)).or_insert_with(|| OfLake {
            lake: &run.lake,
            runs: Vec::new(),
        });
        of_lake.runs.push((number, run));
        *before += 1;
    }
    let mut all = Vec::new();
    for of_lake in lakes.into_values() {
        all.extend(of_lake.table(table)?);
    }
    Ok(all)
}

impl OfLake<'_> {
    /// Returns the files of a table; `None` if no run has rows of it.
    fn table(self, table: &Table) -> Result<Option<LakeTable>> {
        let mut numbers = Numbers::new();
        let mut ids = Vec::new();
        let mut rows = 0_u64;
        for (number, LakeRun { run, .. }) in &self.runs {
            let of_run = run.rows(table.name);
            if of_run > 0 {
                // Both keys are needed: a lake keeps the rows of an older generation until it is
                // compacted.
                numbers.insert((run.run_id(), run.generation()), *number);
                ids.push(run.run_id());
                rows = rows.saturating_add(of_run);
            }
        }
        ids.sort_unstable();
        let Some((first, last)) = ids.first().copied().zip(ids.last().copied()) else {
            return Ok(None);
        };
        let schema = schema(table);
        let files = self.lake.files(table.name).map_err(failed)?;
        let wanted: Vec<&LakeFile> = files.iter().filter(|file| has_any(file, &ids)).collect();
        // Without this, a lake that lost files would answer with fewer rows.
        let available = wanted
            .iter()
            .try_fold(0_u64, |sum, file| Some(sum.saturating_add(file.rows?)));
        if wanted.is_empty() || available.is_some_and(|available| available < rows) {
            return Err(failed(etwkit_extract::lake::Error::File {
                path: self.lake.path().join(table.name),
                expected: format!("{rows} rows of its runs, found fewer"),
                source: None,
            }));
        }
        let lake = self.lake;
        let described = wanted.into_iter();
        let described = described.map(|file| files::of_lake(file, lake, &schema));
        let described = described.collect::<etwkit_extract::lake::Result<_>>();
        // A condition that every row passes would only cost time.
        let is_all = self.runs.len() == self.lake.runs().len();
        Ok(Some(LakeTable {
            numbers: Arc::new(numbers),
            only: (!is_all).then_some((first, last)),
            files: described.map_err(failed)?,
            rows: usize::try_from(rows).unwrap_or(usize::MAX),
        }))
    }
}

/// Returns `true` if a file may have rows of one of these runs, which are sorted.
fn has_any(file: &LakeFile, ids: &[i64]) -> bool {
    // Without statistics, the file has to be read.
    let Some((min, max)) = file.run_ids else {
        return true;
    };
    let from = ids.partition_point(|id| *id < min);
    ids.get(from).is_some_and(|id| *id <= max)
}

fn failed(error: etwkit_extract::lake::Error) -> DataFusionError {
    match error {
        // It has advice of its own.
        etwkit_extract::lake::Error::Extract(error) => DataFusionError::External(Box::new(error)),
        error => DataFusionError::External(Box::new(error)),
    }
}

/// Returns the columns of the files of a table.
fn schema(table: &Table) -> SchemaRef {
    let keys = KEYS.map(|name| Arc::new(Field::new(name, DataType::Int64, false)));
    // The generation is not the user's, but rows of several generations of a run differ only in it.
    let declared = table.schema();
    let all = keys.into_iter().chain(declared.fields().iter().cloned());
    Arc::new(Schema::new(all.collect::<Vec<_>>()))
}

impl LakeTable {
    /// Returns a plan that reads these columns of a session's table.
    ///
    /// # Errors
    /// The engine refuses a part of the plan.
    pub(crate) fn scan(
        &self,
        table: &Table,
        wanted: &[&str],
        state: &dyn Session,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let read = self.read(table, wanted, state)?;
        let numbered = self.numbered(read, state)?;
        let number = Arc::new(Column::new(TRACE_ID, 0));
        let is_wanted = BinaryExpr::new(number, Operator::GtEq, lit(NO_RUN + 1));
        let kept = FilterExec::try_new(Arc::new(is_wanted), numbered)?;
        projected(wanted, Arc::new(kept))
    }

    /// Reads the keys and the wanted columns of the files.
    fn read(
        &self,
        table: &Table,
        wanted: &[&str],
        state: &dyn Session,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let file_schema = schema(table);
        let mut columns: Vec<usize> = (0..KEYS.len()).collect();
        for name in wanted {
            let is_key = KEYS.contains(name) || *name == TRACE_ID;
            if !is_key {
                columns.push(file_schema.index_of(name)?);
            }
        }
        let table_schema = TableSchema::builder(file_schema.clone()).build();
        let mut statistics = Statistics::new_unknown(&file_schema);
        // Not exact: rows of other runs are in the same files, so that `count(*)` must not trust
        // it.
        statistics.num_rows = Precision::Inexact(self.rows);
        let mut source = ParquetSource::new(table_schema)
            .with_enable_page_index(true)
            .with_parquet_file_reader_factory(Arc::new(Readers));
        if let Some(range) = self.only {
            source = source.with_predicate(within(range));
        }
        let partitions = state.config().target_partitions();
        let groups = FileGroup::new(self.files.clone()).split_files(partitions);
        let scan = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), Arc::new(source))
            .with_file_groups(groups)
            .with_statistics(statistics)
            .with_projection_indices(Some(columns))?
            .build();
        Ok(DataSourceExec::from_data_source(scan))
    }

    /// Adds the number of the extract before the columns that were read, and leaves out the
    /// generation.
    fn numbered(
        &self,
        read: Arc<dyn ExecutionPlan>,
        state: &dyn Session,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = read.schema();
        let column = |name: &str| -> Result<Arc<dyn PhysicalExpr>> {
            Ok(Arc::new(Column::new_with_schema(name, &schema)?))
        };
        let number = ScalarFunctionExpr::new(
            TRACE_ID,
            Arc::new(ScalarUDF::new_from_impl(number_of(&self.numbers))),
            vec![column(RUN_ID)?, column(GENERATION.name)?],
            Arc::new(Field::new(TRACE_ID, DataType::Int32, false)),
            state.config().options().clone(),
        );
        let number: Arc<dyn PhysicalExpr> = Arc::new(number);
        let mut columns = vec![(number, TRACE_ID.to_owned())];
        for field in schema.fields() {
            if field.name() != GENERATION.name {
                columns.push((column(field.name())?, field.name().clone()));
            }
        }
        Ok(Arc::new(ProjectionExec::try_new(columns, read)?))
    }
}

/// Returns the condition that a run is in a range, by which row groups and pages are skipped.
fn within((first, last): (i64, i64)) -> Arc<dyn PhysicalExpr> {
    let bound = |operator, id: i64| -> Arc<dyn PhysicalExpr> {
        let column = Arc::new(Column::new(RUN_ID, 0));
        Arc::new(BinaryExpr::new(column, operator, lit(id)))
    };
    Arc::new(BinaryExpr::new(
        bound(Operator::GtEq, first),
        Operator::And,
        bound(Operator::LtEq, last),
    ))
}

/// Returns these columns of a plan, in their order.
fn projected(wanted: &[&str], plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let schema = plan.schema();
    let mut columns = Vec::with_capacity(wanted.len());
    for name in wanted {
        let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new_with_schema(name, &schema)?);
        columns.push((column, (*name).to_owned()));
    }
    Ok(Arc::new(ProjectionExec::try_new(columns, plan)?))
}

/// Returns the function from the key of a row to the number of its run.
fn number_of(numbers: &Arc<Numbers>) -> Scalar {
    // Functions of different runs must not be taken for the same one.
    let place = Arc::as_ptr(numbers).addr();
    let numbers = numbers.clone();
    let types = |_: &[DataType]| Ok(vec![DataType::Int64; 2]);
    Scalar::new(
        "number_of_run",
        DataType::Int32,
        place,
        types,
        move |columns| {
            let [runs, generations] = arguments(columns)?;
            let runs = integers(runs)?;
            let generations = integers(generations)?;
            Ok(Arc::new(numbered_rows(&numbers, runs, generations)) as ArrayRef)
        },
    )
}

fn numbered_rows(
    numbers: &Numbers,
    runs: &PrimitiveArray<Int64Type>,
    generations: &PrimitiveArray<Int64Type>,
) -> Int32Array {
    let keys = runs.values().iter().zip(generations.values().iter());
    // Rows of a run are neighbours: it is looked up once.
    let mut last = None;
    Int32Array::from_iter_values(keys.map(|(run, generation)| {
        let key = (*run, *generation);
        match last {
            Some((known, number)) if known == key => number,
            _ => {
                let number = numbers.get(&key).copied().unwrap_or(NO_RUN);
                last = Some((key, number));
                number
            }
        }
    }))
}

fn integers(column: &ArrayRef) -> Result<&PrimitiveArray<Int64Type>> {
    let integers = column.as_primitive_opt::<Int64Type>();
    integers
        .filter(|integers| integers.null_count() == 0)
        .ok_or_else(|| {
            DataFusionError::Execution("rows of a lake without the number of a run".to_owned())
        })
}
