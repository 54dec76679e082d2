//! Files that are not traces, opened in the same way as traces: directly, or unpacked from an
//! archive.

use std::fs::File;
use std::path::Path;

use etwkit_base::path::name_of;

use crate::archive::{self, Archive, MemberSelection};
use crate::hash;
use crate::kind::FileKind;
use crate::open::{open_file, sniff};
use crate::options::Options;
use crate::source::Source;
use crate::spool::Spool;
use crate::{Error, Result};

/// A file, or a member of an archive that was unpacked into a temporary one.
#[derive(Debug)]
pub struct OpenedFile {
    /// Path in the archive, with the names of the enclosing archives; the file name if it is in no
    /// archive.
    pub path: String,
    /// Name without folders.
    pub name: String,
    /// Bytes, unpacked.
    pub size: u64,
    /// Its content.
    pub file: File,
}

/// The result of opening a path.
#[derive(Debug)]
pub enum Opened {
    /// A plain file of any content.
    Plain(OpenedFile),
    /// The wanted members of an archive, ordered by their paths.
    Packed(Vec<OpenedFile>),
}

impl OpenedFile {
    /// Opens a file that is known not to be an archive.
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

/// Opens a file, or unpacks the members of an archive with the wanted extension. The limits of
/// `options` apply as for traces.
///
/// # Errors
/// The file cannot be opened, is an archive of another kind, or is damaged; [`Error::NoTrace`] if
/// the archive has no wanted member.
pub fn open_files(path: &Path, wanted: MemberSelection, options: &Options) -> Result<Opened> {
    let OpenedFile {
        path,
        name,
        size,
        file,
    } = OpenedFile::open(path)?;
    // By its first bytes. What is not an archive counts as a plain file.
    match sniff(&file) {
        kind @ (FileKind::Packed(_) | FileKind::Other(_)) => Err(Error::OtherArchive {
            name,
            kind: kind.name().unwrap_or("another file"),
        }),
        FileKind::Trace => Ok(Opened::Plain(OpenedFile {
            path,
            name,
            size,
            file,
        })),
        kind @ (FileKind::Zip | FileKind::SevenZip | FileKind::Cab) => {
            let archive = Archive {
                file,
                size,
                own_name: name.clone(),
                name,
                wanted,
            };
            // A spool of its own: these files do not count against those of the trace.
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

/// Paths of all members of an archive. Only its directory is read. `None` if the file is not an
/// archive that can be read.
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
            own_name: name_of(path),
            wanted: MemberSelection::TRACES,
        },
    )
}

/// The hash of some files in this order, computed like
/// [`Input::source_hash`](crate::Input::source_hash).
///
/// # Errors
/// A file cannot be read.
pub fn files_hash<'f>(files: impl IntoIterator<Item = &'f OpenedFile>) -> Result<String> {
    let failed = |file: &OpenedFile, source| Error::Open {
        path: file.name.clone().into(),
        source,
    };
    let mut all = Vec::new();
    let mut sources = Vec::new();
    for file in files {
        let clone = file
            .file
            .try_clone()
            .map_err(|source| failed(file, source))?;
        // Copies of the handle, because hashing moves the position.
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
