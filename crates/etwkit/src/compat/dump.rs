//! `-dump`: a line becomes arguments of `etwkit dump`.

use std::path::PathBuf;

use anyhow::bail;

use super::line::{Line, Word};
use super::switch::{Native, find, pair};
use super::tables::{self, Dump};
use super::{Find, Wrong, files};

/// A line that was understood.
#[derive(Debug)]
pub(super) struct Translated {
    /// Arguments, the name of the program not among them.
    pub(super) native: Native,
    /// What the reader should know.
    pub(super) notes: Vec<String>,
}

/// Which files a line asks.
#[derive(Debug, Default)]
struct Files {
    queries: Vec<String>,
    is_recursive: bool,
}

/// Translates the words behind the name of the program.
pub(super) fn translate(words: &[String], find: Find<'_>) -> anyhow::Result<Translated> {
    let (dump, rest) = sub_command(words)?;
    let mut native: Native = ["dump".into(), dump.native.into()].into();
    let (mut notes, mut files) = (Vec::new(), Files::default());
    let mut line = Line::new(rest);
    while let Some(word) = line.next() {
        match word {
            Word::Plain(word) => bail!("{word:?} belongs to no switch of -dump {}", dump.native),
            Word::Switch(name) => switch(&name, dump, &mut line, &mut files, &mut native, &mut notes)?,
        }
    }
    last_of_each(&mut native);
    if native.iter().any(|arg| arg.to_string_lossy().starts_with("--csv=")) {
        anyhow::ensure!(
            super::csv::is_known(dump.native),
            "-csv: the columns of -dump {} are not known yet; etwkit dump --csv writes ours",
            dump.native
        );
        pair(&mut native, "--etwanalyzer-csv", dump.native);
        pair(&mut native, "--etwanalyzer-line", &words.join(" "));
    }
    let extracts = find(&files.queries, files.is_recursive)?;
    native.push("--".into());
    native.extend(extracts.into_iter().map(Into::into));
    Ok(Translated { native, notes })
}

/// The files of the disk that queries name; without any those of the current folder.
pub(super) fn in_files(queries: &[String], is_recursive: bool) -> anyhow::Result<Vec<PathBuf>> {
    let here = [".".to_owned()];
    let queries = if queries.is_empty() { &here } else { queries };
    let extracts = files::extracts(queries, is_recursive)?;
    if extracts.is_empty() {
        let query = queries.join(" -fd ");
        return Err(Wrong::new(
            format!("no file fits -fd {query}"),
            "a query is compared with whole paths: begin it with *",
        )
        .into());
    }
    Ok(extracts)
}

/// The sub command, and the words without it and without `-dump`.
fn sub_command(words: &[String]) -> anyhow::Result<(&'static Dump, Vec<String>)> {
    let is_dump = |word: &&String| word.eq_ignore_ascii_case("-dump");
    let at = words.iter().position(|word| is_dump(&word)).map(|at| at + 1);
    let behind = at.and_then(|at| Some((at, tables::dump(words.get(at)?)?)));
    // It may stand anywhere.
    let found =
        behind.or_else(|| words.iter().enumerate().find_map(|(at, word)| Some((at, tables::dump(word)?))));
    let Some((at, dump)) = found else {
        let all: Vec<&str> = tables::DUMPS.iter().filter_map(|dump| dump.names.first()).copied().collect();
        match at.and_then(|at| words.get(at)).filter(|word| !word.starts_with('-')) {
            Some(word) => bail!("-dump {word}: there is no such sub command; there are: {}", all.join(" ")),
            None => bail!("-dump needs a sub command: {}", all.join(" ")),
        }
    };
    let rest = words.iter().enumerate().filter(|(place, word)| *place != at && !is_dump(word));
    Ok((dump, rest.map(|(_, word)| word.clone()).collect()))
}

fn switch(
    name: &str,
    dump: &Dump,
    line: &mut Line,
    files: &mut Files,
    native: &mut Native,
    notes: &mut Vec<String>,
) -> anyhow::Result<()> {
    match name {
        "fd" | "filedir" | "dir" => files.queries.push(line.required(name)?),
        "recursive" => files.is_recursive = true,
        "csv" => {
            let file = super::drive::local(&line.required(name)?);
            pair(native, "--csv", &file.display().to_string());
        }
        "nocsvseparator" => native.push("--no-csv-separator".into()),
        "debug" => notes.push(String::new()),
        _ => match find(dump.switches, name) {
            Some(switch) => switch.apply(name, line, native)?,
            None if tables::KNOWN.split_whitespace().any(|known| known == name) => {
                // ETWAnalyzer takes it and does nothing with it.
                while line.value().is_some() {}
                notes.push(format!("-{name} means nothing to -dump {}", dump.native));
            }
            None => bail!("there is no switch -{name}{}", similar(name)),
        },
    }
    Ok(())
}

/// Of an option that stands several times the last one counts, as it does in ETWAnalyzer.
fn last_of_each(native: &mut Native) {
    let name = |arg: &std::ffi::OsString| {
        let arg = arg.to_string_lossy();
        arg.split('=').next().filter(|name| name.starts_with("--")).map(str::to_owned)
    };
    let names: Vec<Option<String>> = native.iter().map(name).collect();
    let mut place = 0;
    native.retain(|_| {
        let (of, behind) = (names.get(place), names.get(place + 1..).unwrap_or_default());
        place += 1;
        of.is_none_or(|of| of.is_none() || !behind.contains(of))
    });
}

/// A switch that was perhaps meant.
fn similar(name: &str) -> String {
    let begins = |known: &&str| known.starts_with(name) || (known.len() > 2 && name.starts_with(known));
    // The longest one that begins the same says most.
    let found = tables::KNOWN.split_whitespace().filter(begins).max_by_key(|known| known.len());
    found.map(|known| format!("; there is -{known}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_several_counts() {
        let mut native: Native =
            ["dump", "cpu", "--top=1", "--details", "--top=2", "--details"].map(Into::into).into();
        last_of_each(&mut native);
        assert_eq!(native, ["dump", "cpu", "--top=2", "--details"]);
    }
}
