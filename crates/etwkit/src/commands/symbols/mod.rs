//! `etwkit symbols load`: names for the native code of existing extracts.

mod progress;
mod report;

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Subcommand};
use etwkit_engine::symbols::write_names;
use etwkit_engine::{InputKind, named, refuse_lakes};
use etwkit_extract::{ConvertError, Extract, NameFrom, find_names};
use etwkit_question::numbers::Numbers;
use etwkit_terminal::Exit;

use crate::extracts::extract_of;
use crate::printer::Printer;
use crate::symbols::{self, SymbolArgs};
pub(crate) use progress::Bar;
pub(crate) use report::summary_line;

#[derive(Debug, Args)]
pub(crate) struct SymbolsArgs {
    #[command(subcommand)]
    command: SymbolsCommand,
}

#[derive(Debug, Subcommand)]
enum SymbolsCommand {
    /// Find symbol files and give their names and lines to the code of extracts
    #[command(after_help = LOAD_EXAMPLE, mut_arg("symbols", |places| places.help(LOAD_PLACES)))]
    Load(LoadArgs),
}

const LOAD_PLACES: &str = "Places of symbol files: folders, srv*CACHE*URL as in _NT_SYMBOL_PATH, or MS, Google, \
     NtSymbolPath; several with ; or by repeating it. Files next to the trace are searched first, by default also \
     the places in _NT_SYMBOL_PATH";

const LOAD_EXAMPLE: &str = "\
Example:
  etwkit symbols load slow-login.etwx                                    what _NT_SYMBOL_PATH and the folder of the trace have
  etwkit symbols load --symbols MS --symbols ./build slow-login.etwx     Microsoft's server, and files of your own";

#[derive(Debug, Args)]
struct LoadArgs {
    /// Extracts (.etwx), traces, which are extracted into a cache first, folders, patterns, or
    /// "@FILE" with one of these on each line
    #[arg(value_name = "EXTRACT", required = true)]
    extracts: Vec<PathBuf>,
    #[command(flatten)]
    symbols: SymbolArgs,
    /// Read symbol files again instead of what an earlier run kept of them
    #[arg(long)]
    refresh: bool,
    /// Print one JSON object for each symbol file
    #[arg(long)]
    json: bool,
    /// Format of numbers.
    #[arg(skip)]
    pub(crate) numbers: Numbers,
}

impl SymbolsArgs {
    /// Returns the format of numbers.
    pub(crate) const fn numbers_mut(&mut self) -> &mut Numbers {
        let SymbolsCommand::Load(args) = &mut self.command;
        &mut args.numbers
    }
}

pub(crate) fn run(args: &SymbolsArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let SymbolsCommand::Load(args) = &args.command;
    if args.json {
        printer.json_start("symbols load");
    }
    let mut exit = Exit::Nothing;
    let extracts = named(&args.extracts, InputKind::Answers, false)?;
    let hint = "load the names into the extract of the run, then `etwkit lake add LAKE EXTRACT`";
    refuse_lakes(&extracts, "`etwkit symbols load`", hint)?;
    for path in &extracts {
        if load(args, path, printer)? {
            exit = Exit::Answered;
        }
    }
    Ok(exit)
}

/// Returns true if any address has a name or a line.
fn load(args: &LoadArgs, path: &Path, printer: &mut Printer<'_>) -> anyhow::Result<bool> {
    let extract = extract_of(path, printer)?;
    let opened = Extract::open(&extract).map_err(etwkit_sql::Error::from)?;
    let bar = Bar::new();
    let on_symbols = |name: &str, event: etwkit_symbols::Event<'_>| bar.event(name, event);
    // A user of this command means the symbols that the environment names.
    let search = args.symbols.path(path, &["NtSymbolPath"]);
    let options = symbols::options(&search, args.refresh);
    let from = NameFrom {
        path: search,
        options,
        on_symbols: &on_symbols,
    };
    let found = find_names(&opened, &from);
    let loaded = found.and_then(|found| write_names(found, &opened, path));
    bar.clear();
    let naming = match loaded {
        Ok(loaded) => {
            if let Some(note) = loaded.note() {
                printer.note(&note);
            }
            loaded.naming
        }
        Err(summary @ (ConvertError::IsSummary { .. } | ConvertError::WithoutRows { .. })) => {
            let hint = summary.hint().unwrap_or("");
            printer.note(&format!("{summary}: {hint}"));
            return Ok(false);
        }
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    };
    if args.json {
        from.path.notes().for_each(|note| printer.note(&note));
        report::json(path, &naming, printer)?;
    } else {
        report::text(path, &from.path, &naming, args.numbers, printer)?;
    }
    Ok(naming.is_useful())
}
