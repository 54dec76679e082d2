//! Plans a statement, and finds out the needs of its plan before it is run.

use std::collections::BTreeSet;

use datafusion::common::tree_node::{TreeNode as _, TreeNodeRecursion};
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::prelude::SQLOptions;
use datafusion::sql::parser::Statement;

use crate::parameters::Values;
use crate::{Result, error, functions};

/// Returns the plan of a statement with its values.
///
/// # Errors
/// The statement is not understood or changes something, or a value is missing.
pub(crate) async fn planned(
    state: &SessionState,
    statement: Statement,
    values: &Values,
) -> Result<LogicalPlan> {
    let plan = state
        .statement_to_plan(statement)
        .await
        .map_err(|e| error::from_planning(&e))?;
    let plan = values.bind(plan)?;
    let asks = SQLOptions::new()
        .with_allow_ddl(false)
        .with_allow_dml(false)
        .with_allow_statements(false);
    asks.verify_plan(&plan)
        .map_err(|e| error::from_planning(&e))?;
    Ok(plan)
}

/// Returns names of the tables that a plan reads.
pub(crate) fn scanned(plan: &LogicalPlan) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    // This visitor never fails.
    let _ = plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node {
            names.insert(scan.table_name.table().to_owned());
        }
        Ok(TreeNodeRecursion::Continue)
    });
    names
}

/// Returns `true` if SQL contains a name as a whole word.
pub(crate) fn names_word(sql: &str, name: &str) -> bool {
    // An underscore belongs to names: `process` is not a word of `process_key`.
    let is_apart = |c: Option<char>| c.is_none_or(|c| c != '_' && !c.is_alphanumeric());
    sql.match_indices(name).any(|(at, found)| {
        let before = sql.get(..at);
        let behind = sql.get(at + found.len()..);
        is_apart(before.and_then(|text| text.chars().next_back()))
            && is_apart(behind.and_then(|text| text.chars().next()))
    })
}

/// Returns `true` if a function of the plan, or of a plan inside it, looks frames up.
pub(crate) fn needs_frames(plan: &LogicalPlan) -> datafusion::error::Result<bool> {
    let needs = |expr: &Expr| {
        expr.exists(|part| {
            Ok(matches!(part, Expr::ScalarFunction(call) if functions::needs_frames(&call.func)))
        })
    };
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            found |= needs(expr)?;
            Ok(if found {
                TreeNodeRecursion::Stop
            } else {
                TreeNodeRecursion::Continue
            })
        })
    })?;
    Ok(found)
}
