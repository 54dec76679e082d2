//! `etwkit dump process`.

use anyhow::ensure;
use clap::Args;
use etwkit_query::Session;
use etwkit_query::dump::Top;
use etwkit_query::dump::process::{ProcessAnswer, ProcessCounts, ProcessRequest, ProcessRow, ProcessSort};
use etwkit_query::dump::process_merge::{MergedProcess, merge, sort};
use etwkit_query::dump::trace::TraceInfo;
use etwkit_query::dump::zero::ZeroTime;
use etwkit_query::nt_status;
use etwkit_query::range::Unit;

use super::args::{Common, ProcessFilters, TopArgs, ZeroArgs, range, word};
use super::output::{Answered, Columns, Lines, ask, ask_each_from_zero, exit, machine, show_sql, written};
use super::text::{ProcessText, Text, duration, id};
use crate::exit::Exit;
use crate::printer::Printer;

const SORTS: &[(&str, ProcessSort)] = &[
    ("name", ProcessSort::Name),
    ("time", ProcessSort::Time),
    ("stop-time", ProcessSort::StopTime),
    ("session", ProcessSort::Session),
    ("tree", ProcessSort::Tree),
];

#[derive(Debug, Args)]
pub(crate) struct ProcessArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    processes: ProcessFilters,
    #[command(flatten)]
    top: TopArgs,
    #[command(flatten)]
    zero: ZeroArgs,
    /// Only these parents and what they started
    #[arg(long, value_name = "NAMES")]
    parent: Option<String>,
    /// Only processes whose start and end lie so far apart, such as 10s..; without both it is 0
    #[arg(long, value_name = "A..B")]
    duration: Option<String>,
    /// Only processes that started at such seconds of the trace
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    start: Option<String>,
    /// Only processes that crashed: by exit code, or reported to Windows Error Reporting
    #[arg(long)]
    crash: bool,
    /// Order
    #[arg(long, value_name = "ORDER", value_parser = word(SORTS), default_value = "name")]
    sort_by: ProcessSort,
    /// Show users
    #[arg(long)]
    show_user: bool,
    /// Show terminal sessions and app packages
    #[arg(long)]
    details: bool,
    /// One list over all extracts: a process that started in one and ended in a later one has both times
    #[arg(long, conflicts_with = "zero_time")]
    merge: bool,
    /// With --merge: processes that neither started nor ended once for each extract
    #[arg(long, requires = "merge")]
    all_processes: bool,
    /// Show the name of the trace in each line
    #[arg(long)]
    show_file_on_line: bool,
    /// Sums: none, or total over all extracts, too
    #[arg(long, value_name = "WHAT", value_parser = ["none", "total"])]
    show_total: Option<String>,
}

impl ProcessArgs {
    fn request(&self) -> anyhow::Result<ProcessRequest> {
        Ok(ProcessRequest {
            processes: self.processes.query(),
            parent: self.parent.clone(),
            duration: range("duration", self.duration.as_deref(), Unit::Seconds)?,
            start: range("start", self.start.as_deref(), Unit::Seconds)?,
            crashed: self.crash,
            zero: self.zero.zero(),
            sort: self.sort_by,
            top: self.top.top(),
        })
    }

    /// One extract.
    fn print(
        &self,
        one: &Answered<ProcessAnswer>,
        zero: &ZeroTime,
        lines: &mut Lines<'_, '_>,
    ) -> anyhow::Result<()> {
        let text = Text::new(&self.common, Some(&self.processes), &one.info);
        lines.file(&one.info, &text, "")?;
        let text = text.moved(zero);
        let columns = self.columns(&text, |_| one.info.file_name.clone())?;
        columns.lines(one.answer.rows.iter()).iter().try_for_each(|line| lines.line(line))?;
        if one.answer.rows.len() > 1 && self.show_total.as_deref() != Some("none") {
            lines.line(&summary(one.answer.counts))?;
        }
        Ok(())
    }

    fn columns<'a>(
        &'a self,
        text: &'a Text,
        file: impl Fn(&ProcessRow) -> String + 'a,
    ) -> anyhow::Result<Columns<'a, ProcessRow>> {
        let mut columns = Columns::new();
        let is_tree = self.sort_by == ProcessSort::Tree;
        let time = |ns: Option<i64>| ns.map(|ns| text.times.write(ns)).unwrap_or_default();
        columns.number("ProcessId", "Pid", !is_tree, |row: &ProcessRow| row.pid.to_string());
        let star = if text.times.title().ends_with('*') { "*" } else { "" };
        columns.word("StartTime", &format!("Start{star}"), !is_tree, move |row| time(row.start_ns));
        columns.word("StopTime", &format!("Stop{star}"), !is_tree, move |row| time(row.stop_ns));
        columns.number("Duration", "Duration", !is_tree, |row| {
            row.duration_ns.map(duration).unwrap_or_default()
        });
        columns.word("ReturnCode", "Return code", true, |row| return_code(row.exit_code));
        columns.number("Session", "Session", self.details, |row| text.maybe_int(row.session_id));
        columns.word("User", "User", self.show_user, |row| row.sid.clone().unwrap_or_default());
        columns.number("ParentPid", "Parent", !is_tree, |row| id(row.parent_pid));
        columns.word("ParentProcess", "Parent process", false, |row| row.parent.clone().unwrap_or_default());
        columns.word("Process", "Process", true, move |row| {
            let branch = if row.level > 0 { "|- " } else { "" };
            let indent = usize::try_from(row.level).unwrap_or(0).min(64) * 2;
            format!("{:indent$}{branch}{}", "", text.process(process(row)))
        });
        columns.word("CommandLine", "Command line", !self.processes.no_cmdline, |row| {
            row.command_line.clone().unwrap_or_default()
        });
        columns.word("Package", "Package", self.details, |row| row.package.clone().unwrap_or_default());
        columns.word("FileName", "File", self.show_file_on_line, file);
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }
}

fn process(row: &ProcessRow) -> ProcessText<'_> {
    ProcessText {
        name: row.name.as_deref(),
        pid: Some(row.pid),
        start_ns: row.start_ns,
        stop_ns: row.stop_ns,
        command_line: row.command_line.as_deref(),
    }
}

/// The name of an error of Windows, or the number.
fn return_code(code: Option<i64>) -> String {
    let Some(code) = code else { return String::new() };
    let name = i32::try_from(code).ok().and_then(nt_status::error_name);
    name.map_or_else(|| code.to_string(), str::to_owned)
}

fn summary(counts: ProcessCounts) -> String {
    let ProcessCounts { processes, started, ended, permanent, sessions, users } = counts;
    format!(
        "{processes} processes: {started} started, {ended} ended, {permanent} did neither; {sessions} sessions, {users} users"
    )
}

pub(super) fn run(args: &ProcessArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let request = args.request()?;
    if args.common.show_sql {
        return show_sql(printer, &request.sql());
    }
    if args.merge {
        return merged(args, &request, printer);
    }
    let common = &args.common;
    let (mut all, mut answers) = (Vec::new(), 0);
    let mut files = Vec::new();
    let question = |session: &Session| request.ask(session);
    ask_each_from_zero(common, "dump process", &request.zero, printer, question, |printer, one| {
        answers += 1;
        all.extend(one.answer.rows.iter().cloned());
        if common.csv.is_some() {
            // A file is written when all is known.
            files.push(one);
            return Ok(());
        }
        let rows = one.answer.rows.iter().map(|row| (&one.info, row));
        if !machine(common, printer, rows)? {
            args.print(&one, &request.zero, &mut Lines::new(common, printer))?;
        }
        // The first rows of hundreds of extracts are there at once.
        Ok(printer.finish()?)
    })?;
    if common.csv.is_some() {
        machine(
            common,
            printer,
            files.iter().flat_map(|one| one.answer.rows.iter().map(|row| (&one.info, row))),
        )?;
    } else if !common.json && args.show_total.as_deref() == Some("total") && answers > 1 {
        let total = format!("All extracts: {}", summary(ProcessCounts::of(&all)));
        Lines::new(common, printer).heading(&total)?;
    }
    Ok(exit(all.len()))
}

/// One list over all extracts.
fn merged(args: &ProcessArgs, request: &ProcessRequest, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    ensure!(args.sort_by != ProcessSort::Tree, "--merge: a tree is one of a single extract");
    let whole = ProcessRequest { top: Top::default(), ..request.clone() };
    let answers = ask(&args.common, "dump process", printer, |session| whole.ask(session))?;
    let recordings: Vec<_> = answers.iter().map(|one| (&one.info, &one.answer.rows[..])).collect();
    let all = merge(&recordings, args.all_processes);
    // Text has the times of the first recording, so that seconds can be compared.
    let first = recordings.iter().map(|(info, _)| *info).min_by_key(|info| info.start_filetime);
    let Some(first) = first else { return Ok(Exit::Nothing) };
    let info = |process: &MergedProcess| recordings.get(process.recording).map_or(first, |(info, _)| *info);
    let mut moved: Vec<(ProcessRow, usize)> =
        all.iter().zip(0..).map(|(process, at)| (moved(process, info(process), first), at)).collect();
    sort(&mut moved, args.sort_by, |(row, _)| row);
    request.top.cut(&mut moved);
    let rows = moved.iter().filter_map(|(_, at)| all.get(*at)).map(|process| (info(process), &process.row));
    written(&args.common, printer, rows, |lines| {
        let text = Text::new(&args.common, Some(&args.processes), first);
        // The key of a row is its place, by which its file is found.
        let mut shown: Vec<ProcessRow> = moved.iter().map(|(row, _)| row.clone()).collect();
        shown.iter_mut().zip(&moved).for_each(|(row, (_, at))| row.process_key = *at as i64);
        let file = |row: &ProcessRow| {
            let process = usize::try_from(row.process_key).ok().and_then(|at| all.get(at));
            process.map(|process| info(process).file_name.clone()).unwrap_or_default()
        };
        args.columns(&text, file)?.lines(shown.iter()).iter().try_for_each(|line| lines.line(line))?;
        if shown.len() > 1 && args.show_total.as_deref() != Some("none") {
            lines.line(&summary(ProcessCounts::of(&shown)))?;
        }
        Ok(())
    })
}

/// The row of a process with times of another recording.
fn moved(process: &MergedProcess, of: &TraceInfo, to: &TraceInfo) -> ProcessRow {
    let offset = of.start_filetime.saturating_sub(to.start_filetime).saturating_mul(100);
    let moved = |ns: Option<i64>| ns.map(|ns| ns.saturating_add(offset));
    let row = &process.row;
    ProcessRow { start_ns: moved(row.start_ns), stop_ns: moved(row.stop_ns), ..row.clone() }
}
