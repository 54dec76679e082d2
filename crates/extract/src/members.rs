//! Files that are no traces, opened as traces are: alone, or unpacked out of an archive.

use std::fs::File;
use std::path::Path;

use etwkit_base::path::name_of;

use crate::archive::{self, Archive, Wanted};
use crate::hash;
use crate::kind::Kind;
use crate::open::{open_file, sniff};
use crate::options::Options;
use crate::source::Source;
use crate::spool::Spool;
use crate::{Error, Result};

/// A file, or a member of an archive that was unpacked into a temporary one.
#[derive(Debug)]
pub struct OpenedFile {
    /// Path in the archive, with the names of archives around it; the name of a file that lies in none.
    pub path: String,
    /// Name without folders.
    pub name: String,
    /// Bytes, unpacked.
    pub size: u64,
    /// Its content.
    pub file: File,
}

/// What a path led to.
#[derive(Debug)]
pub enum Opened {
    /// A file of its own, whatever is in it.
    Plain(OpenedFile),
    /// The members of an archive that were looked for, ordered by their paths.
    Packed(Vec<OpenedFile>),
}

impl OpenedFile {
    /// Opens a file that is known to be no archive.
    ///
    /// # Errors
    /// It is missing, empty, a folder or a pipe, or cannot be opened.
    pub fn open(path: &Path) -> Result<Self> {
        let (file, size) = open_file(path)?;
        let name = name_of(path);
        Ok(Self {
            path: name.clone(),
            name,
            size,
            file,
        })
    }
}

/// Opens a file, or unpacks the members of an archive that have the wanted ending. The limits of `options`
/// hold as for traces.
///
/// # Errors
/// The file cannot be opened, is an archive of another kind, or is damaged; [`Error::NoTrace`] if the archive
/// holds nothing that is wanted.
pub fn open_files(path: &Path, wanted: Wanted, options: &Options) -> Result<Opened> {
    let OpenedFile {
        path,
        name,
        size,
        file,
    } = OpenedFile::open(path)?;
    match sniff(&file) {
        Kind::Other(kind) => Err(Error::OtherArchive { name, kind }),
        Kind::Trace => Ok(Opened::Plain(OpenedFile {
            path,
            name,
            size,
            file,
        })),
        kind @ (Kind::Zip | Kind::SevenZip) => {
            let archive = Archive {
                file,
                size,
                name,
                wanted,
            };
            let members = archive::unpack(kind, archive, &mut Spool::new(options))?.members;
            let opened = |member: archive::Member| OpenedFile {
                path: member.path,
                name: member.name,
                size: member.size,
                file: member.file,
            };
            Ok(Opened::Packed(members.into_iter().map(opened).collect()))
        }
    }
}

/// Paths of all members of an archive, of which only the directory is read; `None` if the file is no archive
/// that can be read.
#[must_use]
pub fn names_in_archive(path: &Path) -> Option<Vec<String>> {
    let (file, size) = open_file(path).ok()?;
    let kind = sniff(&file);
    archive::names(
        kind,
        &Archive {
            file,
            size,
            name: name_of(path),
            wanted: Wanted::TRACES,
        },
    )
}

/// The hash of some files in their order, as [`Input::source_hash`](crate::Input::source_hash) computes it
/// for those of a trace.
///
/// # Errors
/// A file cannot be read.
pub fn files_hash<'f>(files: impl IntoIterator<Item = &'f OpenedFile>) -> Result<String> {
    let failed = |file: &OpenedFile, source| Error::Open {
        path: file.name.clone().into(),
        source,
    };
    let (mut all, mut sources) = (Vec::new(), Vec::new());
    for file in files {
        let clone = file
            .file
            .try_clone()
            .map_err(|source| failed(file, source))?;
        sources.push(Source::new(clone, file.size, false));
        all.push(file);
    }
    hash::source_hash(&sources).map_err(|(index, source)| match all.get(index) {
        Some(file) => failed(file, source),
        None => Error::Open {
            path: std::path::PathBuf::new(),
            source,
        },
    })
}
