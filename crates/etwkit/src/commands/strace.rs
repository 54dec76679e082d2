//! `etwkit strace`: system calls as lines, in the way of the tool of that name.

use std::path::PathBuf;

use clap::Args;
use etwkit_query::dump::syscall::{SyscallCall, SyscallRequest, SyscallRow, SyscallSort, function_name};
use etwkit_query::dump::{FromRows, ProcessQuery};
use etwkit_query::question::Question;
use etwkit_query::range::Range;
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
    /// Only calls that began in this part of the trace (s): A..B, A.. or ..B
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    range: Option<String>,
    #[command(flatten)]
    pub(crate) names: NameArgs,
}

impl StraceArgs {
    /// The question that is asked; `strace` is another look at it.
    fn request(&self, time: Range) -> SyscallRequest {
        // The tool of that name takes `trace=CALLS`, too.
        let calls = self.calls.as_deref().map(|calls| calls.trim_start_matches("trace=").replace(',', ";"));
        SyscallRequest {
            processes: ProcessQuery { process: self.process.clone(), ..ProcessQuery::default() },
            function: calls,
            status: self.failed_only.then(|| "failed".to_owned()),
            time,
            details: !self.summary_only,
            sort: if self.summary_only { SyscallSort::Duration } else { SyscallSort::Time },
            ..SyscallRequest::default()
        }
    }
}

pub(crate) fn run(args: &StraceArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let time = TimeRange::parse(args.range.as_deref())?;
    let session = open_extracts(std::slice::from_ref(&args.trace), printer)?;
    let request = args.request(time.of_session(&session)?);
    request.form().check(&session)?;
    let calls = if args.summary_only {
        summary(request.sums(&session)?, printer)?
    } else {
        // A trace has millions of calls: they are printed as they come.
        let mut calls = 0;
        for batch in session.sql(&request.calls_sql())? {
            for call in SyscallCall::read(&batch?)? {
                printer.line(&line(&call))?;
                calls += 1;
            }
        }
        calls
    };
    Ok(if calls > 0 { Exit::Answered } else { Exit::Nothing })
}

/// A call: process and thread, time of the entry, function, result and time between entry and exit.
fn line(call: &SyscallCall) -> String {
    let pid = call.pid.map_or_else(|| "?".to_owned(), |pid| pid.to_string());
    let tid = call.tid.map_or_else(|| "?".to_owned(), |tid| tid.to_string());
    let time = call.enter_ns.or(call.exit_ns).map_or_else(|| "?".to_owned(), seconds);
    let name = function_name(call.module.as_deref(), call.function.as_deref());
    let text = match (call.enter_ns, call.exit_ns) {
        (Some(_), None) => format!("{name}({} <unfinished ...>", about(call)),
        (None, _) => format!("<... call resumed>) = {}", status(call)),
        (Some(_), Some(_)) => format!("{name}({}) = {}", about(call), status(call)),
    };
    let took = call.duration_ns.map(|ns| format!(" <{}>", seconds(ns))).unwrap_or_default();
    format!("[pid {pid}/{tid}] {time} {text}{took}")
}

/// What other events tell of the arguments: a file, a registry key, a handle.
fn about(call: &SyscallCall) -> String {
    let named = call.path.as_ref().or(call.key.as_ref()).map(|name| format!("\"{name}\""));
    named.or_else(|| call.handle.map(|handle| format!("{handle:#x}"))).unwrap_or_default()
}

fn status(call: &SyscallCall) -> String {
    let number = call.status.map(|status| format!("{:#x}", status as u32));
    match (number, &call.status_name) {
        (Some(number), Some(name)) if *name != number => format!("{number} {name}"),
        (Some(number), _) => number,
        (None, _) => "?".to_owned(),
    }
}

/// Seconds with microseconds.
fn seconds(ns: i64) -> String {
    let us = ns.div_euclid(1000);
    format!("{}.{:06}", us.div_euclid(1_000_000), us.rem_euclid(1_000_000))
}

/// The table of `strace -c`, largest first. Returns how many calls there are.
fn summary(mut rows: Vec<SyscallRow>, printer: &mut Printer<'_>) -> anyhow::Result<i64> {
    rows.reverse();
    let sum = |of: fn(&SyscallRow) -> i64| rows.iter().map(of).fold(0, i64::saturating_add);
    let (total, calls, errors) = (sum(|row| row.duration_ns), sum(|row| row.count), sum(|row| row.failures));
    let cells = |ns: i64, calls: i64, errors: i64, name: String| {
        [
            format!("{:.2}", ns as f64 * 100.0 / total.max(1) as f64),
            seconds(ns),
            ns.checked_div(calls).map(|ns| (ns / 1000).to_string()).unwrap_or_default(),
            calls.to_string(),
            if errors > 0 { errors.to_string() } else { String::new() },
            name,
        ]
    };
    let functions = rows.iter().map(|row| {
        let name = function_name(row.module.as_deref(), row.function.as_deref());
        cells(row.duration_ns, row.count, row.failures, name)
    });
    let all = functions.chain([cells(total, calls, errors, "total".to_owned())]);
    printer.table(&Table::of("% time>|seconds>|usecs/call>|calls>|errors>|syscall", all))?;
    Ok(calls)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_look_like_those_of_strace() {
        let call = SyscallCall {
            enter_ns: Some(1_500_000_999),
            exit_ns: Some(1_500_045_000),
            duration_ns: Some(44_001),
            pid: Some(4),
            tid: Some(8),
            function: Some("NtCreateFile".into()),
            status: Some(i64::from(0xC000_0022_u32.cast_signed())),
            status_name: Some("ACCESS_DENIED".into()),
            ..SyscallCall::default()
        };
        assert_eq!(line(&call), "[pid 4/8] 1.500000 NtCreateFile() = 0xc0000022 ACCESS_DENIED <0.000044>");
        let named = SyscallCall { path: Some(r"C:\a.txt".into()), handle: Some(0x44), ..call.clone() };
        assert!(line(&named).contains(r#"NtCreateFile("C:\a.txt") = 0xc0000022"#), "{}", line(&named));
        let closed = SyscallCall { handle: Some(0x44), ..call.clone() };
        assert!(line(&closed).contains("NtCreateFile(0x44) = "), "{}", line(&closed));
        let open = SyscallCall { exit_ns: None, duration_ns: None, status: None, ..call.clone() };
        assert_eq!(line(&open), "[pid 4/8] 1.500000 NtCreateFile( <unfinished ...>");
        let late = SyscallCall { enter_ns: None, duration_ns: None, function: None, pid: None, ..call };
        assert_eq!(line(&late), "[pid ?/8] 1.500045 <... call resumed>) = 0xc0000022 ACCESS_DENIED");
    }
}
