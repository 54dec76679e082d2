//! The words of the command line.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `etwkit cut`.
#[derive(Debug, Args)]
pub struct CutArgs {
    /// An .etl file, or a file that holds some (.zip, .7z, .cab, .diagsession, .etlgz, .etl.gz, .zst, .xz, .bz2, .lz4);
    /// files of one recording are merged
    #[arg(value_name = "TRACE", required = true)]
    pub traces: Vec<PathBuf>,
    /// The new trace
    #[arg(long, short, value_name = "FILE.etl")]
    pub out: PathBuf,
    /// Replace what is there, if this command wrote it or if it is no trace
    #[arg(long)]
    pub force: bool,
    /// Only this time, in seconds since the start of the trace or as clock times: A..B, A.. or ..B
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    pub range: Option<String>,
    /// Only events of these processes: names with or without .exe, or ids (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "NAMES")]
    pub process: Option<String>,
    /// Only events of these providers or classes: names (*, ?, several with ;, ! excludes) or GUIDs
    #[arg(long, value_name = "NAMES")]
    pub provider: Option<String>,
    /// Replace names, paths, hosts, command lines, users and texts, the same text always by the same one;
    /// drop what cannot be understood
    #[arg(long)]
    pub redact: bool,
    /// Read by position instead of mapping the file into memory: slower, for files that change meanwhile
    #[arg(long)]
    pub no_mmap: bool,
    /// Unpack at most this many GiB from archives
    #[arg(long, value_name = "GIB", default_value_t = 64)]
    pub max_unpacked: u64,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
