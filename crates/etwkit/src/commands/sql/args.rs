//! The arguments of `etwkit sql`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use etwkit_engine::Resources;

use crate::arguments::{WHERE, WhereArgs};
use crate::dialect::OtherEngine;
use crate::rules::NameArgs;
use crate::tags::TagArgs;

/// Smallest and largest memory for sorting, grouping and joining, in MiB: less is not enough to
/// read a table.
const MEMORY_MIB: std::ops::RangeInclusive<i64> = 64..=1 << 20;

/// Heading of the resource options.
const RESOURCES: &str = "Resources";

#[derive(Debug, Args)]
pub(crate) struct SqlArgs {
    /// Extracts (.etwx), traces, folders, patterns such as "runs/**/*.etwx", or "@FILE" with one of
    /// these on each line. SQL comes last: one statement, - for the standard input, or "@NAME" for a
    /// question of the library
    #[arg(value_name = "EXTRACT, SQL", num_args = 1..,
          required_unless_present_any = ["show_schema", "file"])]
    pub(crate) items: Vec<OsString>,
    #[command(flatten)]
    pub(crate) chosen_by: WhereArgs,
    /// Read the SQL from this file; everything else that is named is an extract then
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// A value for $NAME in the SQL or a question of the library. Its type follows from its use or
    /// its form, unless NAME:TYPE=VALUE names text, int, float or bool; can be repeated
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub(crate) params: Vec<String>,
    /// A folder with questions of your own: "@NAME" is its file NAME.sql, also in folders below
    /// ("@AREA/NAME"); they come before the questions of the program
    #[arg(long, value_name = "FOLDER")]
    pub(crate) library: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tags: TagArgs,
    #[command(flatten)]
    pub(crate) names: NameArgs,
    /// Format of rows [default: by the ending of the file (.csv, .json, .jsonl, .parquet, .arrows),
    /// otherwise a table]
    #[arg(long, value_enum)]
    pub(crate) format: Option<SqlFormat>,
    /// Write the rows into this file
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Overwrite a file that is there; traces and extracts are never overwritten
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Leave out extracts that cannot be opened; their errors are printed at the end, and the exit
    /// code is 2
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Print the tables, or the columns of one; with --format json all that is declared of them, an
    /// object for each table
    #[arg(long, value_name = "TABLE", num_args = 0..=1, default_missing_value = "",
          conflicts_with_all = ["items", "file", "params", "library", "files", "out", "force", WHERE])]
    pub(crate) show_schema: Option<String>,
    /// Print the SQL of a question of the library, with the values of its parameters, instead of the
    /// answer; needs no extract
    #[arg(long, conflicts_with_all = ["file", "library", "files", "format", "out", "force"])]
    pub(crate) show_sql: bool,
    /// Print it for another engine that reads the files of one extract. Only questions for which a
    /// test has compared the rows of both engines
    #[arg(long, value_name = "ENGINE", value_enum, requires = "show_sql")]
    pub(crate) dialect: Option<OtherEngine>,
    /// Print the macros and views that the SQL of --dialect needs, for one extract
    #[arg(long, value_name = "ENGINE", value_enum,
          conflicts_with_all = ["show_sql", "file", "params", "library", "files", "format", "out", "force"])]
    pub(crate) show_setup: Option<OtherEngine>,
    /// Memory for sorting, grouping and joining, 64 to 1048576 MiB [default: 2048]. A statement that
    /// needs more uses temporary files or fails
    #[arg(long, value_name = "MIB", help_heading = RESOURCES,
          value_parser = clap::value_parser!(u32).range(MEMORY_MIB))]
    pub(crate) memory: Option<u32>,
    /// Threads that compute, 1 to 256 [default: number of processors]
    #[arg(long, value_name = "N", help_heading = RESOURCES,
          value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: Option<u16>,
}

impl SqlArgs {
    /// Returns the format of rows: the chosen one, otherwise the one of the file's extension.
    pub(crate) fn form(&self) -> SqlFormat {
        let ending = self.out.as_ref().and_then(|out| out.extension());
        let ending = ending.map(|ending| ending.to_string_lossy().to_lowercase());
        let of_ending = || match ending.as_deref() {
            Some("parquet") => SqlFormat::Parquet,
            Some("csv") => SqlFormat::Csv,
            Some("json" | "jsonl" | "ndjson") => SqlFormat::Json,
            Some("arrows") => SqlFormat::Arrow,
            _ => SqlFormat::Table,
        };
        self.format.unwrap_or_else(of_ending)
    }

    /// Returns the resources that the query may use.
    pub(super) fn resources(&self) -> Resources {
        Resources {
            memory_bytes: self
                .memory
                .and_then(|mib| usize::try_from(u64::from(mib) << 20).ok()),
            threads: self.threads.map(usize::from),
        }
    }
}

/// Forms of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SqlFormat {
    /// Columns for people
    Table,
    /// Comma-separated values, RFC 4180
    Csv,
    /// A line that names the command and the format, then one object on each line
    Json,
    /// A Parquet file
    Parquet,
    /// A stream of Arrow (IPC), to a file or a pipe
    Arrow,
}
