//! `etwkit dump cores`.

use anyhow::bail;
use clap::Args;
use etwkit_query::dump::cores::{
    ClassRow, CoreRow, CoresAnswer, CoresRequest, CoresTable, HOW, MethodClassRow, PriorityRow, StateRow,
};
use etwkit_query::dump::trace::TraceInfo;
use serde_json::{Map, Value};

use super::args::{Common, ProcessFilters, TopArgs, word};
use super::output::{Answered, Columns, Lines, ask, show_sql, written};
use super::text::Text;
use crate::exit::Exit;
use crate::printer::Printer;

/// One table, or all. Under a name of its own, since an `Option` would be an argument that may be missing.
type Chosen = Option<CoresTable>;

const TABLES: &[(&str, Chosen)] = &[
    ("all", None),
    ("cores", Some(CoresTable::Cores)),
    ("states", Some(CoresTable::States)),
    ("processes", Some(CoresTable::Processes)),
    ("priorities", Some(CoresTable::Priorities)),
    ("methods", Some(CoresTable::Methods)),
];

#[derive(Debug, Args)]
pub(crate) struct CoresArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    processes: ProcessFilters,
    #[command(flatten)]
    top: TopArgs,
    /// What to show: cores and their speeds, their idle states, CPU of processes by kind of core, priorities by kind of core (all),
    /// or methods by kind of core
    #[arg(long, value_name = "NAME", value_parser = word(TABLES), default_value = "all")]
    table: Chosen,
    /// With --table methods: only these (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "NAMES")]
    methods: Option<String>,
    /// Priorities of each process
    #[arg(long)]
    per_process: bool,
}

impl CoresArgs {
    fn tables(&self) -> &[CoresTable] {
        self.table.as_ref().map_or(&CoresTable::ALL, std::slice::from_ref)
    }
}

fn name(table: CoresTable) -> &'static str {
    TABLES.iter().find(|(_, known)| *known == Some(table)).map_or("", |(name, _)| name)
}

fn class(class: Option<i64>) -> String {
    class.map_or_else(|| "?".to_owned(), |class| class.to_string())
}

fn core_columns(text: &Text) -> Columns<'_, CoreRow> {
    let number = |number: Option<i64>| number.map(|n| n.to_string()).unwrap_or_default();
    let mut columns = Columns::new();
    columns.number("Cpu", "CPU", true, |row: &CoreRow| row.cpu.to_string());
    columns.number("Group", "Group", true, move |row| number(row.processor_group));
    columns.number("Node", "Node", true, move |row| number(row.numa_node));
    columns.number("Class", "Class", true, |row| class(row.efficiency_class));
    columns.number("SchedulingClass", "Scheduling", true, move |row| number(row.scheduling_class));
    columns.number("Nominal", "Nominal MHz", true, |row| text.maybe_int(row.nominal_mhz));
    columns.number("Mean", "Mean MHz", true, |row| text.maybe_fixed(row.mean_mhz, 0));
    columns.number("Min", "Min", true, |row| text.maybe_int(row.min_mhz));
    columns.number("Max", "Max", true, |row| text.maybe_int(row.max_mhz));
    columns.number("Frequency", "% of nominal", true, |row| text.maybe_fixed(row.frequency_percent, 0));
    columns.number("Parked", "Parked %", true, |row| text.maybe_fixed(row.parked_percent, 1));
    columns.word("HyperThreaded", "Shared", true, |row| match row.is_hyper_threaded {
        Some(true) => "yes".into(),
        Some(false) => "no".into(),
        None => String::new(),
    });
    columns.word("Name", "Name", true, |row| row.name.clone().unwrap_or_default());
    columns
}

fn state_columns(text: &Text) -> Columns<'_, StateRow> {
    let mut columns = Columns::new();
    columns.number("Cpu", "CPU", true, |row: &StateRow| row.cpu.to_string());
    columns.number("Class", "Class", true, |row| class(row.efficiency_class));
    columns.number("State", "C-state", true, |row| class(row.state));
    columns.number("Count", "Count", true, |row| text.int(row.count));
    columns.number("Time", "Time ms", true, |row| text.ms(row.duration_ns));
    columns.number("Percent", "% of trace", true, |row| text.fixed(row.percent, 1));
    columns.number("Max", "Longest us", true, |row| text.int(row.max_ns / 1000));
    columns.word("Source", "From", true, |row| row.source.clone());
    columns
}

fn process_columns(text: &Text) -> Columns<'_, ClassRow> {
    let mut columns = Columns::new();
    columns.number("Class", "Class", true, |row: &ClassRow| class(row.efficiency_class));
    columns.number("Cpu", "CPU ms", true, |row| text.ms(row.cpu_ns));
    columns.number("Percent", "% of CPU", true, |row| text.fixed(row.cpu_percent, 0));
    columns.number("Normalized", "Normalized ms", true, |row| text.maybe_ms(row.normalized_ns));
    columns.number("Mean", "Mean MHz", true, |row| text.maybe_fixed(row.mean_mhz, 0));
    columns.number("Frequency", "% of nominal", true, |row| text.maybe_fixed(row.frequency_percent, 0));
    columns.number("CoreCount", "Used cores", true, |row| row.core_count.to_string());
    columns.word("Cores", "Cores", true, |row| row.cores.clone());
    columns.word("Process", "Process", true, |row| text.process_line(row.into()));
    columns
}

fn priority_columns(text: &Text, per_process: bool, has_classes: bool) -> Columns<'_, PriorityRow> {
    let mut columns = Columns::new();
    columns.number("Priority", "Priority", true, |row: &PriorityRow| class(row.priority));
    columns.number("Class", "Class", true, |row| class(row.efficiency_class));
    columns.number("Switches", "Switches", true, |row| text.int(row.switches));
    columns.number("Run", "Run ms", true, |row| text.ms(row.run_ns));
    columns.number("Percent", "% of priority", true, |row| text.maybe_fixed(row.run_percent, 0));
    columns.number("RunFasterIdle", "While a faster core idled", has_classes, |row| {
        text.ms(row.run_faster_idle_ns)
    });
    columns.number("Ready", "Ready ms", true, |row| text.ms(row.ready_ns));
    columns.number("ReadyIdle", "While such a core idled", true, |row| text.ms(row.ready_idle_ns));
    columns.number("ReadyAnyIdle", "While any idled", true, |row| text.ms(row.ready_any_idle_ns));
    columns.word("Process", "Process", per_process, |row| text.process(row.into()));
    columns
}

fn method_columns(text: &Text) -> Columns<'_, MethodClassRow> {
    let mut columns = Columns::new();
    columns.number("Class", "Class", true, |row: &MethodClassRow| class(row.efficiency_class));
    columns.number("Cpu", "CPU ms", true, |row| text.ms(row.cpu_ns));
    columns.number("Percent", "% of CPU", true, |row| text.fixed(row.cpu_percent, 0));
    columns.number("Normalized", "Normalized ms", true, |row| text.maybe_ms(row.normalized_ns));
    columns.number("Mean", "Mean MHz", true, |row| text.maybe_fixed(row.mean_mhz, 0));
    columns.number("Frequency", "% of nominal", true, |row| text.maybe_fixed(row.frequency_percent, 0));
    columns.number("CoreCount", "Used cores", true, |row| {
        format!("{} of {}", row.core_count, row.enabled_cores)
    });
    columns.number("Duration", "Last-First s", true, |row| text.s(row.duration_ns, 3));
    columns.word("Method", "Method", true, |row| row.name.clone());
    columns.word("Process", "Process", true, |row| text.process(row.into()));
    columns
}

/// A title and a table, if it has rows.
fn section<R>(
    args: &CoresArgs,
    (title, mut columns): (&str, Columns<'_, R>),
    rows: &[R],
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    if args.table.is_some() {
        columns.choose(args.common.column.as_deref())?;
    } else {
        lines.heading(title)?;
    }
    columns.lines(rows.iter()).iter().try_for_each(|line| lines.line(line))
}

fn print(args: &CoresArgs, one: &Answered<CoresAnswer>, lines: &mut Lines<'_, '_>) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    let answer = &one.answer;
    section(args, ("Processors", core_columns(&text)), &answer.cores, lines)?;
    section(args, ("Idle states", state_columns(&text)), &answer.states, lines)?;
    section(args, ("CPU by kind of core", process_columns(&text)), &answer.processes, lines)?;
    let columns = priority_columns(&text, args.per_process, answer.has_classes() || args.table.is_some());
    section(args, ("Priority by kind of core", columns), &answer.priorities, lines)?;
    section(args, ("Methods by kind of core", method_columns(&text)), &answer.methods, lines)?;
    if args.table.is_none() && !answer.has_classes() {
        lines.line(&format!("Kinds of cores were not recorded: {HOW}."))?;
    }
    Ok(())
}

/// A row with the name of its table, for machines.
#[derive(Debug, serde::Serialize)]
struct Tagged {
    table: &'static str,
    #[serde(flatten)]
    row: Map<String, Value>,
}

fn tagged(answers: &[Answered<CoresAnswer>]) -> anyhow::Result<Vec<(&TraceInfo, Tagged)>> {
    fn add<'a, R: serde::Serialize>(
        info: &'a TraceInfo,
        table: CoresTable,
        rows: &[R],
        all: &mut Vec<(&'a TraceInfo, Tagged)>,
    ) -> anyhow::Result<()> {
        for row in rows {
            if let Value::Object(row) = serde_json::to_value(row)? {
                all.push((info, Tagged { table: name(table), row }));
            }
        }
        Ok(())
    }
    let mut all = Vec::new();
    for Answered { info, answer } in answers {
        add(info, CoresTable::Cores, &answer.cores, &mut all)?;
        add(info, CoresTable::States, &answer.states, &mut all)?;
        add(info, CoresTable::Processes, &answer.processes, &mut all)?;
        add(info, CoresTable::Priorities, &answer.priorities, &mut all)?;
        add(info, CoresTable::Methods, &answer.methods, &mut all)?;
    }
    Ok(all)
}

pub(super) fn run(args: &CoresArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let request = CoresRequest {
        processes: args.processes.query(),
        per_process: args.per_process,
        methods: args.methods.clone(),
        top: args.top.top(),
    };
    if args.table.is_none() {
        let option = [("--csv", args.common.csv.is_some()), ("--column", args.common.column.is_some())];
        if let Some((option, _)) = option.iter().find(|(_, is_asked)| *is_asked) {
            bail!(
                "{option} needs one table: choose it with --table cores, states, processes, priorities or methods"
            );
        }
    }
    if args.common.show_sql {
        for table in args.tables() {
            show_sql(printer, &format!("-- {}\n{}", name(*table), request.sql(*table)))?;
        }
        return Ok(Exit::Answered);
    }
    let answers = ask(&args.common, "dump cores", printer, |session| request.ask(session, args.tables()))?;
    let rows = tagged(&answers)?;
    written(&args.common, printer, rows.iter().map(|(info, row)| (*info, row)), |lines| {
        answers.iter().try_for_each(|one| print(args, one, lines))
    })
}
