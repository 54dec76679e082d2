//! `etwkit dump`: ready-made questions. Requests and numbers belong to `etwkit_questions`; this module
//! has the arguments and the text.

mod answer_printer;
mod args;
mod asking;
mod columns;
mod copies;
mod copy;
pub(crate) mod critical_path;
mod declared;
pub(crate) mod diagnose;
pub(crate) mod dump_args;
pub(crate) mod explain;
pub(crate) mod one_finding;
mod output;
mod page;
pub(crate) mod question_command;
mod recording_choice;
pub(crate) mod typed;

use dump_args::DumpArgs;
use etwkit_terminal::Exit;

use crate::printer::Printer;

pub(crate) fn run(args: &DumpArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    declared::run(&args.question, printer)
}
