//! `etwkit extract`: traces become extracts, several at a time.

mod findings;
mod into_lake;
mod json;
mod kept;
pub(crate) mod label;
mod plan;
pub(super) mod progress;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use etwkit_base::ordered::{Workers, processors};
use etwkit_engine::{Error, InputKind, KeptAnswers, described};
use etwkit_extract::left_out::listed_in_manifest;
use etwkit_extract::manifest::Detail as Kept;
use etwkit_extract::writer::WrittenTable;
use etwkit_extract::{
    ConvertOptions, Converted, Described, Extract, FromForeign, NameFrom, Packing, WriteSummary,
    convert, convert_with_tags, default_target,
};
use etwkit_question::numbers::Numbers;
use etwkit_terminal::errors::advised;
use etwkit_terminal::interrupt::Stoppable;
use etwkit_terminal::{Exit, Table};
use etwkit_trace::import::Range;
use etwkit_trace::table::Diagnostic;
use etwkit_trace::tags::TagSet;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli::{Detail, ExtractArgs};
use crate::commands::symbols::summary_line;
use crate::input::{self, Files};
use crate::printer::{Printer, grouped};
use crate::report::{self, Failures};
use crate::symbols;
use crate::time_range::TimeRange;
use into_lake::IntoLake;
use plan::Job;
use progress::Bars;

/// Temporary extracts that may wait for one before them, for each thread.
const AHEAD: usize = 4;

/// The outcome of extracting one trace.
enum Outcome {
    Extracted(Box<Converted>, Duration),
    Imported(Box<FromForeign>, Duration),
    Kept,
    Interrupted,
}

impl Outcome {
    /// Returns the bytes of the tables that were written.
    fn bytes(&self) -> u64 {
        match self {
            Self::Extracted(converted, _) => size(&converted.written),
            Self::Imported(imported, _) => size(&imported.written),
            Self::Kept | Self::Interrupted => 0,
        }
    }
}

pub(crate) fn run(args: &ExtractArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    if args.json {
        printer.json_start("extract");
    }
    args.symbols
        .notes()
        .iter()
        .for_each(|note| printer.note(note));
    let mut failures = Failures::default();
    let sets = args.tags.sets(printer)?;
    let wants_notes = printer.wants_notes();
    let temporary = into_lake::temporary_folder(args)?;
    let mut lake = args.lake.as_deref().map(IntoLake::open).transpose()?;
    let from = (args, temporary.as_ref().map(TempDir::path));
    let exit = each(from, &sets, wants_notes, &mut |job, outcome, bars| {
        failures.traces += 1;
        match outcome {
            Ok(outcome) => bars.suspend(|| {
                print(job, &outcome, args.json, printer)?;
                if let Some(lake) = &mut lake {
                    lake.take(job, outcome.bytes(), printer);
                }
                anyhow::Ok(())
            })?,
            // The others continue: one failure must not waste a night of extractions.
            Err(error) => {
                if args.json {
                    let hint = report::hint(&error, report::HELP);
                    let text = format!("{error:#}");
                    printer.json(
                        &json!({"trace": job.label(), "extract": job.kept(), "error": text, "hint": hint}),
                    )?;
                }
                bars.warn(&format!("{}: {error:#}", job.label()));
                failures.all.push((job.label(), error));
            }
        }
        Ok(())
    })?;
    if let Some(lake) = lake {
        lake.finish(args.json, printer)?;
    }
    match failures.all.pop() {
        None => Ok(exit),
        // The only trace needs no name.
        Some((_, error)) if failures.traces == 1 => Err(error),
        Some(last) => {
            failures.all.push(last);
            Err(failures.into())
        }
    }
}

/// Receives the outcome of each trace.
type OnDone<'a> = dyn FnMut(&Job, anyhow::Result<Outcome>, &Bars) -> anyhow::Result<()> + 'a;

/// Creates all extracts, and reports the outcome of each as soon as it and the previous ones are
/// finished.
fn each(
    (args, temporary): (&ExtractArgs, Option<&Path>),
    sets: &[TagSet],
    wants_notes: bool,
    on_done: &mut OnDone<'_>,
) -> anyhow::Result<Exit> {
    if args.out.is_none()
        && args
            .traces
            .traces
            .iter()
            .any(|path| input::is_standard_input(path))
    {
        let message = "the standard input (-) has no name that its extract could have";
        return Err(advised(message, "--out NAME.etwx gives it one"));
    }
    // An invalid range is rejected before anything is read.
    TimeRange::parse(args.range.as_deref())?;
    // Held until the end: the standard input is a temporary file, which is removed with this value.
    let files = Files::of(&args.traces, InputKind::Sources)?;
    let jobs = plan::jobs(args, temporary, &files.paths)?;
    let described = described(&args.descriptions.read()?)?;
    let labels = label::all(&args.labels);
    let detail = match args.detail {
        Detail::Full => Kept::Full,
        Detail::Summary => Kept::Summary,
    };
    let left_out = kept::left_out(args.tables.as_deref(), detail)?;
    let options = ConvertOptions {
        detail,
        range: Range::ALL,
        keep_whole: args.keep_whole,
        keep_payload: !args.no_payload,
        no_overwrite: args.no_overwrite,
        no_empty: args.no_empty,
        names: None,
        described: Some(&described),
        labels: Some(&labels),
        left_out: left_out.as_ref(),
    };
    let workers = workers(threads(args), temporary.is_some());
    let bars = Bars::new(jobs.len(), wants_notes);
    let mut exit = Exit::Answered;
    // Traces are reported in the order in which they were named, however long each takes.
    workers.map(
        &jobs,
        |job| one(job, args, options, sets, &bars),
        |job, outcome| {
            match outcome {
                Ok(Outcome::Interrupted) => exit = Exit::Interrupted,
                outcome => on_done(job, outcome, &bars)?,
            }
            anyhow::Ok(())
        },
    )?;
    Ok(exit)
}

/// The number of traces that are extracted at the same time.
fn threads(args: &ExtractArgs) -> usize {
    args.jobs.map_or_else(processors, |jobs| jobs as usize)
}

/// The workers of all traces. Extracts that are removed after they were added to a lake must not fill
/// the disk, however long the first one takes.
const fn workers(threads: usize, are_temporary: bool) -> Workers {
    let jobs_ahead = if are_temporary {
        AHEAD.saturating_mul(threads)
    } else {
        usize::MAX
    };
    Workers {
        threads,
        jobs_ahead,
    }
}

/// The outcome of extracting one trace, for callers that print their own text.
pub(crate) struct ExtractedTrace<'a> {
    /// The trace.
    pub(crate) trace: String,
    /// Its extract.
    pub(crate) target: &'a Path,
    /// True if an existing extract was kept; or the reason why there is none.
    pub(crate) kept: Result<bool, String>,
}

/// Creates all extracts as [`run`] does, and lets the caller report them, between the lines of the
/// progress display.
pub(crate) fn run_reporting(
    args: &ExtractArgs,
    sets: &[TagSet],
    on_done: &mut dyn FnMut(&ExtractedTrace<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<Exit> {
    // The caller writes lines of its own.
    each((args, None), sets, false, &mut |job, outcome, bars| {
        let kept = outcome
            .map(|outcome| matches!(outcome, Outcome::Kept))
            .map_err(|error| format!("{error:#}"));
        let done = ExtractedTrace {
            trace: job.label(),
            target: &job.target,
            kept,
        };
        bars.suspend(|| on_done(&done))
    })
}

fn one(
    job: &Job,
    args: &ExtractArgs,
    options: ConvertOptions<'_>,
    sets: &[TagSet],
    bars: &Bars,
) -> anyhow::Result<Outcome> {
    let stoppable = Stoppable::begin();
    // Ctrl-C stops the traces that are being read; the queued ones end here.
    if stoppable.is_asked_to_stop() {
        return Ok(Outcome::Interrupted);
    }
    if is_packed(&job.target) {
        return packed(job, args, options, sets, bars);
    }
    if json::is_meant(job) {
        return json::import(job, args);
    }
    let start = Instant::now();
    let input = input::open_paths(&job.traces, &args.traces)?;
    let mut labels = None;
    if options.no_overwrite {
        let hash = input.source_hash()?;
        if is_there(&job.target, &hash, (args, &options)) {
            return Ok(Outcome::Kept);
        }
        labels = labels_to_keep(&job.target, &hash, args);
    }
    let size: u64 = input.parts().iter().map(|part| part.size).sum();
    let mut bar = bars.start(&job.label(), size);
    let symbols_bar = bars.symbols();
    let on_symbols = |name: &str, event: etwkit_symbols::Event<'_>| symbols_bar.event(name, event);
    let beside = job.traces.first().unwrap_or(&job.target);
    let path = args.symbols.path(beside, &[]);
    let symbol_options = symbols::options(&path, false);
    let names = NameFrom {
        path,
        options: symbol_options,
        on_symbols: &on_symbols,
    };
    let range = TimeRange::parse(args.range.as_deref())?.of(&input)?;
    let options = ConvertOptions {
        names: Some(&names),
        range,
        labels: labels.as_ref().or(options.labels),
        ..options
    };
    let mut convert = |target: &Path, options: ConvertOptions<'_>| {
        convert_with_tags(&input, target, options, sets, &mut |progress| {
            bar.set(progress, &stoppable)
        })
    };
    let kept = kept_answers(args);
    let converted = if kept.is_any() {
        findings::diagnosed(
            (&job.target, kept),
            (options, sets),
            (&stoppable, threads(args)),
            &mut convert,
        )
    } else {
        convert(&job.target, options).map_err(Into::into)
    };
    match converted {
        Ok(converted) if converted.written.kept => Ok(Outcome::Kept),
        Ok(converted) => Ok(Outcome::Extracted(Box::new(converted), start.elapsed())),
        Err(error) if error.is_cancelled() => Ok(Outcome::Interrupted),
        // Errors of a conversion are the same with and without answers that are kept.
        Err(Error::Convert(error)) => Err(error.into()),
        Err(error) => Err(error.into()),
    }
}

/// The answers that extracts should keep.
const fn kept_answers(args: &ExtractArgs) -> KeptAnswers {
    KeptAnswers {
        findings: args.findings,
        features: args.features,
    }
}

/// True if an extract with the same source and options exists. One without findings, or with those of
/// other rules, is not the same if findings are wanted, and so for features; nor is one with other labels if
/// labels are given.
fn is_there(
    target: &Path,
    hash: &str,
    (args, options): (&ExtractArgs, &ConvertOptions<'_>),
) -> bool {
    let descriptions = options.described.and_then(Described::hash);
    let left_out = listed_in_manifest(options.left_out.cloned().unwrap_or_default());
    let extract =
        Extract::same_source_without(target, hash, options.detail, descriptions, &left_out);
    extract.is_some_and(|extract| {
        let manifest = extract.manifest();
        manifest.has_labels(&label::all(&args.labels)) && kept_answers(args).are_in(manifest)
    })
}

/// The labels of an extract of that trace that is there and has to be replaced; `None` if there is none, or
/// if new labels are given.
fn labels_to_keep(
    target: &Path,
    hash: &str,
    args: &ExtractArgs,
) -> Option<BTreeMap<String, String>> {
    if !args.labels.is_empty() {
        return None;
    }
    let extract = Extract::open(target).ok()?;
    let manifest = extract.manifest();
    (manifest.source.hash == hash).then(|| manifest.labels.clone())
}

/// True if an extract is written as one file.
fn is_packed(target: &Path) -> bool {
    target
        .file_name()
        .is_some_and(|name| name.to_string_lossy().to_lowercase().ends_with(".etwx.zip"))
}

/// Creates an extract as one file.
fn packed(
    job: &Job,
    args: &ExtractArgs,
    options: ConvertOptions<'_>,
    sets: &[TagSet],
    bars: &Bars,
) -> anyhow::Result<Outcome> {
    // Checked here, because the folder that is packed afterwards is always new.
    let mut labels = None;
    if options.no_overwrite && !json::is_meant(job) {
        let hash = input::open_paths(&job.traces, &args.traces)?.source_hash()?;
        if is_there(&job.target, &hash, (args, &options)) {
            return Ok(Outcome::Kept);
        }
        labels = labels_to_keep(&job.target, &hash, args);
    }
    let options = ConvertOptions {
        labels: labels.as_ref().or(options.labels),
        ..options
    };
    let packing = Packing::begin(&job.target)?;
    let unpacked = Job {
        target: packing.folder(),
        ..job.clone()
    };
    // The archive gets its name only if it contains an extract: an interrupted job leaves no file.
    let outcome = one(&unpacked, args, options, sets, bars)?;
    if matches!(outcome, Outcome::Extracted(..) | Outcome::Imported(..)) {
        packing.finish()?;
    }
    Ok(outcome)
}

fn print(
    job: &Job,
    outcome: &Outcome,
    json: bool,
    printer: &mut Printer<'_>,
) -> anyhow::Result<()> {
    match (outcome, json) {
        (Outcome::Extracted(converted, took), true) => {
            Ok(printer.json(&object(job, converted, *took))?)
        }
        (Outcome::Extracted(converted, took), false) => text(job, converted, *took, printer),
        (Outcome::Imported(imported, took), true) => {
            Ok(printer.json(&json::object(job, imported, *took))?)
        }
        (Outcome::Imported(imported, took), false) => json::text(job, imported, *took, printer),
        (Outcome::Kept | Outcome::Interrupted, true) => Ok(
            printer.json(&json!({"trace": job.label(), "extract": job.kept(), "kept": true}))?
        ),
        (Outcome::Kept | Outcome::Interrupted, false) => {
            Ok(printer.line(&format!("{} is up to date", job.place().display()))?)
        }
    }
}

/// Extracts one trace to a folder next to it with default options, unless that extract exists.
pub(crate) fn one_file(trace: &Path) -> anyhow::Result<PathBuf> {
    let input = input::open_plain(trace)?;
    let target = default_target(trace);
    if Extract::same_source(&target, &input.source_hash()?, Kept::Full).is_none() {
        let stoppable = Stoppable::begin();
        let bars = Bars::new(1, false);
        let mut bar = bars.start(
            &trace.display().to_string(),
            input.parts().iter().map(|part| part.size).sum(),
        );
        let names = symbols::names_beside(trace, &|_, _| {});
        let options = ConvertOptions {
            names: Some(&names),
            ..ConvertOptions::default()
        };
        convert(&input, &target, options, &mut |progress| {
            bar.set(progress, &stoppable)
        })?;
    }
    Ok(target)
}

/// Returns the bytes of all tables.
fn size(written: &WriteSummary) -> u64 {
    written.tables.iter().map(|table| table.bytes).sum()
}

/// Returns the tables for JSON.
fn tables(written: &WriteSummary) -> Vec<Value> {
    let table = |t: &WrittenTable| json!({"table": t.name, "rows": t.rows, "bytes": t.bytes, "derived": t.derived});
    written.tables.iter().map(table).collect()
}

/// Returns a table of the written tables, with rows and bytes.
fn listed(written: &WriteSummary) -> Table {
    let row = |t: &WrittenTable| {
        let each = format!("{:.1}", t.bytes as f64 / t.rows.max(1) as f64);
        let name = if t.derived {
            format!("{} (computed)", t.name)
        } else {
            t.name.clone()
        };
        [name, grouped(t.rows), grouped(t.bytes), each]
    };
    Table::of("table|rows>|bytes>|a row>", written.tables.iter().map(row))
}

fn ratio(of: i64, to: u64) -> f64 {
    of as f64 / to.max(1) as f64
}

fn object(job: &Job, converted: &Converted, took: Duration) -> Value {
    let trace = &converted.imported.trace;
    json!({
        "trace": job.label(),
        "extract": job.kept(),
        "kept": false,
        "events": trace.events,
        "trace_bytes": trace.size_bytes,
        "event_bytes": trace.decompressed_bytes,
        "extract_bytes": size(&converted.written),
        "ratio": ratio(trace.decompressed_bytes, size(&converted.written)),
        "seconds": took.as_secs_f64(),
        "tables": tables(&converted.written),
        "diagnostics": converted.imported.diagnostics.iter().map(diagnostic).collect::<Vec<_>>(),
    })
}

/// Returns a diagnostic for readers of the numbers, as JSON.
fn diagnostic(d: &Diagnostic) -> Value {
    json!({"severity": d.severity, "kind": d.kind, "count": d.count, "message": d.message})
}

fn text(
    job: &Job,
    converted: &Converted,
    took: Duration,
    printer: &mut Printer<'_>,
) -> anyhow::Result<()> {
    let trace = &converted.imported.trace;
    let bytes = size(&converted.written);
    printer.file(&format!("{} → {}", job.label(), job.place().display()))?;
    let per_second = trace.events as f64 / took.as_secs_f64().max(1e-9);
    printer.line(&format!(
        "  {} events, {} bytes of them, in {:.1} s ({} events/s)",
        grouped(trace.events.unsigned_abs()),
        grouped(trace.decompressed_bytes.unsigned_abs()),
        took.as_secs_f64(),
        grouped(per_second as u64),
    ))?;
    printer.line(&format!(
        "  {} bytes, {:.1} times smaller than the events",
        grouped(bytes),
        ratio(trace.decompressed_bytes, bytes)
    ))?;
    if let Some(naming) = converted
        .naming
        .as_ref()
        .filter(|naming| naming.found() > 0)
    {
        printer.line(&format!("  {}", summary_line(naming, Numbers::default())))?;
    }
    printer.table(&listed(&converted.written))?;
    let diagnostics = &converted.imported.diagnostics;
    diagnostics
        .iter()
        .try_for_each(|d| warning(&d.severity, &d.message, d.count, printer))
}

/// Prints a diagnostic for readers of the numbers, as text.
fn warning(
    severity: &str,
    message: &str,
    count: i64,
    printer: &mut Printer<'_>,
) -> anyhow::Result<()> {
    if severity == "info" {
        return Ok(());
    }
    Ok(printer.labelled(&format!(
        "  {severity}: {message} ({})",
        grouped(count.unsigned_abs())
    ))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_extracts_do_not_pile_up_behind_a_slow_one() {
        let ahead = |are_temporary| workers(2, are_temporary).jobs_ahead;
        assert_eq!((ahead(true), ahead(false)), (8, usize::MAX));
    }
}
