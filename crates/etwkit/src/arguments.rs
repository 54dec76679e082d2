//! Groups of arguments that several commands have. Commands import them from here, and the root of
//! the command line imports both.

use std::path::PathBuf;

use clap::Args;
use etwkit_engine::DEFAULT_MAX_UNPACKED_GIB;

/// Traces to read, and options for reading them.
#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    /// An .etl file, a file that holds some (.zip, .7z, .cab, .diagsession, .etlgz, .etl.gz, .zst, .xz,
    /// .bz2, .lz4), a pattern such as 'runs/*.etl', @FILE with one of these on each line, or - for the
    /// standard input
    #[arg(value_name = "TRACE", required = true)]
    pub(crate) traces: Vec<PathBuf>,
    /// Read by position instead of mapping the file into memory: slower, for files that change
    /// meanwhile
    #[arg(long)]
    pub(crate) no_mmap: bool,
    /// Unpack at most this many GiB from archives, into ETWKIT_TMP or the system's temporary folder
    #[arg(long, value_name = "GIB", default_value_t = DEFAULT_MAX_UNPACKED_GIB)]
    pub(crate) max_unpacked: u64,
}
