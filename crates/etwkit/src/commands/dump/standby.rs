//! `etwkit dump standby`.

use clap::Args;
use etwkit_query::dump::standby::{StandbyRequest, StandbyRow, StandbySort};
use etwkit_query::range::Unit;

use super::args::{Common, TopArgs, range, word};
use super::output::{Columns, listed, show_sql};
use super::text::{Text, duration};
use crate::exit::Exit;
use crate::printer::Printer;

const SORTS: &[(&str, StandbySort)] = &[
    ("time", StandbySort::Time),
    ("duration", StandbySort::Duration),
    ("non-drips", StandbySort::NonDrips),
    ("drain", StandbySort::Drain),
];

#[derive(Debug, Args)]
pub(crate) struct StandbyArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    top: TopArgs,
    /// Only stays that overlap with this part of the trace (s)
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    range: Option<String>,
    /// Only stays of such a length (s)
    #[arg(long, value_name = "A..B")]
    duration: Option<String>,
    /// Order: time, length, time outside the deepest idle state, drain of the battery
    #[arg(long, value_name = "ORDER", value_parser = word(SORTS), default_value = "time")]
    sort_by: StandbySort,
}

impl StandbyArgs {
    fn columns<'a>(&'a self, text: &'a Text) -> anyhow::Result<Columns<'a, StandbyRow>> {
        let mut columns = Columns::new();
        let time =
            |ns: Option<i64>, missing: &str| ns.map_or_else(|| missing.to_owned(), |ns| text.times.write(ns));
        let length = |ns: Option<i64>| ns.map(duration).unwrap_or_default();
        let flag = |flag: Option<bool>| {
            flag.map(|flag| if flag { "yes" } else { "no" }.to_owned()).unwrap_or_default()
        };
        columns.number("Enter", "Enter", true, move |row: &StandbyRow| time(row.enter_ns, "before"));
        columns.number("Exit", "Exit", true, move |row| time(row.exit_ns, "open"));
        columns.number("Duration", "Duration", true, move |row| {
            length(row.told_duration_ns.or(row.duration_ns))
        });
        columns.number("Drips", "DRIPS", true, move |row| length(row.drips_ns));
        columns.number("DripsPercent", "DRIPS %", true, |row| {
            text.maybe_fixed(row.drips_ratio.map(|ratio| ratio * 100.0), 1)
        });
        columns.number("NonDrips", "Not in DRIPS", true, move |row| length(row.non_drips_ns));
        columns.number("FirstDrips", "First DRIPS after", false, move |row| length(row.first_drips_ns));
        columns.number("Transitions", "Entries", true, |row| text.maybe_int(row.drips_transitions));
        columns.number("Activated", "Activated", false, move |row| length(row.activated_ns));
        columns.number("Active", "Active", false, move |row| length(row.active_ns));
        columns.number("Drain", "Drain", true, |row| text.maybe_int(row.energy_drain));
        columns.number("Battery", "Battery", false, |row| {
            let percent = row.remaining_capacity.zip(row.full_capacity.filter(|full| *full > 0));
            percent
                .map(|(left, full)| text.fixed(left as f64 * 100.0 / full as f64, 0) + "%")
                .unwrap_or_default()
        });
        columns.word("EnterReason", "Why", true, |row| {
            reason(row.enter_reason, row.enter_reason_name.as_deref())
        });
        columns.word("ExitReason", "Woken by", true, |row| {
            reason(row.exit_reason, row.exit_reason_name.as_deref())
        });
        columns.word("Lid", "Lid open", false, move |row| flag(row.is_lid_open));
        columns.word("Monitor", "External monitor", false, move |row| flag(row.has_external_monitor));
        columns.word("Audio", "Audio", false, move |row| flag(row.is_audio_playing));
        columns.word("Ac", "AC", false, move |row| flag(row.is_on_ac));
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }
}

fn reason(number: Option<i64>, name: Option<&str>) -> String {
    name.map(str::to_owned).or_else(|| number.map(|number| number.to_string())).unwrap_or_default()
}

pub(super) fn run(args: &StandbyArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let request = StandbyRequest {
        time: range("range", args.range.as_deref(), Unit::Seconds)?,
        duration: range("duration", args.duration.as_deref(), Unit::Seconds)?,
        sort: args.sort_by,
        top: args.top.top(),
    };
    if args.common.show_sql {
        return show_sql(printer, &request.sql());
    }
    listed(
        &args.common,
        "dump standby",
        printer,
        |session| request.ask(session),
        |one, lines| {
            let text = Text::new(&args.common, None, &one.info);
            lines.file(&one.info, &text, "")?;
            args.columns(&text)?.lines(one.answer.iter()).iter().try_for_each(|line| lines.line(line))?;
            let sum = |of: fn(&StandbyRow) -> Option<i64>| {
                one.answer.iter().filter_map(of).fold(0, i64::saturating_add)
            };
            lines.line(&format!(
                "Total {} stays, {}; in DRIPS {}, not in DRIPS {}",
                one.answer.len(),
                duration(sum(|row| row.told_duration_ns.or(row.duration_ns))),
                duration(sum(|row| row.drips_ns)),
                duration(sum(|row| row.non_drips_ns)),
            ))
        },
    )
}
