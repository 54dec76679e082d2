//! `etwkit dump` on the command line, with all questions as its subcommands.

use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};

use super::declared::{self, Declared};
use crate::rules::NameArgs;

#[derive(Debug, Args)]
pub(crate) struct DumpArgs {
    #[command(subcommand)]
    pub(crate) question: Declared,
    #[command(flatten)]
    pub(crate) names: NameArgs,
}

impl Subcommand for Declared {
    fn augment_subcommands(command: Command) -> Command {
        command.subcommands(declared::commands())
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        declared::question(name).is_some()
    }
}

impl FromArgMatches for Declared {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (name, inner) = matches.subcommand().unwrap_or(("", matches));
        match declared::question(name) {
            Some(question) => Self::read(question, inner),
            None => Err(clap::Error::raw(
                clap::error::ErrorKind::InvalidSubcommand,
                name,
            )),
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
