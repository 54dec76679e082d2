//! Loading of symbols, which the page controls.

use serde::{Deserialize, Serialize};

use super::Failure;

/// `POST api/v1/symbols`: the search for symbols that runs, or the outcome of the last one. The
/// requests `symbols/load` and `symbols/cancel` answer with it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SymbolsAnswer {
    /// The current step.
    pub step: SymbolsStep,
    /// The trace of the search; nothing before the first one.
    pub trace: Option<u32>,
    /// Files that are looked for; after the search the modules, those with most addresses first.
    pub modules: Vec<SymbolsModule>,
    /// Number of modules that are not in the list.
    pub left_out: u32,
    /// Native addresses in stacks; nothing before the end of the search.
    pub addresses: Option<u64>,
    /// Number of these that have names.
    pub named: u64,
    /// The extract has other names now: its trace was opened again.
    pub is_changed: bool,
    /// Notes on the search path and on the extract.
    pub notes: Vec<String>,
    /// The error of the search.
    pub failure: Option<Failure>,
}

/// Progress of a search for symbols.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SymbolsStep {
    /// No search runs.
    #[default]
    Idle,
    /// Symbol files are looked for and read.
    Searching,
    /// The search is being given up.
    Cancelling,
    /// The names are being written; this is not given up.
    Writing,
}

/// A module, or a file while it is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SymbolsModule {
    /// Name of the module or file.
    pub name: String,
    /// The outcome so far.
    pub state: SymbolsState,
    /// Progress, the source of the symbols, or the reasons why there are none.
    pub detail: Option<String>,
}

/// Outcome for one module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SymbolsState {
    /// Its file is being looked for or read.
    Searching,
    /// Its symbols were read.
    Found,
    /// No place has its file, or nothing says which file it has.
    NotFound,
    /// A place could not be searched, or has an unusable file.
    Failed,
}

/// `POST api/v1/symbols/load`: starts a search for symbols.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SymbolsRequest {
    /// The trace.
    pub trace: u32,
    /// Places as in `--symbols`: folders, `srv*CACHE*URL`, `MS`, several with `;`. At most 8,191
    /// bytes.
    pub path: String,
}
