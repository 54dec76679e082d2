//! The command line.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

/// Record what a Windows machine does.
#[derive(Debug, Clone, Args)]
pub struct RecordArgs {
    /// Command to run
    #[command(subcommand)]
    pub command: RecordCommand,
    /// Print a .cmd file of the Windows commands, with the purpose of each, instead of running them.
    /// Other systems always do so
    #[arg(long, global = true)]
    pub script: bool,
}

/// Commands of `etwkit record`.
#[derive(Debug, Clone, Subcommand)]
pub enum RecordCommand {
    /// Record, stop and name the likely causes in one step
    Now(NowArgs),
    /// Start to record with one or several profiles
    #[command(arg_required_else_help = true)]
    Start(StartArgs),
    /// End the recording and write it
    #[command(arg_required_else_help = true)]
    Stop(StopArgs),
    /// End the recording and discard it
    Cancel(BootArgs),
    /// Show whether something is being recorded
    Status,
    /// List the profiles, with the questions that their recordings answer
    Profiles(ProfilesArgs),
    /// Show what the profiles of a .wprp file record, which questions that answers, and its mistakes
    #[command(arg_required_else_help = true)]
    Check(CheckArgs),
    /// List the processor counters
    Counters,
    /// Put a mark with a text into the recording
    Mark(MarkArgs),
    /// Put a mark into the recording of this machine for each `mark --also` on another machine
    #[command(arg_required_else_help = true)]
    Listen(ListenArgs),
    /// List all sessions that are running, whoever started them
    Sessions,
    /// Run a wpr command line on Windows; explain it elsewhere
    #[command(disable_help_flag = true)]
    Wpr(LineArgs),
    /// Run an xperf command line on Windows; explain it elsewhere
    #[command(disable_help_flag = true)]
    Xperf(LineArgs),
}

/// A recording from start to answer.
#[derive(Debug, Clone, Args)]
pub struct NowArgs {
    /// Profiles: names of `etwkit record profiles`, or FILE.wprp!NAME for others
    #[arg(
        long = "profile",
        value_name = "PROFILE",
        value_delimiter = ',',
        // Most rules of `diagnose` need the waits of `cswitch`.
        default_value = "default,cswitch"
    )]
    pub profiles: Vec<String>,
    /// Stop after this time (10s, 5m) [default: when the command ends, or at Ctrl-C]
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    pub time: Option<Duration>,
    /// A name, which becomes NAME_MACHINE.date-time.etl, or the path of an .etl file
    #[arg(long, value_name = "NAME", default_value = "Now")]
    pub name: String,
    /// Places of symbol files, as in `etwkit extract --symbols`
    #[arg(long, value_name = "PATH")]
    pub symbols: Vec<String>,
    /// Do not offer the page in the browser
    #[arg(long)]
    pub no_open: bool,
    /// Command to run and record until it ends, after --
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// A mark, here and elsewhere.
#[derive(Debug, Clone, Args)]
pub struct MarkArgs {
    /// The text
    pub text: String,
    /// Take a picture of all screens, too; `stop` puts it beside the recording
    #[arg(long)]
    pub picture: bool,
    /// Machines that get the same mark, where `listen` runs
    #[arg(
        long,
        value_name = "MACHINE:PORT",
        value_delimiter = ',',
        requires = "word"
    )]
    pub also: Vec<String>,
    /// A word that both sides know: without it nobody marks. It is sent as it is
    #[arg(
        long,
        value_name = "WORD",
        default_value = "",
        hide_default_value = true
    )]
    pub word: String,
}

/// Address and secret of the marks to accept.
#[derive(Debug, Clone, Args)]
pub struct ListenArgs {
    /// A word that both sides know: without it nobody marks. It is sent as it is
    #[arg(long, value_name = "WORD", required = true)]
    pub word: String,
    /// Address and port of this machine
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "0.0.0.0:4711")]
    pub address: SocketAddr,
}

/// Profiles to record, and the storage of the recording.
#[derive(Debug, Clone, Args)]
pub struct StartArgs {
    /// Profiles: names of `etwkit record profiles`, or FILE.wprp!NAME for others
    #[arg(required = true, value_name = "PROFILE")]
    pub profiles: Vec<String>,
    /// Write to the disk all the time, instead of keeping the last events in memory
    #[arg(long)]
    pub file: bool,
    /// Folder of the files that are written while it records
    #[arg(long, value_name = "FOLDER", requires = "file")]
    pub to: Option<PathBuf>,
    /// Record the next start of Windows
    #[arg(long)]
    pub boot: bool,
    /// Time between two CPU samples in milliseconds, 0.1221 to 1000; stop and cancel restore what
    /// was before
    #[arg(long, value_name = "MS", value_parser = interval)]
    pub sample_every: Option<u32>,
    /// An earlier trace, recorded with the same profiles: show what it needed by second, and how
    /// long memory and a disk would keep it
    #[arg(long, value_name = "TRACE")]
    pub like: Option<PathBuf>,
    /// Record all day, until Ctrl-C: write a file each time this period (90s, 5m, 1h) ends
    #[arg(long, value_name = "TIME", value_parser = time, conflicts_with = "boot")]
    pub rotate: Option<Duration>,
    /// Space of the files of --rotate (500MB, 40GB): the oldest are removed
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "rotate")]
    pub keep: Option<u64>,
    /// Folder of the files of --rotate
    #[arg(long, value_name = "FOLDER", requires = "rotate", default_value = ".")]
    pub into: PathBuf,
    /// Name of the files of --rotate: each becomes NAME_MACHINE.date-time.etl
    #[arg(long, value_name = "NAME", requires = "rotate", default_value = "Day")]
    pub name: String,
}

impl StartArgs {
    /// Returns the arguments for these profiles, with the last events kept in memory.
    #[must_use]
    pub fn of(profiles: Vec<String>) -> Self {
        let file = false;
        let to = None;
        let boot = false;
        let sample_every = None;
        let like = None;
        let rotate = None;
        let keep = None;
        let into = PathBuf::new();
        let name = String::new();
        Self {
            profiles,
            file,
            to,
            boot,
            sample_every,
            like,
            rotate,
            keep,
            into,
            name,
        }
    }
}

/// Parses a number and its unit.
fn amount(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = text.get(digits.len()..)?;
    let (_, each) = units
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    digits
        .parse::<u64>()
        .ok()?
        .checked_mul(*each)
        .filter(|amount| *amount > 0)
}

/// The longest time that can be given, in seconds.
pub(crate) const DAY: u64 = 86_400;

/// Parses a time of at least `least` seconds and at most a day.
fn time_from(least: u64, text: &str) -> Option<Duration> {
    let seconds = amount(text, &[("s", 1), ("m", 60), ("h", 3600)])?;
    (least..=DAY)
        .contains(&seconds)
        .then(|| Duration::from_secs(seconds))
}

fn time(text: &str) -> Result<Duration, String> {
    time_from(10, text).ok_or_else(|| "expected 10s to 24h, as in 90s, 5m or 1h".to_owned())
}

fn duration(text: &str) -> Result<Duration, String> {
    time_from(1, text).ok_or_else(|| "expected 1s to 24h, as in 10s, 5m or 1h".to_owned())
}

fn size(text: &str) -> Result<u64, String> {
    let units = [
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
    ];
    amount(text, &units).ok_or_else(|| "expected a size, as in 500MB or 40GB".to_owned())
}

/// Parses milliseconds to units of 100 ns, as Windows counts them.
fn interval(text: &str) -> Result<u32, String> {
    let ticks = text
        .parse::<f64>()
        .map_or(f64::NAN, |ms| (ms * 10_000.0).round());
    if (1221.0..=10_000_000.0).contains(&ticks) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked the line above"
        )]
        return Ok(ticks as u32);
    }
    Err("expected milliseconds between 0.1221 and 1000".to_owned())
}

/// Target of the recording.
#[derive(Debug, Clone, Args)]
pub struct StopArgs {
    /// A name, which becomes NAME_MACHINE.date-time.etl, or the path of an .etl file
    pub name: String,
    /// Leave out symbol files of precompiled .NET code: making them takes 10 to 60 minutes after an
    /// update of .NET
    #[arg(long)]
    pub no_native_pdb: bool,
    /// Pack the recording, with its symbol files, into a .zip and remove the unpacked one
    #[arg(long)]
    pub zip: bool,
    /// The recording was started with --boot
    #[arg(long)]
    pub boot: bool,
    /// Extract the recording at once, as `etwkit extract` does
    #[arg(long)]
    pub extract: bool,
    /// Write no file of facts about the machine beside the recording
    #[arg(long)]
    pub no_facts: bool,
}

impl StopArgs {
    /// Returns the arguments for a recording that others follow: no slow step runs after it.
    #[must_use]
    pub fn quick(name: String) -> Self {
        Self {
            name,
            no_native_pdb: true,
            zip: false,
            boot: false,
            extract: false,
            no_facts: true,
        }
    }
}

/// Choice between a recording and a boot recording.
#[derive(Debug, Clone, Args)]
pub struct BootArgs {
    /// The recording was started with --boot
    #[arg(long)]
    pub boot: bool,
}

/// Selection of profiles.
#[derive(Debug, Clone, Args)]
pub struct ProfilesArgs {
    /// Only those that record this topic, as `etwkit info` calls it
    #[arg(long, value_name = "TOPIC")]
    pub topic: Option<String>,
    /// Only those whose recordings answer this question of `etwkit dump`
    #[arg(long, value_name = "QUESTION", conflicts_with = "topic")]
    pub question: Option<String>,
    /// Write the file that has them all, etwkit.wprp, into this folder
    #[arg(long, value_name = "FOLDER")]
    pub write: Option<PathBuf>,
}

/// Files of recording profiles.
#[derive(Debug, Clone, Args)]
pub struct CheckArgs {
    /// Files of recording profiles (.wprp), whoever wrote them, or FILE.wprp!NAME for one profile
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Only the profiles of this name
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
}

/// A line of another program.
#[derive(Debug, Clone, Args)]
pub struct LineArgs {
    /// Arguments of the program
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENT"
    )]
    pub args: Vec<String>,
}
