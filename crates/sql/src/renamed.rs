//! The table `process` with rules for the names of processes. All queries for names get these.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, AsArray, StringArray};
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::DFSchema;
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, ScalarUDF, TableType, ident};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::projection::ProjectionExec;

use crate::functions::{Scalar, arguments};
use crate::provider::DeclaredTable;
use crate::rename::RenameRules;

/// Columns that rules use.
const NAME: &str = "name";
const COMMAND_LINE: &str = "command_line";

/// The table `process` with other names.
#[derive(Debug)]
pub(crate) struct RenamedProcesses {
    table: Arc<DeclaredTable>,
    /// The function from the executable and the command line of a process to its name.
    function: ScalarUDF,
}

impl RenamedProcesses {
    pub(crate) fn new(table: Arc<DeclaredTable>, rules: Arc<RenameRules>) -> Self {
        // Plans compare functions, and functions of different rules must not be taken for the same
        // one: the address of the rules distinguishes them.
        let place = Arc::as_ptr(&rules).addr();
        let types = |_: &[DataType]| Ok(vec![DataType::Utf8; 2]);
        let function = Scalar::new(
            "process_name",
            DataType::Utf8,
            place,
            types,
            move |columns| {
                let [names, lines] = arguments(columns)?;
                let rows = names
                    .as_string::<i32>()
                    .iter()
                    .zip(lines.as_string::<i32>());
                let names = rows.map(|(name, line)| Some(rules.name(name?, line)));
                Ok(Arc::new(names.collect::<StringArray>()) as ArrayRef)
            },
        );
        Self {
            table,
            function: ScalarUDF::new_from_impl(function),
        }
    }

    /// Returns a requested column of the table, over a plan with the columns that it needs.
    fn column(&self, name: &str) -> Expr {
        if name == NAME {
            self.function.call(vec![ident(NAME), ident(COMMAND_LINE)])
        } else {
            ident(name)
        }
    }
}

#[async_trait]
impl TableProvider for RenamedProcesses {
    fn schema(&self) -> SchemaRef {
        self.table.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = self.schema();
        let name = schema.index_of(NAME)?;
        let command_line = schema.index_of(COMMAND_LINE)?;
        let wanted = projection
            .cloned()
            .unwrap_or_else(|| (0..schema.fields().len()).collect());
        // Rules cost nothing if the name is not read.
        if !wanted.contains(&name) {
            return self.table.scan(state, projection, filters, limit).await;
        }
        // The command line is read for the rules, though it is not in the answer.
        let mut needed = wanted.clone();
        if !needed.contains(&command_line) {
            needed.push(command_line);
        }
        let plan = self
            .table
            .scan(state, Some(&needed), filters, limit)
            .await?;
        let of_plan = DFSchema::try_from(plan.schema())?;
        let mut columns = Vec::with_capacity(wanted.len());
        for index in wanted {
            let name = schema.field(index).name();
            columns.push((
                state.create_physical_expr(self.column(name), &of_plan)?,
                name.clone(),
            ));
        }
        Ok(Arc::new(ProjectionExec::try_new(columns, plan)?))
    }
}
