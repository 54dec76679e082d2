//! Answers about redacted traces with their real names: the table of substitutes is applied to all
//! that a command prints, and to the names that it chooses by.

mod filter;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use etwkit_cut::map::{Form, Originals, OriginalsWriter};
use etwkit_terminal::Exit;
use etwkit_terminal::errors::advised;

use crate::{Context, Screen, cli};

/// Commands whose answers are not printed.
const SILENT: [&str; 3] = ["view", "export", "wpaexporter"];

/// Placeholders of values that name things of a trace, for which a redacted one has substitutes.
/// Other names, such as those of providers and of our rules, are in it as they were.
const OF_TRACE: [&str; 8] = [
    "ADDRESSES",
    "FRAMES",
    "KEYS",
    "METHODS",
    "NAMES",
    "PATHS",
    "PROCESSES",
    "SIDS",
];

/// A wish for real names.
pub(crate) struct RealNames {
    table: PathBuf,
    form: Form,
    command: Option<String>,
}

/// Returns the table that a command line names. `cut` writes it instead.
pub(crate) fn of(args: &[OsString]) -> Option<RealNames> {
    // Before the arguments are parsed: errors about them are printed, too.
    let mut words = args.iter().skip(1).take_while(|arg| *arg != "--");
    let mut table = None;
    while let Some(word) = words.next() {
        if word == "--map" {
            table = words.next().map(PathBuf::from);
        } else if let Some(path) = word.to_str().and_then(|word| word.strip_prefix("--map=")) {
            table = Some(path.into());
        }
    }
    let is_table = |arg: &str| table.as_deref() == Some(Path::new(arg));
    let command = args
        .iter()
        .skip(1)
        .filter_map(|arg| arg.to_str())
        .find(|arg| !arg.starts_with('-') && !is_table(arg));
    if command == Some("cut") {
        return None;
    }
    let is_csv = args.iter().any(|arg| arg == "csv" || arg == "--format=csv");
    Some(RealNames {
        table: table?,
        form: if is_csv { Form::Csv } else { Form::Text },
        command: command.map(str::to_owned),
    })
}

impl RealNames {
    /// Answers a command line.
    pub(crate) fn answer(&self, args: &[OsString], screen: &mut Screen<'_>) -> Exit {
        let originals = match self.originals() {
            Ok(originals) => originals,
            Err(error) => return screen.answer(Context::default(), |_| Err(error)),
        };
        let args = match self.with_substitutes(args, &originals) {
            Ok(args) => args,
            Err(error) => return screen.answer(Context::default(), |_| Err(error)),
        };
        let mut out = OriginalsWriter::new(&mut *screen.out, &originals, self.form);
        let mut err = OriginalsWriter::new(&mut *screen.err, &originals, Form::Text);
        let exit = Screen {
            out: &mut out,
            err: &mut err,
            terminal: screen.terminal,
            session: screen.session,
            speech: screen.speech,
        }
        .run(&args);
        // What could not be written before is reported by the command.
        match (out.finish(), err.finish()) {
            (Ok(()), Ok(())) => exit,
            _ => Exit::Error,
        }
    }

    /// Returns a command line with substitutes instead of the real names that it chooses by.
    fn with_substitutes(
        &self,
        args: &[OsString],
        originals: &Originals,
    ) -> anyhow::Result<Vec<OsString>> {
        let command = self.command_of(args);
        let mut new = Vec::with_capacity(args.len());
        let mut words = args.iter();
        while let Some(word) = words.next() {
            if word == "--" {
                new.push(word.clone());
                new.extend(words.by_ref().cloned());
                break;
            }
            let option = word
                .to_str()
                .and_then(|word| option_of_names(&command, word));
            match option {
                Some((option, Some(filter))) => {
                    let filter = self.filter(option, filter, originals)?;
                    new.push(OsString::from(format!("{option}={filter}")));
                }
                Some((option, None)) => {
                    new.push(word.clone());
                    let filter = words.next();
                    new.extend(match filter.and_then(|filter| filter.to_str()) {
                        Some(filter) => {
                            Some(OsString::from(self.filter(option, filter, originals)?))
                        }
                        None => filter.cloned(),
                    });
                }
                None => new.push(word.clone()),
            }
        }
        Ok(new)
    }

    /// Returns the command that a command line is for.
    fn command_of(&self, args: &[OsString]) -> clap::Command {
        let root = cli::command();
        let mut command = &root;
        for word in args.iter().skip(1).take_while(|arg| *arg != "--") {
            let is_table = Path::new(word) == self.table;
            if let Some(inner) = command.find_subcommand(word).filter(|_| !is_table) {
                command = inner;
            }
        }
        command.clone()
    }

    /// Returns a filter with substitutes instead of real names.
    fn filter(&self, option: &str, filter: &str, originals: &Originals) -> anyhow::Result<String> {
        filter::substituted(filter, originals).ok_or_else(|| {
            let message = format!(
                "{option} {filter} matches more than {} names of {}",
                filter::MOST_NAMES,
                self.table.display()
            );
            advised(message, "write more of the name")
        })
    }

    fn originals(&self) -> anyhow::Result<Originals> {
        if let Some(command) = self.command.as_deref().filter(|name| SILENT.contains(name)) {
            let message = format!("--map changes printed answers, and {command} prints none");
            return Err(advised(message, "dump and diagnose print them"));
        }
        Originals::read(&self.table)
    }
}

/// Returns the option that chooses by names of a trace, as it is written in a word, and its value if
/// the word has it.
fn option_of_names<'w>(
    command: &clap::Command,
    word: &'w str,
) -> Option<(&'w str, Option<&'w str>)> {
    let of_names = |option: &str| {
        command
            .get_arguments()
            .find(|arg| is_called(arg, option) && takes_names(arg))
    };
    if let Some(arg) = of_names(word) {
        // Otherwise the next word is not its value.
        return (!arg.is_require_equals_set()).then_some((word, None));
    }
    let (option, value) = match word.split_once('=') {
        Some(parts) => parts,
        // The value of a short option may follow without a sign between.
        None => word.split_at_checked(2)?,
    };
    of_names(option).map(|_| (option, Some(value)))
}

fn is_called(arg: &clap::Arg, option: &str) -> bool {
    match option.strip_prefix("--") {
        Some(name) => {
            let mut names = arg.get_all_aliases().into_iter().flatten();
            arg.get_long() == Some(name) || names.any(|alias| alias == name)
        }
        None => {
            let short = arg.get_short().map(|letter| format!("-{letter}"));
            short.is_some_and(|short| short == option)
        }
    }
}

/// Returns `true` if the values of an option name things of a trace.
fn takes_names(arg: &clap::Arg) -> bool {
    let mut placeholders = arg.get_value_names().into_iter().flatten();
    placeholders.any(|placeholder| OF_TRACE.contains(&placeholder.as_str()))
        && arg.get_possible_values().is_empty()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Placeholders of values that name nothing that has a substitute. The place of a new one is
    /// here or among [`OF_TRACE`].
    const OTHERS: &str = "0|1 A..B ADDRESS ADDRESS:PORT CALLS CLASS COLUMNS CONDITION DAYS DIR \
         ENDS ENGINE EVENTS FILE FILE.etl FILE|FOLDER FILE|NAME FILE|default FILE|default|none \
         FILTER FOLDER FORMAT FORMAT;FORMAT GIB HANDLES HOW IDS KB KIND KINDS LABELS LAKE LIBRARY \
         LINE LINK LIST MACHINE:PORT MACHINES MARK MB METRIC METRICS MIB MODE MODE[:FILTER] MS N \
         N,… NAME NAME=VALUE NAME=VALUES NUMBER NUMBERS ORDER PATH PERCENT PHASE PHASES PID PORT \
         PROFILE PROPERTIES PROTOCOL PROVIDERS QUESTION REASONS REGIONS ROWS RULES RULE|all S \
         SECONDS SETTING=VALUES SIZE STATUS TABLE TAGS TCBS TESTS TEXT TID TIERS TIME TOPIC TRACE \
         TYPES WATTS WHAT WHEN WORD X";

    #[test]
    fn the_placeholder_of_each_option_decides_whether_its_values_have_substitutes() {
        let mut seen = BTreeSet::new();
        let mut commands = vec![cli::command()];
        while let Some(command) = commands.pop() {
            commands.extend(command.get_subcommands().cloned());
            let options = command
                .get_arguments()
                .filter(|arg| arg.get_long().is_some() && arg.get_possible_values().is_empty());
            for option in options.filter(|arg| arg.get_action().takes_values()) {
                let placeholders = option.get_value_names().unwrap_or_default();
                assert!(!placeholders.is_empty(), "{option}");
                seen.extend(placeholders.iter().map(ToString::to_string));
            }
        }
        let others: BTreeSet<String> = OTHERS.split_whitespace().map(str::to_owned).collect();
        let of_trace: BTreeSet<String> = OF_TRACE.map(str::to_owned).into();
        let of_names: BTreeSet<String> = seen.difference(&others).cloned().collect();
        assert_eq!(of_names, of_trace);
    }

    #[test]
    fn options_of_all_kinds_of_commands_take_real_names() {
        let takes = |line: &str| {
            let args: Vec<OsString> = line.split(' ').map(Into::into).collect();
            let wanted = of(&args).unwrap();
            let option = args.last().and_then(|option| option.to_str()).unwrap();
            option_of_names(&wanted.command_of(&args), option).is_some()
        };
        for line in [
            "dump alpc --receiver",
            "dump cpu --methods",
            "dump cpu --zero-process",
            "dump dns --query",
            "dump file --file",
            "dump net --remote",
            "dump objectref --related-process",
            "dump process --parent",
            "dump process --user",
            "dump registry --key",
            "dump version --dll",
            "dump wait --method",
            "critical-path --process",
            "diff --process",
            "events --process",
            "strace -p",
        ] {
            assert!(takes(&format!("etwkit --map m {line}")), "{line}");
        }
        for line in [
            "dump cpu --column",
            "dump cpu --machine",
            "dump events --event",
            "dump wait --reason",
            "diagnose --rule",
            "events --provider",
            "sql --file",
        ] {
            assert!(!takes(&format!("etwkit --map m {line}")), "{line}");
        }
    }

    fn table(line: &str) -> Option<PathBuf> {
        let args: Vec<OsString> = line.split(' ').map(Into::into).collect();
        of(&args).map(|wanted| wanted.table)
    }

    #[test]
    fn options_of_names_get_substitutes() {
        let table = "{\"etwkit_substitutes\":1}\n\
                     {\"kind\":\"program\",\"substitute\":\"program-1\",\"original\":\"zebulon\"}";
        let originals = Originals::parse(table).unwrap();
        for (line, expected) in [
            (
                "etwkit --map m dump cpu --process zebulon zebulon",
                "etwkit --map m dump cpu --process program-1 zebulon",
            ),
            (
                "etwkit dump cpu --map=m --process=zebulon.exe --top 3 a.etl",
                "etwkit dump cpu --map=m --process=program-1.exe --top 3 a.etl",
            ),
            (
                "etwkit strace -pzebulon --map m a.etl",
                "etwkit strace -p=program-1 --map m a.etl",
            ),
            (
                "etwkit strace -p zebulon -e zebulon --map m a.etl",
                "etwkit strace -p program-1 -e zebulon --map m a.etl",
            ),
            (
                "etwkit --map events dump tcp --process zebulon a.etl",
                "etwkit --map events dump tcp --process program-1 a.etl",
            ),
            (
                "etwkit dump events --provider zebulon --stack-filter zebulon --map m",
                "etwkit dump events --provider zebulon --stack-filter program-1 --map m",
            ),
            (
                "etwkit sql --map m --file zebulon a.etl",
                "etwkit sql --map m --file zebulon a.etl",
            ),
            (
                "etwkit dump cpu --map m -- --process zebulon",
                "etwkit dump cpu --map m -- --process zebulon",
            ),
            (
                "etwkit dump cpu --map m --process",
                "etwkit dump cpu --map m --process",
            ),
        ] {
            let args: Vec<OsString> = line.split(' ').map(Into::into).collect();
            let wanted = of(&args).unwrap();
            let new = wanted.with_substitutes(&args, &originals).unwrap();
            let expected: Vec<OsString> = expected.split(' ').map(Into::into).collect();
            assert_eq!(new, expected, "{line}");
        }
    }

    #[test]
    fn a_table_is_read_by_all_commands_but_the_one_that_writes_it() {
        assert_eq!(table("etwkit diagnose a.etl --map m"), Some("m".into()));
        assert_eq!(table("etwkit --map=m dump cpu a.etl"), Some("m".into()));
        assert_eq!(table("etwkit --map m cut a.etl --out b.etl"), None);
        assert_eq!(table("etwkit diagnose a.etl"), None);
        assert_eq!(table("etwkit sql -- --map m"), None);
    }
}
