//! How many events of which kind.

use std::collections::BTreeMap;

use etwkit_etl::{HeaderKind, Identity, RawEvent};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};

/// Counts by header kind, processor and identity, and the time between the first and the last event.
#[derive(Debug, Default)]
pub struct Counts {
    total: u64,
    by_header: FxHashMap<HeaderKind, u64>,
    by_cpu: FxHashMap<u16, u64>,
    by_identity: FxHashMap<Identity, u64>,
    times: Option<(i64, i64)>,
}

impl Counts {
    /// Takes one event.
    pub fn add(&mut self, event: &RawEvent<'_>) {
        self.total += 1;
        *self.by_header.entry(event.kind).or_default() += 1;
        *self.by_cpu.entry(event.cpu).or_default() += 1;
        *self.by_identity.entry(event.identity()).or_default() += 1;
        let (first, last) = self.times.unwrap_or((event.timestamp, event.timestamp));
        self.times = Some((first.min(event.timestamp), last.max(event.timestamp)));
    }

    /// All events, the header event included.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// Smallest and largest raw time stamp.
    #[must_use]
    pub const fn times(&self) -> Option<(i64, i64)> {
        self.times
    }

    /// Events of each kind, in no order.
    pub fn identities(&self) -> impl Iterator<Item = (&Identity, u64)> {
        self.by_identity.iter().map(|(identity, n)| (identity, *n))
    }

    /// Group, opcode, version of kernel events, ordered.
    #[must_use]
    pub fn kernel(&self) -> BTreeMap<(u8, u8, u8), u64> {
        let kernel = |(identity, count): (&Identity, &u64)| match *identity {
            Identity::Kernel { group, opcode, version } => Some(((group, opcode, version), *count)),
            _ => None,
        };
        self.by_identity.iter().filter_map(kernel).collect()
    }

    /// Provider, id, version and opcode of the other events, ordered by the text of the provider. Classic
    /// events have no id, messages neither version nor opcode.
    #[must_use]
    pub fn provider(&self) -> BTreeMap<(String, u16, u16, u8), u64> {
        let mut out = BTreeMap::new();
        for (identity, count) in &self.by_identity {
            let key = match *identity {
                Identity::Kernel { .. } => continue,
                Identity::Classic { class, opcode, version } => (class.to_string(), 0, version, opcode),
                Identity::Manifest { provider, id, version, opcode } => {
                    (provider.to_string(), id, u16::from(version), opcode)
                }
                Identity::Message { guid, number } => (guid.to_string(), number, 0, 0),
            };
            // A class and a provider may share a GUID.
            *out.entry(key).or_default() += count;
        }
        out
    }

    /// By header kind, ordered.
    #[must_use]
    pub fn headers(&self) -> BTreeMap<HeaderKind, u64> {
        self.by_header.iter().map(|(kind, count)| (*kind, *count)).collect()
    }

    /// By processor of the buffer, ordered.
    #[must_use]
    pub fn cpus(&self) -> BTreeMap<u16, u64> {
        self.by_cpu.iter().map(|(cpu, count)| (*cpu, *count)).collect()
    }

    /// One object; kernel events by `group/opcode/version`, others by `guid/id/version/opcode`.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "total": self.total,
            "by_header": object(self.headers(), |kind| kind.name().to_owned()),
            "by_cpu": object(self.cpus(), u16::to_string),
            "kernel": object(self.kernel(), |(group, opcode, version)| format!("{group}/{opcode}/{version}")),
            "provider": object(self.provider(), |(guid, id, version, opcode)| {
                format!("{guid}/{id}/{version}/{opcode}")
            }),
        })
    }
}

fn object<K>(counts: BTreeMap<K, u64>, name: impl Fn(&K) -> String) -> Map<String, Value> {
    counts.into_iter().map(|(key, count)| (name(&key), count.into())).collect()
}
