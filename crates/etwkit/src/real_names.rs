//! Answers about redacted traces with their real names: the table of substitutes is applied to all
//! that a command prints, and to the names that it chooses by.

mod filter;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use etwkit_cut::map::{Form, Named, Originals};
use etwkit_terminal::Exit;
use etwkit_terminal::errors::advised;

use crate::{Context, Screen};

/// Commands whose answers are not printed.
const SILENT: [&str; 3] = ["view", "export", "wpaexporter"];

/// Options that choose by names of a trace.
const OF_NAMES: [&str; 13] = [
    "creator",
    "dll",
    "driver",
    "file",
    "method",
    "methods",
    "parent",
    "process",
    "query",
    "receiver",
    "related-process",
    "service",
    "zero-process",
];

/// A wish for real names.
pub(crate) struct Wanted {
    table: PathBuf,
    form: Form,
    command: Option<String>,
}

/// Returns the table that a command line names. `cut` writes it instead.
pub(crate) fn of(args: &[OsString]) -> Option<Wanted> {
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
    Some(Wanted {
        table: table?,
        form: if is_csv { Form::Csv } else { Form::Text },
        command: command.map(str::to_owned),
    })
}

impl Wanted {
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
        let mut out = Named::new(&mut *screen.out, &originals, self.form);
        let mut err = Named::new(&mut *screen.err, &originals, Form::Text);
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
        let mut new = Vec::with_capacity(args.len());
        let mut words = args.iter();
        while let Some(word) = words.next() {
            if word == "--" {
                new.push(word.clone());
                new.extend(words.by_ref().cloned());
                break;
            }
            match word.to_str().and_then(|word| self.option_of_names(word)) {
                Some((name, Some(filter))) => {
                    let filter = self.filter(name, filter, originals)?;
                    new.push(OsString::from(format!("--{name}={filter}")));
                }
                Some((name, None)) => {
                    new.push(word.clone());
                    let filter = words.next();
                    new.extend(match filter.and_then(|filter| filter.to_str()) {
                        Some(filter) => Some(OsString::from(self.filter(name, filter, originals)?)),
                        None => filter.cloned(),
                    });
                }
                None => new.push(word.clone()),
            }
        }
        Ok(new)
    }

    /// Returns the name of an option that chooses by names, and its value if the word has it.
    fn option_of_names<'w>(&self, word: &'w str) -> Option<(&'w str, Option<&'w str>)> {
        let option = word.strip_prefix("--")?;
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (option, None),
        };
        // Statements are read from it.
        let is_file_of_sql = name == "file" && self.command.as_deref() == Some("sql");
        let is_of_names = OF_NAMES.contains(&name) && !is_file_of_sql;
        is_of_names.then_some((name, value))
    }

    /// Returns a filter with substitutes instead of real names.
    fn filter(&self, option: &str, filter: &str, originals: &Originals) -> anyhow::Result<String> {
        filter::substituted(filter, originals).ok_or_else(|| {
            let message = format!(
                "--{option} {filter} matches more than {} names of {}",
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

#[cfg(test)]
mod tests {
    use super::*;

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
