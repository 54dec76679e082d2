//! Runs grouped by their labels: the metric, and the CPU on each kind of core.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use etwkit_question::Error;
use etwkit_question::OptionError;
use etwkit_sql::Session;
use etwkit_sql::literal::quoted;

use super::load::each;
use super::numbers::{mean, median, spread};
use super::rows::GroupRow;
use super::runs;
use super::{ExplainRequest, Explanation};
use crate::Result;

/// Maximum number of labels of a grouping: a table has rows and columns.
const MOST_LABELS: usize = 2;

/// The value of runs without the label.
const WITHOUT: &str = "(none)";

etwkit_question::declare! {
    /// CPU of a run on a kind of core.
    row CpuOfClass {
        trace_id: i64 = "Run.",
        is_fastest: bool = "True for the fastest kind of the machine.",
        cpu_ms: f64 = "CPU.",
    }
}

/// CPU of a run on the fastest cores and on all others, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct CpuByCore {
    fastest: f64,
    others: f64,
}

/// Runs with the same values of the labels.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Group {
    /// The value of each label.
    pub(super) values: Vec<String>,
    /// Places of its runs among the measured ones.
    pub(super) places: Vec<usize>,
    /// Mean CPU on the fastest cores and on all others; missing if a run has only one kind.
    cpu: Option<CpuByCore>,
}

/// Groups of runs by one or two labels.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ByLabel {
    /// The labels.
    pub(super) names: Vec<String>,
    /// The groups, by the values of the labels.
    pub(super) groups: Vec<Group>,
}

impl ExplainRequest {
    /// Returns the labels by which runs are grouped.
    fn labels(&self) -> Vec<String> {
        let names = self.group_by.iter().flat_map(|names| names.split(';'));
        names
            .map(|name| name.trim().to_owned())
            .filter(|name| !name.is_empty())
            .collect()
    }

    /// Checks the number of labels.
    pub(super) fn check_labels(&self) -> std::result::Result<(), OptionError> {
        let wrong = |problem: &str| {
            Err(OptionError::Value {
                option: "group-by",
                problem: problem.to_owned(),
            })
        };
        match (&self.group_by, self.labels().len()) {
            (None, _) => Ok(()),
            (Some(_), 1..=MOST_LABELS) => Ok(()),
            _ => wrong("expected one label, or two with ; between them"),
        }
    }

    /// Groups the measured runs by their labels; `None` without `--group-by`.
    ///
    /// # Errors
    /// No run has one of the labels, or the query fails.
    pub(super) fn grouped(&self, session: &Session, measured: &[usize]) -> Result<Option<ByLabel>> {
        let names = self.labels();
        if names.is_empty() {
            return Ok(None);
        }
        let labels: Vec<&BTreeMap<String, String>> = session
            .manifests()
            .map(|(_, manifest)| &manifest.labels)
            .collect();
        check_known(&names, &labels)?;
        let cpu = self.cpu_by_core(session)?;
        let mut groups: BTreeMap<Values, Vec<usize>> = BTreeMap::new();
        for (place, run) in measured.iter().enumerate() {
            let value = |name: &String| {
                let value = labels.get(*run).and_then(|labels| labels.get(name));
                value.map_or(WITHOUT, String::as_str).to_owned()
            };
            let values = Values(names.iter().map(value).collect());
            groups.entry(values).or_default().push(place);
        }
        let group = |(Values(values), places): (Values, Vec<usize>)| {
            let of_run = |place: &usize| measured.get(*place).and_then(|run| cpu.get(run)).copied();
            let of_runs: Option<Vec<CpuByCore>> = places.iter().map(of_run).collect();
            Group {
                values,
                places,
                cpu: of_runs.map(|cpu| mean_cpu(&cpu)),
            }
        };
        Ok(Some(ByLabel {
            names,
            groups: groups.into_iter().map(group).collect(),
        }))
    }

    /// Returns the CPU of the measured processes by kind of core, for runs whose machine has
    /// several kinds.
    fn cpu_by_core(&self, session: &Session) -> Result<BTreeMap<usize, CpuByCore>> {
        let process = quoted(self.process.as_deref().unwrap_or("*"));
        let sql = format!(
            "SELECT c.trace_id, c.efficiency_class = k.fastest AS is_fastest,
  sum(CAST(c.cpu_ns AS DOUBLE)) / 1e6 AS cpu_ms
FROM cpu_class c
JOIN (SELECT trace_id, max(efficiency_class) AS fastest FROM cpu_core
      GROUP BY trace_id HAVING count(DISTINCT efficiency_class) > 1) k ON k.trace_id = c.trace_id
JOIN process p ON p.process_key = c.process_key AND p.trace_id = c.trace_id
WHERE c.efficiency_class IS NOT NULL AND process_match(p.name, p.pid, {process})
GROUP BY c.trace_id, c.efficiency_class = k.fastest"
        );
        let mut cpu: BTreeMap<usize, CpuByCore> = BTreeMap::new();
        each(session, &sql, |row: CpuOfClass| {
            let Ok(run) = usize::try_from(row.trace_id) else {
                return;
            };
            let of_run = cpu.entry(run).or_default();
            if row.is_fastest {
                of_run.fastest += row.cpu_ms;
            } else {
                of_run.others += row.cpu_ms;
            }
        })?;
        Ok(cpu)
    }
}

/// Returns an error that lists the labels of the runs if no run has one of the names.
fn check_known(names: &[String], labels: &[&BTreeMap<String, String>]) -> Result<()> {
    let known: BTreeSet<&str> = labels
        .iter()
        .flat_map(|labels| labels.keys())
        .map(String::as_str)
        .collect();
    let Some(unknown) = names.iter().find(|name| !known.contains(name.as_str())) else {
        return Ok(());
    };
    let there = if known.is_empty() {
        "etwkit extract --label NAME=VALUE sets labels, and no extract has any".to_owned()
    } else {
        let known: Vec<&str> = known.into_iter().collect();
        format!("labels: {}", known.join(", "))
    };
    Err(Error::Option(OptionError::Value {
        option: "group-by",
        problem: format!("no run has the label {unknown} ({there})"),
    }))
}

fn mean_cpu(runs: &[CpuByCore]) -> CpuByCore {
    let of = |part: fn(&CpuByCore) -> f64| mean(&runs.iter().map(part).collect::<Vec<_>>());
    CpuByCore {
        fastest: of(|cpu| cpu.fastest),
        others: of(|cpu| cpu.others),
    }
}

/// Values of labels, in an order that people expect: numbers by size, everything else as text.
#[derive(Debug, PartialEq, Eq)]
struct Values(Vec<String>);

impl Ord for Values {
    fn cmp(&self, other: &Self) -> Ordering {
        let pairs = self.0.iter().zip(&other.0);
        pairs
            .map(|(a, b)| by_size(a, b))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}

impl PartialOrd for Values {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares two values: numbers by size and before texts. Equal numbers in different spellings are
/// different values.
pub(super) fn by_size(a: &str, b: &str) -> Ordering {
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    match (number(a), number(b)) {
        (Some(x), Some(y)) => x.total_cmp(&y).then_with(|| a.cmp(b)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

impl Explanation {
    /// Returns the groups with the metric of their runs: its mean, median, spread and ends.
    #[must_use]
    pub fn group_rows(&self) -> Vec<GroupRow> {
        let groups = self.by_label.iter().flat_map(|by| &by.groups);
        groups.map(|group| self.group_row(group)).collect()
    }

    fn group_row(&self, group: &Group) -> GroupRow {
        let metrics = self.metrics(&group.places);
        let names = self.by_label.iter().flat_map(|by| &by.names);
        let named = names
            .zip(&group.values)
            .map(|(name, value)| format!("{name}={value}"));
        GroupRow {
            labels: named.collect::<Vec<_>>().join(", "),
            first: group.values.first().map_or_else(String::new, String::clone),
            second: group.values.get(1).cloned(),
            runs: i64::try_from(metrics.len()).unwrap_or(i64::MAX),
            mean_ms: mean(&metrics),
            median_ms: median(&metrics),
            spread_ms: spread(&metrics),
            min_ms: metrics.iter().copied().fold(f64::INFINITY, f64::min),
            max_ms: metrics.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            fastest_core_ms: group.cpu.map(|cpu| cpu.fastest),
            other_core_ms: group.cpu.map(|cpu| cpu.others),
        }
    }

    /// Returns the metrics of runs at these places among the measured ones.
    pub(super) fn metrics(&self, places: &[usize]) -> Vec<f64> {
        let metric = |place: &usize| {
            let run = self.measured.get(*place)?;
            runs::metric_of(&self.runs, *run)
        };
        places.iter().filter_map(metric).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_sorted_by_size_and_before_texts() {
        let mut values = ["12", "High", "4", "8", "4.0", "Below"];
        values.sort_by(|a, b| by_size(a, b));
        assert_eq!(values, ["4", "4.0", "8", "12", "Below", "High"]);
    }

    #[test]
    fn one_or_two_labels_are_accepted() {
        let asked = |names: Option<&str>| ExplainRequest {
            group_by: names.map(str::to_owned),
            ..ExplainRequest::default()
        };
        assert_eq!(
            asked(Some(" strategy ; priority;")).labels(),
            ["strategy", "priority"]
        );
        for good in [None, Some("a"), Some("a;b")] {
            assert!(asked(good).check_labels().is_ok(), "{good:?}");
        }
        for bad in ["", ";", "a;b;c"] {
            assert!(asked(Some(bad)).check_labels().is_err(), "{bad}");
        }
    }
}
