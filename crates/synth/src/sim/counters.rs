//! Performance counters of the processors, which switches carry.

use std::io::{Seek, Write};

use super::{Sim, kind};
use crate::Result;
use crate::plan::{Pace, Plan};
use crate::table::{Cpu, Program, Table, Thread};
use crate::tape::MICROSECOND;

/// Names of the counters, as Windows has them.
const NAMES: [&str; 4] = ["InstructionRetired", "TotalCycles", "LLCReference", "LLCMisses"];
/// What is counted while nothing runs that has a pace of its own.
const OTHERS: Pace = Pace { instructions: 1_100, cycles: 1_400, llc_references: 9, llc_misses: 3 };

/// Counters of a processor.
#[derive(Debug, Default)]
struct CpuCounters {
    values: [u64; 4],
    /// Time of the latest switch.
    switched: Option<i64>,
}

/// Counters of all processors; `None` where switches carry none.
#[derive(Debug)]
pub(super) struct CountersState(Option<Table<Cpu, CpuCounters>>);

impl CountersState {
    pub(super) fn new(plan: &Plan) -> Self {
        let cpus = (0..plan.cpus).map(|_| CpuCounters::default()).collect();
        Self((!plan.paces.is_empty()).then_some(cpus))
    }
}

impl<W: Write + Seek> Sim<W> {
    /// Logs which counters switches carry.
    pub(super) fn name_counters(&mut self) -> Result<()> {
        if self.counters.0.is_none() {
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

    /// The values that the switch carries which is written next; `thread` ran until now.
    pub(super) fn count(&mut self, cpu: Cpu, thread: Option<Thread>) -> Vec<u64> {
        let now = self.tape.next();
        let program = thread.map(|thread| self.plan.threads[thread].program);
        let own = self.plan.paces.iter().find(|(of, _)| Some(*of) == program);
        let pace = own.map_or(OTHERS, |(_, pace)| self.disturbed(program).unwrap_or(*pace));
        let (_, pid) = self.ids(thread);
        let Some(cpus) = &mut self.counters.0 else { return Vec::new() };
        let counters = &mut cpus[cpu];
        // Before the first switch they stood somewhere.
        let ticks = counters.switched.map_or(0x1234_5678, |switched| (now - switched) as u64);
        let per_us = [pace.instructions, pace.cycles, pace.llc_references, pace.llc_misses];
        let counted = per_us.map(|count| u64::from(count) * ticks / MICROSECOND as u64);
        counters.values.iter_mut().zip(counted).for_each(|(value, more)| *value += more);
        // What was counted before the first switch belongs to nobody: readers cannot know the value before it
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

    /// How fast the code of a program runs if another one runs that disturbs it.
    fn disturbed(&self, program: Option<Program>) -> Option<Pace> {
        let runs = |other| {
            // One that was only taken off its processor comes back soon.
            let current = self.cpus.iter().filter_map(|(_, cpu)| cpu.current);
            let mut could_run = current.chain(self.ready.iter().flatten().copied());
            could_run.any(|thread| self.plan.threads[thread].program == other)
        };
        let disturbed = &self.plan.disturbed;
        disturbed.iter().find(|(of, other, _)| Some(*of) == program && runs(*other)).map(|(.., pace)| *pace)
    }
}
