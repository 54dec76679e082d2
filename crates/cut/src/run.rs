//! The command: opens the trace, cuts it, and publishes the new file.

use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use etwkit_extract::{Input, Limits, Options as OpenOptions, open};
use etwkit_terminal::errors::advised;
use etwkit_trace::import::Range;
use etwkit_trace::report::events::NameFilter;

use crate::args::{CutArgs, RedactWhat};
use crate::cut::{Cut, CutError, OnProgress, Options, cut};
use crate::event_choice::Choice;
use crate::map;

/// Finds a part of the time in a trace.
pub type FindRange<'a> = dyn Fn(&str, &Input) -> Result<Range> + 'a;

/// Parsers for words of the command line, shared with all commands.
pub struct ArgumentParsers<'a> {
    /// A part of the time.
    pub range: &'a FindRange<'a>,
    /// A list of names.
    pub names: &'a dyn Fn(&str) -> NameFilter<'static>,
}

/// Output files as the program writes them: each is complete or absent.
pub trait OutFiles {
    /// A file that is being written. Dropping it leaves an older file unchanged.
    type File: Write + Seek;

    /// Rejects a path that may not be replaced.
    ///
    /// # Errors
    /// It may not be replaced.
    fn check(&self, path: &Path) -> Result<()>;

    /// Starts to write.
    ///
    /// # Errors
    /// The path may not be replaced, or nothing can be written there.
    fn create(&self, path: &Path) -> Result<Self::File>;

    /// Gives a complete file its name.
    ///
    /// # Errors
    /// It cannot be written.
    fn keep(&self, file: Self::File, path: &Path) -> Result<()>;
}

/// The result of the command.
#[derive(Debug)]
pub struct CutOutcome {
    /// Names of the files that were read.
    pub traces: Vec<String>,
    /// The new trace.
    pub out: PathBuf,
    /// Bytes of the files that were read, unpacked, and of the new one.
    pub sizes: (u64, u64),
    /// Counts of kept and dropped events, and damage.
    pub cut: Cut,
}

/// Cuts traces; `None` if it was interrupted, which leaves nothing. `map` gets the table of
/// substitutes.
///
/// # Errors
/// A trace cannot be read, an argument is wrong, or the new trace cannot be written.
pub fn run(
    args: &CutArgs,
    map: Option<&Path>,
    parsers: &ArgumentParsers<'_>,
    files: &impl OutFiles,
    progress: &mut OnProgress<'_>,
) -> Result<Option<CutOutcome>> {
    let Some(target) = &args.out else {
        bail!("--out is missing");
    };
    if let Some(map) = map {
        check_map(args, map)?;
    }
    // Before the trace is read, which may take minutes.
    files.check(target)?;
    // Independent of `--force`: nobody wants to lose the recording.
    refuse_own_input(args, target)?;
    let input = opened(args)?;
    let options = options(args, parsers, &input)?;
    let out = files.create(target)?;
    let (cut, out) = match cut(input.session(), &options, out, progress) {
        Ok(done) => done,
        Err(CutError::Interrupted) => return Ok(None),
        Err(error) => return Err(failed(error, &input)),
    };
    // Before the trace is there: without its table, its names are lost.
    if let Some(map) = map {
        map::write(map, &cut.substitutes)?;
    }
    files.keep(out, target)?;
    let written = target
        .metadata()
        .with_context(|| format!("cannot write {}", target.display()))?
        .len();
    Ok(Some(CutOutcome {
        traces: labels(&input),
        out: target.clone(),
        sizes: (size(&input), written),
        cut,
    }))
}

/// Redacts traces without writing anything, and returns what it would do; `None` if it was
/// interrupted.
///
/// # Errors
/// A trace cannot be read, or an argument is wrong.
pub fn check(
    args: &CutArgs,
    parsers: &ArgumentParsers<'_>,
    progress: &mut OnProgress<'_>,
) -> Result<Option<CutOutcome>> {
    let input = opened(args)?;
    let options = options(args, parsers, &input)?;
    // Written to nowhere, so that the check does exactly what the cut would do.
    match cut(input.session(), &options, Nowhere::default(), progress) {
        Ok((cut, _)) => Ok(Some(CutOutcome {
            traces: labels(&input),
            out: PathBuf::new(),
            sizes: (size(&input), 0),
            cut,
        })),
        Err(CutError::Interrupted) => Ok(None),
        Err(error) => Err(failed(error, &input)),
    }
}

fn check_map(args: &CutArgs, map: &Path) -> Result<()> {
    if args.redact != Some(RedactWhat::Private) {
        let message = "--map: without --redact, no name is replaced";
        return Err(advised(message, "add --redact"));
    }
    map::check_new(map)
}

fn opened(args: &CutArgs) -> Result<Input> {
    for (option, text) in [("process", &args.process), ("provider", &args.provider)] {
        if text
            .as_deref()
            .is_some_and(|text| text.split(';').all(|part| part.trim().is_empty()))
        {
            // An empty variable in a script must not pass on the whole trace.
            bail!(
                "--{option} {:?}: expected a name",
                text.as_deref().unwrap_or("")
            );
        }
    }
    let limits = Limits {
        total_bytes: args.max_unpacked.saturating_mul(1 << 30),
        ..Limits::default()
    };
    // Members of archives are unpacked, and that may be more than the user expects.
    let options = OpenOptions {
        mmap: !args.no_mmap,
        limits,
        ..OpenOptions::default()
    };
    Ok(open(&args.traces, &options)?)
}

fn options(args: &CutArgs, parsers: &ArgumentParsers<'_>, input: &Input) -> Result<Options> {
    Ok(Options {
        range: args
            .range
            .as_deref()
            .map(|text| (parsers.range)(text, input))
            .transpose()?,
        choice: Choice {
            process: args.process.as_deref().map(|text| (parsers.names)(text)),
            provider: args.provider.as_deref().map(|text| (parsers.names)(text)),
        },
        redact: args.redact.map(Into::into),
    })
}

fn failed(error: CutError, input: &Input) -> anyhow::Error {
    anyhow::Error::from(error).context(format!("cannot cut {}", label(input)))
}

fn labels(input: &Input) -> Vec<String> {
    input
        .parts()
        .iter()
        .map(etwkit_extract::SessionFile::label)
        .collect()
}

fn size(input: &Input) -> u64 {
    input.parts().iter().map(|part| part.size).sum()
}

/// A file that is not written.
#[derive(Debug, Default)]
struct Nowhere {
    position: u64,
    end: u64,
}

impl Write for Nowhere {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.position = self.position.saturating_add(bytes.len() as u64);
        self.end = self.end.max(self.position);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Nowhere {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.end.checked_add_signed(by),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

fn label(input: &Input) -> String {
    input
        .parts()
        .first()
        .map_or_else(String::new, etwkit_extract::SessionFile::label)
}

/// An input trace must not be replaced, independent of the program that wrote it.
fn refuse_own_input(args: &CutArgs, target: &Path) -> Result<()> {
    let Ok(out) = target.canonicalize() else {
        return Ok(());
    };
    if args
        .traces
        .iter()
        // By the resolved path, since a link would hide it.
        .any(|trace| trace.canonicalize().is_ok_and(|trace| trace == out))
    {
        let message = format!("{} is a trace that is read", target.display());
        return Err(advised(message, "--out names another file"));
    }
    Ok(())
}
