//! Declared questions that are commands of their own, in addition to their commands below `dump`.

use std::marker::PhantomData;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use etwkit_question::AnyQuestion;
use etwkit_terminal::Exit;

use super::declared::{self, Declared};
use crate::printer::Printer;
use crate::rules::NameArgs;

/// Names the question of a command.
pub(crate) trait QuestionCommand {
    /// Options of the command in addition to the options of the question.
    type More: Args;

    fn question() -> &'static dyn AnyQuestion;

    /// The question that these arguments ask, if it is not the usual one.
    fn chosen(_: &ArgMatches) -> &'static dyn AnyQuestion {
        Self::question()
    }

    /// Arguments that only this command changes.
    fn adjusted(command: Command) -> Command {
        command
    }
}

/// No options in addition to the options of the question.
#[derive(Debug, Args)]
pub(crate) struct NoMore {}

/// The arguments of a command for one question: the options of the question, the naming of
/// processes, and its own options.
#[derive(Debug)]
pub(crate) struct QuestionCommandArgs<C: QuestionCommand> {
    pub(crate) question: Declared,
    pub(crate) names: NameArgs,
    pub(crate) more: C::More,
    command: PhantomData<fn() -> C>,
}

impl<C: QuestionCommand> Args for QuestionCommandArgs<C> {
    fn augment_args(command: Command) -> Command {
        let question = C::question();
        let usage = declared::usage(question.name(), question);
        let command = NameArgs::augment_args(declared::arguments(question, command));
        C::adjusted(C::More::augment_args(command)).override_usage(usage)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<C: QuestionCommand> FromArgMatches for QuestionCommandArgs<C> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let question = Declared::read(C::chosen(matches), matches)?;
        let (names, more) = (
            NameArgs::from_arg_matches(matches)?,
            C::More::from_arg_matches(matches)?,
        );
        Ok(Self {
            question,
            names,
            more,
            command: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Asks and prints.
pub(crate) fn run<C: QuestionCommand>(
    args: &QuestionCommandArgs<C>,
    printer: &mut Printer<'_>,
) -> anyhow::Result<Exit> {
    declared::run_as(&args.question, C::question().name(), printer)
}
