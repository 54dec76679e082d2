//! Cards: one cause of slowness each, planted into a machine, with a healthy twin in which the same
//! actors have the same load without the defect.
//!
//! Names of companies, programs, drivers, files and hosts are made up anew for each seed. The cost
//! of a defect is the additional time, compared with the twin, of the operation that the user waits
//! for. With two causes in one trace, each is measured against the trace that has only the other
//! one.

mod amsi_scan;
mod antivirus_cpu;
mod busy_disk;
mod cache_absorbs;
mod certificate_wait;
mod cfg_start;
mod cpi;
mod decoys;
mod dns_timeout;
mod dpc_storm;
mod driver_callback;
mod filter_scan;
mod gc_pause;
mod hard_faults;
mod jit_start;
mod kernel_session;
mod lock_convoy;
mod logger_taken;
mod low_priority_io;
mod low_priority_lock;
mod names;
mod network_share;
mod ntfs_checkpoint;
mod object_leak;
mod odd_status;
mod parked_processors;
mod pool_starvation;
mod proxy_search;
mod registry_storm;
mod requests;
mod retransmits;
mod rundown_stall;
mod samples_missing;
mod scene;
mod slow_disk;
mod slow_server;
mod spin;
mod start_after_download;
mod start_loop;
mod switch_cpu_only;
mod syscall_tax;
mod timer_resolution;
mod tracing_cost;
mod ui_hang;
mod undecoded_events;
mod unused_start;
mod user_lock;
mod write_cache_off;
mod write_throttle;
mod wrong_cores;
mod zombies;

use std::io::{Seek, Write};

use crate::plan::Plan;
use crate::sim::Sim;
use crate::symbols::{self, SymbolFile};
use crate::truth::{self, Cause, Truth, Victim};
use crate::{Options, Result};
use scene::{Planted, Scene};

/// Requirements for naming the cause of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// The culprit, the victim, and the cost.
    WithCost,
    /// Only the culprit, with the reason why one trace shows no cost.
    WithoutCost(&'static str),
}

/// A cause of slowness.
#[derive(Debug)]
pub struct Card {
    /// Its number among the cards.
    pub number: u8,
    /// Its name.
    pub name: &'static str,
    /// The rule that finds it.
    pub rule: &'static str,
    /// Description of the events.
    pub description: &'static str,
    /// Requirements for naming the cause.
    pub named: Named,
    seconds: u32,
    plant: fn(&mut Scene) -> Planted,
}

/// All cards, by number.
pub static CARDS: &[Card] = &[
    filter_scan::CARD,
    user_lock::CARD,
    cfg_start::CARD,
    write_cache_off::CARD,
    low_priority_io::CARD,
    wrong_cores::CARD,
    odd_status::CARD,
    undecoded_events::CARD,
    syscall_tax::CARD,
    logger_taken::CARD,
    spin::CARD,
    ntfs_checkpoint::CARD,
    antivirus_cpu::CARD,
    hard_faults::CARD,
    cpi::CARD,
    cache_absorbs::CARD,
    dns_timeout::CARD,
    object_leak::CARD,
    ui_hang::CARD,
    start_after_download::CARD,
    unused_start::CARD,
    switch_cpu_only::CARD,
    registry_storm::CARD,
    tracing_cost::CARD,
    network_share::CARD,
    certificate_wait::CARD,
    zombies::CARD,
    timer_resolution::CARD,
    dpc_storm::CARD,
    jit_start::CARD,
    lock_convoy::CARD,
    low_priority_lock::CARD,
    samples_missing::CARD,
    rundown_stall::CARD,
    busy_disk::CARD,
    slow_disk::CARD,
    gc_pause::CARD,
    pool_starvation::CARD,
    parked_processors::CARD,
    driver_callback::CARD,
    retransmits::CARD,
    write_throttle::CARD,
    slow_server::CARD,
    proxy_search::CARD,
    start_loop::CARD,
    amsi_scan::CARD,
];

/// Returns the card of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Card> {
    CARDS.iter().find(|card| card.name == name)
}

/// A trace with planted causes.
#[derive(Debug, Clone)]
pub struct Case {
    /// The causes.
    pub cards: Vec<&'static Card>,
    /// Strength of the causes: 100 as a person would notice, 50 is weak, 200 strong.
    pub strength_percent: u32,
    /// Other seeds give other names, numbers and noise.
    pub seed: u64,
    /// Processors.
    pub cpus: u16,
    /// The twin: the same actors with the same load, and no defect.
    pub is_healthy: bool,
    /// Harmless things that look bad also happen.
    pub has_decoys: bool,
    /// Seed for random names of companies, programs, drivers, files and hosts, in place of the
    /// names from [`Case::seed`]. Everything else stays the same.
    pub renamed: Option<u64>,
}

impl Case {
    /// Creates a case with these causes, as strong as a person would notice, among decoys.
    #[must_use]
    pub const fn new(cards: Vec<&'static Card>, seed: u64) -> Self {
        Self {
            cards,
            strength_percent: 100,
            seed,
            cpus: 4,
            is_healthy: false,
            has_decoys: true,
            renamed: None,
        }
    }

    /// Writes the trace. Returns the sink, positioned after the trace, and the truth about it:
    /// [`Truth::causes`] of a twin is empty.
    ///
    /// # Errors
    /// As [`Scenario::write`](crate::Scenario::write).
    pub fn write<W: Write + Seek>(&self, sink: W) -> Result<(W, Truth)> {
        let sick = vec![!self.is_healthy; self.cards.len()];
        let (plan, planted) = Scene::play(self, &sick);
        // Before the plan goes into the simulation, since ids and names are in the plan.
        let victims: Vec<Vec<Victim>> = planted
            .iter()
            .map(|planted| victims(&plan, planted))
            .collect();
        let (sink, mut truth) = self.simulate(plan, sink)?;
        let planted = planted.into_iter().zip(victims);
        for (at, (card, (planted, victims))) in self.cards.iter().zip(planted).enumerate() {
            if self.is_healthy {
                continue;
            }
            let cost = self.cost(at, &truth)?;
            truth.causes.push(Cause {
                card: card.number,
                rule: card.rule.to_owned(),
                culprit: planted.culprit,
                victims,
                cost_ns: (card.named == Named::WithCost).then_some(cost),
                acted: truth.acted.get(card.name).copied(),
            });
        }
        truth.made = truth::Made {
            format_version: truth::FORMAT_VERSION,
            scenario: self.name(),
            scale: 1,
            seed: self.seed,
            compressed: false,
        };
        Ok((sink, truth))
    }

    /// Returns the names of its cards, with `+` between them.
    #[must_use]
    pub fn name(&self) -> String {
        self.cards
            .iter()
            .map(|card| card.name)
            .collect::<Vec<_>>()
            .join("+")
    }

    /// Returns the symbol files of the images; third-party drivers have none.
    #[must_use]
    pub fn symbols(&self) -> Vec<SymbolFile> {
        symbols::files(&Scene::play(self, &vec![!self.is_healthy; self.cards.len()]).0)
    }

    /// Returns the additional time of a card's operation, in nanoseconds, compared with a trace in
    /// which only this card is healthy.
    fn cost(&self, card: usize, truth: &Truth) -> Result<i64> {
        let sick: Vec<bool> = (0..self.cards.len()).map(|other| other != card).collect();
        // The twin is simulated in full, since a defect also causes indirect costs: disk queues,
        // preemptions, caches. Only its truth is needed.
        let (_, twin) = self.simulate(Scene::play(self, &sick).0, Nowhere::default())?;
        let name = self.cards.get(card).map_or("", |card| card.name);
        Ok(operations_ns(truth, name) - operations_ns(&twin, name))
    }

    fn simulate<W: Write + Seek>(&self, plan: Plan, sink: W) -> Result<(W, Truth)> {
        let options = Options {
            seed: self.seed,
            ..Options::default()
        };
        Sim::new(plan, sink, &options)?.run()
    }
}

fn victims(plan: &Plan, planted: &Planted) -> Vec<Victim> {
    let victim = |program: &crate::table::Program| {
        let plan = &plan.programs[*program];
        Victim {
            pid: plan.pid,
            name: plan.name.to_owned(),
        }
    };
    planted.victims.iter().map(victim).collect()
}

/// Returns the total length of all operations with that name.
fn operations_ns(truth: &Truth, name: &str) -> i64 {
    truth
        .calls
        .iter()
        .filter(|call| call.name == name)
        .map(|call| call.end_ns - call.start_ns)
        .sum()
}

/// Discards a trace.
#[derive(Debug, Default)]
struct Nowhere {
    at: u64,
    end: u64,
}

impl Write for Nowhere {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.at += bytes.len() as u64;
        self.end = self.end.max(self.at);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Seek for Nowhere {
    fn seek(&mut self, to: std::io::SeekFrom) -> std::io::Result<u64> {
        use std::io::SeekFrom;
        self.at = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::End(by) => self.end.saturating_add_signed(by),
            SeekFrom::Current(by) => self.at.saturating_add_signed(by),
        };
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::SCENARIOS;

    #[test]
    fn no_scenario_or_card_has_the_name_of_another_one() {
        let names = CARDS.iter().map(|card| card.name);
        let names = names.chain(SCENARIOS.iter().map(|scenario| scenario.name));
        let distinct: BTreeSet<&str> = names.collect();
        assert_eq!(distinct.len(), CARDS.len() + SCENARIOS.len());
    }
}
