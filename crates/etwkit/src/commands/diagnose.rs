//! `etwkit diagnose`: rules are asked what made a trace slow, or one of them is explained.

use anyhow::bail;
use clap::{Args, FromArgMatches};
use etwkit_analysis::diagnose::{Rule, rules};
use etwkit_analysis::questions::DIAGNOSE;
use etwkit_query::question::AnyQuestion;

use super::dump::own::{self, Own, OwnArgs};
use crate::exit::Exit;
use crate::printer::{Printer, Table};

/// Names the question.
#[derive(Debug)]
pub(crate) struct Diagnose;

impl Own for Diagnose {
    fn question() -> &'static dyn AnyQuestion {
        DIAGNOSE
    }
}

/// What is explained instead of asking.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Print a rule: what it finds, its thresholds with their reasons, its SQL; or all, as a list
    #[arg(long, value_name = "RULE|all")]
    explain: Option<String>,
}

#[derive(Debug)]
pub(crate) struct DiagnoseArgs {
    pub(crate) asked: OwnArgs<Diagnose>,
    explain: ExplainArgs,
}

impl Args for DiagnoseArgs {
    fn augment_args(command: clap::Command) -> clap::Command {
        let command = ExplainArgs::augment_args(OwnArgs::<Diagnose>::augment_args(command));
        command.mut_arg("extracts", |arg| arg.required(false).required_unless_present("explain"))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for DiagnoseArgs {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
        let explain = ExplainArgs::from_arg_matches(matches)?;
        Ok(Self { asked: OwnArgs::from_arg_matches(matches)?, explain })
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

pub(crate) fn run(args: &DiagnoseArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    match args.explain.explain.as_deref() {
        None => own::run(&args.asked, printer),
        Some("all") => list(printer),
        Some(name) => explain(name, printer),
    }
}

fn list(printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let rows = rules().iter().map(|rule| [rule.name.clone(), rule.title.clone(), rule.needs.join(", ")]);
    printer.table(&Table::of("rule|what it finds|what has to be recorded", rows))?;
    Ok(Exit::Answered)
}

/// A rule with its parts in words, and as a file of rules has it.
fn explain(name: &str, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let Some(rule) = rules().iter().find(|rule| rule.name == name) else {
        let names: Vec<&str> = rules().iter().map(|rule| rule.name.as_str()).collect();
        bail!("there is no rule \"{name}\"; there are: {}", names.join(", "));
    };
    printer.heading(&rule.title)?;
    printer.table(&words(rule))?;
    printer.heading("As a file of rules (--rules) has it")?;
    printer.block(&format!("-- rule: {}\n{}", rule.name, rule.text()))?;
    Ok(Exit::Answered)
}

fn words(rule: &Rule) -> Table {
    let mut table = Table::pairs();
    let mut told = |name: &str, text: &str| {
        if !text.is_empty() {
            table.row([name.to_owned(), text.to_owned()]);
        }
    };
    told("rule", &rule.name);
    told("why", &rule.why);
    told("fix", &rule.fix);
    told("not proved", &rule.not_proved);
    told("needs", &rule.needs.join(", "));
    for threshold in rule.thresholds() {
        told(
            "threshold",
            &format!("{} = {}: {}", threshold.name, threshold.default.unwrap_or_default(), threshold.doc),
        );
    }
    for evidence in &rule.evidence {
        told("evidence", &format!("etwkit {evidence}"));
    }
    table
}
