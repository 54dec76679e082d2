//! `etwkit export`: stacks or timelines of processes in formats of other programs.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use etwkit_base::path::stem_of;
use etwkit_engine::{Asking, InputKind, Settings, named};
use etwkit_export::wpa::{Output, ProfileArgs};
use etwkit_export::{ExportRequest, FORMATS, Format, Takes, WrittenProfile};
use etwkit_extract::default_target;
use etwkit_question::ProcessQuery;
use etwkit_question::tag_query::TagQuery;
use etwkit_questions::cpu::question::cpu_word;
use etwkit_questions::cpu::{CpuRequest, CpuRow, CpuSort, Metric};
use etwkit_sql::Session;
use etwkit_terminal::{Exit, Table};
use serde_json::json;

use crate::arguments::WhereArgs;
use crate::extracts::open_extracts;
use crate::out_file::{self, Replace};
use crate::printer::Printer;
use crate::rules::NameArgs;
use crate::tags::TagArgs;
use crate::time_range::TimeRange;
use etwkit_question::numbers::{Numbers, rounded};
use etwkit_question::range::Range;

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Extracts (NAME.etwx), traces, which are extracted into a cache first, folders, patterns, or
    /// "@FILE" with one of these on each line; each trace becomes a file of its own
    #[arg(value_name = "EXTRACT", required = true)]
    extracts: Vec<PathBuf>,
    #[command(flatten)]
    chosen_by: WhereArgs,
    /// Format of the file
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(),
          default_value = FORMATS.first().map(|format| format.name()))]
    format: Chosen,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    tables: ProfileArgs,
    #[command(flatten)]
    pub(crate) names: NameArgs,
    /// Only stacks with these stack tags, of timelines what has one of them; not of packets (*, ?,
    /// several with ;, ! excludes)
    #[arg(long, value_name = "NAMES")]
    tag: Option<String>,
    #[command(flatten)]
    tag_files: TagArgs,
    /// Keep threads apart: stacks start with their thread (not in timelines, which always do)
    #[arg(long)]
    per_thread: bool,
    /// Weight of stacks (not in timelines, which have all of it)
    #[arg(long, value_enum, default_value_t = Weight::Cpu)]
    metric: Weight,
    /// Only this part of the trace (s): A..B, A.. or ..B
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    range: Option<String>,
    /// The file to write, or an existing folder to put files into, with --profile any folder;
    /// by default next to the extract or trace
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Overwrite a file that is there; traces and extracts are never overwritten
    #[arg(long)]
    force: bool,
    /// Print one JSON object for each file
    #[arg(long)]
    json: bool,
    /// Format of numbers.
    #[arg(skip)]
    pub(crate) numbers: Numbers,
}

/// Selection of processes. Without any of these options the processes are listed, and packets are
/// written for all.
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

/// Returns the parser for names of formats.
fn format_parser() -> impl TypedValueParser<Value = Chosen> {
    let words = FORMATS
        .iter()
        .map(|format| PossibleValue::new(format.name()).help(format.sentence()));
    PossibleValuesParser::new(words).try_map(|word| {
        etwkit_export::format(&word)
            .map(Chosen)
            .ok_or("there is no format of this name")
    })
}

/// Weight of stacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Weight {
    /// Sampled CPU, without any samples CPU from context switches
    Cpu,
    /// Waits that ended with the stack
    Wait,
    /// Ready times before the stack was switched in
    Ready,
}

impl Which {
    fn is_given(&self) -> bool {
        self.pid.is_some() || self.process.is_some() || self.all_processes
    }

    fn query(&self) -> ProcessQuery {
        let process = self
            .pid
            .map(|pid| pid.to_string())
            .or_else(|| self.process.clone());
        ProcessQuery {
            process,
            ..ProcessQuery::default()
        }
    }

    /// Returns the part of a packet file's name that follows the name of the trace.
    fn name_of_packets(&self) -> String {
        let of = self
            .pid
            .map(|pid| pid.to_string())
            .or_else(|| self.process.clone());
        plain(&of.unwrap_or_else(|| {
            if self.all_processes {
                "AllProcesses"
            } else {
                "packets"
            }
            .to_owned()
        }))
    }

    /// Returns the part of a file's name that follows the name of the trace.
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
            (several, None) => several.first().map_or_else(String::new, of),
        };
        plain(&name)
    }
}

/// Returns a name from the trace as a part of a file name: it must not lead out of the folder, nor
/// be too long.
fn plain(name: &str) -> String {
    let plain = |c: char| {
        if c.is_alphanumeric() || "-_. ".contains(c) {
            c
        } else {
            '_'
        }
    };
    name.chars().take(60).map(plain).collect()
}

impl ExportArgs {
    fn request(&self, time: Range, processes: usize) -> ExportRequest {
        let sets = self.tag_files.names();
        ExportRequest {
            name: String::new(),
            processes: self.which.query(),
            tags: TagQuery {
                tags: self.tag.clone(),
                sets,
            },
            metric: match self.metric {
                Weight::Cpu => Metric::Cpu,
                Weight::Wait => Metric::Wait,
                Weight::Ready => Metric::Ready,
            },
            time,
            process_roots: processes > 1,
            thread_roots: self.per_thread,
            process_count: processes,
            temp_dir: Settings::from_environment().temp_dir,
        }
    }
}

/// Returns the extracts that a command line names and chooses.
fn named_extracts(args: &ExportArgs, printer: &mut Printer<'_>) -> anyhow::Result<Vec<PathBuf>> {
    let extracts = named(&args.extracts, InputKind::Answers, false)?;
    args.chosen_by.choose(extracts, printer)
}

pub(crate) fn run(args: &ExportArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    if !args.tables.profiles.is_empty() {
        let range = args.range.as_deref();
        let folder = args.out.as_deref();
        let output = Output {
            range,
            folder,
            force: args.force,
            json: args.json,
        };
        let extracts = match &args.chosen_by.condition {
            None => args.extracts.clone(),
            Some(_) => named_extracts(args, printer)?,
        };
        return etwkit_export::wpa::export(&args.tables, &extracts, output, printer);
    }
    let time = TimeRange::parse(args.range.as_deref())?;
    ensure!(
        args.tag.is_some() || !args.tag_files.are_given(),
        "--stack-tag-file needs --tag NAMES"
    );
    let sets = args
        .tag_files
        .are_given()
        .then(|| args.tag_files.sets(printer))
        .transpose()?;
    if let Some(sets) = sets {
        let asking = Asking {
            tags: sets.into(),
            ..printer.context().asking
        };
        printer.ask_with(asking);
    }
    let extracts = named_extracts(args, printer)?;
    // An existing folder receives a file for each extract, while any other path names one file.
    let names_file = args.out.as_ref().is_some_and(|out| !out.is_dir());
    ensure!(
        !names_file || extracts.len() == 1,
        "--out names one file, and {} extracts become a file each",
        extracts.len()
    );
    // The names of processes, which end the names of files, are known only later. So traces with
    // the same name are rejected even if their processes differ.
    let targets = extracts
        .iter()
        .map(|path| (path.as_path(), target(args.out.as_deref(), path, "")));
    out_file::all_different(targets)?;
    if args.json {
        printer.json_start("export");
    }
    let mut exit = Exit::Answered;
    for path in &extracts {
        exit = exit.worse(one(args, path, time, printer)?);
    }
    Ok(exit)
}

/// Exports one extract.
fn one(
    args: &ExportArgs,
    path: &Path,
    time: TimeRange<'_>,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Exit> {
    let session = open_extracts(&[path.to_owned()], printer)?;
    let time = time.of_session(&session)?;
    match args.format.0.takes() {
        Takes::Packets => {
            let name = args.which.name_of_packets();
            let request = ExportRequest {
                name,
                ..args.request(time, 0)
            };
            return export(args, (path, &session), &request, printer);
        }
        Takes::Timeline => return timeline(args, (path, &session), time, printer),
        Takes::Stacks => {}
    }
    let request = CpuRequest {
        processes: args.which.query(),
        sort: CpuSort::Cpu,
        time,
        ..CpuRequest::default()
    };
    let processes = match request
        .process_answer(&session)
        .map_err(|error| error.of(&session))
    {
        Ok(answer) => answer.rows,
        Err(nothing) if nothing.is_nothing() => {
            return not_there(args, path, &nothing.into(), printer);
        }
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    };
    if !args.which.is_given() || processes.is_empty() {
        // Without any option, since the list offers all processes to choose from.
        let answer = CpuRequest::default().process_answer(&session)?;
        let title = format!("{} ms>|pid>|process", cpu_word(answer.source()));
        return not_chosen(args, &title, answer.rows, printer);
    }
    let name = args.which.name(&processes);
    let request = ExportRequest {
        name,
        ..args.request(time, processes.len())
    };
    export(args, (path, &session), &request, printer)
}

/// Exports the timeline of one extract, which does not need recorded CPU data.
fn timeline(
    args: &ExportArgs,
    (path, session): (&Path, &Session),
    time: Range,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Exit> {
    let processes = etwkit_export::processes(session, &args.which.query(), time)?;
    if !args.which.is_given() || processes.is_empty() {
        let all = etwkit_export::processes(session, &ProcessQuery::default(), Range::default())?;
        return not_chosen(args, "threads>|pid>|process", all, printer);
    }
    let name = args.which.name(&processes);
    let request = ExportRequest {
        name,
        ..args.request(time, processes.len())
    };
    export(args, (path, session), &request, printer)
}

/// Reports that the trace lacks the requested data.
fn not_there(
    args: &ExportArgs,
    path: &Path,
    nothing: &etwkit_export::Error,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Exit> {
    let path = path.display().to_string();
    let hint = nothing.hint().unwrap_or("");
    if args.json {
        printer.json(&json!({"extract": path, "nothing": nothing.to_string(), "hint": hint}))?;
    } else {
        printer.line(&format!("{path}: {nothing}"))?;
        printer.labelled(&format!("hint: {hint}"))?;
    }
    Ok(Exit::Nothing)
}

/// Writes one file and reports it.
fn export(
    args: &ExportArgs,
    (path, session): (&Path, &Session),
    request: &ExportRequest,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Exit> {
    let target = target(
        args.out.as_deref(),
        path,
        &format!("{}.{}", request.name, args.format.0.name()),
    );
    // Rejected before minutes are spent on rows that cannot be written.
    out_file::check(&target, Replace::forced(args.force))?;
    let written = match write((request, args.format.0), session, &target, args.force) {
        Ok(written) => written,
        Err(error) => match error.downcast_ref::<etwkit_export::Error>() {
            Some(nothing) if nothing.is_nothing() => {
                return not_there(args, path, nothing, printer);
            }
            _ => return Err(error),
        },
    };
    let file = target.display().to_string();
    if args.json {
        printer.json(&written.json(&file, request))?;
    } else {
        printer.line(&format!("Converted File: {file}"))?;
        written
            .lines(&args.numbers, request)
            .iter()
            .try_for_each(|line| printer.line(line))?;
    }
    Ok(if written.is_empty() {
        Exit::Nothing
    } else {
        Exit::Answered
    })
}

/// Returns the file of an extract or trace.
fn target(out: Option<&Path>, path: &Path, name: &str) -> PathBuf {
    // The name of a packed extract ends in `.etwx.zip`, and loses both.
    let unpacked = path
        .to_string_lossy()
        .to_lowercase()
        .ends_with(".etwx.zip")
        .then(|| path.with_extension(""));
    let stem = stem_of(&default_target(unpacked.as_deref().unwrap_or(path)));
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
) -> anyhow::Result<WrittenProfile> {
    let mut file = out_file::buffered(target, Replace::forced(force))?;
    let written = request
        .write(format, session, &mut file)
        .with_context(|| out_file::cannot(target))?;
    out_file::keep(file, target)?;
    Ok(written)
}

/// Lists the processes to choose from, since none was chosen or the chosen one does not exist. The
/// answer is an error if the command line lacks the choice.
fn not_chosen(
    args: &ExportArgs,
    titles: &str,
    mut rows: Vec<CpuRow>,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Exit> {
    rows.sort_by(|a, b| {
        let name = |row: &CpuRow| row.process.as_deref().map(str::to_lowercase);
        name(a)
            .cmp(&name(b))
            .then(a.pid.cmp(&b.pid))
            .then(a.process_key.cmp(&b.process_key))
    });
    let why = if args.which.is_given() {
        "No process matches"
    } else {
        "No process was chosen"
    };
    if args.json {
        printer.json(&json!({"nothing": why.to_lowercase()}))?;
    } else {
        printer.line(&format!(
            "{why}; choose one by --pid, some by --process, or --all-processes:"
        ))?;
        let is_timeline = args.format.0.takes() == Takes::Timeline;
        let rows = rows.into_iter().map(|row| {
            let first = if is_timeline {
                row.threads
            } else {
                rounded(row.cpu_ns, 1_000_000)
            };
            let pid = row.pid.map_or_else(String::new, |pid| pid.to_string());
            [
                args.numbers.whole(first),
                pid,
                row.process.unwrap_or_default(),
            ]
        });
        printer.table(&Table::of(titles, rows))?;
    }
    Ok(if args.which.is_given() {
        Exit::Nothing
    } else {
        Exit::Error
    })
}
