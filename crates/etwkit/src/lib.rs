//! The command line of etwkit as a function, so that tests run whole commands without starting a process.
//!
//! [`run`] parses arguments (`cli`), hands them to one function per command (`commands`), and every
//! character of the answer passes the `printer`. Ctrl-C ends the process with status 130, see [`interrupt`].

#![forbid(unsafe_code)]

mod cache;
mod cli;
mod commands;
mod compat;
mod console;
mod exit;
mod extracts;
mod input;
pub mod interrupt;
mod out_file;
mod printer;
mod report;
mod rules;
mod sanitize;
mod shelf;
mod symbols;
mod tags;
mod time_range;

use std::ffi::OsString;
use std::io::Write;
use std::sync::Arc;

use clap::Parser;

pub use exit::Exit;
pub use sanitize::{json_text, text};

use cli::{Cli, Command};
use printer::{Printer, WriteError};
use rules::NameArgs;
use shelf::Shelf;

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
    let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
    let mut screen = Screen { out, err, width };
    match console::request(&args) {
        Some(request) => console::run(request, &mut screen),
        None => screen.answer(&Arc::default(), |printer| line(&args, printer)),
    }
}

/// Where answers and errors go.
pub(crate) struct Screen<'w> {
    pub(crate) out: &'w mut dyn Write,
    pub(crate) err: &'w mut dyn Write,
    /// Columns, if `out` is a terminal.
    pub(crate) width: Option<usize>,
}

impl Screen<'_> {
    /// Prints what the work answers, then its notes or its error.
    pub(crate) fn answer(
        &mut self,
        shelf: &Arc<Shelf>,
        work: impl FnOnce(&mut Printer<'_>) -> anyhow::Result<Exit>,
    ) -> Exit {
        let mut printer = Printer::new(self.out).with_width(self.width).with_shelf(shelf.clone());
        let result = work(&mut printer);
        let result = result.and_then(|exit| printer.finish().map(|()| exit).map_err(Into::into));
        for note in printer.take_notes() {
            report::note(self.err, &note);
        }
        result.unwrap_or_else(|error| {
            if error.downcast_ref::<WriteError>().is_some_and(WriteError::is_closed_pipe) {
                return Exit::Answered;
            }
            match error.downcast_ref::<Usage>() {
                Some(Usage(usage)) => report::lines(self.err, usage),
                None => report::error(self.err, &error),
            }
            Exit::Error
        })
    }
}

/// What is wrong with a command line, in several lines.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Usage(String);

/// Runs a command line, its first item being the name of the program.
pub(crate) fn line(args: &[OsString], printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    if compat::is_line(args) {
        return compat::run(args, printer);
    }
    match Cli::try_parse_from(args) {
        Ok(cli) => dispatch(&cli, printer),
        Err(usage) if usage.use_stderr() => Err(Usage(usage.render().to_string()).into()),
        Err(help) => {
            printer.block(&help.render().to_string())?;
            Ok(Exit::Answered)
        }
    }
}

/// Runs one command that was parsed.
pub(crate) fn dispatch(cli: &Cli, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let names = cli.command.names().map_or(Ok(None), NameArgs::rules)?;
    let shelf = printer.shelf();
    shelf.name_processes(names);
    let answered = run_command(cli, printer);
    shelf.name_processes(None);
    answered
}

fn run_command(cli: &Cli, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    match &cli.command {
        Command::Info(args) => commands::info::run(args, printer),
        Command::Events(args) => commands::events::run(args, printer),
        Command::Extract(args) => commands::extract::run(args, printer),
        Command::Dump(args) => commands::dump::run(args, printer),
        Command::CriticalPath(args) => commands::dump::critical_path::run(args, printer),
        Command::Demo(args) => commands::demo::run(args, printer),
        Command::Export(args) => commands::export::run(args, printer),
        Command::Console(_) => anyhow::bail!("this is a console already"),
        Command::Sql(args) => commands::sql::run(args, printer),
        Command::Symbols(args) => commands::symbols::run(args, printer),
        Command::Synth(args) => commands::synth::run(args, printer),
    }
}
