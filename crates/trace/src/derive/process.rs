//! Sums of the CPU use of a process.

use std::collections::BTreeSet;

use etwkit_base::digits::ranges;
use rustc_hash::FxHashSet;

use super::plus;
use crate::table::CpuProcess;

/// Sums for a process.
#[derive(Debug, Default)]
pub(super) struct ProcessSum {
    pub(super) samples: i64,
    pub(super) cpu_ns: i64,
    pub(super) dpc_isr_cpu_ns: i64,
    pub(super) run_ns: i64,
    /// The part of `run_ns` spent in DPCs and interrupts; `None` if no slice of the process has it.
    pub(super) dpc_isr_ns: Option<i64>,
    pub(super) wait_sum_ns: i64,
    pub(super) ready_sum_ns: i64,
    pub(super) switches: i64,
    pub(super) preemptions: i64,
    pub(super) rows: usize,
    pub(super) threads: FxHashSet<i32>,
    pub(super) sampled_cores: BTreeSet<i32>,
    pub(super) switched_cores: BTreeSet<i32>,
    /// Sum and number of the priorities of samples, and of switch-ins weighted by time.
    pub(super) sampled_priority: (f64, f64),
    pub(super) switched_priority: (f64, f64),
    /// First and last time of a sample or a run.
    seen: Option<(i64, i64)>,
    /// Start and end of the time that threads were off the processors without a run after it.
    off: Option<(i64, i64)>,
}

impl ProcessSum {
    /// Adds the sums of switches to the sums of samples.
    pub(super) fn add(&mut self, other: Self) {
        self.samples += other.samples;
        self.cpu_ns = self.cpu_ns.saturating_add(other.cpu_ns);
        self.dpc_isr_cpu_ns = self.dpc_isr_cpu_ns.saturating_add(other.dpc_isr_cpu_ns);
        self.run_ns = self.run_ns.saturating_add(other.run_ns);
        if let Some(interrupted) = other.dpc_isr_ns {
            self.dpc_isr_ns = Some(plus(interrupted, self.dpc_isr_ns));
        }
        self.wait_sum_ns = self.wait_sum_ns.saturating_add(other.wait_sum_ns);
        self.ready_sum_ns = self.ready_sum_ns.saturating_add(other.ready_sum_ns);
        self.switches += other.switches;
        self.preemptions += other.preemptions;
        self.rows += other.rows;
        self.threads.extend(other.threads);
        self.sampled_cores.extend(other.sampled_cores);
        self.switched_cores.extend(other.switched_cores);
        for (own, other) in [
            (&mut self.sampled_priority, other.sampled_priority),
            (&mut self.switched_priority, other.switched_priority),
        ] {
            (own.0, own.1) = (own.0 + other.0, own.1 + other.1);
        }
        if let Some((first, last)) = other.seen {
            self.saw(first, last);
        }
        if let Some((start, end)) = other.off {
            self.was_off(start, end);
        }
    }

    pub(super) fn saw(&mut self, first: i64, last: i64) {
        self.seen = Some(around(self.seen, first, last));
    }

    pub(super) fn was_off(&mut self, start: i64, end: i64) {
        self.off = Some(around(self.off, start, end));
    }
}

/// The shortest range with the known range and two times.
fn around(known: Option<(i64, i64)>, start: i64, end: i64) -> (i64, i64) {
    known.map_or((start, end), |(first, last)| {
        (first.min(start), last.max(end))
    })
}

/// The row of a process; `wait` and `ready` are the lengths of their unions.
pub(super) fn row(
    process_key: Option<i32>,
    sum: &ProcessSum,
    has_switches: bool,
    wait: i64,
    ready: i64,
) -> CpuProcess {
    let switched = |value: i64| has_switches.then_some(value);
    // Switches show every processor, samples only those at which the timer fired.
    let cores = if sum.switched_cores.is_empty() {
        &sum.sampled_cores
    } else {
        &sum.switched_cores
    };
    let mean = |(sum, n): (f64, f64)| (n > 0.0).then(|| sum / n);
    // A process that only waits has the times of its waits. Only rows of a damaged file have none.
    let (first_ns, last_ns) = sum.seen.or(sum.off).unwrap_or_default();
    CpuProcess {
        process_key,
        samples: sum.samples,
        cpu_ns: sum.cpu_ns,
        dpc_isr_cpu_ns: Some(sum.dpc_isr_cpu_ns),
        run_ns: switched(sum.run_ns),
        dpc_isr_ns: sum.dpc_isr_ns,
        wait_ns: switched(wait),
        ready_ns: switched(ready),
        wait_sum_ns: switched(sum.wait_sum_ns),
        ready_sum_ns: switched(sum.ready_sum_ns),
        switches: switched(sum.switches),
        preemptions: switched(sum.preemptions),
        threads: sum.threads.len() as i64,
        priority: mean(sum.sampled_priority).or(mean(sum.switched_priority)),
        cores: ranges(cores),
        core_count: cores.len() as i32,
        first_ns,
        last_ns,
    }
}
