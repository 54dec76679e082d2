//! Parts of a question that it names (`WITH part AS …`) are planned one by one, and computed once.
//!
//! The engine copies the plan of a part to each place where it is named. Planning then walks every
//! copy again and again, and each copy is computed: a part that three others use, each of which is
//! used twice, is read six times. Here a part is a table for the planner of all that follows it. A
//! part that is used several times is computed first, and its rows replace it. The rest of the plan
//! then knows how many rows it has, so that joins with a part without rows read nothing. A part
//! with many rows stays where it is: its rows would stay in memory.

use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{
    CatalogProviderList, MemoryCatalogProviderList, SchemaProvider, Session, TableProvider,
};
use datafusion::common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion::common::{TableReference, internal_err};
use datafusion::datasource::{MemTable, provider_as_source, source_as_provider};
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{
    Expr, LogicalPlan, LogicalPlanBuilder, SubqueryAlias, TableScan, TableType,
};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{Cte, Ident, Query, Statement as Sql, With, visit_relations};
use etwkit_base::index::{Idx, IndexVec};
use etwkit_base::lock::lock;

use crate::catalog::{CATALOG, Catalog, Tables};
use crate::parameters::Values;
use crate::plan::{planned, scanned};
use crate::{Answer, Result, empty, error, statement};

/// Maximum size in bytes of the rows of a part that are kept.
// Several parts are held at the same time, outside of the memory that the engine accounts for.
const MOST_BYTES: usize = 16 << 20;

/// A part of a statement as a statement of its own.
struct Written {
    name: String,
    statement: Statement,
}

/// Takes the parts out of a statement.
///
/// # Errors
/// The name of a part is not understood.
fn take_parts(statement: &mut Statement) -> Result<Vec<Written>> {
    let Some(query) = query_of(statement) else {
        return Ok(Vec::new());
    };
    // `extract.process` is the table, also after a part with the name `process`.
    if names_schema(query) {
        return Ok(Vec::new());
    }
    let Some(with) = query.with.take_if(|with| are_distinct(&with.cte_tables)) else {
        return Ok(Vec::new());
    };
    let With {
        with_token,
        recursive,
        cte_tables,
    } = with;
    let mut parts = Vec::with_capacity(cte_tables.len());
    for part in cte_tables {
        let name = planned_name(&part.alias.name);
        let is_recursive = recursive && names_itself(&part);
        let statement = if is_recursive || !part.alias.columns.is_empty() {
            let with = With {
                with_token: with_token.clone(),
                recursive: is_recursive,
                cte_tables: vec![part],
            };
            all_rows(with)?
        } else {
            Statement::Statement(Box::new(Sql::Query(part.query)))
        };
        parts.push(Written { name, statement });
    }
    Ok(parts)
}

fn query_of(statement: &mut Statement) -> Option<&mut Query> {
    let Statement::Statement(sql) = statement else {
        return None;
    };
    match sql.as_mut() {
        Sql::Query(query) => Some(query),
        _ => None,
    }
}

/// Returns `true` if a statement names a table with its schema.
fn names_schema(query: &Query) -> bool {
    let found = visit_relations(query, |table| match table.0.as_slice() {
        [_] => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    });
    found.is_break()
}

/// Returns `false` if two parts have one name, which is an error that the planner reports.
fn are_distinct(parts: &[Cte]) -> bool {
    let mut names = HashSet::new();
    parts
        .iter()
        .all(|part| names.insert(planned_name(&part.alias.name)))
}

/// Returns `true` if a part reads its own rows.
fn names_itself(part: &Cte) -> bool {
    let name = planned_name(&part.alias.name);
    let found = visit_relations(&part.query, |table| {
        let is_part = match table.0.as_slice() {
            [only] => only
                .as_ident()
                .is_some_and(|table| planned_name(table) == name),
            _ => false,
        };
        if is_part {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    found.is_break()
}

/// Returns a statement with all rows of its only part.
fn all_rows(with: With) -> Result<Statement> {
    let names = with.cte_tables.iter().map(|part| &part.alias.name);
    let select: String = names.map(|name| format!("SELECT * FROM {name}")).collect();
    let mut statement = statement::parse(&select)?;
    if let Some(query) = query_of(&mut statement) {
        query.with = Some(with);
    }
    Ok(statement)
}

/// Returns a name as the planner knows it: without quotes it is in lower case.
fn planned_name(name: &Ident) -> String {
    match name.quote_style {
        Some(_) => name.value.clone(),
        None => name.value.to_ascii_lowercase(),
    }
}

/// A part of a question as a table, for the planner of all that follows it.
#[derive(Debug)]
struct PartTable {
    part: Idx<Part>,
    name: String,
    schema: SchemaRef,
}

#[async_trait]
impl TableProvider for PartTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        _projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        _limit: Option<usize>,
    ) -> datafusion::error::Result<Arc<dyn ExecutionPlan>> {
        internal_err!("the part {} is still in the plan", self.name)
    }
}

/// Returns the part that a step of a plan reads.
fn part_of(node: &LogicalPlan) -> Option<Idx<Part>> {
    let LogicalPlan::TableScan(TableScan { source, .. }) = node else {
        return None;
    };
    let provider = source_as_provider(source).ok()?;
    let table = provider.downcast_ref::<PartTable>()?;
    Some(table.part)
}

/// The tables of a session, and the parts that are planned so far.
#[derive(Debug)]
struct TablesAndParts {
    tables: Arc<Tables>,
    parts: Mutex<Vec<Arc<PartTable>>>,
}

impl TablesAndParts {
    fn part(&self, name: &str) -> Option<Arc<PartTable>> {
        let parts = lock(&self.parts);
        parts.iter().find(|part| part.name == name).cloned()
    }
}

#[async_trait]
impl SchemaProvider for TablesAndParts {
    fn table_names(&self) -> Vec<String> {
        self.tables.table_names()
    }

    async fn table(&self, name: &str) -> datafusion::error::Result<Option<Arc<dyn TableProvider>>> {
        match self.part(name) {
            Some(part) => Ok(Some(part)),
            None => self.tables.table(name).await,
        }
    }

    fn table_exist(&self, name: &str) -> bool {
        self.part(name).is_some() || self.tables.table_exist(name)
    }
}

/// The place of the rows of a part.
#[derive(Debug)]
enum Rows {
    /// They are computed where the part is used.
    InPlace,
    /// The same, although it is used several times: there are too many of them, or they differ from
    /// place to place.
    InEachPlace,
    /// They were computed; the plan reads them from memory.
    Kept(LogicalPlan),
}

/// A planned part.
#[derive(Debug)]
struct Part {
    name: String,
    plan: LogicalPlan,
    /// Parts that it uses, once for each place.
    uses: Vec<Idx<Part>>,
    rows: Rows,
}

/// A question that is planned in parts.
#[derive(Debug)]
pub(crate) struct Question {
    /// In the order of the text, so that each one uses earlier ones alone.
    parts: IndexVec<Part>,
    /// The plan of all that follows the parts.
    rest: LogicalPlan,
    /// Parts that the rest uses, once for each place.
    uses: Vec<Idx<Part>>,
}

impl Question {
    /// Plans a statement with its values.
    ///
    /// # Errors
    /// The statement is not understood, or a value is missing.
    pub(crate) async fn plan(
        mut state: SessionState,
        tables: Arc<Tables>,
        mut statement: Statement,
        values: &Values,
    ) -> Result<Self> {
        // The type of a value may follow from another part than the one that is planned.
        let written = if values.open.is_empty() {
            take_parts(&mut statement)?
        } else {
            Vec::new()
        };
        let known = Arc::new(TablesAndParts {
            tables,
            parts: Mutex::default(),
        });
        if !written.is_empty() {
            let catalogs = MemoryCatalogProviderList::new();
            let catalog = Catalog(known.clone());
            catalogs.register_catalog(CATALOG.to_owned(), Arc::new(catalog));
            state.register_catalog_list(Arc::new(catalogs));
        }
        let mut parts = IndexVec::<Part>::with_capacity(written.len());
        for Written { name, statement } in written {
            let plan = planned(&state, statement, values).await?;
            lock(&known.parts).push(Arc::new(PartTable {
                part: parts.next(),
                name: name.clone(),
                schema: Arc::new(plan.schema().as_arrow().clone()),
            }));
            let part = Part::new(name, plan, &parts).map_err(|e| error::from_planning(&e))?;
            parts.push(part);
        }
        let rest = planned(&state, statement, values).await?;
        let uses = uses(&rest).map_err(|e| error::from_planning(&e))?;
        Ok(Self { parts, rest, uses })
    }

    /// Returns the names of the tables that it reads.
    pub(crate) fn tables(&self) -> BTreeSet<String> {
        let plans = self.parts.iter().map(|part| &part.plan);
        plans.chain([&self.rest]).flat_map(scanned).collect()
    }

    /// Returns the whole plan, with each part in its places.
    ///
    /// # Errors
    /// A part does not fit into its place.
    pub(crate) fn whole(&self) -> Result<LogicalPlan> {
        self.with_parts(&self.rest)
            .map_err(|e| error::from_planning(&e))
    }

    /// Computes the parts that are used several times, and returns the plan that reads their rows.
    /// `run` answers a plan.
    ///
    /// # Errors
    /// A part cannot be computed.
    pub(crate) fn computed(
        mut self,
        mut run: impl FnMut(LogicalPlan) -> Result<Answer>,
    ) -> Result<LogicalPlan> {
        while let Some(next) = self.next_part() {
            let part = self.in_place(next).map_err(|e| error::from_planning(&e))?;
            let answer = run(LogicalPlan::SubqueryAlias(part.clone()))?;
            let kept = kept(answer, MOST_BYTES)?.and_then(|rows| scan(&part, &rows));
            self.parts[next].rows = kept.map_or(Rows::InEachPlace, Rows::Kept);
        }
        self.whole()
    }

    /// Returns the first part that is used several times and not computed. The parts that it uses
    /// several times are earlier ones.
    fn next_part(&self) -> Option<Idx<Part>> {
        let places = self.places();
        self.parts.positions().find(|part| {
            let is_open = matches!(self.parts[*part].rows, Rows::InPlace);
            is_open && places[*part] > 1
        })
    }

    /// Returns for each part in how many places of the plan it is computed or read.
    fn places(&self) -> IndexVec<Part, usize> {
        let mut places = IndexVec::filled(0_usize, &self.parts);
        for used in &self.uses {
            places[*used] += 1;
        }
        // Later parts use earlier ones.
        for (number, part) in self.parts.enumerate().rev() {
            let copies = match part.rows {
                Rows::Kept(_) => 0,
                // Of several places it will be computed in one.
                Rows::InPlace => places[number].min(1),
                Rows::InEachPlace => places[number],
            };
            for used in &part.uses {
                places[*used] = places[*used].saturating_add(copies);
            }
        }
        places
    }

    /// Returns a plan with the parts that it uses in their places.
    fn with_parts(&self, plan: &LogicalPlan) -> datafusion::error::Result<LogicalPlan> {
        let filled = plan.clone().transform_up_with_subqueries(|node| {
            let Some(part) = part_of(&node) else {
                return Ok(Transformed::no(node));
            };
            let rows = match &self.parts[part].rows {
                Rows::Kept(rows) => rows.clone(),
                Rows::InPlace | Rows::InEachPlace => {
                    LogicalPlan::SubqueryAlias(self.in_place(part)?)
                }
            };
            Ok(Transformed::yes(rows))
        })?;
        Ok(filled.data)
    }

    /// Returns the plan of a part under its name.
    fn in_place(&self, part: Idx<Part>) -> datafusion::error::Result<SubqueryAlias> {
        let part = &self.parts[part];
        let plan = self.with_parts(&part.plan)?;
        // A text would be read as SQL, where a name without quotes is in lower case.
        let name = TableReference::bare(part.name.clone());
        SubqueryAlias::try_new(Arc::new(plan), name)
    }
}

impl Part {
    fn new(
        name: String,
        plan: LogicalPlan,
        earlier: &IndexVec<Self>,
    ) -> datafusion::error::Result<Self> {
        let uses = uses(&plan)?;
        let uses_random = uses
            .iter()
            .any(|used| matches!(earlier[*used].rows, Rows::InEachPlace));
        let rows = if uses_random || is_random(&plan)? {
            Rows::InEachPlace
        } else {
            Rows::InPlace
        };
        Ok(Self {
            name,
            plan,
            uses,
            rows,
        })
    }
}

/// Returns the parts that a plan uses, once for each place.
fn uses(plan: &LogicalPlan) -> datafusion::error::Result<Vec<Idx<Part>>> {
    let mut uses = Vec::new();
    plan.apply_with_subqueries(|node| {
        uses.extend(part_of(node));
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(uses)
}

/// Returns `true` if a plan has a function whose value differs from call to call.
fn is_random(plan: &LogicalPlan) -> datafusion::error::Result<bool> {
    let mut is_random = false;
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            is_random |= expr.is_volatile();
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(is_random)
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
    fn parts_that_read_their_own_rows_or_rename_columns_are_parts_like_others() {
        let sql = "WITH RECURSIVE few(x) AS (SELECT column1 FROM (VALUES (1), (2))), \
                   steps AS (SELECT x FROM few UNION ALL SELECT x + 10 FROM steps WHERE x < 20) \
                   SELECT count(*) AS rows, max(l.x) AS most FROM steps l JOIN steps r ON l.x = r.x \
                   WHERE l.x NOT IN (SELECT x FROM few)";
        let (text, computed) = asked(sql);
        assert!(text.contains("| 4    | 22   |"), "{text}");
        assert_eq!(computed, 2);
    }

    #[test]
    fn a_part_may_have_the_name_of_a_table() {
        let sql = "WITH process AS (SELECT count(*) AS c FROM process), \
                   Both AS (SELECT l.c FROM process l CROSS JOIN process r) \
                   SELECT c, (WITH other AS (SELECT 7 AS c) SELECT c FROM other) AS inner_c FROM both";
        let (text, computed) = asked(sql);
        assert!(text.contains("| 0 | 7       |"), "{text}");
        assert_eq!(computed, 1);
    }

    #[test]
    fn a_part_may_have_a_name_in_quotes() {
        let sql = "WITH \"Both\" AS (SELECT column1 AS x FROM (VALUES (1), (2))), \
                   \"Sum\" AS (SELECT sum(\"Both\".x) AS y FROM \"Both\" WHERE \"Both\".x > 0) \
                   SELECT \"Both\".x, \"Sum\".y FROM \"Both\" CROSS JOIN \"Sum\" WHERE \"Both\".x = 1";
        let (text, computed) = asked(sql);
        assert!(text.contains("| 1 | 3 |"), "{text}");
        assert_eq!(computed, 1);
    }

    #[test]
    fn a_table_that_is_named_with_its_schema_is_not_a_part() {
        let sql = "WITH process AS (SELECT 7 AS c) \
                   SELECT c, (SELECT count(*) FROM extract.process) AS rows FROM process";
        let (text, computed) = asked(sql);
        assert!(text.contains("| 7 | 0    |"), "{text}");
        assert_eq!(computed, 0);
    }

    #[test]
    fn two_parts_of_one_name_are_an_error() {
        let session = Session::from_batches(Vec::new()).unwrap();
        let error = session
            .ask_parts(
                "WITH a AS (SELECT 1), A AS (SELECT 2) SELECT * FROM a",
                |_| {},
            )
            .err()
            .unwrap();
        assert!(error.to_string().contains("more than once"), "{error}");
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
