//! Groups of arguments that several commands have. Commands import them from here, and the root of
//! the command line imports both.

use std::path::PathBuf;

use clap::Args;
use etwkit_engine::{DEFAULT_MAX_UNPACKED_GIB, choose};

use crate::printer::Printer;

/// Name of the option that chooses among extracts.
pub(crate) const WHERE: &str = "where";

/// Choice among the extracts that a command line names.
#[derive(Debug, Args)]
pub(crate) struct WhereArgs {
    /// Only extracts with these facts, as an SQL condition on their labels, computer, start_utc, name,
    /// detail and others: "suite = 'Report' AND start_utc >= '2026-11-01'"
    #[arg(id = WHERE, long = WHERE, value_name = "CONDITION")]
    pub(crate) condition: Option<String>,
}

impl WhereArgs {
    /// Returns the chosen ones of extracts.
    pub(crate) fn choose(
        &self,
        extracts: Vec<PathBuf>,
        printer: &mut Printer<'_>,
    ) -> anyhow::Result<Vec<PathBuf>> {
        let Some(condition) = &self.condition else {
            return Ok(extracts);
        };
        let choice = choose(extracts, condition)?;
        choice.note.iter().for_each(|note| printer.note(note));
        Ok(choice.paths)
    }
}

/// Traces to read, and options for reading them.
#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    /// An .etl file, an archive or packed file (.zip, .7z, .cab, .diagsession, .etlgz, .etl.gz, .zst,
    /// .xz, .bz2, .lz4) or a pattern such as "runs/*.etl". "@FILE" has one of these on each line, and -
    /// is the standard input
    #[arg(value_name = "TRACE", required = true)]
    pub(crate) traces: Vec<PathBuf>,
    /// Read by position instead of mapping the file into memory: slower, for files that change
    /// while they are read
    #[arg(long)]
    pub(crate) no_mmap: bool,
    /// Unpack at most this many GiB from archives, into ETWKIT_TMP or the system's temporary folder
    #[arg(long, value_name = "GIB", default_value_t = DEFAULT_MAX_UNPACKED_GIB)]
    pub(crate) max_unpacked: u64,
}
