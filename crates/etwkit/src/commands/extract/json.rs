//! `etwkit extract` of an extract of ETWAnalyzer.

use std::time::{Duration, Instant};

use anyhow::ensure;
use etwkit_base::digits::counted;
use etwkit_extract::json7z::{import_json, is_json_extract, open_json};
use etwkit_extract::manifest::{Detail, ETWANALYZER};
use etwkit_extract::{Extract, FromForeign, WriterOptions};
use serde_json::{Value, json};

use super::plan::Job;
use super::{Outcome, label, listed, size, tables, warning};
use crate::cli::ExtractArgs;
use crate::input;
use crate::printer::{Printer, grouped};

/// True if a job reads extracts of ETWAnalyzer.
pub(super) fn is_meant(job: &Job) -> bool {
    job.member.is_some() || job.traces.iter().any(|path| is_json_extract(path))
}

/// Imports the extract of ETWAnalyzer of a job. Options that select single events are rejected.
pub(super) fn import(job: &Job, args: &ExtractArgs) -> anyhow::Result<Outcome> {
    let [path] = job.traces.as_slice() else {
        anyhow::bail!(
            "--one-session puts traces together; an extract of ETWAnalyzer (JSON) is imported alone"
        );
    };
    ensure!(
        args.range.is_none(),
        "--range needs single events, and {} holds sums: extract a part of the trace itself",
        path.display()
    );
    ensure!(
        !args.tags.are_given(),
        "--stack-tag-file needs stacks, and {} holds sums by tag: extract the trace itself",
        path.display()
    );
    for (is_given, option) in [(args.features, "--features"), (args.findings, "--findings")] {
        ensure!(
            !is_given,
            "{option} needs single events, and {} holds sums: extract the trace itself",
            path.display()
        );
    }
    ensure!(
        args.tables.is_none(),
        "--tables chooses among the tables of a trace, and {} holds sums of one: extract the trace itself",
        path.display()
    );
    let start = Instant::now();
    let opened;
    let input = match &job.member {
        Some(member) => member.as_ref(),
        None => {
            opened = open_json(path, &input::options(&args.traces))?;
            &opened
        }
    };
    let labels = label::all(&args.labels);
    if args.no_overwrite
        && Extract::same_source(&job.target, &input.source_hash()?, Detail::Summary)
            .is_some_and(|extract| extract.manifest().has_labels(&labels))
    {
        return Ok(Outcome::Kept);
    }
    let options = WriterOptions {
        no_overwrite: args.no_overwrite,
        no_empty: args.no_empty,
        ..WriterOptions::default()
    };
    let imported = import_json(input, &job.target, options, labels)?;
    if imported.written.kept {
        return Ok(Outcome::Kept);
    }
    Ok(Outcome::Imported(Box::new(imported), start.elapsed()))
}

pub(super) fn object(job: &Job, imported: &FromForeign, took: Duration) -> Value {
    json!({
        "trace": job.label(),
        "extract": job.kept(),
        "kept": false,
        "imported_from": ETWANALYZER,
        "json_bytes": imported.trace.size_bytes,
        "extract_bytes": size(&imported.written),
        "seconds": took.as_secs_f64(),
        "tables": tables(&imported.written),
        "diagnostics": imported.diagnostics,
    })
}

pub(super) fn text(
    job: &Job,
    imported: &FromForeign,
    took: Duration,
    printer: &mut Printer<'_>,
) -> anyhow::Result<()> {
    printer.file(&format!("{} → {}", job.label(), job.place().display()))?;
    printer.line(&format!(
        "  imported from an extract of ETWAnalyzer, {} bytes of JSON, in {:.1} s: sums without single events",
        grouped(imported.trace.size_bytes.unsigned_abs()),
        took.as_secs_f64(),
    ))?;
    printer.table(&listed(&imported.written))?;
    let diagnostics = &imported.diagnostics;
    diagnostics
        .iter()
        .try_for_each(|d| warning(&d.severity, &d.message, d.count, printer))?;
    let left_out = imported
        .diagnostics
        .iter()
        .filter(|d| d.kind == "not_imported" || d.kind == "unknown_member");
    let count = left_out.count();
    if count > 0 {
        printer.line(&format!(
            "  {} no place in an extract: see its table diagnostic",
            counted(
                count as u64,
                ["kind of information has", "kinds of information have"]
            )
        ))?;
    }
    Ok(())
}
