//! Section `counts`: events by header, processor and kind.

use std::collections::BTreeMap;

use etwkit_etl::{Identity, RawEvent};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

/// Counts of all events.
#[derive(Debug, Default)]
pub(super) struct Counts {
    total: u64,
    by_header: BTreeMap<&'static str, u64>,
    by_cpu: FxHashMap<u16, u64>,
    by_identity: FxHashMap<Identity, u64>,
    /// Earliest and latest raw time.
    pub(super) first: Option<i64>,
    pub(super) last: Option<i64>,
}

impl Counts {
    pub(super) fn add(&mut self, event: &RawEvent<'_>) {
        self.total += 1;
        *self.by_header.entry(event.kind.name()).or_default() += 1;
        *self.by_cpu.entry(event.cpu).or_default() += 1;
        *self.by_identity.entry(event.identity()).or_default() += 1;
        self.first = Some(self.first.map_or(event.timestamp, |t| t.min(event.timestamp)));
        self.last = Some(self.last.map_or(event.timestamp, |t| t.max(event.timestamp)));
    }

    pub(super) fn identities(&self) -> impl Iterator<Item = (&Identity, u64)> {
        self.by_identity.iter().map(|(identity, n)| (identity, *n))
    }

    pub(super) fn section(&self) -> Value {
        let mut by_cpu: Vec<_> = self.by_cpu.iter().collect();
        by_cpu.sort_unstable();
        let by_cpu: serde_json::Map<String, Value> =
            by_cpu.into_iter().map(|(cpu, n)| (cpu.to_string(), Value::from(*n))).collect();
        let (mut kernel, mut provider) = (BTreeMap::new(), BTreeMap::new());
        for (identity, n) in &self.by_identity {
            match identity {
                Identity::Kernel { group, opcode, version } => {
                    kernel.insert((*group, *opcode, *version), *n);
                }
                Identity::Classic { class, opcode, version } => {
                    provider.insert(format!("{class}/0/{version}/{opcode}"), *n);
                }
                Identity::Manifest { provider: guid, id, version, opcode } => {
                    provider.insert(format!("{guid}/{id}/{version}/{opcode}"), *n);
                }
                Identity::Message { guid, number } => {
                    provider.insert(format!("{guid}/{number}/0/0"), *n);
                }
            }
        }
        let kernel: serde_json::Map<String, Value> =
            kernel.into_iter().map(|((g, o, v), n)| (format!("{g}/{o}/{v}"), Value::from(n))).collect();
        json!({
            "total": self.total,
            "by_header": self.by_header,
            "by_cpu": by_cpu,
            "kernel": kernel,
            "provider": provider,
        })
    }
}
