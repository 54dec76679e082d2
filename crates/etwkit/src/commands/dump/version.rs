//! `etwkit dump version`.

use clap::Args;
use etwkit_query::Session;
use etwkit_query::dump::group::Group;
use etwkit_query::dump::version::{
    MissingPdb, MissingPdbs, ModuleRow, VersionRequest, missing_pdbs, missing_pdbs_sql,
};

use super::args::{Common, ProcessFilters, TopArgs};
use super::output::{Answered, Columns, Lines, show_sql, streamed};
use super::text::Text;
use crate::exit::Exit;
use crate::printer::Printer;

#[derive(Debug, Args)]
pub(crate) struct VersionArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    processes: ProcessFilters,
    #[command(flatten)]
    top: TopArgs,
    /// Only modules with these file names (*, ?, several with ;, ! excludes)
    #[arg(long, value_name = "NAMES")]
    dll: Option<String>,
    /// Only modules where path, versions, product, company and description, one behind the other, fit
    #[arg(long, value_name = "TEXT")]
    version: Option<String>,
    /// Symbol files that are missing for code with CPU samples instead; only those with such names
    #[arg(long, value_name = "NAMES", num_args = 0..=1, default_missing_value = "*", conflicts_with_all = ["dll", "version"])]
    missing_pdb: Option<String>,
    /// Sums: none, or total without modules
    #[arg(long, value_name = "WHAT", value_parser = ["none", "total"])]
    show_total: Option<String>,
}

pub(super) fn run(args: &VersionArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    match &args.missing_pdb {
        Some(filter) => pdbs(args, filter, printer),
        None => modules(args, printer),
    }
}

fn modules(args: &VersionArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let request = VersionRequest {
        processes: args.processes.query(),
        dll: args.dll.clone(),
        version: args.version.clone(),
        top: args.top.top(),
    };
    if args.common.show_sql {
        return show_sql(printer, &request.sql());
    }
    streamed(
        &args.common,
        "dump version",
        printer,
        |session| request.ask(session),
        |groups| groups.iter().flat_map(|group| &group.rows).collect(),
        |one, lines| print(args, one, lines),
    )
}

fn print(
    args: &VersionArgs,
    one: &Answered<Vec<Group<ModuleRow, i64>>>,
    lines: &mut Lines<'_, '_>,
) -> anyhow::Result<()> {
    let text = Text::new(&args.common, Some(&args.processes), &one.info);
    lines.file(&one.info, &text, "")?;
    let mut columns = Columns::new();
    let or_empty = |text: &Option<String>| text.clone().unwrap_or_default();
    columns.word("Module", "Module", true, |row: &ModuleRow| row.module.clone());
    columns.word("FileVersion", "File version", true, move |row| or_empty(&row.file_version));
    columns.word("ProductVersion", "Product version", true, move |row| or_empty(&row.product_version));
    columns.word("ProductName", "Product", true, move |row| or_empty(&row.product_name));
    columns.word("Company", "Company", false, move |row| or_empty(&row.company));
    columns.word("Description", "Description", false, move |row| or_empty(&row.description));
    columns.word("Path", "Path", true, |row| row.path.clone());
    columns.choose(args.common.column.as_deref())?;
    let printed = columns.lines(one.answer.iter().flat_map(|group| group.rows.iter()));
    let (shows_rows, shows_sums) =
        (args.show_total.as_deref() != Some("total"), args.show_total.as_deref() != Some("none"));
    let mut printed = printed.iter();
    printed.next().filter(|_| shows_rows).map_or(Ok(()), |titles| lines.line(titles))?;
    for group in &one.answer {
        let selected = if shows_sums {
            format!("  [{} of {} modules]", group.rows.len(), group.total)
        } else {
            String::new()
        };
        let process = group.rows.first().map(|row| owner(&text, row)).unwrap_or_default();
        lines.line(&format!("  {process}{selected}"))?;
        for line in printed.by_ref().take(group.rows.len()) {
            if shows_rows {
                lines.line(line)?;
            }
        }
    }
    Ok(())
}

/// The process that mapped a module.
fn owner(text: &Text, row: &ModuleRow) -> String {
    if row.process_key.is_none() {
        return "kernel and drivers".into();
    }
    text.process_line(row.into())
}

fn pdbs(args: &VersionArgs, filter: &str, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    if args.common.show_sql {
        return show_sql(printer, &missing_pdbs_sql(Some(filter)));
    }
    let question = |session: &Session| missing_pdbs(session, Some(filter));
    streamed(
        &args.common,
        "dump version",
        printer,
        question,
        |found| found.rows.iter().collect(),
        |one, lines| {
            let text = Text::new(&args.common, None, &one.info);
            lines.file(&one.info, &text, "")?;
            let mut columns = Columns::new();
            columns.number("Cpu", "CPU ms up to", true, |row: &MissingPdb| text.ms(row.cpu_ns));
            columns.word("Pdb", "Symbol file", true, |row| row.pdb.clone());
            columns.number("Age", "Age", true, |row| text.maybe_int(row.pdb_age));
            columns.word("Id", "Id", true, |row| row.pdb_guid.clone().unwrap_or_default());
            columns.word("Module", "Module", true, |row| row.module.clone());
            columns.choose(args.common.column.as_deref())?;
            columns.lines(one.answer.rows.iter()).iter().try_for_each(|line| lines.line(line))?;
            lines.line(&missing(&text, &one.answer))
        },
    )
}

/// How many symbol files are missing, as far as the extract tells.
fn missing(text: &Text, found: &MissingPdbs) -> String {
    let MissingPdbs { rows, all_pdbs, is_imported } = found;
    let (count, all) = (text.int(rows.len() as i64), text.int(*all_pdbs));
    match (is_imported, all_pdbs) {
        (false, _) => format!("{count} of {all} symbol files are missing for code with CPU samples"),
        (true, 0) => {
            "Which symbol files are missing is not known: this extract of ETWAnalyzer has no modules"
                .to_owned()
        }
        // Such an extract names the symbol files that were not found, and no others.
        (true, _) => format!(
            "{count} symbol files are missing for code with CPU samples, of {all} that were not found"
        ),
    }
}
