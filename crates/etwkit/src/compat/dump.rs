//! `-dump`: a line becomes arguments of `etwkit dump`.

use anyhow::bail;

use super::files::Queries;
use super::line::{Line, Word};
use super::switch::{Native, find, has, pair, without};
use super::tables::{self, Dump};
use super::{Find, chosen, csv, reconcile};

/// A line that was understood.
#[derive(Debug)]
pub(super) struct Translated {
    /// Arguments, the name of the program not among them.
    pub(super) native: Native,
    /// What the reader should know.
    pub(super) notes: Vec<String>,
    /// Whether the line wants to be shown in our own words, too.
    pub(super) is_debug: bool,
}

/// Translates the words behind the name of the program.
pub(super) fn translate(words: &[String], find: Find<'_>) -> anyhow::Result<Translated> {
    let (dump, rest) = sub_command(words)?;
    let native = ["dump".into(), dump.native.into()].into();
    let mut translated = Translated { native, notes: Vec::new(), is_debug: false };
    let mut queries = Queries::default();
    let mut line = Line::new(rest);
    while let Some(word) = line.next() {
        match word {
            Word::Plain(word) => bail!("{word:?} belongs to no switch of -dump {}", dump.native),
            Word::Switch(name) if queries.take(&name, &mut line)? => {}
            Word::Switch(name) => translated.switch(&name, dump, &mut line)?,
        }
    }
    let Translated { native, notes, .. } = &mut translated;
    last_of_each(native);
    reconcile::reconcile(dump.native, native, notes);
    chosen::columns(dump.native, native, notes);
    defaults(dump, native);
    if has(native, "--csv") {
        if csv::is_known(dump.native) {
            let style = csv::style(dump.native, native);
            csv::rows(dump.native, native, notes);
            pair(native, "--etwanalyzer-csv", &style);
            pair(native, "--etwanalyzer-line", &words.join(" "));
        } else {
            without(native, &["--csv"]);
            notes.push(format!("-csv means nothing to -dump {}", dump.native));
        }
    }
    native.push("--".into());
    native.extend(queries.found(find)?.into_iter().map(Into::into));
    Ok(translated)
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

impl Translated {
    fn switch(&mut self, name: &str, dump: &Dump, line: &mut Line) -> anyhow::Result<()> {
        match name {
            "csv" => {
                let file = super::drive::local(&line.required(name)?);
                pair(&mut self.native, "--csv", &file.display().to_string());
            }
            "nocsvseparator" if csv::is_known(dump.native) => self.native.push("--no-csv-separator".into()),
            "debug" => self.is_debug = true,
            _ => match find(dump.switches, name) {
                Some(switch) => switch.apply(name, line, &mut self.native)?,
                None if tables::KNOWN.split_whitespace().any(|known| known == name) => {
                    // ETWAnalyzer takes it and does nothing with it.
                    while line.value().is_some() {}
                    self.notes.push(format!("-{name} means nothing to -dump {}", dump.native));
                }
                None => bail!("there is no switch -{name}{}", similar(name)),
            },
        }
        Ok(())
    }
}

/// Adds what ETWAnalyzer does without being asked, and we do not.
fn defaults(dump: &Dump, native: &mut Native) {
    // It calls processes as rules do.
    if find(dump.switches, "ppn").is_some() && !has(native, "--rename-rules") {
        pair(native, "--rename-rules", "default");
    }
    // A file belongs to all processes that used it. Where nothing depends on that, extracts are asked together.
    let by_process = [
        "--process",
        "--cmdline",
        "--new-process",
        "--session",
        "--user",
        "--per-process",
        "--operation",
        "--csv",
    ];
    if dump.native == "disk" && by_process.iter().any(|option| has(native, option)) {
        native.push("--shared".into());
    }
    // It lists methods of the idle process, and leaves only sums of it out.
    let methods = ["--methods", "--top-methods", "--stack-tags"];
    if dump.native == "cpu" && methods.iter().any(|option| has(native, option)) {
        native.push("--idle".into());
    }
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
