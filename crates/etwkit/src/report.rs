//! Hints for errors, by the library that they come from.

use std::io;

use etwkit_sql::similar_file;
use etwkit_terminal::errors::{Advised, Errors, hint_of_system};

/// Traces that could not be extracted, while others could.
#[derive(Debug, Default, thiserror::Error)]
#[error("{} of {traces} traces could not be extracted", all.len())]
pub(crate) struct Failures {
    /// Number of traces that were named.
    pub(crate) traces: usize,
    /// Names of the inputs that failed, and their errors.
    pub(crate) all: Vec<(String, anyhow::Error)>,
}

/// Prints each of several errors with its trace, and then their number.
pub(crate) fn failures(err: &mut Errors<'_>, failures: &Failures, help: &str) {
    for (trace, error) in &failures.all {
        err.line(&format!("error: {trace}: {error:#}"));
        err.line(&format!("hint: {}", hint(error, help)));
    }
    err.line(&format!("error: {failures}"));
}

/// Prints an error with its causes and its hint.
pub(crate) fn error(err: &mut Errors<'_>, error: &anyhow::Error, help: &str) {
    err.error(error, &hint(error, help));
}

/// Hint if there is no better one and the command is not known.
pub(crate) const HELP: &str = "`etwkit --help` lists the commands";

/// Returns the advice of the library that the error, or one of its causes, comes from; otherwise
/// advice for the kind of error, and `help` if there is none.
pub(crate) fn hint(error: &anyhow::Error, help: &str) -> String {
    let of_system = || {
        let cause = error
            .chain()
            .find_map(|cause| cause.downcast_ref::<io::Error>());
        cause.and_then(hint_of_system).unwrap_or(help).to_owned()
    };
    let misspelled = || error.chain().find_map(misspelled);
    misspelled()
        .or_else(|| error.chain().find_map(of_library))
        .unwrap_or_else(of_system)
}

/// Returns `true` if the user ended the work.
pub(crate) fn is_interrupted(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let of_engine = cause.downcast_ref::<etwkit_engine::Error>();
        let of_extract = cause.downcast_ref::<etwkit_extract::ConvertError>();
        of_engine.is_some_and(etwkit_engine::Error::is_cancelled)
            || matches!(of_extract, Some(etwkit_extract::ConvertError::Interrupted))
    })
}

/// Returns a suggestion if a trace or an extract does not exist and a similar name does.
fn misspelled(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let of_trace = || match error.downcast_ref::<etwkit_extract::Error>()? {
        etwkit_extract::Error::Open { path, source } => {
            (source.kind() == io::ErrorKind::NotFound).then_some(path.as_path())
        }
        _ => None,
    };
    let missing = error
        .downcast_ref()
        .and_then(etwkit_engine::Error::missing)
        .or_else(of_trace)?;
    let similar = similar_file(missing)?;
    Some(format!("did you mean {}?", similar.display()))
}

/// Returns the advice of a library.
fn of_library(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let known = error.downcast_ref().and_then(etwkit_extract::Error::hint);
    let known = known
        .or_else(|| error.downcast_ref().and_then(etwkit_engine::Error::hint))
        .or_else(|| {
            error
                .downcast_ref()
                .and_then(etwkit_server::StartError::hint)
        })
        .or_else(|| error.downcast_ref().and_then(etwkit_trace::ReadError::hint))
        .or_else(|| {
            error
                .downcast_ref()
                .and_then(etwkit_extract::ConvertError::hint)
        })
        .or_else(|| {
            error
                .downcast_ref()
                .and_then(etwkit_extract::StoreError::hint)
        })
        .or_else(|| {
            error
                .downcast_ref()
                .and_then(etwkit_extract::json7z::JsonError::hint)
        })
        .or_else(|| {
            error
                .downcast_ref()
                .map(etwkit_extract::DescribeError::hint)
        })
        .or_else(|| {
            error
                .downcast_ref()
                .and_then(etwkit_extract::lake::Error::hint)
        })
        .or_else(|| error.downcast_ref().and_then(etwkit_sql::Error::hint))
        .or_else(|| error.downcast_ref().and_then(etwkit_question::Error::hint))
        .or_else(|| error.downcast_ref().and_then(etwkit_export::Error::hint))
        .or_else(|| {
            error
                .downcast_ref()
                .map(etwkit_trace::tags::TagFileError::hint)
        })
        .or_else(|| error.downcast_ref().map(etwkit_sql::xml::FileError::hint))
        .or_else(|| {
            error
                .downcast_ref()
                .and_then(etwkit_question::FilesError::hint)
        })
        .or_else(|| {
            error
                .downcast_ref::<etwkit_question::range::RangeError>()
                .map(|error| error.hint)
        });
    known
        .map(str::to_owned)
        .or_else(|| {
            error
                .downcast_ref::<Advised>()
                .map(|error| error.hint.clone())
        })
        .or_else(|| {
            error
                .downcast_ref::<etwkit_compat::LineError>()
                .map(|error| error.hint.clone())
        })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use anyhow::{Context, anyhow};
    use etwkit_extract::{ConvertError, StoreError};
    use etwkit_sql::Error as QueryError;

    use super::*;

    fn printed(error: &anyhow::Error) -> String {
        let mut out = Vec::new();
        super::error(
            &mut Errors {
                out: &mut out,
                is_colored: false,
            },
            error,
            HELP,
        );
        String::from_utf8(out).unwrap()
    }

    fn path() -> PathBuf {
        PathBuf::from("run.etwx")
    }

    fn system(kind: io::ErrorKind) -> io::Error {
        kind.into()
    }

    /// Returns one error of each kind from the libraries that extracts and questions use.
    fn of_libraries() -> Vec<anyhow::Error> {
        let text = || "x".to_owned();
        let store = vec![
            StoreError::Io {
                doing: "read",
                path: path(),
                source: system(io::ErrorKind::Other),
            },
            StoreError::Io {
                doing: "write",
                path: path(),
                source: system(io::ErrorKind::Other),
            },
            StoreError::NoName { path: path() },
            StoreError::NoParent { path: path() },
            StoreError::NotOurs {
                path: path(),
                what: "a file",
            },
            StoreError::Columns {
                table: text(),
                expected: text(),
                found: text(),
            },
            StoreError::Incomplete { path: path() },
            StoreError::NotAnExtract {
                path: path(),
                what: text(),
            },
            StoreError::Manifest {
                path: path(),
                name: "manifest.json",
                expected: text(),
            },
            StoreError::Newer {
                path: path(),
                found: text(),
                supported: text(),
            },
            StoreError::Older {
                path: path(),
                found: text(),
                supported: text(),
                again: text(),
            },
            StoreError::Table {
                path: path(),
                file: text(),
                expected: text(),
                source: None,
            },
            StoreError::Replaced { path: path() },
            StoreError::Compressed {
                path: path(),
                member: text(),
            },
            StoreError::Archive {
                path: path(),
                expected: "x",
                source: "y".into(),
            },
            StoreError::ReadOnlyArchive { path: path() },
        ];
        let query = vec![
            QueryError::NoSource,
            QueryError::Threads(system(io::ErrorKind::Other)),
            QueryError::Stopped { said: Some(text()) },
            QueryError::TooLong {
                what: "bytes of SQL",
                found: 2,
                limit: 1,
            },
            QueryError::Statements { count: 2 },
            QueryError::Refused { found: text() },
            QueryError::Sql {
                message: text(),
                position: None,
                hint: None,
            },
            QueryError::Parameter {
                question: text(),
                expected: text(),
                found: text(),
            },
            QueryError::Memory { message: text() },
            QueryError::TooMuch { limit: 1 },
            QueryError::Work { message: text() },
            QueryError::Cancelled,
            QueryError::Failed { message: text() },
        ];
        let convert = vec![
            ConvertError::Rows("x".into()),
            ConvertError::EmptyRange { duration_s: 1.0 },
            ConvertError::IsSummary { path: path() },
            ConvertError::WithoutRows { path: path() },
            ConvertError::Interrupted,
        ];
        let trace = [io::ErrorKind::NotFound, io::ErrorKind::Other].map(|kind| {
            etwkit_extract::Error::Open {
                path: path(),
                source: system(kind),
            }
        });
        let mut all: Vec<anyhow::Error> = store.into_iter().map(Into::into).collect();
        all.extend(query.into_iter().map(anyhow::Error::from));
        all.extend(convert.into_iter().map(anyhow::Error::from));
        all.extend(trace.map(anyhow::Error::from));
        all
    }

    #[test]
    fn every_error_of_a_library_has_its_own_hint_wherever_it_stands() {
        let count = of_libraries().len();
        for number in 0..count {
            let plain = printed(&of_libraries().swap_remove(number));
            assert_eq!(plain.matches("\nhint: ").count(), 1, "{plain}");
            assert!(!plain.contains(HELP), "{plain}");
            // An error has the same hint below contexts that are added to it.
            let hint = plain.lines().last().unwrap().to_owned();
            let wrapped = printed(
                &of_libraries()
                    .swap_remove(number)
                    .context("run.etwx")
                    .context("more"),
            );
            assert_eq!(wrapped.lines().last().unwrap(), hint, "{wrapped}");
        }
        let dump = etwkit_question::Error::from(QueryError::Cancelled);
        assert!(
            printed(&Err::<(), _>(dump).context("run.etwx").unwrap_err())
                .ends_with("hint: ask again\n")
        );
    }

    #[test]
    fn ctrl_c_during_an_extraction_is_noticed_wherever_it_stands() {
        let interrupted = || etwkit_engine::Error::from(ConvertError::Interrupted).of("a.etl");
        assert!(is_interrupted(&interrupted().into()));
        assert!(is_interrupted(
            &Err::<(), _>(interrupted()).context("more").unwrap_err()
        ));
        assert!(is_interrupted(&ConvertError::Interrupted.into()));
        assert!(!is_interrupted(&anyhow!("x")));
    }

    #[test]
    fn every_other_error_has_a_hint_too() {
        assert_eq!(printed(&anyhow!("x")), format!("error: x\nhint: {HELP}\n"));
        let full = Err::<(), _>(system(io::ErrorKind::StorageFull))
            .context("cannot write y")
            .unwrap_err();
        assert!(
            printed(&full)
                .ends_with("\nhint: no space is left there: free some, or choose another place\n")
        );
        let advised = anyhow::Error::from(Advised {
            message: "a".into(),
            hint: "b".into(),
        });
        assert_eq!(printed(&advised), "error: a\nhint: b\n");
    }
}
