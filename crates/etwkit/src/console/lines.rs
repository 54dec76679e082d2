//! Interpretation of a line.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::bail;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use etwkit_base::shell;
use etwkit_terminal::Exit;

use super::state::Console;
use super::{Then, commands};
use crate::cli::{Cli, Command};
use crate::context::Context;
use crate::printer::Printer;
use crate::{Screen, Terminal};

/// Commands that read traces, not extracts.
const OF_TRACES: [&str; 2] = ["info", "events"];
/// Commands that only query. Others may rewrite an extract, which Windows refuses while it is open.
const ASKING: [&str; 6] = ["dump", "sql", "critical-path", "export", "info", "events"];
/// Commands of ETWAnalyzer that may rewrite an extract.
const WRITING_LINES: [&str; 3] = ["-extract", "-loadsymbol", "-convert"];
/// An option of querying commands that writes into extracts.
const WRITING: &str = "--stack-tag-file";

impl Console {
    /// Runs a line and reports errors.
    pub(super) fn line(&mut self, line: &str, screen: &mut Screen<'_>) -> Then {
        let words = shell::split(line);
        let Some(first) = words.first().filter(|first| !first.starts_with('#')) else {
            return Then::Next(Exit::Answered);
        };
        if commands::leaves(first) {
            return Then::Leave;
        }
        let cancel = self.running.switch();
        let context = Context::new(&self.engine, &cancel);
        // Errors are collected, since they are dropped if the command is canceled.
        let mut errors = Vec::new();
        // Users resize their windows between two lines. Without a terminal there is still no width.
        let before = screen.terminal.width;
        let width = before.and_then(|_| terminal_size::terminal_size());
        let width = width.map(|(width, _)| usize::from(width.0)).or(before);
        let terminal = Terminal {
            width,
            ..screen.terminal
        };
        let session = screen.session;
        let mut inner = Screen {
            out: &mut *screen.out,
            err: &mut errors,
            terminal,
            session,
            speech: screen.speech,
        };
        let exit = inner.answer(context, |printer| self.answer(line, &words, printer));
        // Errors of a canceled command are only about the cancel, so they are not printed.
        if cancel.is_asked() {
            screen.errors().note("cancelled");
            return Then::Next(Exit::Interrupted);
        }
        let _ = screen.err.write_all(&errors);
        Then::Next(exit)
    }

    fn answer(
        &mut self,
        line: &str,
        words: &[String],
        printer: &mut Printer<'_>,
    ) -> anyhow::Result<Exit> {
        let [first, rest @ ..] = words else {
            return Ok(Exit::Answered);
        };
        if let Some(command) = commands::find(first) {
            return (command.run)(self, &commands::CommandLine { line, words: rest }, printer);
        }
        let program = first.trim_end_matches(".exe");
        if (program == "etwkit" || program.eq_ignore_ascii_case("etwanalyzer")) && !rest.is_empty()
        {
            return self.answer(super::words::behind_first(line), rest, printer);
        }
        let args: Vec<OsString> = words.iter().map(Into::into).collect();
        if first.starts_with('-') {
            // Whole lines of ETWAnalyzer, over files of the disk.
            if words.iter().any(|word| {
                WRITING_LINES
                    .iter()
                    .any(|name| word.eq_ignore_ascii_case(name))
            }) {
                self.set.borrow().close();
            }
            return run(&args, printer);
        }
        if Cli::command().find_subcommand(first).is_none() {
            bail!("there is no command {first}; .help lists all");
        }
        self.ours(args, printer)
    }

    /// Runs a command line of ours. If it names no files, the loaded ones are used.
    pub(super) fn ours(
        &self,
        mut args: Vec<OsString>,
        printer: &mut Printer<'_>,
    ) -> anyhow::Result<Exit> {
        let first = args
            .first()
            .map_or_else(String::new, |first| first.to_string_lossy().into_owned());
        let writes = |arg: &OsString| arg.to_string_lossy().starts_with(WRITING);
        if !ASKING.contains(&&*first) || args.iter().any(writes) {
            self.set.borrow().close();
        }
        self.settings.add(&mut args);
        if self.set.borrow().is_empty() {
            return run(&args, printer);
        }
        if OF_TRACES.contains(&&*first) && lacks_files(&args) {
            return self.each_trace(&args, printer);
        }
        if let Some(at) = only_sql(&args) {
            let extracts = self.set.borrow_mut().choose(&[], printer)?;
            args.splice(at..at, extracts.into_iter().map(Into::into));
        } else if lacks_files(&args) {
            args.extend(
                self.set
                    .borrow_mut()
                    .choose(&[], printer)?
                    .into_iter()
                    .map(Into::into),
            );
        }
        run(&args, printer)
    }

    fn each_trace(&self, args: &[OsString], printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
        let traces: Vec<PathBuf> = self.set.borrow().traces()?;
        let mut worst = Exit::Answered;
        for trace in traces {
            let args: Vec<OsString> = args.iter().cloned().chain([trace.into()]).collect();
            worst = worst.worse(run(&args, printer)?);
        }
        Ok(worst)
    }
}

/// Runs arguments as the program does.
fn run(args: &[OsString], printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    crate::line(&with_program(args), printer)
}

fn with_program(args: &[OsString]) -> Vec<OsString> {
    std::iter::once("etwkit".into())
        .chain(args.iter().cloned())
        .collect()
}

/// True if a line lacks only files: with one more word it would be complete, or lack another
/// argument.
fn lacks_files(args: &[OsString]) -> bool {
    let kind = |args: &[OsString]| {
        Cli::try_parse_from(with_program(args))
            .err()
            .map(|error| error.kind())
    };
    let lacks = |kind| {
        matches!(
            kind,
            ErrorKind::MissingRequiredArgument
                | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        )
    };
    // The line is only parsed: no file with that name has to exist.
    let with_file: Vec<OsString> = args.iter().cloned().chain(["x".into()]).collect();
    kind(args).is_some_and(lacks)
        && matches!(
            kind(&with_file),
            None | Some(ErrorKind::MissingRequiredArgument)
        )
}

/// Returns the position of the SQL in a line that names no extract.
fn only_sql(args: &[OsString]) -> Option<usize> {
    let Command::Sql(sql) = Cli::try_parse_from(with_program(args)).ok()?.command else {
        return None;
    };
    if sql.file.is_some() {
        return sql.items.is_empty().then_some(args.len());
    }
    let [only] = sql.items.as_slice() else {
        return None;
    };
    // From the end, because the value of an earlier option can be the same word.
    args.iter().rposition(|arg| arg == only)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Vec<OsString> {
        shell::split(line).iter().map(Into::into).collect()
    }

    #[test]
    fn a_line_without_files_means_what_is_loaded() {
        for (line, expected) in [
            ("dump cpu", true),
            ("dump cpu --process cmd --methods *", true),
            ("dump cpu x.etwx", false),
            ("dump time", true),
            ("dump time --time 5", true),
            ("dump", false),
            ("dump cpu --help", false),
            ("dump cpu --speed", false),
            ("critical-path", true),
            ("critical-path --process cmd", true),
            ("export --all-processes", true),
            ("symbols load", true),
            ("symbols", false),
            ("info --json", true),
            ("events --count", true),
            ("info x.etl", false),
            ("synth list", false),
        ] {
            assert_eq!(lacks_files(&args(line)), expected, "{line}");
        }
    }

    #[test]
    fn extracts_stand_in_front_of_the_sql() {
        assert_eq!(only_sql(&args("sql 'SELECT 1'")), Some(1));
        assert_eq!(
            only_sql(&args("sql --format csv @cpu/methods --param process=x")),
            Some(3)
        );
        assert_eq!(only_sql(&args("sql a.etwx 'SELECT 1'")), None);
        assert_eq!(only_sql(&args("sql --file slow.sql")), Some(3));
        assert_eq!(only_sql(&args("sql --file slow.sql a.etwx")), None);
        assert_eq!(only_sql(&args("sql --show-schema")), None);
        assert_eq!(only_sql(&args("dump cpu")), None);
    }
}
