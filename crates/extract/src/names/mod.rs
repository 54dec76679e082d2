//! Names of native code: symbol files say what the addresses of an extract are called.
//!
//! A trace knows native code by module and offset. The tables `frame` and `method` are written anew with the
//! names that symbols have for them; stacks name frames, so that nothing else changes. Names of .NET methods
//! come from the trace and stay.

mod load;
mod rows;
mod wanted;

use std::path::Path;

use arrow_array::RecordBatch;
use etwkit_symbols::{Attempt, Event, Identity, Options, SearchPath, Symbols};
use etwkit_trace::derive::TableSource;
use etwkit_trace::sink::SinkError;

use crate::manifest::NativeNames;
use load::{Answer, load};
use rows::Names;
use wanted::AllWanted;

/// Who wants to know how loading goes. It is called by several threads.
pub type OnSymbols<'f> = dyn Fn(&Identity, Event<'_>) + Sync + 'f;

/// Where names come from.
pub struct NameFrom<'a> {
    /// Where symbol files are looked for.
    pub path: SearchPath,
    /// How they are read.
    pub options: Options,
    /// Hears how loading goes.
    pub on_symbols: &'a OnSymbols<'a>,
}

impl NameFrom<'_> {
    /// Symbols of the path, and of a folder that came with the trace.
    pub(crate) fn symbols(&self, kept: Option<&Path>) -> Symbols {
        let path = self.path.clone();
        Symbols::new(kept.map_or(path.clone(), |folder| path.with_folder(folder)), self.options.clone())
    }
}

impl std::fmt::Debug for NameFrom<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NameFrom")
            .field("path", &self.path)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// What became of the symbols of an extract.
#[derive(Debug, Default)]
pub struct Naming {
    /// One for each symbol file, those with the most addresses first.
    pub files: Vec<NamedFile>,
    /// Modules whose trace does not say which symbol file they have, or names one that cannot be a file,
    /// with the number of their addresses, most first.
    pub unknown: Vec<(String, usize)>,
}

/// What became of one symbol file.
#[derive(Debug)]
pub struct NamedFile {
    /// The file that is wanted.
    pub identity: Identity,
    /// File name of the module.
    pub module: String,
    /// Distinct addresses in the module, in all stacks.
    pub addresses: usize,
    /// How many of them have a name now.
    pub named: usize,
    /// Where the symbols came from; `None` if there are none.
    pub source: Option<String>,
    /// Places that had none, and why.
    pub tried: Vec<Attempt>,
}

impl Naming {
    /// Symbol files that were found.
    #[must_use]
    pub fn found(&self) -> usize {
        self.files.iter().filter(|file| file.source.is_some()).count()
    }

    /// How many addresses there are, and how many of them have names.
    #[must_use]
    pub fn counts(&self) -> NativeNames {
        let known: usize = self.files.iter().map(|file| file.addresses).sum();
        let unknown: usize = self.unknown.iter().map(|(_, addresses)| addresses).sum();
        let named: usize = self.files.iter().map(|file| file.named).sum();
        NativeNames { addresses: known.saturating_add(unknown) as u64, named: named as u64 }
    }
}

/// What is put in the place of two tables.
pub(crate) struct Renamed {
    pub(crate) frame: RecordBatch,
    pub(crate) method: RecordBatch,
}

/// Asks symbols for the addresses in the tables. There are no rows if no symbols were found: nothing changes
/// then.
pub(crate) fn rename(
    source: &dyn TableSource,
    symbols: &Symbols,
    on_symbols: &OnSymbols<'_>,
) -> Result<(Naming, Option<Renamed>), SinkError> {
    let wanted = AllWanted::read(source)?;
    let (files, answers): (Vec<NamedFile>, Vec<Answer>) =
        load(&wanted.files, symbols, on_symbols).into_iter().unzip();
    let renamed = if answers.iter().any(Option::is_some) {
        let names = Names { wanted: &wanted, answers: &answers };
        let (method, ids) = names.methods(source)?;
        Some(Renamed { frame: names.frames(source, &ids)?, method })
    } else {
        None
    };
    let mut naming = Naming { files, unknown: wanted.unknown.into_iter().collect() };
    naming.files.retain(|file| file.addresses > 0);
    naming.files.sort_by(|a, b| (b.addresses, &a.identity).cmp(&(a.addresses, &b.identity)));
    naming.unknown.sort_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
    Ok((naming, renamed))
}
