//! The session: extracts in, answers out.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::execution::FunctionRegistry as _;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::disk_manager::DiskManagerBuilder;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::{SessionConfig, SessionContext};
use etwkit_base::lock::lock;
use etwkit_extract::StoreError;
use etwkit_extract::left_out::is_row_table;
use etwkit_extract::manifest::{Detail, Manifest};
use etwkit_trace::table::Table;
use etwkit_trace::tags::TagSet;

use crate::batch::Member;
use crate::catalog::{CATALOG, Catalog, SCHEMA, Tables};
use crate::frames::Frames;
use crate::library::Query;
use crate::limits::Limits;
use crate::once::Question;
use crate::parameters::{Parameter, Values};
use crate::plan::{names_word, needs_frames, planned, scanned};
use crate::rename::RenameRules;
use crate::runtime::Threads;
use crate::spill::Spill;
use crate::start::Start;
use crate::stop::Stop;
use crate::{
    Answer, Cancel, Error, Result, Source, empty, error, functions, statement, trace_keys,
};

/// Tables with names of methods, by which questions that show such names are recognized in SQL.
const METHODS: [&str; 4] = ["cpu_method", "FROM feature", "stack_text", "method_name"];

/// Options of a session.
#[derive(Debug, Clone)]
pub struct Options {
    /// Memory for sorting, grouping and joining, in bytes; the rest goes to temporary files. What
    /// functions may make is a part of it, too.
    pub memory_bytes: usize,
    /// Parallel parts of a plan.
    pub partitions: usize,
    /// Folder for temporary files; `None` is the system's.
    pub temp_dir: Option<PathBuf>,
    /// The switch that gives questions up.
    pub cancel: Cancel,
    /// Rules for the names in the table `process`; the default is the names of the executables.
    pub process_names: Option<Arc<RenameRules>>,
}

impl Default for Options {
    /// Returns 2 GiB, and as many partitions as there are processors.
    fn default() -> Self {
        let partitions = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            memory_bytes: 2 << 30,
            partitions,
            temp_dir: None,
            cancel: Cancel::default(),
            process_names: None,
        }
    }
}

/// Answers questions about one or several extracts.
pub struct Session {
    engine: Engine,
    /// The trace that the first extract was made of, if that was said after it was opened.
    trace: Option<String>,
    /// The extracts that are queried together with this one.
    batch: Option<Member>,
    /// True if a question named methods.
    asked_methods: Arc<AtomicBool>,
    /// Tables that questions named and that an extract was made without.
    asked_left_out: Arc<Mutex<BTreeSet<String>>>,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

impl Session {
    /// Creates a session over sources. Each table has two leading columns: `trace_id`, which counts
    /// them from 0, and `run_id`.
    ///
    /// # Errors
    /// No source; the engine cannot be set up.
    pub fn new(sources: Vec<Source>, options: &Options) -> Result<Self> {
        if sources.is_empty() {
            return Err(Error::NoSource);
        }
        let sources: Vec<Arc<Source>> = sources.into_iter().map(Arc::new).collect();
        let engine = Engine::new(sources.into(), options.clone(), true);
        // The engine would otherwise be set up with the first question; its errors are errors of
        // opening.
        engine.context()?;
        Ok(Self::over(engine, None))
    }

    /// Creates a session over the same extracts with other options, with its own tags and its own
    /// switch. Both share open files, and frames that were read.
    ///
    /// # Errors
    /// The engine cannot be set up.
    pub fn again(&self, options: &Options) -> Result<Self> {
        let tables = self
            .engine
            .tables()
            .with_names(options.process_names.clone());
        let engine = Engine::over(tables, options.clone());
        engine.context()?;
        Ok(Self::over(engine, None))
    }

    /// Creates a session of a batch.
    pub(crate) fn of_batch(engine: Engine, member: Member) -> Self {
        Self::over(engine, Some(member))
    }

    fn over(engine: Engine, batch: Option<Member>) -> Self {
        Self {
            engine,
            trace: None,
            batch,
            asked_methods: Arc::default(),
            asked_left_out: Arc::default(),
        }
    }

    /// Returns a session for each of its extracts, in the order in which they were named: for a
    /// question about several extracts that also queries each one. The sessions share its options
    /// (run one after the other, they need no more memory than one), its switch, and its record of
    /// earlier questions. Nothing is read until one of them is queried.
    #[must_use]
    pub fn each(&self) -> Vec<Self> {
        let options = &self.engine.options;
        let mut trace = self.trace.clone();
        let only = |tables| Self {
            engine: Engine::over(tables, options.clone()),
            trace: trace.take(),
            batch: None,
            asked_methods: self.asked_methods.clone(),
            asked_left_out: self.asked_left_out.clone(),
        };
        self.engine.tables().each().map(only).collect()
    }

    /// Creates a session over the extracts at these paths.
    ///
    /// # Errors
    /// One of them cannot be opened; see also [`Session::new`].
    pub fn open(paths: &[impl AsRef<Path>]) -> Result<Self> {
        let sources = paths
            .iter()
            .map(|path| Source::open(path.as_ref()))
            .collect::<Result<_>>()?;
        Self::new(sources, &Options::default())
    }

    /// Creates a session over rows in memory, as one extract with the name `memory`.
    ///
    /// # Errors
    /// The engine cannot be set up.
    pub fn from_batches(tables: Vec<(&'static Table, Vec<RecordBatch>)>) -> Result<Self> {
        Self::new(vec![Source::batches("memory", tables)], &Options::default())
    }

    /// Names the trace of the first extract, for a caller that opened the extract in place of the trace.
    #[must_use]
    pub fn made_of(self, trace: &Path) -> Self {
        Self {
            trace: Some(trace.display().to_string()),
            ..self
        }
    }

    /// Sets the stack tags that the function `stack_tag` knows in addition to the built-in ones, by
    /// name; replaces the previous ones.
    pub fn use_tags(&self, sets: Arc<[TagSet]>) {
        self.engine.use_tags(sets);
    }

    /// Returns the sets of the last [`Session::use_tags`].
    #[must_use]
    pub fn tags(&self) -> Arc<[TagSet]> {
        lock(&self.engine.tags).clone()
    }

    /// Returns `true` if a table of an extract has rows, without a query; `None` if it is not a
    /// table of extracts.
    #[must_use]
    pub fn has_rows(&self, table: &str) -> Option<bool> {
        self.note_left_out(|left_out| left_out == table);
        self.engine.tables().has_rows(table)
    }

    /// Returns the number of rows of a table that is a file of an extract, without a query; for
    /// several extracts their sum.
    #[must_use]
    pub fn row_count(&self, table: &str) -> u64 {
        self.engine.tables().row_count(table)
    }

    /// Returns `true` if an extract was imported from another program, whose extracts hold sums
    /// alone.
    #[must_use]
    pub fn is_imported(&self) -> bool {
        self.engine.tables().is_imported()
    }

    /// Returns the path and manifest of the extracts, in the order in which they were named; rows
    /// in memory have none.
    pub fn manifests(&self) -> impl Iterator<Item = (&str, &Manifest)> {
        self.engine.tables().manifests()
    }

    /// Returns `true` if an answer since the last call names methods, so missing names matter.
    pub fn has_asked_methods(&self) -> bool {
        self.asked_methods.swap(false, Ordering::Relaxed)
    }

    /// Returns the tables that questions named since the last call and that an extract was made
    /// without, although the trace has their events.
    pub fn asked_left_out(&self) -> BTreeSet<String> {
        std::mem::take(&mut *lock(&self.asked_left_out))
    }

    /// Whether an extract is without the rows of this table: a summary keeps no rows of single events, and
    /// others may have been made without the table.
    #[must_use]
    pub fn leaves_out(&self, table: &str) -> bool {
        self.engine.tables().left_out().contains(table) || self.is_summary() && is_row_table(table)
    }

    /// Returns `true` if rules give processes other names than their executables have.
    #[must_use]
    pub const fn renames_processes(&self) -> bool {
        self.engine.options.process_names.is_some()
    }

    /// Whether an extract is a summary.
    #[must_use]
    pub fn is_summary(&self) -> bool {
        self.manifests()
            .any(|(_, manifest)| manifest.detail == Detail::Summary)
    }

    /// Returns `true` if an extract is of a part of its trace.
    ///
    /// # Errors
    /// The table `trace` cannot be read.
    pub fn is_of_part(&self) -> Result<bool> {
        for batch in self.sql("SELECT 1 FROM trace WHERE range_start_ns IS NOT NULL")? {
            if batch?.num_rows() > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn note_left_out(&self, is_named: impl Fn(&str) -> bool) {
        let left_out = self.engine.tables().left_out();
        if left_out.is_empty() {
            return;
        }
        let mut asked = lock(&self.asked_left_out);
        asked.extend(left_out.iter().filter(|table| is_named(table)).cloned());
    }

    /// Returns the path of the first extract, as it was named.
    #[must_use]
    pub fn extract_path(&self) -> Option<&str> {
        self.engine.tables().paths().next()
    }

    /// Returns the trace of the first extract, if the trace was named and not the extract.
    #[must_use]
    pub fn trace_path(&self) -> Option<&str> {
        let named = self.trace.as_deref();
        named.or_else(|| self.engine.tables().traces().next().flatten())
    }

    /// Returns the traces and extracts, as they were named; rows in memory have no name.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let tables = self.engine.tables();
        let first = std::iter::once(self.trace.as_deref());
        let named = first.chain(std::iter::repeat(None));
        tables
            .traces()
            .zip(tables.paths())
            .zip(named)
            .map(|((trace, extract), named)| named.or(trace).unwrap_or(extract))
            .filter(|name| !name.is_empty())
    }

    /// Returns frames, methods and modules by number, read at the first call.
    ///
    /// # Errors
    /// Reading the tables fails.
    pub fn frames(&self) -> Result<Arc<Frames>> {
        self.asked_methods.store(true, Ordering::Relaxed);
        let (context, loader) = (
            self.engine.context()?.clone(),
            self.engine.tables().loader().clone(),
        );
        self.engine
            .threads()?
            .wait_for(&self.engine.options.cancel, async move {
                loader
                    .frames(&context.state())
                    .await
                    .map_err(|e| error::from_execution(&e))
            })
    }

    /// Returns an error about a number that no recording has, and that made a computation fail. All
    /// rows are read to find it.
    #[must_use]
    pub fn strange_number(&self) -> Option<StoreError> {
        self.engine.tables().strange_number()
    }

    /// Answers one statement. Planning is done on return; rows are computed while the answer is
    /// read.
    ///
    /// # Errors
    /// SQL that is not understood, with position and hint where they are known; a statement that
    /// does not ask.
    pub fn sql(&self, sql: &str) -> Result<Answer> {
        if METHODS.iter().any(|table| sql.contains(table)) {
            // The text is enough, and cheap to search: a name that only looks like one of these
            // causes an unnecessary hint, and nothing else.
            self.asked_methods.store(true, Ordering::Relaxed);
        }
        self.note_left_out(|table| names_word(sql, table));
        let Some(member) = &self.batch else {
            return self.engine.run(self.engine.plan(sql, Values::default())?);
        };
        if let Some((schema, batches)) = member.answer(sql) {
            return Ok(Answer::of(
                schema,
                batches,
                self.engine.options.cancel.clone(),
            ));
        }
        let plan = self.engine.plan(sql, Values::default())?;
        // If that is unknown, the question runs on one extract at a time, which is always right.
        member.learn(sql, &plan, needs_frames(&plan).unwrap_or(true));
        self.engine.run(plan)
    }

    /// Answers a question of the library, or a user's question with parameters. Omitted parameters
    /// have their defaults.
    ///
    /// # Errors
    /// A parameter that the question does not have, one without a value, or a value of the wrong
    /// type; see also [`Session::sql`].
    pub fn ask(&self, query: &Query, parameters: &[Parameter]) -> Result<Answer> {
        let sql = query.sql(self.engine.tables().is_several());
        let values = query.bind(parameters)?;
        // SQL that a user types is answered while its rows come: no part of it is computed
        // beforehand.
        if query.name.is_empty() {
            return self.engine.run(self.engine.plan(&sql, values)?);
        }
        self.run_parts(&sql, values, |_| {})
    }

    /// Answers a statement whose parts are computed once, and reports each.
    #[cfg(test)]
    pub(crate) fn ask_parts(&self, sql: &str, on_part: impl FnMut(&LogicalPlan)) -> Result<Answer> {
        self.run_parts(sql, Values::default(), on_part)
    }

    fn run_parts(
        &self,
        sql: &str,
        values: Values,
        mut on_part: impl FnMut(&LogicalPlan),
    ) -> Result<Answer> {
        let question = self.engine.question(sql, values)?;
        // The names come from the plan before its parts are replaced by rows: damage is in the
        // files that these came from.
        let names = question.tables();
        let plan = question.computed(|part| {
            on_part(&part);
            self.engine.run(part)
        })?;
        self.engine.run_over(plan, names)
    }

    /// Returns the number of rows of a question of the library without its limit; `None` if it has
    /// no limit.
    ///
    /// # Errors
    /// The errors of [`Session::ask`].
    pub fn count(&self, query: &Query, parameters: &[Parameter]) -> Result<Option<i64>> {
        let Some(sql) = query.count_sql(self.engine.tables().is_several()) else {
            return Ok(None);
        };
        let mut values = query.bind(parameters)?;
        // The engine refuses values for parameters that a statement does not name, and the limit is
        // gone from this one.
        let is_named = |name: &str| sql.contains(&format!("${name}"));
        values.typed.retain(|(name, _)| is_named(name));
        values.open.retain(|given| is_named(&given.name));
        let mut rows = None;
        for batch in self.engine.run(self.engine.plan(&sql, values)?)? {
            let batch = batch?;
            let counts = batch
                .column_by_name("rows")
                .and_then(|column| column.as_primitive_opt::<Int64Type>());
            rows = counts
                .and_then(|counts| counts.iter().next().flatten())
                .or(rows);
        }
        Ok(rows)
    }

    /// Returns the names of the tables that a statement reads, in alphabetical order.
    ///
    /// # Errors
    /// The SQL is invalid.
    pub fn tables_named(&self, sql: &str) -> Result<Vec<String>> {
        let (statement, context) = (statement::parse(sql)?, self.engine.context()?);
        let named = context.state().resolve_table_references(&statement);
        let named = named.map_err(|e| error::from_planning(&e))?;
        let names: BTreeSet<String> = named.iter().map(|table| table.table().to_owned()).collect();
        Ok(names.into_iter().collect())
    }
}

/// Plans questions and answers them; set up on the first use.
pub(crate) struct Engine {
    tables: Arc<Tables>,
    options: Options,
    context: OnceLock<SessionContext>,
    tags: Mutex<Arc<[TagSet]>>,
}

impl Engine {
    /// Creates an engine; with `has_trace_id` tables lead with the number of the extract.
    pub(crate) fn new(sources: Arc<[Arc<Source>]>, options: Options, has_trace_id: bool) -> Self {
        let tables = Arc::new(Tables::new(
            sources,
            options.process_names.clone(),
            has_trace_id,
        ));
        Self::over(tables, options)
    }

    fn over(tables: Arc<Tables>, options: Options) -> Self {
        Self {
            tables,
            options,
            context: OnceLock::new(),
            tags: Mutex::default(),
        }
    }

    pub(crate) const fn tables(&self) -> &Arc<Tables> {
        &self.tables
    }

    /// Returns threads for one statement.
    fn threads(&self) -> Result<Threads> {
        Threads::take(self.options.partitions)
    }

    fn context(&self) -> Result<&SessionContext> {
        if let Some(context) = self.context.get() {
            return Ok(context);
        }
        let state = state(&self.options).map_err(|e| error::from_execution(&e))?;
        let (context, tables) = (SessionContext::new_with_state(state), &self.tables);
        for function in functions::scalar(tables.loader(), tables.is_several()) {
            context.register_udf(function);
        }
        let aggregates =
            functions::aggregates(self.options.memory_bytes, |name| context.udaf(name).ok());
        for function in aggregates {
            context.register_udaf(function);
        }
        context.register_catalog(CATALOG, Arc::new(Catalog(tables.clone())));
        Ok(self.context.get_or_init(|| context))
    }

    fn use_tags(&self, sets: Arc<[TagSet]>) {
        let tables = &self.tables;
        *lock(&self.tags) = sets.clone();
        // If setting up fails, the next question reports it.
        if let Ok(context) = self.context() {
            context.register_udf(functions::tag(
                tables.loader().clone(),
                tables.is_several(),
                sets,
            ));
        }
    }

    /// Returns the plan of one statement.
    fn plan(&self, sql: &str, values: Values) -> Result<LogicalPlan> {
        let (sql, context) = (sql.to_owned(), self.context()?.clone());
        let is_several = self.tables.is_several();
        let runs_differ = is_several && self.tables.has_distinct_runs();
        self.threads()?.wait_for(&self.options.cancel, async move {
            let statement = statement::parse(&sql)?;
            let plan = planned(&context.state(), statement, &values).await?;
            // Keys of one extract always are of the same trace.
            if is_several {
                trace_keys::check(&plan, runs_differ)?;
            }
            Ok(plan)
        })
    }

    /// Plans one statement in its parts.
    fn question(&self, sql: &str, values: Values) -> Result<Question> {
        let (sql, context) = (sql.to_owned(), self.context()?.clone());
        let tables = self.tables.clone();
        let is_several = tables.is_several();
        let runs_differ = is_several && tables.has_distinct_runs();
        self.threads()?.wait_for(&self.options.cancel, async move {
            let statement = statement::parse(&sql)?;
            let question = Question::plan(context.state(), tables, statement, &values).await?;
            // Keys of one extract always are of the same trace.
            if is_several {
                trace_keys::check(&question.whole()?, runs_differ)?;
            }
            Ok(question)
        })
    }

    /// Starts to answer a plan.
    pub(crate) fn run(&self, plan: LogicalPlan) -> Result<Answer> {
        let names = scanned(&plan);
        self.run_over(plan, names)
    }

    /// Starts to answer a plan over tables of these names, whose files are checked for damage if
    /// that fails.
    fn run_over(&self, plan: LogicalPlan, names: BTreeSet<String>) -> Result<Answer> {
        let (context, loader) = (self.context()?.clone(), self.tables.loader().clone());
        // Tasks of the plan continue on the threads on which they were started, so the rows come
        // from there.
        let threads = self.threads()?;
        let stop = Stop::default();
        let limits = Limits::new(self.options.memory_bytes, stop.clone());
        let starting = {
            let limits = limits.clone();
            async move { Start::new(&context, &loader, plan, limits).await }
        };
        let started = threads.wait_for(&self.options.cancel, async move {
            let start = starting.await.map_err(|e| error::from_planning(&e))?;
            let rows = start.rows().await.map_err(|e| error::from_planning(&e))?;
            Ok((start, rows))
        });
        // Values of the statement are computed while it is planned.
        let (start, rows) = started.inspect_err(|_| stop.request())?;
        let tables = self.tables.clone();
        Answer::start(
            start,
            rows,
            threads,
            self.options.cancel.clone(),
            stop,
            move || tables.damage(&names),
        )
    }
}

pub(crate) fn state(options: &Options) -> datafusion::error::Result<SessionState> {
    let mut config = SessionConfig::new()
        .with_default_catalog_and_schema(CATALOG, SCHEMA)
        .with_create_default_catalog_and_schema(false)
        // SHOW TABLES and SHOW COLUMNS read it.
        .with_information_schema(true)
        .with_target_partitions(options.partitions.max(1));
    let settings = config.options_mut();
    // Without spans, errors of the planner have no line and column.
    settings.sql_parser.collect_spans = true;
    // Texts stay plain UTF-8 in answers; every reader of Arrow knows that.
    settings.execution.parquet.schema_force_view_types = false;
    settings.sql_parser.map_string_types_to_utf8view = false;
    settings.optimizer.expand_views_at_output = true;
    let spill = Arc::new(Spill::new(options.temp_dir.clone()));
    let disk = DiskManagerBuilder::default().with_temp_file_factory(spill);
    let runtime = RuntimeEnvBuilder::new()
        // Each operator that can spill gets its share: with a greedy pool the first sort would
        // leave nothing to the joins after it.
        .with_memory_pool(Arc::new(FairSpillPool::new(options.memory_bytes)))
        .with_disk_manager_builder(disk)
        .build_arc()?;
    Ok(SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(runtime)
        .with_default_features()
        .with_optimizer_rules(empty::rules())
        .build())
}
