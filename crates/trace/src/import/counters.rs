//! Performance counters: differences between context switches of a processor, samples that counters caused, branch records.

use std::collections::BTreeMap;
use std::sync::Arc;

use etwkit_decode::kernel::counter::{self, BranchOwner, CounterSample, MAX_COUNTERS};
use etwkit_decode::kernel::sample::{self, Interval};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;
use rustc_hash::FxHashMap;

use super::context::{Context, Pending};
use crate::sink::SinkError;
use crate::table::{Pmc, PmcCounter, PmcSample};

/// Values of a processor's counters.
type Values = [Option<u64>; MAX_COUNTERS];

/// How far each counter of a processor went.
pub(super) type Deltas = [Option<i64>; MAX_COUNTERS];

/// Sources of samples that are remembered; there are some dozens.
const MAX_SOURCES: usize = 4096;

/// Counters are at least that many bits wide; where fewer are used, a value that ran over is that much too small.
const WIDTH: u32 = 48;

/// What the first walk learns about counters.
#[derive(Debug, Default, Clone)]
pub(super) struct CounterNames {
    /// Names of the values that events carry.
    counted: Vec<String>,
    /// Sources of samples: name and interval when the trace began.
    sources: BTreeMap<u32, (Option<String>, Option<u32>)>,
}

impl CounterNames {
    /// Takes an event of the first walk.
    #[inline]
    pub(super) fn observe(&mut self, hook: Hook, event: &RawEvent<'_>) {
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
            (group::PERFINFO, 72..=74) => self.interval(hook, event.payload()),
            _ => {}
        }
    }

    fn interval(&mut self, hook: Hook, payload: &[u8]) {
        let Some(interval) = Interval::parse(payload).filter(|i| i.source != 0) else { return };
        if self.sources.len() >= MAX_SOURCES {
            return;
        }
        let known = self.sources.entry(interval.source).or_default();
        if known.0.is_none() {
            known.0 = counter::interval_source_name(payload, hook.version);
        }
        // Where only a change is told, what was in force before it.
        let first = if hook.opcode == sample::opcode::INTERVAL_SET { interval.old } else { interval.new };
        known.1 = known.1.or(Some(first).filter(|interval| *interval > 0));
    }

    fn name(&self, source: u32) -> String {
        let told = self.sources.get(&source).and_then(|(name, _)| name.clone());
        told.or_else(|| counter::source_name(source).map(str::to_owned))
            .unwrap_or_else(|| format!("source {source}"))
    }

    /// The rows of `pmc_counter`, where events carry up to `values` values.
    pub(super) fn rows(&self, values: usize) -> Vec<PmcCounter> {
        let count = self.counted.len().max(values);
        let counted = (0..).take(count).map(|position: i32| PmcCounter {
            position: Some(position),
            // Without the event that names them they only have their positions.
            name: self
                .counted
                .get(position as usize)
                .cloned()
                .unwrap_or_else(|| format!("counter {position}")),
            ..PmcCounter::default()
        });
        let sampled = self.sources.iter().map(|(source, (_, interval))| PmcCounter {
            source: i32::try_from(*source).ok(),
            name: self.name(*source),
            interval: interval.map(Into::into),
            position: None,
        });
        counted.chain(sampled).collect()
    }
}

/// Follows the counters.
pub(super) struct Counters<'n> {
    names: &'n CounterNames,
    /// Values at the last context switch of each processor.
    last: FxHashMap<u16, Values>,
    /// Values that an event carried at most.
    pub(super) values: usize,
    /// Name and interval in force of the sources that were met.
    sources: FxHashMap<u32, (Arc<str>, Option<u32>)>,
}

impl<'n> Counters<'n> {
    pub(super) fn new(names: &'n CounterNames) -> Self {
        Self { names, last: FxHashMap::default(), values: 0, sources: FxHashMap::default() }
    }

    /// Takes the values of a context switch. Gives the differences to the one before on this processor, if there are any.
    #[inline]
    pub(super) fn switch(&mut self, event: &RawEvent<'_>) -> Option<Deltas> {
        let mut now = Values::default();
        now.iter_mut().zip(event.pmc_values()).for_each(|(slot, value)| *slot = Some(value));
        if now == Values::default() {
            return None;
        }
        self.values = self.values.max(now.iter().flatten().count());
        let before = self.last.insert(event.cpu, now)?;
        let mut deltas: Deltas = [None; MAX_COUNTERS];
        for (delta, (before, now)) in deltas.iter_mut().zip(before.into_iter().zip(now)) {
            *delta = before.zip(now).and_then(|(before, now)| difference(before, now));
        }
        deltas.iter().any(Option::is_some).then_some(deltas)
    }

    /// Forgets a processor: events are missing, or somebody changed its counters.
    pub(super) fn forget(&mut self, cpu: u16) {
        self.last.remove(&cpu);
    }

    /// Takes an event of the group of samples. Returns whether a table shows it.
    pub(super) fn event(&mut self, hook: Hook, event: &RawEvent<'_>, context: &mut Context<'_>) -> bool {
        let payload = event.payload();
        match hook.opcode {
            counter::opcode::CONFIG => true,
            counter::opcode::CORRUPTION => {
                let cpu = counter::corrupted_processor(payload).and_then(|cpu| u16::try_from(cpu).ok());
                cpu.into_iter().for_each(|cpu| self.forget(cpu));
                // When they were right for the last time only the event tells.
                false
            }
            counter::opcode::SAMPLE => {
                let Some(sample) = CounterSample::parse(payload, event.pointer_size()) else { return false };
                self.sample(sample, event, context);
                true
            }
            _ => false,
        }
    }

    /// Takes a change of an interval.
    pub(super) fn interval_set(&mut self, payload: &[u8]) {
        let Some(interval) = Interval::parse(payload).filter(|i| i.source != 0) else { return };
        if self.names.sources.contains_key(&interval.source) {
            self.source(interval.source).1 = Some(interval.new);
        }
    }

    fn source(&mut self, source: u32) -> &mut (Arc<str>, Option<u32>) {
        let names = self.names;
        self.sources.entry(source).or_insert_with(|| {
            (Arc::from(names.name(source)), names.sources.get(&source).and_then(|(_, interval)| *interval))
        })
    }

    fn sample(&mut self, sample: CounterSample, event: &RawEvent<'_>, context: &mut Context<'_>) {
        let ts_ns = context.ns(event.timestamp);
        if !context.range.contains(ts_ns) {
            return;
        }
        let (counter, interval) = self.source(sample.source.into()).clone();
        let who = context.of_thread(sample.tid, event.timestamp);
        let row = PmcSample {
            ts_ns,
            cpu: event.cpu.into(),
            process_key: who.process_key(),
            thread_key: who.thread_key,
            counter,
            interval: interval.map(Into::into),
            stack_id: 0,
            has_stack: false,
            is_stack_incomplete: None,
        };
        let row = Pending::PmcSample(Box::new(row), sample.ip);
        context.wait(event.timestamp, Some(sample.tid), who.process, row);
    }
}

/// The row of a stay.
pub(super) fn row(values: Deltas) -> Pmc {
    let [value_0, value_1, value_2, value_3, value_4, value_5, value_6] = values;
    Pmc { value_0, value_1, value_2, value_3, value_4, value_5, value_6, ..Pmc::default() }
}

/// How far a counter went. One that ran over began again at 0; what went back any further was set by somebody, and tells nothing.
fn difference(before: u64, now: u64) -> Option<i64> {
    let forward = match now.checked_sub(before) {
        Some(forward) => forward,
        None if before >> WIDTH == 0 => (now + (1 << WIDTH)).checked_sub(before)?,
        None => return None,
    };
    i64::try_from(forward).ok().filter(|forward| forward >> (WIDTH - 1) == 0)
}

/// Takes a branch record. Returns whether it is one.
pub(super) fn branches(
    hook: Hook,
    event: &RawEvent<'_>,
    context: &mut Context<'_>,
) -> Result<bool, SinkError> {
    let payload = event.payload();
    let Some(owner) = BranchOwner::parse(payload).filter(|_| hook.opcode == counter::opcode::BRANCHES) else {
        return Ok(false);
    };
    let branches = counter::branches(payload, event.pointer_size());
    if branches.is_empty() || !context.range.contains(context.ns(owner.timestamp)) {
        return Ok(!branches.is_empty());
    }
    let of_thread = context.directory.process_of_thread(owner.tid, owner.timestamp);
    let process = of_thread.or_else(|| context.directory.process_at(owner.pid, owner.timestamp));
    context.branches(owner.timestamp, process, branches.into())?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_ran_over_goes_on_and_one_that_was_set_back_tells_nothing() {
        let top = (1u64 << WIDTH) - 1;
        for (before, now, want) in [
            (5, 12, Some(7)),
            (5, 5, Some(0)),
            (top, 4, Some(5)),
            (1000, 999, None),
            (0, u64::MAX, None),
            (u64::MAX, 0, None),
        ] {
            assert_eq!(difference(before, now), want, "{before} {now}");
        }
    }
}
