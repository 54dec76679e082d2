//! EventInfo records, kept until their maps are all there.

use std::sync::Arc;

use etwkit_etl::bytes::guid_at;
use etwkit_etl::{Guid, RawEvent};
use rustc_hash::FxHashMap;

use super::{Described, Key, key_of};
use crate::bounds::{Budget, MAX_SCHEMA_BYTES, Problems, cost};
use crate::schema::ValueMap;
use crate::{eventinfo, message};

/// Bytes of the GUID before a map.
const GUID_LEN: usize = 16;
/// Memory cost of a map entry in addition to its text.
const ENTRY_COST: usize = 32;

/// The records of a trace, the latest one for each kind of event and each map.
#[derive(Debug)]
pub(super) struct Records {
    infos: FxHashMap<Key, (i64, Box<[u8]>)>,
    /// One record of each provider whose events need none.
    named: FxHashMap<Guid, Box<[u8]>>,
    maps: FxHashMap<(Guid, Box<str>), (i64, Arc<ValueMap>)>,
    budget: Budget,
}

/// Approximate memory of a map and its name, in bytes.
fn cost_of_map(name: &str, map: &ValueMap) -> usize {
    let entries: usize = map
        .entries
        .iter()
        .map(|(_, text)| text.len() + ENTRY_COST)
        .sum();
    entries + name.len() + ENTRY_COST
}

impl Default for Records {
    fn default() -> Self {
        Self {
            infos: FxHashMap::default(),
            named: FxHashMap::default(),
            maps: FxHashMap::default(),
            budget: Budget::new(MAX_SCHEMA_BYTES),
        }
    }
}

impl Records {
    /// Takes a record of the class [`eventinfo::CLASS`].
    pub(super) fn observe(&mut self, event: &RawEvent<'_>, problems: &mut Problems) {
        match event.opcode() {
            eventinfo::OPCODE_EVENT => self.observe_info(event, problems),
            eventinfo::OPCODE_MAP => self.observe_map(event, problems),
            _ => {}
        }
    }

    fn observe_info(&mut self, event: &RawEvent<'_>, problems: &mut Problems) {
        let info = event.payload();
        let Some(head) = eventinfo::head(info) else {
            problems.event_infos += 1;
            return;
        };
        // Events that describe themselves need no fields from a record, but it may be the only
        // place with the name of their provider.
        let Some(key) = key_of(&head) else {
            if !self.named.contains_key(&head.provider) && self.budget.take(info.len()).is_some() {
                self.named.insert(head.provider, info.into());
            }
            return;
        };
        let known = self.infos.get(&key);
        // Events may be observed in the order of the file, so the time determines the latest
        // record.
        if known.is_some_and(|(time, _)| *time > event.timestamp) {
            return;
        }
        let freed = known.map_or(0, |(_, info)| info.len());
        if self.budget.take(info.len()).is_none() {
            problems.over_limit += 1;
            return;
        }
        self.budget.put_back(freed);
        self.infos.insert(key, (event.timestamp, info.into()));
    }

    fn observe_map(&mut self, event: &RawEvent<'_>, problems: &mut Problems) {
        let payload = event.payload();
        let read = guid_at(payload, 0).zip(payload.get(GUID_LEN..).and_then(eventinfo::value_map));
        let Some((provider, (name, map))) = read else {
            problems.maps += 1;
            return;
        };
        let key = (provider, name.into_boxed_str());
        let known = self.maps.get(&key);
        if known.is_some_and(|(time, _)| *time > event.timestamp) {
            return;
        }
        // A session that is enabled again and again writes the same maps each time. A replaced map
        // no longer counts.
        let freed = known.map_or(0, |(_, map)| cost_of_map(&key.1, map));
        if self.budget.take(cost_of_map(&key.1, &map)).is_none() {
            problems.over_limit += 1;
            return;
        }
        self.budget.put_back(freed);
        self.maps.insert(key, (event.timestamp, Arc::new(map)));
    }

    /// Reads all records. `name` returns the name of a record's provider.
    pub(super) fn finish(
        self,
        problems: &mut Problems,
        mut name: impl FnMut(Guid, &[u8]) -> Option<Arc<str>>,
    ) -> Vec<(Key, Described)> {
        let mut infos: Vec<_> = self.infos.into_iter().collect();
        // The map has no order. The set of records that fit into the memory for schemas must not
        // change from run to run.
        infos.sort_by_key(|(key, _)| *key);
        let mut budget = Budget::new(MAX_SCHEMA_BYTES);
        let mut all = Vec::with_capacity(infos.len());
        for (key, (_, info)) in infos {
            let Some(provider) = guid_at(&info, 0) else {
                continue;
            };
            let map = |map: &str| {
                // A map is named without the blank at its end.
                self.maps
                    .get(&(provider, map.into()))
                    .map(|(_, map)| Arc::clone(map))
            };
            let Some(schema) = eventinfo::schema(&info, name(provider, &info), &map) else {
                problems.event_infos += 1;
                continue;
            };
            let message = eventinfo::message(&info);
            let text = message.as_deref().map_or(0, message::cost);
            let bytes = 2 * cost(&schema.fields) + text + 256;
            if budget.take(bytes).is_none() {
                problems.over_limit += 1;
                continue;
            }
            all.push((key, Described::new(schema, message.as_deref())));
        }
        for (provider, info) in &self.named {
            name(*provider, info);
        }
        all
    }
}
