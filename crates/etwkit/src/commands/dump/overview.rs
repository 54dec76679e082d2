//! `etwkit dump overview`: a trace on one screen, and what to ask next.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use etwkit_extract::manifest::{Detail, Manifest};
use etwkit_query::Session;
use etwkit_query::dump::cpu::CpuRow;
use etwkit_query::dump::disk::DiskRow;
use etwkit_query::dump::overview::{MethodShare, Overview, Recording};
use etwkit_query::dump::trace::TraceInfo;

use super::asking::{Naming, ask_in_order};
use super::overview_contents;
use super::text::rounded;
use crate::exit::Exit;
use crate::extracts::is_trace;
use crate::numbers::Numbers;
use crate::printer::{Align, Printer, Table, grouped};

/// Rows of each list if no option says otherwise.
pub(crate) const ROWS: usize = 8;

#[derive(Debug, Args)]
pub(crate) struct OverviewArgs {
    /// Extracts (NAME.etwx), or traces, which are extracted into a cache first
    #[arg(value_name = "EXTRACT", required = true)]
    extracts: Vec<PathBuf>,
    /// Rows of each list
    #[arg(long, value_name = "N", default_value_t = ROWS)]
    top: usize,
}

pub(crate) fn run(args: &OverviewArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    show(&args.extracts, args.top, printer)?;
    Ok(Exit::Answered)
}

/// Shows extracts or traces with the `top` largest of everything: several are asked at a time, and each is shown as soon as those in
/// front of it are.
pub(crate) fn show(paths: &[PathBuf], top: usize, printer: &mut Printer<'_>) -> anyhow::Result<()> {
    let shelf = printer.shelf();
    let question = |session: &Session| Ok((Overview::ask(session, top)?, Answers::of(session)));
    ask_in_order(Naming::default(), paths, &shelf, &question, |asked| {
        asked.notes.iter().for_each(|note| printer.note(note));
        let (info, answer) = asked.answer?;
        let (overview, answers) = answer.with_context(|| asked.name.clone())?;
        print(&overview, &info, printer)?;
        next(&overview, &answers, Path::new(&asked.name), printer)?;
        Ok(printer.finish()?)
    })
}

fn print(overview: &Overview, info: &TraceInfo, printer: &mut Printer<'_>) -> anyhow::Result<()> {
    recording(&overview.recording, info, printer)?;
    match &overview.contents {
        Some(contents) => overview_contents::print(contents, printer)?,
        None => processes(overview, printer)?,
    }
    modules(overview, printer)?;
    methods(overview, printer)?;
    if overview.contents.is_none() || !overview.files.is_empty() {
        files(&overview.files, printer)?;
    }
    // What the trace lacks is told here, and nowhere else.
    health(overview, printer)
}

fn ms(ns: i64) -> String {
    grouped_signed(rounded(ns, 1_000_000))
}

fn grouped_signed(number: i64) -> String {
    let digits = grouped(number.unsigned_abs());
    if number < 0 { format!("-{digits}") } else { digits }
}

fn maybe_ms(ns: Option<i64>) -> String {
    ns.map(ms).unwrap_or_default()
}

fn recording(r: &Recording, info: &TraceInfo, printer: &mut Printer<'_>) -> anyhow::Result<()> {
    let mut table = Table::pairs();
    let windows = [r.os_name.as_deref(), r.os_version.as_deref()];
    let windows: Vec<&str> = windows.into_iter().flatten().collect();
    let speed = r.cpu_mhz.map(|mhz| format!(", {} MHz", grouped_signed(mhz))).unwrap_or_default();
    let memory = r.memory_bytes.map(|bytes| format!(", {} MiB of memory", grouped_signed(bytes >> 20)));
    let machine = format!("{} processors{speed}{}", r.processors, memory.unwrap_or_default());
    let mut recorded = format!("{} for {:.3} s", r.start_utc, r.duration_ns as f64 / 1e9);
    if let Some((start, end)) = r.range_start_ns.zip(r.range_end_ns) {
        let seconds = |ns: i64| ns as f64 / 1e9;
        recorded.push_str(&format!("; extracted: {:.3} to {:.3} s of it", seconds(start), seconds(end)));
    }
    for (name, value) in [
        ("computer", r.computer.clone().unwrap_or_else(|| "?".to_owned())),
        ("Windows", windows.join(", ")),
        ("machine", machine),
        ("recorded", recorded),
        ("events", grouped_signed(r.events)),
    ] {
        table.row([name.to_owned(), value]);
    }
    printer.file(&info_title(info))?;
    Ok(printer.table(&table)?)
}

fn info_title(info: &TraceInfo) -> String {
    if info.file_name.is_empty() { "Trace".to_owned() } else { info.file_name.clone() }
}

fn process(name: Option<&str>, pid: Option<i64>) -> String {
    let name = name.unwrap_or("?");
    pid.map_or_else(|| name.to_owned(), |pid| format!("{name} ({pid})"))
}

fn processes(overview: &Overview, printer: &mut Printer<'_>) -> anyhow::Result<()> {
    let r = &overview.recording;
    let source = match (r.has_samples, r.has_switches) {
        (true, _) => "CPU samples",
        (false, true) => "context switches",
        // Then there are other things to tell.
        (false, false) => return Ok(()),
    };
    let right = Align::Right;
    // Without samples it is time on processors, which is something else than sampled CPU.
    let cpu = if r.has_samples { "CPU ms" } else { "running ms" };
    let mut columns = vec![("process", Align::Left), (cpu, right), ("% of machine", right)];
    if r.has_switches {
        columns.extend([("wait ms", right), ("ready ms", right), ("switches", right)]);
    }
    let mut table = Table::new(&columns);
    let seen_ns =
        r.range_end_ns.zip(r.range_start_ns).map_or(r.duration_ns, |(end, start)| end.saturating_sub(start));
    let machine_ns = seen_ns as f64 * r.processors.max(1) as f64;
    // Of no time at all, as damaged numbers can have it, nothing is a share.
    let percent = |ns: i64| {
        if machine_ns > 0.0 { format!("{:.1}", ns as f64 * 100.0 / machine_ns) } else { "?".to_owned() }
    };
    let row = |p: &CpuRow| {
        let mut row = vec![process(p.process.as_deref(), p.pid), ms(p.cpu_ns), percent(p.cpu_ns)];
        if r.has_switches {
            let switches = p.switches.map(grouped_signed).unwrap_or_default();
            row.extend([maybe_ms(p.wait_ns), maybe_ms(p.ready_ns), switches]);
        }
        row
    };
    overview.processes.iter().for_each(|p| table.row(row(p)));
    let what = if r.has_samples { "CPU" } else { "time on a processor" };
    printer.heading(&format!("Processes by {what}, from {source}"))?;
    printer.table(&table)?;
    let busy = percent(overview.cpu_ns);
    printer.line(&format!("  all processes: {} ms, {busy} % of the machine", ms(overview.cpu_ns)))?;
    if r.has_switches {
        printer.line("  wait and ready: time in which at least one thread of the process did so")?;
    }
    Ok(())
}

fn modules(overview: &Overview, printer: &mut Printer<'_>) -> anyhow::Result<()> {
    if overview.modules.is_empty() {
        return Ok(());
    }
    let mut table =
        Table::new(&[("module", Align::Left), ("own CPU ms", Align::Right), ("path", Align::Left)]);
    for module in &overview.modules {
        let name = match module.module.as_deref() {
            Some(name) => name,
            None if module.kind == "dotnet" => ".NET methods compiled at run time",
            None => "code in no module",
        };
        let path = module.module_path.clone().unwrap_or_default();
        table.row([name.to_owned(), ms(module.exclusive_ns), path]);
    }
    printer.heading("Modules by CPU of their own code")?;
    Ok(printer.table(&table)?)
}

fn methods(overview: &Overview, printer: &mut Printer<'_>) -> anyhow::Result<()> {
    if overview.methods.is_empty() {
        return Ok(());
    }
    let right = Align::Right;
    let mut columns = vec![
        ("method", Align::Left),
        ("process", Align::Left),
        ("own CPU ms", right),
        ("CPU with callees ms", right),
    ];
    if overview.recording.has_switches {
        columns.push(("wait ms", right));
    }
    let mut table = Table::new(&columns);
    for m in &overview.methods {
        let process = process(m.process.as_deref(), m.pid);
        let waiting = overview.recording.has_switches.then(|| maybe_ms(m.wait_ns));
        table.row([method(m), process, ms(m.exclusive_ns), ms(m.cpu_ns)].into_iter().chain(waiting));
    }
    printer.heading("Methods by CPU of their own code")?;
    Ok(printer.table(&table)?)
}

/// `module!method`; without a symbol the offset in the module, without a module the name or address alone.
fn method(m: &MethodShare) -> String {
    match (m.module.as_deref(), m.method.starts_with('+')) {
        (Some(module), true) => format!("{module}{}", m.method),
        (Some(module), false) => format!("{module}!{}", m.method),
        (None, true) => format!("?{}", m.method),
        (None, false) => m.method.clone(),
    }
}

/// Reads, writes and flushes; none where only their sums are known.
fn operations(f: &DiskRow) -> Option<i64> {
    [f.reads, f.writes, f.flushes].into_iter().try_fold(0i64, |sum, count| Some(sum.saturating_add(count?)))
}

fn files(files: &[DiskRow], printer: &mut Printer<'_>) -> anyhow::Result<()> {
    printer.heading("Files by service time of the disks")?;
    if files.is_empty() {
        return Ok(printer.line("  not recorded: DISK_IO+DISK_IO_INIT+FILENAME records disk I/O")?);
    }
    let right = Align::Right;
    let mut table = Table::new(&[
        ("file", Align::Left),
        ("disk ms", right),
        ("operations", right),
        ("read MB", right),
        ("written MB", right),
    ]);
    for f in files {
        let name = f.path.clone().unwrap_or_else(|| "flushes, and files without a name".to_owned());
        let mb = |bytes: i64| Numbers::default().thousandths(rounded(bytes, 1000));
        table.row([
            name,
            ms(f.total_service_ns),
            operations(f).map_or_else(|| "?".to_owned(), grouped_signed),
            mb(f.read_bytes),
            mb(f.write_bytes),
        ]);
    }
    Ok(printer.table(&table)?)
}

fn health(overview: &Overview, printer: &mut Printer<'_>) -> anyhow::Result<()> {
    printer.heading("Health")?;
    if overview.notes.is_empty() {
        return Ok(printer.line("  nothing was lost, nothing is damaged")?);
    }
    for note in &overview.notes {
        let place = note.position.as_deref().map(|place| format!(", first in {place}")).unwrap_or_default();
        printer.line(&format!(
            "  {}: {} ({}{place})",
            note.severity,
            note.message,
            grouped_signed(note.count)
        ))?;
    }
    Ok(())
}

/// What the smaller dumps tell.
const SMALLER: [(&str, &str); 10] = [
    ("exception", "exceptions of .NET programs"),
    ("thread-pool", "thread pools that starved"),
    ("tracelog", "events that describe themselves"),
    ("memory", "memory of processes"),
    ("power", "power settings"),
    ("mark", "marks and the time between them"),
    ("user-lock", "who waited for the lock of all windows, and who had it"),
    ("gdi-user", "windows, menus, fonts and bitmaps that are left"),
    ("ui-delay", "programs that did not look after their windows"),
    ("focus", "what the user was working with"),
];

/// Which questions have an answer, by the rows that they need.
struct Answers {
    stacks: bool,
    tags: bool,
    switches: bool,
    processes: bool,
    files: bool,
    transfers: bool,
    collections: bool,
    events: bool,
    /// Whether symbol files could name native code.
    unnamed: bool,
}

impl Answers {
    fn of(session: &Session) -> Self {
        let has = |table: &str| session.has_rows(table) == Some(true);
        let may_be_named = |manifest: &Manifest| {
            manifest.detail == Detail::Full && manifest.native_names.is_some_and(|n| n.named < n.addresses)
        };
        Self {
            stacks: has("cpu_stack") || has("cpu_sample") || has("context_switch"),
            tags: has("cpu_tag"),
            switches: has("context_switch"),
            processes: has("process"),
            files: has("file_file"),
            transfers: has("net_io"),
            collections: has("gc"),
            events: has("generic_event"),
            unnamed: session.manifests().any(|(_, manifest)| may_be_named(manifest)),
        }
    }
}

/// Questions that go on from here, ready to paste: those that have an answer.
fn next(
    overview: &Overview,
    answers: &Answers,
    extract: &Path,
    printer: &mut Printer<'_>,
) -> anyhow::Result<()> {
    let path = extract.display().to_string();
    let path =
        if path.contains([' ', '\'', '"']) { format!("'{}'", path.replace('\'', "'\\''")) } else { path };
    let top =
        overview.processes.iter().find_map(|p| p.pid).map_or_else(|| "'*'".to_owned(), |pid| pid.to_string());
    printer.heading("What to ask next")?;
    let mut questions = Vec::new();
    if !overview.processes.is_empty() {
        questions.push((format!("etwkit dump cpu {path}"), "every process, with its command line"));
        if answers.stacks {
            let what = "what called what in it";
            questions.push((format!("etwkit dump cpu --process {top} --stacks {path}"), what));
        }
        if answers.tags {
            let what = "what stacks mean: scanners, locks, heap";
            questions.push((format!("etwkit dump cpu --stack-tags '*' --top 5 {path}"), what));
        }
    } else if answers.processes {
        questions.push((format!("etwkit dump process {path}"), "every process, with its command line"));
    }
    if answers.switches {
        questions.push((format!("etwkit dump wait --chain {path}"), "the longest waits, and who ended them"));
        questions.push((
            format!("etwkit critical-path --process {top} --by-process {path}"),
            "whom it waited for, all in all",
        ));
    }
    if !overview.files.is_empty() {
        questions.push((format!("etwkit dump disk --dir-level 100 {path}"), "every file on the disks"));
    }
    if overview.recording.has_dns {
        questions.push((format!("etwkit dump dns {path}"), "which names took long to resolve"));
    }
    if overview.recording.has_tcp {
        questions.push((format!("etwkit dump tcp {path}"), "connections, what was sent again and how late"));
    }
    for dump in &overview.dumps {
        let why = SMALLER.iter().find(|(name, _)| name == dump).map_or("", |(_, why)| why);
        questions.push((format!("etwkit dump {dump} {path}"), why));
    }
    if overview.recording.has_failed_syscalls {
        questions.push((format!("etwkit dump syscall --status failed {path}"), "system calls that failed"));
    }
    if overview.recording.has_leaks {
        questions.push((format!("etwkit dump objectref --leak {path}"), "handles that were not closed"));
    }
    if overview.recording.has_outstanding_memory {
        questions
            .push((format!("etwkit dump virtual-alloc --details {path}"), "memory that was not given back"));
    }
    let no_cpu = overview.contents.is_some();
    if no_cpu && answers.files {
        questions.push((format!("etwkit dump file {path}"), "which files were used, and how long that took"));
    }
    if no_cpu && answers.transfers {
        questions.push((format!("etwkit sql {path} @net/processes"), "what processes sent and received"));
    }
    if answers.collections && no_cpu {
        questions.push((format!("etwkit sql {path} @dotnet/gc"), "collections of .NET programs"));
    }
    if no_cpu && is_trace(extract) {
        questions.push((format!("etwkit events --count {path}"), "how many events of which kind there are"));
    } else if no_cpu && answers.events {
        let sql =
            "SELECT provider, name, count(*) AS events FROM generic_event GROUP BY 1, 2 ORDER BY 3 DESC";
        questions.push((format!("etwkit sql {path} \"{sql}\""), "which events there are"));
    }
    if answers.unnamed {
        let what = "names of native functions, from Microsoft";
        questions.push((format!("etwkit symbols load --symbols MS {path}"), what));
    }
    questions.push(("etwkit sql --show-schema".to_owned(), "the tables that SQL can ask"));
    let mut table = Table::pairs();
    for (command, why) in questions {
        table.row([command, why.to_owned()]);
    }
    Ok(printer.table(&table)?)
}
