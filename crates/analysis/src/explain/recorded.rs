//! Missing topics of runs: they may be causes, but cannot be found.

use etwkit_sql::Session;

use super::feature::Name;
use super::load::each;
use crate::Result;

/// The topic of filter drivers.
const FILTERS: &str = "minifilter drivers";

/// Topics that features come from, and the knowledge that is missing without them.
const NEEDED: [(&str, &str); 11] = [
    ("CPU samples", "who used the CPU, by method and stack tag"),
    ("context switches", "waits and ready times"),
    ("stacks", "methods that waited, and stack tags"),
    ("disk I/O", "time and bytes of disks, by process and folder"),
    ("file I/O", "time and bytes of files, by process"),
    (FILTERS, "how long operations took in each filter driver"),
    ("hard faults", "pages that had to be read from a disk"),
    ("DNS queries", "names that were looked up"),
    (".NET", "garbage collections and compilation"),
    ("performance counters", "instructions and cycles"),
    ("power settings", "settings of the power scheme"),
];

etwkit_question::declare! {
    /// A topic in a run.
    row Topic {
        topic: String = "Topic.",
        runs: i64 = "Runs without it.",
        all_runs: i64 = "All runs.",
        recorded_by: Option<String> = "What records it.",
    }
}

/// Something that runs did not record.
#[derive(Debug, Clone)]
pub(super) struct Missing {
    pub(super) topic: String,
    /// The number of runs without it, and of all runs.
    pub(super) runs: i64,
    pub(super) all: i64,
    pub(super) means: &'static str,
    pub(super) recorded_by: Option<String>,
}

impl Missing {
    /// Returns `true` if stacks show what this topic would have shown: the cause is a wait for filter drivers.
    pub(super) fn is_shown_by<'n>(&self, mut causes: impl Iterator<Item = &'n Name>) -> bool {
        self.topic == FILTERS && causes.any(Name::is_wait_for_filters)
    }
}

const TOPICS: &str = "SELECT topic, count(*) FILTER (WHERE NOT is_recorded) AS runs,
  count(*) AS all_runs, max(recorded_by) AS recorded_by
FROM topic GROUP BY topic";

pub(super) fn missing(session: &Session) -> Result<Vec<Missing>> {
    let mut all = Vec::new();
    each(session, TOPICS, |row: Topic| {
        let place = NEEDED.iter().position(|(topic, _)| *topic == row.topic);
        if let Some((place, (_, means))) = place
            .and_then(|place| Some((place, NEEDED.get(place)?)))
            .filter(|_| row.runs > 0)
        {
            let Topic {
                topic,
                runs,
                all_runs,
                recorded_by,
            } = row;
            all.push((
                place,
                Missing {
                    topic,
                    runs,
                    all: all_runs,
                    means,
                    recorded_by,
                },
            ));
        }
    })?;
    all.sort_by_key(|(place, _)| *place);
    Ok(all.into_iter().map(|(_, missing)| missing).collect())
}

#[cfg(test)]
mod tests {
    use super::super::feature::{FeatureKind, Measure};
    use super::*;

    #[test]
    fn a_wait_for_filter_drivers_needs_no_events_of_them() {
        let missing = |topic: &str| Missing {
            topic: topic.to_owned(),
            runs: 1,
            all: 1,
            means: "",
            recorded_by: None,
        };
        let name = |kind, measure, what: &str| Name {
            kind,
            measure,
            what: what.to_owned(),
            process: None,
        };
        let shown = [
            name(
                FeatureKind::Method,
                Measure::Wait,
                "FLTMGR.SYS!FltSendMessage",
            ),
            name(
                FeatureKind::Tag,
                Measure::Wait,
                r"File System\Filter Manager",
            ),
        ];
        for name in &shown {
            assert!(missing(FILTERS).is_shown_by([name].into_iter()), "{name:?}");
            assert!(!missing("disk I/O").is_shown_by([name].into_iter()));
        }
        let other = [
            name(
                FeatureKind::Method,
                Measure::Cpu,
                "FLTMGR.SYS!FltSendMessage",
            ),
            name(FeatureKind::Method, Measure::Wait, "ntfs.sys!NtfsRead"),
        ];
        assert!(!missing(FILTERS).is_shown_by(other.iter()));
    }
}
