//! Arguments to an opened trace.

use std::path::{Path, PathBuf};

use etwkit_engine::{DEFAULT_MAX_UNPACKED_GIB, Settings, input_options};
use etwkit_extract::{Input, Options};

use crate::arguments::TraceArgs;

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
    input_options(!args.no_mmap, args.max_unpacked, Settings::from_environment().temp_dir)
}

/// Opens a trace as it is opened if no option says otherwise.
pub(crate) fn open_plain(path: &Path) -> anyhow::Result<Input> {
    let options = input_options(true, DEFAULT_MAX_UNPACKED_GIB, Settings::from_environment().temp_dir);
    Ok(etwkit_extract::open(&[path.to_owned()], &options)?)
}
