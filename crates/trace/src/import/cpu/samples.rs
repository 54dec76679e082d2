//! CPU samples.

use etwkit_decode::kernel::sample::{Interval, Sample, opcode};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;

use crate::declared::{Events, Topic, rows};
use crate::import::pipeline::{Context, Declaration, Importer, IsShown, waiting};
use crate::sink::Sink;
use crate::table::{
    CpuClass, CpuMethod, CpuMethodClass, CpuProcess, CpuSample, CpuStack, CpuTag, Row,
};

pub(crate) const DECLARATION: Declaration = Declaration {
    takes: &[Events::Kernel(
        group::PERFINFO,
        &[
            opcode::SAMPLE,
            opcode::INTERVAL_SET,
            opcode::INTERVAL_START,
            opcode::INTERVAL_END,
        ],
    )],
    tables: &[rows(CpuSample::TABLE)],
    topics: &[Topic {
        place: 10,
        name: "CPU samples",
        answers: "which code used the CPU",
        recorded_by: "PROFILE",
        events: &[Events::Kernel(group::PERFINFO, &[opcode::SAMPLE])],
        tables: &[
            CpuSample::TABLE,
            CpuStack::TABLE,
            CpuProcess::TABLE,
            CpuMethod::TABLE,
            CpuTag::TABLE,
            CpuClass::TABLE,
            CpuMethodClass::TABLE,
        ],
    }],
    make: |learned| Box::new(Samples::new(learned.collected.sample_interval)),
    ..Declaration::EMPTY
};

/// Interval of the sampling timer if no event gives it: the default of Windows, in units of 100 ns.
const DEFAULT_INTERVAL_100NS: u32 = 10_000;

/// The sampling timer.
#[derive(Debug)]
struct Samples {
    interval_ns: i64,
}

impl Samples {
    /// `first_interval` is the interval at the start of the trace, in units of 100 ns.
    fn new(first_interval: Option<u32>) -> Self {
        Self {
            interval_ns: ns(first_interval.unwrap_or(DEFAULT_INTERVAL_100NS)),
        }
    }

    fn sample(&self, sample: Sample, version: u8, event: &RawEvent<'_>, context: &mut Context<'_>) {
        let ts_ns = context.ns(event.timestamp);
        if !context.range.contains(ts_ns) {
            return;
        }
        let who = context.of_thread(sample.tid, event.timestamp);
        let row = CpuSample {
            ts_ns,
            cpu: event.cpu.into(),
            process_key: who.process_key(),
            thread_key: who.thread_key,
            weight_ns: i64::from(sample.count).saturating_mul(self.interval_ns),
            is_idle: sample.is_idle(),
            is_dpc_isr: sample.is_dpc_isr(),
            priority: (version >= 2).then(|| sample.priority().into()),
            ..CpuSample::default()
        };
        let row = waiting::row(row, move |row, stacks| {
            let sampled = stacks.sampled(sample.ip);
            (row.stack_id, row.has_stack) = (sampled.stack_id, sampled.has_stack);
            row.is_stack_incomplete = Some(sampled.is_incomplete);
        });
        context.wait(event.timestamp, Some(sample.tid), who.process, row);
    }
}

impl Importer for Samples {
    fn kernel(
        &mut self,
        hook: Hook,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> IsShown {
        if hook.opcode == opcode::SAMPLE {
            if let Some(sample) = Sample::parse(event.payload(), event.pointer_size()) {
                self.sample(sample, hook.version, event, context);
            }
        } else if hook.opcode == opcode::INTERVAL_SET
            && let Some(interval) = Interval::parse(event.payload()).filter(|i| i.source == 0)
        {
            self.interval_ns = ns(interval.new);
        }
        // Events that report the interval at both ends of a recording were read by the first pass.
        Ok(true)
    }
}

fn ns(interval_100ns: u32) -> i64 {
    i64::from(interval_100ns) * 100
}
