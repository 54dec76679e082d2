//! The command line of etwkit as a function, so that tests run whole commands without starting a
//! process.
//!
//! [`run`] parses arguments (`cli`), passes them to one function per command (`commands`), and
//! every character of the answer goes through the `printer`. Ctrl-C ends the process with status
//! 130, see [`etwkit_terminal::interrupt`].

#![forbid(unsafe_code)]

mod arguments;
mod cli;
mod commands;
mod compat;
mod console;
mod context;
mod dialect;
mod examples;
mod extracts;
mod help;
mod input;
mod linked_programs;
pub mod open_files;
mod options;
mod out_file;
mod pace;
mod printer;
mod real_names;
mod report;
mod rules;
mod symbols;
mod tags;
mod time_range;

use std::ffi::OsString;
use std::io::Write;

use clap::CommandFactory;
use clap::error::ErrorKind;

pub use etwkit_terminal::Exit;
pub use etwkit_terminal::escape::{json_text, text};
pub use etwkit_terminal::style::Colors;

use cli::{Cli, Command};
use context::Context;
use etwkit_engine::Asking;
use etwkit_terminal::errors::Errors;
use etwkit_terminal::style::{self, ColorMode};
use etwkit_terminal::{WriteError, config};
use printer::{Printer, Speech};
use rules::NameArgs;

/// The terminal that shows an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Terminal {
    /// Columns, if the answer goes to a terminal: tables are cut at its edge.
    pub width: Option<usize>,
    /// Colors that it has unless the command line chooses others.
    pub colors: Colors,
}

/// Runs one command line. Its first item is the name of the program. The answer goes to `out`,
/// which is flushed; errors go to `err`.
pub fn run<T>(args: impl IntoIterator<Item = T>, out: &mut dyn Write, err: &mut dyn Write) -> Exit
where
    T: Into<OsString> + Clone,
{
    run_on_screen(args, out, err, Terminal::default())
}

/// Runs a command line as [`run`] does, for a terminal.
pub fn run_on_screen<T>(
    args: impl IntoIterator<Item = T>,
    out: &mut dyn Write,
    err: &mut dyn Write,
    terminal: Terminal,
) -> Exit
where
    T: Into<OsString> + Clone,
{
    let args = linked_programs::resolved(args.into_iter().map(Into::into).collect());
    let args = linked_programs::with_sql_comments(args);
    let mut screen = Screen {
        out,
        err,
        terminal,
        session: None,
        speech: Speech::Usual,
    };
    match real_names::of(&args) {
        Some(wanted) => wanted.answer(&args, &mut screen),
        None => screen.run(&args),
    }
}

/// Outputs for answers and errors.
pub(crate) struct Screen<'w> {
    pub(crate) out: &'w mut dyn Write,
    pub(crate) err: &'w mut dyn Write,
    pub(crate) terminal: Terminal,
    /// Colors that a console was started with, for all of its lines.
    pub(crate) session: Option<ColorMode>,
    /// Amount of a console's output on the error stream, for all of its lines.
    pub(crate) speech: Speech,
}

impl Screen<'_> {
    /// Runs a console or one command.
    pub(crate) fn run(&mut self, args: &[OsString]) -> Exit {
        match console::request(args) {
            Some(request) => console::run(request, self),
            None => self.answer(Context::default(), |printer| line(args, printer)),
        }
    }

    /// Prints the answer of the work, then its notes or its error.
    pub(crate) fn answer(
        &mut self,
        context: Context,
        work: impl FnOnce(&mut Printer<'_>) -> anyhow::Result<Exit>,
    ) -> Exit {
        let printer = Printer::new(self.out).on(self.terminal, self.session, self.speech);
        let mut printer = printer.with_context(context);
        let result = work(&mut printer);
        // If the work failed, its answer so far is still printed.
        let finished = printer.finish();
        let result = result.and_then(|exit| finished.map(|()| exit).map_err(Into::into));
        let (notes, failures) = (printer.take_notes(), printer.take_failures());
        let help = printer.take_help();
        let mut err = Errors {
            is_colored: printer.colors().err,
            out: self.err,
        };
        for note in notes {
            err.note(&note);
        }
        failures
            .iter()
            .for_each(|failure| report::error(&mut err, failure, &help));
        let failed = if failures.is_empty() {
            Exit::Answered
        } else {
            Exit::Error
        };
        result.map_or_else(
            |error| {
                if error
                    .downcast_ref::<WriteError>()
                    .is_some_and(WriteError::is_closed_pipe)
                {
                    return Exit::Answered;
                }
                // The user knows about Ctrl-C, as in commands that notice it themselves.
                if report::is_interrupted(&error) {
                    return Exit::Interrupted;
                }
                match (
                    error.downcast_ref::<Usage>(),
                    error.downcast_ref::<report::Failures>(),
                ) {
                    (Some(Usage(usage)), _) => err.lines(usage),
                    (_, Some(failures)) => report::failures(&mut err, failures, &help),
                    _ => report::error(&mut err, &error, &help),
                }
                Exit::Error
            },
            |exit| exit.worse(failed),
        )
    }

    /// Returns the error stream.
    pub(crate) fn errors(&mut self) -> Errors<'_> {
        Errors {
            is_colored: self.terminal.colors.chosen(self.session).err,
            out: self.err,
        }
    }
}

/// A faulty command line, described in several lines.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Usage(String);

/// Runs a command line. Its first item is the name of the program.
pub(crate) fn line(args: &[OsString], printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let answered = parsed_line(args, printer);
    if answered.is_err() {
        printer.help_with(cli::help_of(args));
    }
    answered
}

fn parsed_line(args: &[OsString], printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    if etwkit_compat::is_line(args) {
        return compat::run(args, printer);
    }
    // Before the arguments are parsed: errors about them also use the colors that they choose.
    printer.choose_colors(style::choice(args));
    let args = &config::with_defaults(args, Cli::command, etwkit_sql::nearest)?;
    match cli::read(args) {
        Ok(cli) => dispatch(&cli, printer),
        Err(usage) if usage.use_stderr() => {
            let text = cli::text_of(&usage);
            Err(Usage(cli::with_suggestion(&usage, text)).into())
        }
        // The parser returns --help and --version as errors, but they are answers.
        Err(answer) => {
            let is_help = answer.kind() == ErrorKind::DisplayHelp;
            let short = is_help.then(|| help::short(cli::command(), args)).flatten();
            let text = short.unwrap_or_else(|| answer.render().to_string());
            printer.block(&text)?;
            Ok(Exit::Answered)
        }
    }
}

/// Runs one parsed command.
pub(crate) fn dispatch(cli: &Cli, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    printer.choose_colors(cli.color);
    printer.speak(cli.speech());
    let names = cli.command.names().map_or(Ok(None), NameArgs::rules)?;
    let asking = Asking {
        process_names: names,
        ..printer.context().asking
    };
    // Restored afterwards: the steps of an ETWAnalyzer line share one printer.
    let before = printer.ask_with(asking);
    let answered = run_command(cli, printer);
    printer.ask_with(before);
    answered
}

fn run_command(cli: &Cli, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    match &cli.command {
        Command::Info(args) => commands::info::run(args, printer),
        Command::Events(args) => commands::events::run(args, printer),
        Command::Extract(args) => commands::extract::run(args, printer),
        Command::Dump(args) => commands::dump::run(args, printer),
        Command::CriticalPath(args) => commands::dump::question_command::run(args, printer),
        Command::Diagnose(args) => commands::dump::diagnose::run(args, printer),
        Command::Diff(args) => commands::dump::question_command::run(args, printer),
        Command::Explain(args) => commands::dump::explain::run(args, printer),
        Command::Demo(args) => commands::demo::run(args, printer),
        Command::Export(args) => commands::export::run(args, printer),
        Command::Console(_) => anyhow::bail!("this is a console already"),
        Command::Cache(args) => commands::cache::run(args, printer),
        Command::Cut(args) => commands::front::cut(args, cli.map.as_deref(), printer),
        Command::Lab(args) => etwkit_record::front::lab(args, printer),
        Command::Lake(args) => commands::lake::run(args, printer),
        Command::Mcp(args) => commands::front::mcp(args, printer),
        Command::Record(args) => commands::front::record(args, printer),
        Command::Run(args) => commands::front::run(args, printer),
        Command::Sql(args) => commands::sql::run(args, printer),
        Command::Strace(args) => commands::strace::run(args, printer),
        Command::Symbols(args) => commands::symbols::run(args, printer),
        Command::Synth(args) => commands::synth::run(args, printer),
        Command::Wpaexporter(args) => etwkit_export::wpa::wpaexporter(args, printer),
        Command::View(args) => commands::view::run(args, printer),
        Command::Completions(args) => commands::shell::completions(args, printer),
        Command::Docs(args) => commands::docs::run(args, printer),
        Command::Man(args) => commands::shell::man(args, printer),
    }
}
