//! Ends the work of joins whose rows are no longer needed, or too wide.
//!
//! A task can be stopped only where it pauses, and the engine pauses where rows are read. A cross
//! join computes for hours on rows that it read long before. So each join and each of its inputs
//! checks, with each batch, whether its rows are still needed. A join repeats its rows, as does an
//! unnested list: a batch of the widest one has to fit into what a batch may take.

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

use crate::functions::widest;
use crate::limits::Limits;

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

    /// Checks that the rows are still needed.
    ///
    /// # Errors
    /// They are not.
    pub(crate) fn check(&self) -> Result<()> {
        if self.0.load(Ordering::Relaxed) {
            return Err(DataFusionError::Execution(
                "the receiver of the rows is gone".to_owned(),
            ));
        }
        Ok(())
    }
}

/// Returns the plan with a check of the limits after each batch of joins and of their inputs.
///
/// # Errors
/// The engine cannot rebuild the plan.
pub(crate) fn in_joins(
    plan: Arc<dyn ExecutionPlan>,
    limits: &Limits,
) -> Result<Arc<dyn ExecutionPlan>> {
    let watched = |input: &Arc<dyn ExecutionPlan>| -> Arc<dyn ExecutionPlan> {
        // A join below a join was watched before.
        if input.name() == WATCHED {
            return Arc::clone(input);
        }
        Arc::new(Watched {
            input: Arc::clone(input),
            limits: limits.clone(),
        })
    };
    let again = || ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
    let join = |node: Arc<dyn ExecutionPlan>| {
        if !node.name().contains("Join") && !node.name().contains("Unnest") {
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
    limits: Limits,
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
            limits: self.limits.clone(),
        }))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let rows = self.input.execute(partition, context.clone())?;
        let schema = rows.schema();
        let limits = self.limits.clone();
        let together = context.session_config().batch_size();
        let wanted = rows.map(move |batch| {
            limits.stop.check()?;
            let batch = batch?;
            let bytes = widest(&batch).saturating_mul(together as u128);
            limits.batch("a join or an unnested list", together, bytes)?;
            Ok(batch)
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
                let limits = Limits::new(1 << 30, stop.clone());
                let plan = in_joins(plan, &limits).unwrap();
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
                        assert!(
                            error
                                .to_string()
                                .contains("the receiver of the rows is gone"),
                            "{sql}: {error}"
                        );
                    }
                    other => panic!("{sql}: {other:?}"),
                }
            }
        }
    }
}
