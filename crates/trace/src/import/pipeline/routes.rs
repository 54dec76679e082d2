//! Dispatch of events to importers, with tables that are built from the declarations.

use etwkit_decode::kernel::Hook;
use etwkit_etl::{Guid, RawEvent};
use rustc_hash::FxHashMap;

use super::importer::Declaration;
use crate::declared::{Events, KINDS, kind};

/// The receivers of an event, as indices of importers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Route {
    /// The importer that takes it.
    pub(crate) taker: Option<usize>,
    /// The importers that observe it before it is taken.
    pub(crate) hearers: Vec<usize>,
}

/// The way of each event.
#[derive(Debug)]
pub(crate) struct Routes {
    /// Route number of each kind of kernel events. Most events of a large trace are looked up here,
    /// so this is one table with a byte for each kind, and not a map.
    kernel: Box<[u8; KINDS]>,
    /// Routes by number; the first one leads nowhere.
    routes: Vec<Route>,
    providers: FxHashMap<Guid, OfProvider>,
    classes: FxHashMap<Guid, Route>,
}

/// The ways of the events of a provider.
#[derive(Debug, Default)]
struct OfProvider {
    by_id: FxHashMap<u16, Route>,
    /// The route of all other IDs.
    others: Route,
}

/// Checks that no kind of kernel events has two takers.
#[expect(
    clippy::indexing_slicing,
    reason = "done when this is compiled: what is outside does not compile"
)]
pub(crate) const fn have_one_taker(mut importers: &[&Declaration]) -> bool {
    let mut is_taken = [false; KINDS];
    // A constant function, so that two importers of one event are an error of the compiler and not
    // of a test.
    while let [importer, others @ ..] = importers {
        let mut takes = importer.takes;
        while let [events, more @ ..] = takes {
            if let Events::Kernel(group, _) | Events::KernelBetween(group, ..) = *events {
                let mut opcode = 0;
                while opcode < 256 {
                    if events.includes_type(group, opcode as u8) {
                        if is_taken[kind(group, opcode as u8)] {
                            return false;
                        }
                        is_taken[kind(group, opcode as u8)] = true;
                    }
                    opcode += 1;
                }
            }
            takes = more;
        }
        importers = others;
    }
    true
}

impl Routes {
    pub(crate) fn new(importers: &[&'static Declaration]) -> Self {
        let mut routes = Self {
            kernel: Box::new([0; KINDS]),
            routes: vec![Route::default()],
            providers: FxHashMap::default(),
            classes: FxHashMap::default(),
        };
        let add_hearer = |route: &mut Route, of| route.hearers.push(of);
        let set_taker = |route: &mut Route, of| route.taker = Some(of);
        // A claim to a whole provider holds for its single IDs as well. So those claims come first,
        // and routes of single IDs start as copies of them.
        for is_whole in [true, false] {
            for (of, importer) in importers.iter().enumerate() {
                // A claim without IDs is one to the whole provider.
                let of_round =
                    |events: &&Events| matches!(events, Events::Provider(_, [])) == is_whole;
                importer
                    .hears
                    .iter()
                    .filter(of_round)
                    .for_each(|events| routes.add(*events, of, add_hearer));
                importer
                    .takes
                    .iter()
                    .filter(of_round)
                    .for_each(|events| routes.add(*events, of, set_taker));
            }
        }
        routes
    }

    fn add(&mut self, events: Events, of: usize, change: fn(&mut Route, usize)) {
        match events {
            Events::Kernel(group, types) => types
                .iter()
                .for_each(|op| self.add_kind(group, *op, of, change)),
            Events::KernelBetween(group, first, last) => {
                (first..=last).for_each(|op| self.add_kind(group, op, of, change));
            }
            Events::Provider(guid, []) => {
                change(&mut self.providers.entry(guid).or_default().others, of);
            }
            Events::Provider(guid, ids) => {
                let OfProvider { by_id, others } = self.providers.entry(guid).or_default();
                // A copy of the route for all IDs: who hears the whole provider also hears this ID.
                for id in ids {
                    change(by_id.entry(*id).or_insert_with(|| others.clone()), of);
                }
            }
            Events::Class(guid) => change(self.classes.entry(guid).or_default(), of),
        }
    }

    #[expect(
        clippy::expect_used,
        reason = "routes are made of the declared importers, before any event"
    )]
    fn add_kind(&mut self, group: u8, opcode: u8, of: usize, change: fn(&mut Route, usize)) {
        let Some(number) = self.kernel.get_mut(kind(group, opcode)) else {
            return;
        };
        // The first route is the empty one, which all kinds have before anything is added.
        let Some(mut route) = self.routes.get(usize::from(*number)).cloned() else {
            return;
        };
        change(&mut route, of);
        // Equal routes are shared, so that their number stays small and fits a byte.
        let known = self.routes.iter().position(|known| *known == route);
        let at = known.unwrap_or(self.routes.len());
        if known.is_none() {
            self.routes.push(route);
        }
        // Importers are a few dozen, and so are routes.
        *number = u8::try_from(at).expect("fewer than 256 routes");
    }

    /// The route of a kernel event.
    #[inline]
    pub(crate) fn of_kernel(&self, hook: Hook) -> Option<&Route> {
        let number = *self.kernel.get(kind(hook.group, hook.opcode))?;
        // Number 0 leads nowhere, and most kinds have it.
        self.routes.get(usize::from(number)).filter(|_| number != 0)
    }

    /// The route of any other event.
    #[inline]
    pub(crate) fn of_other(&self, event: &RawEvent<'_>) -> Option<&Route> {
        if event.kind.is_classic() {
            return self.classes.get(&event.provider());
        }
        // Messages of WPP have no provider that an importer could claim.
        if !event.kind.is_manifest() {
            return None;
        }
        let of_provider = self.providers.get(&event.provider())?;
        Some(
            of_provider
                .by_id
                .get(&event.descriptor().id)
                .unwrap_or(&of_provider.others),
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use etwkit_decode::Tables;
    use etwkit_decode::kernel::{disk, group, scheduler};

    use super::*;
    use crate::import::IMPORTERS;

    fn claims() -> impl Iterator<Item = Events> {
        IMPORTERS
            .iter()
            .flat_map(|importer| importer.takes.iter().chain(importer.hears))
            .copied()
    }

    #[test]
    fn every_kernel_event_that_is_claimed_has_a_name() {
        let rows = Tables::new().rows();
        let named: BTreeSet<(u8, u16)> = rows
            .iter()
            .filter_map(|row| Some((row.group?, row.id)))
            .collect();
        for events in claims() {
            if let Events::Kernel(group, types) = events {
                for opcode in types {
                    assert!(
                        named.contains(&(group, u16::from(*opcode))),
                        "type {opcode} of group {group}"
                    );
                }
            }
        }
    }

    #[test]
    fn an_event_of_a_provider_has_one_taker() {
        let mut taken: Vec<(Guid, &[u16])> = Vec::new();
        for events in IMPORTERS.iter().flat_map(|importer| importer.takes) {
            let (Events::Provider(guid, ids), is_class) = (match events {
                Events::Class(guid) => (Events::Provider(*guid, &[]), true),
                other => (*other, false),
            }) else {
                continue;
            };
            let is_same = |(other, others): &(Guid, &[u16])| {
                let is_whole = ids.is_empty() || others.is_empty();
                *other == guid && (is_whole || ids.iter().any(|id| others.contains(id)))
            };
            assert!(
                !taken.iter().any(is_same),
                "{guid} {ids:?}, class: {is_class}"
            );
            taken.push((guid, ids));
        }
        assert!(taken.len() > 10);
    }

    #[test]
    fn topics_are_recognized_by_events_that_their_importer_gets_or_the_first_pass_reads() {
        for importer in IMPORTERS {
            for topic in importer.topics {
                let of_kernel = |events: &&Events| matches!(events, Events::Kernel(..));
                for events in topic.events.iter().filter(of_kernel) {
                    let Events::Kernel(group, types) = *events else {
                        continue;
                    };
                    let is_got = |op: &u8| {
                        let all = importer.takes.iter().chain(importer.hears);
                        all.copied().any(|own| own.includes_type(group, *op))
                    };
                    assert!(types.iter().all(is_got), "{}", topic.name);
                }
            }
        }
    }

    #[test]
    fn events_go_to_those_who_claim_them() {
        let routes = Routes::new(IMPORTERS);
        assert!(routes.routes.len() < 256);
        let of = |group, opcode| {
            routes.of_kernel(Hook {
                group,
                opcode,
                version: 2,
            })
        };
        let reads = of(group::DISK, disk::opcode::READ).unwrap();
        assert_eq!(
            (reads, of(group::DISK, disk::opcode::FLUSH)),
            (reads, Some(reads))
        );
        assert!(reads.taker.is_some() && reads.hearers.is_empty());
        let switches = of(group::THREAD, scheduler::opcode::CONTEXT_SWITCH).unwrap();
        assert_eq!(switches.hearers, [IMPORTERS.len() - 1]);
        assert_ne!(switches.taker, reads.taker);
        assert_eq!(of(group::DISK, 200), None);
    }
}
