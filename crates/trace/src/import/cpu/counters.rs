//! Samples caused by performance counters, branch records, and the names of counters. Counts
//! between context switches are written with the switches (`switches`).

use std::sync::Arc;

use etwkit_decode::kernel::counter::{self, BranchOwner, CounterSample, opcode};
use etwkit_decode::kernel::sample::{self, Interval};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;
use rustc_hash::FxHashMap;

use super::counter_names::CounterNames;
use crate::declared::{Events, rows, sums};
use crate::import::pipeline::{Context, Declaration, Importer, IsShown, Learned, waiting};
use crate::sink::{Sink, SinkError};
use crate::table::{Lbr, Pmc, PmcCounter, PmcSample, Row};

pub(crate) const DECLARATION: Declaration = Declaration {
    takes: &[
        Events::Kernel(group::PERFINFO, &[opcode::SAMPLE, opcode::CONFIG]),
        Events::Kernel(group::BRANCH, &[opcode::BRANCHES]),
    ],
    hears: &[Events::Kernel(
        group::PERFINFO,
        &[sample::opcode::INTERVAL_SET],
    )],
    tables: &[
        sums(PmcCounter::TABLE),
        rows(Pmc::TABLE),
        rows(PmcSample::TABLE),
        rows(Lbr::TABLE),
    ],
    make: |learned| Box::new(Counters::new(&learned.collected.counters)),
    ..Declaration::EMPTY
};

/// Follows the intervals of samples.
struct Counters<'n> {
    names: &'n CounterNames,
    /// Name and current interval of each source.
    sources: FxHashMap<u32, (Arc<str>, Option<u32>)>,
}

impl<'n> Counters<'n> {
    fn new(names: &'n CounterNames) -> Self {
        Self {
            names,
            sources: FxHashMap::default(),
        }
    }

    fn source(&mut self, source: u32) -> &mut (Arc<str>, Option<u32>) {
        let names = self.names;
        let known = self.sources.entry(source);
        known.or_insert_with(|| (Arc::from(names.name(source)), names.interval_of(source)))
    }

    fn sample(&mut self, sample: CounterSample, event: &RawEvent<'_>, context: &mut Context<'_>) {
        let ts_ns = context.ns(event.timestamp);
        // Checked before the thread is looked up, which costs more.
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
            // The stack comes later; these are the values of a sample without one.
            stack_id: 0,
            has_stack: false,
            is_stack_incomplete: None,
        };
        let row = waiting::row(row, move |row, stacks| {
            let sampled = stacks.sampled(sample.ip);
            (row.stack_id, row.has_stack) = (sampled.stack_id, sampled.has_stack);
            row.is_stack_incomplete = Some(sampled.is_incomplete);
        });
        context.wait(event.timestamp, Some(sample.tid), who.process, row);
    }
}

impl Importer for Counters<'_> {
    fn kernel(
        &mut self,
        hook: Hook,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> IsShown {
        if hook.group == group::BRANCH {
            return branches(event, context);
        }
        if hook.opcode == opcode::SAMPLE {
            let sample = CounterSample::parse(event.payload(), event.pointer_size());
            let Some(sample) = sample else {
                return Ok(false);
            };
            self.sample(sample, event, context);
        }
        // Names of counters were read by the first pass.
        Ok(true)
    }

    /// Notes a change of an interval.
    fn hear(
        &mut self,
        _: Option<Hook>,
        event: &RawEvent<'_>,
        _: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        // Source 0 is the timer of the CPU samples, whose interval is kept elsewhere.
        let interval = Interval::parse(event.payload()).filter(|i| i.source != 0);
        // The event reports the change of any source, also of those that this trace does not
        // sample.
        if let Some(interval) = interval.filter(|i| self.names.knows(i.source)) {
            self.source(interval.source).1 = Some(interval.new);
        }
        Ok(())
    }

    fn finish(
        self: Box<Self>,
        _: Learned<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        // Written at the end, because names and intervals may be logged at the end of the
        // recording.
        let rows = self.names.rows(context.counted_values);
        rows.iter()
            .try_for_each(|row| context.tables.push(row, sink))
    }
}

/// Takes a branch record. Returns whether it is one.
fn branches(event: &RawEvent<'_>, context: &mut Context<'_>) -> IsShown {
    let payload = event.payload();
    let Some(owner) = BranchOwner::parse(payload) else {
        return Ok(false);
    };
    let branches = counter::branches(payload, event.pointer_size());
    if branches.is_empty() || !context.range.contains(context.ns(owner.timestamp)) {
        return Ok(!branches.is_empty());
    }
    let of_thread = context
        .directory
        .process_of_thread(owner.tid, owner.timestamp);
    let process = of_thread.or_else(|| context.directory.process_at(owner.pid, owner.timestamp));
    context.branches(owner.timestamp, process, branches.into())?;
    Ok(true)
}
