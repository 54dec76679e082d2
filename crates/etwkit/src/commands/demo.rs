//! `etwkit demo`: a trace of a simulated machine on which Git Bash takes ten seconds to open, its
//! diagnosis, and the proof.

use std::io::{BufRead as _, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Parser;
use etwkit_base::shell;
use etwkit_terminal::Exit;

use super::{extract, synth, view};
use crate::cli::{Cli, DemoArgs, ViewArgs};
use crate::printer::Printer;

/// The scenario, its length, and the name of its files.
const SCENARIO: &str = "git-bash";
const SCALE: u32 = 1;

/// The steps of the tour from the sentence to its proof, and the commands that print them; the
/// extract is appended.
const STEPS: [(&str, &[&str]); 5] = [
    (
        "1. Git Bash takes ten seconds to open. What are the likely causes?",
        &["diagnose", "--top", "1"],
    ),
    (
        "2. A filter driver. For what does the shell itself wait?",
        &[
            "dump",
            "cpu",
            "--process",
            "bash",
            "--stack-tags",
            "*",
            "--sort-by",
            "wait",
            "--top",
            "1",
            "--top-methods",
            "3",
        ],
    ),
    (
        "3. For this driver, when it starts programs. Which threads end the waits in CreateProcess?",
        &[
            "dump",
            "wait",
            "--by",
            "readying",
            "--method",
            "*CreateProcessW",
            "--top",
            "4",
            "--no-cmdline",
        ],
    ),
    (
        "4. Threads of a virus scanner. What did the scanner do during the longest of these waits?",
        &[
            "dump",
            "wait",
            "--chain",
            "--method",
            "*CreateProcessW",
            "--top",
            "1",
        ],
    ),
    (
        "5. The whole time of the window, each wait replaced by the work of the thread that ended it:",
        &["critical-path", "--process", "mintty", "--by-process"],
    ),
];

pub(crate) fn run(args: &DemoArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let is_new = !file_in(&args.folder).exists();
    let trace = trace_in(&args.folder)?;
    if is_new {
        printer.line(&format!(
            "Wrote a trace of a simulated machine: {}",
            trace.display()
        ))?;
    }
    let extract = extract::one_file(&trace)?;
    printer.line(&format!("Extracted it: {}", extract.display()))?;
    for (step, command) in STEPS {
        printer.line("")?;
        printer.heading(step)?;
        printer.line(&format!(
            "$ etwkit {} {}",
            shell::joined_patterns(command),
            extract.display()
        ))?;
        let line = ["etwkit"]
            .iter()
            .chain(command)
            .map(Into::into)
            .chain([extract.clone().into_os_string()]);
        crate::dispatch(&Cli::try_parse_from(line)?, printer)?;
    }
    printer.line("")?;
    printer.line("Next, with a trace of your own: etwkit diagnose slow.etl")?;
    offer_page(&extract, args.no_open, printer)
}

/// Opens the page if the user wants it, and otherwise shows the command that does.
pub(crate) fn offer_page(
    extract: &Path,
    no_open: bool,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Exit> {
    if !no_open && printer.width().is_some() && wants_page(printer)? {
        return view::run(&ViewArgs::of(extract), printer);
    }
    printer.line(&format!(
        "To look at this one in a browser: etwkit view {}",
        extract.display()
    ))?;
    Ok(Exit::Answered)
}

fn file_in(folder: &Path) -> PathBuf {
    folder.join(format!("{SCENARIO}.etl"))
}

/// Returns the trace in this folder; it is written if it does not exist.
pub(crate) fn trace_in(folder: &Path) -> anyhow::Result<PathBuf> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create {}", folder.display()))?;
    let trace = file_in(folder);
    if !trace.exists() {
        synth::write_scenario(SCENARIO, SCALE, &trace)?;
    }
    Ok(trace)
}

/// Asks on the terminal. Without a terminal, the answer is no.
fn wants_page(printer: &mut Printer<'_>) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Ok(false);
    }
    printer.line("")?;
    printer.line("Look at it in a browser? [Y/n]")?;
    printer.finish()?;
    let mut answer = String::new();
    // The first letter decides, and a line can be of any length.
    let length = std::io::stdin().lock().take(64).read_line(&mut answer)?;
    Ok(length > 0 && !answer.trim_start().to_lowercase().starts_with('n'))
}
