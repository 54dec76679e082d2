//! Declared options as arguments. This file imports no command; the commands import it.

use std::marker::PhantomData;

use clap::builder::{PossibleValuesParser, ValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use etwkit_question::{Opt, OptionError, OptionKind, Request, Values};

/// Heading of the options that change how an answer is printed.
pub(crate) const OUTPUT: &str = "Output";

/// The option that prints the schema of requests and rows, which needs no other arguments.
pub(crate) const SCHEMA: &str = "show-schema";

/// Returns an option as an argument.
pub(crate) fn arg(option: &Opt) -> Arg {
    let arg = Arg::new(option.name)
        .long(option.name)
        .help(option.sentence);
    let arg = match &option.kind {
        OptionKind::Flag => arg.action(ArgAction::SetTrue),
        OptionKind::Text => arg
            .allow_hyphen_values(matches!(
                option.value_name,
                "NUMBERS" | "IDS" | "A..B" | "TIME"
            ))
            .allow_negative_numbers(option.value_name == "STATUS"),
        OptionKind::Words(words) => {
            arg.value_parser(PossibleValuesParser::new(words.iter().copied()))
        }
        OptionKind::Several(words) => {
            let words = PossibleValuesParser::new(words.iter().copied());
            arg.action(ArgAction::Append)
                .value_delimiter(',')
                .value_parser(words)
        }
        OptionKind::Range(_) => arg.allow_hyphen_values(true),
        OptionKind::Whole(least, most) => {
            arg.allow_negative_numbers(*least < 0)
                .value_parser(ValueParser::from(
                    clap::value_parser!(i64).range(*least..=*most),
                ))
        }
        OptionKind::Number => arg.value_parser(clap::value_parser!(f64)),
        OptionKind::Files | OptionKind::List => arg.action(ArgAction::Append),
        OptionKind::Two => arg.num_args(2),
    };
    let arg = if option.kind == OptionKind::Flag {
        arg
    } else {
        arg.value_name(option.value_name)
    };
    // Without the `=`, the word after an option with an optional value would be taken for that
    // value.
    let arg = option.alone.into_iter().fold(arg, |arg, value| {
        arg.num_args(0..=1)
            .require_equals(!option.is_apart)
            .default_missing_value(value)
    });
    let arg = option
        .default
        .iter()
        .fold(arg, |arg, default| arg.default_value(default.clone()));
    let arg = arg.conflicts_with_all(option.excludes);
    let arg = option.requires.into_iter().fold(arg, Arg::requires);
    let arg = arg.visible_aliases(option.also.iter().copied());
    let arg = if option.is_required {
        arg.required_unless_present(SCHEMA)
    } else {
        arg
    };
    match option.heading {
        Some(heading) => arg.help_heading(heading),
        None if option.is_output() => arg.help_heading(OUTPUT),
        None => arg,
    }
}

/// Returns the options that are given on the command line.
pub(crate) fn values(options: &[Opt], matches: &ArgMatches) -> Values {
    let is_given =
        |option: &&Opt| matches.value_source(option.name) == Some(ValueSource::CommandLine);
    let value = |option: &Opt| {
        let given = matches.get_raw(option.name).into_iter().flatten();
        let given: Vec<_> = given.map(|text| text.to_string_lossy()).collect();
        let value = match option.kind {
            OptionKind::Flag => true.into(),
            OptionKind::Files | OptionKind::List | OptionKind::Two => given
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .into(),
            _ => given.join(",").into(),
        };
        (option.name.to_owned(), value)
    };
    options.iter().filter(is_given).map(value).collect()
}

/// A declared group of options among the arguments of a command.
#[derive(Debug)]
pub(crate) struct OptionGroup<R>(Values, PhantomData<R>);

impl<R: Request> OptionGroup<R> {
    /// Reads the request from the options.
    pub(crate) fn read(&self) -> Result<R, OptionError> {
        R::read(&self.0)
    }
}

impl<R: Request> Args for OptionGroup<R> {
    fn augment_args(command: Command) -> Command {
        command.args(R::options().iter().map(arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<R: Request> FromArgMatches for OptionGroup<R> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(values(&R::options(), matches), PhantomData))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
