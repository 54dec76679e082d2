//! `etwkit export`: stacks of processes as a profile of another program.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use etwkit_engine::{Settings, Wanted, named};
use etwkit_export::{ExportRequest, FORMATS, Format, Written};
use etwkit_extract::default_target;
use etwkit_query::Session;
use etwkit_query::dump::ProcessQuery;
use etwkit_query::dump::cpu::{CpuRequest, CpuRow, CpuSort};
use etwkit_query::dump::cpu_question::cpu_word;
use etwkit_query::dump::cpu_source::CpuSource;
use etwkit_query::dump::stack_tree::Metric;
use serde_json::json;

use crate::exit::Exit;
use crate::extracts::open_extracts;
use crate::out_file::{self, Replace};
use crate::printer::{Printer, Table};
use crate::rules::NameArgs;
use crate::time_range::TimeRange;
use etwkit_query::numbers::{Numbers, rounded};

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Extracts (NAME.etwx), traces, which are extracted into a cache first, folders, patterns, or @FILE with
    /// one of these on each line; each trace becomes a file of its own
    #[arg(value_name = "EXTRACT", required = true)]
    extracts: Vec<PathBuf>,
    /// What is written
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(),
          default_value = FORMATS.first().map(|format| format.name()))]
    format: Chosen,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    pub(crate) names: NameArgs,
    /// Tell threads apart: stacks begin with their thread
    #[arg(long)]
    per_thread: bool,
    /// What stacks weigh
    #[arg(long, value_enum, default_value_t = Weight::Cpu)]
    metric: Weight,
    /// Only this part of the trace (s): A..B, A.. or ..B
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    range: Option<String>,
    /// The file to write, or an existing folder to put files into; without it TRACE_PROCESS_PID.FORMAT beside
    /// the extract or trace
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Overwrite a file that is there; traces and extracts are never overwritten
    #[arg(long)]
    force: bool,
    /// Print one JSON object for each file
    #[arg(long)]
    json: bool,
    /// How numbers are written.
    #[arg(skip)]
    pub(crate) numbers: Numbers,
}

/// Which processes. Without any of these the processes are listed.
#[derive(Debug, Args)]
#[group(multiple = false)]
struct Which {
    /// Only the process with this id
    #[arg(long, value_name = "PID")]
    pid: Option<u32>,
    /// Only these processes: names with or without .exe, or ids (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "NAMES")]
    process: Option<String>,
    /// All processes but the idle one
    #[arg(long)]
    all_processes: bool,
}

/// A format of other programs.
#[derive(Clone, Copy)]
struct Chosen(&'static dyn Format);

impl std::fmt::Debug for Chosen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.name())
    }
}

/// The formats that there are, by their words.
fn format_parser() -> impl TypedValueParser<Value = Chosen> {
    let words = FORMATS.iter().map(|format| PossibleValue::new(format.name()).help(format.sentence()));
    PossibleValuesParser::new(words)
        .try_map(|word| etwkit_export::format(&word).map(Chosen).ok_or("there is no such format"))
}

/// What stacks weigh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Weight {
    /// Sampled CPU, without any samples CPU from context switches
    Cpu,
    /// Waits that ended with the stack
    Wait,
    /// Times ready before the stack was switched in
    Ready,
}

impl Which {
    fn is_given(&self) -> bool {
        self.pid.is_some() || self.process.is_some() || self.all_processes
    }

    fn query(&self) -> ProcessQuery {
        let process = self.pid.map(|pid| pid.to_string()).or_else(|| self.process.clone());
        ProcessQuery { process, ..ProcessQuery::default() }
    }

    /// What a file of these processes is called, behind the name of the trace.
    fn name(&self, processes: &[CpuRow]) -> String {
        let of = |row: &CpuRow| {
            let process = row.process.as_deref().unwrap_or("unknown");
            let name = process.strip_suffix(".exe").unwrap_or(process);
            format!("{name}_{}", row.pid.unwrap_or(-1))
        };
        let name = match (processes, &self.process) {
            _ if self.all_processes => "AllProcesses".to_owned(),
            ([one], _) => of(one),
            (_, Some(filter)) => filter.clone(),
            // Instances that had the id one after the other.
            (several, None) => several.first().map(of).unwrap_or_default(),
        };
        // Names come out of the trace and may not leave the folder.
        name.chars().map(|c| if c.is_alphanumeric() || "-_. ".contains(c) { c } else { '_' }).collect()
    }
}

impl ExportArgs {
    fn metric(&self) -> Metric {
        match self.metric {
            Weight::Cpu => Metric::Cpu,
            Weight::Wait => Metric::Wait,
            Weight::Ready => Metric::Ready,
        }
    }
}

pub(crate) fn run(args: &ExportArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let time = TimeRange::parse(args.range.as_deref())?;
    let extracts = named(&args.extracts, Wanted::Answers, false)?;
    let names_file = args.out.as_ref().is_some_and(|out| !out.is_dir());
    ensure!(
        !names_file || extracts.len() == 1,
        "--out names one file, and {} extracts become a file each",
        extracts.len()
    );
    if args.json {
        printer.json_start("export");
    }
    let mut exit = Exit::Answered;
    for path in &extracts {
        exit = exit.worse(one(args, path, time, printer)?);
    }
    Ok(exit)
}

/// One extract.
fn one(
    args: &ExportArgs,
    path: &Path,
    time: TimeRange<'_>,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Exit> {
    let session = open_extracts(&[path.to_owned()], printer)?;
    let time = time.of_session(&session)?;
    let request =
        CpuRequest { processes: args.which.query(), sort: CpuSort::Cpu, time, ..CpuRequest::default() };
    let processes = match request.ask(&session).map_err(|error| error.of(&session)) {
        Ok(answer) => answer.rows,
        Err(nothing) if nothing.is_nothing() => {
            let (path, hint) = (path.display().to_string(), nothing.hint().unwrap_or_default());
            if args.json {
                let nothing = nothing.to_string();
                printer.json(&json!({"extract": path, "nothing": nothing, "hint": hint}))?;
            } else {
                printer.line(&format!("{path}: {nothing}"))?;
                printer.labelled(&format!("hint: {hint}"))?;
            }
            return Ok(Exit::Nothing);
        }
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    };
    if !args.which.is_given() || processes.is_empty() {
        return not_chosen(args, &session, printer);
    }
    let name = args.which.name(&processes);
    let target = target(args.out.as_deref(), path, &format!("{name}.{}", args.format.0.name()));
    out_file::check(&target, Replace::forced(args.force))?;
    let request = ExportRequest {
        name,
        processes: args.which.query(),
        metric: args.metric(),
        time,
        process_roots: processes.len() > 1,
        thread_roots: args.per_thread,
        temp_dir: Settings::from_environment().temp_dir,
    };
    let written = write((&request, args.format.0), &session, &target, args.force)?;
    told(args, &target, processes.len(), written, printer)?;
    Ok(if written.stacks > 0 { Exit::Answered } else { Exit::Nothing })
}

/// The file of an extract or trace.
fn target(out: Option<&Path>, path: &Path, name: &str) -> PathBuf {
    // Of a packed extract, too.
    let unpacked =
        path.to_string_lossy().to_lowercase().ends_with(".etwx.zip").then(|| path.with_extension(""));
    let stem = default_target(unpacked.as_deref().unwrap_or(path));
    let stem = stem.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let stem = stem.strip_suffix(".etwx").unwrap_or(&stem);
    let file = format!("{stem}_{name}");
    match out {
        Some(folder) if folder == Path::new(".") => PathBuf::from(file),
        Some(folder) if folder.is_dir() => folder.join(file),
        Some(file) => file.to_owned(),
        None => path.with_file_name(file),
    }
}

/// Writes the file, which gets its name when it is complete.
fn write(
    (request, format): (&ExportRequest, &dyn Format),
    session: &Session,
    target: &Path,
    force: bool,
) -> anyhow::Result<Written> {
    let mut file = out_file::buffered(target, Replace::forced(force))?;
    let written = request.write(format, session, &mut file).with_context(|| out_file::cannot(target))?;
    out_file::keep(file, target)?;
    Ok(written)
}

fn told(
    args: &ExportArgs,
    target: &Path,
    processes: usize,
    written: Written,
    printer: &mut Printer<'_>,
) -> anyhow::Result<()> {
    let file = target.display().to_string();
    if args.json {
        printer.json(&json!({"file": file, "processes": processes, "stacks": written.stacks,
            "frames": written.frames, "total_ns": written.total_ns, "source": written.source.map(CpuSource::name)}))?;
        return Ok(());
    }
    printer.line(&format!("Converted File: {file}"))?;
    let ms = args.numbers.whole(rounded(written.total_ns, 1_000_000));
    printer.line(&format!(
        "  {ms} ms of {processes} {} in {} stacks, {} names",
        if processes == 1 { "process" } else { "processes" },
        written.stacks,
        written.frames
    ))?;
    if args.metric() == Metric::Cpu && written.source == Some(CpuSource::ContextSwitches) {
        printer.line("  no CPU was sampled: weights are time on processors, from context switches")?;
    }
    Ok(())
}

/// The processes that could be chosen, since none was or none is there. The answer is an error if the command
/// line lacks the choice.
fn not_chosen(args: &ExportArgs, session: &Session, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let answer = CpuRequest::default().ask(session)?;
    let title = format!("{} ms", cpu_word(answer.source()));
    let mut rows = answer.rows;
    rows.sort_by(|a, b| {
        let name = |row: &CpuRow| row.process.as_deref().map(str::to_lowercase);
        name(a).cmp(&name(b)).then(a.pid.cmp(&b.pid)).then(a.process_key.cmp(&b.process_key))
    });
    let why = if args.which.is_given() { "There is no such process" } else { "No process was chosen" };
    if args.json {
        printer.json(&json!({"nothing": why.to_lowercase()}))?;
    } else {
        printer.line(&format!("{why}; choose one by --pid, some by --process, or --all-processes:"))?;
        let rows = rows.into_iter().map(|row| {
            let pid = row.pid.map(|pid| pid.to_string()).unwrap_or_default();
            [args.numbers.whole(rounded(row.cpu_ns, 1_000_000)), pid, row.process.unwrap_or_default()]
        });
        printer.table(&Table::of(&format!("{title}>|pid>|process"), rows))?;
    }
    Ok(if args.which.is_given() { Exit::Nothing } else { Exit::Error })
}
