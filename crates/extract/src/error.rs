//! Errors of opening an input.

use std::io;
use std::path::PathBuf;

use crate::kind;
use crate::manifest;
use crate::run_log::run_log;
use crate::store_error::{TOO_MANY_OPEN, is_too_many_open};

/// The reason for which an input could not be opened. Names are shown as the user gave them. Names
/// of archive members come from the archive and must be escaped before they are written to a
/// terminal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No input was named.
    #[error("no trace was named")]
    NoInput,
    /// The system cannot open the file.
    #[error("cannot open {}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A folder instead of a file.
    #[error("expected a trace file, found a folder with {etl_files} .etl files: {}", path.display())]
    Directory {
        /// The folder.
        path: PathBuf,
        /// Number of `.etl` files directly in the folder.
        etl_files: usize,
    },
    /// A pipe, a device or the like.
    #[error("expected a regular file, found a pipe or device: {}", path.display())]
    NotRegular {
        /// The file.
        path: PathBuf,
    },
    /// A file without content.
    #[error("expected an event trace, found an empty file (0 bytes): {name}")]
    Empty {
        /// The file, or the archive and its member.
        name: String,
    },
    /// One file was passed twice: its events would count twice.
    #[error("named twice: {}", path.display())]
    Twice {
        /// The file.
        path: PathBuf,
    },
    /// The content is not a trace, or the files do not belong to one session.
    #[error("cannot read {name} as an event trace")]
    Trace {
        /// The file, or the archive and its member.
        name: String,
        /// The fault of the trace.
        source: etwkit_etl::Error,
    },
    /// An archive of a kind that is not read.
    #[error("expected a trace, or a file that holds one, found {kind}: {name}")]
    OtherArchive {
        /// The file.
        name: String,
        /// The kind of file, by its first bytes.
        kind: &'static str,
    },
    /// A packed file with a file that is not a trace.
    #[error("{archive}: the {outer} holds no trace")]
    NotATrace {
        /// The packed file.
        archive: String,
        /// The kind of packed file.
        outer: &'static str,
        /// What was found instead.
        source: etwkit_etl::Error,
    },
    /// A packed file with an archive that is not read.
    #[error("{archive}: expected a trace in the {outer}, found {found}")]
    ArchiveInside {
        /// The packed file.
        archive: String,
        /// The kind of packed file.
        outer: &'static str,
        /// The kind of file in it.
        found: &'static str,
    },
    /// The archive is damaged, as a whole or in one member.
    #[error("damaged archive {archive}{}: expected {expected}", at_member(member.as_deref(), *position))]
    DamagedArchive {
        /// The archive.
        archive: String,
        /// The member that is damaged, if it is one.
        member: Option<String>,
        /// Number of bytes of the member, or of the archive, before the error.
        position: u64,
        /// The expected content.
        expected: String,
        /// The error of the unpacker.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The archive uses a method that is not built in.
    #[error("{archive} is packed with a method that is not supported: {method}")]
    Method {
        /// The archive.
        archive: String,
        /// The method.
        method: String,
    },
    /// Two members have one path; only one of them could be read.
    #[error("{archive} holds more than one file with the path {member}")]
    Doubled {
        /// The archive.
        archive: String,
        /// The path.
        member: String,
    },
    /// The archive requires a password.
    #[error("{archive} is encrypted{}", member_text(member.as_deref()))]
    Encrypted {
        /// The archive.
        archive: String,
        /// The first encrypted member, if names are readable.
        member: Option<String>,
    },
    /// No member is a trace, or another file of the requested kind.
    #[error("no .etl file in {archive}, which holds {}", listing(inside, *total))]
    NoTrace {
        /// The archive.
        archive: String,
        /// The first members.
        inside: Vec<String>,
        /// Total number of members.
        total: usize,
    },
    /// The traces of an archive are no session: their times mean nothing to each other.
    #[error(
        "{archive} holds traces that were not recorded together: {}",
        listing(members, members.len())
    )]
    SeveralRecordings {
        /// The archive.
        archive: String,
        /// Its traces.
        members: Vec<String>,
    },
    /// Too many traces in archives.
    #[error("{archive} holds {found} traces, and {limit} is the limit")]
    TooMany {
        /// The archive.
        archive: String,
        /// Traces so far.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// Unpacking would exceed the limit.
    #[error(
        "{archive}: unpacking {member} needs {at_least}{bytes} bytes, and {left} of the limit of {limit} are left"
    )]
    TooLarge {
        /// The archive.
        archive: String,
        /// The member.
        member: String,
        /// Its declared size, or the bytes that were unpacked so far.
        bytes: u64,
        /// Whether that is all.
        at_least: AtLeast,
        /// Bytes left of the limit.
        left: u64,
        /// The limit.
        limit: u64,
    },
    /// A member that unpacks to far more than a trace would.
    #[error(
        "{archive}: {member} unpacks from {packed} to {at_least}{bytes} bytes, more than {ratio} times; \
         an archive like that is made to fill a disk"
    )]
    Bomb {
        /// The archive.
        archive: String,
        /// The member.
        member: String,
        /// Its packed size.
        packed: u64,
        /// Its declared size, or the bytes that were unpacked so far.
        bytes: u64,
        /// Whether that is all.
        at_least: AtLeast,
        /// The limit.
        ratio: u64,
    },
    /// The folder for temporary files is too small.
    #[error("not enough space to unpack {member}: {bytes} bytes needed, {free} free in {}", dir.display())]
    NoSpace {
        /// The folder.
        dir: PathBuf,
        /// The member.
        member: String,
        /// Bytes needed.
        bytes: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// The temporary file cannot be written.
    #[error("cannot write a temporary file in {}", dir.display())]
    Spool {
        /// The folder.
        dir: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A symbol file cannot be written to the target folder.
    #[error("cannot write the symbol file {}", path.display())]
    Keep {
        /// The symbol file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// Whether a number of bytes is a whole size, or only what was unpacked of a packed file that does not
/// tell its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtLeast(pub(crate) bool);

impl std::fmt::Display for AtLeast {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0 { "at least " } else { "" })
    }
}

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A short advice for the user, if there is one.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::NoInput => "name one .etl file, or several of one session",
            Self::Open { source, .. } => hint_for_io(source),
            Self::Directory { path, .. } if path.join(manifest::FILE).is_file() => {
                "this is an extract: `etwkit dump overview` shows its contents, `etwkit dump stats` its recording"
            }
            Self::Directory { path, .. } if run_log(path).is_dir() => {
                "this is a lake: `etwkit lake list` shows its runs, which `etwkit dump` takes"
            }
            Self::Directory { .. } => "name the .etl files of one session in it",
            Self::NotRegular { .. } => {
                "save the trace to a file first: reading it needs random access"
            }
            Self::Empty { .. } => {
                "was the recording stopped before anything was written, or a copy cut short?"
            }
            Self::Twice { .. } => "name each file once",
            Self::Trace { source, .. } | Self::NotATrace { source, .. } => return source.hint(),
            Self::Doubled { .. } => {
                "unpack the files one by one under different names (7z x -aou does), and name those"
            }
            Self::OtherArchive { kind, .. } | Self::ArchiveInside { found: kind, .. } => {
                kind::how_to_unpack(kind)
            }
            Self::Method { .. } => "unpack it and name the .etl files",
            Self::DamagedArchive { .. } => {
                "copy or download the archive again; `etwkit` reads what is left of a damaged .etl file, \
                 so unpack what can be unpacked and name that"
            }
            Self::Encrypted { .. } => "unpack it with its password and name the .etl files",
            Self::NoTrace { archive, .. } if archive.to_lowercase().ends_with(".json7z") => {
                "this is an extract of ETWAnalyzer: `etwkit extract` and `etwkit dump` read it"
            }
            Self::NoTrace { .. } => "name an archive that holds .etl files",
            Self::SeveralRecordings { .. } => {
                "unpack it into a folder, and name the folder or one of the .etl files: each answers \
                 alone"
            }
            Self::TooMany { .. } => "unpack it and name the .etl files of one session",
            Self::TooLarge { .. } => {
                "raise the limit (--max-unpacked), or unpack it and name the .etl files"
            }
            Self::Bomb { .. } => "if you trust it, unpack it and name the .etl files",
            Self::Keep { .. } => "free space there, or give another folder with --out",
            Self::NoSpace { .. } | Self::Spool { .. } => {
                "set ETWKIT_TMP to a folder with more space"
            }
        })
    }
}

fn hint_for_io(error: &io::Error) -> &'static str {
    match error.kind() {
        _ if is_too_many_open(error) => TOO_MANY_OPEN,
        io::ErrorKind::NotFound => "check the name; relative names start in the current folder",
        io::ErrorKind::PermissionDenied => "make the file readable for you, or copy it",
        _ => "is its disk or network share still there? copy it, and name the copy",
    }
}

fn member_text(member: Option<&str>) -> String {
    member.map_or_else(String::new, |name| format!(" (member {name})"))
}

fn at_member(member: Option<&str>, position: u64) -> String {
    match member {
        Some(name) => format!(", member {name}, after {position} unpacked bytes"),
        None => format!(" ({position} bytes)"),
    }
}

fn listing(inside: &[String], total: usize) -> String {
    if inside.is_empty() {
        return "nothing".to_owned();
    }
    let more = total.saturating_sub(inside.len());
    let tail = if more == 0 {
        String::new()
    } else {
        format!(" and {more} more")
    };
    format!("{}{tail}", inside.join(", "))
}
