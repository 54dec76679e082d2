//! The words of the command line.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::redact::Redaction;

/// Arguments of `etwkit cut`.
#[derive(Debug, Args)]
pub struct CutArgs {
    /// An .etl file, or an archive or packed file (.zip, .7z, .cab, .diagsession, .etlgz, .etl.gz, .zst, .xz, .bz2, .lz4);
    /// files of one recording are merged
    #[arg(value_name = "TRACE", required = true)]
    pub traces: Vec<PathBuf>,
    /// The new trace
    #[arg(
        long,
        short,
        value_name = "FILE.etl",
        required_unless_present = "check"
    )]
    pub out: Option<PathBuf>,
    /// Overwrite an existing file if this command wrote it or if it is not a trace
    #[arg(long)]
    pub force: bool,
    /// Only this time, in seconds since the start of the trace or as clock times: A..B, A.. or ..B
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    pub range: Option<String>,
    /// Only events of these processes: names with or without .exe, or ids (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "NAMES")]
    pub process: Option<String>,
    /// Only events of these providers or classes: names (*, ?, several with ;, ! excludes) or GUIDs
    #[arg(long, value_name = "PROVIDERS")]
    pub provider: Option<String>,
    /// Replace private texts, the same one always by the same substitute: paths, hosts, addresses, users,
    /// command lines, texts, and programs and drivers that are not part of Windows. With =all, also replace
    /// the names of Windows' own modules, processes and folders
    #[arg(
        long,
        value_name = "WHAT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "private"
    )]
    pub redact: Option<RedactWhat>,
    /// With --redact, write nothing, and list the texts that are kept, by reason
    #[arg(long, requires = "redact", conflicts_with = "out")]
    pub check: bool,
    /// Read by position instead of mapping the file into memory: slower, for files that change
    /// while they are read
    #[arg(long)]
    pub no_mmap: bool,
    /// Unpack at most this many GiB from archives
    #[arg(long, value_name = "GIB", default_value_t = 64)]
    pub max_unpacked: u64,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// The texts that `--redact` replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RedactWhat {
    /// Texts of the sender
    Private,
    /// All texts
    All,
}

impl From<RedactWhat> for Redaction {
    fn from(what: RedactWhat) -> Self {
        match what {
            RedactWhat::Private => Self::Private,
            RedactWhat::All => Self::All,
        }
    }
}
