//! How many events of which kind.

use std::collections::BTreeMap;

use etwkit_etl::{HeaderKind, Identity, RawEvent};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};

use crate::printer::{Align, Printer, Table, WriteError, grouped};

/// Counts by header kind, processor and identity.
#[derive(Debug, Default)]
pub(super) struct Counts {
    total: u64,
    by_header: FxHashMap<HeaderKind, u64>,
    by_cpu: FxHashMap<u16, u64>,
    by_identity: FxHashMap<Identity, u64>,
}

impl Counts {
    pub(super) fn add(&mut self, event: &RawEvent<'_>) {
        self.total += 1;
        *self.by_header.entry(event.kind).or_default() += 1;
        *self.by_cpu.entry(event.cpu).or_default() += 1;
        *self.by_identity.entry(event.identity()).or_default() += 1;
    }

    pub(super) const fn total(&self) -> u64 {
        self.total
    }

    /// Group, opcode, version of kernel events, ordered.
    fn kernel(&self) -> BTreeMap<(u8, u8, u8), u64> {
        let kernel = |(identity, count): (&Identity, &u64)| match *identity {
            Identity::Kernel { group, opcode, version } => Some(((group, opcode, version), *count)),
            _ => None,
        };
        self.by_identity.iter().filter_map(kernel).collect()
    }

    /// Provider, id, version and opcode of the other events, ordered by the text of the provider. Classic
    /// events have no id, messages neither version nor opcode.
    fn provider(&self) -> BTreeMap<(String, u16, u16, u8), u64> {
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

    fn headers(&self) -> BTreeMap<HeaderKind, u64> {
        self.by_header.iter().map(|(kind, count)| (*kind, *count)).collect()
    }

    fn cpus(&self) -> BTreeMap<u16, u64> {
        self.by_cpu.iter().map(|(cpu, count)| (*cpu, *count)).collect()
    }

    /// One object; kernel events by `group/opcode/version`, others by `guid/id/version/opcode`.
    pub(super) fn json(&self) -> Value {
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

    /// A section per kind of count.
    pub(super) fn print(&self, printer: &mut Printer<'_>) -> Result<(), WriteError> {
        let right = Align::Right;
        let events = ("events", right);
        let mut headers = Table::new(&[("header", Align::Left), events]);
        for (kind, count) in self.headers() {
            headers.row([kind.name().to_owned(), grouped(count)]);
        }
        headers.row(["total".to_owned(), grouped(self.total)]);
        let mut cpus = Table::new(&[("cpu", right), events]);
        for (cpu, count) in self.cpus() {
            cpus.row([cpu.to_string(), grouped(count)]);
        }
        let mut kernel = Table::new(&[("group", right), ("opcode", right), ("version", right), events]);
        for ((group, opcode, version), count) in self.kernel() {
            kernel.row([group.to_string(), opcode.to_string(), version.to_string(), grouped(count)]);
        }
        let columns =
            [("provider", Align::Left), ("id", right), ("version", right), ("opcode", right), events];
        let mut provider = Table::new(&columns);
        for ((guid, id, version, opcode), count) in self.provider() {
            provider.row([guid, id.to_string(), version.to_string(), opcode.to_string(), grouped(count)]);
        }
        for (heading, table) in [
            ("By header", headers),
            ("By processor", cpus),
            ("Kernel events", kernel),
            ("Provider events", provider),
        ] {
            printer.heading(heading)?;
            printer.table(&table)?;
        }
        Ok(())
    }
}

fn object<K>(counts: BTreeMap<K, u64>, name: impl Fn(&K) -> String) -> Map<String, Value> {
    counts.into_iter().map(|(key, count)| (name(&key), count.into())).collect()
}
