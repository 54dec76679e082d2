//! Numbers of events by kind, as text.

use etwkit_terminal::{Table, WriteError};
use etwkit_trace::report::counts::EventCounts;

use crate::printer::{Printer, grouped};

/// Prints a section for each kind of count.
pub(super) fn print(counts: &EventCounts, printer: &mut Printer<'_>) -> Result<(), WriteError> {
    let headers = counts
        .by_header
        .iter()
        .map(|row| [row.name.to_owned(), grouped(row.events)]);
    let headers = headers.chain([["total".to_owned(), grouped(counts.total)]]);
    let cpus = counts
        .by_cpu
        .iter()
        .map(|row| [row.cpu.to_string(), grouped(row.events)]);
    let kernel = counts.kernel.iter().map(|row| {
        let [group, opcode, version] =
            [row.group, row.opcode, row.version].map(|number| number.to_string());
        [
            group,
            opcode,
            version,
            grouped(row.events),
            row.name.clone(),
        ]
    });
    let provider = counts.provider.iter().map(|row| {
        let [id, version, opcode] = [
            row.id.to_string(),
            row.version.to_string(),
            row.opcode.to_string(),
        ];
        let name = row.name.clone();
        let event = row.event.clone();
        [
            row.provider.clone(),
            id,
            version,
            opcode,
            grouped(row.events),
            name,
            event,
        ]
    });
    for (heading, table) in [
        ("By header", Table::of("header|events>", headers)),
        ("By processor", Table::of("cpu>|events>", cpus)),
        (
            "Kernel events",
            Table::of("group>|opcode>|version>|events>|name", kernel),
        ),
        (
            "Provider events",
            Table::of("provider|id>|version>|opcode>|events>|name|event", provider),
        ),
    ] {
        printer.heading(heading)?;
        printer.table(&table)?;
    }
    Ok(())
}
