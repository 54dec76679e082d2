//! `etwkit dump cpu --methods`: methods by process.

use etwkit_query::Session;
use etwkit_query::dump::cpu::check_waits;
use etwkit_query::dump::cpu_source::CpuSource;
use etwkit_query::dump::method::{MethodAnswer, MethodRow};
use etwkit_query::time_format::TimeWriter;

use super::below::below;
use super::cpu::{AllExtracts, name_source, sums};
use super::cpu_args::{By, CpuArgs};
use super::first_last::in_format;
use super::output::{Answered, Columns, Lines, show_sql, streamed_from_zero};
use super::text::{Text, cpu_word};
use crate::exit::Exit;
use crate::printer::Printer;

pub(super) fn run(args: &CpuArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let request = args.method_request()?;
    if args.common.show_sql {
        return show_sql(printer, &request.sql());
    }
    let question = |session: &Session| {
        if args.asks_waits() {
            check_waits(session)?;
        }
        request.ask(session)
    };
    let mut all = AllExtracts::default();
    let exit = streamed_from_zero(
        (&args.common, &request.zero),
        "dump cpu",
        printer,
        question,
        |answer| answer.processes.iter().flat_map(|process| &process.rows).collect(),
        |one, lines| {
            all.add(args, &one.info, (one.answer.source(), one.answer.total));
            print(args, one, lines)
        },
    )?;
    all.write(args, &mut Lines::new(&args.common, printer))?;
    Ok(exit)
}

fn print(args: &CpuArgs, one: &Answered<MethodAnswer>, lines: &mut Lines<'_, '_>) -> anyhow::Result<()> {
    let (info, answer) = (&one.info, &one.answer);
    let text = Text::new(&args.common, Some(&args.processes), info);
    let source = answer.source();
    let file_sums =
        if args.shows_sums() { sums(&text, (source, answer.total), args.sort_by) } else { String::new() };
    lines.file(info, &text, &file_sums)?;
    let more = match args.by {
        By::Thread => "",
        By::Process | By::Method | By::Module => {
            "; here that of the stays that began with the code in their stack"
        }
    };
    name_source(source, more, lines)?;
    let text = text.moved(&args.zero.zero());
    let (shows_rows, shows_processes) = args.shows();
    let columns = columns(args, &text, (source, answer.total.wait_ns.is_some()))?;
    // One table, so that columns of all processes have one width.
    let printed = columns.lines(answer.processes.iter().flat_map(|process| process.rows.iter()));
    let mut printed = printed.iter();
    if let Some(titles) = printed.next().filter(|_| shows_rows) {
        lines.line(titles)?;
    }
    for group in &answer.processes {
        if shows_processes
            && !args.show_on_method
            && let Some(row) = group.rows.first()
        {
            let sums = match args.show_total.as_deref() {
                Some("process" | "method") => {
                    format!("  [{}]", sums(&text, (source, group.total), args.sort_by))
                }
                _ => String::new(),
            };
            let priority = row.process_priority.filter(|_| args.details && !args.no_priority);
            let priority = priority
                .map(|priority| format!("  priority {}", text.fixed(priority, 1)))
                .unwrap_or_default();
            lines.line(&format!("  {}{priority}{sums}", text.process_line(row.into())))?;
        }
        for (row, line) in group.rows.iter().zip(printed.by_ref()) {
            if shows_rows {
                lines.line(line)?;
                below(args, &text, &row.kinds, &row.ready, lines)?;
            }
        }
    }
    Ok(())
}

fn columns<'a>(
    args: &'a CpuArgs,
    text: &'a Text,
    (source, has_waits): (Option<CpuSource>, bool),
) -> anyhow::Result<Columns<'a, MethodRow>> {
    let has_ready = has_waits && !args.no_ready;
    let has_times = args.details;
    let mut columns = Columns::new();
    let title = format!("{} ms", cpu_word(source));
    columns.number("Cpu", &title, true, |row: &MethodRow| {
        // CPU of a stack tag is not known without samples.
        row.cpu_source.as_ref().map(|_| text.ms(row.cpu_ns)).unwrap_or_default()
    });
    columns.number("Exclusive", "Exclusive ms", has_times || args.by == By::Module, |row| {
        text.maybe_ms(row.exclusive_ns)
    });
    columns.number("Wait", "Wait ms", has_waits, |row| text.maybe_ms(row.wait_ns));
    columns.number("Ready", "Ready ms", has_ready, |row| text.maybe_ms(row.ready_ns));
    columns.number("ReadyAvg", "Ready avg us", has_ready && has_times, |row| {
        // Cut, as the mean of the question is.
        row.ready_avg_ns.map(|ns| text.int(ns / 1000)).unwrap_or_default()
    });
    columns.number("WaitSum", "Wait sum ms", false, |row| text.maybe_ms(row.wait_sum_ns));
    columns.number("ReadySum", "Ready sum ms", false, |row| text.maybe_ms(row.ready_sum_ns));
    columns.number("Switches", "Switches", has_waits && has_times, |row| text.maybe_int(row.switches));
    columns.number("Threads", "Threads", args.thread_count, |row| text.maybe_int(row.threads));
    columns.number("Depth", "Depth", has_times, |row| text.maybe_fixed(row.depth, 1));
    columns.number("Duration", "Last-First s", args.first_last.is_some(), |row| {
        text.maybe_s(row.duration_ns, 3)
    });
    let (first, last) = args.first_last_formats();
    let (first_times, last_times) = (in_format(text.times, first), in_format(text.times, last));
    let time = |writer: TimeWriter, ns: Option<i64>| ns.map(|ns| writer.write(ns)).unwrap_or_default();
    columns.number("First", &format!("First {}", first_times.title()), first.is_some(), move |row| {
        time(first_times, row.first_ns)
    });
    columns.number("Last", &format!("Last {}", last_times.title()), last.is_some(), move |row| {
        time(last_times, row.last_ns)
    });
    let names = match args.by {
        By::Module => "Module",
        By::Thread => "Thread",
        By::Process | By::Method => "Method",
    };
    columns.word("Method", names, true, |row| {
        args.cut_method.map_or_else(|| row.name.clone(), |cut| cut.of(&row.name))
    });
    columns.word("Process", "Process", args.show_on_method, |row| text.process(row.into()));
    columns.word("Driver", "Driver", args.only_drivers(), |row| {
        let parts = [&row.driver_vendor, &row.driver_category];
        parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ")
    });
    let shows_path = args.show_module.is_some() && !args.only_drivers();
    columns.word("Module", "Path", shows_path, |row| {
        module([&row.module_path, &row.file_version, &row.product_name, &row.company])
    });
    columns.choose(args.common.column.as_deref())?;
    Ok(columns)
}

/// Path, version, product and company of a module.
pub(super) fn module(parts: [&Option<String>; 4]) -> String {
    parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(", ")
}
