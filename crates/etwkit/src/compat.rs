//! Command lines of ETWAnalyzer: `etwkit-compat` translates them to plans, which our own commands
//! carry out.

use std::ffi::OsString;
use std::time::Instant;

use anyhow::bail;
use clap::Parser;
use etwkit_compat::{EtwAnalyzerForm, Extraction, Plan, Step, on_disk, plan, shell_line};
use etwkit_question::test_run::Selection;
use etwkit_terminal::Exit;
use etwkit_terminal::style::ColorMode;

use crate::cli::{self, Cli, Command, ExtractArgs};
use crate::commands::extract::{ExtractedTrace, run_reporting};
use crate::options::OptionGroup;
use crate::printer::Printer;

/// Runs a line of ETWAnalyzer.
pub(crate) fn run(args: &[OsString], printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let words = etwkit_compat::words(args);
    if etwkit_compat::is_plain(&words) {
        printer.choose_colors(Some(ColorMode::Never));
    }
    carry_out(plan(&words, &on_disk)?, &|_| {}, printer)
}

/// Carries out a plan; `adjust` adds further arguments to each step.
pub(crate) fn carry_out(
    plan: Plan,
    adjust: &dyn Fn(&mut Vec<OsString>),
    printer: &mut Printer<'_>,
) -> anyhow::Result<Exit> {
    let mut exit = Exit::Answered;
    match plan {
        Plan::Text(text) => printer.block(&text)?,
        Plan::Extract(extraction) => exit = extract(&extraction, printer)?,
        Plan::Steps(steps) => {
            for mut step in steps {
                adjust(&mut step.args);
                let one = run_step(&step, printer)?;
                exit = if step.decides { exit.worse(one) } else { exit };
            }
        }
    }
    Ok(exit)
}

fn run_step(step: &Step, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    step.notes.iter().for_each(|note| printer.note(note));
    if step.shows_line {
        printer.note(&shell_line(&step.args));
    }
    let mut parsed = parse(&step.args)?;
    parsed.command.set_form(&step.etwanalyzer);
    crate::dispatch(&parsed, printer)
}

impl Command {
    /// Applies the settings of an ETWAnalyzer line to the command.
    fn set_form(&mut self, form: &EtwAnalyzerForm) {
        match self {
            Self::Dump(args) => args.question.common.etwanalyzer = Some(form.clone()),
            Self::Export(args) => args.numbers = form.numbers,
            Self::Symbols(args) => *args.numbers_mut() = form.numbers,
            _ => {}
        }
    }
}

fn parse(args: &[OsString]) -> anyhow::Result<Cli> {
    parsed(args).map_err(|error| {
        let line = shell_line(args);
        anyhow::anyhow!("the line was translated to: {line}").context(error.to_string())
    })
}

fn parsed<T: Parser>(args: &[OsString]) -> anyhow::Result<T> {
    let line = std::iter::once(OsString::from("etwkit")).chain(args.iter().cloned());
    T::try_parse_from(line).map_err(|error| {
        let text = cli::text_of(&error);
        // The usage below the message is of our own words.
        let message = text.split("\n\n").next().unwrap_or("");
        let lines: Vec<&str> = message.lines().map(str::trim).collect();
        anyhow::anyhow!("{}", lines.join(" ").trim_start_matches("error: "))
    })
}

/// Options that choose tests.
#[derive(Debug, Parser)]
struct ChosenTests {
    #[command(flatten)]
    tests: OptionGroup<Selection>,
}

/// Creates extracts, and reports them in the words of ETWAnalyzer.
fn extract(extraction: &Extraction, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let selected = |args: &[OsString]| -> anyhow::Result<Selection> {
        Ok(parsed::<ChosenTests>(args)?.tests.read()?)
    };
    let traces = extraction.traces(&selected)?;
    printer.line(&format!("{} - files found to extract.", traces.len()))?;
    if extraction.only_lists() {
        traces
            .iter()
            .try_for_each(|trace| printer.line(&trace.display().to_string()))?;
    }
    if extraction.only_lists() || traces.is_empty() {
        return Ok(if traces.is_empty() {
            Exit::Nothing
        } else {
            Exit::Answered
        });
    }
    let start = Instant::now();
    let mut progress = extraction.progress(&traces);
    for command in extraction.commands(&traces)? {
        let args = extract_args(&command)?;
        for note in args.symbols.notes() {
            // Each command has the places of the line.
            if !printer.notes().contains(&note) {
                printer.note(&note);
            }
        }
        let sets = args.tags.sets(printer)?;
        let exit = run_reporting(
            &args,
            &sets,
            &mut |ExtractedTrace {
                      trace,
                      target,
                      kept,
                  }| {
                let lines = progress.of(trace, target, kept);
                lines.iter().try_for_each(|line| Ok(printer.line(line)?))
            },
        )?;
        if exit == Exit::Interrupted {
            return Ok(exit);
        }
    }
    printer.line(&progress.end(start.elapsed()))?;
    Ok(if progress.has_failed() {
        Exit::Error
    } else {
        Exit::Answered
    })
}

fn extract_args(args: &[OsString]) -> anyhow::Result<ExtractArgs> {
    match parse(args)?.command {
        Command::Extract(args) => Ok(args),
        _ => bail!("the line was not translated to an extraction"),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn no_option_of_ours_exists_for_etwanalyzer_alone() {
        fn check(command: &clap::Command) {
            for arg in command.get_arguments() {
                assert!(
                    !arg.is_hide_set(),
                    "{} hides {}",
                    command.get_name(),
                    arg.get_id()
                );
            }
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }
}
