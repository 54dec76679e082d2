//! `etwkit dump lbr`.

use anyhow::ensure;
use clap::Args;
use etwkit_query::dump::Top;
use etwkit_query::dump::lbr::{LbrAnswer, LbrRequest, LbrRow};
use etwkit_query::range::Unit;

use super::args::{Common, ProcessFilters, TopArgs, range};
use super::cut::Cut;
use super::output::{Answered, Lines, show_sql, streamed};
use super::text::Text;
use crate::exit::Exit;
use crate::printer::{Align, Printer, Table};

#[derive(Debug, Args)]
pub(crate) struct LbrArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    processes: ProcessFilters,
    #[command(flatten)]
    top: TopArgs,
    /// Rows for each method that was reached: only these (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "NAMES")]
    methods: Option<String>,
    /// Below each method those that it was reached from
    #[arg(long)]
    show_caller: bool,
    /// Only the N largest methods of each process
    #[arg(long, value_name = "N")]
    top_methods: Option<usize>,
    /// Leave the N largest methods of each process out first
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip_methods: usize,
    /// Show only a part of the names of methods: A..B characters A to B, -N the last N ones
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    cut_method: Option<Cut>,
    /// Names begin with their module
    #[arg(long)]
    include_dll: bool,
    /// Multiply counts, which are those of samples: 1000 to 10000 comes near to real counts with 1000 samples each second
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    scaling_factor: f64,
    /// Only rows and callers with such a count, after scaling
    #[arg(long, value_name = "A..B")]
    count: Option<String>,
}

impl LbrArgs {
    const fn asks_methods(&self) -> bool {
        self.methods.is_some() || self.show_caller || self.top_methods.is_some()
    }

    fn request(&self) -> anyhow::Result<LbrRequest> {
        let factor = self.scaling_factor;
        ensure!(factor.is_finite() && factor > 0.0, "--scaling-factor {factor}: must be a number above 0");
        let all = || self.asks_methods().then(|| "*".to_owned());
        Ok(LbrRequest {
            processes: self.processes.query(),
            methods: self.methods.clone().or_else(all),
            show_caller: self.show_caller,
            include_dll: self.include_dll,
            scaling_factor: factor,
            count: range("count", self.count.as_deref(), Unit::Count)?,
            top: self.top.top(),
            top_methods: Top { count: self.top_methods, skip: self.skip_methods },
        })
    }
}

fn print(args: &LbrArgs, one: &Answered<LbrAnswer>, lines: &mut Lines<'_, '_>) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "Counts are those of samples, not of calls.")?;
    if !args.asks_methods() {
        let mut table = Table::new(&[("Branches", Align::Right), ("Process", Align::Left)]);
        for group in &one.answer {
            for row in &group.rows {
                table.row([text.int(row.count), text.process_line(row.into())]);
            }
        }
        return table.lines().iter().try_for_each(|line| lines.line(line));
    }
    let mut table = Table::new(&[("Branches", Align::Right), ("Method", Align::Left)]);
    for group in &one.answer {
        let mut before: Option<&LbrRow> = None;
        if let Some(first) = group.rows.first() {
            table.row([text.int(group.total), text.process_line(first.into())]);
        }
        for row in &group.rows {
            method_lines(args, &text, row, before, &mut table);
            before = Some(row);
        }
    }
    table.lines().iter().try_for_each(|line| lines.line(line))
}

/// The line of a method, before the first of its callers, and that of a caller.
fn method_lines(args: &LbrArgs, text: &Text, row: &LbrRow, before: Option<&LbrRow>, table: &mut Table) {
    let shown = |name: &Option<String>| {
        let name = name.as_deref().unwrap_or_default();
        args.cut_method.map_or_else(|| name.to_owned(), |cut| cut.of(name))
    };
    if before.is_none_or(|before| before.callee != row.callee) {
        table.row([text.int(row.callee_count), format!("  {}", shown(&row.callee))]);
    }
    if args.show_caller {
        table.row([text.int(row.count), format!("    from {}", shown(&row.caller))]);
    }
}

pub(super) fn run(args: &LbrArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let request = args.request()?;
    if args.common.show_sql {
        return show_sql(printer, &request.sql());
    }
    streamed(
        &args.common,
        "dump lbr",
        printer,
        |session| request.ask(session),
        |groups| groups.iter().flat_map(|group| &group.rows).collect(),
        |one, lines| print(args, one, lines),
    )
}
