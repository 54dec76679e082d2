//! `etwkit dump cpu --methods`: methods by process.

use etwkit_query::dump::cpu::{CpuTotal, check_waits};
use etwkit_query::dump::method::{MethodAnswer, MethodRow};
use etwkit_query::time_format::seconds;

use super::cpu::sums;
use super::cpu_args::CpuArgs;
use super::output::{Answered, Columns, Lines, ask, exit, machine, show_sql};
use super::text::Text;
use crate::exit::Exit;
use crate::printer::Printer;

pub(super) fn run(args: &CpuArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let request = args.method_request()?;
    if args.common.show_sql {
        return show_sql(printer, &request.sql());
    }
    let answers = ask(&args.common, "dump cpu", printer, |session| {
        if args.asks_waits() {
            check_waits(session)?;
        }
        request.ask(session)
    })?;
    let rows = answers.iter().flat_map(|one| {
        one.answer.processes.iter().flat_map(|process| process.rows.iter().map(|row| (&one.info, row)))
    });
    let count = rows.clone().count();
    if !machine(&args.common, printer, rows)? {
        let mut lines = Lines::new(&args.common, printer);
        let mut total = CpuTotal::default();
        for one in &answers {
            total = total.plus(one.answer.total);
            print(args, one, &mut lines)?;
        }
        if args.shows_sums()
            && let [first, _, ..] = answers.as_slice()
        {
            let text = Text::new(&args.common, None, &first.info);
            lines.heading(&format!("All extracts: {}", sums(&text, total, args.sort_by)))?;
        }
    }
    Ok(exit(count))
}

fn print(args: &CpuArgs, one: &Answered<MethodAnswer>, lines: &mut Lines<'_, '_>) -> anyhow::Result<()> {
    let (info, answer) = (&one.info, &one.answer);
    let text = Text::new(&args.common, Some(&args.processes), info);
    let file_sums = if args.shows_sums() { sums(&text, answer.total, args.sort_by) } else { String::new() };
    lines.file(info, &text, &file_sums)?;
    let (shows_rows, shows_processes) = args.shows();
    let columns = columns(args, &text, answer.total.wait_ns.is_some())?;
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
                Some("process" | "method") => format!("  [{}]", sums(&text, group.total, args.sort_by)),
                _ => String::new(),
            };
            lines.line(&format!("  {}{sums}", text.process_line(row.into())))?;
        }
        for line in printed.by_ref().take(group.rows.len()) {
            if shows_rows {
                lines.line(line)?;
            }
        }
    }
    Ok(())
}

fn columns<'a>(args: &'a CpuArgs, text: &'a Text, has_waits: bool) -> anyhow::Result<Columns<'a, MethodRow>> {
    let has_ready = has_waits && !args.no_ready;
    let mut columns = Columns::new();
    columns.number("Cpu", "CPU ms", true, |row: &MethodRow| text.ms(row.cpu_ns));
    columns.number("Exclusive", "Exclusive ms", args.details, |row| text.ms(row.exclusive_ns));
    columns.number("Wait", "Wait ms", has_waits, |row| text.maybe_ms(row.wait_ns));
    columns.number("Ready", "Ready ms", has_ready, |row| text.maybe_ms(row.ready_ns));
    columns.number("ReadyAvg", "Ready avg us", has_ready && args.details, |row| {
        // Cut, as the mean of the question is.
        row.ready_avg_ns.map(|ns| text.int(ns / 1000)).unwrap_or_default()
    });
    columns.number("Switches", "Switches", has_waits && args.details, |row| text.maybe_int(row.switches));
    columns.number("Threads", "Threads", args.thread_count, |row| text.int(row.threads));
    columns.number("Depth", "Depth", args.details, |row| format!("{:.1}", row.depth));
    columns.number("Duration", "Last-First s", args.first_last, |row| seconds(row.duration_ns, 3));
    let title = text.times.title();
    columns.number("First", &format!("First {title}"), args.first_last, |row| text.times.write(row.first_ns));
    columns.number("Last", &format!("Last {title}"), args.first_last, |row| text.times.write(row.last_ns));
    columns.word("Method", "Method", true, |row| row.name.clone());
    columns.word("Process", "Process", args.show_on_method, |row| text.process(row.into()));
    columns.word("Module", "Module", args.show_module, |row| {
        let parts = [&row.module_path, &row.file_version, &row.product_name, &row.company];
        parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(", ")
    });
    columns.choose(args.common.column.as_deref())?;
    Ok(columns)
}
