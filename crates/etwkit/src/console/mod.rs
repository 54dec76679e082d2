//! `etwkit console`: one question after the other, to extracts that stay open.
//!
//! A line is read by the same parsers as a command line and answered by the same commands; what a console adds is which extracts are meant when a line names
//! none. See docs/console.md.

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
mod words;

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::rc::Rc;
use std::sync::Arc;

use clap::Parser;

use crate::cli::{Cli, Command};
use crate::compat::console::begin;
use crate::exit::Exit;
use crate::interrupt::OfConsole;
use crate::shelf::Shelf;
use crate::style::When;
use crate::{Screen, report};
use complete::Completions;
use gate::Gate;
use input::{Input, Next};
use set::Set;
use settings::Settings;

/// How a console begins.
#[derive(Debug)]
pub(crate) struct Request {
    queries: anyhow::Result<Vec<String>>,
    is_recursive: bool,
    has_history: bool,
    colors: Option<When>,
}

/// The request of a command line, if it asks for a console.
pub(crate) fn request(args: &[OsString]) -> Option<Request> {
    if let Some(begin) = begin(args) {
        let is_recursive = begin.as_ref().is_ok_and(|begin| begin.is_recursive);
        let colors = begin.as_ref().ok().filter(|begin| begin.is_plain).map(|_| When::Never);
        let queries = begin.map(|begin| begin.queries);
        return Some(Request { queries, is_recursive, has_history: true, colors });
    }
    let Cli { command, color } = Cli::try_parse_from(args).ok()?;
    match command {
        Command::Console(args) => Some(Request {
            queries: Ok(args.extracts),
            is_recursive: false,
            has_history: !args.no_history,
            colors: color,
        }),
        _ => None,
    }
}

/// What goes on after a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    /// The next line, after one that ended so.
    Next(Exit),
    Leave,
}

/// A console.
struct Console {
    set: Rc<RefCell<Set>>,
    settings: Settings,
    shelf: Arc<Shelf>,
    is_interactive: bool,
}

/// Runs a console until the input ends or a line leaves it. Of lines that do not come from a terminal the exit code is that of the worst one; somebody who sits
/// there has seen it.
pub(crate) fn run(request: Request, screen: &mut Screen<'_>) -> Exit {
    screen.session = request.colors;
    let shelf = Arc::<Shelf>::default();
    let is_interactive = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let set = Rc::new(RefCell::new(Set::new(shelf.clone())));
    let mut console =
        Console { set: set.clone(), settings: Settings::default(), shelf: shelf.clone(), is_interactive };
    let queries = match request.queries {
        Ok(queries) => queries,
        Err(error) => {
            report::error(&mut screen.errors(), &error);
            return Exit::Error;
        }
    };
    let completions = Completions::new(set, shelf.clone());
    let input =
        if is_interactive { Input::terminal(completions, request.has_history) } else { Ok(Input::lines()) };
    let mut input = match input {
        Ok(input) => input,
        Err(error) => {
            report::error(&mut screen.errors(), &error);
            return Exit::Error;
        }
    };
    // A script ends with Ctrl-C as any command does.
    let interrupt = is_interactive.then(|| OfConsole::begin(shelf.cancel()));
    let mut gate = Gate::new(screen.out, shelf.cancel().clone());
    let is_closed = gate.is_closed();
    let mut screen =
        Screen { out: &mut gate, err: screen.err, terminal: screen.terminal, session: screen.session };
    if is_interactive {
        screen.answer(&shelf, |printer| {
            printer.line("Lines are commands of etwkit, or begin with a dot: .load FILE, .help, .quit")?;
            Ok(Exit::Answered)
        });
    }
    let mut worst = Exit::Answered;
    if !queries.is_empty() {
        worst = screen.answer(&shelf, |printer| {
            console.set.borrow_mut().load(&queries, request.is_recursive, false, printer)?;
            Ok(Exit::Answered)
        });
    }
    loop {
        let line = match input.next() {
            Ok(Next::Line(line)) => line,
            Ok(Next::Nothing) => continue,
            Ok(Next::End) => break,
            Err(error) => {
                report::error(&mut screen.errors(), &error);
                worst = worst.worse(Exit::Error);
                break;
            }
        };
        if let Some(interrupt) = &interrupt {
            interrupt.command();
        }
        match console.line(&line, &mut screen) {
            Then::Next(exit) => worst = worst.worse(exit),
            Then::Leave => break,
        }
        if is_closed.get() {
            break;
        }
    }
    if is_interactive { Exit::Answered } else { worst }
}
