//! From an identity to names: the cache of tables, the search, the files.

use std::fs::{self, File};
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use etwkit_base::path::file_name;
use tempfile::NamedTempFile;

use crate::identity::is_plain_name;
use crate::image::{Image, ImageIdentity, NamedPdb};
use crate::pdb::Pdb;
use crate::portable::{Portable, SourceLine};
use crate::store::{Attempt, Client, FoundFile, Limits, Search, Sought, SymbolFileKind, carried};
use crate::table::{self, SymbolTable};
use crate::{Cancel, Error, Event, Identity, Progress, Result, SearchPath, Symbol, breakpad};

/// Options for loading symbols.
#[derive(Debug, Clone)]
pub struct Options {
    /// Folder of tables, so that a second run opens no symbol file. `None` keeps no tables.
    pub tables: Option<PathBuf>,
    /// Folder that packed files of plain folders are unpacked into.
    pub cache: Option<PathBuf>,
    /// Limits for downloads from symbol servers.
    pub limits: Limits,
    /// True if existing tables are to be rebuilt.
    pub is_refresh: bool,
    /// Bytes from which on only the needed parts of a PDB file are read, and no table of it is
    /// kept.
    pub whole_bytes: u64,
    /// Gives up the search.
    pub cancel: Cancel,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tables: None,
            cache: None,
            limits: Limits::default(),
            is_refresh: false,
            whole_bytes: 2 << 30,
            cancel: Cancel::default(),
        }
    }
}

/// Finds and reads symbols. Threads can share it to load different modules.
pub struct Symbols {
    path: SearchPath,
    options: Options,
    client: Client,
}

/// The result of a search for symbols.
#[derive(Debug)]
pub enum Outcome {
    /// There are symbols.
    Loaded(Module),
    /// There are none.
    Missing {
        /// The places that were searched, each with the reason for which it gave no symbols.
        tried: Vec<Attempt>,
    },
}

/// The result of a search for an image.
#[derive(Debug, Default)]
pub struct ImageSearch {
    /// The symbol file that the image names; `None` if the image was not found, or names none.
    pub pdb: Option<NamedPdb>,
    /// Source of the image: a path or URL. `None` if it was not found.
    pub source: Option<String>,
    /// Places that were searched before, each with the reason for which it was not used.
    pub tried: Vec<Attempt>,
}

/// Symbols of one module.
#[derive(Debug)]
pub struct Module {
    content: Content,
    /// Source of the symbols: a path or URL.
    pub source: String,
    /// Places that were searched before, each with the reason for which it was not used. If `source`
    /// is among them, the reason is a fault of its file.
    pub tried: Vec<Attempt>,
}

enum Content {
    Table(SymbolTable),
    Large(PathBuf),
    Portable(Portable),
}

const NO_NATIVE_CODE: &str = "it names no native code";

/// Stack size of a reader. Names in files from unknown sources can nest deeply, and the demanglers
/// recurse into them. This is more than enough for names of the length that they accept.
const STACK: usize = 64 << 20;

impl Symbols {
    /// Opens nothing yet.
    #[must_use]
    pub fn new(path: SearchPath, options: Options) -> Self {
        let client = Client::new(options.limits, options.cancel.clone());
        Self {
            path,
            options,
            client,
        }
    }

    /// The search path for symbols.
    #[must_use]
    pub const fn path(&self) -> &SearchPath {
        &self.path
    }

    /// Returns `true` if the search was given up: further files would only be reported as missing.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.options.cancel.is_asked()
    }

    /// Finds and reads the symbols of one module.
    pub fn load(&self, identity: &Identity, progress: &mut dyn Progress) -> Outcome {
        progress.event(identity.name(), Event::Started);
        let mut tried = Vec::new();
        // The table of an earlier run comes before a search, which may ask servers.
        let found = self
            .kept(identity, &mut tried)
            .or_else(|| self.found(identity, identity.into(), progress, &mut tried));
        Self::outcome(identity, found, tried, progress)
    }

    /// Finds and reads the portable PDB that a .NET assembly carries. The assembly is looked for in
    /// plain folders, by the last component of its path.
    pub fn load_carried(
        &self,
        identity: &Identity,
        assembly: &str,
        progress: &mut dyn Progress,
    ) -> Outcome {
        let name = file_name(assembly);
        let mut tried = Vec::new();
        // The name comes from a trace and becomes part of a path.
        if !is_plain_name(name) {
            return Outcome::Missing { tried };
        }
        progress.event(name, Event::Started);
        let carrier = Sought::Carrier(identity, name);
        let found = self.found(identity, carrier, progress, &mut tried);
        Self::outcome(identity, found, tried, progress)
    }

    fn outcome(
        identity: &Identity,
        found: Option<(Content, String)>,
        tried: Vec<Attempt>,
        progress: &mut dyn Progress,
    ) -> Outcome {
        progress.event(
            identity.name(),
            Event::Finished {
                is_loaded: found.is_some(),
            },
        );
        match found {
            Some((content, source)) => Outcome::Loaded(Module {
                content,
                source,
                tried,
            }),
            None => Outcome::Missing { tried },
        }
    }

    /// Finds an image, and reads the identity of its symbol file.
    pub fn image(&self, wanted: &ImageIdentity, progress: &mut dyn Progress) -> ImageSearch {
        progress.event(wanted.name(), Event::Started);
        let mut search = ImageSearch::default();
        if let Some(found) = self
            .search()
            .find(Sought::Image(wanted), progress, &mut search.tried)
        {
            let image = File::open(&found.path)
                .map_err(Error::from)
                .and_then(Image::open);
            match image {
                Ok(image) => (search.pdb, search.source) = (image.pdb, Some(found.source)),
                Err(error) => {
                    search.tried.push(Attempt {
                        place: found.source,
                        reason: error.to_string(),
                    });
                }
            }
        }
        progress.event(
            wanted.name(),
            Event::Finished {
                is_loaded: search.pdb.is_some(),
            },
        );
        search
    }

    fn search(&self) -> Search<'_> {
        Search {
            path: &self.path,
            client: &self.client,
            cache: self.options.cache.as_deref(),
        }
    }

    /// The table of an earlier run, unless a folder of the search path now has another file of the
    /// same build: private symbols have the identity of the public ones.
    fn kept(&self, identity: &Identity, tried: &mut Vec<Attempt>) -> Option<(Content, String)> {
        let path = table_path(
            self.options
                .tables
                .as_deref()
                .filter(|_| !self.options.is_refresh)?,
            identity,
        );
        let mut bytes = fs::read(&path).ok()?;
        let made_of = FileState::split_off(&mut bytes);
        // The place is reported, so that the user can delete a table that is wrong.
        let place = path.display().to_string();
        // The name of the file contains the build, but files are renamed and copied, so the
        // identity inside it decides.
        let table = SymbolTable::open(bytes).and_then(|table| {
            let (guid, age) = table.identity();
            identity.check(guid, age).map(|()| table)
        });
        match table {
            Ok(table) => {
                // Only folders are looked at. Asking servers again would cost what the table saves.
                let nearby = self.search().nearby(identity.into());
                let is_other = nearby.is_some_and(|file| FileState::of(&file.path) != made_of);
                (!is_other).then_some((Content::Table(table), place))
            }
            Err(error) => {
                tried.push(Attempt {
                    place,
                    reason: format!("{error}; it is made again"),
                });
                None
            }
        }
    }

    fn found(
        &self,
        identity: &Identity,
        sought: Sought<'_>,
        progress: &mut dyn Progress,
        tried: &mut Vec<Attempt>,
    ) -> Option<(Content, String)> {
        let found = self.search().find(sought, progress, tried)?;
        // Only for the progress; a size that is not known is shown as none.
        let bytes = fs::metadata(&found.path).map_or(0, |metadata| metadata.len());
        progress.event(
            identity.name(),
            Event::Reading {
                place: &found.source,
                bytes,
            },
        );
        match self.read(&found, bytes, identity, tried) {
            Ok(content) => Some((content, found.source)),
            Err(error) => {
                tried.push(Attempt {
                    place: found.source,
                    reason: error.to_string(),
                });
                None
            }
        }
    }

    fn read(
        &self,
        found: &FoundFile,
        bytes: u64,
        identity: &Identity,
        tried: &mut Vec<Attempt>,
    ) -> Result<Content> {
        let mut damage = Vec::new();
        let table = match found.kind {
            SymbolFileKind::Portable => {
                return Ok(Content::Portable(Portable::open(fs::read(&found.path)?)?));
            }
            // Of a huge file only the parts with wanted addresses are read, which is much less.
            SymbolFileKind::Pdb | SymbolFileKind::CompressedPdb
                if bytes > self.options.whole_bytes =>
            {
                return Ok(Content::Large(found.path.clone()));
            }
            // Demanglers recurse into names of any depth, so that the reader has a stack of its
            // own.
            SymbolFileKind::Pdb | SymbolFileKind::CompressedPdb => apart(|| {
                let mut pdb = open(&found.path)?;
                let table = pdb.table()?;
                pdb.damage().clone_into(&mut damage);
                Ok(table)
            })?,
            SymbolFileKind::Breakpad => {
                apart(|| breakpad::table(BufReader::new(File::open(&found.path)?)))?
            }
            SymbolFileKind::Carrier => return Ok(Content::Portable(carried(&found.path)?)),
            SymbolFileKind::Image => {
                return Err(Error::Unsupported("it is an image, no symbol file"));
            }
        };
        let mut note = |reason| {
            tried.push(Attempt {
                place: found.source.clone(),
                reason,
            });
        };
        // A file without names is still a result, and the user learns why nothing has a name.
        if table.is_empty() {
            note(NO_NATIVE_CODE.to_owned());
        }
        // The next run may find a better copy of the file, which the table would hide.
        // Used for this run but not kept.
        if let Some(part) = damage.first() {
            note(damaged(part, damage.len()));
            return Ok(Content::Table(table));
        }
        if let Some(folder) = &self.options.tables
            // A full disk or a folder that cannot be written costs the next run some time, but not
            // this one its symbols.
            && let Err(error) = keep(&table_path(folder, identity), &table, &found.path)
        {
            tried.push(Attempt {
                place: folder.display().to_string(),
                reason: format!("cannot keep the table: {error}"),
            });
        }
        Ok(Content::Table(table))
    }
}

impl Module {
    /// Resolves addresses, counted from the base of the module and sorted. `None` for each address
    /// without a symbol.
    ///
    /// # Errors
    /// If a large PDB can no longer be read.
    pub fn resolve_sorted(&self, rvas: &[u32]) -> Result<Vec<Option<Symbol>>> {
        match &self.content {
            Content::Table(table) => Ok(table.resolve_sorted(rvas)),
            Content::Large(path) => Ok(apart(|| open(path)?.table_of(rvas))?.resolve_sorted(rvas)),
            // A portable PDB has IL offsets and no native addresses.
            Content::Portable(_) => Ok(vec![None; rvas.len()]),
        }
    }

    /// Number of functions and public symbols in the file. `None` for portable PDB files, which
    /// name no native code, and for large files, which are read only in parts.
    #[must_use]
    pub const fn function_count(&self) -> Option<usize> {
        match &self.content {
            Content::Table(table) => Some(table.len()),
            Content::Large(_) | Content::Portable(_) => None,
        }
    }

    /// Source file and line of the code at an IL offset of a .NET method. `None` if they are
    /// unknown, or if the symbols are not from a portable PDB.
    #[must_use]
    pub fn source_line(&self, token: u32, il_offset: u32) -> Option<SourceLine> {
        match &self.content {
            Content::Portable(portable) => portable.source_line(token, il_offset),
            Content::Table(_) | Content::Large(_) => None,
        }
    }

    /// True if the module supports [`Module::source_line`] instead of [`Module::resolve_sorted`].
    #[must_use]
    pub const fn is_portable(&self) -> bool {
        matches!(self.content, Content::Portable(_))
    }
}

impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Table(table) => write!(f, "table of {}", table.len()),
            Self::Large(path) => write!(f, "large file {}", path.display()),
            Self::Portable(portable) => write!(f, "portable {}", portable.guid()),
        }
    }
}

fn damaged(first: &str, parts: usize) -> String {
    let more = match parts {
        1 => String::new(),
        parts => format!(" and {} more", parts - 1),
    };
    format!(
        "damaged: the symbols of {first}{more} cannot be read to the end, so some functions have no \
         name; the names are not kept for the next run"
    )
}

fn open(path: &Path) -> Result<Pdb<'static>> {
    Pdb::open(File::open(path)?)
}

/// Runs a reader on a thread of its own, with a large stack. A demangler that panics over a name
/// ends the thread, which becomes an error of the file.
fn apart<T: Send>(read: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("symbols".to_owned())
            .stack_size(STACK)
            .spawn_scoped(scope, read)?;
        thread
            .join()
            // The panic is one of a demangler over a single name and must not end the program.
            .unwrap_or_else(|panic| Err(Error::of_panic(&*panic)))
    })
}

fn table_path(folder: &Path, identity: &Identity) -> PathBuf {
    folder.join(format!(
        // In lower case, since names of one file differ in case between traces.
        "{}-{}-v{}.etwsym",
        identity.name().to_lowercase(),
        identity.key(),
        table::VERSION
    ))
}

/// Size and time of a symbol file, which tell whether a table was made of it. They follow the table
/// in its file: 8 bytes each, little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileState {
    bytes: u64,
    /// Time of the last change, in nanoseconds since 1970.
    modified_ns: u64,
}

impl FileState {
    const LEN: usize = 16;

    /// Returns `None` if the file cannot be read.
    fn of(path: &Path) -> Option<Self> {
        // Without size and time the table would be made again each time, so that it is not kept.
        let metadata = fs::metadata(path).ok()?;
        let since_1970 = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Self {
            bytes: metadata.len(),
            modified_ns: u64::try_from(since_1970.as_nanos()).ok()?,
        })
    }

    /// Removes the state from the end of a kept file. `None` if the file is shorter.
    fn split_off(kept: &mut Vec<u8>) -> Option<Self> {
        let at = kept.len().checked_sub(Self::LEN)?;
        let state = kept.split_off(at);
        let (bytes, modified_ns) = state.split_first_chunk::<8>()?;
        Some(Self {
            bytes: u64::from_le_bytes(*bytes),
            modified_ns: u64::from_le_bytes(modified_ns.try_into().ok()?),
        })
    }

    fn to_bytes(self) -> [u8; Self::LEN] {
        let both = u128::from(self.bytes) | u128::from(self.modified_ns) << 64;
        both.to_le_bytes()
    }
}

fn keep(path: &Path, table: &SymbolTable, source: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)?;
    // Another process that reads the table at the same time must see all of it or nothing. So a
    // temporary file in the same folder is written and renamed.
    let mut file = NamedTempFile::with_prefix_in(".etwkit-", folder)?;
    file.write_all(table.as_bytes())?;
    // Looked at after the table was made. A file that changed in between is noticed by the next
    // run.
    let state = FileState::of(source).ok_or(io::ErrorKind::NotFound)?;
    file.write_all(&state.to_bytes())?;
    file.persist(path).map(drop).map_err(|error| error.error)
}
