//! Finds features that correlate with the slow runs among many: `etwkit explain`.
//!
//! Each extract is a run. Each run has a metric (its duration) and features: times of methods,
//! tags, processes, files and so on, and the hardware and settings of its machine. Features that
//! correlate with the metric are causes (`causes`), the strongest first; features that move
//! together are one cause. It also finds runs that cannot be compared with the others, outliers,
//! and the time at which the runs changed (`runs`, `chance`). Definitions with worked examples are
//! in `docs/explain.md`.

mod adds_up;
mod bars;
mod by_label;
mod causes;
mod chance;
mod feature;
mod groups;
mod load;
mod metric;
mod numbers;
mod page;
mod question;
mod recorded;
mod rows;
mod runs;
mod scatter;
mod sentence;
mod stored;
mod view;

use etwkit_question::Error;
use etwkit_question::nothing::no_process;
use etwkit_question::{Among, option};
use etwkit_sql::Session;
use etwkit_sql::filter::TextFilter;

use crate::Result;
use by_label::ByLabel;
use causes::Causes;
use chance::Change;
use feature::Matrix;
use recorded::Missing;
use runs::Run;

pub(crate) use sentence::capital;

pub use stored::{FeatureTables, feature_tables, features_version};

pub use rows::{CauseRow, ChangeRow, EffectRow, GroupRow, MissingRow, RunRow};

etwkit_question::declare! {
    /// Options of `explain`.
    pub request ExplainRequest {
        /// Metric of a run: duration, process-cpu, mark-to-mark, or SQL that gives a trace_id and
        /// one number (ms) for each run
        metric: Option<String> = option("METRIC"),
        /// The process that is measured (*, ?, several with ;, ! excludes)
        process: Option<String> = option("NAMES").of(Among::Processes),
        /// With --metric mark-to-mark: the first mark with this text starts a run (*, ?)
        from_mark: Option<String> = option("TEXT").called("from-mark"),
        /// With --metric mark-to-mark: the next mark after it with this text ends the run (*, ?)
        to_mark: Option<String> = option("TEXT").called("to-mark"),
        /// Also compare the runs with different values of one or two labels (NAME;NAME)
        group_by: Option<String> = option("LABELS").called("group-by"),
        /// Only this table
        table: Option<ExplainTable> = option("TABLE").shape(),
    }

    /// Tables of the answer.
    pub words ExplainTable {
        "causes" => Causes = "What goes with the slow runs.",
        "runs" => Runs = "The runs.",
        "change" => Change = "When they became slower or faster.",
        "not-recorded" => NotRecorded = "What could not be compared.",
        "effects" => Effects = "What each cause adds to each run.",
        "groups" => Groups = "Runs by the labels of `--group-by`.",
    }
}

/// The result for many runs.
#[derive(Debug)]
pub struct Explanation {
    /// Name of the metric.
    metric: String,
    /// The runs in the order of their extracts.
    runs: Vec<Run>,
    /// Indices of the runs that have a metric.
    measured: Vec<usize>,
    causes: Causes,
    /// Indices into `measured`, in order of time.
    by_time: Vec<usize>,
    change: Option<Change>,
    missing: Vec<Missing>,
    /// The measured runs by the labels of `--group-by`.
    by_label: Option<ByLabel>,
    /// Programs that start and end once in each run, if lengths of recordings are compared.
    whole_programs: Vec<String>,
    /// The program in all runs whose CPU time differs most, if lengths of recordings are compared.
    open_program: Option<String>,
}

impl ExplainRequest {
    /// Explains the extracts of a session, each of which is a run.
    ///
    /// # Errors
    /// The metric cannot be computed, or a query fails.
    pub fn explain(&self, session: &Session) -> Result<Explanation> {
        let mut runs = runs::load(session)?;
        let metric = metric::ask(self, session, &mut runs)?;
        let measured: Vec<usize> = (0..runs.len())
            .filter(|run| runs::metric_of(&runs, *run).is_some())
            .collect();
        if measured.is_empty()
            && let Some(process) = &self.process
            && let Some(message) = no_process(session, process)?
        {
            return Err(Error::NotThere {
                message,
                how: "name a program that ran in them; * and ? in the name stand for any letters"
                    .to_owned(),
            });
        }
        let values: Vec<f64> = measured
            .iter()
            .filter_map(|run| runs::metric_of(&runs, *run))
            .collect();
        // A cause is at least a twentieth of a difference that is itself a few per cent of a run. A
        // feature that is smaller than this in every run can hardly be one, and most methods are
        // that small.
        let floor_ms = (0.002 * numbers::median(&values)).max(load::LEAST_MS);
        let has_rows = runs.iter().all(|run| run.has_rows);
        let mut matrix = load::load(session, runs.len(), floor_ms, has_rows)?;
        if let Some(process) = &self.process {
            matrix.measure(&TextFilter::parse(process));
        }
        runs::compare(self, session, &mut runs, &matrix)?;
        let by_label = self.grouped(session, &measured)?;
        let missing = recorded::missing(session)?;
        let (whole_programs, open_program) = if metric == metric::OF_TRACE {
            (
                metric::whole_programs(session, runs.len())?,
                matrix.program_that_differs().map(str::to_owned),
            )
        } else {
            (Vec::new(), None)
        };
        Ok(Explanation {
            by_label,
            whole_programs,
            open_program,
            ..Explanation::of(metric, runs, measured, &matrix, missing)
        })
    }
}

impl Explanation {
    fn of(
        metric: String,
        mut runs: Vec<Run>,
        measured: Vec<usize>,
        matrix: &Matrix,
        missing: Vec<Missing>,
    ) -> Self {
        let values: Vec<f64> = measured
            .iter()
            .filter_map(|run| runs::metric_of(&runs, *run))
            .collect();
        let is_time = metric != metric::OF_SQL;
        let causes = Causes::find_of(&matrix.of_runs(&measured), &values, is_time);
        runs::drop_explained(&mut runs, &causes);
        let mut by_time: Vec<usize> = (0..measured.len()).collect();
        let began = |place: &usize| {
            measured
                .get(*place)
                .and_then(|run| runs.get(*run))
                .map(|run| run.began)
        };
        // Recordings that started at the same time keep the order of their extracts.
        by_time.sort_by_key(|place| (began(place), *place));
        let in_time: Vec<f64> = by_time
            .iter()
            .filter_map(|place| values.get(*place).copied())
            .collect();
        let change = chance::change(&in_time).filter(|change| change.p <= runs::CHANGED);
        Self {
            metric,
            runs,
            measured,
            causes,
            by_time,
            change,
            missing,
            by_label: None,
            whole_programs: Vec::new(),
            open_program: None,
        }
    }
}
