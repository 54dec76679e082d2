//! Turns a question about one extract into the same question about several: every step of its plan
//! keeps the extracts apart.
//!
//! Tables lead with `trace_id`. Joins and windows stay inside an extract. Groups and the order of
//! rows lead with the number of the extract. An aggregate over all rows has one row for each
//! extract, including extracts without rows. A plan with a step that cannot be lifted is refused;
//! the extracts are then queried one by one.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{
    Column, JoinConstraint, JoinType, NullEquality, TableReference, not_impl_err,
};
use datafusion::datasource::provider_as_source;
use datafusion::error::Result;
use datafusion::logical_expr::expr::WindowFunction;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{
    Aggregate, Distinct, Expr, Filter, Join, LogicalPlan, LogicalPlanBuilder, Projection, Sort,
    SortExpr, SubqueryAlias, TableScan, Union, Window, lit,
};
use datafusion::prelude::coalesce;

use crate::catalog::Tables;
use crate::provider::TRACE_ID;
use crate::views::EXTRACT;

/// Aggregates that are null for an empty input.
// A left join gives an extract without rows the same null. Aggregates that are not listed may have
// another value there, so questions with them run on one extract at a time.
const NULL_WITHOUT_ROWS: &[&str] = &[
    "sum",
    "min",
    "max",
    "avg",
    "first_value",
    "last_value",
    "bool_or",
    "bool_and",
    "string_agg",
    "union_duration",
];

/// A plan, and its column with the number of the extract; `None` for rows that do not come from
/// extracts.
type Lifted = (LogicalPlan, Option<Column>);

/// Turns the plan of a question about one extract into a plan about all of these extracts. Its
/// first column is `trace_id`, followed by the columns of the question.
///
/// # Errors
/// A step of the plan is of an unknown kind.
pub(super) fn lift(plan: &LogicalPlan, tables: &Tables) -> Result<LogicalPlan> {
    let mut lift = Lift { tables, names: 0 };
    let lifted = lift.plan(plan)?;
    let (lifted, trace) = lift.of_each(lifted)?;
    let columns = plan.schema().columns().into_iter().map(Expr::Column);
    let all = std::iter::once(Expr::Column(trace).alias(TRACE_ID)).chain(columns);
    LogicalPlanBuilder::from(lifted).project(all)?.build()
}

struct Lift<'a> {
    tables: &'a Tables,
    /// Names given to inner tables.
    names: usize,
}

impl Lift<'_> {
    fn plan(&mut self, plan: &LogicalPlan) -> Result<Lifted> {
        match plan {
            LogicalPlan::TableScan(scan) => self.scan(scan),
            LogicalPlan::Projection(projection) => self.projection(plan, projection),
            LogicalPlan::Filter(filter) => self.filter(plan, filter),
            LogicalPlan::Aggregate(aggregate) => self.aggregate(aggregate),
            LogicalPlan::Window(window) => self.window(plan, window),
            LogicalPlan::Sort(sort) => self.sort(sort),
            LogicalPlan::Join(join) => self.join(join),
            LogicalPlan::Union(union) => self.union(union),
            LogicalPlan::SubqueryAlias(alias) => self.alias(alias),
            LogicalPlan::Distinct(Distinct::All(input)) => {
                let (input, trace) = self.plan(input)?;
                Ok((LogicalPlanBuilder::from(input).distinct()?.build()?, trace))
            }
            LogicalPlan::Values(_) | LogicalPlan::EmptyRelation(_) => Ok((plan.clone(), None)),
            other => not_impl_err!("{} of several extracts", other.display()),
        }
    }

    fn scan(&self, scan: &TableScan) -> Result<Lifted> {
        // Scans are plain before the optimizer has seen them; anything pushed into one would have
        // to be lifted too.
        let is_plain = scan.projection.is_none() && scan.filters.is_empty() && scan.fetch.is_none();
        let source = match scan.table_name.table() {
            // The table `extract` has a row for each extract with its number, in any session.
            name if name == EXTRACT.name => Some(self.tables.extract_source()?),
            name => self.tables.declared(name).map(provider_as_source),
        };
        match source {
            Some(source) if is_plain => {
                let name = scan.table_name.clone();
                let plan = LogicalPlanBuilder::scan(name.clone(), source, None)?.build()?;
                Ok((plan, Some(Column::new(Some(name), TRACE_ID))))
            }
            _ => not_impl_err!("{} of several extracts", scan.table_name),
        }
    }

    fn alias(&mut self, alias: &SubqueryAlias) -> Result<Lifted> {
        let (input, trace) = self.plan(&alias.input)?;
        let trace = trace.map(|trace| Column::new(Some(alias.alias.clone()), trace.name));
        Ok((
            LogicalPlan::SubqueryAlias(SubqueryAlias::try_new(
                Arc::new(input),
                alias.alias.clone(),
            )?),
            trace,
        ))
    }

    fn projection(&mut self, plan: &LogicalPlan, projection: &Projection) -> Result<Lifted> {
        let (input, trace) = self.plan(&projection.input)?;
        let (input, mut exprs) = self.expressions(plan, input, trace.as_ref(), &projection.expr)?;
        // First, so that the columns of the question keep their order after it.
        exprs.splice(0..0, trace.clone().map(Expr::Column));
        Ok((
            LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(input))?),
            trace,
        ))
    }

    fn filter(&mut self, plan: &LogicalPlan, filter: &Filter) -> Result<Lifted> {
        let (input, trace) = self.plan(&filter.input)?;
        let conditions = std::slice::from_ref(&filter.predicate);
        let (mut input, conditions) = self.expressions(plan, input, trace.as_ref(), conditions)?;
        // Only now: the expressions above may have joined values of inner questions to the input.
        for condition in conditions {
            input = LogicalPlan::Filter(Filter::try_new(condition, Arc::new(input))?);
        }
        Ok((input, trace))
    }

    fn sort(&mut self, sort: &Sort) -> Result<Lifted> {
        // A limit would count the rows of all extracts together.
        if sort.fetch.is_some() {
            return not_impl_err!("the first rows of several extracts");
        }
        let (input, trace) = self.plan(&sort.input)?;
        // Rows are in the order of the extracts, and within an extract in the order of the
        // question, so that they only have to be cut apart.
        let first = trace
            .clone()
            .map(|trace| SortExpr::new(Expr::Column(trace), true, false));
        let expr = first.into_iter().chain(sort.expr.iter().cloned()).collect();
        Ok((
            LogicalPlan::Sort(Sort {
                expr,
                input: Arc::new(input),
                fetch: None,
            }),
            trace,
        ))
    }

    fn window(&mut self, plan: &LogicalPlan, window: &Window) -> Result<Lifted> {
        let (input, trace) = self.plan(&window.input)?;
        let Some(trace) = trace else {
            return Ok((plan.clone(), None));
        };
        let names = NamePreserver::new_for_projection();
        let inside = |expr: &Expr| {
            // The name of an expression contains its text: without the old name, steps above would
            // not find the column of the changed one.
            let name = names.save(expr);
            let partitioned = expr.clone().transform(|part| {
                let Expr::WindowFunction(mut function) = part else {
                    return Ok(Transformed::no(part));
                };
                let WindowFunction { params, .. } = function.as_mut();
                params.partition_by.insert(0, Expr::Column(trace.clone()));
                Ok(Transformed::yes(Expr::WindowFunction(function)))
            });
            Ok(name.restore(partitioned.data()?))
        };
        let expressions = window
            .window_expr
            .iter()
            .map(inside)
            .collect::<Result<_>>()?;
        Ok((
            LogicalPlan::Window(Window::try_new(expressions, Arc::new(input))?),
            Some(trace),
        ))
    }

    fn aggregate(&mut self, aggregate: &Aggregate) -> Result<Lifted> {
        let (input, trace) = self.plan(&aggregate.input)?;
        let Some(trace) = trace else {
            return Ok((LogicalPlan::Aggregate(aggregate.clone()), None));
        };
        // Each set would need the number of the extract, and the engine adds a column of its own
        // for them.
        if aggregate
            .group_expr
            .iter()
            .any(|expr| matches!(expr, Expr::GroupingSet(_)))
        {
            return not_impl_err!("sets of groups of several extracts");
        }
        let groups = std::iter::once(Expr::Column(trace.clone()))
            .chain(aggregate.group_expr.iter().cloned());
        let grouped = Aggregate::try_new(
            Arc::new(input),
            groups.collect(),
            aggregate.aggr_expr.clone(),
        )?;
        let grouped = LogicalPlan::Aggregate(grouped);
        if aggregate.group_expr.is_empty() {
            return self.one_row_each(aggregate, grouped, trace);
        }
        Ok((grouped, Some(trace)))
    }

    /// Adds the row that an aggregate over all rows also has for an extract without rows.
    fn one_row_each(
        &mut self,
        aggregate: &Aggregate,
        grouped: LogicalPlan,
        trace: Column,
    ) -> Result<Lifted> {
        let (all, of_extract) = self.extracts()?;
        let joined = joined(all, &of_extract, grouped, trace)?;
        let mut columns = vec![Expr::Column(of_extract.clone())];
        for (expr, column) in aggregate.aggr_expr.iter().zip(aggregate.schema.columns()) {
            columns.push(match without_rows(expr)? {
                None => Expr::Column(column),
                Some(value) => {
                    let name = column.name.clone();
                    coalesce(vec![Expr::Column(column), value]).alias(name)
                }
            });
        }
        Ok((
            LogicalPlanBuilder::from(joined).project(columns)?.build()?,
            Some(of_extract),
        ))
    }

    fn join(&mut self, join: &Join) -> Result<Lifted> {
        let ((left, of_left), (right, of_right)) =
            (self.plan(&join.left)?, self.plan(&join.right)?);
        let mut on = join.on.clone();
        let trace = match (of_left, of_right) {
            // Keys start again in each extract, so rows match only within one.
            (Some(of_left), Some(of_right)) => {
                on.push((
                    Expr::Column(of_left.clone()),
                    Expr::Column(of_right.clone()),
                ));
                match join.join_type {
                    // The kept side has the extract: on the other side the number is missing if no
                    // row was found.
                    JoinType::Inner | JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti => {
                        of_left
                    }
                    JoinType::Right | JoinType::RightSemi | JoinType::RightAnti => of_right,
                    other => return not_impl_err!("{other} join of several extracts"),
                }
            }
            // Rows of no extract belong to each: an inner join pairs them; an outer one would keep
            // rows without a partner once, and not for each extract.
            (Some(one), None) | (None, Some(one)) if join.join_type == JoinType::Inner => one,
            (None, None) => return Ok((LogicalPlan::Join(join.clone()), None)),
            _ => return not_impl_err!("{} join with rows of no extract", join.join_type),
        };
        let lifted = Join::try_new(
            Arc::new(left),
            Arc::new(right),
            on,
            join.filter.clone(),
            join.join_type,
            join.join_constraint,
            join.null_equality,
            join.null_aware,
        )?;
        Ok((LogicalPlan::Join(lifted), Some(trace)))
    }

    fn union(&mut self, union: &Union) -> Result<Lifted> {
        let mut inputs = Vec::new();
        for input in &union.inputs {
            let lifted = self.plan(input)?;
            let (plan, trace) = self.of_each(lifted)?;
            let columns = input.schema().columns().into_iter().map(Expr::Column);
            let all = std::iter::once(Expr::Column(trace).alias(TRACE_ID)).chain(columns);
            inputs.push(Arc::new(
                LogicalPlanBuilder::from(plan).project(all)?.build()?,
            ));
        }
        let plan = LogicalPlan::Union(Union::try_new_with_loose_types(inputs)?);
        // A union has qualifiers only where all of its inputs have the same one.
        let is_same = union
            .schema
            .columns()
            .iter()
            .all(|column| plan.schema().has_column(column));
        if !is_same {
            return not_impl_err!("a union whose columns change");
        }
        Ok((plan, Some(Column::new_unqualified(TRACE_ID))))
    }

    /// Returns expressions whose subqueries have become joins with the input.
    fn expressions(
        &mut self,
        plan: &LogicalPlan,
        mut input: LogicalPlan,
        trace: Option<&Column>,
        exprs: &[Expr],
    ) -> Result<(LogicalPlan, Vec<Expr>)> {
        let names = NamePreserver::new(plan);
        let mut all = Vec::with_capacity(exprs.len());
        for expr in exprs {
            let name = names.save(expr);
            let replaced = expr.clone().transform(|part| match part {
                Expr::ScalarSubquery(question) => {
                    let Some(trace) = trace.filter(|_| question.outer_ref_columns.is_empty())
                    else {
                        return not_impl_err!(
                            "an inner question that depends on rows of the outer one"
                        );
                    };
                    let (joined, value) = self.value(&input, trace, &question.subquery)?;
                    input = joined;
                    Ok(Transformed::yes(value))
                }
                Expr::Exists(_) | Expr::InSubquery(_) => {
                    not_impl_err!("EXISTS and IN of several extracts")
                }
                part => Ok(Transformed::no(part)),
            });
            all.push(name.restore(replaced.data()?));
        }
        Ok((input, all))
    }

    /// Joins the value of a subquery for each extract to the input, as a column.
    fn value(
        &mut self,
        input: &LogicalPlan,
        trace: &Column,
        question: &LogicalPlan,
    ) -> Result<(LogicalPlan, Expr)> {
        let (columns, true) = (question.schema().columns(), is_one_row(question)) else {
            return not_impl_err!("an inner question that may have several rows");
        };
        let inner = self.plan(question)?;
        let (inner, of_inner) = self.of_each(inner)?;
        let Some(column) = columns.into_iter().next() else {
            return not_impl_err!("a question without columns");
        };
        let name = self.name();
        let value = [
            Expr::Column(of_inner).alias(TRACE_ID),
            Expr::Column(column).alias("value"),
        ];
        let inner = LogicalPlanBuilder::from(inner)
            .project(value)?
            .alias(name.clone())?
            .build()?;
        let joined = joined(
            input.clone(),
            trace,
            inner,
            Column::new(Some(name.clone()), TRACE_ID),
        )?;
        Ok((joined, Expr::Column(Column::new(Some(name), "value"))))
    }

    /// Repeats the rows of a plan without extracts once for each extract.
    fn of_each(&mut self, (plan, trace): Lifted) -> Result<(LogicalPlan, Column)> {
        if let Some(trace) = trace {
            return Ok((plan, trace));
        }
        let (all, of_extract) = self.extracts()?;
        Ok((
            LogicalPlanBuilder::from(all).cross_join(plan)?.build()?,
            of_extract,
        ))
    }

    /// Returns all extracts, under a unique name.
    fn extracts(&mut self) -> Result<(LogicalPlan, Column)> {
        let name = self.name();
        let id = [Expr::Column(Column::new_unqualified(TRACE_ID))];
        let all = LogicalPlanBuilder::scan(EXTRACT.name, self.tables.extract_source()?, None)?;
        let all = all.project(id)?.alias(name.clone())?.build()?;
        Ok((all, Column::new(Some(name), TRACE_ID)))
    }

    /// Returns a unique name.
    fn name(&mut self) -> TableReference {
        self.names += 1;
        TableReference::bare(format!("lifted_{}", self.names))
    }
}

/// Left-joins two inputs on the number of the extract.
fn joined(
    left: LogicalPlan,
    of_left: &Column,
    right: LogicalPlan,
    of_right: Column,
) -> Result<LogicalPlan> {
    Ok(LogicalPlan::Join(Join::try_new(
        Arc::new(left),
        Arc::new(right),
        vec![(Expr::Column(of_left.clone()), Expr::Column(of_right))],
        None,
        JoinType::Left,
        JoinConstraint::On,
        NullEquality::NullEqualsNothing,
        false,
    )?))
}

/// Returns `true` if a question has at most one row. Without a row its value is null, which is also
/// what a join without a match gives.
fn is_one_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        LogicalPlan::Projection(projection) => is_one_row(&projection.input),
        LogicalPlan::Filter(filter) => is_one_row(&filter.input),
        LogicalPlan::SubqueryAlias(alias) => is_one_row(&alias.input),
        _ => false,
    }
}

/// Returns the value of an aggregate over no rows, or `None` if that is null.
fn without_rows(expr: &Expr) -> Result<Option<Expr>> {
    match expr {
        Expr::Alias(alias) => without_rows(&alias.expr),
        // A join gives null to an extract without rows, where the aggregate alone would give 0.
        Expr::AggregateFunction(call) if call.func.name() == "count" => Ok(Some(lit(0_i64))),
        Expr::AggregateFunction(call) if NULL_WITHOUT_ROWS.contains(&call.func.name()) => Ok(None),
        other => not_impl_err!("{other} of an extract without rows"),
    }
}
