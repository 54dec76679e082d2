//! The logical processors of the machine, from configuration events and the rundown of
//! Kernel-Processor-Power.

use std::collections::BTreeMap;

use etwkit_decode::kernel::config::{self, NumaNode};
use etwkit_decode::kernel::processor_power::{Event, Number, PROCESSOR_POWER, Rundown};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;
use rustc_hash::FxHashMap;

use crate::declared::Events;

/// Kernel events that describe processors, in addition to those of Kernel-Processor-Power.
pub(crate) const LEARNS: &[Events] = &[Events::Kernel(
    group::CONFIG,
    &[
        config::opcode::CPU,
        config::opcode::NUMA,
        config::opcode::PROCESSOR_NUMBER,
    ],
)];

/// The largest number of processors that Windows supports; files that claim more are not believed.
pub(crate) use crate::processors::MAX_PROCESSORS;

/// The description of processors in the trace. The first pass collects it, because rundowns also
/// come at the end of a recording.
#[derive(Debug, Default)]
pub(crate) struct Cores {
    /// Group and number of each index.
    pub(crate) numbers: Vec<(u16, u8)>,
    /// Indexes of processors by group and number, from single events.
    indexes: FxHashMap<Number, u32>,
    pub(crate) rundowns: BTreeMap<Number, Rundown>,
    pub(crate) nodes: Vec<NumaNode>,
    pub(crate) hyper_threads: Option<u64>,
}

impl Cores {
    /// Takes an event of the first pass.
    #[inline]
    pub(crate) fn observe(&mut self, hook: Option<Hook>, event: &RawEvent<'_>) {
        match hook {
            Some(Hook {
                group: group::CONFIG,
                opcode,
                version,
            }) => self.config(opcode, version, event),
            None if event.kind.is_manifest() && event.provider() == PROCESSOR_POWER => {
                let descriptor = event.descriptor();
                match Event::parse(descriptor.id, descriptor.version, event.payload()) {
                    Some(Event::Rundown(rundown)) => self.rundown(rundown),
                    Some(Event::Index(number, index))
                        // A bound of its own for the map: the index is checked, but group and
                        // number in the event are free to choose.
                        if index < MAX_PROCESSORS
                            && self.indexes.len() < MAX_PROCESSORS as usize =>
                    {
                        self.indexes.insert(number, index);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn config(&mut self, opcode: u8, version: u8, event: &RawEvent<'_>) {
        let payload = event.payload();
        match opcode {
            config::opcode::CPU => {
                // The first description wins. Merged traces have that of each file, and all are of
                // one machine.
                let mask = config::hyper_threads(payload, version, event.pointer_size());
                self.hyper_threads = self.hyper_threads.or(mask);
            }
            config::opcode::NUMA => self.nodes = config::numa_nodes(payload),
            config::opcode::PROCESSOR_NUMBER => {
                self.numbers = config::processor_numbers(payload);
                // Cut after parsing, since the event of a malicious file may list any number.
                self.numbers.truncate(MAX_PROCESSORS as usize);
            }
            _ => {}
        }
    }

    /// A later event replaces the fields that it contains; all others stay.
    fn rundown(&mut self, new: Rundown) {
        // Known processors are still updated at the limit.
        if self.rundowns.len() >= MAX_PROCESSORS as usize
            && !self.rundowns.contains_key(&new.number)
        {
            return;
        }
        let known = self.rundowns.entry(new.number).or_default();
        *known = Rundown {
            number: new.number,
            is_parked: new.is_parked.or(known.is_parked),
            is_soft_parked: new.is_soft_parked.or(known.is_soft_parked),
            nominal_mhz: new.nominal_mhz.or(known.nominal_mhz),
            efficiency_class: new.efficiency_class.or(known.efficiency_class),
            scheduling_class: new.scheduling_class.or(known.scheduling_class),
            relative_performance: new.relative_performance.or(known.relative_performance),
            delivered_mhz: new.delivered_mhz.or(known.delivered_mhz),
        };
    }

    /// Index of a processor by group and number. If no event lists the processors, it is the
    /// number, as on machines with one group.
    pub(crate) fn index(&self, number: Number) -> Option<u16> {
        let listed = || {
            let at = |(group, n): &(u16, u8)| (*group, *n) == (number.group, number.number);
            self.numbers.iter().position(at)
        };
        let known = self
            .indexes
            .get(&number)
            .map(|index| *index as usize)
            .or_else(listed);
        // Only in group 0, where number and index are the same. In other groups the index depends
        // on the sizes of the groups before.
        let index = known.or_else(|| (number.group == 0).then_some(usize::from(number.number)))?;
        u16::try_from(index).ok()
    }

    /// Speed of a processor without boost.
    pub(crate) fn nominal_mhz(&self, number: Number) -> Option<u32> {
        self.rundowns
            .get(&number)
            .and_then(|rundown| rundown.nominal_mhz)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system_config::SystemConfig;
    use crate::table::CpuCore;

    #[test]
    fn processors_of_several_groups_have_the_index_of_the_table() {
        let core = |group, number| Number { group, number };
        let mut cores = Cores::default();
        assert_eq!(
            (cores.index(core(0, 7)), cores.index(core(1, 0))),
            (Some(7), None)
        );
        cores.numbers = vec![(0, 0), (0, 1), (1, 0)];
        assert_eq!(cores.index(core(1, 0)), Some(2));
        cores.indexes.insert(core(1, 1), 3);
        assert_eq!(cores.index(core(1, 1)), Some(3));
    }

    #[test]
    fn a_row_has_what_events_report_and_no_more_processors_than_windows_has() {
        let mut cores = Cores::default();
        let number = Number {
            group: 0,
            number: 1,
        };
        let rundown = Rundown {
            number,
            nominal_mhz: Some(2400),
            efficiency_class: Some(1),
            ..Rundown::default()
        };
        cores.rundown(rundown);
        cores.rundown(Rundown {
            number,
            scheduling_class: Some(3),
            ..Rundown::default()
        });
        cores.hyper_threads = Some(0b01);
        cores.nodes = vec![NumaNode {
            mask: 0b10,
            group: 0,
        }];
        let rows = cores.rows(&SystemConfig::default(), 2);
        let known = CpuCore {
            cpu: 1,
            processor_group: Some(0),
            group_number: Some(1),
            numa_node: Some(0),
            efficiency_class: Some(1),
            scheduling_class: Some(3),
            nominal_mhz: Some(2400),
            is_hyper_threaded: Some(false),
            ..CpuCore::default()
        };
        assert_eq!(
            rows,
            [
                CpuCore {
                    is_hyper_threaded: Some(true),
                    ..CpuCore::default()
                },
                known
            ]
        );
        assert_eq!(cores.rows(&SystemConfig::default(), u32::MAX).len(), 2048);
    }
}
