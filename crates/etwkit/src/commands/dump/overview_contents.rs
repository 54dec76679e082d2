//! What `etwkit dump overview` says of a trace without CPU samples and context switches: what there is
//! instead.

use etwkit_query::dump::overview::{Contents, TopicEvents};

use crate::printer::{Align, Printer, Table, grouped};

pub(super) fn print(contents: &Contents, printer: &mut Printer<'_>) -> anyhow::Result<()> {
    printer.heading("What there is")?;
    if contents.counts.is_empty() {
        printer.line("  no rows in any table")?;
    }
    let mut table =
        Table::new(&[("what", Align::Left), ("how many", Align::Right), ("of these", Align::Left)]);
    for row in &contents.counts {
        let more = if row.of.is_empty() { String::new() } else { format!("{} {}", number(row.more), row.of) };
        table.row([row.what.clone(), number(row.count), more]);
    }
    if !contents.counts.is_empty() {
        printer.table(&table)?;
    }
    providers(contents, printer)?;
    let topic = |topic: &TopicEvents| match topic.events {
        Some(events) => format!("{} ({})", topic.topic, number(events)),
        None => topic.topic.clone(),
    };
    let topics: Vec<String> = contents.topics.iter().map(topic).collect();
    if !topics.is_empty() {
        printer.line(&format!("  recorded, with events: {}", topics.join(", ")))?;
    }
    Ok(printer.line(
        "  not recorded: who used the CPU (PROFILE records samples, CSWITCH+DISPATCHER context switches)",
    )?)
}

fn providers(contents: &Contents, printer: &mut Printer<'_>) -> anyhow::Result<()> {
    if contents.providers.is_empty() {
        return Ok(());
    }
    printer.heading("Providers by events without a table of their own")?;
    let mut table = Table::new(&[("events", Align::Right), ("provider", Align::Left)]);
    for row in &contents.providers {
        table.row([number(row.events), row.provider.clone()]);
    }
    printer.table(&table)?;
    match contents.provider_count.saturating_sub(contents.providers.len()) {
        0 => Ok(()),
        more => Ok(printer.line(&format!("  and {} more", grouped(more as u64)))?),
    }
}

fn number(number: i64) -> String {
    let digits = grouped(number.unsigned_abs());
    if number < 0 { format!("-{digits}") } else { digits }
}
