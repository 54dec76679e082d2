//! `etwkit view`: serves the page on the loopback address, and opens it in a browser.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use etwkit_analysis::diagnose::DiagnoseRequest;
use etwkit_base::path::name_of;
use etwkit_engine::{InputKind, is_folder, named};
use etwkit_record::{Control, Programs};
use etwkit_server::{Demo, Limits, Running, Server, ServerOptions, check_no_lake};
use etwkit_terminal::Exit;
use etwkit_terminal::errors::advised;
use etwkit_terminal::interrupt::Stoppable;

use super::demo;
use super::dump::one_finding::numbered;

use crate::cli::ViewArgs;
use crate::extracts::open_extracts;
use crate::printer::Printer;

/// Polling interval for the Ctrl-C flag.
const LOOK: Duration = Duration::from_millis(100);

pub(crate) fn run(args: &ViewArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let files = if let Some(number) = args.finding {
        let files = named(&args.files, InputKind::Answers, false)?;
        check_finding(number, &files, printer)?;
        files
    } else {
        shown(&args.files)?
    };
    let running = start(args, printer)?;
    running.open(&files).map_err(anyhow::Error::msg)?;
    if let Some(note) = running.page_note() {
        printer.note(note);
    }
    let to_finding = args.finding.map(|number| running.link_to_finding(number));
    let to_state = args.at.as_ref().map(|state| running.link_to_state(state));
    let link = to_finding.or(to_state);
    let link = link.as_ref().unwrap_or(&running.link);
    printer.line(&format!("The page: {link}"))?;
    printer.line("Only this machine can open it. Ctrl-C ends it.")?;
    printer.finish()?;
    // Without a browser, the link has already been printed.
    if !args.no_open && running.has_page() && open::that_detached(link).is_err() {
        printer.note("no browser can be opened: open the link yourself");
    }
    let stoppable = Stoppable::begin();
    // In a console, Ctrl-C sets the cancel switch of the command and does not affect the process.
    while !stoppable.is_asked_to_stop() && !printer.context().asking.cancel.is_asked() {
        std::thread::sleep(LOOK);
    }
    if let Some(note) = running.recording_note() {
        printer.note(note);
    }
    Ok(Exit::Answered)
}

/// Returns what the page opens. A folder stays one: the page lists it, however many recordings it has.
fn shown(words: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let (folders, others): (Vec<PathBuf>, Vec<PathBuf>) =
        words.iter().cloned().partition(|path| is_folder(path));
    let files = named(&others, InputKind::Answers, false)?;
    check_no_lake(folders.iter().chain(&files))?;
    check_exist(&files)?;
    // The latest folder is shown first.
    Ok(folders.into_iter().rev().chain(files).collect())
}

/// Checks that files exist: the page would only show later that one is missing.
fn check_exist(files: &[PathBuf]) -> anyhow::Result<()> {
    for path in files {
        if let Err(source) = std::fs::metadata(path) {
            let path = path.clone();
            return Err(etwkit_extract::Error::Open { path, source }.into());
        }
    }
    Ok(())
}

/// Runs the rules as the page does: its numbers are the numbers of `etwkit diagnose`.
fn check_finding(number: i64, files: &[PathBuf], printer: &mut Printer<'_>) -> anyhow::Result<()> {
    let [file] = files else {
        let many = if files.is_empty() {
            "here is none"
        } else {
            "here are several"
        };
        let hint = "give the trace whose finding it is";
        return Err(advised(
            format!("--finding is of one trace, and {many}"),
            hint,
        ));
    };
    let session = open_extracts(files, printer)?;
    let findings = DiagnoseRequest::default()
        .ask_without_chains(&session)?
        .findings;
    numbered(&findings, number, (&name_of(file), file)).map(|_| ())
}

fn start(args: &ViewArgs, printer: &Printer<'_>) -> anyhow::Result<Running> {
    let engine = printer.context().engine;
    let cache = engine
        .settings()
        .cache
        .clone()
        .context("there is no folder for the cache; set ETWKIT_CACHE")?;
    let folder = cache.join("page");
    let demo_folder = folder.join("demo");
    let demo: Demo = Arc::new(move || demo::trace_in(&demo_folder).map_err(io::Error::other));
    let recorder = recorder(&cache)?;
    let limits = Limits::default();
    let options = ServerOptions {
        engine,
        port: args.port,
        cache_folder: folder,
        demo: Some(demo),
        recorder,
        limits,
    };
    Ok(Server::start(options)?)
}

/// Variable of the programs that replace the recorders of Windows in tests.
const STAND_IN: &str = "STAND_IN_FOLDER";

/// Returns the recorder of this machine: on Windows, or where tests replace its programs. As with
/// `etwkit record`, recordings go into the current folder, and either program can end them.
fn recorder(cache: &Path) -> anyhow::Result<Option<Control>> {
    if !cfg!(windows) && std::env::var_os(STAND_IN).is_none() {
        return Ok(None);
    }
    Ok(Some(Control {
        runner: Box::new(Programs),
        machine: etwkit_record::test_runs::machine(),
        settings: cache.join("record"),
        recordings: std::env::current_dir().context("there is no current folder")?,
    }))
}
