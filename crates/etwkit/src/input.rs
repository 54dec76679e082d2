//! Arguments to an opened session.

use std::path::{Path, PathBuf};

use etwkit_extract::{Input, Limits, Options};
use etwkit_json7z::JsonInput;

use crate::cli::{MAX_UNPACKED_GIB, TraceArgs};

/// Names the folder that archives are unpacked to.
const TEMP_DIR: &str = "ETWKIT_TMP";

/// Opens what the arguments name.
pub(crate) fn open(args: &TraceArgs) -> anyhow::Result<Input> {
    open_paths(&args.traces, args)
}

/// Opens some of what the arguments name, as one session.
pub(crate) fn open_paths(paths: &[PathBuf], args: &TraceArgs) -> anyhow::Result<Input> {
    Ok(etwkit_extract::open(paths, &options(args))?)
}

/// How inputs are opened.
pub(crate) fn options(args: &TraceArgs) -> Options {
    let limits = Limits { total_bytes: args.max_unpacked.saturating_mul(1 << 30), ..Limits::default() };
    let temp_dir = std::env::var_os(TEMP_DIR).filter(|dir| !dir.is_empty()).map(Into::into);
    Options { mmap: !args.no_mmap, temp_dir, limits }
}

/// Opens a trace as it is opened if no option says otherwise.
pub(crate) fn open_plain(path: &Path) -> anyhow::Result<Input> {
    open_paths(&[path.to_owned()], &plain())
}

/// Opens an extract of ETWAnalyzer in the same way.
pub(crate) fn open_plain_json(path: &Path) -> anyhow::Result<JsonInput> {
    Ok(etwkit_json7z::open_json(path, &options(&plain()))?)
}

/// How inputs are opened if no option says otherwise.
pub(crate) fn plain_options() -> Options {
    options(&plain())
}

const fn plain() -> TraceArgs {
    TraceArgs { traces: Vec::new(), no_mmap: false, max_unpacked: MAX_UNPACKED_GIB }
}
