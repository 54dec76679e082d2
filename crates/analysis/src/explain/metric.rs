//! The metric of runs: one number for the slowness of each.

use etwkit_question::Error;
use etwkit_question::OptionError;
use etwkit_question::any_rows::{AnyValue, ask_any};
use etwkit_sql::Session;
use etwkit_sql::library::Query;
use etwkit_sql::literal::quoted;

use super::ExplainRequest;
use super::load::each;
use super::runs::Run;
use crate::Result;

etwkit_question::declare! {
    /// A metric.
    row Measured {
        trace_id: i64 = "Run.",
        metric_ms: Option<f64> = "The metric.",
    }

    /// A program.
    row Program {
        name: Option<String> = "Its name.",
    }
}

const DURATION: &str = "duration";
const PROCESS_CPU: &str = "process-cpu";
const MARK_TO_MARK: &str = "mark-to-mark";

/// Name of the metric that needs no option.
pub(super) const OF_TRACE: &str = "length of the trace";

/// The expected columns of SQL.
const COLUMNS: &str = "expected SQL that gives trace_id and one number, as does \
                       SELECT trace_id, max(ts_ns) / 1e6 FROM mark GROUP BY trace_id";

/// Name of the metric that SQL of the user gives, which may be no time.
pub(super) const OF_SQL: &str = "the SQL of --metric";

impl ExplainRequest {
    fn word(&self) -> &str {
        self.metric.as_deref().unwrap_or(DURATION)
    }

    /// Returns `true` if the metric is SQL: a single word is not.
    fn is_sql(&self) -> bool {
        self.word().trim().contains(char::is_whitespace)
    }

    /// Checks the combination of options and metric.
    pub(super) fn check_metric(&self) -> std::result::Result<(), OptionError> {
        let wrong = |problem: &str| {
            Err(OptionError::Value {
                option: "metric",
                problem: problem.to_owned(),
            })
        };
        match self.word() {
            PROCESS_CPU if self.process.is_none() => wrong("process-cpu needs --process"),
            MARK_TO_MARK if self.from_mark.is_none() || self.to_mark.is_none() => {
                wrong("mark-to-mark needs --from-mark and --to-mark")
            }
            DURATION | PROCESS_CPU | MARK_TO_MARK => Ok(()),
            _ if self.is_sql() => Ok(()),
            _ => wrong("expected duration, process-cpu, mark-to-mark, or SQL"),
        }
    }

    /// Returns the SQL of the metric.
    pub(super) fn metric_sql(&self) -> String {
        let process = quoted(self.process.as_deref().unwrap_or("*"));
        match self.word() {
            PROCESS_CPU => format!(
                "SELECT c.trace_id, sum(coalesce(c.run_ns, c.cpu_ns)) / 1e6 AS metric_ms
FROM cpu_process c JOIN process p ON p.process_key = c.process_key AND p.trace_id = c.trace_id
WHERE process_match(p.name, p.pid, {process}) GROUP BY c.trace_id"
            ),
            MARK_TO_MARK => {
                // The end is strictly after the start, since one mark may match both patterns.
                let text = |mark: &Option<String>| quoted(mark.as_deref().unwrap_or("*"));
                let from = text(&self.from_mark);
                let to = text(&self.to_mark);
                format!(
                    "SELECT f.trace_id, (min(t.ts_ns) - f.from_ns) / 1e6 AS metric_ms
FROM (SELECT trace_id, min(ts_ns) AS from_ns FROM mark WHERE wildcard_match(text, {from}) GROUP BY trace_id) f
JOIN mark t ON t.trace_id = f.trace_id AND t.ts_ns > f.from_ns
WHERE wildcard_match(t.text, {to}) GROUP BY f.trace_id, f.from_ns"
                )
            }
            DURATION if self.process.is_some() => format!(
                "SELECT p.trace_id,
  (max(coalesce(p.stop_ns, t.range_end_ns, t.duration_ns)) - min(coalesce(p.start_ns, t.range_start_ns, 0))) / 1e6 AS metric_ms
FROM process p JOIN trace t ON t.trace_id = p.trace_id
WHERE process_match(p.name, p.pid, {process}) GROUP BY p.trace_id"
            ),
            DURATION => {
                "SELECT trace_id, coalesce(range_end_ns - range_start_ns, duration_ns) / 1e6 AS metric_ms FROM trace".to_owned()
            }
            sql => sql.to_owned(),
        }
    }
}

/// Gives each run its metric; returns a description of the metric.
pub(super) fn ask(asked: &ExplainRequest, session: &Session, runs: &mut [Run]) -> Result<String> {
    // The duration that the test measured itself is better than the length of the recording, but
    // only if all runs have it: the two must not be mixed.
    if asked.word() == DURATION && runs.iter().all(|run| run.named_ms.is_some()) && !runs.is_empty()
    {
        runs.iter_mut().for_each(|run| run.metric = run.named_ms);
        return Ok("duration of the test, by the name of the file".to_owned());
    }
    let sql = asked.metric_sql();
    if asked.is_sql() {
        own(session, sql, runs)?;
        return Ok(OF_SQL.to_owned());
    }
    each(session, &sql, |row: Measured| {
        let run = usize::try_from(row.trace_id)
            .ok()
            .and_then(|run| runs.get_mut(run));
        run.into_iter()
            .for_each(|run| run.metric = row.metric_ms.filter(|metric| metric.is_finite()));
    })?;
    let process = asked.process.as_deref().unwrap_or("");
    Ok(match asked.word() {
        PROCESS_CPU => format!("CPU of {process}"),
        MARK_TO_MARK => "time from mark to mark".to_owned(),
        _ if asked.process.is_some() => format!("lifetime of {process}"),
        _ => OF_TRACE.to_owned(),
    })
}

/// Returns the programs that start and end once in each run, the one whose lifetimes differ most
/// first.
pub(super) fn whole_programs(session: &Session, runs: usize) -> Result<Vec<String>> {
    let sql = format!(
        "SELECT name FROM (
  SELECT min(name) AS name, max(stop_ns - start_ns) - min(stop_ns - start_ns) AS spread_ns
  FROM process WHERE start_ns IS NOT NULL AND stop_ns IS NOT NULL GROUP BY lower(name)
  HAVING count(*) = {runs} AND count(DISTINCT trace_id) = {runs}
) ORDER BY spread_ns DESC, name"
    );
    let mut names = Vec::new();
    each(session, &sql, |row: Program| names.extend(row.name))?;
    Ok(names)
}

/// Runs SQL of the user, which returns `trace_id` and either one other column or one with the name
/// `metric`.
fn own(session: &Session, sql: String, runs: &mut [Run]) -> Result<()> {
    let (rows, _) = ask_any(
        session,
        &Query::own("", sql),
        &[],
        runs.len().saturating_mul(2),
    )?;
    for row in rows {
        // A column called metric wins; without one there must be exactly one other column, since a
        // guess might compare the wrong thing.
        let others = || row.iter().filter(|(name, _)| *name != "trace_id");
        let value = row
            .get("metric")
            .or_else(|| others().next().map(|(_, value)| value));
        let is_one = row.contains_key("metric") || others().count() == 1;
        let run = row.get("trace_id").and_then(AnyValue::whole);
        let (Some(run), Some(value), true) = (run, value, is_one) else {
            return Err(Error::Option(OptionError::Value {
                option: "metric",
                problem: COLUMNS.to_owned(),
            }));
        };
        let number = match value {
            AnyValue::Whole(number) => Some(*number as f64),
            AnyValue::Number(number) if number.is_finite() => Some(*number),
            _ => None,
        };
        if let Some(run) = usize::try_from(run).ok().and_then(|run| runs.get_mut(run)) {
            run.metric = number;
        }
    }
    Ok(())
}
