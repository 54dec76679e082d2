//! Where names of native code come from: options, environment, and what lies beside a trace.

use std::path::{Path, PathBuf};

use clap::Args;
use etwkit_extract::{NameFrom, OnSymbols, default_target};
use etwkit_symbols::search_path::Defaults;
use etwkit_symbols::{Options, SearchPath};

use crate::cache;

/// Folders with symbol files that recorders and this program put beside `slow.etl`, by what they add to the name.
const BESIDE: [&str; 3] = [".symbols", ".etl.NGENPDB", ".etl.EmbeddedPdbs"];

#[derive(Debug, Args)]
pub(crate) struct SymbolArgs {
    /// Where symbol files are: folders, srv*CACHE*URL as in _`NT_SYMBOL_PATH`, or MS, Google, `NtSymbolPath`; several with ; or by
    /// repeating it. Without it only what lies beside the trace is used
    #[arg(long, value_name = "PATH")]
    pub(crate) symbols: Vec<String>,
}

impl SymbolArgs {
    /// The search path of a trace or extract: what lies beside it, then what was named. Where nothing was, `unnamed` takes its place.
    pub(crate) fn path(&self, beside: &Path, unnamed: &[&str]) -> SearchPath {
        let defaults = Defaults::of_system(cache_folder("symbols"));
        let named = self.symbols.iter().map(String::as_str);
        let path = if self.symbols.is_empty() {
            SearchPath::parse(unnamed.iter().copied(), &defaults)
        } else {
            SearchPath::parse(named, &defaults)
        };
        let path = if is_offline() { path.without_servers() } else { path };
        folders_beside(beside).into_iter().rev().fold(path, SearchPath::with_folder)
    }
}

/// Names that lie beside a trace, and nothing else: no option, no environment, no network.
pub(crate) fn names_beside<'a>(trace: &Path, on_symbols: &'a OnSymbols<'a>) -> NameFrom<'a> {
    let path = SymbolArgs { symbols: Vec::new() }.path(trace, &[]);
    let options = options(&path, false);
    NameFrom { path, options, on_symbols }
}

/// How symbol files are read: tables of their names are kept for the next run. Where nobody says where symbols are, what an earlier run kept is
/// not asked either: an extract does not depend on what was asked before.
pub(crate) fn options(path: &SearchPath, is_refresh: bool) -> Options {
    Options {
        tables: cache_folder("symbol-tables").filter(|_| !path.elements().is_empty()),
        cache: cache_folder("symbols"),
        is_refresh,
        ..Options::default()
    }
}

/// Whether no server may be asked, whatever the options say: `ETWKIT_OFFLINE` is set.
fn is_offline() -> bool {
    std::env::var_os("ETWKIT_OFFLINE").is_some_and(|value| !value.is_empty() && value != "0")
}

fn cache_folder(name: &str) -> Option<PathBuf> {
    cache::folder().ok().map(|folder| folder.join(name))
}

fn folders_beside(path: &Path) -> Vec<PathBuf> {
    let extract = default_target(path);
    let target = if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("etwx")) {
        path
    } else {
        &extract
    };
    let stem = target.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = |ending: &&str| target.with_file_name(format!("{stem}{ending}"));
    // A link is not followed, but said.
    let is_there =
        |folder: &PathBuf| folder.symlink_metadata().is_ok_and(|found| found.is_dir() || found.is_symlink());
    BESIDE.iter().map(folder).filter(is_there).collect()
}
