//! `etwkit dump time`: a time of a log or of another trace, as time of these.

use clap::Args;
use etwkit_query::dump::clock::Written;
use etwkit_query::dump::trace::TraceInfo;
use etwkit_query::time_format::{MAX_DIGITS, TimeFormat, TimeWriter};
use serde::Serialize;

use super::args::Common;
use super::output::{Lines, ask, exit, machine};
use super::text::moment;
use crate::exit::Exit;
use crate::printer::Printer;

#[derive(Debug, Args)]
pub(crate) struct TimeArgs {
    #[command(flatten)]
    common: Common,
    /// Seconds since the start (12.5), a time of day (17:47:38.416) or a date with time (2022-10-02 17:47:38), of the recorded machine unless +02:00 or
    /// Z stands behind it
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    time: String,
}

/// The time in a trace.
#[derive(Debug, Serialize)]
struct TimeRow {
    /// Nanoseconds since its start.
    ts_ns: i64,
    /// On the recorded machine.
    local_time: String,
    utc_time: String,
    /// Whether the time of day only fits as UTC.
    is_utc: bool,
}

pub(super) fn run(args: &TimeArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let written: Written = args.time.parse()?;
    let answers = ask(&args.common, "dump time", printer, |session| {
        let info = TraceInfo::ask(session)?;
        Ok(written.place(info.clock(), info.duration_ns).map(|place| {
            let write = |format| TimeWriter::new(format, MAX_DIGITS, info.clock()).write(place.ts_ns);
            TimeRow {
                ts_ns: place.ts_ns,
                local_time: write(TimeFormat::Local),
                utc_time: write(TimeFormat::Utc),
                is_utc: place.is_utc,
            }
        }))
    })?;
    let rows = answers.iter().filter_map(|one| Some((&one.info, one.answer.as_ref()?)));
    let count = rows.clone().count();
    if !machine(&args.common, printer, rows.clone())? {
        let mut lines = Lines::new(&args.common, printer);
        for (info, row) in rows {
            let note = if row.is_utc { ", where it was taken as UTC" } else { "" };
            lines.line(&format!(
                "{} s  {} local  {} UTC  {}{note}",
                moment(row.ts_ns, MAX_DIGITS),
                row.local_time,
                row.utc_time,
                info.file_name
            ))?;
        }
        if count == 0 {
            lines.line(&format!("No recording ran at {}", args.time))?;
        }
    }
    Ok(exit(count))
}
