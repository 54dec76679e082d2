//! Answers the same questions for several extracts. Each extract is answered as if it were alone,
//! but planning is done once for all of them.
//!
//! Planning a question takes tens of milliseconds, more than reading the few pages of a derived
//! table that it needs. Of hundreds of extracts, the first one runs each question alone. The same
//! question then runs on all extracts of a [batch](KnownQuestions::sessions) together, with a plan
//! that keeps them apart.

mod lift;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use datafusion::arrow::array::{Array, Int32Array, RecordBatch};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::logical_expr::LogicalPlan;
use etwkit_base::lock::lock;

use crate::session::Engine;
use crate::source::Source;
use crate::{Error, KeptBytes, Options, Result, Session};

/// The questions that have been run so far. Several batches share this.
#[derive(Debug, Default)]
pub struct KnownQuestions(Mutex<HashMap<String, Knowledge>>);

/// A question that was run before.
#[derive(Debug, Clone)]
enum Knowledge {
    /// A question with its plan for one extract.
    Plan(Arc<LogicalPlan>),
    /// A question that runs on one extract at a time.
    Single,
}

impl KnownQuestions {
    /// Returns the questions that run on one extract at a time, sorted.
    #[must_use]
    pub fn asked_alone(&self) -> Vec<String> {
        let known = lock(&self.0);
        let alone = known
            .iter()
            .filter(|(_, knowledge)| matches!(knowledge, Knowledge::Single));
        let mut alone: Vec<String> = alone.map(|(sql, _)| sql.clone()).collect();
        alone.sort_unstable();
        alone
    }

    /// Opens a session for each source. Each answers as a separate session would; a question that
    /// was run before is answered for all of them at once.
    #[must_use]
    pub fn sessions(self: &Arc<Self>, sources: Vec<Source>, options: &Options) -> Vec<Session> {
        let sources: Vec<Arc<Source>> = sources.into_iter().map(Arc::new).collect();
        let engine = Engine::new(sources.clone().into(), options.clone(), sources.len() > 1);
        let batch = Arc::new(Batch {
            known: self.clone(),
            engine,
            answers: Mutex::default(),
        });
        let session = |(index, source)| {
            // The plan of a single extract is lifted to the batch, which adds the numbers of the
            // extracts.
            let engine = Engine::new([source].into(), options.clone(), false);
            Session::of_batch(
                engine,
                Member {
                    batch: batch.clone(),
                    index,
                },
            )
        };
        sources.into_iter().enumerate().map(session).collect()
    }
}

/// Extracts that are queried together.
struct Batch {
    known: Arc<KnownQuestions>,
    /// An engine over all extracts.
    engine: Engine,
    /// Answers to questions that ran on all extracts; `None` for questions that could not.
    answers: Mutex<HashMap<String, Option<Arc<Answers>>>>,
}

/// The answers of all extracts of a batch.
struct Answers {
    schema: SchemaRef,
    /// Rows by extract.
    rows: Vec<Vec<RecordBatch>>,
}

/// One extract of a batch.
pub(crate) struct Member {
    batch: Arc<Batch>,
    index: usize,
}

impl Member {
    /// Returns this extract's part of the answer for the whole batch, or `None` if the extract has
    /// to be queried alone.
    pub(crate) fn answer(&self, sql: &str) -> Option<(SchemaRef, Vec<RecordBatch>)> {
        let Batch {
            known,
            engine,
            answers,
        } = &*self.batch;
        if engine.tables().source_count() < 2 {
            // Tables of a single extract have no numbers of extracts, and there are no others to
            // query together.
            return None;
        }
        // The lock is held while the question is answered for all: other members of the batch wait
        // for that answer and do not run it again.
        let mut answers = lock(answers);
        if !answers.contains_key(sql) {
            let knowledge = lock(&known.0).get(sql).cloned();
            let Some(Knowledge::Plan(plan)) = knowledge else {
                return None;
            };
            let Ok(lifted) = lift::lift(&plan, engine.tables()) else {
                lock(&known.0).insert(sql.to_owned(), Knowledge::Single);
                return None;
            };
            // If that fails, the extracts of this batch are queried alone, and the faulty one
            // reports the error. Other batches may succeed.
            let all = Answers::ask(engine, lifted, &plan);
            answers.insert(sql.to_owned(), all.ok().map(Arc::new));
        }
        let all = answers.get(sql)?.as_ref()?;
        Some((all.schema.clone(), all.rows.get(self.index)?.clone()))
    }

    /// Keeps the plan of a question that ran on one extract, for the next batch.
    pub(crate) fn learn(&self, sql: &str, plan: &LogicalPlan, needs_frames: bool) {
        // Frames are numbered by extract, and the functions that look them up read the frames of
        // one extract.
        let new = if needs_frames {
            Knowledge::Single
        } else {
            Knowledge::Plan(Arc::new(plan.clone()))
        };
        lock(&self.batch.known.0)
            .entry(sql.to_owned())
            .or_insert(new);
    }
}

impl Answers {
    /// Runs the lifted plan, whose rows have one more leading column than the rows of the question
    /// to one extract.
    fn ask(engine: &Engine, lifted: LogicalPlan, alone: &LogicalPlan) -> Result<Self> {
        let schema: SchemaRef = Arc::new(alone.schema().as_arrow().clone());
        let mut rows = vec![Vec::new(); engine.tables().source_count()];
        let mut held = KeptBytes::default();
        for batch in engine.run(lifted)? {
            let batch = batch?;
            // Too much for all extracts together may be little enough for each one, so an error
            // here only means that they are queried alone.
            held.add(&batch)?;
            split(&batch, &schema, &mut rows)?;
        }
        Ok(Self { schema, rows })
    }
}

/// Gives each extract its rows, in their order.
fn split(batch: &RecordBatch, schema: &SchemaRef, rows: &mut [Vec<RecordBatch>]) -> Result<()> {
    let unexpected = || Error::Stopped {
        said: Some("the rows of several extracts cannot be distinguished".to_owned()),
    };
    let traces = batch
        .columns()
        .first()
        .and_then(|column| column.as_any().downcast_ref::<Int32Array>());
    let traces = traces
        .filter(|traces| traces.null_count() == 0)
        .ok_or_else(unexpected)?;
    let columns = batch.columns().iter().skip(1).cloned().collect();
    let all = RecordBatch::try_new(schema.clone(), columns).map_err(|_| unexpected())?;
    let mut from = 0;
    // Rows of an extract are adjacent, since the order starts with its number; a plan without an
    // order has them in several runs, each of which is in order.
    for run in traces.values().chunk_by(|a, b| a == b) {
        let of = run
            .first()
            .and_then(|trace| rows.get_mut(usize::try_from(*trace).ok()?));
        of.ok_or_else(unexpected)?.push(all.slice(from, run.len()));
        from += run.len();
    }
    Ok(())
}
