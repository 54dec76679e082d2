//! Ends the work of joins whose rows are no longer needed.
//!
//! A task can be stopped only where it pauses, and the engine pauses where rows are read. A cross
//! join computes for hours on rows that it read long before. So each join and each of its inputs
//! checks, with each batch, whether its rows are still needed.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties,
    ReplaceChildrenOptions,
};
use futures::StreamExt;

/// Name of the checking node in plans.
const WATCHED: &str = "Watched";

/// A switch that is set once the rows are no longer needed; copies share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    // Relaxed is enough: no other data depends on the switch, and a batch later is soon enough.
    pub(crate) fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Returns the plan with a check of `stop` after each batch of joins and of their inputs.
///
/// # Errors
/// The engine cannot rebuild the plan.
pub(crate) fn in_joins(
    plan: Arc<dyn ExecutionPlan>,
    stop: &Stop,
) -> Result<Arc<dyn ExecutionPlan>> {
    let watched = |input: &Arc<dyn ExecutionPlan>| -> Arc<dyn ExecutionPlan> {
        // A join below a join was watched before.
        if input.name() == WATCHED {
            return Arc::clone(input);
        }
        Arc::new(Watched {
            input: Arc::clone(input),
            stop: stop.clone(),
        })
    };
    let again = || ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
    let join = |node: Arc<dyn ExecutionPlan>| {
        if !node.name().contains("Join") {
            return Ok(Transformed::no(node));
        }
        // Both sides are watched and the join itself: it may compute for long on rows that it has
        // read, without reading more, and may read for long without a result.
        let inputs = node.children().into_iter().map(watched).collect();
        Ok(Transformed::yes(watched(
            &node.replace_children(inputs, again())?,
        )))
    };
    Ok(plan.transform_up(join)?.data)
}

/// Returns the rows of its input as long as they are needed, then an error.
#[derive(Debug)]
struct Watched {
    input: Arc<dyn ExecutionPlan>,
    stop: Stop,
}

impl DisplayAs for Watched {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(WATCHED)
    }
}

impl ExecutionPlan for Watched {
    fn name(&self) -> &'static str {
        WATCHED
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let input = children
            .into_iter()
            .next()
            .unwrap_or_else(|| Arc::clone(&self.input));
        Ok(Arc::new(Self {
            input,
            stop: self.stop.clone(),
        }))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let rows = self.input.execute(partition, context)?;
        let (schema, stop) = (rows.schema(), self.stop.clone());
        let wanted = rows.map(move |batch| {
            if stop.is_requested() {
                return Err(DataFusionError::Execution(
                    "nobody waits for the rows any more".to_owned(),
                ));
            }
            batch
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, wanted)))
    }
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::RecordBatch;
    use datafusion::physical_plan::collect;
    use datafusion::prelude::SessionContext;

    use super::*;

    #[tokio::test]
    async fn joins_end_when_nobody_waits() {
        let all = "(SELECT unnest(range(0, 300)) AS n)";
        for (sql, rows) in [
            (format!("SELECT * FROM {all} a CROSS JOIN {all} b"), 90_000),
            // This join has no rows that could be stopped on their way out.
            (
                format!("SELECT * FROM {all} a JOIN {all} b ON a.n + b.n < 0"),
                0,
            ),
            (
                format!("SELECT * FROM {all} a JOIN {all} b ON a.n = b.n"),
                300,
            ),
        ] {
            let context = SessionContext::new();
            for is_requested in [false, true] {
                let plan = context
                    .sql(&sql)
                    .await
                    .unwrap()
                    .create_physical_plan()
                    .await
                    .unwrap();
                let stop = Stop::default();
                let plan = in_joins(plan, &stop).unwrap();
                if is_requested {
                    stop.request();
                }
                match collect(plan, context.task_ctx()).await {
                    Ok(found) if !is_requested => {
                        assert_eq!(
                            found.iter().map(RecordBatch::num_rows).sum::<usize>(),
                            rows,
                            "{sql}"
                        );
                    }
                    Err(error) if is_requested => {
                        assert!(error.to_string().contains("nobody waits"), "{sql}: {error}");
                    }
                    other => panic!("{sql}: {other:?}"),
                }
            }
        }
    }
}
