//! The arguments of `etwkit lake`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::arguments::WhereArgs;

#[derive(Debug, Args)]
pub(crate) struct LakeArgs {
    #[command(subcommand)]
    pub(super) command: LakeCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum LakeCommand {
    /// Make a lake without runs, in a new or empty folder
    Init(OnlyLake),
    /// Add extracts and traces; skip runs that the lake already has
    Add(AddArgs),
    /// Merge small files, and leave out rows that belong to no run
    Compact(CompactArgs),
    /// Delete files that no table has any more
    Vacuum(VacuumArgs),
    /// Drop runs by their labels and other facts
    Drop(DropArgs),
    /// List the runs
    List(ListArgs),
    /// Check that each run has all of its rows exactly once
    Check(OnlyLake),
}

#[derive(Debug, Args)]
pub(super) struct OnlyLake {
    /// The lake: a folder, s3://BUCKET/FOLDER, az://CONTAINER/FOLDER or gs://BUCKET/FOLDER
    pub(super) lake: PathBuf,
    /// Print a line that names the command and the format, then one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct AddArgs {
    /// The lake: a folder, s3://BUCKET/FOLDER, az://CONTAINER/FOLDER or gs://BUCKET/FOLDER
    pub(super) lake: PathBuf,
    /// Extracts (.etwx), traces, folders, patterns such as "runs/**/*.etwx", or "@FILE" with one of
    /// these on each line
    #[arg(value_name = "EXTRACT", required = true)]
    pub(super) extracts: Vec<PathBuf>,
    /// Also search the folders below a folder
    #[arg(long, short)]
    pub(super) recursive: bool,
    #[command(flatten)]
    pub(super) chosen_by: WhereArgs,
    /// Print a line that names the command and the format, then one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// The lake: a folder, s3://BUCKET/FOLDER, az://CONTAINER/FOLDER or gs://BUCKET/FOLDER
    pub(super) lake: PathBuf,
    #[command(flatten)]
    pub(super) chosen_by: WhereArgs,
    /// Print a line that names the command and the format, then one JSON object for each run
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct DropArgs {
    /// The lake: a folder, s3://BUCKET/FOLDER, az://CONTAINER/FOLDER or gs://BUCKET/FOLDER
    pub(super) lake: PathBuf,
    /// Runs to drop, as an SQL condition on their labels, computer, start_utc, name, detail and
    /// others: "start_utc < '2026-09-01'"
    #[arg(long = "where", value_name = "CONDITION")]
    pub(super) condition: String,
    /// Only list the runs that would be dropped
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Print a line that names the command and the format, then one JSON object for each run
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct CompactArgs {
    /// The lake: a folder, s3://BUCKET/FOLDER, az://CONTAINER/FOLDER or gs://BUCKET/FOLDER
    pub(super) lake: PathBuf,
    /// Leave out rows that belong to no run only if they are at least this many days old: newer ones
    /// may belong to a command that is running
    #[arg(long, value_name = "DAYS", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(..=36_500))]
    pub(super) older_than: u32,
    /// Print a line that names the command and the format, then one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct VacuumArgs {
    /// The lake: a folder, s3://BUCKET/FOLDER, az://CONTAINER/FOLDER or gs://BUCKET/FOLDER
    pub(super) lake: PathBuf,
    /// Delete only files that no table has had for this many days: newer ones may belong to a command
    /// that is running
    #[arg(long, value_name = "DAYS", default_value_t = 7,
          value_parser = clap::value_parser!(u32).range(..=36_500))]
    pub(super) older_than: u32,
    /// Print a line that names the command and the format, then one JSON object
    #[arg(long)]
    pub(super) json: bool,
}
