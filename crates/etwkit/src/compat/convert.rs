//! `-convert`: profiles for speedscope.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};

use super::extract::symbols;
use super::files::{self, EXTRACT_FOLDER};
use super::line::{Line, Word};
use super::switch::{NO_COLOR, Native, Switch, To, find, pair};
use super::{native, shell_line};
use crate::exit::Exit;
use crate::printer::Printer;

pub(super) const SWITCHES: &[Switch] = &[
    Switch { names: &["pid"], to: To::Special(pid) },
    Switch { names: &["perthread"], to: To::Flag("--per-thread") },
    Switch { names: &["symserver", "symfolder"], to: To::Special(symbols) },
    Switch {
        names: &["symcache"],
        to: To::Nothing(1, "names that were found are kept in the cache of etwkit"),
    },
    Switch { names: &["nocolor"], to: NO_COLOR },
];

/// What a line asks for.
#[derive(Debug, Default)]
struct Request {
    queries: Vec<String>,
    is_recursive: bool,
    shows_lines: bool,
    native: Native,
}

pub(super) fn run(words: &[String], printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let request = Request::read(words)?;
    let extracts = files::extracts(&request.queries, request.is_recursive)?;
    ensure!(!extracts.is_empty(), "no file fits -fd {}", request.queries.join(" -fd "));
    let mut exit = Exit::Answered;
    for extract in &extracts {
        for line in request.lines(extract) {
            if request.shows_lines {
                printer.note(&shell_line(&line));
            }
            let one = native(&line, printer)?;
            // A profile has what names there are, whether new ones were found or not.
            if line.first().is_some_and(|word| word == "export") {
                exit = exit.worse(one);
            }
        }
    }
    Ok(exit)
}

impl Request {
    fn read(words: &[String]) -> anyhow::Result<Self> {
        let mut request = Self::default();
        let mut line = Line::new(words.iter().cloned());
        while let Some(word) = line.next() {
            match word {
                Word::Plain(word) => bail!("{word:?} belongs to no switch of -convert"),
                Word::Switch(name) => match name.as_str() {
                    "convert" => {}
                    "fd" | "filedir" | "dir" => request.queries.push(line.required(&name)?),
                    "recursive" => request.is_recursive = true,
                    "debug" => request.shows_lines = true,
                    _ => match find(&[SWITCHES], &name) {
                        Some(switch) => switch.apply(&name, &mut line, &mut request.native)?,
                        None => bail!("there is no switch -{name} of -convert"),
                    },
                },
            }
        }
        ensure!(
            !request.queries.is_empty(),
            "-convert needs traces: add -fd with a file, a folder or a query"
        );
        Ok(request)
    }

    /// Our commands: for names, if symbols are asked, and for the profile, which lies beside the trace and replaces an older one.
    fn lines(&self, extract: &Path) -> Vec<Native> {
        let is_symbols = |arg: &&OsString| arg.to_string_lossy().starts_with("--symbols=");
        let (named, rest): (Vec<&OsString>, Vec<&OsString>) = self.native.iter().partition(is_symbols);
        let mut lines = Vec::new();
        if !named.is_empty() {
            let mut line: Native = ["symbols".into(), "load".into()].into();
            line.extend(named.into_iter().cloned());
            lines.push(line);
        }
        let mut line: Native = ["export".into(), "--format=speedscope".into(), "--force".into()].into();
        pair(&mut line, "--out", &folder(extract).display().to_string());
        line.extend(rest.into_iter().cloned());
        lines.push(line);
        for line in &mut lines {
            line.extend(["--".into(), extract.into()]);
        }
        lines
    }
}

/// The folder of the trace of an extract.
fn folder(extract: &Path) -> PathBuf {
    let parent = extract.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_of_extracts =
        parent.file_name().is_some_and(|name| name.to_string_lossy().eq_ignore_ascii_case(EXTRACT_FOLDER));
    let above = parent.parent().filter(|_| is_of_extracts);
    match above {
        Some(above) if above.as_os_str().is_empty() => PathBuf::from("."),
        Some(above) => above.to_owned(),
        None => parent.to_owned(),
    }
}

/// `-pid n`, where `-1` means all processes.
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

    #[test]
    fn lines_become_ours() {
        let lines = |line: &str, extract: &str| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            let request = Request::read(&words).map_err(|error| error.to_string())?;
            Ok::<_, String>(
                request.lines(Path::new(extract)).iter().map(|line| shell_line(line)).collect::<Vec<_>>(),
            )
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
            assert_eq!(lines(line, extract).unwrap(), expected, "{line}");
        }
        assert!(lines("-convert -pid 1", "").unwrap_err().contains("-convert needs traces"));
        assert!(lines("-convert -fd x -speed", "").unwrap_err().contains("no switch -speed"));
        assert!(lines("-convert x", "").unwrap_err().contains("belongs to no switch"));
    }
}
