//! The small program: `record`, `run` and `lab` without a query engine, for the recorded machine.

#![forbid(unsafe_code)]

use std::io::{self, BufWriter};
use std::path::PathBuf;
use std::process::ExitCode;

use anstream::{AutoStream, ColorChoice};
use anyhow::Result;
use clap::{Parser, Subcommand};
use etwkit_record::front::{Here, Plain};
use etwkit_record::lab::LabArgs;
use etwkit_record::test_runs::RunArgs;
use etwkit_record::{RecordArgs, RecordCommand};
use etwkit_terminal::errors::{Advised, Errors, advised, hint_of_system};
use etwkit_terminal::style::{ColorMode, Colors};
use etwkit_terminal::{Exit, Lines};

/// Record Windows machines, run test cases and provoke what makes machines slow. `etwkit` reads
/// what is recorded.
#[derive(Debug, Parser)]
#[command(
    name = "etwkit-recorder",
    version,
    propagate_version = false,
    arg_required_else_help = true
)]
#[command(
    after_help = "The commands are the same as in `etwkit`, and messages use that name: `etwkit record stop` is \
`etwkit-recorder record stop` here."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Colors: auto, always or never
    #[arg(
        long,
        value_name = "WHEN",
        value_enum,
        global = true,
        hide_possible_values = true
    )]
    color: Option<ColorMode>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Record what a Windows machine does; on other systems print the lines that do it
    #[command(arg_required_else_help = true)]
    Record(Box<RecordArgs>),
    /// Run a command again and again and report how long it took, for each combination of
    /// parameters
    #[command(arg_required_else_help = true)]
    Run(Box<RunArgs>),
    /// Do what made machines slow in case studies, and measure it
    #[command(arg_required_else_help = true)]
    Lab(Box<LabArgs>),
}

fn main() -> ExitCode {
    etwkit_terminal::interrupt::install();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(usage) => {
            // If help cannot be printed, there is no reader left to report that to.
            let _ = usage.print();
            return if usage.use_stderr() {
                Exit::Error.into()
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    let has = |choice: ColorChoice| choice != ColorChoice::Never;
    let of_out = AutoStream::choice(&io::stdout());
    let of_err = AutoStream::choice(&io::stderr());
    let colors = Colors {
        out: has(of_out),
        err: has(of_err),
    };
    let mut out = BufWriter::new(AutoStream::always(io::stdout()));
    let lines = Lines::new(&mut out).on(None, colors, cli.color);
    let mut front = Plain::new(lines);
    let ended = answer(&cli.command, &mut front);
    // An error while printing takes precedence: a command whose output was lost has not succeeded.
    let ended = front.lines.flush().map_err(Into::into).and(ended);
    let notes = std::mem::take(&mut front.notes);
    let is_colored = front.lines.colors().err;
    let mut err = Errors {
        out: &mut AutoStream::always(io::stderr()),
        is_colored,
    };
    notes.iter().for_each(|note| err.note(note));
    ended.unwrap_or_else(|error| said(&error, &mut err)).into()
}

fn answer(command: &Command, front: &mut Plain<'_>) -> Result<Exit> {
    let mut here = Here::default();
    let mut machine = here.machine(cache());
    match command {
        Command::Record(args) if reads(args) => {
            let hint = "leave --extract and --like out; `etwkit extract` and `etwkit sql TRACE \"@trace/rate\"` are \
                        for the machine that reads";
            Err(advised("this program does not read recordings", hint))
        }
        Command::Record(args) => {
            let exit = etwkit_record::run(args, &mut machine, &mut front.lines)?;
            if let (RecordCommand::Now(now), Some(file)) = (&args.command, &machine.written) {
                if !now.symbols.is_empty() {
                    let line = etwkit_record::extract_line(&now.symbols, &file.to_string_lossy());
                    front.lines.labelled(&format!(
                        "hint: `{line}` gives native code its names, on the machine that reads"
                    ))?;
                }
                front.lines.labelled(&format!(
                    "hint: `etwkit diagnose {}` names the likely causes, on the machine that reads",
                    file.display()
                ))?;
            }
            Ok(exit)
        }
        Command::Run(args) => etwkit_record::front::run(args, &mut machine, front),
        Command::Lab(args) => etwkit_record::front::lab(args, front),
    }
}

/// True if the command reads a trace.
fn reads(args: &RecordArgs) -> bool {
    match &args.command {
        RecordCommand::Start(start) => start.like.is_some(),
        RecordCommand::Stop(stop) => stop.extract,
        _ => false,
    }
}

/// Returns the cache folder of `etwkit`, so that either program can restore the settings that the
/// other changed.
fn cache() -> Option<PathBuf> {
    let folder = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    folder("ETWKIT_CACHE").or_else(|| folder("LOCALAPPDATA").map(|user| user.join("etwkit")))
}

fn said(error: &anyhow::Error, err: &mut Errors<'_>) -> Exit {
    let of_system = || {
        error
            .chain()
            .find_map(|cause| cause.downcast_ref::<io::Error>().and_then(hint_of_system))
    };
    let hint = match error
        .chain()
        .find_map(|cause| cause.downcast_ref::<Advised>())
    {
        Some(advised) => &advised.hint,
        None => of_system().unwrap_or("`etwkit-recorder COMMAND --help` lists the arguments"),
    };
    err.error(error, hint);
    Exit::Error
}
