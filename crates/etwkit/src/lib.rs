//! The command line of etwkit as a function, so that tests run whole commands without starting a process.
//!
//! [`run`] parses arguments (`cli`), hands them to one function per command (`commands`), and every
//! character of the answer passes the `printer`. Ctrl-C ends the process with status 130, see [`interrupt`].

#![forbid(unsafe_code)]

mod cache;
mod cli;
mod commands;
mod compat;
mod exit;
mod extracts;
mod input;
pub mod interrupt;
mod out_file;
mod printer;
mod report;
mod sanitize;
mod symbols;
mod tags;
mod time_range;

use std::ffi::OsString;
use std::io::Write;

use clap::Parser;

pub use exit::Exit;
pub use sanitize::{json_text, text};

use cli::{Cli, Command};
use printer::{Printer, WriteError};

/// Runs one command line, its first item being the name of the program. The answer goes to `out`, which is
/// flushed; errors go to `err`.
pub fn run<T>(args: impl IntoIterator<Item = T>, out: &mut dyn Write, err: &mut dyn Write) -> Exit
where
    T: Into<OsString> + Clone,
{
    run_on_screen(args, out, err, None)
}

/// The same as [`run`], where `out` is a terminal with `width` columns: tables are cut at its edge.
pub fn run_on_screen<T>(
    args: impl IntoIterator<Item = T>,
    out: &mut dyn Write,
    err: &mut dyn Write,
    width: Option<usize>,
) -> Exit
where
    T: Into<OsString> + Clone,
{
    let mut printer = Printer::new(out).with_width(width);
    let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
    let result = match Cli::try_parse_from(&args) {
        _ if compat::is_line(&args) => compat::run(&args, &mut printer),
        Ok(cli) => dispatch(&cli, &mut printer),
        Err(usage) if usage.use_stderr() => {
            report::lines(err, &usage.render().to_string());
            return Exit::Error;
        }
        Err(help) => printer.block(&help.render().to_string()).map(|()| Exit::Answered).map_err(Into::into),
    };
    let result = result.and_then(|exit| printer.finish().map(|()| exit).map_err(Into::into));
    for note in printer.take_notes() {
        report::note(err, &note);
    }
    result.unwrap_or_else(|error| {
        if error.downcast_ref::<WriteError>().is_some_and(WriteError::is_closed_pipe) {
            return Exit::Answered;
        }
        report::error(err, &error);
        Exit::Error
    })
}

/// Runs one command that was parsed.
pub(crate) fn dispatch(cli: &Cli, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    match &cli.command {
        Command::Info(args) => commands::info::run(args, printer),
        Command::Events(args) => commands::events::run(args, printer),
        Command::Extract(args) => commands::extract::run(args, printer),
        Command::Dump(args) => commands::dump::run(args, printer),
        Command::CriticalPath(args) => commands::dump::critical_path::run(args, printer),
        Command::Demo(args) => commands::demo::run(args, printer),
        Command::Sql(args) => commands::sql::run(args, printer),
        Command::Symbols(args) => commands::symbols::run(args, printer),
        Command::Synth(args) => commands::synth::run(args, printer),
    }
}
