//! Providers by number of events.

use std::collections::BTreeMap;

use etwkit_decode::kernel::merge::{IMAGE_ID, SYSTEM_CONFIG_EX};
use etwkit_decode::{Decoder, eventinfo, kernel};
use etwkit_etl::{Guid, Identity};

/// A provider and the number of its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderCount {
    /// Its name, or its GUID if nothing names it.
    pub name: String,
    /// Its GUID.
    pub guid: Guid,
    /// Its events.
    pub events: u64,
}

/// Providers by number of events, most first. Kernel events and the records that a merge step adds
/// are left out: the topics describe them.
pub(super) fn providers(
    counts: impl Iterator<Item = (Identity, u64)>,
    decoder: &Decoder,
) -> Vec<ProviderCount> {
    let mut sums: BTreeMap<Guid, u64> = BTreeMap::new();
    for (identity, n) in counts {
        let guid = match identity {
            Identity::Manifest { provider, .. } => provider,
            Identity::Message { guid, .. } => guid,
            Identity::Classic { class, .. } if is_provider(class, &identity) => class,
            Identity::Classic { .. } | Identity::Kernel { .. } => continue,
        };
        *sums.entry(guid).or_default() += n;
    }
    let name = |guid: Guid| {
        decoder
            .provider_name(guid)
            .map_or_else(|| guid.to_string(), |n| n.to_string())
    };
    let row = |(guid, events)| ProviderCount {
        name: name(guid),
        guid,
        events,
    };
    let mut rows: Vec<ProviderCount> = sums.into_iter().map(row).collect();
    rows.sort_by(|a, b| b.events.cmp(&a.events).then_with(|| a.name.cmp(&b.name)));
    rows
}

/// True if a class belongs to a provider: neither to the kernel nor to the merge step.
fn is_provider(class: Guid, identity: &Identity) -> bool {
    kernel::hook_of(identity).is_none()
        && ![IMAGE_ID, SYSTEM_CONFIG_EX, eventinfo::CLASS].contains(&class)
}
