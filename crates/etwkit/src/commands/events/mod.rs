//! `etwkit events`: the events of a trace, counted or decoded one by one.

pub(super) mod filter;
mod list;

use std::sync::Arc;

use etwkit_engine::described;
use etwkit_extract::Described;
use etwkit_terminal::Exit;
use etwkit_trace::report::counts::{CountReport, Counting};
use etwkit_trace::report::events::EventFilter;
use serde_json::{Value, json};

use super::{counts, damage, files_json, title};
use crate::cli::EventsArgs;
use crate::input::{self, Opened};
use crate::printer::Printer;

pub(crate) fn run(args: &EventsArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let described = described(&args.descriptions.read()?)?;
    let input = input::open(&args.traces)?;
    let asked = FilteredTrace {
        filter: filter::of(args, &input)?,
        described,
        input,
    };
    if args.count {
        count(args, &asked, printer)
    } else {
        list::run(args, &asked, printer)
    }
}

/// A trace with its filter and its event descriptions.
struct FilteredTrace {
    input: Opened,
    filter: EventFilter<'static>,
    described: Described,
}

fn count(
    args: &EventsArgs,
    asked: &FilteredTrace,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Exit> {
    let FilteredTrace {
        input,
        filter,
        described,
    } = asked;
    let counting = Counting {
        unordered: args.unordered,
        names: !args.json,
        descriptions: Arc::clone(described.descriptions()),
    };
    let report = CountReport::read(input.session(), &counting, filter)?;
    printer.add_gaps([damage::gaps(input, &report.gaps)]);
    if args.json {
        printer.json_start("events");
        let mut object = json!({"files": files_json(input)});
        if let (Some(map), Value::Object(counts)) =
            (object.as_object_mut(), serde_json::to_value(&report)?)
        {
            map.extend(counts);
        }
        printer.json(&object)?;
    } else {
        printer.file(&format!("Events of {}", title(input)))?;
        counts::print(&report.counts, printer)?;
        damage::print(printer, input, &report.damage, damage::NONE)?;
    }
    Ok(ended(report.counts.total, filter, printer))
}

/// Returns the exit code: a trace without an event is an answer, but a filter without a match is
/// not.
fn ended(events: u64, filter: &EventFilter<'_>, printer: &mut Printer<'_>) -> Exit {
    if events > 0 || !filter.asks() {
        return Exit::Answered;
    }
    printer.note(
        "no event matches; `etwkit info` names the providers, `etwkit events --count` all kinds of events",
    );
    Exit::Nothing
}
