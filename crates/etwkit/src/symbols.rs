//! Where names of native code come from: options, environment, and what lies beside a trace.

use std::path::Path;

use clap::Args;
use etwkit_engine::Settings;
use etwkit_engine::symbols::search_path;
use etwkit_extract::{NameFrom, OnSymbols};
use etwkit_symbols::{Options, SearchPath};

#[derive(Debug, Args)]
pub(crate) struct SymbolArgs {
    /// Where symbol files are: folders, srv*CACHE*URL as in _`NT_SYMBOL_PATH`, or MS, Google, `NtSymbolPath`;
    /// several with ; or by repeating it. Without it only what lies beside the trace is used
    #[arg(long, value_name = "PATH")]
    pub(crate) symbols: Vec<String>,
}

impl SymbolArgs {
    /// The search path of a trace or extract: what lies beside it, then what was named. Where nothing was,
    /// `unnamed` takes its place.
    pub(crate) fn path(&self, beside: &Path, unnamed: &[&str]) -> SearchPath {
        search_path(
            &Settings::from_environment(),
            &self.symbols,
            beside,
            unnamed,
        )
    }
}

/// Names that lie beside a trace, and nothing else: no option, no environment, no network.
pub(crate) fn names_beside<'a>(trace: &Path, on_symbols: &'a OnSymbols<'a>) -> NameFrom<'a> {
    etwkit_engine::symbols::names_beside(&Settings::from_environment(), trace, on_symbols)
}

/// How symbol files are read; see [`etwkit_engine::symbols::options`].
pub(crate) fn options(path: &SearchPath, is_refresh: bool) -> Options {
    etwkit_engine::symbols::options(&Settings::from_environment(), path, is_refresh)
}
