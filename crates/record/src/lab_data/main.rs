//! `etwkit-lab-data`: workloads of case studies whose libraries take long to build, and which
//! therefore are no part of `etwkit lab`.
//!
//! ```text
//! args ─► import | serializers ─► rows ─► a table, CSV on request, and which recording shows it
//! ```

#![forbid(unsafe_code)]

mod formats;
mod import;
mod rows;
mod serializers;
mod shelf;

use std::io::{self, BufWriter};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use etwkit_terminal::errors::{Advised, Errors, hint_of_system};
use etwkit_terminal::{Exit, Lines, interrupt};
use indicatif::{ProgressBar, ProgressStyle};

/// Import into SQLite, and compare serializers: workloads of case studies about slow machines.
#[derive(Debug, Parser)]
#[command(
    name = "etwkit-lab-data",
    version,
    propagate_version = false,
    arg_required_else_help = true
)]
struct Cli {
    #[command(subcommand)]
    workload: Workload,
    /// Write the rows into this new file, too
    #[arg(long, global = true, value_name = "FILE")]
    csv: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Workload {
    /// Fill a database of SQLite in each of some folders, waiting for the disk in each of three
    /// ways
    #[command(arg_required_else_help = true)]
    Import(import::ImportArgs),
    /// Write and read the same objects in well-known formats: time, size, and the first call of a
    /// process
    Serializers(serializers::SerializersArgs),
    /// One object in a new process, for the first call
    #[command(hide = true)]
    First {
        /// The format
        format: String,
    },
}

fn main() -> ExitCode {
    interrupt::install();
    let mut out = BufWriter::new(io::stdout());
    let mut lines = Lines::new(&mut out);
    let answered = Cli::try_parse()
        .map_err(Err)
        .and_then(|cli| answer(&cli, &mut lines).map_err(Ok));
    match answered.and_then(|()| lines.flush().map_err(|error| Ok(error.into()))) {
        Ok(()) => Exit::Answered.into(),
        Err(Ok(error)) => said(&error).into(),
        Err(Err(usage)) => {
            // If it cannot be printed, there is no reader left to report that to.
            let _ = usage.print();
            if usage.use_stderr() {
                Exit::Error.into()
            } else {
                Exit::Answered.into()
            }
        }
    }
}

fn answer(cli: &Cli, lines: &mut Lines<'_>) -> Result<()> {
    if let Workload::First { format } = &cli.workload {
        return Ok(lines.line(&serializers::first(format)?.to_string())?);
    }
    // Created now, since the workload can take long.
    let csv = cli.csv.as_deref().map(rows::create).transpose()?;
    // Without a terminal, no progress bar is drawn.
    let bar = ProgressBar::new(0).with_style(style());
    let progress = |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    };
    let seen_by = match &cli.workload {
        Workload::Import(amount) => {
            let rows = amount.run(&progress);
            bar.finish_and_clear();
            rows?.print(lines, csv)?;
            "etwkit run import --record file --record disk -- etwkit-lab-data import …; then etwkit dump disk"
        }
        Workload::Serializers(amount) => {
            let rows = amount.run(&progress);
            bar.finish_and_clear();
            rows?.print(lines, csv)?;
            "etwkit run serializers --record cpu --record cswitch --record file -- etwkit-lab-data serializers …; \
             then etwkit dump cpu"
        }
        Workload::First { .. } => return Ok(()),
    };
    lines.flush()?;
    Errors {
        out: &mut io::stderr(),
        is_colored: false,
    }
    .note(&format!("To see it on Windows: {seen_by}"));
    Ok(())
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{bar:20} {percent:>3} %, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}

fn said(error: &anyhow::Error) -> Exit {
    let of_system = || {
        error
            .chain()
            .find_map(|cause| cause.downcast_ref().and_then(hint_of_system))
    };
    let hint = match error
        .chain()
        .find_map(|cause| cause.downcast_ref::<Advised>())
    {
        Some(advised) => &advised.hint,
        None => of_system().unwrap_or("`etwkit-lab-data WORKLOAD --help` lists the arguments"),
    };
    Errors {
        out: &mut io::stderr(),
        is_colored: false,
    }
    .error(error, hint);
    Exit::Error
}
