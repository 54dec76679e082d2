//! `etwkit synth`: traces whose numbers are known, because the machine they come from is simulated.

use std::io::{Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use etwkit_synth::cards::{self, CARDS, Case};
use etwkit_synth::{Options, SCENARIOS, Scenario, SymbolFile, Truth};

use crate::cli::{SynthArgs, SynthCommand, SynthWriteArgs};
use crate::exit::Exit;
use crate::out_file::{self, OutFile, Replace, cannot};
use crate::printer::{Printer, Table, grouped};

pub(crate) fn run(args: &SynthArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    match &args.command {
        SynthCommand::List => list(printer),
        SynthCommand::Write(args) => write(args, printer),
    }
}

fn list(printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let rows = SCENARIOS.iter().map(|scenario| [scenario.name, scenario.description].map(str::to_owned));
    printer.table(&Table::of("scenario|what happens", rows))?;
    printer.line("")?;
    let rows = CARDS.iter().map(|card| [card.name, card.description].map(str::to_owned));
    printer.table(&Table::of("card|what makes the machine slow", rows))?;
    Ok(Exit::Answered)
}

/// What is simulated.
enum Play {
    Scenario(&'static Scenario, Options),
    Case(Case),
}

impl Play {
    /// The scenario, or the cards with `+` between them, that the arguments name.
    fn of(args: &SynthWriteArgs) -> anyhow::Result<Self> {
        let is_usual = args.strength == 100 && !args.healthy;
        if let Some(scenario) = etwkit_synth::find(&args.scenario) {
            if !is_usual {
                bail!("--strength and --healthy are for cards, and \"{}\" is a scenario", args.scenario);
            }
            let SynthWriteArgs { scale, seed, compressed, cpus, .. } = *args;
            return Ok(Self::Scenario(scenario, Options { scale, seed, compressed, cpus }));
        }
        let cards = args.scenario.split('+').map(|name| cards::find(name).ok_or(name)).collect();
        let cards: Vec<_> = match cards {
            Ok(cards) => cards,
            Err(name) => {
                let names = SCENARIOS.iter().map(|scenario| scenario.name);
                let names: Vec<&str> = names.chain(CARDS.iter().map(|card| card.name)).collect();
                bail!("there is no scenario or card \"{name}\"; there are: {}", names.join(", "));
            }
        };
        if args.scale != 1 || args.compressed {
            bail!("--scale and --compressed are for scenarios, and \"{}\" is a card", args.scenario);
        }
        let case = Case::new(cards, args.seed);
        Ok(Self::Case(Case {
            strength_percent: args.strength,
            is_healthy: args.healthy,
            cpus: args.cpus.unwrap_or(case.cpus),
            ..case
        }))
    }

    fn symbols(&self) -> etwkit_synth::Result<Vec<SymbolFile>> {
        match self {
            Self::Scenario(scenario, options) => scenario.symbols(options),
            Self::Case(case) => Ok(case.symbols()),
        }
    }

    fn write<W: Write + Seek>(&self, sink: W) -> etwkit_synth::Result<(W, Truth)> {
        match self {
            Self::Scenario(scenario, options) => scenario.write(sink, options),
            Self::Case(case) => case.write(sink),
        }
    }
}

fn write(args: &SynthWriteArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let play = Play::of(args)?;
    let symbols = play.symbols()?;
    let beside = Beside::of(&args.out, symbols);
    let force = args.force;
    out_file::check(&args.out, trace_replace(force))?;
    out_file::check(&beside.truth, Replace::forced(force))?;
    if let Some(folder) = beside.symbols.as_ref().filter(|folder| folder.exists() && !force) {
        bail!("{} exists; --force overwrites the files in it", folder.display());
    }
    let (bytes, truth) = write_files(&play, &args.out, &beside, force)?;
    let mut table = Table::pairs();
    let seconds = truth.header.duration_ns as f64 / 1e9;
    for (name, path) in [("trace", &args.out), ("truth", &beside.truth)]
        .into_iter()
        .chain(beside.symbols.iter().map(|folder| ("symbols", folder)))
    {
        table.row([name.to_owned(), path.display().to_string()]);
    }
    for (name, value) in [
        ("bytes", grouped(bytes)),
        ("events", grouped(truth.counts.total)),
        ("bytes an event", format!("{:.1}", bytes as f64 / truth.counts.total.max(1) as f64)),
        ("seconds", format!("{seconds:.3}")),
    ] {
        table.row([name.to_owned(), value]);
    }
    printer.heading(&format!("Wrote {} with seed {}", args.scenario, args.seed))?;
    printer.table(&table)?;
    Ok(Exit::Answered)
}

/// With `--force` a simulated trace takes the place of a simulated one, never of one that was recorded.
const fn trace_replace(force: bool) -> Replace {
    if force { Replace::Simulated } else { Replace::Nothing }
}

/// What is written beside a trace.
struct Beside {
    truth: PathBuf,
    /// Folder of the symbol files; `None` if the scenario has none.
    symbols: Option<PathBuf>,
    files: Vec<SymbolFile>,
}

impl Beside {
    fn of(trace: &Path, files: Vec<SymbolFile>) -> Self {
        let symbols = if files.is_empty() { None } else { Some(trace.with_extension("symbols")) };
        Self { truth: trace.with_extension("truth.json"), symbols, files }
    }
}

/// Writes a scenario as it is if no option says otherwise.
pub(crate) fn write_scenario(name: &str, scale: u32, out: &Path) -> anyhow::Result<()> {
    let Some(scenario) = etwkit_synth::find(name) else { bail!("there is no scenario \"{name}\"") };
    let options = Options { scale, ..Options::default() };
    let play = Play::Scenario(scenario, options);
    write_files(&play, out, &Beside::of(out, play.symbols()?), true)?;
    Ok(())
}

/// Writes all files under other names and renames them when they are complete, the trace last: where there is
/// a trace, there is what belongs to it. Returns the bytes of the trace.
fn write_files(play: &Play, out: &Path, beside: &Beside, force: bool) -> anyhow::Result<(u64, Truth)> {
    let mut sink = out_file::buffered(out, trace_replace(force))?;
    let (bytes, truth) = {
        let (sink, truth) = play.write(&mut sink).with_context(|| cannot(out))?;
        (sink.stream_position().with_context(|| cannot(out))?, truth)
    };
    for file in &beside.files {
        let Some(folder) = &beside.symbols else { break };
        let path = folder.join(&file.path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        }
        write_text(&path, &file.text, force)?;
    }
    write_text(&beside.truth, &(serde_json::to_string_pretty(&truth)? + "\n"), force)?;
    out_file::keep(sink, out)?;
    Ok((bytes, truth))
}

fn write_text(path: &Path, text: &str, force: bool) -> anyhow::Result<()> {
    let mut file = OutFile::create(path, Replace::forced(force))?;
    file.write_all(text.as_bytes()).with_context(|| cannot(path))?;
    file.keep()
}
