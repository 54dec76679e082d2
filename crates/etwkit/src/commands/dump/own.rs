//! Declared questions that are commands of their own, and not below `dump` alone.

use std::marker::PhantomData;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use etwkit_query::question::AnyQuestion;

use super::declared::{self, Declared};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::rules::NameArgs;

/// Names the question of a command.
pub(crate) trait Own {
    fn question() -> &'static dyn AnyQuestion;
}

/// The arguments of such a command: the options of its question, and what processes are called.
#[derive(Debug)]
pub(crate) struct OwnArgs<C> {
    pub(crate) question: Declared,
    pub(crate) names: NameArgs,
    command: PhantomData<fn() -> C>,
}

impl<C: Own> Args for OwnArgs<C> {
    fn augment_args(command: Command) -> Command {
        NameArgs::augment_args(declared::arguments(C::question(), command))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<C: Own> FromArgMatches for OwnArgs<C> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let question = Declared::read(C::question(), matches)?;
        Ok(Self { question, names: NameArgs::from_arg_matches(matches)?, command: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Asks and prints.
pub(crate) fn run<C: Own>(args: &OwnArgs<C>, printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    declared::run_as(&args.question, C::question().name(), printer)
}
