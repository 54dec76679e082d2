//! `etwkit diagnose`: runs rules to find the cause of a slow trace, or explains a rule.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Arg, ArgMatches, Args, Command};
use etwkit_analysis::diagnose::{DiagnoseRequest, Reported, html, markdown, no_such_rule, rules};
use etwkit_analysis::questions::{DIAGNOSE, TREND};
use etwkit_engine::DiskFiles;
use etwkit_question::trace::TraceInfo;
use etwkit_question::{AnyQuestion, Question as _, Request as _};
use etwkit_terminal::{Exit, Table};

use super::declared::Declared;
use super::output::ask_each;
use super::question_command::{self, QuestionCommand, QuestionCommandArgs};
use super::{one_finding, page};
use crate::options::OUTPUT;
use crate::out_file::Replace;
use crate::printer::Printer;

/// The option that reads the findings of many runs.
const OF_RUNS: &str = "trend";

/// Names the question.
#[derive(Debug)]
pub(crate) struct Diagnose;

impl QuestionCommand for Diagnose {
    type More = MoreArgs;

    fn question() -> &'static dyn AnyQuestion {
        DIAGNOSE
    }

    fn chosen(matches: &ArgMatches) -> &'static dyn AnyQuestion {
        if matches.get_flag(OF_RUNS) {
            TREND
        } else {
            DIAGNOSE
        }
    }

    fn adjusted(command: Command) -> Command {
        let extracts = |arg: Arg| arg.required_unless_present("explain");
        let out = "The file of --format, which the endings .parquet and .arrows stand for, or the .zip \
                   file of --finding";
        command
            .mut_arg("extracts", extracts)
            .mut_arg("out", |arg| arg.help(out))
    }
}

/// Options for explaining rules and for sharing findings.
#[derive(Debug, Args)]
pub(crate) struct MoreArgs {
    /// Print what a rule finds, its thresholds with their reasons, and its SQL; all lists the rules
    #[arg(long, value_name = "RULE|all")]
    explain: Option<String>,
    /// Show how often each rule found something in many runs, and whether it does so more often than
    /// before: from the findings that extracts and lakes have by `etwkit extract --findings`
    #[arg(long, conflicts_with_all = ["rules", "cost", "no-notes", "table", "details", "fail-on", "top", "merge",
                                "explain", "finding", "html", "markdown"])]
    trend: bool,
    /// Write this finding of the list to the file that --out names: a page with its evidence, and
    /// the same rows for programs
    #[arg(long, value_name = "N", requires = "out", help_heading = OUTPUT,
          conflicts_with_all = ["json", "csv", "format", "fail-on", "explain"],
          value_parser = clap::value_parser!(i64).range(1..))]
    finding: Option<i64>,
    /// Write the findings with all details as one page of HTML instead of printing them
    #[arg(long, value_name = "FILE", help_heading = OUTPUT,
          conflicts_with_all = ["json", "csv", "format", "out", "markdown", "explain", "finding"])]
    html: Option<PathBuf>,
    /// Write the findings as Markdown, for an issue or a mail; - prints it
    #[arg(long, value_name = "FILE", help_heading = OUTPUT,
          conflicts_with_all = ["json", "csv", "format", "out", "explain", "finding"])]
    markdown: Option<PathBuf>,
}

pub(crate) type DiagnoseArgs = QuestionCommandArgs<Diagnose>;

pub(crate) fn run(args: &DiagnoseArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let MoreArgs {
        explain: rule,
        finding,
        html: page,
        markdown: text,
        trend,
    } = &args.more;
    if *trend {
        // The arguments ask another question.
        return question_command::run(args, printer);
    }
    if let Some((number, file)) = finding.zip(args.question.common.finding_file.as_deref()) {
        return one_finding::run(&args.question, number, file, printer);
    }
    match (rule.as_deref(), page, text) {
        (Some("all"), ..) => list(printer),
        (Some(name), ..) => explain(name, printer),
        (None, Some(file), _) => {
            let replace = page::may_replace(file, DIAGNOSE.name())?;
            report(&args.question, printer, |printer, all| {
                page::write(file, replace, &html(all), printer)
            })
        }
        (None, None, Some(file)) if file == Path::new("-") => {
            report(&args.question, printer, |printer, all| {
                Ok(printer.block(&markdown(all))?)
            })
        }
        (None, None, Some(file)) => {
            page::check_new(file)?;
            let write = page::write;
            report(&args.question, printer, |printer, all| {
                write(file, Replace::Nothing, &markdown(all), printer)
            })
        }
        (None, None, None) => question_command::run(args, printer),
    }
}

/// Returns the findings of the rules for each extract.
pub(super) fn diagnosed(
    asked: &Declared,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Vec<Reported>> {
    let mut request = DiagnoseRequest::from_json(&asked.values)?;
    request.check()?;
    request.read_files(&DiskFiles)?;
    let mut all = Vec::new();
    let ask = |session: &_| request.ask(session);
    ask_each(&asked.common, DIAGNOSE.name(), printer, ask, |_, one| {
        all.push(Reported {
            input: without_folders(&one.info),
            trace: one.info.file_name,
            diagnosis: one.answer,
        });
        Ok(())
    })?;
    Ok(all)
}

/// Returns the name of the queried file without folders: a report goes to others.
fn without_folders(info: &TraceInfo) -> String {
    let named = info.named.as_deref().unwrap_or(&info.file_name);
    let name = Path::new(named).file_name();
    name.map_or_else(
        || named.to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// Diagnoses all extracts and writes a report.
fn report(
    asked: &Declared,
    printer: &mut Printer<'_>,
    write: impl FnOnce(&mut Printer<'_>, &[Reported]) -> anyhow::Result<()>,
) -> anyhow::Result<Exit> {
    let all = diagnosed(asked, printer)?;
    write(printer, &all)?;
    // One extract that fails makes the whole command fail.
    let fails = all.iter().filter_map(|one| one.diagnosis.fails).max();
    Ok(match fails {
        Some(true) => Exit::Failed,
        None if all.iter().all(|one| one.diagnosis.findings.is_empty()) => Exit::Nothing,
        _ => Exit::Answered,
    })
}

fn list(printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let rows = rules()
        .iter()
        .map(|rule| [rule.name.clone(), rule.title.clone(), rule.needs.join(", ")]);
    printer.table(&Table::of(
        "rule|what it finds|what has to be recorded",
        rows,
    ))?;
    Ok(Exit::Answered)
}

/// Prints a rule with its parts in words, and in the form of a rule file.
fn explain(name: &str, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let Some(rule) = rules().iter().find(|rule| rule.name == name) else {
        let names: Vec<&str> = rules().iter().map(|rule| rule.name.as_str()).collect();
        bail!("--explain: {}", no_such_rule(name, &names));
    };
    printer.heading(&rule.title)?;
    let mut table = Table::pairs();
    rule.words()
        .into_iter()
        .for_each(|(name, text)| table.row([name.to_owned(), text]));
    printer.table(&table)?;
    printer.heading("As a file of rules (--rules) has it")?;
    printer.block(&format!("-- rule: {}\n{}", rule.name, rule.text()))?;
    Ok(Exit::Answered)
}
