//! `etwkit explain`: a declared question as a command of its own, whose answer can be a page, too.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use etwkit_analysis::explain::{ExplainRequest, PAGE_BEGINS};
use etwkit_analysis::questions::EXPLAIN;
use etwkit_query::question::{AnyQuestion, Question as _, Request as _};

use super::declared::Declared;
use super::output::ask_all;
use super::own::{self, Own, OwnArgs};
use crate::exit::Exit;
use crate::options::OUTPUT;
use crate::out_file::{self, Replace};
use crate::printer::Printer;
use crate::report::advised;

/// Names the question.
#[derive(Debug)]
pub(crate) struct Explain;

impl Own for Explain {
    fn question() -> &'static dyn AnyQuestion {
        EXPLAIN
    }
}

/// Where a page is written.
#[derive(Debug, Args)]
struct PageArgs {
    /// Write the answer as one page of HTML, with a heat map of runs and causes, instead of printing it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "csv"], help_heading = OUTPUT)]
    html: Option<PathBuf>,
}

#[derive(Debug)]
pub(crate) struct ExplainArgs {
    pub(crate) asked: OwnArgs<Explain>,
    page: PageArgs,
}

impl Args for ExplainArgs {
    fn augment_args(command: Command) -> Command {
        PageArgs::augment_args(OwnArgs::<Explain>::augment_args(command))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ExplainArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let page = PageArgs::from_arg_matches(matches)?;
        Ok(Self { asked: OwnArgs::from_arg_matches(matches)?, page })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

pub(crate) fn run(args: &ExplainArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    match &args.page.html {
        Some(file) => write(&args.asked.question, file, printer),
        None => own::run(&args.asked, printer),
    }
}

fn write(asked: &Declared, file: &Path, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let request = ExplainRequest::from_json(&asked.values)?;
    request.check()?;
    let replace = if is_own_page(file) { Replace::Anything } else { Replace::Nothing };
    if replace == Replace::Nothing && file.is_file() {
        let message = format!("{} exists, and is no page of etwkit explain", file.display());
        return Err(advised(message, "give another name"));
    }
    out_file::check(file, replace)?;
    let (found, _) = ask_all(&asked.common, EXPLAIN.name(), printer, |session| request.explain(session))?;
    let Some(found) = found else { return Ok(Exit::Nothing) };
    let mut page = out_file::buffered(file, replace)?;
    page.write_all(found.answer.page().as_bytes()).with_context(|| out_file::cannot(file))?;
    out_file::keep(page, file)?;
    printer.line(&found.answer.sentence())?;
    printer.line(&format!("Wrote {}", file.display()))?;
    Ok(Exit::Answered)
}

/// Whether a file is a page that this command wrote, which it makes again.
fn is_own_page(file: &Path) -> bool {
    let mut begin = vec![0; PAGE_BEGINS.len()];
    File::open(file).and_then(|mut file| file.read_exact(&mut begin)).is_ok()
        && begin == PAGE_BEGINS.as_bytes()
}
