//! `etwkit strace`: system calls as lines, in the format of the tool with that name.

use std::path::{Path, PathBuf};

use clap::Args;
use etwkit_question::Question;
use etwkit_question::range::Range;
use etwkit_question::{FromRows, ProcessQuery};
use etwkit_questions::strace::{call_line, seconds};
use etwkit_questions::syscall::{
    SyscallCall, SyscallRequest, SyscallRow, SyscallSort, function_name,
};
use etwkit_terminal::{Exit, Table};

use crate::extracts::open_extracts;
use crate::printer::Printer;
use crate::rules::NameArgs;
use crate::time_range::TimeRange;

#[derive(Debug, Args)]
pub(crate) struct StraceArgs {
    /// A trace, which is extracted into a cache first, or an extract (NAME.etwx)
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    /// Only these processes: names with or without .exe, or ids (*, ?, several with ;, ! excludes)
    #[arg(short = 'p', long, value_name = "PROCESSES")]
    process: Option<String>,
    /// Only these calls: names (*, ?, several with comma or ;, ! excludes)
    #[arg(short = 'e', long = "expression", value_name = "CALLS")]
    calls: Option<String>,
    /// Only calls that failed
    #[arg(short = 'Z', long)]
    failed_only: bool,
    /// Count calls, errors and time of each function instead of listing calls
    #[arg(short = 'c', long)]
    summary_only: bool,
    /// Only calls that started in this part of the trace (s): A..B, A.. or ..B
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    range: Option<String>,
    #[command(flatten)]
    pub(crate) names: NameArgs,
}

impl StraceArgs {
    /// Returns the request; `strace` is another view of its answer.
    fn request(&self, time: Range) -> SyscallRequest {
        // The tool with this name also accepts `trace=CALLS`.
        let calls = self
            .calls
            .as_deref()
            .map(|calls| calls.trim_start_matches("trace=").replace(',', ";"));
        SyscallRequest {
            processes: ProcessQuery {
                process: self.process.clone(),
                ..ProcessQuery::default()
            },
            function: calls,
            status: self.failed_only.then(|| "failed".to_owned()),
            time,
            details: !self.summary_only,
            sort: if self.summary_only {
                SyscallSort::Duration
            } else {
                SyscallSort::Time
            },
            ..SyscallRequest::default()
        }
    }
}

pub(crate) fn run(args: &StraceArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let time = TimeRange::parse(args.range.as_deref())?;
    let session = open_extracts(std::slice::from_ref(&args.trace), printer)?;
    let request = args.request(time.of_session(&session)?);
    if let Err(why) = request.form().check(&session) {
        return without_calls(&args.trace, why, printer);
    }
    let calls = if args.summary_only {
        summary(request.sums(&session)?, printer)?
    } else {
        // A trace has millions of calls: they are printed as they come.
        let mut calls = 0;
        for batch in session.sql(&request.calls_sql())? {
            for call in SyscallCall::read(&batch?)? {
                printer.line(&call_line(&call))?;
                calls += 1;
            }
        }
        calls
    };
    Ok(if calls > 0 {
        Exit::Answered
    } else {
        Exit::Nothing
    })
}

/// Reports that the trace has no system calls.
fn without_calls(
    trace: &Path,
    why: etwkit_question::Error,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Exit> {
    if !why.is_nothing() {
        return Err(why.into());
    }
    printer.line(&format!("{}: {why}", trace.display()))?;
    printer.labelled(&format!("hint: {}", why.hint().unwrap_or("")))?;
    Ok(Exit::Nothing)
}

/// Prints the table of `strace -c`, largest first. Returns the number of calls.
fn summary(mut rows: Vec<SyscallRow>, printer: &mut Printer<'_>) -> anyhow::Result<i64> {
    // Our tables have their largest row at the end, next to the prompt.
    rows.reverse();
    let sum = |of: fn(&SyscallRow) -> i64| rows.iter().map(of).fold(0, i64::saturating_add);
    let total = sum(|row| row.duration_ns);
    let calls = sum(|row| row.count);
    let errors = sum(|row| row.failures);
    let cells = |ns: i64, calls: i64, errors: i64, name: String| {
        [
            format!("{:.2}", ns as f64 * 100.0 / total.max(1) as f64),
            seconds(ns),
            ns.checked_div(calls)
                .map_or_else(String::new, |ns| (ns / 1000).to_string()),
            calls.to_string(),
            if errors > 0 {
                errors.to_string()
            } else {
                String::new()
            },
            name,
        ]
    };
    let functions = rows.iter().map(|row| {
        let name = function_name(row.module.as_deref(), row.function.as_deref());
        cells(row.duration_ns, row.count, row.failures, name)
    });
    let all = functions.chain([cells(total, calls, errors, "total".to_owned())]);
    printer.table(&Table::of(
        "% time>|seconds>|usecs/call>|calls>|errors>|syscall",
        all,
    ))?;
    Ok(calls)
}
