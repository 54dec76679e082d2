//! `etwkit synth`: traces whose numbers are known, because the machine they come from is simulated.

use std::io::Seek;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use etwkit_synth::cards::CARDS;
use etwkit_synth::{Options, Play, SCENARIOS, SymbolFile, TraceOptions, Truth};
use etwkit_terminal::{Exit, Table};

use crate::cli::{SynthArgs, SynthCommand, SynthWriteArgs};
use crate::out_file::{self, Replace, cannot};
use crate::printer::{Printer, grouped};

pub(crate) fn run(args: &SynthArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    match &args.command {
        SynthCommand::List => list(printer),
        SynthCommand::Write(args) => write(args, printer),
    }
}

fn list(printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let rows = SCENARIOS
        .iter()
        .map(|scenario| [scenario.name, scenario.description].map(str::to_owned));
    printer.table(&Table::of("scenario|what happens", rows))?;
    printer.line("")?;
    let rows = CARDS
        .iter()
        .map(|card| [card.name, card.description].map(str::to_owned));
    printer.table(&Table::of("card|what makes the machine slow", rows))?;
    Ok(Exit::Answered)
}

fn write(args: &SynthWriteArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let SynthWriteArgs {
        scale,
        seed,
        compressed,
        cpus,
        healthy,
        strength,
        ..
    } = *args;
    let options = Options {
        scale,
        seed,
        compressed,
        cpus,
    };
    let play = Play::of(&TraceOptions {
        name: &args.scenario,
        options,
        strength_percent: strength,
        is_healthy: healthy,
    })?;
    let symbols = play.symbols()?;
    let beside = Beside::of(&args.out, symbols);
    let force = args.force;
    // All targets are checked before the simulation, which takes long at large scales.
    out_file::check(&args.out, trace_replace(force))?;
    out_file::check(&beside.truth, Replace::forced(force))?;
    if let Some(folder) = beside
        .symbols
        .as_ref()
        .filter(|folder| folder.exists() && !force)
    {
        bail!(
            "{} exists; --force overwrites the files in it",
            folder.display()
        );
    }
    let (bytes, truth) = write_files(&play, &args.out, &beside, force)?;
    let table = outcome(&args.out, &beside, bytes, &truth);
    printer.heading(&format!("Wrote {} with seed {}", args.scenario, args.seed))?;
    printer.table(&table)?;
    Ok(Exit::Answered)
}

/// Returns the written files and their sizes.
fn outcome(trace: &Path, beside: &Beside, bytes: u64, truth: &Truth) -> Table {
    let mut table = Table::pairs();
    let files = [("trace", trace), ("truth", beside.truth.as_path())].into_iter();
    let symbols = beside.symbols.iter();
    let symbols = symbols.map(|folder| ("symbols", folder.as_path()));
    for (name, path) in files.chain(symbols) {
        table.row([name.to_owned(), path.display().to_string()]);
    }
    let bytes_an_event = bytes as f64 / truth.counts.total.max(1) as f64;
    let seconds = truth.header.duration_ns as f64 / 1e9;
    for (name, value) in [
        ("bytes", grouped(bytes)),
        ("events", grouped(truth.counts.total)),
        ("bytes an event", format!("{bytes_an_event:.1}")),
        ("seconds", format!("{seconds:.3}")),
    ] {
        table.row([name.to_owned(), value]);
    }
    table
}

/// With `--force` a simulated trace may replace a simulated one, never a recorded one.
const fn trace_replace(force: bool) -> Replace {
    if force {
        Replace::Simulated
    } else {
        Replace::Nothing
    }
}

/// Files that are written next to a trace.
struct Beside {
    truth: PathBuf,
    /// Folder of the symbol files; `None` if the scenario has none.
    symbols: Option<PathBuf>,
    files: Vec<SymbolFile>,
}

impl Beside {
    fn of(trace: &Path, files: Vec<SymbolFile>) -> Self {
        let symbols = if files.is_empty() {
            None
        } else {
            Some(trace.with_extension("symbols"))
        };
        Self {
            truth: trace.with_extension("truth.json"),
            symbols,
            files,
        }
    }
}

/// Writes a scenario with default options.
pub(crate) fn write_scenario(name: &str, scale: u32, out: &Path) -> anyhow::Result<()> {
    let Some(scenario) = etwkit_synth::find(name) else {
        bail!("there is no scenario \"{name}\"")
    };
    let options = Options {
        scale,
        ..Options::default()
    };
    let play = Play::Scenario(scenario, options);
    write_files(&play, out, &Beside::of(out, play.symbols()?), true)?;
    Ok(())
}

/// Writes all files under other names and renames them when they are complete, the trace last: if
/// the trace exists, the other files also exist. Returns the bytes of the trace.
fn write_files(
    play: &Play,
    out: &Path,
    beside: &Beside,
    force: bool,
) -> anyhow::Result<(u64, Truth)> {
    let mut sink = out_file::buffered(out, trace_replace(force))?;
    let (bytes, truth) = {
        let (sink, truth) = play.write(&mut sink).with_context(|| cannot(out))?;
        (sink.stream_position().with_context(|| cannot(out))?, truth)
    };
    for file in &beside.files {
        let Some(folder) = &beside.symbols else { break };
        let path = folder.join(&file.path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)
                .with_context(|| format!("cannot create {}", parent.display()))?;
        }
        out_file::write_text(&path, Replace::forced(force), &file.text)?;
    }
    let text = serde_json::to_string_pretty(&truth)? + "\n";
    out_file::write_text(&beside.truth, Replace::forced(force), &text)?;
    out_file::keep(sink, out)?;
    Ok((bytes, truth))
}
