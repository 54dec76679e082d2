//! The table of logical processors.

use std::collections::BTreeMap;

use etwkit_decode::kernel::config::NumaNode;
use etwkit_decode::kernel::processor_power::Rundown;

use super::cores::{Cores, MAX_PROCESSORS};
use crate::declared::sums;
use crate::import::pipeline::{Context, Declaration, Importer, Learned};
use crate::sink::{Sink, SinkError};
use crate::system_config::SystemConfig;
use crate::table::{CpuCore, Row};

pub(crate) const DECLARATION: Declaration = Declaration {
    tables: &[sums(CpuCore::TABLE)],
    make: |_| Box::new(CoreRows),
    ..Declaration::EMPTY
};

/// Writes the data of the first pass about processors.
struct CoreRows;

impl Importer for CoreRows {
    fn finish(
        self: Box<Self>,
        learned: Learned<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let collected = learned.collected;
        let processors = collected.processors.count();
        context
            .tables
            .push_all(collected.cores.rows(&collected.config, processors), sink)
    }
}

impl Cores {
    /// The rows of `cpu_core`: a processor for each that the header counts or an event names.
    pub(super) fn rows(&self, config: &SystemConfig, processors: u32) -> Vec<CpuCore> {
        let rundowns: BTreeMap<u32, &Rundown> = self
            .rundowns
            .values()
            .filter_map(|r| Some((u32::from(self.index(r.number)?), r)))
            .collect();
        let named = config
            .processors
            .keys()
            .chain(rundowns.keys())
            .map(|index| index.saturating_add(1));
        let listed = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        let count = named
            .chain([processors, listed])
            .fold(0, u32::max)
            .min(MAX_PROCESSORS);
        (0..count)
            .map(|cpu| self.row(cpu, config, rundowns.get(&cpu).copied()))
            .collect()
    }

    fn row(&self, cpu: u32, config: &SystemConfig, rundown: Option<&Rundown>) -> CpuCore {
        let number = self.number(cpu, rundown);
        let named = config.processors.get(&cpu);
        let text = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let machine = config.cpu.as_ref().map(|cpu| cpu.mhz);
        let nominal = rundown
            .and_then(|r| r.nominal_mhz)
            .or(named.map(|p| p.mhz))
            .or(machine)
            .filter(|mhz| *mhz > 0);
        let node = number.and_then(|(group, n)| {
            let has = |node: &NumaNode| {
                let shifted = node.mask.checked_shr(n.into());
                node.group == group && shifted.is_some_and(|mask| mask & 1 != 0)
            };
            self.nodes.iter().position(has)
        });
        // The event has one mask of 64 bits and no group, so it does not cover further processors.
        let mask = self.hyper_threads.filter(|_| cpu < u64::BITS);
        CpuCore {
            cpu: cpu as i32,
            processor_group: number.map(|(group, _)| group.into()),
            group_number: number.map(|(_, n)| n.into()),
            numa_node: node.map(|node| node as i32),
            efficiency_class: rundown.and_then(|r| r.efficiency_class).map(Into::into),
            scheduling_class: rundown.and_then(|r| r.scheduling_class).map(Into::into),
            nominal_mhz: nominal.map(|mhz| mhz as i32),
            relative_performance_percent: rundown
                .and_then(|r| r.relative_performance)
                .map(|p| p as i32),
            is_hyper_threaded: mask.map(|mask| mask >> cpu & 1 != 0),
            name: named.and_then(|p| text(&p.name)),
            vendor: named.and_then(|p| text(&p.vendor)),
            identifier: named.and_then(|p| text(&p.identifier)),
        }
    }

    fn number(&self, cpu: u32, rundown: Option<&Rundown>) -> Option<(u16, u8)> {
        let listed = self.numbers.get(cpu as usize).copied();
        listed.or(rundown.map(|r| (r.number.group, r.number.number)))
    }
}
