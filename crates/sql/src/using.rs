//! Adds the table to columns of `USING` that are named alone.
//!
//! `FROM a JOIN b USING (trace_id, process_key) WHERE trace_id = 0` is plain SQL, but the planner
//! calls such a name ambiguous in conditions, and with three tables everywhere. So unqualified
//! names that a `USING` of their `SELECT` has get the table that provides their value. Joins whose
//! rows may lack that value (right and full ones) are left as they are.

use std::collections::HashMap;
use std::ops::ControlFlow;

use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, JoinConstraint, JoinOperator, ObjectName, Query, Select, TableFactor, VisitMut,
    VisitorMut,
};

use crate::provider::{RUN_ID, TRACE_ID};
use crate::tables;

/// Adds the table to columns of `USING`.
pub(crate) fn qualify(statement: &mut Statement) {
    match statement {
        Statement::Explain(explain) => qualify(&mut explain.statement),
        Statement::Statement(sql) => {
            // It never breaks off.
            let _ = sql.visit(&mut Qualify::default());
        }
        _ => {}
    }
}

/// The table of each column, as lower-case names.
type Scope = HashMap<String, Ident>;

/// Scopes of nested queries.
#[derive(Default)]
struct Qualify(Vec<Scope>);

impl VisitorMut for Qualify {
    type Break = ();

    /// Clauses outside of its `SELECT`, such as ORDER BY, name columns of the answer.
    fn pre_visit_query(&mut self, _query: &mut Query) -> ControlFlow<()> {
        self.0.push(Scope::default());
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &mut Query) -> ControlFlow<()> {
        self.0.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        // A scope that cannot be known resolves no names.
        self.0.push(scope(select).unwrap_or_default());
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _select: &mut Select) -> ControlFlow<()> {
        self.0.pop();
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        // Only of the innermost question: a name there may be a column of its own tables, and the
        // planner looks outside by itself.
        if let Expr::Identifier(name) = expr
            && let Some(table) = self
                .0
                .last()
                .and_then(|scope| scope.get(&name.value.to_lowercase()))
        {
            *expr = Expr::CompoundIdentifier(vec![table.clone(), name.clone()]);
        }
        ControlFlow::Continue(())
    }
}

/// Returns the columns of `USING` of a query over joined tables; `None` if their values may be
/// missing.
fn scope(select: &Select) -> Option<Scope> {
    // With several tables after FROM, a bare name may belong to a table that the joins do not have.
    let [from] = select.from.as_slice() else {
        return None;
    };
    let mut scope = Scope::default();
    let mut before: Vec<&TableFactor> = vec![&from.relation];
    for join in &from.joins {
        let (constraint, is_inner) = match &join.join_operator {
            JoinOperator::Join(constraint) | JoinOperator::Inner(constraint) => (constraint, true),
            JoinOperator::Left(constraint)
            | JoinOperator::LeftOuter(constraint)
            | JoinOperator::LeftSemi(constraint)
            | JoinOperator::LeftAnti(constraint) => (constraint, false),
            JoinOperator::CrossJoin(_) => {
                before.push(&join.relation);
                continue;
            }
            // In rows of right and full joins either side may have the value, which no single table
            // names.
            _ => return None,
        };
        if let JoinConstraint::Using(columns) = constraint {
            for column in columns.iter().filter_map(single) {
                let name = column.value.to_lowercase();
                // The first join with a column decides: its value is the same in all later ones.
                if scope.contains_key(&name) {
                    continue;
                }
                // Both sides have the column. In an inner join the value of the right side is never
                // missing. A left join may lack it there, so the table on the left is searched for:
                // the only one, or the one that is declared with the column.
                let left = match before.as_slice() {
                    [only] => Some(*only),
                    several => several
                        .iter()
                        .copied()
                        .find(|table| is_declared_with(table, &name)),
                };
                let table = if is_inner { Some(&join.relation) } else { left };
                if let Some(table) = table.and_then(named) {
                    scope.insert(name, table);
                }
            }
        }
        before.push(&join.relation);
    }
    Some(scope)
}

/// Returns a name of one part.
fn single(name: &ObjectName) -> Option<&Ident> {
    match name.0.as_slice() {
        [only] => only.as_ident(),
        _ => None,
    }
}

/// Returns the qualifier of the columns of a table.
fn named(table: &TableFactor) -> Option<Ident> {
    match table {
        TableFactor::Table {
            alias: Some(alias), ..
        }
        | TableFactor::Derived {
            alias: Some(alias), ..
        } => Some(alias.name.clone()),
        TableFactor::Table {
            name, alias: None, ..
        } => name.0.last()?.as_ident().cloned(),
        _ => None,
    }
}

/// Returns `true` if a table of the session has such a column.
fn is_declared_with(table: &TableFactor, column: &str) -> bool {
    let TableFactor::Table { name, .. } = table else {
        return false;
    };
    let Some(name) = single(name).map(|name| name.value.to_lowercase()) else {
        return false;
    };
    let is_leading = [TRACE_ID, RUN_ID].contains(&column);
    tables().any(|table| table.name == name && (is_leading || table.column(column).is_some()))
}
