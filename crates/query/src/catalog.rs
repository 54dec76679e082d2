//! Which tables a session has. Looking one up opens nothing.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{Int32Array, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::catalog::{CatalogProvider, SchemaProvider, TableProvider};
use datafusion::datasource::MemTable;
use datafusion::error::Result;
use etwkit_trace::table::{self, DERIVED, TABLES};

use crate::provider::{DeclaredTable, TRACE_ID};
use crate::source::Source;

/// Name of the catalog, as `SHOW TABLES` prints it.
pub(crate) const CATALOG: &str = "etwkit";
/// Name of the schema.
pub(crate) const SCHEMA: &str = "extract";
/// The table of extracts.
pub(crate) const EXTRACTS: &str = "extract";

/// The tables of a session.
#[derive(Debug)]
pub(crate) struct Tables {
    sources: Arc<[Source]>,
}

impl Tables {
    pub(crate) fn new(sources: Arc<[Source]>) -> Self {
        Self { sources }
    }

    /// The table `extract`: one row for each source.
    fn extracts(&self) -> Result<MemTable> {
        let schema = Arc::new(Schema::new(vec![
            Field::new(TRACE_ID, DataType::Int32, false),
            Field::new("name", DataType::Utf8, false),
            Field::new("path", DataType::Utf8, false),
        ]));
        let texts = |text: fn(&Source) -> &str| StringArray::from_iter_values(self.sources.iter().map(text));
        let batch = RecordBatch::try_new(
            schema.clone(),
            vec![
                Arc::new(Int32Array::from_iter_values((0..).zip(self.sources.iter()).map(|(id, _)| id))),
                Arc::new(texts(|source| &source.name)),
                Arc::new(texts(|source| &source.path)),
            ],
        )?;
        MemTable::try_new(schema, vec![vec![batch]])
    }
}

/// Names of all tables, in the order in which they are documented.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    TABLES.iter().chain(DERIVED).map(|table| table.name).chain([EXTRACTS])
}

#[async_trait]
impl SchemaProvider for Tables {
    fn table_names(&self) -> Vec<String> {
        names().map(str::to_owned).collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        if name == EXTRACTS {
            return Ok(Some(Arc::new(self.extracts()?)));
        }
        Ok(table::find(name).map(|table| Arc::new(DeclaredTable::new(table, self.sources.clone())) as _))
    }

    fn table_exist(&self, name: &str) -> bool {
        names().any(|known| known == name)
    }
}

/// The catalog with its one schema.
#[derive(Debug)]
pub(crate) struct Catalog(pub(crate) Arc<Tables>);

impl CatalogProvider for Catalog {
    fn schema_names(&self) -> Vec<String> {
        vec![SCHEMA.to_owned()]
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        (name == SCHEMA).then(|| self.0.clone() as _)
    }
}
