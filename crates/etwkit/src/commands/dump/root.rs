//! `etwkit dump` as the command line has it: all questions as its commands.

use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};

use super::args::Common;
use super::declared::{self, Declared};
use super::test_run::TestRunArgs;
use crate::descriptions::DescriptionArgs;
use crate::rules::NameArgs;

#[derive(Debug, Args)]
pub(crate) struct DumpArgs {
    #[command(subcommand)]
    pub(crate) dump: AnyDump,
    #[command(flatten)]
    pub(crate) names: NameArgs,
}

/// A question: declared, or the one that is asked of names of files.
#[derive(Debug)]
pub(crate) enum AnyDump {
    Declared(Box<Declared>),
    TestRun(Box<TestRunArgs>),
}

/// The questions in the order in which help lists them.
const ORDER: [&str; 34] = [
    "overview",
    "process",
    "cpu",
    "disk",
    "file",
    "dns",
    "tcp",
    "cores",
    "pmc",
    "lbr",
    "exception",
    "mark",
    "tracelog",
    "thread-pool",
    "power",
    "memory",
    "syscall",
    "objectref",
    "virtual-alloc",
    "user-lock",
    "gdi-user",
    "ui-delay",
    "focus",
    "screenshot",
    "registry",
    "region",
    "loggers",
    "standby",
    "stats",
    "test-run",
    "time",
    "version",
    "wait",
    "critical-path",
];

/// The question that is asked of names of files.
const TEST_RUN: &str = "test-run";

impl Subcommand for AnyDump {
    fn augment_subcommands(command: Command) -> Command {
        let test_run = TestRunArgs::augment_args(Command::new(TEST_RUN).alias("testrun"));
        let test_run = test_run.about("Runs of automated tests, by the names of their files");
        let command = command.subcommands(declared::commands()).subcommand(test_run);
        (0..).zip(ORDER).fold(command, |command, (at, name)| match command.find_subcommand(name) {
            Some(_) => command.mut_subcommand(name, |one| one.display_order(at)),
            None => command,
        })
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        declared::question(name).is_some() || name == TEST_RUN
    }
}

impl FromArgMatches for AnyDump {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (name, inner) = matches.subcommand().unwrap_or(("", matches));
        match declared::question(name) {
            Some(question) => Ok(Self::Declared(Box::new(Declared::read(question, inner)?))),
            None => TestRunArgs::from_arg_matches(inner).map(|args| Self::TestRun(Box::new(args))),
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl AnyDump {
    /// The options that all dumps share, where this one has them.
    pub(crate) fn common_mut(&mut self) -> Option<&mut Common> {
        match self {
            Self::Declared(args) => Some(&mut args.common),
            Self::TestRun(_) => None,
        }
    }

    /// What describes the events that are asked for.
    pub(crate) fn descriptions(&self) -> Option<&DescriptionArgs> {
        match self {
            Self::Declared(args) => args.descriptions.as_ref(),
            Self::TestRun(_) => None,
        }
    }
}
