//! `etwkit dump process`.

use clap::Args;
use etwkit_query::Session;
use etwkit_query::dump::process::{ProcessAnswer, ProcessCounts, ProcessRequest, ProcessRow, ProcessSort};
use etwkit_query::dump::zero::ZeroTime;
use etwkit_query::nt_status;
use etwkit_query::range::Unit;

use super::args::{Common, ProcessFilters, TopArgs, ZeroArgs, range, word};
use super::output::{Answered, Columns, Lines, ask_each_from_zero, exit, machine, show_sql};
use super::text::{ProcessText, Text, duration};
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
        let columns = self.columns(&text, &one.info.file_name)?;
        columns.lines(one.answer.rows.iter()).iter().try_for_each(|line| lines.line(line))?;
        if one.answer.rows.len() > 1 && self.show_total.as_deref() != Some("none") {
            lines.line(&summary(one.answer.counts))?;
        }
        Ok(())
    }

    fn columns<'a>(&'a self, text: &'a Text, file: &'a str) -> anyhow::Result<Columns<'a, ProcessRow>> {
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
        columns.number("ParentPid", "Parent", !is_tree, |row| {
            row.parent_pid.map(|pid| pid.to_string()).unwrap_or_default()
        });
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
        columns.word("FileName", "File", self.show_file_on_line, move |_| file.to_owned());
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
