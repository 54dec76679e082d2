//! Sources of names for native code: options, environment, and files next to a trace.

use std::path::Path;

use clap::Args;
use etwkit_engine::Settings;
use etwkit_engine::symbols::search_path;
use etwkit_extract::{NameFrom, OnSymbols};
use etwkit_symbols::search_path::Element;
use etwkit_symbols::{Options, SearchPath};

#[derive(Debug, Args)]
pub(crate) struct SymbolArgs {
    /// Places of symbol files, in the order in which they are searched.
    #[arg(
        long,
        value_name = "PATH",
        help = "Places of symbol files: folders, srv*CACHE*URL as in _NT_SYMBOL_PATH, or MS, Google, \
                NtSymbolPath; several with ; or by repeating it. Files next to the trace are searched \
                first, by default only these"
    )]
    pub(crate) symbols: Vec<String>,
}

impl SymbolArgs {
    /// Returns the search path of a trace or extract: files next to it, then the named places.
    /// If no place is named, `unnamed` is used instead.
    pub(crate) fn path(&self, beside: &Path, unnamed: &[&str]) -> SearchPath {
        search_path(
            &Settings::from_environment(),
            &self.symbols,
            beside,
            unnamed,
        )
    }

    /// Returns the named places that are not searched, each with the reason.
    pub(crate) fn notes(&self) -> Vec<String> {
        let path = self.path(Path::new(""), &[]);
        let missing = path.elements().iter().filter_map(|element| match element {
            Element::Folder(folder) if !folder.exists() => {
                Some(format!("{}: this folder does not exist", folder.display()))
            }
            _ => None,
        });
        path.notes().chain(missing).collect()
    }
}

/// Returns names from files next to a trace only: no option, no environment, no network.
pub(crate) fn names_beside<'a>(trace: &Path, on_symbols: &'a OnSymbols<'a>) -> NameFrom<'a> {
    etwkit_engine::symbols::names_beside(&Settings::from_environment(), trace, on_symbols)
}

/// Returns the options for reading symbol files; see [`etwkit_engine::symbols::options`].
pub(crate) fn options(path: &SearchPath, is_refresh: bool) -> Options {
    etwkit_engine::symbols::options(&Settings::from_environment(), path, is_refresh)
}
