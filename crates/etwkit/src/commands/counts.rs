//! How many events of which kind, as text.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use etwkit_decode::{Decoder, Descriptions};
use etwkit_etl::{Guid, Identity, RawEvent};
use etwkit_trace::counts::Counts;

use crate::printer::{Align, Printer, Table, WriteError, grouped};

/// Names of what is counted, for people.
#[derive(Default)]
pub(super) struct Names {
    decoder: Decoder,
    /// By group, opcode and version; empty if nothing names it.
    kernel: BTreeMap<(u8, u8, u8), String>,
}

impl Names {
    /// Knows what files say of events.
    pub(super) fn with(descriptions: Arc<Descriptions>) -> Self {
        Self { decoder: Decoder::with(descriptions), ..Self::default() }
    }

    /// Learns from an event; to be called for every event. `is_new`: it is the first one of its kind.
    #[inline]
    pub(super) fn observe(&mut self, event: &RawEvent<'_>, is_new: bool) {
        if is_new || !event.kind.is_kernel() {
            self.learn(event);
        }
    }

    #[inline(never)]
    fn learn(&mut self, event: &RawEvent<'_>) {
        self.decoder.observe(event);
        if let Identity::Kernel { group, opcode, version } = event.identity()
            && let Entry::Vacant(entry) = self.kernel.entry((group, opcode, version))
        {
            let plan = self.decoder.plan(event);
            entry.insert(plan.map(|plan| plan.schema().name.to_string()).unwrap_or_default());
        }
    }
}

/// A section per kind of count.
pub(super) fn print(counts: &Counts, mut names: Names, printer: &mut Printer<'_>) -> Result<(), WriteError> {
    names.decoder.finish_observing();
    let right = Align::Right;
    let events = ("events", right);
    let mut headers = Table::new(&[("header", Align::Left), events]);
    for (kind, count) in counts.headers() {
        headers.row([kind.name().to_owned(), grouped(count)]);
    }
    headers.row(["total".to_owned(), grouped(counts.total())]);
    let mut cpus = Table::new(&[("cpu", right), events]);
    for (cpu, count) in counts.cpus() {
        cpus.row([cpu.to_string(), grouped(count)]);
    }
    let mut kernel =
        Table::new(&[("group", right), ("opcode", right), ("version", right), events, ("name", Align::Left)]);
    for ((group, opcode, version), count) in counts.kernel() {
        let name = names.kernel.get(&(group, opcode, version)).cloned().unwrap_or_default();
        kernel.row([group.to_string(), opcode.to_string(), version.to_string(), grouped(count), name]);
    }
    let columns = [
        ("provider", Align::Left),
        ("id", right),
        ("version", right),
        ("opcode", right),
        events,
        ("name", Align::Left),
    ];
    let mut provider = Table::new(&columns);
    for ((guid, id, version, opcode), count) in counts.provider() {
        let known = guid.parse::<Guid>().ok().and_then(|guid| names.decoder.provider_name(guid));
        let name = known.map(|name| name.to_string()).unwrap_or_default();
        provider.row([guid, id.to_string(), version.to_string(), opcode.to_string(), grouped(count), name]);
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
