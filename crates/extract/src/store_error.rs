//! Errors of writing or reading an extract.

use std::io;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;

/// The reason for which an extract could not be written or read. Paths are shown as they were
/// given. Texts that come from a file must be escaped before they are written to a terminal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The system refused something.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// The operation that failed: `write`, `create`, `rename`.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The target has no name that a folder could have.
    #[error("expected a name for the extract, found {:?}", path.display().to_string())]
    NoName {
        /// The target.
        path: PathBuf,
    },
    /// The parent folder of the extract does not exist.
    #[error("the folder {} does not exist", path.display())]
    NoParent {
        /// The missing folder.
        path: PathBuf,
    },
    /// The target exists and is not an extract.
    #[error("will not replace {}: it is {what}, not an extract", path.display())]
    NotOurs {
        /// The target.
        path: PathBuf,
        /// The kind of the existing target.
        what: &'static str,
    },
    /// Rows do not have the declared columns.
    #[error("rows of {table} do not have its columns: expected {expected}, found {found}")]
    Columns {
        /// The table.
        table: String,
        /// Declared columns.
        expected: String,
        /// Columns of the rows.
        found: String,
    },
    /// Rows could not be encoded.
    #[error("cannot encode the table {table}")]
    Encode {
        /// The table.
        table: String,
        /// The error of the encoder.
        source: ParquetError,
    },
    /// Something could not be written before, so the extract is not complete.
    #[error("the extract {} is not complete: writing it failed before", path.display())]
    Incomplete {
        /// The target.
        path: PathBuf,
    },
    /// The path is neither a folder nor an archive with an extract.
    #[error("expected an extract, a folder NAME.etwx or a file NAME.etwx.zip; found {what}: {}", path.display())]
    NotAnExtract {
        /// The path.
        path: PathBuf,
        /// The kind of the file or folder.
        what: String,
    },
    /// The manifest cannot be understood.
    #[error("damaged extract: {} of {}: expected {expected}", name, path.display())]
    Manifest {
        /// The extract.
        path: PathBuf,
        /// The manifest.
        name: &'static str,
        /// The expected content.
        expected: String,
    },
    /// Written by a newer version.
    #[error("{} has format version {found}, and this program reads up to {supported}", path.display())]
    Newer {
        /// The extract.
        path: PathBuf,
        /// Its format version.
        found: String,
        /// The newest version that is read.
        supported: String,
    },
    /// The extract was written by a version that is no longer supported.
    #[error(
        "{} has the old format version {found}, and this program reads from {supported} on; `{again}` makes it anew",
        path.display()
    )]
    Older {
        /// The extract.
        path: PathBuf,
        /// Its format version.
        found: String,
        /// The oldest version that is read.
        supported: String,
        /// The command that recreates it, with the trace named as in the manifest.
        again: String,
    },
    /// A table differs from the manifest.
    #[error("damaged extract: {file} of {}: expected {expected}", path.display())]
    Table {
        /// The extract.
        path: PathBuf,
        /// File of the table inside the extract.
        file: String,
        /// The expected content, and its position.
        expected: String,
        /// The error of the decoder, if it ran.
        source: Option<ParquetError>,
    },
    /// The open extract was replaced by another one.
    #[error("{} was replaced while it was read", path.display())]
    Replaced {
        /// The extract.
        path: PathBuf,
    },
    /// A member of the archive is compressed and cannot be read in place.
    #[error("{} is compressed: {member} has to be stored as it is", path.display())]
    Compressed {
        /// The archive.
        path: PathBuf,
        /// The member.
        member: String,
    },
    /// The archive cannot be read.
    #[error("damaged archive {}: expected {expected}", path.display())]
    Archive {
        /// The archive.
        path: PathBuf,
        /// The expected content.
        expected: &'static str,
        /// The error of the unpacker.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Nothing can be added to an archive.
    #[error("cannot add tables to the archive {}", path.display())]
    ReadOnlyArchive {
        /// The archive.
        path: PathBuf,
    },
}

/// Result of writing and reading extracts.
pub type StoreResult<T> = Result<T, StoreError>;

impl StoreError {
    /// Wraps an error of the operating system: `cannot {doing} {path}`.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            doing,
            path: path.to_owned(),
            source,
        }
    }

    /// A copy of an error of a table, for callers that have only a reference: engines pass errors
    /// on in this form.
    #[must_use]
    pub fn of_table_again(&self) -> Option<Self> {
        Some(match self {
            Self::Io {
                doing,
                path,
                source,
            } => {
                let source = io::Error::new(source.kind(), source.to_string());
                Self::Io {
                    doing,
                    path: path.clone(),
                    source,
                }
            }
            Self::Table {
                path,
                file,
                expected,
                source,
            } => Self::Table {
                path: path.clone(),
                file: file.clone(),
                expected: expected.clone(),
                source: source
                    .as_ref()
                    .map(|source| ParquetError::General(source.to_string())),
            },
            Self::Replaced { path } => Self::Replaced { path: path.clone() },
            _ => return None,
        })
    }

    /// A short advice for the user, if there is one.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Io { path, source, .. } if is_part_missing(path, source) => {
                "the extract was removed or moved in the meantime: ask again"
            }
            Self::Io {
                doing: "open" | "read",
                source,
                ..
            } => hint_for_reading(source),
            Self::Io { source, .. } if is_too_many_open(source) => TOO_MANY_OPEN,
            Self::Io { source, .. } => hint_for_writing(source.kind()),
            Self::NoName { .. } => "give a name that ends in .etwx with --out",
            Self::NoParent { .. } => "create it, or give another folder with --out",
            Self::NotOurs { .. } => "remove it, or give another name with --out",
            Self::NotAnExtract { .. } => "`etwkit extract` makes an extract of a trace",
            Self::Manifest { .. } | Self::Table { .. } => "extract the trace again",
            Self::Older { .. } => "extract the trace again, by its present name",
            Self::Newer { .. } => "use a newer etwkit, or extract the trace again with this one",
            Self::Replaced { .. } => "ask again: the new extract is there",
            Self::Compressed { .. } => {
                "unpack it and name the folder, or pack it again without compression"
            }
            Self::Archive { .. } => "copy or download the archive again",
            Self::ReadOnlyArchive { .. } => "unpack it and name the folder",
            Self::Columns { .. } | Self::Encode { .. } => {
                "this is a defect of etwkit: please report it with the command line and the version"
            }
            Self::Incomplete { .. } => "see the error before this one; nothing was changed",
        })
    }
}

/// Advice for a process or a system that has no file left to open.
pub(crate) const TOO_MANY_OPEN: &str = "this process may have no more files open: raise the limit (`ulimit -n 4096`), or name fewer traces at \
     once";

/// Returns `true` if no more files may be open.
pub(crate) fn is_too_many_open(error: &io::Error) -> bool {
    // EMFILE, ENFILE and ERROR_TOO_MANY_OPEN_FILES; the kind of these errors has no name. The copy
    // of an error that the query engine passed on has only its text.
    let is_number = match error.raw_os_error() {
        Some(number) if cfg!(unix) => matches!(number, 23 | 24),
        Some(number) => cfg!(windows) && number == 4,
        None => false,
    };
    is_number || cfg!(unix) && error.to_string().contains("oo many open files")
}

/// Returns `true` if a file inside an extract is gone: the extract was there when it was opened.
fn is_part_missing(path: &Path, error: &io::Error) -> bool {
    let is_inside = path
        .parent()
        .and_then(Path::extension)
        .is_some_and(|ending| ending.eq_ignore_ascii_case("etwx"));
    let is_table = path.extension().is_some_and(|ending| ending == "parquet");
    is_inside && is_table && error.kind() == io::ErrorKind::NotFound
}

fn hint_for_reading(error: &io::Error) -> &'static str {
    match error.kind() {
        _ if is_too_many_open(error) => TOO_MANY_OPEN,
        io::ErrorKind::NotFound => "check the name; relative names start in the current folder",
        io::ErrorKind::PermissionDenied => "make it readable for you, or copy it",
        _ => "is its disk or network share still there? copy it, and name the copy",
    }
}

fn hint_for_writing(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::StorageFull => {
            "no space is left there: free some, or give another folder with --out"
        }
        io::ErrorKind::QuotaExceeded => {
            "your quota is used up there: free some, or give another folder with --out"
        }
        io::ErrorKind::FileTooLarge => {
            "the file system or a limit (`ulimit -f`) allows no larger file: give another folder with --out"
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            "nothing can be written there: give another folder with --out"
        }
        io::ErrorKind::PermissionDenied => {
            "you may not write there, or another program holds it open: close that, or give another folder with --out"
        }
        io::ErrorKind::NotFound => "another program may have removed it: try again",
        io::ErrorKind::InvalidFilename => {
            "the system does not allow this name, or one of this length: give another name with --out"
        }
        _ => "give another folder with --out",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn what_the_system_says_comes_with_what_to_do() {
        // ENOSPC, EDQUOT, EFBIG, EROFS, EACCES, EPERM, ENOENT: numbers that Linux and macOS share,
        // but for the quota.
        let quota = if cfg!(target_os = "linux") { 122 } else { 69 };
        for (number, advice) in [
            (28, "no space is left there"),
            (quota, "your quota is used up"),
            (27, "allows no larger file"),
            (30, "nothing can be written there"),
            (13, "you may not write there"),
            (1, "you may not write there"),
            (2, "another program may have removed it"),
        ] {
            let error = StoreError::io("write", Path::new("/x/run.etwx"))(
                io::Error::from_raw_os_error(number),
            );
            assert_eq!(error.to_string(), "cannot write /x/run.etwx");
            assert!(
                error.hint().unwrap().contains(advice),
                "{number}: {:?}",
                error.hint()
            );
        }
        let gone = StoreError::io("open", Path::new("/x/run.etwx/process.parquet"))(
            io::Error::from_raw_os_error(2),
        );
        assert!(gone.hint().unwrap().contains("ask again"));
        for (number, advice) in [
            (2, "check the name"),
            (13, "make it readable"),
            (23, "raise the limit"),
            (24, "raise the limit"),
        ] {
            let error = StoreError::io("open", Path::new("/x/run.etwx"))(
                io::Error::from_raw_os_error(number),
            );
            assert!(
                error.hint().unwrap().contains(advice),
                "{number}: {:?}",
                error.hint()
            );
            let again = error.of_table_again().unwrap();
            assert_eq!(again.hint(), error.hint(), "{number}");
        }
    }

    #[test]
    fn a_name_that_the_system_does_not_allow_needs_another_name() {
        let failed = StoreError::io("create a folder in", Path::new("/x"));
        let error = failed(io::ErrorKind::InvalidFilename.into());
        assert!(error.hint().unwrap().contains("another name with --out"));
    }
}
