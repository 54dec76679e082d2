//! The command line.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use etwkit_base::endings::is_trace;
use etwkit_base::shell::quoted_pattern;
use etwkit_cut::CutArgs;
use etwkit_question::Descriptions;
use etwkit_record::RecordArgs;
use etwkit_record::lab::LabArgs;
use etwkit_record::test_runs::RunArgs;
use etwkit_server::mcp::McpArgs;
use etwkit_sql::{nearest, similar};
use etwkit_terminal::style::ColorMode;

use crate::arguments::TraceArgs;
use crate::commands::cache::CacheArgs;
use crate::commands::diff::DiffArgs;
use crate::commands::dump::critical_path::PathArgs;
use crate::commands::dump::diagnose::DiagnoseArgs;
use crate::commands::dump::dump_args::DumpArgs;
use crate::commands::dump::explain::ExplainArgs;
use crate::commands::export::ExportArgs;
use crate::commands::extract::label;
use crate::commands::lake::args::LakeArgs;
use crate::commands::shell::{CompletionsArgs, ManArgs};
use crate::commands::sql::args::SqlArgs;
use crate::commands::strace::StraceArgs;
use crate::commands::symbols::SymbolsArgs;
use crate::examples::{
    CACHE_EXAMPLE, COMPLETIONS_EXAMPLE, CONSOLE_EXAMPLE, CUT_EXAMPLE, DEMO_EXAMPLE,
    DIAGNOSE_EXAMPLE, DIFF_EXAMPLE, DOCS_EXAMPLE, DUMP_EXAMPLE, EVENTS_EXAMPLE, EXPLAIN_EXAMPLE,
    EXPORT_EXAMPLE, EXTRACT_EXAMPLE, INFO_EXAMPLE, LAB_EXAMPLE, LAKE_EXAMPLE, MAN_EXAMPLE,
    MCP_EXAMPLE, PATH_EXAMPLE, RECORD_EXAMPLE, ROOT_EXAMPLE, RUN_EXAMPLE, SQL_EXAMPLE,
    STRACE_EXAMPLE, SYNTH_EXAMPLE, VIEW_EXAMPLE, WPAEXPORTER_EXAMPLE,
};
use crate::help;
use crate::options::OptionGroup;
use crate::printer::Speech;
use crate::report;
use crate::rules::NameArgs;
use crate::symbols::SymbolArgs;
use crate::tags::TagArgs;

/// Read, query and diagnose Windows ETW traces (.etl) on any operating system.
#[derive(Debug, Parser)]
#[command(name = "etwkit", version, propagate_version = false, after_help = ROOT_EXAMPLE)]
#[command(arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Use colors: auto (on a terminal, unless NO_COLOR is set; anywhere with CLICOLOR_FORCE),
    /// always or never
    #[arg(
        long,
        value_name = "WHEN",
        value_enum,
        global = true,
        display_order = 900,
        hide_possible_values = true
    )]
    pub(crate) color: Option<ColorMode>,
    /// Print errors only, no notes
    #[arg(
        long,
        short,
        global = true,
        display_order = 901,
        conflicts_with = "verbose"
    )]
    pub(crate) quiet: bool,
    /// Print more notes, such as the extracts that answered
    #[arg(long, short, global = true, display_order = 902)]
    pub(crate) verbose: bool,
    /// Take and print the real names of a redacted trace, from the table that `cut --redact --map` wrote
    #[arg(long, value_name = "FILE", global = true, display_order = 903)]
    pub(crate) map: Option<PathBuf>,
}

impl Cli {
    /// Returns the amount of output on the error stream.
    pub(crate) const fn speech(&self) -> Speech {
        match (self.quiet, self.verbose) {
            (true, _) => Speech::Quiet,
            (_, true) => Speech::Verbose,
            _ => Speech::Usual,
        }
    }
}

/// Returns the command line as the parser of arguments knows it.
pub(crate) fn command() -> clap::Command {
    let root = help::in_groups(Cli::command(), help::COMMANDS, "");
    // The same option, which the parser also takes before the name of the command.
    let map_of_cut = root
        .get_arguments()
        .find(|option| option.get_id().as_str() == "map")
        .map(|map| map.clone().help(MAP_OF_CUT));
    root.mut_subcommand("dump", |dump| {
        help::in_groups(dump, help::QUESTIONS, help::ELSEWHERE)
    })
    .mut_subcommand("cut", |cut| cut.args(map_of_cut))
}

/// Help of `--map` where it names a file to write.
const MAP_OF_CUT: &str = "With --redact, write the table of substitutes and real names into this new file: keep it \
     to read answers about the new trace with real names";

/// Reads a command line.
///
/// # Errors
/// A faulty command line, or one that asks for help.
pub(crate) fn read(args: &[OsString]) -> Result<Cli, clap::Error> {
    let mut command = command();
    let matches = command.try_get_matches_from_mut(args)?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// Returns the hint for a command line if there is no better one.
pub(crate) fn help_of(args: &[OsString]) -> String {
    if etwkit_compat::is_line(args) {
        return format!(
            "`etwkit {}` lists the switches of ETWAnalyzer",
            etwkit_compat::help_line(args)
        );
    }
    let root = Cli::command();
    let (mut command, mut names) = (&root, Vec::new());
    for word in args.iter().skip(1).filter_map(|word| word.to_str()) {
        if let Some(next) = command.find_subcommand(word) {
            names.push(next.get_name().to_owned());
            command = next;
        }
    }
    if names.is_empty() {
        return report::HELP.to_owned();
    }
    format!(
        "`etwkit {} --help` lists the arguments, with examples",
        names.join(" ")
    )
}

/// Returns the text of a usage error. A wrong number is described for users, not for programmers.
pub(crate) fn text_of(error: &clap::Error) -> String {
    let text = error.render().to_string();
    text.replace("invalid digit found in string", "expected a whole number")
        .replace("invalid float literal", "expected a number")
}

/// Returns the text of a usage error with the most similar command added, if the parser of
/// arguments found none: for it, two swapped letters are far apart.
pub(crate) fn with_suggestion(error: &clap::Error, text: String) -> String {
    if let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg)
        && let Some(tip) = instead_of(option, &text)
    {
        return with_tip(&text, &tip);
    }
    let text = without_value_tip(text);
    if let Some(wrong) = unlike_option(error) {
        return text.replace(
            &format!("\n\n  tip: a similar argument exists: '{wrong}'"),
            "",
        );
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return text;
    };
    if word == "list" && text.contains(" record [OPTIONS]") {
        let tip =
            "etwkit record profiles lists the profiles, etwkit record sessions what is running";
        return with_tip(&text, tip);
    }
    if is_trace(word) || word.ends_with(".etwx") {
        return with_tip(&text, &format!("etwkit diagnose {}", quoted_pattern(word)));
    }
    if let Some(ContextValue::Strings(known)) = error.get(ContextKind::SuggestedSubcommand) {
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        return match nearest(word, &known) {
            // The parser lists names with any letters in common.
            Some(best) if known.len() > 1 => {
                with_tip(&text, &format!("a similar subcommand exists: '{best}'"))
            }
            _ => text,
        };
    }
    match similar_command(word, outer_command(&text)) {
        Some(like) => with_tip(&text, &format!("do you mean '{like}'?")),
        None => text,
    }
}

/// Returns the text of a usage error without the tip that a mistyped option can be passed as a value:
/// no file is called `--symbols`.
fn without_value_tip(text: String) -> String {
    let Some((before, rest)) = text.split_once("\n\n  tip: to pass '--") else {
        return text;
    };
    match rest.split_once('\n') {
        Some((_, after)) => format!("{before}\n{after}"),
        None => before.to_owned(),
    }
}

/// Returns the advice for an option that other commands have, given the text of the error.
fn instead_of(option: &str, text: &str) -> Option<Cow<'static, str>> {
    match option {
        "--for" if text.contains(" record start ") => {
            Some("etwkit record now records for that time and stops".into())
        }
        "--json" if text.contains("Usage: etwkit sql ") => {
            Some("--format json writes a JSON object for each row".into())
        }
        "--symbols" => Some(
            "`etwkit symbols load --symbols MS TRACE` loads the names of functions, which all reports then show"
                .into(),
        ),
        "--table" => of_one_table(text),
        _ => None,
    }
}

/// Returns the advice about rows and columns for a dump that has a single table.
fn of_one_table(text: &str) -> Option<Cow<'static, str>> {
    let (_, usage) = text.split_once("Usage: etwkit dump ")?;
    let (name, _) = usage.split_once(' ')?;
    let root = Cli::command();
    let dump = root.find_subcommand("dump")?.find_subcommand(name)?;
    let has_rows = dump.get_arguments().any(|arg| arg.get_long() == Some("by"));
    let rows = if has_rows {
        "--by chooses its rows, --column its columns"
    } else {
        "--column chooses its columns"
    };
    Some(format!("dump {name} has one table: {rows}").into())
}

/// Returns the command with a name like this word, among those of a command or of the program. A
/// dump has `dump` before it, unless only dumps were meant.
fn similar_command(word: &str, outer: Option<&str>) -> Option<String> {
    let root = Cli::command();
    let is_of_dump = outer == Some("dump");
    // Other commands with commands of their own have no dumps.
    if let Some(outer) = outer.filter(|_| !is_of_dump) {
        return nearest(word, &inner_commands(&root, outer)).map(str::to_owned);
    }
    let dumps = inner_commands(&root, "dump");
    let commands = root.get_subcommands().map(clap::Command::get_name);
    let ours: Vec<&str> = commands.chain(dumps.iter().copied()).collect();
    let swapped = ours.iter().find(|known| letters(known) == letters(word));
    let like = match swapped {
        Some(swapped) => (*swapped).to_owned(),
        None => similar(word, &ours).into_iter().next()?,
    };
    let is_dump = dumps.contains(&like.as_str()) && root.find_subcommand(&like).is_none();
    Some(if is_dump && !is_of_dump {
        format!("dump {like}")
    } else {
        like
    })
}

/// Returns the names of the commands of a command.
fn inner_commands<'c>(root: &'c clap::Command, outer: &str) -> Vec<&'c str> {
    let outer = root.find_subcommand(outer).into_iter();
    let inner = outer.flat_map(clap::Command::get_subcommands);
    inner.map(clap::Command::get_name).collect()
}

fn letters(word: &str) -> Vec<char> {
    let mut letters: Vec<char> = word.to_lowercase().chars().collect();
    letters.sort_unstable();
    letters
}

/// Returns the command whose usage an error shows, as in `Usage: etwkit lake [OPTIONS] <COMMAND>`.
fn outer_command(text: &str) -> Option<&str> {
    let (_, usage) = text.split_once("Usage: ")?;
    let (words, _) = usage.split_once(" [OPTIONS]")?;
    words.split_whitespace().nth(1)
}

/// Returns the option that the parser takes for the one that was meant, if their names have little in
/// common: for the parser, `--process` is like `--force`.
fn unlike_option(error: &clap::Error) -> Option<&str> {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let Some(ContextValue::String(option)) = error.get(ContextKind::SuggestedArg) else {
        return None;
    };
    let is_start = option.starts_with(given.as_str());
    let bare = option.trim_start_matches('-');
    let is_like = is_start || nearest(given.trim_start_matches('-'), &[bare]).is_some();
    (!is_like).then_some(option)
}

/// Returns the text of a usage error with this tip above the usage.
fn with_tip(text: &str, tip: &str) -> String {
    let parts = text.split_once("\n\n").zip(text.split_once("\n\nUsage"));
    match parts {
        Some(((message, _), (_, usage))) => format!("{message}\n\n  tip: {tip}\n\nUsage{usage}"),
        None => text.to_owned(),
    }
}

impl Command {
    /// Returns the naming options of processes, for commands that query extracts.
    pub(crate) fn names(&self) -> Option<&NameArgs> {
        match self {
            Self::Dump(args) => Some(&args.names),
            Self::CriticalPath(args) => Some(&args.names),
            Self::Diagnose(args) => Some(&args.names),
            Self::Diff(args) => Some(&args.names),
            Self::Explain(args) => Some(&args.names),
            Self::Sql(args) => Some(&args.names),
            Self::Export(args) => Some(&args.names),
            Self::Strace(args) => Some(&args.names),
            _ => None,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the recorded topics and the machine, and whether the trace is intact
    #[command(after_help = INFO_EXAMPLE)]
    Info(InfoArgs),
    /// Print the decoded events of a trace, or count them
    #[command(after_help = EVENTS_EXAMPLE)]
    Events(EventsArgs),
    /// Turn traces into extracts, small folders of Parquet files
    #[command(after_help = EXTRACT_EXAMPLE)]
    Extract(ExtractArgs),
    /// Print one of 56 reports: CPU, waits, disk, network, memory, .NET, ...
    #[command(after_help = DUMP_EXAMPLE, arg_required_else_help = true)]
    Dump(Box<DumpArgs>),
    /// Show where the time of a process went, across threads and processes
    #[command(after_help = PATH_EXAMPLE, arg_required_else_help = true)]
    CriticalPath(Box<PathArgs>),
    /// Name the likely causes, the costliest first
    #[command(after_help = DIAGNOSE_EXAMPLE, arg_required_else_help = true)]
    Diagnose(Box<DiagnoseArgs>),
    /// Compare two traces, or two parts of one
    #[command(after_help = DIFF_EXAMPLE, arg_required_else_help = true)]
    Diff(Box<DiffArgs>),
    /// Find what the slow runs of a test have in common
    #[command(after_help = EXPLAIN_EXAMPLE, arg_required_else_help = true)]
    Explain(Box<ExplainArgs>),
    /// Query traces in SQL
    #[command(after_help = SQL_EXAMPLE, arg_required_else_help = true)]
    #[command(
        override_usage = "etwkit sql [OPTIONS] <EXTRACT>... <SQL>\n       etwkit sql [OPTIONS] --file <FILE> <EXTRACT>...\n       etwkit sql --show-schema [TABLE]"
    )]
    Sql(Box<SqlArgs>),
    /// Explore traces in the browser
    #[command(after_help = VIEW_EXAMPLE)]
    View(ViewArgs),
    /// Let agents query traces (Model Context Protocol)
    #[command(after_help = MCP_EXAMPLE)]
    Mcp(McpArgs),
    /// Ask several questions in a row, with completion
    #[command(after_help = CONSOLE_EXAMPLE)]
    Console(ConsoleArgs),
    /// Write stacks or timelines for other programs
    #[command(after_help = EXPORT_EXAMPLE, arg_required_else_help = true)]
    Export(Box<ExportArgs>),
    /// Write a smaller trace: a part of the time, or without private texts
    #[command(after_help = CUT_EXAMPLE, arg_required_else_help = true)]
    Cut(Box<CutArgs>),
    /// Run a wpaexporter command line: tables of a WPA profile as CSV files
    #[command(after_help = WPAEXPORTER_EXAMPLE, arg_required_else_help = true, disable_help_flag = true)]
    Wpaexporter(etwkit_export::wpa::LineArgs),
    /// Print system calls as strace does
    #[command(after_help = STRACE_EXAMPLE, arg_required_else_help = true)]
    Strace(Box<StraceArgs>),
    /// Record on Windows; elsewhere print the commands that do it
    #[command(after_help = RECORD_EXAMPLE, arg_required_else_help = true)]
    Record(Box<RecordArgs>),
    /// Run a command repeatedly and report how long it took
    #[command(after_help = RUN_EXAMPLE, arg_required_else_help = true)]
    Run(Box<RunArgs>),
    /// Reproduce what made machines slow in the case studies
    #[command(after_help = LAB_EXAMPLE, arg_required_else_help = true)]
    Lab(Box<LabArgs>),
    /// Keep many runs in one folder of Delta tables
    #[command(after_help = LAKE_EXAMPLE, arg_required_else_help = true)]
    Lake(LakeArgs),
    /// Get the names of native functions from symbol files
    #[command(arg_required_else_help = true)]
    Symbols(SymbolsArgs),
    /// Take a tour with a generated trace
    #[command(after_help = DEMO_EXAMPLE)]
    Demo(DemoArgs),
    /// Write traces of simulated machines with known truth
    #[command(after_help = SYNTH_EXAMPLE, arg_required_else_help = true)]
    Synth(SynthArgs),
    /// List or clear the cache
    #[command(after_help = CACHE_EXAMPLE, arg_required_else_help = true)]
    Cache(CacheArgs),
    /// Print a script that completes command lines in a shell
    #[command(after_help = COMPLETIONS_EXAMPLE, arg_required_else_help = true)]
    Completions(CompletionsArgs),
    /// Read the documentation, which comes with the program
    #[command(after_help = DOCS_EXAMPLE)]
    Docs(DocsArgs),
    /// Write a manual page for each command
    #[command(after_help = MAN_EXAMPLE, arg_required_else_help = true)]
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DocsArgs {
    /// Page to open, such as howto/leaks or leaks [default: the start page]
    #[arg(value_name = "TOPIC")]
    pub(crate) topic: Option<String>,
    /// Print the page as text; without a topic list all pages
    #[arg(long)]
    pub(crate) plain: bool,
    /// Write the pages to this folder instead of opening them
    #[arg(long, value_name = "FOLDER", conflicts_with = "plain")]
    pub(crate) out: Option<PathBuf>,
    /// Do not start a browser
    #[arg(long)]
    pub(crate) no_open: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    pub(crate) traces: TraceArgs,
    /// Sum up who used the CPU even if the trace is larger than 512 MiB, which takes long
    #[arg(long)]
    pub(crate) full: bool,
    /// Print one JSON object; it always has everything
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EventsArgs {
    #[command(flatten)]
    pub(crate) traces: TraceArgs,
    #[command(flatten)]
    pub(crate) descriptions: OptionGroup<Descriptions>,
    /// Count events by header kind, processor, kernel event and provider event instead of printing
    /// them
    #[arg(long, conflicts_with = "format")]
    pub(crate) count: bool,
    /// With --count: read in the order of the file instead of the order of time: faster, with the
    /// same counts
    #[arg(long, requires = "count", conflicts_with_all = ["process", "limit"])]
    pub(crate) unordered: bool,
    /// Only events of this provider or class: its name (*, ?, several with ;, ! excludes) or GUID
    #[arg(long, value_name = "PROVIDERS")]
    pub(crate) provider: Option<String>,
    /// Only events with this name, such as Process/Start, or CSwitch for Thread/CSwitch (*, ?,
    /// several with ;, ! excludes)
    #[arg(long, value_name = "EVENTS")]
    pub(crate) name: Option<String>,
    /// Only events of these processes: names with or without .exe, or ids (*, ?, several with ;, !
    /// excludes)
    #[arg(long, value_name = "NAMES")]
    pub(crate) process: Option<String>,
    /// Only events in this time, in seconds since the start of the trace or as clock times: A..B,
    /// A.. or ..B
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    pub(crate) range: Option<String>,
    /// Stop after so many events
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Format of the events
    #[arg(long, value_enum, default_value_t = EventsFormat::Text)]
    pub(crate) format: EventsFormat,
    /// Short for --format json: a line that names the command and the format, then one object on
    /// each line
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
}

/// Forms of the list of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EventsFormat {
    /// A line for people
    Text,
    /// An object on each line
    Json,
    /// A row of comma-separated values
    Csv,
}

#[derive(Debug, Args)]
pub(crate) struct ExtractArgs {
    #[command(flatten)]
    pub(crate) traces: TraceArgs,
    /// The extract to make, a folder NAME.etwx or one file NAME.etwx.zip, or an existing folder to
    /// put extracts into [default: next to each trace]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Add the extracts to this lake, as `etwkit lake add` does. Without --out they are removed
    /// afterwards
    #[arg(long, value_name = "LAKE")]
    pub(crate) lake: Option<PathBuf>,
    /// Level of detail that is kept
    #[arg(long, value_enum, default_value_t = Detail::Full)]
    pub(crate) detail: Detail,
    /// Diagnose each trace as well, and keep the findings: for summaries, `diagnose --trend` and SQL.
    /// Takes about a second for each trace
    #[arg(long, conflicts_with = "tables")]
    pub(crate) findings: bool,
    /// Keep the numbers that `explain` compares: over many runs it reads them instead of computing them
    #[arg(long, conflicts_with = "tables")]
    pub(crate) features: bool,
    /// Tables that are kept: 'cpu*;disk*' keeps those alone, '!context_switch;!syscall' all others.
    /// What names and times stand for is kept in any case
    #[arg(long, value_name = "FILTER")]
    pub(crate) tables: Option<String>,
    /// Only this time, in seconds since the start of the trace or as clock times: A..B, A.. or ..B
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    pub(crate) range: Option<String>,
    /// Count a scheduling slice, with the wait before, whole where it starts, instead of cutting it
    /// at the ends of --range
    #[arg(long, requires = "range")]
    pub(crate) keep_whole: bool,
    /// Traces that are extracted at the same time [default: number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: Option<u32>,
    /// Read all files as one session and make one extract of them [default: an extract of each
    /// trace]
    #[arg(long)]
    pub(crate) one_session: bool,
    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,
    #[command(flatten)]
    pub(crate) tags: TagArgs,
    #[command(flatten)]
    pub(crate) descriptions: OptionGroup<Descriptions>,
    /// Keep extracts that are there if they are of the same trace
    #[arg(long)]
    pub(crate) no_overwrite: bool,
    /// Write no files of tables without rows, which are two of three in a summary: other programs then
    /// do not find each table in each extract
    #[arg(long)]
    pub(crate) no_empty: bool,
    /// Leave out the bytes of events that nothing describes
    #[arg(long)]
    pub(crate) no_payload: bool,
    /// Write a label on the extracts, such as the build that was measured: `extract.labels` has it;
    /// can be repeated
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = label::parse)]
    pub(crate) labels: Vec<(String, String)>,
    /// Print one JSON object for each trace
    #[arg(long)]
    pub(crate) json: bool,
}

/// Level of detail of an extract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Detail {
    /// All rows
    Full,
    /// Sums by process, method, stack and file: some hundred times smaller than the trace
    Summary,
}

#[derive(Debug, Args)]
pub(crate) struct ConsoleArgs {
    /// Extracts and traces to open first: files, folders or patterns such as "*slow*"
    #[arg(value_name = "EXTRACT")]
    pub(crate) extracts: Vec<String>,
    /// Neither read nor write the file that remembers lines
    #[arg(long)]
    pub(crate) no_history: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Folder for the trace and its extract
    #[arg(value_name = "FOLDER", default_value = "etwkit-demo")]
    pub(crate) folder: PathBuf,
    /// Do not offer to show the trace in a browser
    #[arg(long)]
    pub(crate) no_open: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    /// Traces, which are extracted into a cache first, extracts, and folders, which the page lists;
    /// without any the page has a start screen
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Open the page at this finding of `etwkit diagnose`: its part of the trace, its process, its
    /// view
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    pub(crate) finding: Option<i64>,
    /// Open the page as this link of it: it can come from another machine with the same trace
    #[arg(long, value_name = "LINK", value_parser = etwkit_server::state_of_link)]
    #[arg(conflicts_with = "finding")]
    pub(crate) at: Option<String>,
    /// Print the link, and open no browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Listen on this port of the loopback address [default: a free one]
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
}

impl ViewArgs {
    /// Creates the arguments for the page on one extract.
    pub(crate) fn of(extract: &std::path::Path) -> Self {
        Self {
            files: vec![extract.to_owned()],
            finding: None,
            at: None,
            no_open: false,
            port: None,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct SynthArgs {
    #[command(subcommand)]
    pub(crate) command: SynthCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SynthCommand {
    /// List the scenarios and cards
    List,
    /// Write a trace of a scenario, the facts about it (NAME.truth.json) and, if its code has
    /// names, symbol files (NAME.symbols)
    Write(SynthWriteArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SynthWriteArgs {
    /// Name of the scenario or card, as "etwkit synth list" prints it; several cards with + between
    /// them
    #[arg(value_name = "NAME")]
    pub(crate) scenario: String,
    /// The trace to write
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Length as a multiple of the shortest recording of the scenario (office: seconds); the number
    /// of events grows with it
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(etwkit_synth::MAX_SCALE)))]
    pub(crate) scale: u32,
    /// Other seeds give other traces of the same kind; the same one gives the same bytes
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Compress the buffers
    #[arg(long)]
    pub(crate) compressed: bool,
    /// Processors of the machine, instead of those that the scenario has
    #[arg(long, value_name = "N",
          value_parser = clap::value_parser!(u16).range(1..=i64::from(etwkit_synth::MAX_CPUS)))]
    pub(crate) cpus: Option<u16>,
    /// Overwrite files that are there
    #[arg(long)]
    pub(crate) force: bool,
    /// Strength of the cause of a card: 100 as a person would notice
    #[arg(long, value_name = "PERCENT", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=400))]
    pub(crate) strength: u32,
    /// Write the healthy twin of a card: the same programs with the same load, and nothing wrong
    #[arg(long)]
    pub(crate) healthy: bool,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn letters_that_changed_places_are_understood() {
        let error = Cli::try_parse_from(["etwkit", "dump", "cup", "x.etl"]).unwrap_err();
        let text = with_suggestion(&error, error.render().to_string());
        assert!(
            text.contains("\n\n  tip: do you mean 'cpu'?\n\nUsage"),
            "{text}"
        );
        let error = Cli::try_parse_from(["etwkit", "wait", "x.etl"]).unwrap_err();
        let text = with_suggestion(&error, error.render().to_string());
        assert!(text.contains("tip: do you mean 'dump wait'?"), "{text}");
        for (word, tip) in [
            ("slow.etl", "tip: etwkit diagnose slow.etl\n"),
            ("run 1.etl.zip", "tip: etwkit diagnose \"run 1.etl.zip\"\n"),
        ] {
            let error = command()
                .try_get_matches_from(["etwkit", word])
                .unwrap_err();
            let text = with_suggestion(&error, error.render().to_string());
            assert!(text.contains(tip), "{text}");
        }
    }

    #[test]
    fn the_hint_names_the_command_of_the_line() {
        let help = |line: &str| help_of(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(
            help("etwkit dump cpu --top x a.etl"),
            "`etwkit dump cpu --help` lists the arguments, with examples"
        );
        assert!(help("etwkit -q diagnose a.etl").starts_with("`etwkit diagnose --help`"));
        assert!(help("etwkit -dump cpu -x").starts_with("`etwkit -dump cpu -help`"));
        assert_eq!(help("etwkit"), report::HELP);
    }

    #[test]
    fn tips_name_what_was_meant() {
        let text = |line: &str| {
            let error = command().try_get_matches_from(line.split(' ')).unwrap_err();
            with_suggestion(&error, text_of(&error))
        };
        for (line, tip) in [
            ("etwkit record list", "tip: etwkit record profiles lists"),
            (
                "etwkit record start cpu --for 10s",
                "tip: etwkit record now ",
            ),
            (
                "etwkit sql --json a.etl x",
                "tip: --format json writes a JSON object for each row\n",
            ),
            (
                "etwkit diagnose --symbols MS a.etl",
                "tip: `etwkit symbols load --symbols MS TRACE` loads the names of functions, which all \
                 reports then show\n\nUsage: etwkit diagnose ",
            ),
            (
                "etwkit dump wait --table sums a.etl",
                "tip: dump wait has one table: --by chooses its rows, --column its columns\n\nUsage: ",
            ),
            (
                "etwkit dump process --table x a.etl",
                "tip: dump process has one table: --column chooses its columns\n",
            ),
            (
                "etwkit dump cpuu a.etl",
                "tip: a similar subcommand exists: 'cpu'\n",
            ),
            ("etwkit dump cpu --top ten a.etl", "expected a whole number"),
            (
                "etwkit dump cpu --proces bash a.etl",
                "tip: a similar argument exists: '--process'\n",
            ),
        ] {
            let text = text(line);
            assert!(text.contains(tip), "{text}");
        }
        let inner = text("etwkit lake runs farm");
        assert!(!inner.contains("'run'"), "{inner}");
        for line in [
            "etwkit diagnose --process bash a.etl",
            "etwkit dump cpu --zzz a.etl",
            "etwkit view --table a.etl",
        ] {
            let text = text(line);
            assert!(!text.contains("tip: "), "{text}");
            assert!(text.contains(" found\n\nUsage: etwkit "), "{text}");
        }
    }

    #[test]
    fn definition_is_consistent() {
        Cli::command().debug_assert();
    }

    /// The parser of arguments notices an option of a command with the name of a global one only
    /// when it is used, and then it panics.
    #[test]
    fn no_command_has_an_option_of_all() {
        let root = Cli::command();
        let globals: BTreeSet<String> = root
            .get_arguments()
            .filter(|arg| arg.is_global_set())
            .flat_map(names)
            .collect();
        assert!(
            globals.contains("map") && globals.contains("q"),
            "{globals:?}"
        );
        let mut commands: Vec<&clap::Command> = root.get_subcommands().collect();
        while let Some(command) = commands.pop() {
            let own = command.get_arguments().flat_map(names);
            let shared: Vec<String> = own.filter(|name| globals.contains(name)).collect();
            assert!(shared.is_empty(), "{}: {shared:?}", command.get_name());
            commands.extend(command.get_subcommands());
        }
    }

    fn names(arg: &clap::Arg) -> Vec<String> {
        let long = arg.get_long().map(str::to_owned);
        let short = arg.get_short().map(String::from);
        long.into_iter().chain(short).collect()
    }
}
