//! Names of native code and lines of .NET code: symbols for the addresses in an extract.
//!
//! A trace identifies native code by module and offset. The tables `frame` and `method` are
//! rewritten with the names from symbol files, and `module` with facts about the symbol files.
//! Stacks refer to frames by key, so nothing else changes. Names of .NET methods come from the
//! trace and stay; the table `il_offset` leads their frames to the lines of portable PDB files. If
//! the trace does not identify the symbol file of a module, its image is searched in the same places
//! and identifies it.

mod load;
mod modules;
mod rows;
mod wanted;

use std::collections::BTreeMap;
use std::path::Path;

use arrow_array::RecordBatch;
use etwkit_symbols::{Attempt, Event, Identity, ImageIdentity, Options, SearchPath, Symbols};
use etwkit_trace::derive::TableSource;
use etwkit_trace::sink::SinkError;
use etwkit_trace::table::{Frame, Method, Module, Row, Table};

use crate::Writer;
use crate::manifest::NativeNames;
use crate::store_error::StoreResult;
use load::{Answer, load};
use rows::Names;
use wanted::AllWanted;

/// Receives the progress of loading, with the name of a file. Several threads call it.
pub type OnSymbols<'f> = dyn Fn(&str, Event<'_>) + Sync + 'f;

/// The source of names.
pub struct NameFrom<'a> {
    /// Search path for symbol files.
    pub path: SearchPath,
    /// Options for loading symbols.
    pub options: Options,
    /// Receives the progress of loading.
    pub on_symbols: &'a OnSymbols<'a>,
}

impl NameFrom<'_> {
    /// Symbols of the path, and of a folder that came with the trace.
    pub(crate) fn symbols(&self, kept: Option<&Path>) -> Symbols {
        let path = self.path.clone();
        Symbols::new(
            kept.map_or(path.clone(), |folder| path.with_folder(folder)),
            self.options.clone(),
        )
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

/// The outcome of naming the native code of an extract.
#[derive(Debug, Default)]
pub struct Naming {
    /// One for each symbol file, those with the most addresses first. Their identity is known.
    pub files: Vec<NamedFile>,
    /// Modules whose symbol file is unknown, those with the most addresses first.
    pub unknown: Vec<UnknownFile>,
    /// .NET code in stacks.
    pub dotnet: DotnetCode,
}

/// .NET code in stacks, whose names are in the trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DotnetCode {
    /// Distinct addresses in .NET methods.
    pub addresses: usize,
    /// Those in methods with a map to IL, through which a portable PDB can give lines.
    pub mapped: usize,
    /// Those of the mapped ones whose symbol file no event names.
    pub unknown: usize,
}

/// A module whose symbol file is named neither by the trace nor by its image, or whose trace names
/// one that cannot be a file.
#[derive(Debug)]
pub struct UnknownFile {
    /// File name of the module.
    pub module: String,
    /// Distinct addresses in the module, in all stacks.
    pub addresses: usize,
    /// The image that would identify the symbol file, if the trace identifies the image.
    pub image: Option<ImageIdentity>,
    /// Source of the image, which names no symbol file. `None` if the image was not found.
    pub image_source: Option<String>,
    /// Places that did not have the image, and why.
    pub tried: Vec<Attempt>,
}

impl UnknownFile {
    /// Returns the reason why the symbol file is unknown.
    #[must_use]
    pub fn reason(&self) -> String {
        match (&self.image, &self.image_source) {
            (_, Some(source)) => {
                format!("neither the trace nor {source} says which symbol file it has")
            }
            (Some(image), None) if !self.tried.is_empty() => {
                let tried = attempts(&self.tried);
                format!(
                    "the trace does not say which symbol file it has; its image {image} would: \
                     {tried}"
                )
            }
            _ => "the trace does not say which symbol file it has".to_owned(),
        }
    }
}

/// Returns attempts as one text: `PLACE: REASON; PLACE: REASON`.
pub fn attempts<'a>(tried: impl IntoIterator<Item = &'a Attempt>) -> String {
    let tried = tried.into_iter().map(ToString::to_string);
    tried.collect::<Vec<_>>().join("; ")
}

/// The outcome for one symbol file.
#[derive(Debug)]
pub struct NamedFile {
    /// The file that is wanted; `None` while it is unknown.
    pub identity: Option<Identity>,
    /// The image that identifies the symbol file, if the trace does not.
    pub image: Option<ImageIdentity>,
    /// Source of the image.
    pub image_source: Option<String>,
    // A place is named once with everything that it answered.
    /// File name of the module.
    pub module: String,
    /// Distinct addresses in the module, in all stacks.
    pub addresses: usize,
    /// Number of addresses that have a name now.
    pub named: usize,
    /// Distinct addresses in .NET methods of the module that have a map to IL.
    pub dotnet_addresses: usize,
    /// Number of these that have a line now.
    pub lines: usize,
    /// Source of the symbols; `None` if there are none, or none for these addresses in a portable
    /// PDB.
    pub source: Option<String>,
    /// Places that had neither image nor symbols, each with the reason. Places searched for the
    /// image come first.
    pub tried: Vec<Attempt>,
}

impl NamedFile {
    /// Returns the source of the symbols and what is wrong with it; `None` if there are none.
    #[must_use]
    pub fn source_and_faults(&self) -> Option<String> {
        // Faults of other places do not belong to the one that was used.
        let source = self.source.as_ref()?;
        let faults = self.tried.iter().filter(|attempt| attempt.place == *source);
        Some(faults.fold(source.clone(), |text, fault| text + ": " + &fault.reason))
    }
}

impl Naming {
    /// Symbol files that were found.
    #[must_use]
    pub fn found(&self) -> usize {
        self.files
            .iter()
            .filter(|file| file.source.is_some())
            .count()
    }

    /// Number of addresses in .NET code that have lines now.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.files.iter().map(|file| file.lines).sum()
    }

    /// True if any address has a name or a line now.
    #[must_use]
    pub fn is_useful(&self) -> bool {
        self.files
            .iter()
            .any(|file| file.named > 0 || file.lines > 0)
    }

    /// Number of addresses in native code, and number of those with names.
    #[must_use]
    pub fn counts(&self) -> NativeNames {
        let known: usize = self.files.iter().map(|file| file.addresses).sum();
        let unknown: usize = self.unknown.iter().map(|file| file.addresses).sum();
        let named: usize = self.files.iter().map(|file| file.named).sum();
        NativeNames {
            // Modules without a known symbol file count as well, since their addresses have no
            // names either.
            addresses: known.saturating_add(unknown) as u64,
            named: named as u64,
        }
    }
}

/// Rows that replace the rows of three tables.
pub(crate) struct Renamed {
    pub(crate) module: Vec<RecordBatch>,
    pub(crate) frame: RecordBatch,
    pub(crate) method: RecordBatch,
}

/// The tables that change with names.
pub(crate) const NAMED: [&Table; 3] = [Module::TABLE, Frame::TABLE, Method::TABLE];

impl Renamed {
    pub(crate) fn write(self, writer: &mut Writer) -> StoreResult<()> {
        self.module
            .into_iter()
            .try_for_each(|rows| writer.write(Module::TABLE, rows))?;
        writer.write(Frame::TABLE, self.frame)?;
        writer.write(Method::TABLE, self.method)
    }
}

/// Resolves the addresses in the tables. If nothing was found, no rows are returned and the tables
/// stay unchanged.
pub(crate) fn rename(
    source: &dyn TableSource,
    symbols: &Symbols,
    on_symbols: &OnSymbols<'_>,
) -> Result<(Naming, Option<Renamed>), SinkError> {
    let wanted = AllWanted::read(source)?;
    let (files, answers): (Vec<NamedFile>, Vec<Answer>) =
        load(&wanted.files, symbols, on_symbols).into_iter().unzip();
    let is_news = |answer: &Answer| {
        answer.symbols.is_some() || answer.lines.is_some() || answer.pdb.is_some()
    };
    // Nothing is written again if nothing was learned: an extract of gigabytes stays as it is.
    let renamed = if answers.iter().any(is_news) {
        let names = Names {
            wanted: &wanted,
            answers: &answers,
        };
        // Methods first: frames refer to their new numbers.
        let (method, ids) = names.methods(source)?;
        Some(Renamed {
            module: names.modules(source)?,
            frame: names.frames(source, &ids)?,
            method,
        })
    } else {
        None
    };
    let naming = Naming {
        dotnet: wanted.dotnet,
        ..naming(files, wanted.unknown)
    };
    Ok((naming, renamed))
}

fn naming(files: Vec<NamedFile>, unknown: BTreeMap<String, usize>) -> Naming {
    // Modules without an address in a stack need no symbols.
    let is_asked = |file: &NamedFile| file.addresses > 0 || file.dotnet_addresses > 0;
    let (mut files, by_image): (Vec<NamedFile>, Vec<NamedFile>) = files
        .into_iter()
        .filter(is_asked)
        .partition(|file| file.identity.is_some());
    let of_image = |file: NamedFile| UnknownFile {
        module: file.module,
        addresses: file.addresses,
        image: file.image,
        image_source: file.image_source,
        tried: file.tried,
    };
    let of_trace = |(module, addresses)| UnknownFile {
        module,
        addresses,
        image: None,
        image_source: None,
        tried: Vec::new(),
    };
    let mut unknown: Vec<UnknownFile> = by_image
        .into_iter()
        .map(of_image)
        .chain(unknown.into_iter().map(of_trace))
        .collect();
    // Among files with equally many addresses the identity decides, so that two runs give the same
    // order.
    files.sort_by(|a, b| (b.addresses, &a.identity).cmp(&(a.addresses, &b.identity)));
    unknown.sort_by(|a, b| {
        (b.addresses, &a.module, &a.image).cmp(&(a.addresses, &b.module, &b.image))
    });
    Naming {
        files,
        unknown,
        dotnet: DotnetCode::default(),
    }
}
