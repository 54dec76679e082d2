//! `etwkit dump pmc`.

use clap::Args;
use etwkit_query::dump::pmc::{PmcAnswer, PmcRequest, PmcRow};
use etwkit_query::range::Unit;

use super::args::{Common, ProcessFilters, TopArgs, range};
use super::output::{Answered, Columns, Lines, show_sql, streamed};
use super::text::{Text, id};
use crate::exit::Exit;
use crate::printer::Printer;

#[derive(Debug, Args)]
pub(crate) struct PmcArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    processes: ProcessFilters,
    #[command(flatten)]
    top: TopArgs,
    /// Rows for each thread
    #[arg(long, conflicts_with = "methods")]
    per_thread: bool,
    /// Rows for each method in the stacks of switch-ins or samples: only these (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "NAMES")]
    methods: Option<String>,
    /// Names of methods begin with their module
    #[arg(long, requires = "methods")]
    include_dll: bool,
    /// Only stays that end in this part of the trace (s)
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    range: Option<String>,
    /// Leave the counters out, keep what is computed from them
    #[arg(long)]
    no_counters: bool,
}

impl PmcArgs {
    fn request(&self) -> anyhow::Result<PmcRequest> {
        Ok(PmcRequest {
            processes: self.processes.query(),
            per_thread: self.per_thread,
            methods: self.methods.clone(),
            include_dll: self.include_dll,
            time: range("range", self.range.as_deref(), Unit::Seconds)?,
            top: self.top.top(),
        })
    }

    /// Only what was recorded has a column.
    fn columns<'a>(&'a self, text: &'a Text, rows: &[&PmcRow]) -> anyhow::Result<Columns<'a, PmcRow>> {
        let mut columns = Columns::new();
        let count = |columns: &mut Columns<'a, PmcRow>, name, value: fn(&PmcRow) -> Option<i64>| {
            let shown = !self.no_counters && rows.iter().any(|row| value(row).is_some());
            columns.number(name, name, shown, move |row| text.maybe_int(value(row)));
        };
        let ratio =
            |columns: &mut Columns<'a, PmcRow>, name, title, places, value: fn(&PmcRow) -> Option<f64>| {
                let shown = rows.iter().any(|row| value(row).is_some());
                columns.number(name, title, shown, move |row| text.maybe_fixed(value(row), places));
            };
        count(&mut columns, "Instructions", |row| row.instructions);
        count(&mut columns, "Cycles", |row| row.cycles);
        ratio(&mut columns, "CPI", "CPI", 2, |row| row.cpi);
        count(&mut columns, "Branches", |row| row.branches);
        count(&mut columns, "BranchMispredicts", |row| row.branch_mispredictions);
        ratio(&mut columns, "BrMispredictPercent", "BrMispredict %", 2, |row| row.branch_mispredict_percent);
        count(&mut columns, "CacheMisses", |row| row.cache_misses);
        count(&mut columns, "LLCReferences", |row| row.llc_references);
        ratio(&mut columns, "CacheMissPercent", "CacheMiss %", 2, |row| row.cache_miss_percent);
        let has_time = rows.iter().any(|row| row.run_ns.is_some());
        columns.number("Time", "Time ms", has_time, |row| text.maybe_ms(row.run_ns));
        ratio(&mut columns, "Rate", "Instr/us", 0, |row| row.instructions_per_s.map(|rate| rate / 1e6));
        ratio(&mut columns, "Speed", "Cycles/us", 0, |row| row.cycles_per_s.map(|rate| rate / 1e6));
        columns.number("Count", "Count", false, |row| text.int(row.count));
        let has_others = !self.no_counters && rows.iter().any(|row| row.other_counters.is_some());
        columns.word("Others", "Other counters", has_others, |row| {
            row.other_counters.clone().unwrap_or_default()
        });
        columns.number("Tid", "Tid", self.per_thread, |row| id(row.tid));
        columns.word("Method", "Method", self.methods.is_some(), |row| row.name.clone().unwrap_or_default());
        columns.word("Process", "Process", self.methods.is_none(), |row| text.process_line(row.into()));
        columns.choose(self.common.column.as_deref())?;
        Ok(columns)
    }
}

fn print(args: &PmcArgs, one: &Answered<PmcAnswer>, lines: &mut Lines<'_, '_>) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    let rows: Vec<&PmcRow> = one.rows().collect();
    if rows.iter().any(|row| row.kind == "sampled") {
        lines.line("Counters are estimates from samples.")?;
    }
    let printed = args.columns(&text, &rows)?.lines(rows.iter().copied());
    let mut printed = printed.iter();
    printed.next().map_or(Ok(()), |titles| lines.line(titles))?;
    for group in &one.answer {
        if args.methods.is_some()
            && let Some(row) = group.rows.first()
        {
            lines.line(&format!("  {}", text.process_line(row.into())))?;
        }
        printed.by_ref().take(group.rows.len()).try_for_each(|line| lines.line(line))?;
    }
    Ok(())
}

pub(super) fn run(args: &PmcArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let request = args.request()?;
    if args.common.show_sql {
        return show_sql(printer, &request.sql());
    }
    streamed(
        &args.common,
        "dump pmc",
        printer,
        |session| request.ask(session),
        |groups| groups.iter().flat_map(|group| &group.rows).collect(),
        |one, lines| print(args, one, lines),
    )
}
