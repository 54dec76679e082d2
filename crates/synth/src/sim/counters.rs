//! Performance counters of the processors, which switches carry.

use std::io::{Seek, Write};

use super::{Sim, kind};
use crate::Result;
use crate::plan::{Pace, Plan};
use crate::table::{Cpu, Table, Thread};
use crate::tape::MICROSECOND;

/// Names of the counters, as Windows has them.
const NAMES: [&str; 4] = [
    "InstructionRetired",
    "TotalCycles",
    "LLCReference",
    "LLCMisses",
];
/// Counts of code without a pace of its own.
const OTHERS: Pace = Pace {
    instructions: 1_100,
    cycles: 1_400,
    llc_references: 9,
    llc_misses: 3,
};

/// Counters of a processor.
#[derive(Debug, Default)]
struct CpuCounters {
    values: [u64; 4],
    /// Time of the latest switch.
    switched: Option<i64>,
    /// Time since then in which its thread was disturbed.
    disturbed: i64,
}

/// Counters of all processors, if switches carry some.
#[derive(Debug)]
pub(super) struct CountersState {
    cpus: Option<Table<Cpu, CpuCounters>>,
    /// Time of the latest switch of any processor.
    switched: i64,
}

impl CountersState {
    pub(super) fn new(plan: &Plan) -> Self {
        let cpus = (0..plan.cpus).map(|_| CpuCounters::default()).collect();
        Self {
            cpus: (!plan.paces.is_empty()).then_some(cpus),
            switched: 0,
        }
    }
}

impl<W: Write + Seek> Sim<W> {
    /// Logs the names of the counters that switches carry.
    pub(super) fn name_counters(&mut self) -> Result<()> {
        if self.counters.cpus.is_none() {
            return Ok(());
        }
        self.tape.kernel(0, kind::COUNTER_NAMES, None, |p| {
            p.u32(NAMES.len() as u32);
            NAMES.iter().for_each(|name| {
                p.wide(name);
            });
        })?;
        Ok(())
    }

    /// Returns the counter values for the next switch; `thread` ran until now.
    pub(super) fn count(&mut self, cpu: Cpu, thread: Option<Thread>) -> Vec<u64> {
        let now = self.tape.next();
        let program = thread.map(|thread| self.plan.threads[thread].program);
        self.note_disturbed(now);
        let own = self
            .plan
            .paces
            .iter()
            .find(|(of, _)| Some(*of) == program)
            .map_or(OTHERS, |(_, pace)| *pace);
        let disturbed = self
            .plan
            .disturbed
            .iter()
            .find(|(of, ..)| Some(*of) == program);
        let disturbed = disturbed.map_or(own, |(.., pace)| *pace);
        let (_, pid) = self.ids(thread);
        let Some(cpus) = &mut self.counters.cpus else {
            return Vec::new();
        };
        let counters = &mut cpus[cpu];
        // Real counters have counted since the processor started: the first value is not 0, which
        // exposes a reader that takes it for a difference.
        let ticks = counters
            .switched
            .map_or(0x1234_5678, |switched| now - switched);
        // The slice is counted in two parts at two paces, since a thread can be disturbed for a
        // part of it only.
        let slow = std::mem::take(&mut counters.disturbed);
        let parts = [own.counts(ticks - slow), disturbed.counts(slow)];
        let counted = std::array::from_fn(|counter| {
            parts
                .iter()
                .filter_map(|part| part.get(counter))
                .sum::<u64>()
        });
        counters
            .values
            .iter_mut()
            .zip(counted)
            .for_each(|(value, more)| *value += more);
        // Counts before the first switch are not attributed: readers cannot know the earlier value
        // either.
        if counters.switched.replace(now).is_some() {
            let sums = self.truth.counters.entry(pid.to_string()).or_default();
            let [instructions, cycles, llc_references, llc_misses] = counted;
            sums.slices += 1;
            sums.instructions += instructions;
            sums.cycles += cycles;
            sums.llc_references += llc_references;
            sums.llc_misses += llc_misses;
        }
        counters.values.to_vec()
    }

    /// Adds the time since the latest switch to the processors whose threads were disturbed in it:
    /// the running threads change only at switches, and a slice can be partly disturbed.
    fn note_disturbed(&mut self, now: i64) {
        let threads = self
            .cpus
            .iter()
            .filter_map(|(cpu, state)| Some((cpu, state.current?)));
        let disturbed: Vec<Cpu> = threads
            .filter(|(_, thread)| self.is_disturbed(*thread))
            .map(|(cpu, _)| cpu)
            .collect();
        let since = std::mem::replace(&mut self.counters.switched, now);
        let Some(cpus) = &mut self.counters.cpus else {
            return;
        };
        disturbed
            .into_iter()
            .for_each(|cpu| cpus[cpu].disturbed += now - since);
    }

    /// True if a program that disturbs the thread's program is running.
    fn is_disturbed(&self, thread: Thread) -> bool {
        let program = self.plan.threads[thread].program;
        let runs = |other| {
            // A preempted thread comes back soon.
            let current = self.cpus.iter().filter_map(|(_, cpu)| cpu.current);
            let mut could_run = current.chain(self.ready.iter().flatten().copied());
            could_run.any(|thread| self.plan.threads[thread].program == other)
        };
        self.plan
            .disturbed
            .iter()
            .any(|(of, other, _)| *of == program && runs(*other))
    }
}

impl Pace {
    /// Returns the counts for a number of ticks, in the order of the names.
    fn counts(self, ticks: i64) -> [u64; 4] {
        let per_us = [
            self.instructions,
            self.cycles,
            self.llc_references,
            self.llc_misses,
        ];
        per_us.map(|count| u64::from(count) * ticks.unsigned_abs() / MICROSECOND as u64)
    }
}
