//! Answers about redacted traces with their real names: the table of stand-ins is applied to all that
//! a command prints.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use etwkit_cut::map::{Form, Named, Originals};
use etwkit_terminal::Exit;
use etwkit_terminal::errors::advised;

use crate::{Context, Screen};

/// Commands whose answers are not printed.
const SILENT: [&str; 3] = ["view", "export", "wpaexporter"];

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
        let mut out = Named::new(&mut *screen.out, &originals, self.form);
        let mut err = Named::new(&mut *screen.err, &originals, Form::Text);
        let exit = Screen {
            out: &mut out,
            err: &mut err,
            terminal: screen.terminal,
            session: screen.session,
            speech: screen.speech,
        }
        .run(args);
        // What could not be written before is reported by the command.
        match (out.finish(), err.finish()) {
            (Ok(()), Ok(())) => exit,
            _ => Exit::Error,
        }
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
    fn a_table_is_read_by_all_commands_but_the_one_that_writes_it() {
        assert_eq!(table("etwkit diagnose a.etl --map m"), Some("m".into()));
        assert_eq!(table("etwkit --map=m dump cpu a.etl"), Some("m".into()));
        assert_eq!(table("etwkit --map m cut a.etl --out b.etl"), None);
        assert_eq!(table("etwkit diagnose a.etl"), None);
        assert_eq!(table("etwkit sql -- --map m"), None);
    }
}
