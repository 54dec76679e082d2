//! How many events of which kind, as text.

use etwkit_trace::report::counts::EventCounts;

use crate::printer::{Align, Printer, Table, WriteError, grouped};

/// A section for each kind of count.
pub(super) fn print(counts: &EventCounts, printer: &mut Printer<'_>) -> Result<(), WriteError> {
    let right = Align::Right;
    let events = ("events", right);
    let mut headers = Table::new(&[("header", Align::Left), events]);
    for row in &counts.by_header {
        headers.row([row.name.to_owned(), grouped(row.events)]);
    }
    headers.row(["total".to_owned(), grouped(counts.total)]);
    let mut cpus = Table::new(&[("cpu", right), events]);
    for row in &counts.by_cpu {
        cpus.row([row.cpu.to_string(), grouped(row.events)]);
    }
    let mut kernel =
        Table::new(&[("group", right), ("opcode", right), ("version", right), events, ("name", Align::Left)]);
    for row in &counts.kernel {
        let [group, opcode, version] = [row.group, row.opcode, row.version].map(|number| number.to_string());
        kernel.row([group, opcode, version, grouped(row.events), row.name.clone()]);
    }
    let columns = [
        ("provider", Align::Left),
        ("id", right),
        ("version", right),
        ("opcode", right),
        events,
        ("name", Align::Left),
        ("event", Align::Left),
    ];
    let mut provider = Table::new(&columns);
    for row in &counts.provider {
        let numbers = [row.id.to_string(), row.version.to_string(), row.opcode.to_string()];
        let [id, version, opcode] = numbers;
        let (name, event) = (row.name.clone(), row.event.clone());
        provider.row([row.provider.clone(), id, version, opcode, grouped(row.events), name, event]);
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
