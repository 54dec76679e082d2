//! CPU samples.

use etwkit_decode::kernel::Hook;
use etwkit_decode::kernel::sample::{Interval, Sample, opcode};
use etwkit_etl::RawEvent;

use super::context::{Context, Pending};
use crate::table::CpuSample;

/// Interval of the sampling timer if no event tells it: the default of Windows, in units of 100 ns.
const DEFAULT_INTERVAL_100NS: u32 = 10_000;

/// The sampling timer.
#[derive(Debug)]
pub(super) struct Samples {
    interval_ns: i64,
}

impl Samples {
    /// `first_interval` is that of the start of the trace, in units of 100 ns.
    pub(super) fn new(first_interval: Option<u32>) -> Self {
        Self { interval_ns: ns(first_interval.unwrap_or(DEFAULT_INTERVAL_100NS)) }
    }

    /// Takes a sample or a change of the interval.
    pub(super) fn event(&mut self, hook: Hook, event: &RawEvent<'_>, context: &mut Context<'_>) {
        if hook.opcode == opcode::SAMPLE {
            if let Some(sample) = Sample::parse(event.payload(), event.pointer_size()) {
                self.sample(sample, hook.version, event, context);
            }
        } else if hook.opcode == opcode::INTERVAL_SET
            && let Some(interval) = Interval::parse(event.payload()).filter(|i| i.source == 0)
        {
            self.interval_ns = ns(interval.new);
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
        let row = Pending::Sample(row, sample.ip);
        context.wait(event.timestamp, Some(sample.tid), who.process, row);
    }
}

fn ns(interval_100ns: u32) -> i64 {
    i64::from(interval_100ns) * 100
}
