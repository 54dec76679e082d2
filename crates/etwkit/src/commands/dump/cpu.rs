//! `etwkit dump cpu`: sums of processes.

use std::collections::HashMap;

use etwkit_query::Session;
use etwkit_query::dump::cpu::{CpuAnswer, CpuRow, CpuSort, CpuTotal, check_waits};
use etwkit_query::dump::cpu_source::{CpuSource, check_comparable};
use etwkit_query::dump::trace::TraceInfo;

use super::below::below;
use super::cpu_args::CpuArgs;
use super::first_last::in_format;
use super::method::module;
use super::output::{
    Answered, Columns, Lines, ask_from_zero, rows_of, show_sql, streamed_from_zero, written,
};
use super::text::{Text, cpu_word};
use crate::exit::Exit;
use crate::printer::Printer;

const COMMAND: &str = "dump cpu";

pub(super) fn run(args: &CpuArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let request = args.request()?;
    if args.common.show_sql {
        return show_sql(printer, &request.sql());
    }
    let question = |session: &Session| {
        if args.asks_waits() {
            check_waits(session)?;
        }
        request.ask(session)
    };
    let (common, zero) = (&args.common, &request.zero);
    if args.merge {
        let answers = ask_from_zero(common, COMMAND, zero, printer, question)?;
        check_comparable(answers.iter().map(|one| (one.answer.source(), one.info.file_name.as_str())))?;
        let rows = rows_of(&answers, |answer| &answer.rows);
        return written(common, printer, rows, |lines| merged(args, &answers, lines));
    }
    let mut all = AllExtracts::default();
    let exit = streamed_from_zero(
        (common, zero),
        COMMAND,
        printer,
        question,
        |answer| answer.rows.iter().collect(),
        |one, lines| {
            all.add(args, &one.info, (one.answer.source(), one.answer.total));
            each(args, one, lines)
        },
    )?;
    all.write(args, &mut Lines::new(common, printer))?;
    Ok(exit)
}

/// Sums over extracts whose rows were written before.
#[derive(Default)]
pub(super) struct AllExtracts {
    extracts: usize,
    /// How many of them have CPU from samples, and from context switches.
    sampled: usize,
    switched: usize,
    total: CpuTotal,
    /// Writes numbers as the first extract does.
    text: Option<Text>,
}

impl AllExtracts {
    pub(super) fn add(
        &mut self,
        args: &CpuArgs,
        info: &TraceInfo,
        (source, total): (Option<CpuSource>, CpuTotal),
    ) {
        self.text.get_or_insert_with(|| Text::new(&args.common, None, info));
        self.extracts += 1;
        self.sampled += usize::from(source == Some(CpuSource::Samples));
        self.switched += usize::from(source == Some(CpuSource::ContextSwitches));
        self.total = self.total.plus(total);
    }

    /// Writes them, if they are of several.
    pub(super) fn write(&self, args: &CpuArgs, lines: &mut Lines<'_, '_>) -> anyhow::Result<()> {
        let Some(text) = self.text.as_ref().filter(|_| self.extracts > 1) else { return Ok(()) };
        if self.sampled > 0 && self.switched > 0 && args.shows_sums() {
            return lines.heading(&format!(
                "All extracts: not summed up, since CPU is sampled in {} and time on processors from context switches in {}",
                self.sampled, self.switched
            ));
        }
        let source = if self.switched > 0 { CpuSource::ContextSwitches } else { CpuSource::Samples };
        all_extracts(args, text, (Some(source), self.total), lines)
    }
}

/// A row with its trace, whose clock its times are written in.
struct Shown<'a> {
    row: &'a CpuRow,
    text: Text,
    file: &'a str,
    /// CPU of the process of that name in the newest trace, less that of the row.
    diff_ns: Option<i64>,
}

impl<'a> Shown<'a> {
    fn new(args: &CpuArgs, info: &'a TraceInfo, row: &'a CpuRow) -> Self {
        let text = Text::new(&args.common, Some(&args.processes), info).moved(&args.zero.zero());
        Self { row, text, file: &info.file_name, diff_ns: None }
    }
}

/// The list of an extract.
fn each(
    args: &CpuArgs,
    Answered { info, answer }: &Answered<CpuAnswer>,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), info);
    let of = (answer.source(), answer.total);
    let sums = if args.shows_sums() { sums(&text, of, args.sort_by) } else { String::new() };
    lines.file(info, &text, &sums)?;
    name_source(answer.source(), "", lines)?;
    // Sums of processes are the rows themselves.
    if args.show_total.as_deref() == Some("total") {
        return Ok(());
    }
    let shown: Vec<Shown<'_>> = answer.rows.iter().map(|row| Shown::new(args, info, row)).collect();
    print(args, of, &shown, lines)
}

/// One list over all extracts: processes of one name stand together, ascending by what they have together; each row names its trace and how it
/// differs from the newest one.
fn merged(args: &CpuArgs, answers: &[Answered<CpuAnswer>], lines: &mut Lines<'_, '_>) -> anyhow::Result<()> {
    let mut shown: Vec<Shown<'_>> = answers
        .iter()
        .flat_map(|one| one.answer.rows.iter().map(|row| Shown::new(args, &one.info, row)))
        .collect();
    shown.sort_by(|a, b| a.row.sort_value.total_cmp(&b.row.sort_value));
    args.top.top().cut(&mut shown);
    let mut sums: HashMap<Option<&str>, f64> = HashMap::new();
    for one in &shown {
        *sums.entry(one.row.process.as_deref()).or_default() += one.row.sort_value;
    }
    let newest = newest(answers);
    for one in &mut shown {
        let of = newest.get(&one.row.process.as_deref());
        one.diff_ns = of.map(|cpu_ns| cpu_ns.saturating_sub(one.row.cpu_ns));
    }
    let sum = |one: &Shown<'_>| sums.get(&one.row.process.as_deref()).copied().unwrap_or_default();
    shown.sort_by(|a, b| {
        let by_sum = sum(a).total_cmp(&sum(b)).then_with(|| a.row.process.cmp(&b.row.process));
        by_sum.then_with(|| a.row.sort_value.total_cmp(&b.row.sort_value))
    });
    let all = CpuAnswer::new(shown.iter().map(|shown| shown.row.clone()).collect());
    let total = (all.source(), all.total);
    name_source(all.source(), "", lines)?;
    print(args, total, &shown, lines)?;
    let Some(first) = answers.first() else { return Ok(()) };
    all_extracts(args, &Text::new(&args.common, None, &first.info), total, lines)
}

/// CPU of the largest process of each name in the trace that started last.
fn newest(answers: &[Answered<CpuAnswer>]) -> HashMap<Option<&str>, i64> {
    let newest = answers.iter().max_by_key(|one| one.info.start_filetime);
    let mut largest = HashMap::new();
    for row in newest.into_iter().flat_map(|one| &one.answer.rows) {
        let known = largest.entry(row.process.as_deref()).or_insert(row.cpu_ns);
        *known = row.cpu_ns.max(*known);
    }
    largest
}

fn print(
    args: &CpuArgs,
    (source, total): (Option<CpuSource>, CpuTotal),
    rows: &[Shown<'_>],
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let printed = columns(args, (source, total.wait_ns.is_some()), rows)?.lines(rows.iter());
    let mut printed = printed.iter();
    printed.next().into_iter().try_for_each(|titles| lines.line(titles))?;
    for (row, line) in rows.iter().zip(printed) {
        lines.line(line)?;
        below(args, &row.text, &row.row.kinds, &row.row.ready, lines)?;
    }
    Ok(())
}

fn all_extracts(
    args: &CpuArgs,
    text: &Text,
    total: (Option<CpuSource>, CpuTotal),
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    if !args.shows_sums() {
        return Ok(());
    }
    lines.heading(&format!("All extracts: {}", sums(text, total, args.sort_by)))
}

fn columns<'a>(
    args: &'a CpuArgs,
    (source, has_waits): (Option<CpuSource>, bool),
    rows: &[Shown<'a>],
) -> anyhow::Result<Columns<'a, Shown<'a>>> {
    let has_ready = has_waits && !args.no_ready;
    let mut columns = Columns::new();
    let title = format!("{} ms", cpu_word(source));
    columns.number("Cpu", &title, true, |s: &Shown<'a>| s.text.ms(s.row.cpu_ns));
    columns.number("Wait", "Wait ms", has_waits, |s| s.text.maybe_ms(s.row.wait_ns));
    columns.number("Ready", "Ready ms", has_ready, |s| s.text.maybe_ms(s.row.ready_ns));
    columns.number("Switches", "Switches", has_waits, |s| s.text.maybe_int(s.row.switches));
    let has_details = args.details;
    columns.number("Preemptions", "Preempted", has_waits && has_details, |s| {
        s.text.maybe_int(s.row.preemptions)
    });
    columns.number("Threads", "Threads", has_details || args.thread_count, |s| s.text.int(s.row.threads));
    columns.number("Priority", "Priority", !args.no_priority, |s| {
        let known = s.row.priority.filter(|priority| *priority > 0.0);
        s.text.maybe_fixed(known, 1)
    });
    columns.number("Cores", "Cores", !args.no_core_usage, |s| {
        if args.show_core_number { s.row.cores.clone() } else { s.text.int(s.row.core_count) }
    });
    let star = if args.zero.zero().mode.is_some() { "*" } else { "" };
    let (first, last) = args.first_last_formats();
    columns.number("First", &format!("First{star}"), first.is_some(), move |s| {
        in_format(s.text.times, first).write(s.row.first_ns)
    });
    columns.number("Last", &format!("Last{star}"), last.is_some(), move |s| {
        in_format(s.text.times, last).write(s.row.last_ns)
    });
    columns.number("Session", "Session", has_details, |s| s.text.maybe_int(s.row.session_id));
    let has_diff = args.merge && rows.iter().any(|row| row.diff_ns.is_some());
    columns.number("Diff", "Diff ms", has_diff, |s| s.text.maybe_ms(s.diff_ns));
    columns.word("File", "File", args.merge, |s| s.file.to_owned());
    columns.word("Process", "Process", true, |s| s.text.process_line(s.row.into()));
    columns.word("Module", "Path", args.show_module.is_some(), |s| {
        module([&s.row.module_path, &s.row.file_version, &s.row.product_name, &s.row.company])
    });
    columns.choose(args.common.column.as_deref())?;
    Ok(columns)
}

/// Says below the heading of an extract that its CPU is not sampled; `more` is what rows are of then.
pub(super) fn name_source(
    source: Option<CpuSource>,
    more: &str,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    match source {
        Some(CpuSource::ContextSwitches) => lines.line(&format!(
            "  no CPU was sampled: running is time on processors, from context switches{more}"
        )),
        Some(CpuSource::Samples) | None => Ok(()),
    }
}

/// `CPU 5 ms, wait 7 ms, ready 1 ms, total 12 ms`.
pub(super) fn sums(text: &Text, (source, total): (Option<CpuSource>, CpuTotal), sort: CpuSort) -> String {
    let mut parts = vec![format!("{} {} ms", cpu_word(source), text.ms(total.cpu_ns))];
    if let Some(wait) = total.wait_ns {
        parts.push(format!("wait {} ms", text.ms(wait)));
        parts.extend(total.ready_ns.map(|ready| format!("ready {} ms", text.ms(ready))));
        let with_ready = sort == CpuSort::CpuWaitReady;
        parts.push(format!("total {} ms", text.ms(total.total_ns(with_ready))));
    }
    parts.join(", ")
}
