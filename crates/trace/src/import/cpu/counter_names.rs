//! Performance counters, as collected by the first pass: their names and intervals.

use std::collections::BTreeMap;

use etwkit_decode::kernel::counter::{self, CounterSample};
use etwkit_decode::kernel::sample::{self, Interval};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;

use crate::declared::Events;
use crate::table::PmcCounter;

/// Events about counters.
pub(crate) const LEARNS: &[Events] = &[
    Events::Kernel(
        group::PERFINFO,
        &[counter::opcode::CONFIG, counter::opcode::SAMPLE],
    ),
    Events::Kernel(group::PERFINFO, sample::INTERVALS),
];

/// Sources of samples that are remembered; processors have some dozens.
const MAX_SOURCES: usize = 4096;

/// Names and intervals of counters, collected by the first pass.
#[derive(Debug, Default, Clone)]
pub(crate) struct CounterNames {
    /// Names of the values that events carry.
    counted: Vec<String>,
    /// Sources of samples: name and interval at the start of the trace.
    sources: BTreeMap<u32, (Option<String>, Option<u32>)>,
}

impl CounterNames {
    /// Takes an event of the first pass.
    #[inline]
    pub(crate) fn observe(&mut self, hook: Hook, event: &RawEvent<'_>) {
        match (hook.group, hook.opcode) {
            (group::PERFINFO, counter::opcode::CONFIG) if self.counted.is_empty() => {
                self.counted = counter::names(event.payload());
            }
            (group::PERFINFO, counter::opcode::SAMPLE) => {
                let sample = CounterSample::parse(event.payload(), event.pointer_size());
                if let Some(sample) = sample.filter(|_| self.sources.len() < MAX_SOURCES) {
                    self.sources.entry(sample.source.into()).or_default();
                }
            }
            (group::PERFINFO, op) if sample::is_interval(op) => {
                self.interval(hook, event.payload());
            }
            _ => {}
        }
    }

    fn interval(&mut self, hook: Hook, payload: &[u8]) {
        let Some(interval) = Interval::parse(payload).filter(|i| i.source != 0) else {
            return;
        };
        if self.sources.len() >= MAX_SOURCES {
            return;
        }
        let known = self.sources.entry(interval.source).or_default();
        if known.0.is_none() {
            known.0 = counter::interval_source_name(payload, hook.version);
        }
        // If only a change is reported, the interval before it was in force at the start of the
        // trace.
        let first = if hook.opcode == sample::opcode::INTERVAL_SET {
            interval.old
        } else {
            Some(interval.new)
        };
        known.1 = known.1.or(first.filter(|interval| *interval > 0));
    }

    /// Name of a source from the trace, otherwise from the numbering of Windows.
    pub(crate) fn name(&self, source: u32) -> String {
        let recorded = self.sources.get(&source).and_then(|(name, _)| name.clone());
        recorded
            .or_else(|| counter::source_name(source).map(str::to_owned))
            .unwrap_or_else(|| format!("source {source}"))
    }

    /// The rows of `pmc_counter`. `values` is the maximum number of values in an event.
    pub(crate) fn rows(&self, values: usize) -> Vec<PmcCounter> {
        let count = self.counted.len().max(values);
        let counted = (0..).take(count).map(|position: i32| PmcCounter {
            position: Some(position),
            // Without the event that names the counters, only their positions are known.
            name: self
                .counted
                .get(position as usize)
                .cloned()
                .unwrap_or_else(|| format!("counter {position}")),
            ..PmcCounter::default()
        });
        let sampled = self
            .sources
            .iter()
            .map(|(source, (_, interval))| PmcCounter {
                source: i32::try_from(*source).ok(),
                name: self.name(*source),
                interval: interval.map(Into::into),
                position: None,
            });
        counted.chain(sampled).collect()
    }
}

impl CounterNames {
    /// True if the first pass found the source.
    pub(crate) fn knows(&self, source: u32) -> bool {
        self.sources.contains_key(&source)
    }

    /// Interval of a source at the start of the trace.
    pub(crate) fn interval_of(&self, source: u32) -> Option<u32> {
        self.sources
            .get(&source)
            .and_then(|(_, interval)| *interval)
    }
}
