//! `etwkit dump test-run`: what runs of tests a folder holds.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, bail};
use clap::Args;
use etwkit_engine::recordings;
use etwkit_query::question::record;
use etwkit_query::test_run::{RunSums, Test, TestFile, TestRow, TestRun};

use super::test_args::TestSelectionArgs;
use crate::exit::Exit;
use crate::printer::Printer;

#[derive(Debug, Args)]
pub(crate) struct TestRunArgs {
    /// Folders, traces and extracts
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// Folders below folders, too
    #[arg(long)]
    recursive: bool,
    #[command(flatten)]
    selection: TestSelectionArgs,
    /// Print the files of each test
    #[arg(long)]
    print_files: bool,
    /// Print each test, with one x for each 200 ms that it took
    #[arg(long)]
    verbose: bool,
    /// Copy the extracts of the chosen tests into a folder
    #[arg(long, value_name = "FOLDER")]
    copy_files_to: Option<PathBuf>,
    /// Copy traces and archives, too
    #[arg(long, requires = "copy_files_to")]
    with_traces: bool,
    /// Replace files that the folder has already
    #[arg(long, requires = "copy_files_to")]
    overwrite: bool,
    /// Print a line that names the command and the format, then one object for each file
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &TestRunArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let files = recordings(&args.paths, args.recursive)?;
    let runs = args.selection.selection()?.of(files, SystemTime::now());
    if args.json {
        objects(&runs, printer)?;
    } else {
        text(args, &runs, printer)?;
    }
    if let Some(folder) = &args.copy_files_to {
        let (copied, left_out) = copy(args, &runs, folder)?;
        for path in left_out {
            printer.note(&format!("{} is a link or no regular file and was not copied", path.display()));
        }
        if !args.json {
            printer.line(&format!("copied {copied} files and extracts to {}", folder.display()))?;
        }
    }
    Ok(if runs.is_empty() { Exit::Nothing } else { Exit::Answered })
}

fn files(runs: &[TestRun]) -> impl Iterator<Item = (&TestRun, &Test, &TestFile)> {
    let tests = runs.iter().flat_map(|run| run.tests.iter().map(move |test| (run, test)));
    tests.flat_map(|(run, test)| test.files.iter().map(move |file| (run, test, file)))
}

fn objects(runs: &[TestRun], printer: &mut Printer<'_>) -> anyhow::Result<()> {
    printer.json_start("dump test-run");
    for row in TestRow::all(runs) {
        printer.json(&record(&row)?.into())?;
    }
    Ok(())
}

/// `dd hh:mm:ss`.
fn length(seconds: i64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    format!("{days:02} {hours:02}:{minutes:02}:{:02}", seconds % 60)
}

fn text(args: &TestRunArgs, runs: &[TestRun], printer: &mut Printer<'_>) -> anyhow::Result<()> {
    for run in runs {
        let sums = RunSums::of(std::slice::from_ref(run));
        printer.heading(&format!(
            "Run {} starts at {}, duration {}, {} test cases, {} tests",
            run.index,
            run.start(),
            length(sums.seconds),
            sums.test_cases,
            sums.tests
        ))?;
        for test in run.tests.iter().filter(|_| args.verbose || args.print_files) {
            let bar = usize::try_from(test.duration_ms() / 200).unwrap_or(usize::MAX).min(MAX_BAR);
            let bar = if args.verbose { "x".repeat(bar) } else { String::new() };
            let line =
                format!("  {} {} {} ms {bar}", test.performed_at(), test.test_case(), test.duration_ms());
            printer.line(line.trim_end())?;
            for path in test.files.iter().filter(|_| args.print_files).flat_map(|f| [&f.trace, &f.extract]) {
                path.iter().try_for_each(|path| printer.line(&format!("    {}", path.display())))?;
            }
        }
    }
    let (Some(first), Some(last)) = (runs.first(), runs.last()) else {
        printer.line("no test fits")?;
        return Ok(());
    };
    let RunSums { tests, recordings, extracted, machines, .. } = RunSums::of(runs);
    printer.line(&format!(
        "{} runs from {} to {}: {tests} tests, {recordings} recordings, {extracted} of them extracted, \
         machines: {}",
        runs.len(),
        first.start(),
        last.end(),
        if machines.is_empty() { "?" } else { &machines }
    ))?;
    Ok(())
}

/// Longest row of x.
const MAX_BAR: usize = 500;

/// Copies what was chosen. Returns how much that was, and what was left out.
fn copy(args: &TestRunArgs, runs: &[TestRun], folder: &Path) -> anyhow::Result<(usize, Vec<PathBuf>)> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let (mut copied, mut left_out) = (0, Vec::new());
    for (_, _, file) in files(runs) {
        let trace = file.trace.as_ref().filter(|_| args.with_traces);
        for from in file.extract.iter().chain(trace) {
            // What was named may be a link, what a folder holds may not.
            if !args.paths.contains(from) && !is_plain(from) {
                left_out.push(from.clone());
                continue;
            }
            let to = folder.join(from.file_name().unwrap_or_default());
            if to.symlink_metadata().is_ok() {
                if !args.overwrite {
                    bail!("{} is there already; --overwrite replaces it", to.display());
                }
                if to.canonicalize().is_ok_and(|to| from.canonicalize().is_ok_and(|from| from == to)) {
                    bail!("{} would be copied onto itself", from.display());
                }
                remove(&to)?;
            }
            copy_all(from, &to, &mut left_out)
                .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
            copied += 1;
        }
    }
    Ok((copied, left_out))
}

/// Removes what is replaced; an extract is a folder.
fn remove(path: &Path) -> anyhow::Result<()> {
    let removed = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    removed.with_context(|| format!("cannot replace {}", path.display()))
}

/// Whether it is a file or folder and no link, pipe or device.
fn is_plain(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_file() || found.is_dir())
}

/// Copies a file, or a folder with all that is in it but for links, pipes and devices, which go to
/// `left_out`: a link of a stranger could lead to any file of this system, and a pipe waits for its writer.
fn copy_all(from: &Path, to: &Path, left_out: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if !from.is_dir() {
        return std::fs::copy(from, to).map(|_| ());
    }
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        if is_plain(&entry.path()) {
            copy_all(&entry.path(), &to.join(entry.file_name()), left_out)?;
        } else {
            left_out.push(entry.path());
        }
    }
    Ok(())
}
