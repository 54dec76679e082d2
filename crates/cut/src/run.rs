//! The command: opens the trace, cuts it, and publishes the new file.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use etwkit_extract::{Input, Limits, Options as OpenOptions, open};
use etwkit_files::out_file::{self, Replace};
use etwkit_terminal::errors::advised;
use etwkit_trace::import::Range;
use etwkit_trace::report::events::Wanted;

use crate::args::CutArgs;
use crate::chosen::Choice;
use crate::cut::{Cut, CutError, OnProgress, Options, cut};

/// Finds a part of the time in a trace.
pub type FindRange<'a> = dyn Fn(&str, &Input) -> Result<Range> + 'a;

/// Parsers for words of the command line, shared with all commands.
pub struct Asks<'a> {
    /// A part of the time.
    pub range: &'a FindRange<'a>,
    /// A list of names.
    pub names: &'a dyn Fn(&str) -> Wanted<'static>,
}

/// The result of the command.
#[derive(Debug)]
pub struct Done {
    /// Names of the files that were read.
    pub traces: Vec<String>,
    /// The new trace.
    pub out: PathBuf,
    /// Bytes of the files that were read, unpacked, and of the new one.
    pub sizes: (u64, u64),
    /// Counts of kept and dropped events, and damage.
    pub cut: Cut,
}

/// Cuts traces; `None` if it was interrupted, which leaves nothing.
///
/// # Errors
/// A trace cannot be read, an argument is wrong, or the new trace cannot be written.
pub fn run(args: &CutArgs, asks: &Asks<'_>, progress: &mut OnProgress<'_>) -> Result<Option<Done>> {
    for (option, text) in [("process", &args.process), ("provider", &args.provider)] {
        if text
            .as_deref()
            .is_some_and(|text| text.split(';').all(|part| part.trim().is_empty()))
        {
            // An empty variable in a script must not pass on the whole trace.
            bail!(
                "--{option} {:?}: expected a name",
                text.as_deref().unwrap_or_default()
            );
        }
    }
    let replace = if args.force {
        Replace::Cut
    } else {
        Replace::Nothing
    };
    out_file::check(&args.out, replace)?;
    refuse_own_input(args)?;
    let limits = Limits {
        total_bytes: args.max_unpacked.saturating_mul(1 << 30),
        ..Limits::default()
    };
    let input = open(
        &args.traces,
        &OpenOptions {
            mmap: !args.no_mmap,
            limits,
            ..OpenOptions::default()
        },
    )?;
    let options = Options {
        range: args
            .range
            .as_deref()
            .map(|text| (asks.range)(text, &input))
            .transpose()?,
        choice: Choice {
            process: args.process.as_deref().map(|text| (asks.names)(text)),
            provider: args.provider.as_deref().map(|text| (asks.names)(text)),
        },
        redact: args.redact,
    };
    let out = out_file::buffered(&args.out, replace)?;
    let (cut, out) = match cut(input.session(), &options, out, progress) {
        Ok(done) => done,
        Err(CutError::Interrupted) => return Ok(None),
        Err(error) => {
            return Err(anyhow::Error::from(error).context(format!("cannot cut {}", label(&input))));
        }
    };
    out_file::keep(out, &args.out)?;
    let read = input.parts().iter().map(|part| part.size).sum();
    let written = args
        .out
        .metadata()
        .with_context(|| out_file::cannot(&args.out))?
        .len();
    let traces = input
        .parts()
        .iter()
        .map(etwkit_extract::Part::label)
        .collect();
    Ok(Some(Done {
        traces,
        out: args.out.clone(),
        sizes: (read, written),
        cut,
    }))
}

fn label(input: &Input) -> String {
    input
        .parts()
        .first()
        .map(etwkit_extract::Part::label)
        .unwrap_or_default()
}

/// An input trace must not be replaced, independent of the program that wrote it.
fn refuse_own_input(args: &CutArgs) -> Result<()> {
    let Ok(out) = args.out.canonicalize() else {
        return Ok(());
    };
    if args
        .traces
        .iter()
        .any(|trace| trace.canonicalize().is_ok_and(|trace| trace == out))
    {
        let message = format!("{} is a trace that is read", args.out.display());
        return Err(advised(message, "--out names another file"));
    }
    Ok(())
}
