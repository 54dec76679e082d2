//! `-convert`: profiles for speedscope.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::ensure;
use etwkit_base::path::parent_of;

use crate::Step;
use crate::extract::symbols;
use crate::files::EXTRACT_FOLDER;
use crate::line::{Line, Word};
use crate::read::read;
use crate::switch::{NO_COLOR, Native, Switch, To, pair};

pub(crate) const SWITCHES: &[Switch] = &[
    Switch {
        names: &["pid"],
        to: To::Special(pid),
    },
    Switch {
        names: &["perthread"],
        to: To::Flag("--per-thread"),
    },
    Switch {
        names: &["symserver", "symfolder"],
        to: To::Special(symbols),
    },
    Switch {
        names: &["symcache"],
        to: To::Nothing(1, "names that were found are kept in the cache of etwkit"),
    },
    Switch {
        names: &["nocolor"],
        to: NO_COLOR,
    },
];

/// Returns the commands for a line, for one extract after the other.
pub(crate) fn steps(words: &[String]) -> anyhow::Result<Vec<Step>> {
    let mut shows_line = false;
    let said = read("convert", words, &[SWITCHES], |word, _, _| {
        let is_debug = *word == Word::Switch("debug".to_owned());
        shows_line |= is_debug;
        Ok(is_debug)
    })?;
    ensure!(
        !said.queries.is_empty(),
        "-convert needs traces: add -fd with a file, a folder or a query"
    );
    let extracts = said.queries.extracts()?;
    ensure!(
        !extracts.is_empty(),
        "no file matches -fd {}",
        said.queries.all.join(" -fd ")
    );
    let all = extracts
        .iter()
        .flat_map(|extract| of_extract(&said.native, extract));
    Ok(all.map(|step| Step { shows_line, ..step }).collect())
}

/// Returns our commands for an extract: one for names, if symbols are requested, and one for the
/// profile, which is next to the trace and replaces an older one.
fn of_extract(native: &Native, extract: &Path) -> Vec<Step> {
    let is_symbols = |arg: &OsString| arg.to_string_lossy().starts_with("--symbols=");
    let (named, rest): (Native, Native) = native.iter().cloned().partition(is_symbols);
    let files = ["--".into(), extract.into()];
    let mut steps = Vec::new();
    if !named.is_empty() {
        let line: Native = ["symbols".into(), "load".into()]
            .into_iter()
            .chain(named)
            .collect();
        // The profile is written with the existing names, whether or not new ones were found.
        steps.push(Step {
            decides: false,
            ..Step::new(line)
        });
    }
    let mut line: Native = [
        "export".into(),
        "--format=speedscope".into(),
        "--force".into(),
    ]
    .into();
    pair(&mut line, "--out", &folder(extract).display().to_string());
    line.extend(rest);
    steps.push(Step::new(line));
    steps
        .iter_mut()
        .for_each(|step| step.args.extend(files.clone()));
    steps
}

/// Returns the folder of the trace of an extract.
fn folder(extract: &Path) -> PathBuf {
    let parent = parent_of(extract);
    let is_of_extracts = parent
        .file_name()
        .is_some_and(|name| name.to_string_lossy().eq_ignore_ascii_case(EXTRACT_FOLDER));
    let above = parent.parent().filter(|_| is_of_extracts);
    match above {
        Some(above) if above.as_os_str().is_empty() => PathBuf::from("."),
        Some(above) => above.to_owned(),
        None => parent.to_owned(),
    }
}

/// Translates `-pid n`; `-1` means all processes.
fn pid(line: &mut Line, native: &mut Native) -> anyhow::Result<()> {
    let pid = line.required("pid")?;
    if pid == "-1" {
        native.push("--all-processes".into());
    } else {
        pair(native, "--pid", &pid);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell_line;

    #[test]
    fn lines_become_ours() {
        let words = |line: &str| {
            line.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let lines = |line: &str, extract: &str| {
            let said = read("convert", &words(line), &[SWITCHES], |_, _, _| Ok(false)).unwrap();
            let steps = of_extract(&said.native, Path::new(extract));
            steps
                .iter()
                .map(|step| shell_line(&step.args))
                .collect::<Vec<_>>()
        };
        for (line, extract, expected) in [
            (
                "-convert -fd x.etl -pid 4711",
                "x.etl",
                &["etwkit export --format=speedscope --force --out=. --pid=4711 -- x.etl"][..],
            ),
            (
                "-CONVERT -fd x.etl -pid -1 -PerThread -NoColor",
                "c/Extract/x.etwx",
                &[
                    "etwkit export --format=speedscope --force --out=c --all-processes --per-thread --color=never -- c/Extract/x.etwx",
                ],
            ),
            (
                "-convert -fd x.etl -symserver MS -symcache d",
                "Extract/x.etwx",
                &[
                    "etwkit symbols load --symbols=MS -- Extract/x.etwx",
                    "etwkit export --format=speedscope --force --out=. -- Extract/x.etwx",
                ],
            ),
        ] {
            assert_eq!(lines(line, extract), expected, "{line}");
        }
        let error = |line: &str| steps(&words(line)).unwrap_err().to_string();
        assert!(error("-convert -pid 1").contains("-convert needs traces"));
        assert!(error("-convert -fd x -speed").contains("no switch -speed"));
        assert!(error("-convert x").contains("belongs to no switch"));
    }
}
