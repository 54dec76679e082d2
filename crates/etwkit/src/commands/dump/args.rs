//! Arguments that all dumps understand.

use std::path::PathBuf;

use anyhow::Context;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};
use etwkit_query::dump::zero::{ZeroMode, ZeroTime};
use etwkit_query::dump::{ProcessQuery, Top};
use etwkit_query::range::{Range, Unit};
use etwkit_query::time_format::{DEFAULT_DIGITS, TimeFormat};

use super::declared::{self, Declared};
use super::test_args::TestSelectionArgs;
use crate::descriptions::DescriptionArgs;
use crate::numbers::{NumberArgs, Numbers};
use crate::out_file::Replace;
use crate::rules::NameArgs;

#[derive(Debug, Args)]
pub(crate) struct DumpArgs {
    #[command(subcommand)]
    pub(crate) dump: AnyDump,
    #[command(flatten)]
    pub(crate) names: NameArgs,
}

/// A question: declared, or with arguments of its own.
#[derive(Debug)]
pub(crate) enum AnyDump {
    Declared(Box<Declared>),
    Own(Box<Dump>),
}

/// The questions in the order in which help lists them.
const ORDER: [&str; 33] = [
    "overview",
    "process",
    "cpu",
    "disk",
    "file",
    "dns",
    "tcp",
    "cores",
    "pmc",
    "lbr",
    "exception",
    "mark",
    "tracelog",
    "thread-pool",
    "power",
    "memory",
    "syscall",
    "objectref",
    "virtual-alloc",
    "user-lock",
    "gdi-user",
    "ui-delay",
    "focus",
    "screenshot",
    "registry",
    "region",
    "loggers",
    "standby",
    "stats",
    "test-run",
    "time",
    "version",
    "wait",
];

impl Subcommand for AnyDump {
    fn augment_subcommands(command: Command) -> Command {
        let command = Dump::augment_subcommands(command).subcommands(declared::commands());
        (0..).zip(ORDER).fold(command, |command, (at, name)| match command.find_subcommand(name) {
            Some(_) => command.mut_subcommand(name, |one| one.display_order(at)),
            None => command,
        })
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        declared::question(name).is_some() || Dump::has_subcommand(name)
    }
}

impl FromArgMatches for AnyDump {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (name, inner) = matches.subcommand().unwrap_or(("", matches));
        match declared::question(name) {
            Some(question) => Ok(Self::Declared(Box::new(Declared::read(question, inner)?))),
            None => Dump::from_arg_matches(matches).map(|dump| Self::Own(Box::new(dump))),
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Dump {
    /// Everything on one screen: machine, processes, modules, methods, files, health, and what to ask next
    Overview(super::overview::OverviewArgs),
    /// Exceptions of .NET programs
    Exception(Box<super::exception::ExceptionArgs>),
    /// Events that describe themselves: TraceLogging, and EventSource of .NET
    #[command(name = "tracelog", alias = "trace-log")]
    TraceLog(Box<super::trace_log::TraceLogArgs>),
    /// Power settings, side by side
    Power(super::power::PowerArgs),
    /// Regions of interest: what lasted from which event to which, as a file of Windows Performance Analyzer defines it
    #[command(visible_alias = "regions")]
    Region(Box<super::region::RegionArgs>),
    /// Properties of the recording and the machine
    Stats(super::stats::StatsArgs),
    /// Runs of automated tests, by the names of their files
    #[command(alias = "testrun")]
    TestRun(super::test_run::TestRunArgs),
    /// A time of a log or of another trace, as seconds and clock time of these
    Time(super::time::TimeArgs),
}

impl AnyDump {
    /// What describes the events that are asked for.
    pub(crate) fn descriptions(&self) -> Option<&DescriptionArgs> {
        let Self::Own(dump) = self else { return None };
        match &**dump {
            Dump::TraceLog(args) => Some(&args.descriptions),
            Dump::Region(args) => Some(&args.descriptions),
            _ => None,
        }
    }
}

/// What to read and how to print.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Extracts (NAME.etwx), traces, which are extracted into a cache first, or folders with both
    #[arg(value_name = "EXTRACT", required = true)]
    pub(super) extracts: Vec<PathBuf>,
    /// Folders below folders, too
    #[arg(long)]
    pub(super) recursive: bool,
    #[command(flatten)]
    pub(super) tests: TestSelectionArgs,
    /// Print a line that names the command and the format, then one object on each line
    #[arg(long, conflicts_with = "csv", help_heading = OUTPUT)]
    pub(crate) json: bool,
    /// Write the rows to a file, as comma-separated values
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) csv: Option<PathBuf>,
    /// Overwrite a file that is there with --csv, whatever wrote it; traces and extracts are never overwritten
    #[arg(long, requires = "csv", help_heading = OUTPUT)]
    pub(crate) force: bool,
    /// Go on with the other extracts where one cannot be read; all errors are printed at the end, and the exit code is 2
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Print the SQL instead of the answer
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) show_sql: bool,
    /// How times are written: s, local, localtime, utc, utctime, here or heretime
    #[arg(long, value_name = "FORMAT", default_value = "local", help_heading = OUTPUT)]
    pub(crate) time_format: TimeFormat,
    /// Digits of a second, 0 to 6
    #[arg(long, value_name = "N", default_value_t = DEFAULT_DIGITS, help_heading = OUTPUT,
          value_parser = clap::value_parser!(u8).range(0..=i64::from(etwkit_query::time_format::MAX_DIGITS)))]
    pub(crate) time_digits: u8,
    /// Write numbers without spaces between groups of digits
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) no_digit_sep: bool,
    /// Cut lines at the width of the terminal (or COLUMNS)
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) clip: bool,
    /// Show the whole path of an extract instead of the name of its trace
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) show_full_file_name: bool,
    /// Write --csv as ETWAnalyzer does for this sub command
    #[arg(long, hide = true)]
    pub(crate) etwanalyzer_csv: Option<String>,
    /// The command line, for the first column of that file
    #[arg(long, hide = true, default_value = "", allow_hyphen_values = true)]
    pub(crate) etwanalyzer_line: String,
    /// Without the line that tells Excel the separator
    #[arg(long, hide = true)]
    pub(crate) no_csv_separator: bool,
    #[command(flatten)]
    pub(super) numbers: NumberArgs,
    /// Columns by name: a;b only these, !a all but these, +a these, too (*, ?)
    #[arg(long, value_name = "NAMES", allow_hyphen_values = true, help_heading = OUTPUT)]
    pub(crate) column: Option<String>,
}

impl Common {
    /// What --csv may overwrite: what a dump wrote, which is made again.
    pub(super) const fn csv_replace(&self) -> Replace {
        if self.force { Replace::Anything } else { Replace::OwnCsv }
    }

    /// How numbers of text are written.
    pub(super) fn numbers(&self) -> Numbers {
        let numbers = self.numbers.numbers();
        if self.no_digit_sep { numbers.ungrouped() } else { numbers }
    }

    /// Whether text has the units and digits of ETWAnalyzer.
    pub(super) const fn is_etwanalyzer(&self) -> bool {
        self.numbers.is_etwanalyzer()
    }
}

/// Heading of the options that change how an answer is printed.
pub(super) const OUTPUT: &str = "Output";

/// Which processes, and how they are written.
#[derive(Debug, Args)]
pub(crate) struct ProcessFilters {
    /// Only these processes: names with or without .exe, or ids (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "NAMES")]
    process: Option<String>,
    /// Only processes with such a command line (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "TEXT")]
    cmdline: Option<String>,
    /// Only processes that 0: neither started nor ended, 1: started, -1: ended, 2: started and did not end, -2: ended and
    /// did not start in the trace
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(i8).range(-2..=2))]
    new_process: Option<i8>,
    /// Only processes of these terminal sessions
    #[arg(long, value_name = "NUMBERS", allow_hyphen_values = true)]
    session: Option<String>,
    /// Only processes of these users, by security id
    #[arg(long, value_name = "SIDS")]
    user: Option<String>,
    #[command(flatten)]
    pub(crate) written: ProcessOutput,
}

/// How processes are written.
#[derive(Debug, Args)]
pub(crate) struct ProcessOutput {
    /// Start and end behind names: none, or a time format; without it + and - mark processes that started or ended
    #[arg(long, value_name = "FORMAT", value_parser = process_format, help_heading = OUTPUT)]
    pub(crate) process_format: Option<ProcessFormat>,
    /// Leave command lines out
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) no_cmdline: bool,
}

impl ProcessFilters {
    /// As part of a request.
    pub(super) fn query(&self) -> ProcessQuery {
        ProcessQuery {
            process: self.process.clone(),
            command_line: self.cmdline.clone(),
            new_process: self.new_process,
            session: self.session.clone(),
            user: self.user.clone(),
        }
    }
}

/// What stands behind the name of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessFormat {
    /// Nothing.
    None,
    /// Times of start and end.
    Times(TimeFormat),
}

fn process_format(text: &str) -> Result<ProcessFormat, String> {
    if text.eq_ignore_ascii_case("none") {
        return Ok(ProcessFormat::None);
    }
    text.parse().map(ProcessFormat::Times).map_err(|error| format!("{error}, or none"))
}

/// What becomes second 0 of times.
#[derive(Debug, Args)]
pub(crate) struct ZeroArgs {
    /// Move times so that this is second 0: marker, first or last (of a method or stack tag), process-start, process-end; behind a
    /// colon which marks, methods or command lines: first:*OnLoad*
    #[arg(long, value_name = "MODE[:FILTER]", value_parser = zero_time, help_heading = OUTPUT)]
    zero_time: Option<Zero>,
    /// Only in these processes
    #[arg(long, value_name = "NAMES", requires = "zero_time", help_heading = OUTPUT)]
    zero_process: Option<String>,
}

impl ZeroArgs {
    /// As part of a request.
    pub(super) fn zero(&self) -> ZeroTime {
        let zero = self.zero_time.clone().unwrap_or_default();
        ZeroTime { mode: zero.mode, filter: zero.filter, process: self.zero_process.clone() }
    }
}

/// A mode with its filter.
#[derive(Debug, Clone, Default)]
struct Zero {
    mode: Option<ZeroMode>,
    filter: Option<String>,
}

fn zero_time(text: &str) -> Result<Zero, String> {
    let (mode, filter) = text.split_once(':').map_or((text, None), |(mode, filter)| (mode, Some(filter)));
    let mode = match mode.to_ascii_lowercase().replace('-', "").as_str() {
        "none" => None,
        "marker" => Some(ZeroMode::Marker),
        "first" => Some(ZeroMode::First),
        "last" => Some(ZeroMode::Last),
        "processstart" => Some(ZeroMode::ProcessStart),
        "processend" => Some(ZeroMode::ProcessEnd),
        _ => return Err("expected none, marker, first, last, process-start or process-end".to_owned()),
    };
    Ok(Zero { mode, filter: filter.filter(|filter| !filter.is_empty()).map(str::to_owned) })
}

/// The largest rows of a list.
#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    /// Only the N largest
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Leave the N largest out first
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: usize,
}

impl TopArgs {
    pub(super) fn top(&self) -> Top {
        Top { count: self.top, skip: self.skip }
    }
}

/// The range that an option gives; everything without it.
pub(super) fn range(option: &str, text: Option<&str>, unit: Unit) -> anyhow::Result<Range> {
    let Some(text) = text else { return Ok(Range::default()) };
    Range::parse(text, unit).with_context(|| format!("--{option}"))
}

/// A parser for one of several words.
pub(super) fn word<T: Copy + Default + Send + Sync + 'static>(
    words: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(words.iter().map(|(word, _)| *word))
        .map(|text| words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).unwrap_or_default())
}
