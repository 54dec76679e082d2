//! Schemas compiled from the metadata that each event carries.

use std::hash::Hasher;
use std::sync::Arc;

use etwkit_etl::{Guid, RawEvent};
use rustc_hash::{FxHashMap, FxHasher};

use super::{by_pointer_size, plans};
use crate::bounds::{Budget, MAX_SCHEMA_BYTES, Problems, cost};
use crate::schema::Schema;
use crate::{Plan, tracelogging};

/// Maximum number of different metadata with one hash; more occur only in a malicious file.
const MAX_COLLISIONS: usize = 8;

/// Each distinct metadata is read once; events find their schema by its bytes.
#[derive(Debug)]
pub(super) struct Blobs {
    known: FxHashMap<u64, Vec<ProviderMetadata>>,
    count: usize,
    budget: Budget,
}

#[derive(Debug)]
struct ProviderMetadata {
    provider: Guid,
    metadata: Box<[u8]>,
    state: State,
}

#[derive(Debug)]
enum State {
    /// It is broken and cannot decode any event.
    Broken,
    /// The name of the provider may still turn up.
    Observed(Schema),
    Compiled([Arc<Plan>; 2]),
}

impl Default for Blobs {
    fn default() -> Self {
        Self {
            known: FxHashMap::default(),
            count: 0,
            budget: Budget::new(MAX_SCHEMA_BYTES),
        }
    }
}

#[inline]
fn hash(provider: Guid, metadata: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u128(u128::from_le_bytes(provider.to_bytes()));
    hasher.write(metadata);
    hasher.finish()
}

impl Blobs {
    pub(super) fn observe(&mut self, provider: Guid, metadata: &[u8], problems: &mut Problems) {
        let key = hash(provider, metadata);
        let bucket = self.known.entry(key).or_default();
        if bucket.iter().any(|known| known.is(provider, metadata)) {
            return;
        }
        let schema = tracelogging::schema(provider, None, metadata);
        // Plans for both pointer sizes hold a copy each.
        let bytes =
            256 + metadata.len() + schema.as_ref().map_or(0, |schema| 2 * cost(&schema.fields));
        if bucket.len() >= MAX_COLLISIONS || self.budget.take(bytes).is_none() {
            // Without memory for it not even an empty place is kept: a malicious file can have
            // different metadata on each of its events.
            if bucket.is_empty() {
                self.known.remove(&key);
            }
            problems.over_limit += 1;
            return;
        }
        let state = match schema {
            Some(schema) => State::Observed(schema),
            None => {
                problems.trace_logging += 1;
                State::Broken
            }
        };
        self.count += usize::from(matches!(state, State::Observed(_)));
        bucket.push(ProviderMetadata {
            provider,
            metadata: metadata.into(),
            state,
        });
    }

    /// Compiles the metadata observed since the last call.
    pub(super) fn compile(&mut self, names: &FxHashMap<Guid, Arc<str>>) {
        // Not done while observing, because the name of a provider may be on a later event than its
        // metadata.
        for known in self.known.values_mut().flatten() {
            let State::Observed(schema) = &mut known.state else {
                continue;
            };
            let mut schema = schema.clone();
            schema.provider_name = names.get(&known.provider).cloned();
            known.state = State::Compiled(plans(schema));
        }
    }

    #[inline]
    pub(super) fn plan(&self, event: &RawEvent<'_>, metadata: &[u8]) -> Option<&Arc<Plan>> {
        let provider = event.provider();
        // The hash alone would not be enough: an attacker can create metadata with the same hash,
        // whose fields would be read as the fields of another event.
        let bucket = self.known.get(&hash(provider, metadata))?;
        match &bucket
            .iter()
            .find(|known| known.is(provider, metadata))?
            .state
        {
            State::Compiled(plans) => Some(by_pointer_size(plans, event.pointer_size())),
            State::Broken | State::Observed(_) => None,
        }
    }

    /// Distinct metadata that is not broken.
    pub(super) const fn len(&self) -> usize {
        self.count
    }
}

impl ProviderMetadata {
    #[inline]
    fn is(&self, provider: Guid, metadata: &[u8]) -> bool {
        self.provider == provider && *self.metadata == *metadata
    }
}
