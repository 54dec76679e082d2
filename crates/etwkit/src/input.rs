//! Arguments to an opened session.

use std::path::PathBuf;

use etwkit_extract::{Input, Limits, Options};

use crate::cli::TraceArgs;

/// Names the folder that archives are unpacked to.
const TEMP_DIR: &str = "ETWKIT_TMP";

/// Opens what the arguments name.
pub(crate) fn open(args: &TraceArgs) -> anyhow::Result<Input> {
    open_paths(&args.traces, args)
}

/// Opens some of what the arguments name, as one session.
pub(crate) fn open_paths(paths: &[PathBuf], args: &TraceArgs) -> anyhow::Result<Input> {
    let limits = Limits { total_bytes: args.max_unpacked.saturating_mul(1 << 30), ..Limits::default() };
    let temp_dir = std::env::var_os(TEMP_DIR).filter(|dir| !dir.is_empty()).map(Into::into);
    let options = Options { mmap: !args.no_mmap, temp_dir, limits };
    Ok(etwkit_extract::open(paths, &options)?)
}
