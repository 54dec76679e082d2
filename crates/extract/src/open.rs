//! Paths to a session.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};

use etwkit_base::path::name_of;
use etwkit_etl::Session;
use etwkit_etl::damage::{self, DamageAt};
use etwkit_etl::source::ByteSource;
use etwkit_etl::wire::trace_header::TraceHeader;
use etwkit_trace::report::info::were_recorded_together;

use crate::archive::{self, Archive, Flaw, MemberSelection, Symbol};
use crate::hash::source_hash;
use crate::kind::{FileKind, MAGIC_LEN};
use crate::manifest::{SourceFile, TraceSource};
use crate::options::Options;
use crate::source::{Source, is_remote};
use crate::spool::Spool;
use crate::{Error, Result};

/// The files that were opened, as one session.
pub struct Input {
    session: Session,
    parts: Vec<SessionFile>,
    sources: Vec<Source>,
    pub(crate) symbols: Vec<Symbol>,
}

/// One `.etl` file of the session, as index `file` of its events and damage counts them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFile {
    /// Name without folders: of the file, or of the member of the archive.
    pub name: String,
    /// Bytes of the trace, unpacked.
    pub size: u64,
    /// The file that was named.
    pub path: PathBuf,
    /// Name of the archive without folders, if it came from one.
    pub archive: Option<String>,
}

impl SessionFile {
    /// Name in messages: `trace.etl`, or `archive.zip: trace.etl`.
    #[must_use]
    pub fn label(&self) -> String {
        match &self.archive {
            Some(archive) => format!("{archive}: {}", self.name),
            None => self.name.clone(),
        }
    }
}

impl Input {
    /// The session.
    #[must_use]
    pub const fn session(&self) -> &Session {
        &self.session
    }

    /// Its files, in the order of [`Session::files`].
    #[must_use]
    pub fn parts(&self) -> &[SessionFile] {
        &self.parts
    }

    /// A hash of 16 hexadecimal digits that distinguishes traces without reading all of them. It is
    /// the first 8 bytes of BLAKE3 over, for each file in order, its size in bytes (8 bytes, little
    /// endian), its first MiB and its last MiB, unpacked. For a file smaller than a MiB both are
    /// the whole file. The header event is in the first buffer, so the hash covers it.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn source_hash(&self) -> Result<String> {
        source_hash(&self.sources).map_err(|(index, source)| {
            let path = self
                .parts
                .get(index)
                .map_or_else(PathBuf::new, |part| part.path.clone());
            Error::Open { path, source }
        })
    }

    /// The files and their hash, as the manifest of an extract names them.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn trace_source(&self) -> Result<TraceSource> {
        let file = |part: &SessionFile| SourceFile {
            name: part.name.clone(),
            archive: part.archive.clone(),
            size_bytes: part.size,
        };
        Ok(TraceSource {
            files: self.parts.iter().map(file).collect(),
            hash: self.source_hash()?,
        })
    }
}

/// Opens one or several inputs as one session.
///
/// Files keep the order in which they are named; members of an archive are ordered by their paths.
///
/// # Errors
/// [`Error`] with the input, the expected content and advice. Damage in a trace is not an error,
/// see [`Session::damage`].
pub fn open(paths: &[PathBuf], options: &Options) -> Result<Input> {
    if paths.is_empty() {
        return Err(Error::NoInput);
    }
    refuse_doubles(paths)?;
    // One spool for all inputs: limits count over all of them.
    let mut spool = Spool::new(options);
    let mut opened = Vec::new();
    let mut symbols = Vec::new();
    let mut flaws = Vec::new();
    for path in paths {
        symbols.extend(open_one(
            path,
            options,
            &mut spool,
            &mut opened,
            &mut flaws,
        )?);
    }
    // Each member is tried by itself only if they are no session together: that reads all of them.
    // Tried as a whole first, which reads only heads.
    let (mut session, left_out) = match session_of(&opened) {
        Ok(session) => (session, Vec::new()),
        Err(error) => {
            let left_out = leave_out_members(&mut opened, &mut flaws);
            if left_out.is_empty() {
                return Err(error);
            }
            (session_of(&opened)?, left_out)
        }
    };
    for place in left_out {
        session.add_damage(place);
    }
    refuse_several_recordings(&session, &opened)?;
    // Flaws of packed files are damage behind the last event, as nothing shows where it was.
    for (file, flaw) in flaws {
        let offset = opened.get(file).map_or(0, |(part, _)| part.size);
        session.add_damage(damage_of(flaw, file, offset));
    }
    let (parts, sources) = opened.into_iter().unzip();
    Ok(Input {
        session,
        parts,
        sources,
        symbols,
    })
}

/// The session of all files.
fn session_of(opened: &[(SessionFile, Source)]) -> Result<Session> {
    // An empty file is reported by its name; the reader could only say that something is short.
    if let Some((part, _)) = opened.iter().find(|(part, _)| part.size == 0) {
        return Err(Error::Empty { name: part.label() });
    }
    let sources = opened.iter().map(|(_, source)| boxed(source)).collect();
    Session::open(sources).map_err(|error| blame(error, opened))
}

/// Leaves out members of archives that are not traces, and returns them as damage of the first file
/// of their archive. An archive without any trace stays as it is.
fn leave_out_members(
    opened: &mut Vec<(SessionFile, Source)>,
    flaws: &mut Vec<(usize, Flaw)>,
) -> Vec<DamageAt> {
    let is_readable = |(part, source): &(SessionFile, Source)| {
        // A file that was named is never left out: the user asked for it.
        part.archive.is_none() || (part.size > 0 && Session::open(vec![boxed(source)]).is_ok())
    };
    let readable: Vec<bool> = opened.iter().map(is_readable).collect();
    let with_traces: BTreeSet<PathBuf> = opened
        .iter()
        .zip(&readable)
        .filter(|(_, readable)| **readable)
        .map(|((part, _), _)| part.path.clone())
        .collect();
    let mut kept = Vec::new();
    let mut left_out = Vec::new();
    let mut places = Vec::new();
    for ((part, source), readable) in std::mem::take(opened).into_iter().zip(readable) {
        if readable || !with_traces.contains(&part.path) {
            // The places of the others move, and flaws are found by them.
            places.push(Some(kept.len()));
            kept.push((part, source));
        } else {
            places.push(None);
            left_out.push(part);
        }
    }
    *opened = kept;
    let moved = |(file, flaw): (usize, Flaw)| Some((places.get(file).copied().flatten()?, flaw));
    *flaws = std::mem::take(flaws)
        .into_iter()
        .filter_map(moved)
        .collect();
    let place = |left: SessionFile| DamageAt {
        kind: damage::DamageKind::UnreadableMember,
        file: opened
            .iter()
            .position(|(part, _)| part.path == left.path)
            // Members are left out only of archives that have others, so one is always found.
            // The first file of the archive carries the damage, since the member itself is not a
            // part of the session.
            .unwrap_or_default(),
        offset: 0,
        bytes: left.size,
    };
    left_out.into_iter().map(place).collect()
}

/// The fault of a packed file as damage behind the last byte of its trace.
fn damage_of(flaw: Flaw, file: usize, offset: u64) -> DamageAt {
    let (kind, bytes) = match flaw {
        // How much is lost is not known.
        Flaw::Broken => (damage::DamageKind::PackedEnd, 0),
        Flaw::Rest(bytes) => (damage::DamageKind::PackedRest, bytes),
    };
    DamageAt {
        kind,
        file,
        offset,
        bytes,
    }
}

fn boxed(source: &Source) -> Box<dyn ByteSource> {
    Box::new(source.clone())
}

/// Adds the name of the file to an error that only describes the fault.
fn blame(error: etwkit_etl::Error, opened: &[(SessionFile, Source)]) -> Error {
    // The reader identifies a file that does not belong to the session. All other errors come
    // without a file, so each file is tried by itself.
    let culprit = match &error {
        etwkit_etl::Error::NotOneSession { index, .. } => opened.get(index.saturating_sub(1)),
        _ => opened
            .iter()
            // Costs another look at each head, and only when there is an error to explain.
            .find(|(_, source)| Session::open(vec![boxed(source)]).is_err()),
    };
    let name = culprit
        .or(opened.first())
        .map_or_else(String::new, |(part, _)| part.label());
    Error::Trace {
        name,
        source: error,
    }
}

/// Refuses an archive with traces of several recordings. Of files that were named one by one,
/// reports say it (`info`).
fn refuse_several_recordings(session: &Session, opened: &[(SessionFile, Source)]) -> Result<()> {
    let mut archives: BTreeMap<(&Path, &str), Vec<(&SessionFile, &TraceHeader)>> = BTreeMap::new();
    // By path and name: an archive within another one has the name of its own.
    for ((part, _), file) in opened.iter().zip(session.files()) {
        if let Some(archive) = &part.archive {
            let members = archives
                .entry((part.path.as_path(), archive.as_str()))
                .or_default();
            members.push((part, file.header()));
        }
    }
    for ((_, archive), members) in archives {
        let headers: Vec<&TraceHeader> = members.iter().map(|(_, header)| *header).collect();
        // One answer about two recordings would mix their times and processes.
        if !were_recorded_together(&headers) {
            return Err(Error::SeveralRecordings {
                archive: archive.to_owned(),
                members: members.iter().map(|(part, _)| part.name.clone()).collect(),
            });
        }
    }
    Ok(())
}

fn refuse_doubles(paths: &[PathBuf]) -> Result<()> {
    let mut seen = BTreeSet::new();
    for path in paths {
        // A path that cannot be resolved is reported when it is opened.
        // By the resolved path, so that a link and its target are one file.
        if let Ok(resolved) = path.canonicalize()
            && !seen.insert(resolved)
        {
            return Err(Error::Twice { path: path.clone() });
        }
    }
    Ok(())
}

/// Adds the traces of a file, and the flaws of packed ones by their index in `opened`; returns the symbol files that an archive contains in addition to
/// them.
fn open_one(
    path: &Path,
    options: &Options,
    spool: &mut Spool,
    opened: &mut Vec<(SessionFile, Source)>,
    flaws: &mut Vec<(usize, Flaw)>,
) -> Result<Vec<Symbol>> {
    let (file, size) = open_file(path)?;
    let name = name_of(path);
    let part = |name: String, size, archive| SessionFile {
        name,
        size,
        path: path.to_owned(),
        archive,
    };
    match sniff(&file) {
        FileKind::Trace => {
            // A mapped file on a network that vanishes would end the program, so that it is read
            // instead.
            let mmap = options.mmap && !is_remote(&file, path);
            opened.push((part(name, size, None), Source::new(file, size, mmap)));
            Ok(Vec::new())
        }
        FileKind::Other(kind) => Err(Error::OtherArchive { name, kind }),
        kind @ (FileKind::Zip | FileKind::SevenZip | FileKind::Cab | FileKind::Packed(_)) => {
            let archive = Archive {
                file,
                size,
                name: name.clone(),
                own_name: name.clone(),
                wanted: MemberSelection::TRACES,
            };
            // By its content and not by its name, because files are renamed.
            let found = archive::unpack(kind, archive, spool)?;
            for member in found.members {
                flaws.extend(member.flaw.map(|flaw| (opened.len(), flaw)));
                // Unpacked data is in a temporary file of this system, which cannot vanish as a
                // file on a network can.
                let source = Source::new(member.file, member.size, options.mmap);
                opened.push((part(member.name, member.size, Some(name.clone())), source));
            }
            Ok(found.symbols)
        }
    }
}

pub(crate) fn open_file(path: &Path) -> Result<(File, u64)> {
    let failed = |source| Error::Open {
        path: path.to_owned(),
        source,
    };
    // Checked before opening: opening a pipe waits for its writer.
    let metadata = path.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(Error::Directory {
            path: path.to_owned(),
            etl_files: count_traces(path),
        });
    }
    if !metadata.is_file() {
        return Err(Error::NotRegular {
            path: path.to_owned(),
        });
    }
    let file = File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    if size == 0 {
        return Err(Error::Empty {
            name: name_of(path),
        });
    }
    Ok((file, size))
}

fn count_traces(dir: &Path) -> usize {
    let is_trace = |entry: &std::fs::DirEntry| {
        entry
            .path()
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("etl"))
    };
    std::fs::read_dir(dir).map_or(0, |entries| entries.flatten().filter(is_trace).count())
}

/// What the file is, by its first bytes. What cannot be read counts as a trace, whose reader reports it.
pub(crate) fn sniff(file: &File) -> FileKind {
    use std::io::Read;
    // No more than the longest mark of a kind.
    let mut head = Vec::with_capacity(MAGIC_LEN);
    let mut reader = file;
    let read = reader
        .seek(SeekFrom::Start(0))
        .and_then(|_| reader.take(MAGIC_LEN as u64).read_to_end(&mut head))
        // Rewound for whoever reads it next.
        .and_then(|_| reader.seek(SeekFrom::Start(0)));
    if read.is_ok() {
        FileKind::of(&head)
    } else {
        FileKind::Trace
    }
}
