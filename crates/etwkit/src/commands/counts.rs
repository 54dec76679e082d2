//! How many events of which kind, as text.

use etwkit_trace::counts::Counts;

use crate::printer::{Align, Printer, Table, WriteError, grouped};

/// A section per kind of count.
pub(super) fn print(counts: &Counts, printer: &mut Printer<'_>) -> Result<(), WriteError> {
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
    let mut kernel = Table::new(&[("group", right), ("opcode", right), ("version", right), events]);
    for ((group, opcode, version), count) in counts.kernel() {
        kernel.row([group.to_string(), opcode.to_string(), version.to_string(), grouped(count)]);
    }
    let columns = [("provider", Align::Left), ("id", right), ("version", right), ("opcode", right), events];
    let mut provider = Table::new(&columns);
    for ((guid, id, version, opcode), count) in counts.provider() {
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
