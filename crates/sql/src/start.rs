//! A planned question with its limits, and how it starts.

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::expr::{BinaryExpr, Like, ScalarFunction};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, LogicalPlan, Operator};
use datafusion::physical_plan::execute_stream;
use datafusion::prelude::SessionContext;

use crate::frames::Loader;
use crate::functions::{Bounded, operator};
use crate::limits::{Limits, TooWide};
use crate::plan::needs_frames;
use crate::{error, one_row, stop};

/// A planned question, which can start again with fewer rows in a batch.
pub(crate) struct Start {
    plan: LogicalPlan,
    state: SessionState,
    limits: Limits,
}

impl Start {
    /// Plans a question with the limits of its session.
    pub(crate) async fn new(
        context: &SessionContext,
        loader: &Loader,
        plan: LogicalPlan,
        limits: Limits,
    ) -> Result<Self> {
        let state = context.state();
        if needs_frames(&plan)? {
            loader.frames(&state).await?;
        }
        let plan = in_functions(one_row::held(plan)?, &limits)?;
        let plan = in_operators(state.optimize(&plan)?, &limits)?;
        let rows = limits.rows(&plan, state.config().batch_size())?;
        let mut start = Self {
            plan,
            state,
            limits,
        };
        start.set_batch(rows);
        Ok(start)
    }

    /// Starts to compute the rows.
    pub(crate) async fn rows(&self) -> Result<SendableRecordBatchStream> {
        let planner = self.state.query_planner();
        let plan = planner
            .create_physical_plan(&self.plan, &self.state)
            .await?;
        execute_stream(stop::in_joins(plan, &self.limits)?, self.state.task_ctx())
    }

    /// Makes batches narrower, if the error is that its rows were too wide, and fewer would fit.
    pub(crate) fn narrow(&mut self, error: &DataFusionError) -> bool {
        let rows = self.state.config().batch_size();
        let fewer = error::cause::<TooWide>(error).and_then(|wide| wide.narrower(rows));
        if let Some(fewer) = fewer {
            self.set_batch(fewer);
        }
        fewer.is_some()
    }

    fn set_batch(&mut self, rows: usize) {
        let config = self.state.config_mut();
        *config = config.clone().with_batch_size(rows);
    }
}

/// Returns the plan with limits in all its functions.
///
/// # Errors
/// The engine cannot rebuild the plan.
fn in_functions(plan: LogicalPlan, limits: &Limits) -> Result<LogicalPlan> {
    in_expressions(plan, |expr| match expr {
        Expr::ScalarFunction(call) => Ok(match Bounded::of(&call.func, limits) {
            Some(func) => Transformed::yes(Expr::ScalarFunction(ScalarFunction {
                func,
                args: call.args,
            })),
            None => Transformed::no(Expr::ScalarFunction(call)),
        }),
        other => Ok(Transformed::no(other)),
    })
}

/// Returns the optimised plan with limits in its operators, too: joining texts, and regular
/// expressions.
///
/// # Errors
/// The engine cannot rebuild the plan.
// Operators become functions, which the optimiser would not know.
fn in_operators(plan: LogicalPlan, limits: &Limits) -> Result<LogicalPlan> {
    in_functions(plan, limits).and_then(|plan| {
        in_expressions(plan, |expr| match expr {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) if operator::is_bounded(op) => Ok(
                Transformed::yes(Bounded::call(op, vec![*left, *right], limits)),
            ),
            Expr::SimilarTo(Like {
                negated,
                expr,
                pattern,
                case_insensitive,
                ..
            }) => {
                let op = match (negated, case_insensitive) {
                    (false, false) => Operator::RegexMatch,
                    (false, true) => Operator::RegexIMatch,
                    (true, false) => Operator::RegexNotMatch,
                    (true, true) => Operator::RegexNotIMatch,
                };
                Ok(Transformed::yes(Bounded::call(
                    op,
                    vec![*expr, *pattern],
                    limits,
                )))
            }
            Expr::ScalarSubquery(of) => {
                let subquery = Expr::ScalarSubquery(of);
                Ok(Transformed::yes(operator::OfSubquery::call(
                    subquery, limits,
                )))
            }
            other => Ok(Transformed::no(other)),
        })
    })
}

fn in_expressions(
    plan: LogicalPlan,
    change: impl Fn(Expr) -> Result<Transformed<Expr>>,
) -> Result<LogicalPlan> {
    let in_node = |node: LogicalPlan| {
        // Conditions of a table are hints for its reader, which knows operators alone.
        if matches!(node, LogicalPlan::TableScan(_)) {
            return Ok(Transformed::no(node));
        }
        let names = NamePreserver::new(&node);
        node.map_expressions(|expr| {
            let name = names.save(&expr);
            let changed = expr.transform_up(&change)?;
            Ok(if changed.transformed {
                changed.update_data(|expr| name.restore(expr))
            } else {
                changed
            })
        })
    };
    Ok(plan.transform_up_with_subqueries(in_node)?.data)
}
