//! Arguments to a session over extracts.

use std::fmt;
use std::path::{Path, PathBuf};

use etwkit_query::{Options, Session, Source};

/// Names the folder for what does not fit into memory, as for archives.
const TEMP_DIR: &str = "ETWKIT_TMP";

/// Opens what the arguments name, as one session.
pub(crate) fn open_extracts(paths: &[PathBuf]) -> anyhow::Result<Session> {
    let sources = paths.iter().map(|path| open(path)).collect::<anyhow::Result<Vec<_>>>()?;
    let temp_dir = std::env::var_os(TEMP_DIR).filter(|dir| !dir.is_empty()).map(Into::into);
    Ok(Session::new(sources, &Options { temp_dir, ..Options::default() })?)
}

fn open(path: &Path) -> anyhow::Result<Source> {
    let is_trace = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("etl"));
    if is_trace && path.is_file() {
        return Err(NotExtracted { path: path.to_owned() }.into());
    }
    Ok(Source::open(path)?)
}

/// A trace where an extract is needed.
#[derive(Debug)]
pub(crate) struct NotExtracted {
    path: PathBuf,
}

impl NotExtracted {
    pub(crate) const HINT: &str = "`etwkit extract` makes an extract of it";
}

impl fmt::Display for NotExtracted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected an extract (.etwx), found a trace: {}", self.path.display())
    }
}

impl std::error::Error for NotExtracted {}
