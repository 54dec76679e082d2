//! `etwkit console`: one query after another, on extracts that stay open.
//!
//! A line is read by the same parsers as a command line and answered by the same commands; a
//! console only adds the loaded extracts to a line that names none. See docs/console.md.

mod commands;
mod complete;
mod directory;
mod gate;
mod input;
mod lines;
mod names;
mod paths;
mod set;
mod settings;
mod state;
mod words;

use std::cell::{Cell, RefCell};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::rc::Rc;

use clap::Parser;
use etwkit_compat::console::begin;
use etwkit_engine::Engine;
use etwkit_terminal::Exit;
use etwkit_terminal::interrupt::ConsoleRegistration;
use etwkit_terminal::style::ColorMode;

use crate::cli::{Cli, Command};
use crate::context::Context;
use crate::printer::{Printer, Speech};
use crate::{Screen, report};
use complete::Completions;
use gate::{Gate, Running};
use input::{Input, Next};
use set::Set;
use settings::Settings;
use state::Console;

/// Start options of a console.
#[derive(Debug)]
pub(crate) struct Request {
    queries: anyhow::Result<Vec<String>>,
    is_recursive: bool,
    has_history: bool,
    colors: Option<ColorMode>,
    speech: Speech,
}

/// Returns the request of a command line, if it asks for a console.
pub(crate) fn request(args: &[OsString]) -> Option<Request> {
    if let Some(begin) = begin(args) {
        let is_recursive = begin.as_ref().is_ok_and(|begin| begin.is_recursive);
        let colors = begin
            .as_ref()
            .ok()
            .filter(|begin| begin.is_plain)
            .map(|_| ColorMode::Never);
        let queries = begin.map(|begin| begin.queries);
        return Some(Request {
            queries,
            is_recursive,
            has_history: true,
            colors,
            speech: Speech::Usual,
        });
    }
    // Parsing takes longer than searching for the word, and is repeated if the word is missing.
    if !args.iter().any(|arg| arg == "console") {
        return None;
    }
    let cli = Cli::try_parse_from(args).ok()?;
    let colors = cli.color;
    let speech = cli.speech();
    match cli.command {
        Command::Console(args) => Some(Request {
            queries: Ok(args.extracts),
            is_recursive: false,
            has_history: !args.no_history,
            colors,
            speech,
        }),
        _ => None,
    }
}

/// Continuation after a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    /// The next line; the exit code is the outcome of this one.
    Next(Exit),
    Leave,
}

/// Runs a console until the input ends or a line leaves it. If lines do not come from a terminal,
/// the exit code is the worst one of all lines. On a terminal, the user has seen the errors.
pub(crate) fn run(request: Request, screen: &mut Screen<'_>) -> Exit {
    answered(request, screen).unwrap_or_else(|error| {
        report::error(&mut screen.errors(), &error, report::HELP);
        Exit::Error
    })
}

fn answered(request: Request, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    (screen.session, screen.speech) = (request.colors, request.speech);
    let engine = Engine::default();
    let running = Running::default();
    let is_interactive = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let set = Rc::new(RefCell::new(Set::new(engine.clone())));
    let mut console = Console {
        set: set.clone(),
        settings: Settings::default(),
        engine: engine.clone(),
        running: running.clone(),
        is_interactive,
    };
    let queries = request.queries?;
    let completions = Completions::new(set, engine.clone());
    let input = if is_interactive {
        Input::terminal(completions, request.has_history)?
    } else {
        Input::Lines
    };
    // A script ends with Ctrl-C like any command.
    let interrupt = is_interactive.then(ConsoleRegistration::begin);
    let mut gate = Gate::new(screen.out, running.clone());
    let is_closed = gate.is_closed();
    let mut screen = Screen {
        out: &mut gate,
        err: screen.err,
        terminal: screen.terminal,
        session: screen.session,
        speech: screen.speech,
    };
    if is_interactive {
        screen.answer(Context::new(&engine, &running.begin()), welcome);
    }
    let begin = || {
        let cancel = running.begin();
        if let Some(interrupt) = &interrupt {
            let cancel = cancel.clone();
            interrupt.command(move || cancel.ask());
        }
        cancel
    };
    let mut worst = Exit::Answered;
    if !queries.is_empty() {
        worst = screen.answer(Context::new(&engine, &begin()), |printer| {
            console
                .set
                .borrow_mut()
                .load(&queries, request.is_recursive, false, printer)?;
            Ok(Exit::Answered)
        });
    }
    let lines = Lines {
        input,
        is_closed: &is_closed,
        begin: &|| {
            begin();
        },
    };
    worst = worst.worse(lines.answered(&mut console, &mut screen));
    Ok(if is_interactive {
        Exit::Answered
    } else {
        worst
    })
}

fn welcome(printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    printer.line("Lines are commands of etwkit, or start with a dot: .load FILE, .help, .quit")?;
    Ok(Exit::Answered)
}

/// The lines of a console.
struct Lines<'a> {
    input: Input,
    /// True when the reader of the output has gone.
    is_closed: &'a Cell<bool>,
    /// Called before each line.
    begin: &'a dyn Fn(),
}

impl Lines<'_> {
    /// Answers the lines, and returns the worst exit code.
    fn answered(mut self, console: &mut Console, screen: &mut Screen<'_>) -> Exit {
        let mut worst = Exit::Answered;
        loop {
            let line = match self.input.next() {
                Ok(Next::Line(line)) => line,
                Ok(Next::Nothing) => continue,
                Ok(Next::End) => return worst,
                Err(error) => {
                    report::error(&mut screen.errors(), &error, report::HELP);
                    return worst.worse(Exit::Error);
                }
            };
            (self.begin)();
            match console.line(&line, screen) {
                Then::Next(exit) => worst = worst.worse(exit),
                Then::Leave => return worst,
            }
            // The reader of the output has gone, as after `… | head`: later lines would print
            // nothing.
            if self.is_closed.get() {
                return worst;
            }
        }
    }
}
