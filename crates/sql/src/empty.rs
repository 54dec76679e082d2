//! Tables without rows leave a plan before it is optimised.
//!
//! Few recordings have everything that can be recorded, and a question that joins a table without
//! rows has no rows either. The engine notices that while it computes; here it is noticed before most of
//! the plan has been optimised, which takes longer than computing a question about a small extract.

use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchemaRef, Result};
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::{EmptyRelation, LogicalPlan};
use datafusion::optimizer::optimizer::{ApplyOrder, Optimizer};
use datafusion::optimizer::propagate_empty_relation::PropagateEmptyRelation;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

use crate::provider::DeclaredTable;

/// Rule after which empty tables are removed: the rules up to it turn subqueries into joins, and look for
/// the columns of a subquery in its projection, which would be gone.
const LAST_OF_SUBQUERIES: &str = "decorrelate_lateral_join";

/// Returns the rules of the optimiser, with the removal of empty tables as early as possible.
pub(crate) fn rules() -> Vec<Arc<dyn OptimizerRule + Send + Sync>> {
    let mut rules = Optimizer::new().rules;
    let last = rules
        .iter()
        .position(|rule| rule.name() == LAST_OF_SUBQUERIES);
    let at = last.map_or(rules.len(), |last| last + 1);
    let added: [Arc<dyn OptimizerRule + Send + Sync>; 2] = [
        Arc::new(EmptyTables),
        Arc::new(PropagateEmptyRelation::new()),
    ];
    rules.splice(at..at, added);
    rules
}

/// Replaces declared tables that have no rows.
#[derive(Debug)]
struct EmptyTables;

impl OptimizerRule for EmptyTables {
    fn name(&self) -> &'static str {
        "empty_tables"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        _config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::TableScan(scan) = &plan else {
            return Ok(Transformed::no(plan));
        };
        let provider = source_as_provider(&scan.source)?;
        let is_empty = provider
            .downcast_ref::<DeclaredTable>()
            .is_some_and(DeclaredTable::is_empty);
        if !is_empty {
            return Ok(Transformed::no(plan));
        }
        Ok(Transformed::yes(without_rows(&scan.projected_schema)))
    }
}

/// Returns a plan of that schema without rows.
pub(crate) fn without_rows(schema: &DFSchemaRef) -> LogicalPlan {
    LogicalPlan::EmptyRelation(EmptyRelation {
        produce_one_row: false,
        schema: schema.clone(),
    })
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::{AsArray, RecordBatch};
    use datafusion::arrow::datatypes::Int64Type;

    use super::*;
    use crate::Session;

    fn count(sql: &str) -> i64 {
        let session = Session::from_batches(Vec::new()).unwrap();
        let rows: Vec<RecordBatch> = session.sql(sql).unwrap().map(Result::unwrap).collect();
        rows.iter()
            .map(|rows| rows.column(0).as_primitive::<Int64Type>().value(0))
            .sum()
    }

    #[test]
    fn the_rule_that_they_follow_exists() {
        let names: Vec<String> = rules().iter().map(|rule| rule.name().to_owned()).collect();
        let last = names.iter().position(|name| name == LAST_OF_SUBQUERIES);
        let added = names.iter().position(|name| name == "empty_tables");
        assert_eq!(added, last.map(|last| last + 1));
    }

    #[test]
    fn joins_and_subqueries_over_empty_tables_have_the_rows_of_the_other_side() {
        let numbers = "(SELECT value AS v FROM generate_series(1, 3)) n";
        for (of, rows) in [
            ("JOIN disk_io d ON d.init_ns = n.v", 0),
            ("LEFT JOIN disk_io d ON d.init_ns = n.v", 3),
            ("CROSS JOIN (SELECT count(*) AS c FROM disk_io) d", 3),
            ("WHERE v IN (SELECT init_ns FROM disk_io)", 0),
            ("WHERE v NOT IN (SELECT init_ns FROM disk_io)", 3),
            (
                "WHERE EXISTS (SELECT 1 FROM disk_io d WHERE d.init_ns = n.v)",
                0,
            ),
            (
                "WHERE NOT EXISTS (SELECT 1 FROM disk_io d WHERE d.init_ns = n.v)",
                3,
            ),
            (
                "WHERE (SELECT count(*) FROM disk_io d WHERE d.init_ns = n.v) = 0",
                3,
            ),
            ("WHERE (SELECT max(init_ns) FROM disk_io) IS NULL", 3),
            ("WHERE (SELECT count(*) FROM disk_io) > 0", 0),
        ] {
            assert_eq!(
                count(&format!("SELECT count(*) FROM {numbers} {of}")),
                rows,
                "{of}"
            );
        }
        let union = "SELECT count(*) FROM (SELECT init_ns FROM disk_io UNION ALL SELECT 1)";
        assert_eq!(count(union), 1);
    }

    #[test]
    fn a_question_over_empty_tables_plans_no_scan() {
        let session = Session::from_batches(Vec::new()).unwrap();
        let sql = "EXPLAIN SELECT p.name, sum(d.size_bytes) FROM disk_io d JOIN process p USING (process_key) \
                   GROUP BY p.name";
        let rows: Vec<RecordBatch> = session.sql(sql).unwrap().map(Result::unwrap).collect();
        let plans: Vec<&str> = rows
            .iter()
            .flat_map(|rows| rows.column(1).as_string::<i32>().iter().flatten())
            .collect();
        assert!(
            plans.iter().any(|plan| plan.starts_with("EmptyRelation")),
            "{plans:?}"
        );
        assert!(!plans.concat().contains("disk_io"), "{plans:?}");
    }
}
