//! The tables of a session. Looking one up opens nothing.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use datafusion::catalog::{CatalogProvider, SchemaProvider, TableProvider};
use datafusion::datasource::{MemTable, provider_as_source};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::TableSource;
use etwkit_extract::manifest::Manifest;
use etwkit_extract::{StoreError, TableFile, topic_rows};
use etwkit_trace::table::{ColumnKind, Columns, DERIVED, ExtractInfo, Process, Row, TopicInfo};
use etwkit_trace::topics;

use crate::frames::Loader;
use crate::provider::{DeclaredTable, schema_of};
use crate::rename::RenameRules;
use crate::renamed::RenamedProcesses;
use crate::source::{Rows, Source};
use crate::stacks::{StackTable, Unrolled};
use crate::views::{EXTRACT, PROCESS_RECORDED, tables};

/// Name of the catalog, as `SHOW TABLES` prints it.
pub(crate) const CATALOG: &str = "etwkit";
/// Name of the schema.
pub(crate) const SCHEMA: &str = "extract";
/// Tables that functions and views of stacks read.
const FRAME_TABLES: [&str; 4] = ["stack", "frame", "module", "method"];

/// The tables of a session.
#[derive(Debug, Clone)]
pub(crate) struct Tables {
    sources: Arc<[Arc<Source>]>,
    declared: HashMap<&'static str, Arc<DeclaredTable>>,
    loader: Arc<Loader>,
    /// Rules for the names of processes.
    names: Option<Arc<RenameRules>>,
    has_trace_id: bool,
    /// Tables that were recorded and that an extract was made without.
    left_out: Arc<BTreeSet<String>>,
}

impl Tables {
    pub(crate) fn new(
        sources: Arc<[Arc<Source>]>,
        names: Option<Arc<RenameRules>>,
        has_trace_id: bool,
    ) -> Self {
        let declare = |table| Arc::new(DeclaredTable::new(table, sources.clone(), has_trace_id));
        let declared = topics::TABLES
            .iter()
            .chain(DERIVED)
            .map(|table| (table.name, declare(table)))
            .collect();
        let loader = Arc::new(Loader::new(sources.len(), declare));
        // Of any extract: a table that one of several lacks gives an incomplete answer as well.
        let left_out = sources
            .iter()
            .flat_map(|source| source.left_out())
            .map(str::to_owned)
            .collect();
        Self {
            declared,
            loader,
            sources,
            names,
            has_trace_id,
            left_out: Arc::new(left_out),
        }
    }

    /// Returns these tables with other names of processes.
    pub(crate) fn with_names(self: &Arc<Self>, names: Option<Arc<RenameRules>>) -> Arc<Self> {
        // Copies share everything but the names, so that files that were opened stay open.
        if self.names == names {
            self.clone()
        } else {
            Arc::new(Self {
                names,
                ..Self::clone(self)
            })
        }
    }

    /// Returns one catalog for each source.
    pub(crate) fn each(&self) -> impl Iterator<Item = Arc<Self>> {
        let only =
            // With `trace_id`, so that one statement runs on each alone as on all together.
            |source: &Arc<Source>| Self::new([source.clone()].into(), self.names.clone(), true);
        self.sources
            .iter()
            .map(move |source| Arc::new(only(source)))
    }

    /// Returns `true` if each table leads with `trace_id`.
    pub(crate) const fn has_trace_id(&self) -> bool {
        self.has_trace_id
    }

    /// Returns `true` if there are several extracts.
    pub(crate) fn is_several(&self) -> bool {
        self.sources.len() > 1
    }

    /// Returns `true` if a declared table has rows in any source, and `None` if no table of that
    /// name is declared. Reads nothing.
    pub(crate) fn has_rows(&self, table: &str) -> Option<bool> {
        let declared = self.declared.get(table)?;
        Some(!declared.is_empty())
    }

    /// Returns rows of a table that is a file, of all sources.
    pub(crate) fn row_count(&self, table: &str) -> u64 {
        self.sources
            .iter()
            .map(|source| source.row_count(table))
            .sum()
    }

    /// Returns tables that an extract was made without, although the trace has their events.
    pub(crate) fn left_out(&self) -> &BTreeSet<String> {
        &self.left_out
    }

    /// Returns the paths of the sources, as they were named.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().map(|source| source.path.as_str())
    }

    /// Returns the traces that sources were made of, as they were named.
    pub(crate) fn traces(&self) -> impl Iterator<Item = Option<&str>> {
        self.sources.iter().map(|source| source.trace.as_deref())
    }

    /// Returns the path and manifest of the sources that are extracts.
    pub(crate) fn manifests(&self) -> impl Iterator<Item = (&str, &Manifest)> {
        self.sources
            .iter()
            .filter_map(|source| Some((source.path.as_str(), source.manifest()?)))
    }

    /// Returns `true` if a source was imported from an extract of another program.
    pub(crate) fn is_imported(&self) -> bool {
        self.sources.iter().any(|source| source.is_imported())
    }

    /// Returns the first error found in the files of these tables, or of the tables in which frames
    /// are looked up.
    pub(crate) fn damage(&self, names: &BTreeSet<String>) -> Option<StoreError> {
        // Functions of stacks read these tables although no statement names them.
        let is_read =
            |file: &&TableFile| names.contains(&file.name) || FRAME_TABLES.contains(&&*file.name);
        self.files()
            .filter(is_read)
            .find_map(|file| file.examine().err())
    }

    /// Returns an error about a time or a size that no recording has.
    pub(crate) fn strange_number(&self) -> Option<StoreError> {
        self.files().find_map(|file| {
            let declared = self.declared.get(&*file.name)?.declared();
            let columns = declared.columns.iter().filter(|column| {
                // Only these can be far out of range without breaking the format.
                ["ns", "bytes"].contains(&column.unit) || column.kind == ColumnKind::Float64
            });
            columns
                .into_iter()
                .find_map(|column| file.strange_number(column.name).err())
        })
    }

    fn files(&self) -> impl Iterator<Item = &TableFile> {
        self.sources.iter().flat_map(|source| match &source.rows {
            Rows::Extract(extract) => extract.tables().collect(),
            // Batches are checked when they are made, and files of a lake when they are opened.
            Rows::Batches(_) | Rows::Lake(_) => Vec::new(),
        })
    }

    /// Reads frames and stacks, for tables and functions alike.
    pub(crate) fn loader(&self) -> &Arc<Loader> {
        &self.loader
    }

    /// Returns a declared table.
    pub(crate) fn declared(&self, name: &str) -> Option<Arc<dyn TableProvider>> {
        // Not in the files, see `topics`.
        if name == TopicInfo::TABLE.name {
            return self.topics().ok().map(|table| Arc::new(table) as _);
        }
        let is_process = name == Process::TABLE.name;
        // The recorded names are those of the same file, before any rule.
        let name = if name == PROCESS_RECORDED.name {
            Process::TABLE.name
        } else {
            name
        };
        // Both names are one table of the extract; only one of them gets the names from rules.
        let table = self.declared.get(name)?.clone();
        match &self.names {
            Some(rules) if is_process => {
                Some(Arc::new(RenamedProcesses::new(table, rules.clone())))
            }
            _ => Some(table),
        }
    }

    /// Returns the number of extracts.
    pub(crate) fn source_count(&self) -> usize {
        self.sources.len()
    }

    /// Returns the table [`EXTRACT`] for plans.
    pub(crate) fn extract_source(&self) -> Result<Arc<dyn TableSource>> {
        Ok(provider_as_source(Arc::new(self.extracts()?)))
    }

    fn unrolled(&self, unrolled: Unrolled) -> Arc<dyn TableProvider> {
        Arc::new(StackTable::new(
            unrolled,
            self.has_trace_id(),
            self.loader.clone(),
            self.run_ids(),
        ))
    }

    /// Returns the traces of the extracts.
    fn run_ids(&self) -> Vec<i64> {
        self.sources.iter().map(|source| source.run_id()).collect()
    }

    /// Returns `true` if no two extracts are of the same trace, so that `run_id` identifies each.
    pub(crate) fn has_distinct_runs(&self) -> bool {
        let distinct: BTreeSet<i64> = self.sources.iter().map(|source| source.run_id()).collect();
        distinct.len() == self.sources.len()
    }

    /// Returns the table `topic`, from the manifests: hundreds of files with the same rows need not
    /// be opened.
    fn topics(&self) -> Result<MemTable> {
        let schema = schema_of(TopicInfo::TABLE, self.has_trace_id());
        let mut rows = <TopicInfo as Row>::Columns::default();
        let mut ids = Vec::new();
        let mut runs = Vec::new();
        for (id, source) in (0..).zip(self.sources.iter()) {
            // Sources without a manifest have no topics.
            let Some(manifest) = source.manifest() else {
                continue;
            };
            for row in topic_rows(manifest, |table| source.row_count(table)) {
                rows.push(&row);
                ids.push(id);
                runs.push(source.run_id());
            }
        }
        let rows = rows
            .take()
            .map_err(|e| DataFusionError::External(Box::new(e)))?;
        let leading: [ArrayRef; 2] = [
            Arc::new(Int32Array::from(ids)),
            Arc::new(Int64Array::from(runs)),
        ];
        // A single extract has no such columns.
        let leading = leading.into_iter().filter(|_| self.has_trace_id());
        let columns = leading.chain(rows.columns().iter().cloned()).collect();
        let batch = RecordBatch::try_new(schema.clone(), columns)?;
        MemTable::try_new(schema, vec![vec![batch]])
    }

    /// Returns the table `extract`: one row for each source.
    fn extracts(&self) -> Result<MemTable> {
        let schema = EXTRACT.schema();
        let texts = |text: fn(&Source) -> &str| {
            StringArray::from_iter_values(self.sources.iter().map(|source| text(source)))
        };
        let mut about = <ExtractInfo as Row>::Columns::default();
        self.sources
            .iter()
            .for_each(|source| about.push(&source.about()));
        let about = about
            .take()
            .map_err(|e| DataFusionError::External(Box::new(e)))?;
        let own: [ArrayRef; 4] = [
            Arc::new(Int32Array::from_iter_values(
                // The position of the source is its number.
                (0..).zip(self.sources.iter()).map(|(id, _)| id),
            )),
            Arc::new(Int64Array::from(self.run_ids())),
            Arc::new(texts(|source| &source.name)),
            Arc::new(texts(|source| &source.path)),
        ];
        let columns = own
            .into_iter()
            .chain(about.columns().iter().cloned())
            .collect();
        let batch = RecordBatch::try_new(schema.clone(), columns)?;
        MemTable::try_new(schema, vec![vec![batch]])
    }
}

#[async_trait]
impl SchemaProvider for Tables {
    fn table_names(&self) -> Vec<String> {
        tables().map(|table| table.name.to_owned()).collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        if name == EXTRACT.name {
            return Ok(Some(Arc::new(self.extracts()?)));
        }
        Ok(match Unrolled::named(name) {
            Some(unrolled) => Some(self.unrolled(unrolled)),
            None => self.declared(name),
        })
    }

    fn table_exist(&self, name: &str) -> bool {
        tables().any(|table| table.name == name)
    }
}

/// The catalog with its one schema.
#[derive(Debug)]
pub(crate) struct Catalog(pub(crate) Arc<dyn SchemaProvider>);

impl CatalogProvider for Catalog {
    fn schema_names(&self) -> Vec<String> {
        vec![SCHEMA.to_owned()]
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        // Only one schema exists; any other name is a mistake.
        (name == SCHEMA).then(|| self.0.clone())
    }
}
