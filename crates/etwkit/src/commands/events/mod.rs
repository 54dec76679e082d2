//! `etwkit events`: the events of a trace, counted or decoded one by one.

mod filter;
mod list;
mod row;

use std::ops::ControlFlow;

use etwkit_etl::Order;
use etwkit_trace::counts::Counts;
use serde_json::json;

use super::{counts, damage, files_json, title};
use crate::cli::EventsArgs;
use crate::exit::Exit;
use crate::input;
use crate::printer::Printer;

pub(crate) fn run(args: &EventsArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    if args.count { count(args, printer) } else { list::run(args, printer) }
}

fn count(args: &EventsArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let described = args.descriptions.read()?;
    let input = input::open(&args.traces)?;
    let order = if args.unordered { Order::File } else { Order::Time };
    let mut counted = Counts::default();
    let mut names = counts::Names::with(described.descriptions().clone());
    let walk = input.session().for_each(order, |event| {
        let is_new = counted.add(event);
        if !args.json {
            names.observe(event, is_new);
        }
        ControlFlow::Continue(())
    })?;
    let damaged = damage::of_walk(&input, &walk);
    printer.add_gaps([damage::gaps(&input, &damaged, counted.times().map(|(_, last)| last))]);
    if args.json {
        printer.json_start("events");
        let files = files_json(&input);
        printer.json(&json!({"files": files, "counts": counted.json(), "damage": damage::json(&damaged)}))?;
    } else {
        printer.file(&format!("Events of {}", title(&input)))?;
        counts::print(&counted, names, printer)?;
        damage::print(printer, &input, &damaged, damage::NONE)?;
    }
    Ok(Exit::Answered)
}
