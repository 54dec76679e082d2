//! `-dump`: a line becomes arguments of `etwkit dump`.

use anyhow::bail;
use etwkit_sql::nearest;

use crate::line::{Line, Word};
use crate::read::read;
use crate::switch::{Native, find, has, pair, without};
use crate::tables::{self, Dump};
use crate::{Find, LineError, Step, column_names, csv, reconcile};

/// Translates the words after the name of the program.
pub(crate) fn translate(words: &[String], find: Find<'_>) -> anyhow::Result<Step> {
    let (dump, rest) = sub_command(words)?;
    let mut step = Step::new(["dump".into(), dump.native.into()].into());
    let mut has_separator_line = true;
    let said = read(
        &format!("dump {}", dump.native),
        &rest,
        dump.switches,
        |word, line, said| {
            let Word::Switch(name) = word else {
                return Ok(false);
            };
            match name.as_str() {
                "csv" => {
                    let file = crate::drive::local(&line.required(name)?);
                    pair(&mut said.native, "--csv", &file.display().to_string());
                }
                "nocsvseparator" if csv::is_known(dump.native) => has_separator_line = false,
                "debug" => step.shows_line = true,
                _ => step.notes.push(idle(name, dump, line)?),
            }
            Ok(true)
        },
    )?;
    let mut native = said.native;
    let notes = &mut step.notes;
    // Repeated switches are dropped first, because the next step compares switches with each other,
    // and columns depend on which of them are left.
    last_of_each(&mut native);
    reconcile::reconcile(dump.native, &mut native, notes);
    column_names::columns(dump.native, &mut native, notes);
    defaults(dump, &mut native);
    if has(&native, "--csv") {
        if csv::is_known(dump.native) {
            let style = csv::Style::new(dump.native, &native, words.join(" "), has_separator_line);
            step.etwanalyzer.csv = Some(style);
            csv::rows(dump.native, &mut native, notes);
        } else {
            without(&mut native, &["--csv"]);
            notes.push(format!("-csv means nothing to -dump {}", dump.native));
        }
    }
    step.args.extend(native);
    step.args.push("--".into());
    step.args
        .extend(said.queries.found(find)?.into_iter().map(Into::into));
    Ok(step)
}

/// Returns the note for a switch that ETWAnalyzer accepts for any sub command and that has no
/// effect for this one.
fn idle(name: &str, dump: &Dump, line: &mut Line) -> anyhow::Result<String> {
    if !tables::KNOWN.split_whitespace().any(|known| known == name) {
        bail!("there is no switch -{name}{}", similar(name, dump));
    }
    // Its values would otherwise be taken for words that belong to no switch.
    while line.value().is_some() {}
    Ok(format!("-{name} means nothing to -dump {}", dump.native))
}

/// Returns the sub command, and the words without it and without `-dump`.
fn sub_command(words: &[String]) -> anyhow::Result<(&'static Dump, Vec<String>)> {
    let is_dump = |word: &&String| word.eq_ignore_ascii_case("-dump");
    let at = words
        .iter()
        .position(|word| is_dump(&word))
        .map(|at| at + 1);
    // The word after `-dump` goes first: values of other switches can be words that name a sub
    // command.
    let behind = at.and_then(|at| Some((at, tables::dump(words.get(at)?)?)));
    // A sub command may be anywhere in the line.
    let found = behind.or_else(|| {
        words
            .iter()
            .enumerate()
            .find_map(|(at, word)| Some((at, tables::dump(word)?)))
    });
    let Some((at, dump)) = found else {
        let all: Vec<&str> = tables::DUMPS
            .iter()
            .filter_map(|dump| dump.names.first())
            .copied()
            .collect();
        match at
            .and_then(|at| words.get(at))
            .filter(|word| !word.starts_with('-'))
        {
            Some(word) => return Err(no_sub_command(word, &all).into()),
            None => bail!("-dump needs a sub command: {}", all.join(" ")),
        }
    };
    let rest = words
        .iter()
        .enumerate()
        .filter(|(place, word)| *place != at && !is_dump(word));
    Ok((dump, rest.map(|(_, word)| word.clone()).collect()))
}

/// Adds options for defaults of ETWAnalyzer that differ from ours.
fn defaults(dump: &Dump, native: &mut Native) {
    // ETWAnalyzer applies its rules for names of processes unless `-ppn` is given.
    if find(dump.switches, "ppn").is_some() && !has(native, "--rename-rules") {
        pair(native, "--rename-rules", "default");
    }
    // Its list of processes is sorted by name, both complete and filtered.
    if dump.native == "process" && !has(native, "--sort-by") {
        pair(native, "--sort-by", "name");
    }
    if dump.native == "cpu" && !has(native, "--sort-by") {
        pair(native, "--sort-by", "cpu");
    }
    // There the I/O of a file belongs to all processes that used it. If no option depends on
    // processes, `--shared` is left out, since several extracts can be queried together without it.
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
    // It lists methods of the idle process, and excludes that process only in sums.
    let methods = ["--methods", "--top-methods", "--stack-tags"];
    if dump.native == "cpu" && methods.iter().any(|option| has(native, option)) {
        native.push("--idle".into());
    }
}

/// Keeps the last occurrence of an option, like ETWAnalyzer.
fn last_of_each(native: &mut Native) {
    let name = |arg: &std::ffi::OsString| {
        let arg = arg.to_string_lossy();
        arg.split('=')
            .next()
            .filter(|name| name.starts_with("--"))
            .map(str::to_owned)
    };
    let names: Vec<Option<String>> = native.iter().map(name).collect();
    let mut place = 0;
    native.retain(|_| {
        let of = names.get(place);
        place += 1;
        let mut behind = names.iter().skip(place);
        of.is_none_or(|of| of.is_none() || !behind.any(|name| name == of))
    });
}

/// Returns the error for a sub command that does not exist.
fn no_sub_command(word: &str, all: &[&str]) -> LineError {
    let hint = nearest(&word.to_lowercase(), all).map_or_else(
        || "`etwkit -help` lists the sub commands".to_owned(),
        |meant| format!("did you mean -dump {meant}?"),
    );
    let all = all.join(" ");
    LineError::new(
        format!("-dump {word}: there is no sub command of this name; there are: {all}"),
        hint,
    )
}

/// Returns a suggestion for a misspelt switch: one that has an effect for this sub command.
fn similar(name: &str, dump: &Dump) -> String {
    let all: Vec<&str> = dump
        .switches
        .iter()
        .copied()
        .flatten()
        .flat_map(|switch| switch.names)
        .copied()
        .collect();
    let begins =
        |known: &&str| known.starts_with(name) || (known.len() > 2 && name.starts_with(known));
    // The longest common prefix is the best suggestion.
    let found = all
        .iter()
        .copied()
        .filter(begins)
        .max_by_key(|known| known.len());
    found
        .or_else(|| nearest(name, &all))
        .map_or_else(String::new, |known| format!("; there is -{known}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_switches_with_an_effect_are_suggested() {
        let dump = |name: &str| {
            let named = |dump: &&Dump| dump.names.contains(&name);
            tables::DUMPS.iter().find(named).unwrap()
        };
        assert_eq!(similar("topnm", dump("cpu")), "; there is -topnmethods");
        // Filters of stacks are for single events.
        assert!(!similar("stacktagfilter", dump("cpu")).contains("-stackfilter"));
        assert_eq!(
            similar("stackfilte", dump("objectref")),
            "; there is -stackfilter"
        );
    }

    #[test]
    fn the_last_of_several_counts() {
        let mut native: Native = [
            "dump",
            "cpu",
            "--top=1",
            "--details",
            "--top=2",
            "--details",
        ]
        .map(Into::into)
        .into();
        last_of_each(&mut native);
        assert_eq!(native, ["dump", "cpu", "--top=2", "--details"]);
    }
}
