//! Refuses questions that would mix the rows of several extracts.
//!
//! Keys such as `process_key` and `stack_id` start again in each extract. A join on one of them
//! without `trace_id` pairs rows of one trace with rows of another, and a group by one adds up
//! unrelated rows: the rows exist, and they are wrong. Both are errors with several extracts. Joins
//! on anything else, such as names, are what comparisons are made of.

use std::collections::HashSet;

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, ScalarValue};
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{BinaryExpr, Expr, Join, JoinType, LogicalPlan, Operator, Subquery};

use crate::provider::{RUN_ID, TRACE_ID};
use crate::views::{EXTRACT, tables};
use crate::{Error, Result};

/// Unit of columns whose values start again in each extract.
const KEY: &str = "key";

/// Functions that return a key for a key.
// A minimum or a first value of keys is a key itself: joining on it mixes extracts just as joining
// on the column does. Sums and counts are plain numbers.
const KEEPING: [&str; 8] = [
    "coalesce",
    "nullif",
    "min",
    "max",
    "first_value",
    "last_value",
    "any_value",
    "array_agg",
];

/// Refuses the plan of a question to several extracts if it mixes them.
///
/// # Errors
/// A join, a group, a window or an inner question that treats keys of different extracts as the
/// same. `run_id` keeps them apart only where all extracts are of different traces (`runs_differ`).
pub(crate) fn check(plan: &LogicalPlan, runs_differ: bool) -> Result<()> {
    visit(
        plan,
        &Facts {
            conditions: Vec::new(),
            runs_differ,
        },
    )
}

/// The kind of values of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Origin {
    /// Numbers of extracts.
    Trace,
    /// Numbers of traces.
    Run,
    /// Keys, by the name of their column.
    Key(String),
    /// Anything else.
    Other,
}

/// Conditions above a step of the plan that hold for its rows.
#[derive(Debug, Clone)]
struct Facts<'p> {
    conditions: Vec<&'p Expr>,
    /// True if no two extracts are of the same trace; the same in all facts.
    runs_differ: bool,
}

impl<'p> Facts<'p> {
    fn and(&self, condition: &'p Expr) -> Self {
        let mut all = self.conditions.clone();
        all.extend(split_conjunction(condition));
        Self {
            conditions: all,
            runs_differ: self.runs_differ,
        }
    }

    /// Returns the facts without conditions.
    const fn none<'q>(&self) -> Facts<'q> {
        Facts {
            conditions: Vec::new(),
            runs_differ: self.runs_differ,
        }
    }

    /// Returns `true` if these values identify an extract.
    fn identify(&self, origin: &Origin) -> bool {
        *origin == Origin::Trace || (self.runs_differ && *origin == Origin::Run)
    }

    /// Returns `true` if a pair of equal values is of one extract.
    fn identify_both(&self, (left, right): &(Origin, Origin)) -> bool {
        left == right && self.identify(left)
    }
}

fn visit(plan: &LogicalPlan, facts: &Facts<'_>) -> Result<()> {
    inner_questions(plan, facts)?;
    match plan {
        LogicalPlan::Filter(filter) => return visit(&filter.input, &facts.and(&filter.predicate)),
        LogicalPlan::Sort(sort) => return visit(&sort.input, facts),
        LogicalPlan::Limit(limit) => return visit(&limit.input, facts),
        // Names in conditions above belong to the alias and not to columns below it.
        LogicalPlan::SubqueryAlias(alias) => return visit(&alias.input, &facts.none()),
        LogicalPlan::Join(join) => {
            let paired = match &join.filter {
                Some(filter) => facts.and(filter),
                None => facts.clone(),
            };
            check_join(join, &paired)?;
            // An outer join keeps rows of a side for which its condition does not hold, so the
            // condition does not apply to joins and groups below that side.
            let (keeps_left, keeps_right) = keeps(join.join_type);
            visit(&join.left, if keeps_left { facts } else { &paired })?;
            return visit(&join.right, if keeps_right { facts } else { &paired });
        }
        LogicalPlan::Aggregate(aggregate) => {
            check_groups(&aggregate.input, &aggregate.group_expr, "GROUP BY", facts)?;
        }
        LogicalPlan::Window(window) => {
            for expr in &window.window_expr {
                if let Expr::WindowFunction(function) = unaliased(expr)
                    && !function.params.partition_by.is_empty()
                {
                    check_groups(
                        &window.input,
                        &function.params.partition_by,
                        "PARTITION BY",
                        facts,
                    )?;
                }
            }
        }
        _ => {}
    }
    // A node in between (a projection, a group) may rename columns, so conditions above it cannot
    // be read below.
    plan.inputs()
        .into_iter()
        .try_for_each(|input| visit(input, &facts.none()))
}

/// Returns, for the left and the right side of a join, whether it keeps rows that do not meet its
/// condition.
const fn keeps(kind: JoinType) -> (bool, bool) {
    match kind {
        JoinType::Full => (true, true),
        JoinType::Left | JoinType::LeftAnti | JoinType::LeftMark => (true, false),
        JoinType::Right | JoinType::RightAnti | JoinType::RightMark => (false, true),
        JoinType::Inner | JoinType::LeftSemi | JoinType::RightSemi => (false, false),
    }
}

fn check_join(join: &Join, facts: &Facts<'_>) -> Result<()> {
    let left = &*join.left;
    let right = &*join.right;
    // Before the optimizer has run, the planner leaves equations of ON in the filter; only USING
    // fills the list of keys. Equations of a WHERE above pair rows just as well.
    let mut pairs: Vec<(&Expr, &Expr)> = join.on.iter().map(|(a, b)| (a, b)).collect();
    pairs.extend(
        facts
            .conditions
            .iter()
            .filter_map(|condition| equal(condition))
            .filter_map(|(a, b)| {
                if is_of(a, left) && is_of(b, right) {
                    Some((a, b))
                } else {
                    (is_of(b, left) && is_of(a, right)).then_some((b, a))
                }
            }),
    );
    let origins: Vec<(Origin, Origin)> = pairs
        .iter()
        .map(|(a, b)| (origin_of(a, left), origin_of(b, right)))
        .collect();
    // Equal numbers of extracts on both sides are enough, whatever else is compared.
    if origins.iter().any(|pair| facts.identify_both(pair)) || is_of_one_trace(left, right, facts) {
        return Ok(());
    }
    // A key that is compared with a plain number is a choice of rows and not a join of extracts.
    let key = origins.iter().find_map(|pair| match pair {
        (Origin::Key(key), Origin::Key(_)) => Some(key),
        _ => None,
    });
    if let Some(key) = key {
        return Err(mixed(
            &format!("the join on {key}"),
            &format!("USING ({TRACE_ID}, {key})"),
        ));
    }
    // Rows that are paired without a shared value: of each trace with each other one, unless the
    // condition uses both numbers.
    let speaks = join
        .on
        .iter()
        .any(|(a, b)| speaks_of_both(&[a, b], left, right))
        || facts
            .conditions
            .iter()
            .any(|condition| speaks_of_both(&[condition], left, right));
    if pairs.is_empty() && !speaks && has_rows_of_traces(left) && has_rows_of_traces(right) {
        return Err(mixed(
            "a join without a common column",
            &format!("ON a.{TRACE_ID} = b.{TRACE_ID}"),
        ));
    }
    Ok(())
}

fn check_groups(input: &LogicalPlan, groups: &[Expr], what: &str, facts: &Facts<'_>) -> Result<()> {
    let origins: Vec<Origin> = groups.iter().map(|expr| origin_of(expr, input)).collect();
    let key = origins.iter().find_map(|origin| {
        if let Origin::Key(key) = origin {
            Some(key)
        } else {
            None
        }
    });
    match key {
        // A group by a key is right if all rows are of one trace anyway.
        Some(key)
            if !origins.iter().any(|origin| facts.identify(origin))
                && trace_of(input, &facts.none()).is_none() =>
        {
            Err(mixed(
                &format!("{what} {key}"),
                &format!("{what} {TRACE_ID}, {key}"),
            ))
        }
        _ => Ok(()),
    }
}

/// Checks subqueries in expressions.
fn inner_questions(plan: &LogicalPlan, facts: &Facts<'_>) -> Result<()> {
    let mut found = Ok(());
    let walk = plan.apply_expressions(|expr| {
        expr.apply(|part| {
            let checked = match part {
                Expr::InSubquery(question) => {
                    let all: Vec<&LogicalPlan> = plan.inputs();
                    let key = all
                        .iter()
                        .map(|input| origin_of(&question.expr, input))
                        .find(Origin::is_key);
                    check_inner(&question.subquery, key, facts)
                }
                Expr::Exists(question) => check_inner(&question.subquery, None, facts),
                Expr::ScalarSubquery(question) => check_inner(question, None, facts),
                _ => Ok(()),
            };
            let goes_on = checked.is_ok();
            if !goes_on {
                found = checked;
            }
            Ok(if goes_on {
                TreeNodeRecursion::Continue
            } else {
                TreeNodeRecursion::Stop
            })
        })
    });
    // This visitor never fails.
    drop(walk);
    found
}

/// Checks a subquery; `key` is the value that its rows are compared with, if that is a key.
fn check_inner(question: &Subquery, key: Option<Origin>, facts: &Facts<'_>) -> Result<()> {
    let outer: Vec<&Column> = question
        .outer_ref_columns
        .iter()
        .filter_map(|expr| {
            if let Expr::OuterReferenceColumn(_, column) = expr {
                Some(column)
            } else {
                None
            }
        })
        .collect();
    let identifies = |name: &str| name == TRACE_ID || (facts.runs_differ && name == RUN_ID);
    if !outer.iter().any(|column| identifies(&column.name))
        && trace_of(&question.subquery, &facts.none()).is_none()
    {
        let keys: HashSet<&str> = all_keys().collect();
        let outer_key = outer
            .iter()
            .find(|column| keys.contains(column.name.as_str()));
        // IN compares with the first and only column of the inner question.
        let compared = key.filter(|_| {
            let first = question.subquery.schema().columns().into_iter().next();
            first.is_some_and(|column| origin(&question.subquery, &column).is_key())
        });
        let key = outer_key
            .map(|column| column.name.clone())
            .or(compared.and_then(Origin::into_key));
        if let Some(key) = key {
            let how = format!(
                "WHERE inner.{TRACE_ID} = outer.{TRACE_ID}, or a join USING ({TRACE_ID}, {key})"
            );
            return Err(mixed(&format!("an inner question by {key}"), &how));
        }
    }
    check(&question.subquery, facts.runs_differ)
}

fn mixed(what: &str, how: &str) -> Error {
    Error::Sql {
        message: format!(
            "{what} would mix the extracts: these keys count anew in each, and {TRACE_ID} distinguishes them"
        ),
        position: None,
        hint: Some(format!("write {how}, or ask one extract")),
    }
}

impl Origin {
    /// Returns `true` if values are numbers of extracts or of traces.
    const fn is_number(&self) -> bool {
        matches!(self, Self::Trace | Self::Run)
    }

    const fn is_key(&self) -> bool {
        matches!(self, Self::Key(_))
    }

    fn into_key(self) -> Option<String> {
        if let Self::Key(key) = self {
            Some(key)
        } else {
            None
        }
    }
}

fn all_keys() -> impl Iterator<Item = &'static str> {
    let columns = tables().flat_map(|table| table.columns);
    columns
        .filter(|column| column.unit == KEY && column.name != TRACE_ID)
        .map(|column| column.name)
}

fn unaliased(expr: &Expr) -> &Expr {
    match expr {
        Expr::Alias(alias) => unaliased(&alias.expr),
        other => other,
    }
}

/// Returns the two sides of an equation.
fn equal(condition: &Expr) -> Option<(&Expr, &Expr)> {
    match condition {
        Expr::BinaryExpr(BinaryExpr {
            left,
            op: Operator::Eq,
            right,
        }) => Some((left, right)),
        _ => None,
    }
}

/// Returns `true` if an expression has columns, all of them of that plan.
fn is_of(expr: &Expr, plan: &LogicalPlan) -> bool {
    let columns = expr.column_refs();
    !columns.is_empty()
        && columns
            .iter()
            .all(|column| plan.schema().has_column(column))
}

fn speaks_of_both(exprs: &[&Expr], left: &LogicalPlan, right: &LogicalPlan) -> bool {
    let of = |plan: &LogicalPlan| {
        exprs
            .iter()
            .flat_map(|expr| expr.column_refs())
            .any(|column| plan.schema().has_column(column) && origin(plan, column).is_number())
    };
    of(left) && of(right)
}

/// Returns `true` if both sides have rows of the same trace alone.
fn is_of_one_trace(left: &LogicalPlan, right: &LogicalPlan, facts: &Facts<'_>) -> bool {
    let of_left = trace_of(left, facts);
    of_left.is_some() && of_left == trace_of(right, facts)
}

/// Returns the only trace whose rows a plan has, according to conditions.
fn trace_of<'p>(plan: &'p LogicalPlan, facts: &Facts<'p>) -> Option<(Origin, &'p ScalarValue)> {
    // Only an equation with a literal pins the trace: a range or a list may let several through.
    let said = facts.conditions.iter().find_map(|condition| {
        let (a, b) = equal(condition)?;
        let ((Expr::Column(column), Expr::Literal(value, _))
        | (Expr::Literal(value, _), Expr::Column(column))) = (a, b)
        else {
            return None;
        };
        let of_plan = Some(column).filter(|column| plan.schema().has_column(column))?;
        let origin = Some(origin(plan, of_plan)).filter(|origin| facts.identify(origin))?;
        Some((origin, value))
    });
    if said.is_some() {
        return said;
    }
    match plan {
        LogicalPlan::Filter(filter) => trace_of(&filter.input, &facts.and(&filter.predicate)),
        LogicalPlan::Sort(sort) => trace_of(&sort.input, facts),
        LogicalPlan::Limit(limit) => trace_of(&limit.input, facts),
        LogicalPlan::Join(join) => {
            let left = trace_of(&join.left, facts);
            let right = trace_of(&join.right, facts);
            let is_with_trace = join.on.iter().any(|(a, b)| {
                facts.identify_both(&(origin_of(a, &join.left), origin_of(b, &join.right)))
            });
            // An outer join may add rows of other traces on the side that is kept, so only an inner
            // one passes the condition on.
            match (left, right) {
                (Some(left), Some(right)) => (left == right).then_some(left),
                (one, other) if is_with_trace && join.join_type == JoinType::Inner => one.or(other),
                _ => None,
            }
        }
        LogicalPlan::Union(union) => {
            let mut all = union
                .inputs
                .iter()
                .map(|input| trace_of(input, &facts.none()));
            let first = all.next()??;
            all.all(|other| other.as_ref() == Some(&first))
                .then_some(first)
        }
        LogicalPlan::SubqueryAlias(_)
        | LogicalPlan::Projection(_)
        | LogicalPlan::Aggregate(_)
        | LogicalPlan::Window(_)
        | LogicalPlan::Distinct(_) => plan
            .inputs()
            .into_iter()
            .next()
            .and_then(|input| trace_of(input, &facts.none())),
        _ => None,
    }
}

/// Returns `true` if a plan has rows of each extract, and not sums over all.
fn has_rows_of_traces(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::TableScan(scan) => tables().any(|table| table.name == scan.table_name.table()),
        // Sums over everything are one row, which may be joined with rows of any extract.
        LogicalPlan::Aggregate(aggregate) if aggregate.group_expr.is_empty() => false,
        LogicalPlan::Values(_) | LogicalPlan::EmptyRelation(_) => false,
        other => other.inputs().into_iter().any(has_rows_of_traces),
    }
}

/// Returns the kind of values of an expression over a plan.
fn origin_of(expr: &Expr, plan: &LogicalPlan) -> Origin {
    let first_key = |arguments: &[Expr]| {
        arguments
            .iter()
            .map(|expr| origin_of(expr, plan))
            .find(Origin::is_key)
            .unwrap_or(Origin::Other)
    };
    match expr {
        Expr::Column(column) => origin(plan, column),
        Expr::Alias(alias) => origin_of(&alias.expr, plan),
        Expr::Cast(cast) => origin_of(&cast.expr, plan),
        Expr::TryCast(cast) => origin_of(&cast.expr, plan),
        Expr::ScalarFunction(call) if KEEPING.contains(&call.name()) => first_key(&call.args),
        Expr::AggregateFunction(call) if KEEPING.contains(&call.func.name()) => {
            first_key(&call.params.args)
        }
        _ => Origin::Other,
    }
}

/// Returns the kind of values of a column of a plan.
fn origin(plan: &LogicalPlan, column: &Column) -> Origin {
    let Ok(index) = plan.schema().index_of_column(column) else {
        return Origin::Other;
    };
    let below = |input: &LogicalPlan, index: usize| {
        let column = input.schema().columns().into_iter().nth(index);
        column.map_or(Origin::Other, |column| origin(input, &column))
    };
    match plan {
        LogicalPlan::TableScan(scan) => of_table(scan.table_name.table(), &column.name),
        LogicalPlan::Projection(projection) => projection
            .expr
            .get(index)
            .map_or(Origin::Other, |expr| origin_of(expr, &projection.input)),
        LogicalPlan::SubqueryAlias(alias) => below(&alias.input, index),
        LogicalPlan::Aggregate(aggregate) => {
            // The schema of an aggregate lists groups first and then aggregates.
            let expr = aggregate
                .group_expr
                .iter()
                .chain(&aggregate.aggr_expr)
                .nth(index);
            expr.map_or(Origin::Other, |expr| origin_of(expr, &aggregate.input))
        }
        LogicalPlan::Join(join) => {
            // Columns of USING are on both sides with the same values, so the left side is enough.
            let is_left = join.left.schema().has_column(column);
            origin(if is_left { &join.left } else { &join.right }, column)
        }
        LogicalPlan::Union(union) => {
            // A union may mix a key with something else; then it is treated as a key, which refuses
            // rather too much.
            let mut all = union.inputs.iter().map(|input| below(input, index));
            let first = all.next().unwrap_or(Origin::Other);
            all.find(Origin::is_key).unwrap_or(first)
        }
        LogicalPlan::Filter(_)
        | LogicalPlan::Sort(_)
        | LogicalPlan::Limit(_)
        | LogicalPlan::Window(_)
        | LogicalPlan::Repartition(_)
        | LogicalPlan::Distinct(_) => match plan.inputs().first() {
            Some(input) if input.schema().has_column(column) => origin(input, column),
            _ => Origin::Other,
        },
        _ => Origin::Other,
    }
}

fn of_table(table: &str, column: &str) -> Origin {
    match column {
        TRACE_ID => return Origin::Trace,
        RUN_ID => return Origin::Run,
        _ => {}
    }
    let declared =
        tables().find(|declared| declared.name == table && declared.name != EXTRACT.name);
    let is_key = declared
        .and_then(|table| table.column(column))
        .is_some_and(|column| column.unit == KEY);
    if is_key {
        Origin::Key(column.to_owned())
    } else {
        Origin::Other
    }
}
