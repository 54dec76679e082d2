//! `etwkit critical-path`: a declared question as a command of its own.

use clap::{ArgMatches, Args, Command, FromArgMatches};
use etwkit_analysis::questions::CRITICAL_PATH;

use super::declared::{self, Declared};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::rules::NameArgs;

#[derive(Debug)]
pub(crate) struct PathArgs {
    question: Declared,
    pub(crate) names: NameArgs,
}

impl Args for PathArgs {
    fn augment_args(command: Command) -> Command {
        NameArgs::augment_args(declared::arguments(CRITICAL_PATH, command))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for PathArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let question = Declared::read(CRITICAL_PATH, matches)?;
        Ok(Self { question, names: NameArgs::from_arg_matches(matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

pub(crate) fn run(args: &PathArgs, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    declared::run_as(&args.question, CRITICAL_PATH.name(), printer)
}
