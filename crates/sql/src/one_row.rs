//! Keeps conditions that name no column above aggregates without groups.
//!
//! The engine moves a condition such as `(SELECT count(*) FROM dns_query) > 0` down to the rows of
//! tables, since it is the same for all of them. An aggregate without groups has one row whatever
//! its input: above it a false condition leaves no row, below it the aggregate still gives a row of
//! nulls. Conditions are not moved past a limit, and the one row is all that such an aggregate has.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder};

/// Returns the plan with a limit above each aggregate without groups, if it has a condition at all.
/// Subqueries of expressions stay as they are: the engine turns subqueries that name columns of the
/// outer one into joins, which a limit would prevent.
///
/// # Errors
/// The engine cannot build the plan.
pub(crate) fn held(plan: LogicalPlan) -> Result<LogicalPlan> {
    let has_condition = plan.exists(|node| {
        Ok(matches!(
            node,
            LogicalPlan::Filter(_) | LogicalPlan::Join(_)
        ))
    })?;
    if !has_condition {
        return Ok(plan);
    }
    let hold = |node: LogicalPlan| match node {
        LogicalPlan::Aggregate(of_all) if of_all.group_expr.is_empty() => {
            let limited =
                LogicalPlanBuilder::from(LogicalPlan::Aggregate(of_all)).limit(0, Some(1))?;
            Ok(Transformed::yes(limited.build()?))
        }
        other => Ok(Transformed::no(other)),
    };
    Ok(plan.transform_up(hold)?.data)
}
