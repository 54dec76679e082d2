//! Parts of a question that it names and uses several times (`WITH part AS …`) are computed once.
//!
//! The engine copies a part to each place where it is named, and computes it at each of these
//! places: a part that three others use, each of which is used twice, is read six times. Here such
//! a part is computed first, innermost first, and its rows replace it. The rest of the plan then
//! knows how many rows it has, so that joins with a part without rows read nothing. A part with
//! many rows stays where it is: its rows would stay in memory.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::datasource::{MemTable, provider_as_source};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, SubqueryAlias};
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::Statement as Sql;

use crate::{Answer, Result, empty, error, statement};

/// Maximum size in bytes of the rows of a part that are kept.
// Several parts are held at the same time, outside of the memory that the engine accounts for.
const MOST_BYTES: usize = 16 << 20;

/// Returns names of the parts of a statement.
///
/// # Errors
/// The SQL is invalid.
pub(crate) fn parts(sql: &str) -> Result<HashSet<String>> {
    let Statement::Statement(parsed) = statement::parse(sql)? else {
        return Ok(HashSet::new());
    };
    let Sql::Query(query) = *parsed else {
        return Ok(HashSet::new());
    };
    let parts = query.with.into_iter().flat_map(|with| with.cte_tables);
    // As the planner does: names without quotes are in lower case.
    let name = |name: datafusion::sql::sqlparser::ast::Ident| match name.quote_style {
        Some(_) => name.value,
        None => name.value.to_ascii_lowercase(),
    };
    Ok(parts.map(|part| name(part.alias.name)).collect())
}

/// Returns the plan with the rows of each part that it uses several times. `run` answers a plan.
///
/// # Errors
/// A part cannot be computed.
pub(crate) fn computed(
    plan: LogicalPlan,
    parts: &HashSet<String>,
    run: impl FnMut(LogicalPlan) -> Result<Answer>,
) -> Result<LogicalPlan> {
    if parts.is_empty() {
        return Ok(plan);
    }
    let mut run = run;
    let mut plan = Pass::new(parts, None).over(plan)?.data;
    // Parts that were too large once stay where they are, or the loop would compute them again and
    // again.
    let mut left = Vec::new();
    while let Some(part) = innermost(&plan, parts, &left).map_err(|e| error::from_planning(&e))? {
        let answer = run(LogicalPlan::SubqueryAlias(part.clone()))?;
        let scan = kept(answer, MOST_BYTES)?.and_then(|rows| scan(&part, &rows));
        match scan {
            Some(scan) => plan = Pass::new(parts, Some((&part, &scan))).over(plan)?.data,
            None => left.push(part),
        }
    }
    Ok(plan)
}

/// A part, and the places in which the search for it has been.
struct Found {
    part: SubqueryAlias,
    places: usize,
    /// Whether its rows can replace it at each place.
    is_replaceable: bool,
}

/// Returns the smallest part that is in several places.
fn innermost(
    plan: &LogicalPlan,
    parts: &HashSet<String>,
    left: &[SubqueryAlias],
) -> datafusion::error::Result<Option<SubqueryAlias>> {
    let mut seen: Vec<Found> = Vec::new();
    plan.apply_with_subqueries(|node| {
        let named = match node {
            LogicalPlan::SubqueryAlias(named) if is_part(named, parts) => named,
            _ => return Ok(TreeNodeRecursion::Continue),
        };
        let Some(found) = seen.iter_mut().find(|found| is_same(&found.part, named)) else {
            seen.push(Found {
                part: named.clone(),
                places: 1,
                is_replaceable: false,
            });
            return Ok(TreeNodeRecursion::Continue);
        };
        found.places += 1;
        if found.places == 2 {
            // Few parts are in several places, and this walks all that is below one.
            let is_left = left.iter().any(|part| is_same(part, named));
            found.is_replaceable = !is_left && has_the_same_rows_everywhere(node)?;
        }
        // What is below a part goes with it if its rows replace it.
        Ok(if found.is_replaceable {
            TreeNodeRecursion::Jump
        } else {
            TreeNodeRecursion::Continue
        })
    })?;
    let mut smallest = None;
    for found in seen.into_iter().filter(|found| found.is_replaceable) {
        // Smaller parts come first: they may be inside larger ones, which then read their rows.
        let nodes = nodes(&found.part.input)?;
        if smallest.as_ref().is_none_or(|(least, _)| nodes < *least) {
            smallest = Some((nodes, found.part));
        }
    }
    Ok(smallest.map(|(_, part)| part))
}

fn nodes(plan: &LogicalPlan) -> datafusion::error::Result<usize> {
    let mut nodes = 0_usize;
    plan.apply_with_subqueries(|_| {
        nodes += 1;
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(nodes)
}

/// Returns `true` if a name is that of a part of the statement.
fn is_part(named: &SubqueryAlias, parts: &HashSet<String>) -> bool {
    // An alias of an alias is the same rows twice under two names; the inner one is the part.
    parts.contains(named.alias.table()) && !matches!(*named.input, LogicalPlan::SubqueryAlias(_))
}

/// Returns `true` for two places of one part.
fn is_same(part: &SubqueryAlias, other: &SubqueryAlias) -> bool {
    // Plans are compared and not hashed: what is shared is not walked.
    part.alias == other.alias && part == other
}

/// Returns `false` for a part that refers to the row of an outer question, or to a random number.
fn has_the_same_rows_everywhere(part: &LogicalPlan) -> datafusion::error::Result<bool> {
    let mut differs = false;
    part.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            differs |= expr.is_volatile()
                || expr.exists(|part| Ok(matches!(part, Expr::OuterReferenceColumn(..))))?;
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(!differs)
}

/// Returns the rows of an answer, unless they take more memory than `most`.
fn kept(answer: Answer, most: usize) -> Result<Option<Vec<RecordBatch>>> {
    let mut rows = Vec::new();
    let mut bytes = 0_usize;
    for batch in answer {
        let batch = batch?;
        // The whole memory and not only that of the slice, since all of it stays alive.
        bytes = bytes.saturating_add(batch.get_array_memory_size());
        if bytes > most {
            return Ok(None);
        }
        rows.push(batch);
    }
    Ok(Some(rows))
}

/// Returns a plan that reads the rows of a part; `None` if they differ from the schema of the plan.
fn scan(part: &SubqueryAlias, rows: &[RecordBatch]) -> Option<LogicalPlan> {
    if rows.iter().all(|batch| batch.num_rows() == 0) {
        return Some(empty::without_rows(&part.schema));
    }
    let schema = Arc::new(part.schema.as_arrow().clone());
    // The schema of the plan defines which columns may be null; the schema of the rows may differ
    // in that.
    let rows = rows
        .iter()
        .map(|rows| RecordBatch::try_new(schema.clone(), rows.columns().to_vec()));
    let table = MemTable::try_new(
        schema.clone(),
        vec![rows.collect::<std::result::Result<_, _>>().ok()?],
    )
    .ok()?;
    let scan = LogicalPlanBuilder::scan(
        part.alias.clone(),
        provider_as_source(Arc::new(table)),
        None,
    );
    scan.ok()?.build().ok()
}

/// A pass over the parts of a plan, in which the rows of one of them can take its places.
struct Pass<'a> {
    parts: &'a HashSet<String>,
    /// The part that is replaced, and a plan that reads its rows.
    replaced: Option<(&'a SubqueryAlias, &'a LogicalPlan)>,
    /// The parts so far, before and after. All places of a part share what is below it after the
    /// pass, so that comparing them takes no walk.
    done: Vec<(SubqueryAlias, SubqueryAlias)>,
}

impl<'a> Pass<'a> {
    const fn new(
        parts: &'a HashSet<String>,
        replaced: Option<(&'a SubqueryAlias, &'a LogicalPlan)>,
    ) -> Self {
        Self {
            parts,
            replaced,
            done: Vec::new(),
        }
    }

    fn over(mut self, plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
        self.below(plan).map_err(|e| error::from_planning(&e))
    }

    fn below(&mut self, plan: LogicalPlan) -> datafusion::error::Result<Transformed<LogicalPlan>> {
        plan.transform_down_with_subqueries(|node| match node {
            LogicalPlan::SubqueryAlias(named) if is_part(&named, self.parts) => self.at(&named),
            node => Ok(Transformed::no(node)),
        })
    }

    fn at(&mut self, part: &SubqueryAlias) -> datafusion::error::Result<Transformed<LogicalPlan>> {
        // There is nothing more to do below the part.
        let instead = |plan, is_new| Transformed::new(plan, is_new, TreeNodeRecursion::Jump);
        if let Some((replaced, scan)) = self.replaced
            && is_same(replaced, part)
        {
            return Ok(instead(scan.clone(), true));
        }
        let mut done = self.done.iter();
        let after = match done.find(|(before, _)| is_same(before, part)) {
            Some((_, after)) => after.clone(),
            None => self.first(part.clone())?,
        };
        let is_new = !Arc::ptr_eq(&after.input, &part.input);
        Ok(instead(LogicalPlan::SubqueryAlias(after), is_new))
    }

    /// Passes over what is below a part where it is met first.
    fn first(&mut self, before: SubqueryAlias) -> datafusion::error::Result<SubqueryAlias> {
        let mut after = before.clone();
        let input = self.below(LogicalPlan::clone(&before.input))?;
        if input.transformed {
            after.input = Arc::new(input.data);
        }
        self.done.push((before, after.clone()));
        Ok(after)
    }
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::util::pretty::pretty_format_batches;

    use super::*;
    use crate::Session;

    /// Returns the answer to a statement, and the number of its parts that were computed
    /// beforehand.
    fn asked(sql: &str) -> (String, usize) {
        let session = Session::from_batches(Vec::new()).unwrap();
        let mut computed = 0;
        let answer = session.ask_parts(sql, |_| computed += 1).unwrap();
        let rows: Vec<RecordBatch> = answer.map(|batch| batch.unwrap()).collect();
        let plain: Vec<RecordBatch> = session
            .sql(sql)
            .unwrap()
            .map(|batch| batch.unwrap())
            .collect();
        let text = pretty_format_batches(&rows).unwrap().to_string();
        assert_eq!(text, pretty_format_batches(&plain).unwrap().to_string());
        (text, computed)
    }

    #[test]
    fn a_part_that_is_used_several_times_is_computed_once() {
        let sql = "WITH a AS (SELECT column1 AS x FROM (VALUES (1), (2), (3))), \
                   b AS (SELECT x * 2 AS y FROM a WHERE x > 1), \
                   c AS (SELECT y FROM b UNION ALL SELECT y + 1 FROM b) \
                   SELECT (SELECT count(*) FROM c) AS rows, sum(l.y) AS sum FROM c l \
                   WHERE l.y IN (SELECT y FROM b) AND NOT EXISTS (SELECT 1 FROM a WHERE a.x = l.y)";
        let (text, computed) = asked(sql);
        assert!(text.contains("| 4    | 10  |"), "{text}");
        assert_eq!(computed, 3);
    }

    #[test]
    fn a_part_inside_one_that_is_used_several_times_is_computed_with_it() {
        let sql = "WITH a AS (SELECT column1 AS x FROM (VALUES (1), (2))), \
                   b AS (SELECT x + 1 AS y FROM a), \
                   c AS (SELECT l.y FROM b l JOIN b r ON l.y = r.y) \
                   SELECT l.y FROM c l JOIN c r ON l.y = r.y ORDER BY 1";
        let (text, computed) = asked(sql);
        assert!(text.contains("| 2 |") && text.contains("| 3 |"), "{text}");
        // `a` is used once, by `b`.
        assert_eq!(computed, 2);
    }

    #[test]
    fn what_is_used_once_or_differs_each_time_stays_where_it_is() {
        assert_eq!(asked("WITH a AS (SELECT 1 AS x) SELECT x FROM a").1, 0);
        let differs = "WITH r AS (SELECT random() * 0 AS x) SELECT l.x = r.x FROM r l, r";
        assert_eq!(asked(differs).1, 0);
        assert_eq!(
            asked(
                "WITH a AS (SELECT 1 AS x WHERE false) SELECT l.x FROM a l JOIN a r ON l.x = r.x"
            )
            .1,
            1
        );
    }

    #[test]
    fn rows_are_kept_up_to_a_limit() {
        let session = Session::from_batches(Vec::new()).unwrap();
        let answer = || {
            session
                .sql("SELECT value FROM generate_series(1, 100000)")
                .unwrap()
        };
        assert_eq!(kept(answer(), 1_000_000).unwrap().map(|_| ()), Some(()));
        assert_eq!(kept(answer(), 100_000).unwrap(), None);
    }
}
