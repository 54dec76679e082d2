//! The runs: their names, their metrics, and whether they can be compared with each other.

use std::collections::{BTreeMap, HashMap};

use etwkit_base::digits::noun;
use etwkit_base::path::{file_name, without_ending};
use etwkit_question::test_run::TestName;
use etwkit_sql::Session;
use etwkit_sql::literal::quoted;

use super::ExplainRequest;
use super::causes::Causes;
use super::chance::deviations;
use super::feature::{FeatureKind, Matrix, Measure, Name};
use super::load::{each, first_counted};
use super::numbers::median;
use super::stored;
use crate::Result;
use crate::duration::milliseconds;

/// Distance from the median, in spreads, above which a run is an outlier: of normally distributed
/// numbers, one in two thousand is.
pub(super) const OUTLIER: f64 = 3.5;

/// A change over time is reported if its probability by chance is at most this.
pub(super) const CHANGED: f64 = 0.01;

/// Minimum duration, in milliseconds, of an NTFS checkpoint that makes a run incomparable: it
/// blocks all other threads on its volume.
const CHECKPOINT_MS: f64 = 100.0;

/// Shares of the metric from which on a virus scanner, or an unusual time of hard faults, makes a
/// run incomparable.
const ANTIVIRUS_SHARE: f64 = 0.05;
const HARD_FAULT_SHARE: f64 = 0.05;

/// Fewest runs of which a median tells the usual value. Each of two runs differs from their median.
const USUAL_RUNS: usize = 3;

/// Change of the cycles per instruction that shows a disturbance of the machine if the instructions
/// do not change.
const CPI_CHANGE: f64 = 0.10;
const INSTRUCTION_CHANGE: f64 = 0.03;

/// A mean frequency that is lower than the others by this share makes a run incomparable; a higher
/// one is not a disturbance.
const FREQUENCY_CHANGE: f64 = 0.05;

/// A run.
#[derive(Debug, Clone, Default)]
pub(super) struct Run {
    /// File name of the extract; the name of its trace if it lies in a cache.
    pub(super) name: String,
    /// Name of the trace without its ending.
    pub(super) trace: String,
    /// Distinguishes traces by their content; empty if that is not known.
    pub(super) source_hash: String,
    pub(super) start_utc: String,
    /// Sort key for the order of time: start of the recording, then the time in the name.
    pub(super) began: (i64, Option<i64>),
    /// Duration of the test according to the name of the file.
    pub(super) named_ms: Option<f64>,
    /// True if it has single rows, not only sums.
    pub(super) has_rows: bool,
    pub(super) lost: i64,
    /// Milliseconds; missing if the run has none.
    pub(super) metric: Option<f64>,
    /// Differences from the other runs.
    pub(super) differs: Vec<Difference>,
}

/// A difference of a run from the others.
#[derive(Debug, Clone)]
pub(super) struct Difference {
    /// What differs, and from what.
    pub(super) text: String,
    /// The kind of the causes that hold the same time.
    time_of: Option<FeatureKind>,
}

impl Difference {
    /// A difference of the machine or the recording, which no cause holds.
    const fn of_machine(text: String) -> Self {
        Self {
            text,
            time_of: None,
        }
    }

    /// Whether a cause of this name holds the time of the difference.
    fn is_in(&self, name: &Name) -> bool {
        let fits = self.time_of == Some(name.kind);
        fits && (name.kind != FeatureKind::Tag || is_antivirus(&name.what))
    }
}

etwkit_question::declare! {
    /// A recording.
    row Recording {
        trace_id: i64 = "Run.",
        name: String = "Extract.",
        source_name: String = "Trace.",
        source_hash: String = "Distinguishes traces by their content.",
        detail: String = "Full or summary.",
        start_utc: String = "Start.",
        start_filetime: i64 = "Start.",
        lost: i64 = "Lost events and buffers.",
    }

    /// A number of a run.
    pub(super) row OfRun {
        trace_id: i64 = "Run.",
        value: Option<f64> = "The number.",
    }

    /// A property of a run.
    row Has {
        trace_id: i64 = "Run.",
        what: String = "Of what.",
        value: Option<String> = "The value.",
    }
}

const RECORDINGS: &str =
    "SELECT e.trace_id, e.name, e.source_name, e.source_hash, e.detail, t.start_utc, t.start_filetime,
  t.lost_events + t.lost_buffers + coalesce(t.missing_buffers, 0) AS lost
FROM extract e JOIN trace t ON t.trace_id = e.trace_id";

/// Runs without a record of hard faults: that they have none says nothing.
const UNRECORDED_FAULTS: &str =
    "SELECT trace_id, 1.0 AS value FROM topic WHERE topic = 'hard faults' AND NOT is_recorded";

/// The longest NTFS checkpoint of each run.
pub(super) const CHECKPOINTS: &str = "SELECT trace_id, max(ms) AS value FROM (
  SELECT trace_id, (cpu_ns + coalesce(wait_ns, 0)) / 1e6 AS ms FROM cpu_method
  WHERE lower(module) = 'ntfs.sys' AND method LIKE 'NtfsCheckpoint%Volume%'
) GROUP BY trace_id";

pub(super) const FREQUENCIES: &str = "SELECT trace_id,
  sum(CAST(mhz AS DOUBLE) * (stop_ns - start_ns)) / nullif(sum(stop_ns - start_ns), 0) AS value
FROM cpu_frequency GROUP BY trace_id";

const MACHINES: &str = "SELECT trace_id, 'machine' AS what, computer AS value FROM trace
UNION ALL
SELECT trace_id, 'Windows', os_version || coalesce('.' || CAST(os_revision AS VARCHAR), '') FROM trace
UNION ALL SELECT trace_id, 'number of processors', CAST(processors AS VARCHAR) FROM trace
UNION ALL SELECT trace_id, 'memory', CAST(memory_bytes AS VARCHAR) || ' bytes' FROM trace";

pub(super) fn metric_of(runs: &[Run], run: usize) -> Option<f64> {
    runs.get(run).and_then(|run| run.metric)
}

/// Returns the runs of a session, in the order of their extracts.
pub(super) fn load(session: &Session) -> Result<Vec<Run>> {
    let mut runs: BTreeMap<i64, Run> = BTreeMap::new();
    each(session, RECORDINGS, |row: Recording| {
        // Trace or extract may have been renamed; the one that was not has the name of the test.
        let files = [row.source_name.clone(), format!("{}.etwx", row.name)];
        let named = files.iter().find_map(|file| TestName::parse(file));
        let performed_at = named.as_ref().and_then(|named| named.performed_at);
        runs.insert(
            row.trace_id,
            Run {
                name: row.name,
                trace: without_ending(file_name(&row.source_name)).to_owned(),
                source_hash: row.source_hash,
                start_utc: row.start_utc,
                began: (
                    row.start_filetime,
                    performed_at.map(|time| time.and_utc().timestamp()),
                ),
                named_ms: named.map(|named| named.duration_ms as f64),
                has_rows: row.detail != "summary",
                lost: row.lost,
                ..Run::default()
            },
        );
    })?;
    let mut runs: Vec<Run> = runs.into_values().collect();
    name_by_traces(&mut runs);
    Ok(runs)
}

/// Returns pairs of an earlier and a later run that are of one trace, such as a copy.
pub(super) fn of_one_trace(runs: &[Run]) -> Vec<(usize, usize)> {
    let mut first: HashMap<&str, usize> = HashMap::new();
    let mut pairs = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        if run.source_hash.is_empty() {
            continue;
        }
        let earlier = *first.entry(&run.source_hash).or_insert(number);
        if earlier != number {
            pairs.push((earlier, number));
        }
    }
    pairs
}

/// Names the extracts of a cache by their traces, unless two traces have the same name.
fn name_by_traces(runs: &mut [Run]) {
    let mut traces: BTreeMap<String, usize> = BTreeMap::new();
    for run in runs.iter() {
        let count = traces.entry(run.trace.to_lowercase()).or_default();
        *count = count.saturating_add(1);
    }
    for run in runs {
        let is_only = traces.get(&run.trace.to_lowercase()) == Some(&1);
        if is_only && is_cached(&run.name, &run.trace) {
            run.name.clone_from(&run.trace);
        }
    }
}

/// Returns `true` if an extract has a name of the cache: that of its trace, sixteen hexadecimal
/// digits and a version, such as `run-0123456789abcdef-0.1.0`.
fn is_cached(name: &str, trace: &str) -> bool {
    let rest = name
        .strip_prefix(trace)
        .and_then(|rest| rest.strip_prefix('-'));
    let Some((digits, _)) = rest.and_then(|rest| rest.split_once('-')) else {
        return false;
    };
    digits.len() == 16 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// Finds differences that make runs incomparable.
pub(super) fn compare(
    asked: &ExplainRequest,
    session: &Session,
    runs: &mut [Run],
    matrix: &Matrix,
) -> Result<()> {
    let count = runs.len();
    let checkpoints = if stored::are_in_all(session, count) {
        stored::checkpoints()
    } else {
        CHECKPOINTS.to_owned()
    };
    let checkpoints = of_runs(session, &checkpoints, count)?;
    for (run, ms) in runs.iter_mut().zip(checkpoints) {
        let ms = ms.filter(|ms| *ms > CHECKPOINT_MS);
        let text = ms.map(|ms| format!("NTFS checkpoint: {}", milliseconds(ms)));
        run.differs.extend(text.map(Difference::of_machine));
    }
    let of_tags = |run: usize| {
        let is_measured = |process: &Option<String>| {
            asked.process.as_deref().is_none_or(|asked| {
                let filter = etwkit_sql::filter::TextFilter::parse(asked);
                filter.matches(process.as_deref())
            })
        };
        let times = [Measure::Cpu, Measure::Wait];
        let tags = matrix.features.iter().filter(|feature| {
            let name = &feature.name;
            name.kind == FeatureKind::Tag
                && times.contains(&name.measure)
                && is_antivirus(&name.what)
                && is_measured(&name.process)
        });
        tags.filter_map(|feature| feature.values.get(run))
            .map(|value| f64::from(*value))
            .sum::<f64>()
    };
    for (place, run) in runs.iter_mut().enumerate() {
        let ms = of_tags(place);
        if let Some(metric) = time_of(run).filter(|metric| ms > ANTIVIRUS_SHARE * metric) {
            let share = 100.0 * ms / metric;
            run.differs.push(Difference {
                text: format!("antivirus: {}, {share:.0} % of the run", milliseconds(ms)),
                time_of: Some(FeatureKind::Tag),
            });
        }
    }
    let unrecorded = of_runs(session, UNRECORDED_FAULTS, count)?;
    let are_recorded: Vec<bool> = unrecorded.iter().map(Option::is_none).collect();
    hard_faults(runs, matrix, &are_recorded);
    counters(asked, session, runs)?;
    frequency(runs, &of_runs(session, FREQUENCIES, count)?);
    for run in runs.iter_mut().filter(|run| run.lost > 0) {
        let nouns = ["event or buffer is", "events or buffers are"];
        let text = format!("{} {} lost", run.lost, noun(run.lost.unsigned_abs(), nouns));
        run.differs.push(Difference::of_machine(text));
    }
    others_have(session, MACHINES, runs)?;
    if let Some(process) = &asked.process {
        others_have(session, &versions(process), runs)?;
    }
    Ok(())
}

/// Drops the differences whose time a cause holds: they are a part of the answer, and no reason to
/// leave a run out of it.
pub(super) fn drop_explained(runs: &mut [Run], causes: &Causes) {
    let names: Vec<&Name> = causes
        .causes
        .iter()
        .flat_map(|cause| std::iter::once(&cause.name).chain(&cause.others))
        .collect();
    for run in runs {
        run.differs
            .retain(|difference| !names.iter().any(|name| difference.is_in(name)));
    }
}

/// Returns `true` for a stack tag of a virus scanner.
fn is_antivirus(tag: &str) -> bool {
    tag.split('\\').any(|part| part == "Antivirus")
}

/// Returns a number of each run.
fn of_runs(session: &Session, sql: &str, count: usize) -> Result<Vec<Option<f64>>> {
    let mut values = vec![None; count];
    each(session, sql, |row: OfRun| {
        let place = usize::try_from(row.trace_id)
            .ok()
            .and_then(|run| values.get_mut(run));
        place
            .into_iter()
            .for_each(|place| *place = row.value.filter(|value| value.is_finite()));
    })?;
    Ok(values)
}

/// Returns the metric of a run if shares of it are meaningful: SQL of the user may give 0 or less.
fn time_of(run: &Run) -> Option<f64> {
    run.metric.filter(|metric| *metric > 0.0)
}

/// Finds runs with unusual hard faults, among those that recorded them.
fn hard_faults(runs: &mut [Run], matrix: &Matrix, are_recorded: &[bool]) {
    let mut sums = vec![0.0; runs.len()];
    let is_time = |measure: Measure| measure == Measure::Time;
    let faults = matrix
        .features
        .iter()
        .filter(|one| one.name.kind == FeatureKind::HardFault && is_time(one.name.measure));
    for feature in faults {
        sums.iter_mut()
            .zip(feature.numbers())
            .for_each(|(sum, value)| *sum += value);
    }
    let recorded = sums.into_iter().zip(are_recorded).filter(|(_, is)| **is);
    let known: Vec<f64> = recorded.map(|(ms, _)| ms).collect();
    if known.len() < USUAL_RUNS {
        return;
    }
    // The median, so that disturbed runs do not move the usual value.
    let usual = median(&known);
    let runs = runs.iter_mut().zip(are_recorded).filter(|(_, is)| **is);
    for ((run, _), ms) in runs.zip(known) {
        if let Some(metric) =
            time_of(run).filter(|metric| (ms - usual).abs() > HARD_FAULT_SHARE * metric)
        {
            let share = 100.0 * (ms - usual).abs() / metric;
            run.differs.push(Difference {
                text: format!(
                    "hard faults: {}, usually {} ({share:.0} % of the run)",
                    milliseconds(ms),
                    milliseconds(usual)
                ),
                time_of: Some(FeatureKind::HardFault),
            });
        }
    }
}

fn counters(asked: &ExplainRequest, session: &Session, runs: &mut [Run]) -> Result<()> {
    let process = asked.process.as_deref().unwrap_or("*");
    let instructions = of_runs(session, &counted(process, "instructions"), runs.len())?;
    let cycles = of_runs(session, &counted(process, "cycles"), runs.len())?;
    let both: Vec<Option<(f64, f64)>> = instructions
        .iter()
        .zip(cycles)
        .map(|(instructions, cycles)| Some((instructions.filter(|count| *count > 0.0)?, cycles?)))
        .collect();
    let known: Vec<(f64, f64)> = both.iter().copied().flatten().collect();
    let usual = median(
        &known
            .iter()
            .map(|(instructions, _)| *instructions)
            .collect::<Vec<_>>(),
    );
    let usual_cpi = median(
        &known
            .iter()
            .map(|(instructions, cycles)| cycles / instructions)
            .collect::<Vec<_>>(),
    );
    for (run, (instructions, cycles)) in runs
        .iter_mut()
        .zip(both)
        .filter_map(|(run, both)| Some((run, both?)))
    {
        let cpi = cycles / instructions;
        // More work may also have another ratio; only if the work is the same is the machine to
        // blame.
        let is_same_work = (instructions - usual).abs() < INSTRUCTION_CHANGE * usual;
        if is_same_work && (cpi - usual_cpi).abs() > CPI_CHANGE * usual_cpi {
            let change = "with the same number of instructions";
            let text =
                format!("cycles per instruction: {cpi:.2}, usually {usual_cpi:.2}, {change}");
            run.differs.push(Difference::of_machine(text));
        }
    }
    Ok(())
}

/// A counter of the processor over the threads of a process.
fn counted(process: &str, column: &str) -> String {
    format!(
        "SELECT c.trace_id, {} AS value FROM pmc_thread c
JOIN process p ON p.process_key = c.process_key AND p.trace_id = c.trace_id
WHERE c.kind = 'counted' AND process_match(p.name, p.pid, {})
GROUP BY c.trace_id",
        first_counted(column),
        quoted(process)
    )
}

fn frequency(runs: &mut [Run], mhz: &[Option<f64>]) {
    let usual = median(&mhz.iter().copied().flatten().collect::<Vec<_>>());
    for (run, mhz) in runs.iter_mut().zip(mhz) {
        if let Some(mhz) = mhz.filter(|mhz| *mhz < (1.0 - FREQUENCY_CHANGE) * usual) {
            let text = format!("frequency: {mhz:.0} MHz, usually {usual:.0}");
            run.differs.push(Difference::of_machine(text));
        }
    }
}

/// Versions of the executables of a process.
fn versions(process: &str) -> String {
    format!(
        "SELECT m.trace_id, 'version of ' || m.name AS what,
  min(coalesce(m.file_version, m.product_version)) AS value
FROM module m JOIN process p ON p.process_key = m.process_key AND p.trace_id = m.trace_id
WHERE process_match(p.name, p.pid, {}) AND lower(m.name) = lower(p.name) GROUP BY m.trace_id, m.name",
        quoted(process)
    )
}

/// Finds runs whose values differ from the values of most runs.
fn others_have(session: &Session, sql: &str, runs: &mut [Run]) -> Result<()> {
    let mut all: BTreeMap<String, BTreeMap<i64, String>> = BTreeMap::new();
    each(session, sql, |row: Has| {
        if let Some(value) = row.value {
            all.entry(row.what).or_default().insert(row.trace_id, value);
        }
    })?;
    for (what, values) in all {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        values
            .values()
            .for_each(|value| *counts.entry(value).or_default() += 1);
        let usual = counts
            .iter()
            // Among equally frequent values the first by name, so that the answer does not depend
            // on order.
            .max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)))
            // Of three machines with a third of the runs each none is usual.
            .filter(|(_, count)| **count * 2 > values.len())
            .map(|(value, _)| (*value).to_owned());
        let Some(usual) = usual else { continue };
        for (run, value) in values.into_iter().filter(|(_, value)| *value != usual) {
            if let Some(run) = usize::try_from(run).ok().and_then(|run| runs.get_mut(run)) {
                let text = format!("{what}: {value}, usually {usual}");
                run.differs.push(Difference::of_machine(text));
            }
        }
    }
    Ok(())
}

/// Returns the distance of each run from the median, in spreads.
pub(super) fn distances(metric: &[f64]) -> Vec<f64> {
    deviations(metric)
}

#[cfg(test)]
mod tests {
    use super::super::causes::Cause;
    use super::*;

    #[test]
    fn runs_of_one_trace_are_found_by_its_content() {
        let run = |source_hash: &str| Run {
            source_hash: source_hash.to_owned(),
            ..Run::default()
        };
        let runs = ["a", "b", "", "a", "", "a"].map(run);
        assert_eq!(of_one_trace(&runs), [(0, 3), (0, 5)]);
    }

    #[test]
    fn extracts_of_a_cache_are_named_by_their_traces() {
        let run = |name: &str, trace: &str| Run {
            name: name.to_owned(),
            trace: trace.to_owned(),
            ..Run::default()
        };
        let mut runs = [
            run("r-1-f443d269eb2ea4aa-0.1.0", "r-1"),
            run("own name", "r-2"),
            run("same-f443d269eb2ea4aa-0.1.0", "same"),
            run("Same-0123456789abcdef-0.1.0", "Same"),
            run("r-3-night-2", "r-3"),
        ];
        name_by_traces(&mut runs);
        let names = runs.map(|run| run.name);
        let expected = [
            "r-1",
            "own name",
            "same-f443d269eb2ea4aa-0.1.0",
            "Same-0123456789abcdef-0.1.0",
            "r-3-night-2",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_quote_in_the_name_of_a_process_stays_in_its_literal() {
        for sql in [counted("it's.exe", "cycles"), versions("it's.exe")] {
            assert!(
                sql.contains("process_match(p.name, p.pid, 'it''s.exe')"),
                "{sql}"
            );
        }
    }

    #[test]
    fn nothing_is_a_share_of_a_metric_that_is_no_time() {
        let mut matrix = Matrix::new(4);
        let (kind, measure) = (FeatureKind::HardFault, Measure::Time);
        matrix.add(
            2,
            Name {
                kind,
                measure,
                what: String::new(),
                process: None,
            },
            0.0,
            500.0,
        );
        matrix.add(
            3,
            Name {
                kind,
                measure,
                what: String::new(),
                process: None,
            },
            0.0,
            500.0,
        );
        matrix.finish();
        let run = |metric| Run {
            metric: Some(metric),
            ..Run::default()
        };
        let mut runs = [run(-5.0), run(1000.0), run(0.0), run(1000.0)];
        hard_faults(&mut runs, &matrix, &[true; 4]);
        let differs: Vec<usize> = runs.iter().map(|run| run.differs.len()).collect();
        assert_eq!(differs, [0, 1, 0, 1]);
    }

    #[test]
    fn runs_that_did_not_record_hard_faults_have_no_usual_value() {
        let mut matrix = Matrix::new(5);
        let name = Name {
            kind: FeatureKind::HardFault,
            measure: Measure::Time,
            what: String::new(),
            process: None,
        };
        for (run, ms) in [(2, 500.0), (3, 510.0), (4, 900.0)] {
            matrix.add(run, name.clone(), 0.0, ms);
        }
        matrix.finish();
        let differing = |are_recorded: [bool; 5]| {
            let run = Run {
                metric: Some(1000.0),
                ..Run::default()
            };
            let mut runs = [(); 5].map(|()| run.clone());
            hard_faults(&mut runs, &matrix, &are_recorded);
            runs.map(|run| run.differs.len())
        };
        assert_eq!(differing([false, false, true, true, true]), [0, 0, 0, 0, 1]);
        assert_eq!(differing([false, false, false, true, true]), [0; 5]);
    }

    #[test]
    fn two_runs_have_no_usual_value() {
        let mut matrix = Matrix::new(2);
        let name = Name {
            kind: FeatureKind::HardFault,
            measure: Measure::Time,
            what: String::new(),
            process: None,
        };
        matrix.add(0, name, 0.0, 92.0);
        matrix.finish();
        let run = |metric| Run {
            metric: Some(metric),
            ..Run::default()
        };
        let mut runs = [run(273.0), run(181.0)];
        hard_faults(&mut runs, &matrix, &[true; 2]);
        assert!(runs.iter().all(|run| run.differs.is_empty()));
    }

    #[test]
    fn what_a_cause_holds_makes_no_run_incomparable() {
        let faults = Difference {
            text: "hard faults: 92 ms".to_owned(),
            time_of: Some(FeatureKind::HardFault),
        };
        let scanner = Difference {
            text: "antivirus: 50 ms".to_owned(),
            time_of: Some(FeatureKind::Tag),
        };
        let lost = Difference::of_machine("3 events or buffers are lost".to_owned());
        let name = |kind, what: &str| Name {
            kind,
            measure: Measure::Wait,
            what: what.to_owned(),
            process: None,
        };
        let left = |names: [Name; 2]| {
            let mut runs = [Run {
                differs: vec![faults.clone(), scanner.clone(), lost.clone()],
                ..Run::default()
            }];
            let [of_cause, other] = names;
            let cause = Cause {
                name: of_cause,
                others: vec![other],
                more: 0,
                is_rest: false,
                effect: 90.0,
                own_effect: 90.0,
                effects: Vec::new(),
                values: Vec::new(),
                slope: 1.0,
                base: 0.0,
                correlation: 1.0,
                p: Some(0.01),
                is_p_of_all: false,
                slow: 90.0,
                fast: 0.0,
                runs: 1,
            };
            let causes = Causes {
                causes: vec![cause],
                ..Causes::default()
            };
            drop_explained(&mut runs, &causes);
            let [run] = runs;
            run.differs
                .into_iter()
                .map(|difference| difference.text)
                .collect::<Vec<_>>()
        };
        let method = || name(FeatureKind::Method, "ntoskrnl.exe!MiIssueHardFault");
        let dns = || name(FeatureKind::Tag, r"Network\DNS Query");
        let tag = || name(FeatureKind::Tag, r"Antivirus\Northwall");
        let lost = "3 events or buffers are lost";
        assert_eq!(
            left([method(), name(FeatureKind::HardFault, "")]),
            ["antivirus: 50 ms", lost]
        );
        assert_eq!(left([method(), tag()]), ["hard faults: 92 ms", lost]);
        assert_eq!(left([method(), dns()]).len(), 3);
    }
}
