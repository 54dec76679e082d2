//! `-loadsymbol` and `-converttime`.

use anyhow::{bail, ensure};

use super::Find;
use super::extract::symbols;
use super::files::{self, Queries};
use super::line::{Line, Word};
use super::switch::{self, NO_COLOR, Native, Switch, To};

/// Switches that both have.
pub(super) const QUIET: &[Switch] = &[
    Switch { names: &["debug"], to: To::Nothing(0, "there is no log file") },
    Switch { names: &["nocolor"], to: NO_COLOR },
];

pub(super) const LOAD_SYMBOL: &[Switch] = &[
    Switch { names: &["symserver", "symfolder"], to: To::Special(symbols) },
    Switch {
        names: &["symcache"],
        to: To::Nothing(1, "names that were found are kept in the cache of etwkit"),
    },
    Switch { names: &["indent", "overwrite"], to: To::Nothing(0, "an extract is no JSON") },
    Switch {
        names: &["nooverwrite", "outdir"],
        to: To::Missing("names are added to the extract where it lies; copy it first"),
    },
];

pub(super) const CONVERT_TIME: &[Switch] = &[
    Switch { names: &["time"], to: To::Text("--time") },
    Switch { names: &["showfullfilename", "sffn"], to: To::Flag("--show-full-file-name") },
];

/// `-loadsymbol -fd X -symserver MS`.
pub(super) fn load_symbol(words: &[String]) -> anyhow::Result<Native> {
    translate(words, "loadsymbol", LOAD_SYMBOL, &["symbols", "load"], None)
}

/// `-converttime -fd X -time "..."`; `find` chooses others than files of the disk.
pub(super) fn convert_time(words: &[String], find: Option<Find<'_>>) -> anyhow::Result<Native> {
    let native = translate(words, "converttime", CONVERT_TIME, &["dump", "time"], find)?;
    let has_time = native.iter().any(|arg| arg.to_string_lossy().starts_with("--time="));
    ensure!(has_time, "-converttime needs a time: add -time \"2022-10-02 17:47:38.416\"");
    Ok(native)
}

fn translate(
    words: &[String],
    command: &str,
    switches: &[Switch],
    native: &[&str],
    find: Option<Find<'_>>,
) -> anyhow::Result<Native> {
    let mut native: Native = native.iter().map(Into::into).collect();
    let mut queries = Queries::default();
    let mut line = Line::new(words.iter().cloned());
    while let Some(word) = line.next() {
        match word {
            Word::Plain(word) => bail!("{word:?} belongs to no switch of -{command}"),
            Word::Switch(name) if name == command => {}
            Word::Switch(name) if queries.take(&name, &mut line)? => {}
            Word::Switch(name) => match switch::find(&[switches, QUIET], &name) {
                Some(switch) => switch.apply(&name, &mut line, &mut native)?,
                None => bail!("there is no switch -{name} of -{command}"),
            },
        }
    }
    let extracts = match find {
        Some(find) => queries.found(find)?,
        None => {
            ensure!(
                !queries.is_empty(),
                "-{command} needs extracts: add -fd with a file, a folder or a query"
            );
            queries.found(&files::in_files)?
        }
    };
    native.push("--".into());
    native.extend(extracts.into_iter().map(Into::into));
    Ok(native)
}
