//! Columns of self-describing events: sums by provider and by kind, and single events.

use std::collections::BTreeSet;

use super::{EventRow, KindRow, ProviderRow, TraceLogRequest, TraceLogSort};
use crate::stack::stacked::{Stacked, lines};
use etwkit_question::Format::{Id, Moment, ProcessLine, Whole, Word};
use etwkit_question::{Column, Line, Ranked, Value, View};

const EVENT: [&str; 2] = ["event", "events"];

type ProviderColumn = Column<TraceLogRequest, ProviderRow>;

pub(super) const PROVIDERS: View<TraceLogRequest, ProviderRow> = View::new(
    &[
        ProviderColumn::new("Count", "Events", Whole, |_, row| row.count.into()).sum(),
        ProviderColumn::new("Kinds", "Kinds", Whole, |_, row| row.kinds.into()),
        ProviderColumn::new("ProviderCount", "Of provider", Whole, |_, row| {
            row.provider_count.into()
        }),
        ProviderColumn::new("Provider", "Provider", Word, |_, row| {
            provider(row.provider.as_deref(), &row.provider_guid)
        }),
        ProviderColumn::new("Guid", "GUID", Word, |_, row| {
            row.provider_guid.clone().into()
        })
        .hidden(),
        ProviderColumn::new("Process", "Process", ProcessLine, |_, row| row.into()),
    ],
    |row| row.count as f64,
)
.ranking(|asked| Ranked::rows_unless(asked.sort == TraceLogSort::Name))
.with_total(|_, rows, _| {
    let of: BTreeSet<_> = rows
        .iter()
        .map(|row| (&row.provider_guid, &row.provider))
        .collect();
    let processes: BTreeSet<_> = rows.iter().map(|row| row.process_key).collect();
    vec![
        Line::new("Total: ")
            .counted(all(rows.iter().map(|row| row.count)), EVENT)
            .words(" of ")
            .counted(of.len() as i64, ["provider", "providers"])
            .words(" in ")
            .counted(processes.len() as i64, ["process", "processes"]),
    ]
});

type KindColumn = Column<TraceLogRequest, KindRow>;

pub(super) const KINDS: View<TraceLogRequest, KindRow> = View::new(
    &[
        KindColumn::new("Count", "Events", Whole, |_, row| row.count.into()).sum(),
        KindColumn::new("Id", "Id", Id, |_, row| row.event_id.into()),
        KindColumn::new("EventName", "Event", Word, |_, row| {
            row.event.clone().into()
        }),
        KindColumn::new("Provider", "Provider", Word, |_, row| {
            provider(row.provider.as_deref(), &row.provider_guid)
        }),
        KindColumn::new("Guid", "GUID", Word, |_, row| {
            row.provider_guid.clone().into()
        })
        .hidden(),
        KindColumn::new("Processes", "Processes", Whole, |_, row| {
            row.processes.into()
        }),
        KindColumn::new("First", "First", Moment, |_, row| row.first_ns.into()).hidden(),
        KindColumn::new("Last", "Last", Moment, |_, row| row.last_ns.into()).hidden(),
        KindColumn::new("DescribedBy", "Described by", Word, |_, row| {
            row.described_by.clone().into()
        })
        .hidden(),
    ],
    |row| row.count as f64,
)
.ranking(|asked| Ranked::rows_unless(asked.sort != TraceLogSort::Count))
.with_total(|_, rows, _| {
    vec![
        Line::new("Total: ")
            .counted(all(rows.iter().map(|row| row.count)), EVENT)
            .words(" of ")
            .counted(rows.len() as i64, ["kind", "kinds"]),
    ]
});

type EventColumn = Column<TraceLogRequest, Stacked<EventRow>>;

pub(super) const EVENTS: View<TraceLogRequest, Stacked<EventRow>> = View::new(
    &[
        EventColumn::time("Time", |_, it| it.row.ts_ns.into()),
        EventColumn::new("Pid", "Pid", Id, |_, it| it.row.pid.into()),
        EventColumn::new("Tid", "Tid", Id, |_, it| it.row.tid.into()),
        EventColumn::new("ProcessName", "Process", Word, |_, it| {
            it.row.process.clone().into()
        })
        .hidden(),
        EventColumn::new("Provider", "Provider", Word, |_, it| {
            provider(it.row.provider.as_deref(), &it.row.provider_guid)
        }),
        EventColumn::new("Guid", "GUID", Word, |_, it| {
            it.row.provider_guid.clone().into()
        })
        .hidden(),
        EventColumn::new("EventName", "Event", Word, |_, it| {
            it.row.event.clone().into()
        }),
        EventColumn::new("Id", "Id", Id, |_, it| it.row.event_id.into()),
        EventColumn::new("Level", "Level", Id, |_, it| it.row.level.into()).hidden(),
        EventColumn::new("Opcode", "Opcode", Id, |_, it| it.row.opcode.into()).hidden(),
        // A bit mask, aligned to the right like a number.
        EventColumn::new("Keyword", "Keyword", Id, |_, it| {
            format!("{:#x}", it.row.keyword).into()
        })
        .hidden(),
        EventColumn::new("DescribedBy", "Described by", Word, |_, it| {
            it.row.described_by.clone().into()
        })
        .hidden(),
        EventColumn::new("Message", "Message", Word, |_, it| {
            it.row.message.clone().into()
        }),
    ],
    |it| it.row.ts_ns as f64,
)
.ranking(|_| Ranked::No)
.with_below(|asked, it| {
    if asked.stacks {
        lines(&it.stack, asked.cut_stack)
    } else {
        Vec::new()
    }
});

fn provider(name: Option<&str>, guid: &str) -> Value {
    name.unwrap_or(guid).into()
}

fn all(counts: impl Iterator<Item = i64>) -> i64 {
    counts.fold(0, i64::saturating_add)
}
