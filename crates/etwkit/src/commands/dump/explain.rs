//! `etwkit explain`: a declared question as a command of its own, with a page as an additional
//! output.

use std::path::PathBuf;

use clap::Args;
use etwkit_analysis::explain::ExplainRequest;
use etwkit_analysis::questions::EXPLAIN;
use etwkit_question::{AnyQuestion, Question as _, Request as _};
use etwkit_terminal::Exit;

use super::output::ask_all;
use super::page;
use super::question_command::{self, QuestionCommand, QuestionCommandArgs};
use crate::options::OUTPUT;
use crate::printer::Printer;

/// Names the question.
#[derive(Debug)]
pub(crate) struct Explain;

impl QuestionCommand for Explain {
    type More = PageArgs;

    fn question() -> &'static dyn AnyQuestion {
        EXPLAIN
    }
}

/// Target of the page.
#[derive(Debug, Args)]
pub(crate) struct PageArgs {
    /// Write the answer as one page of HTML, with a heat map of runs and causes, instead of
    /// printing it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "csv", "format", "out"], help_heading = OUTPUT)]
    html: Option<PathBuf>,
}

pub(crate) type ExplainArgs = QuestionCommandArgs<Explain>;

pub(crate) fn run(args: &ExplainArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let Some(file) = &args.more.html else {
        return question_command::run(args, printer);
    };
    let asked = &args.question;
    let request = ExplainRequest::from_json(&asked.values)?;
    request.check()?;
    let replace = page::may_replace(file, EXPLAIN.name())?;
    let (found, _) = ask_all(&asked.common, EXPLAIN.name(), printer, |session| {
        request.explain(session)
    })?;
    let Some(found) = found else {
        return Ok(Exit::Nothing);
    };
    printer.line(&found.answer.sentence())?;
    page::write(file, replace, &found.answer.page(), printer)?;
    Ok(Exit::Answered)
}
