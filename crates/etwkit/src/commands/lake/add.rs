//! `etwkit lake add`.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use etwkit_base::digits::counted;
use etwkit_base::path::stem_of;
use etwkit_engine::{InputKind, named};
use etwkit_extract::Extract;
use etwkit_extract::lake::{Added, Lake};
use etwkit_terminal::Exit;
use etwkit_terminal::errors::advised;
use serde_json::{Value, json};

use super::args::AddArgs;
use super::{RUNS, said};
use crate::extracts::unpacked;
use crate::printer::{Printer, grouped};

/// Extracts that are added with one commit to each table.
// A commit of some fifty tables takes a second: it is shared by many extracts, which are open until then.
pub(in crate::commands) const AT_ONCE: usize = 256;

pub(super) fn run(args: &AddArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let lake = Lake::open(&args.lake)?;
    let paths = named(&args.extracts, InputKind::Answers, args.recursive)?;
    refuse_runs(&paths)?;
    let paths = args.chosen_by.choose(paths, printer)?;
    let paths = unpacked(paths.into(), printer)?.into_owned();
    let mut all = Added::default();
    for paths in paths.chunks(AT_ONCE) {
        add_all(&lake, paths, &mut all, printer);
    }
    let command = ("lake add", args.json);
    said(printer, command, &object(&all), &text(&all))?;
    Ok(Exit::Answered)
}

/// Adds extracts together. Those that cannot be opened or added become errors of the command.
pub(in crate::commands) fn add_all(
    lake: &Lake,
    paths: &[PathBuf],
    all: &mut Added,
    printer: &mut Printer<'_>,
) {
    let extracts = opened(paths, printer);
    add(lake, &extracts, all, printer);
}

/// Returns the names of the runs, for JSON.
pub(in crate::commands) fn object(all: &Added) -> Value {
    json!({
        "added": all.new,
        "replaced": all.replaced,
        "known": all.known,
    })
}

/// Returns the numbers of runs, for people.
pub(in crate::commands) fn text(all: &Added) -> String {
    format!(
        "added {}, replaced {}; {} were there",
        counted(all.new.len() as u64, RUNS),
        grouped(all.replaced.len() as u64),
        grouped(all.known.len() as u64),
    )
}

fn refuse_runs(paths: &[PathBuf]) -> anyhow::Result<()> {
    match paths
        .iter()
        .find(|path| etwkit_extract::lake::split(path).is_some())
    {
        Some(run) => Err(advised(
            format!(
                "a run of a lake cannot be added to a lake: {}",
                run.display()
            ),
            "add the extract or the trace of the run",
        )),
        None => Ok(()),
    }
}

/// Opens extracts, each with its name. Those that cannot be opened become errors of the command.
fn opened(paths: &[PathBuf], printer: &mut Printer<'_>) -> Vec<(String, Extract)> {
    let context = printer.context();
    let mut all = Vec::with_capacity(paths.len());
    for path in paths {
        let extract = context
            .engine
            .extract(&context.asking, path, printer.notes());
        match extract.with_context(|| path.display().to_string()) {
            Ok(extract) => all.push((run_name(path), extract)),
            Err(error) => printer.failed(error),
        }
    }
    all
}

/// Returns the name of the run of an extract, as in the table `extract`: the whole path where that has
/// no name, as `.` in the folder of an extract.
fn run_name(path: &Path) -> String {
    let stem = stem_of(path);
    if stem.is_empty() {
        return path.display().to_string();
    }
    stem
}

/// Adds extracts together. If that fails, each is added alone, so that a damaged one keeps back no
/// other.
fn add(lake: &Lake, extracts: &[(String, Extract)], all: &mut Added, printer: &mut Printer<'_>) {
    let mut take = |added: Added| {
        all.new.extend(added.new);
        all.replaced.extend(added.replaced);
        all.known.extend(added.known);
    };
    if let Ok(added) = lake.add(extracts) {
        take(added);
        return;
    }
    for one in extracts {
        let added = lake.add(std::slice::from_ref(one));
        match added.with_context(|| one.1.path().display().to_string()) {
            Ok(added) => take(added),
            Err(error) => printer.failed(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_has_a_name() {
        for (path, name) in [
            ("runs/slow.etwx", "slow"),
            ("slow.etwx/.", "slow"),
            (".", "."),
            ("..", ".."),
        ] {
            assert_eq!(run_name(Path::new(path)), name);
        }
    }
}
