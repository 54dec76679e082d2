//! Front end for the commands that need no trace: the printer, files that never replace traces, and
//! `explain` of this program.

use std::ffi::{OsStr, OsString};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use clap::Parser as _;
use etwkit_cut::{ArgumentParsers, CutArgs, OutFiles};
use etwkit_engine::{Asking, Settings};
use etwkit_export::wpa::ExportFrontEnd;
use etwkit_record::front::{CommandFrontEnd, Here};
use etwkit_record::test_runs::RunArgs;
use etwkit_record::{NowArgs, RecordArgs, RecordCommand, StartArgs};
use etwkit_server::mcp::McpArgs;
use etwkit_sql::Session;
use etwkit_terminal::interrupt::{self, Stoppable};
use etwkit_terminal::{CommandOutput, Exit, Table};
use serde_json::Value;

use super::demo::offer_page;
use super::events::filter::wanted;
use super::extract::progress::Bars;

use crate::cli::Cli;
use crate::extracts::open_extracts;
use crate::out_file::{self, OutFile, Replace};
use crate::printer::{Printer, Speech};
use crate::symbols::SymbolArgs;
use crate::time_range::TimeRange;

/// `etwkit record`.
pub(crate) fn record(args: &RecordArgs, printer: &mut Printer<'_>) -> Result<Exit> {
    let mut here = Here::default();
    let mut machine = here.machine(Settings::from_environment().cache);
    if let RecordCommand::Start(StartArgs {
        like: Some(like), ..
    }) = &args.command
    {
        let words = [
            "etwkit".into(),
            "sql".into(),
            like.into(),
            "@trace/rate".into(),
        ];
        // Before a script, which is text for another program, it is a comment.
        let prefix = if machine.is_windows && !args.script {
            ""
        } else {
            "rem "
        };
        let (text, error, exit) = answered(&words);
        anyhow::ensure!(
            exit != Exit::Error,
            "it is not known what the earlier trace needed: {error}"
        );
        text.lines()
            .try_for_each(|line| CommandOutput::line(printer, &format!("{prefix}{line}")))?;
    }
    let exit = etwkit_record::run(args, &mut machine, printer)?;
    match (&args.command, machine.written) {
        (RecordCommand::Stop(stop), Some(file)) if stop.extract => {
            let words = ["etwkit".into(), "extract".into(), file.into_os_string()];
            Ok(exit.worse(asked(&words, "the recording cannot be extracted", printer)?))
        }
        (RecordCommand::Now(now), Some(file)) => {
            // The press that ended the recording does not end the answer.
            interrupt::forget();
            diagnosed(&file, now, printer)
        }
        _ => Ok(exit),
    }
}

/// Extracts a new recording, prints the likely causes, and offers the page.
fn diagnosed(recording: &Path, args: &NowArgs, printer: &mut Printer<'_>) -> Result<Exit> {
    let symbols = args
        .symbols
        .iter()
        .flat_map(|place| ["--symbols", place.as_str()]);
    let words: Vec<OsString> = ["etwkit", "extract"]
        .into_iter()
        .chain(symbols)
        .map(OsString::from)
        .chain([recording.into()])
        .collect();
    let (_, error, exit) = answered(&words);
    anyhow::ensure!(
        exit != Exit::Error,
        "the recording cannot be extracted: {error}"
    );
    let places = SymbolArgs {
        symbols: args.symbols.clone(),
    };
    places.notes().iter().for_each(|note| printer.note(note));
    let extract = recording.with_extension("etwx");
    CommandOutput::line(printer, "")?;
    let line = [
        OsStr::new("etwkit"),
        OsStr::new("diagnose"),
        extract.as_os_str(),
    ];
    let exit = crate::dispatch(&Cli::try_parse_from(line)?, printer)?;
    CommandOutput::line(printer, "")?;
    Ok(exit.worse(offer_page(&extract, args.no_open, printer)?))
}

/// `etwkit cut`. `map` gets the table of substitutes.
pub(crate) fn cut(args: &CutArgs, map: Option<&Path>, printer: &mut Printer<'_>) -> Result<Exit> {
    let bars = Bars::new(1, printer.wants_notes());
    let stoppable = Stoppable::begin();
    let target = args.out.as_deref().unwrap_or(Path::new("redaction"));
    let mut bar = bars.start(&target.display().to_string(), 0);
    let range = |text: &str, input: &_| TimeRange::parse(Some(text))?.of(input);
    let parsers = ArgumentParsers {
        range: &range,
        names: &wanted,
    };
    let progress = &mut |progress| bar.set(progress, &stoppable);
    let done = if args.check {
        etwkit_cut::check(args, &parsers, progress)?
    } else {
        let replace = if args.force {
            Replace::Cut
        } else {
            Replace::Nothing
        };
        etwkit_cut::run(args, map, &parsers, &replace, progress)?
    };
    let Some(done) = done else {
        return Ok(Exit::Interrupted);
    };
    // The bar would be drawn over the lines.
    drop(bar);
    if args.json {
        Printer::json_start(printer, "cut");
        let rows = if args.check {
            etwkit_cut::checked_json(&done)
        } else {
            vec![etwkit_cut::json(&done)]
        };
        rows.iter()
            .try_for_each(|row| Printer::json(printer, row))?;
    } else {
        let lines = if args.check {
            etwkit_cut::checked_lines(&done)
        } else {
            etwkit_cut::lines(&done)
        };
        lines
            .iter()
            .try_for_each(|line| CommandOutput::line(printer, line))?;
    }
    Ok(Exit::Answered)
}

/// Runs a command line of this program within another one, and prints its answer.
fn asked(words: &[OsString], cannot: &str, printer: &mut Printer<'_>) -> Result<Exit> {
    let (text, error, exit) = answered(words);
    printer.block(&text)?;
    anyhow::ensure!(exit != Exit::Error, "{cannot}: {error}");
    Ok(exit)
}

/// Runs a command line of this program and returns its output, its errors, and its exit code.
fn answered(words: &[OsString]) -> (String, String, Exit) {
    let mut out = Vec::new();
    let mut err = Vec::new();
    let exit = crate::run(words, &mut out, &mut err);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    (text(&out), text(&err), exit)
}

/// `etwkit mcp`.
pub(crate) fn mcp(args: &McpArgs, printer: &mut Printer<'_>) -> Result<Exit> {
    let engine = printer.context().engine;
    let of_lines = printer.context().engine;
    let run_line =
        move |words: &[String], asking: &Asking, out: &mut dyn Write, err: &mut dyn Write| {
            let args: Vec<OsString> = std::iter::once("etwkit".into())
                .chain(words.iter().map(Into::into))
                .collect();
            let context = crate::context::Context {
                engine: of_lines.clone(),
                asking: asking.clone(),
            };
            let terminal = crate::Terminal::default();
            let speech = Speech::Usual;
            let mut screen = crate::Screen {
                out,
                err,
                terminal,
                session: None,
                speech,
            };
            screen.answer(context, |printer| crate::line(&args, printer))
        };
    etwkit_server::mcp::run(args, engine, Arc::new(run_line), printer.bytes())
}

/// `etwkit run`.
pub(crate) fn run(args: &RunArgs, printer: &mut Printer<'_>) -> Result<Exit> {
    let mut here = Here::default();
    let mut machine = here.machine(Settings::from_environment().cache);
    etwkit_record::front::run(args, &mut machine, printer)
}

impl CommandOutput for Printer<'_> {
    fn line(&mut self, line: &str) -> Result<()> {
        Ok((**self).line(line)?)
    }

    fn note(&mut self, text: &str) {
        Printer::note(self, text);
    }

    fn json_start(&mut self, command: &str) {
        Printer::json_start(self, command);
    }

    fn json(&mut self, value: &Value) -> Result<()> {
        Ok(Printer::json(self, value)?)
    }
}

impl ExportFrontEnd for Printer<'_> {
    fn open(&mut self, path: &Path) -> Result<Arc<Session>> {
        open_extracts(&[path.to_owned()], self)
    }

    fn write_file(
        &mut self,
        file: &Path,
        force: bool,
        write: &mut dyn FnMut(&mut dyn Write) -> Result<bool>,
    ) -> Result<()> {
        let mut out = out_file::buffered(file, Replace::forced(force))?;
        if write(&mut out)? {
            out_file::keep(out, file)?;
        }
        Ok(())
    }
}

impl OutFiles for Replace {
    type File = BufWriter<OutFile>;

    fn check(&self, path: &Path) -> Result<()> {
        out_file::check(path, *self)
    }

    fn create(&self, path: &Path) -> Result<Self::File> {
        out_file::buffered(path, *self)
    }

    fn keep(&self, file: Self::File, path: &Path) -> Result<()> {
        out_file::keep(file, path)
    }
}

impl CommandFrontEnd for Printer<'_> {
    fn table(&mut self, heading: &str, table: &Table) -> Result<()> {
        self.heading(heading)?;
        Ok((**self).table(table)?)
    }

    fn flush(&mut self) -> Result<()> {
        Ok((**self).flush()?)
    }

    fn is_given_up(&self) -> bool {
        self.context().asking.cancel.is_asked()
    }

    fn check_new(&self, file: &Path) -> Result<()> {
        out_file::check(file, Replace::Nothing)
    }

    fn write_new(
        &mut self,
        file: &Path,
        write: &mut dyn FnMut(&mut dyn Write) -> Result<()>,
    ) -> Result<()> {
        let mut out = out_file::buffered(file, Replace::Nothing)?;
        write(&mut out).with_context(|| out_file::cannot(file))?;
        out_file::keep(out, file)
    }

    fn extract(&mut self, recordings: &[&str]) -> Result<()> {
        let words = ["etwkit", "extract"]
            .into_iter()
            .chain(recordings.iter().copied());
        let words: Vec<OsString> = words.map(OsString::from).collect();
        asked(&words, "the recordings cannot be extracted", self).map(|_| ())
    }

    fn explain(&mut self, recordings: &[&str], is_json: bool) -> Result<()> {
        let words = ["etwkit", "explain"]
            .into_iter()
            .chain(is_json.then_some("--json"));
        let words: Vec<OsString> = words
            .chain(recordings.iter().copied())
            .map(OsString::from)
            .collect();
        asked(&words, "the recordings cannot be explained", self).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::{Screen, Terminal};

    #[test]
    fn a_new_recording_is_diagnosed_and_the_page_offered() {
        let folder = tempfile::tempdir().unwrap();
        let trace = crate::commands::demo::trace_in(folder.path()).unwrap();
        let args = NowArgs {
            profiles: Vec::new(),
            time: None,
            name: String::new(),
            symbols: vec![folder.path().display().to_string(), "ftp://x".to_owned()],
            no_open: false,
            command: Vec::new(),
        };
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut screen = Screen {
            out: &mut out,
            err: &mut err,
            terminal: Terminal::default(),
            session: None,
            speech: Speech::Usual,
        };
        let exit = screen.answer(crate::context::Context::default(), |printer| {
            diagnosed(&trace, &args, printer)
        });
        assert_eq!(exit, Exit::Answered, "{}", String::from_utf8_lossy(&err));
        let out = String::from_utf8(out).unwrap();
        let extract: PathBuf = trace.with_extension("etwx");
        assert!(out.contains("filter-scan"), "{out}");
        let page = format!("etwkit view {}\n", extract.display());
        assert!(out.ends_with(&page), "{out}");
        let err = String::from_utf8(err).unwrap();
        assert_eq!(err.matches("note: ftp://x: not used: ").count(), 1, "{err}");
    }
}
