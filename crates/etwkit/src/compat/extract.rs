//! `-extract`: traces become extracts in the folder `Extract` beside them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use anyhow::{Context, bail, ensure};
use clap::Parser;
use etwkit_query::test_run::{self, TestFile, TestName, wall_clock};

use super::Wrong;
use super::drive::local;
use super::files::{EXTRACT_FOLDER, Found, Queries};
use super::line::{Line, Word, point};
use super::switch::{NO_COLOR, Native, Switch, To, find, pair};
use super::tables::shared::TESTS;
use crate::cli::{Cli, Command, ExtractArgs};
use crate::commands::dump::TestSelectionArgs;
use crate::commands::extract::{Done, run_told};
use crate::exit::Exit;
use crate::printer::Printer;

/// What may be extracted. An extract of ours holds all of it in any case.
const ACTIONS: &[&str] = &[
    "all",
    "default",
    "cpu",
    "frequency",
    "disk",
    "file",
    "memory",
    "exception",
    "stacktag",
    "threadpool",
    "module",
    "pmc",
    "dns",
    "tcp",
    "power",
    "objectref",
    "virtualalloc",
    "tracelog",
    "machinedetails",
    "lbr",
];

pub(super) const SWITCHES: &[Switch] = &[
    Switch { names: &["symserver", "symfolder"], to: To::Special(symbols) },
    Switch { names: &["nooverwrite"], to: To::Flag("--no-overwrite") },
    Switch { names: &["nthreads"], to: To::Text("--jobs") },
    Switch { names: &["allcpu"], to: To::Nothing(0, "no method is cut off") },
    Switch { names: &["allexceptions"], to: To::Nothing(0, "no exception is left out") },
    Switch { names: &["includeexitedprocesses"], to: To::Nothing(0, "no process is left out") },
    Switch {
        names: &["keeptemp", "keep"],
        to: To::Nothing(0, "temporary files have no names and go away by themselves"),
    },
    Switch { names: &["child"], to: To::Nothing(0, "there are no child processes") },
    Switch { names: &["debug"], to: To::Nothing(0, "there is no log file") },
    Switch { names: &["nocolor"], to: NO_COLOR },
    Switch { names: &["nocompress", "indent"], to: To::Nothing(0, "an extract is no JSON") },
    Switch { names: &["overwrite"], to: To::Nothing(0, "extracts are overwritten in any case") },
    Switch { names: &["noready"], to: To::Nothing(0, "percentiles are always computed") },
    Switch { names: &["concurrency", "pthreads"], to: To::Nothing(1, "all processors are used") },
    Switch {
        names: &["symcache"],
        to: To::Nothing(1, "names that were found are kept in the cache of etwkit"),
    },
    Switch { names: &["timeline"], to: To::Nothing(1, "an extract has each sample with its time") },
    Switch {
        names: &["tempdir"],
        to: To::Nothing(1, "archives are unpacked in the folder that the variable ETWKIT_TMP names"),
    },
    Switch {
        names: &["nosampling", "nocswitch"],
        to: To::Missing("an extract keeps samples and context switches"),
    },
    Switch { names: &["unzipoperation"], to: To::Missing("no other program is run while a trace is read") },
];

/// What a line asks for.
#[derive(Debug, Default)]
struct Request {
    queries: Queries,
    /// Options that choose tests and test runs.
    tests: Native,
    only_lists: bool,
    out: Option<PathBuf>,
    /// Begin and end of parts, as they were typed.
    regions: Vec<(String, String)>,
    native: Native,
}

pub(super) fn run(words: &[String], printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let request = Request::read(words)?;
    let traces = request.traces()?;
    printer.line(&format!("{} - files found to extract.", traces.len()))?;
    if request.only_lists {
        traces.iter().try_for_each(|found| printer.line(&found.path.display().to_string()))?;
    }
    if request.only_lists || traces.is_empty() {
        return Ok(if traces.is_empty() { Exit::Nothing } else { Exit::Answered });
    }
    let start = Instant::now();
    let commands = request.commands(&traces)?;
    let (all, mut done, mut failed) = (traces.len() * request.regions.len().max(1), 0, 0);
    for command in commands {
        let exit = run_told(&parsed(&command)?, &mut |result: &Done<'_>| {
            done += 1;
            match &result.kept {
                Ok(false) => printer.line(&format!("Success Extraction of {}", result.target.display()))?,
                Ok(true) => {
                    printer
                        .line(&format!("Skipping file {} because extract already exists", result.trace))?;
                }
                Err(error) => {
                    failed += 1;
                    printer.line(&format!("Error: {}: {error}", result.trace))?;
                }
            }
            Ok(printer.line(&format!("Extracted {done}/{all} - Failed {failed} files."))?)
        })?;
        if exit == Exit::Interrupted {
            return Ok(exit);
        }
    }
    let seconds = start.elapsed().as_secs();
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let time = format!("{days:02} {:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60);
    printer.line(&format!("Extracted: {} files in {time}, Failed Files {failed}", done - failed))?;
    Ok(if failed > 0 { Exit::Error } else { Exit::Answered })
}

impl Request {
    fn read(words: &[String]) -> anyhow::Result<Self> {
        let mut request = Self::default();
        let mut has_action = false;
        let mut line = Line::new(words.iter().cloned());
        while let Some(word) = line.next() {
            match word {
                Word::Plain(action) => {
                    let known = ACTIONS.contains(&action.to_lowercase().as_str());
                    ensure!(
                        known,
                        "-extract {action}: there is no such action; there are: {}",
                        ACTIONS.join(" ")
                    );
                    has_action = true;
                }
                Word::Switch(name) => request.switch(&name, &mut line)?,
            }
        }
        ensure!(has_action, "-extract needs what is to be extracted: {}", ACTIONS.join(" "));
        ensure!(
            !request.queries.is_empty(),
            "-extract needs traces: add -fd with a file, a folder or a query"
        );
        Ok(request)
    }

    fn switch(&mut self, name: &str, line: &mut Line) -> anyhow::Result<()> {
        if self.queries.take(name, line)? {
            return Ok(());
        }
        match name {
            "extract" => {}
            "dryrun" => self.only_lists = true,
            "outdir" => {
                let folder = local(&line.required(name)?);
                ensure!(folder.is_dir(), "-outdir {}: there is no such folder", folder.display());
                self.out = Some(folder);
            }
            "extractregion" => self.regions(line)?,
            _ => match (find(&[SWITCHES], name), find(&[TESTS], name)) {
                (Some(switch), _) => switch.apply(name, line, &mut self.native)?,
                (None, Some(switch)) => switch.apply(name, line, &mut self.tests)?,
                (None, None) => {
                    return Err(Wrong::new(
                        format!("there is no switch -{name} of -extract"),
                        "-extract -help lists the switches",
                    )
                    .into());
                }
            },
        }
        Ok(())
    }

    /// The traces that the line names: those of the chosen tests and test runs, in the order of their times.
    fn traces(&self) -> anyhow::Result<Vec<Found>> {
        let all = self.queries.traces()?;
        if self.tests.is_empty() {
            return Ok(all);
        }
        let words = std::iter::once(OsString::from("-extract")).chain(self.tests.iter().cloned());
        let chosen = ChosenTests::try_parse_from(words).map_err(|error| {
            anyhow::anyhow!("{}", error.render().to_string().trim_start_matches("error: "))
        })?;
        let files = all.into_iter().map(|found| of_test(found.path)).collect();
        let runs = chosen.tests.selection()?.of(files, SystemTime::now());
        let files = runs.into_iter().flat_map(|run| run.tests).flat_map(|test| test.files);
        Ok(files.filter_map(|file| file.trace).map(|path| Found { path }).collect())
    }

    /// Pairs of begin and end; an end with `+` is a length.
    fn regions(&mut self, line: &mut Line) -> anyhow::Result<()> {
        let numbers: Vec<String> = std::iter::from_fn(|| line.value()).collect();
        let number = |text: &str| -> anyhow::Result<f64> {
            point(text).parse().with_context(|| format!("-extractregion {text}: expected seconds"))
        };
        ensure!(
            !numbers.is_empty() && numbers.len().is_multiple_of(2),
            "-extractregion needs pairs of begin and end"
        );
        for pair in numbers.chunks_exact(2) {
            let [begin, end] = pair else { continue };
            let stop = match end.strip_prefix('+') {
                Some(length) => shortest(number(begin)? + number(length)?),
                None => point(end),
            };
            ensure!(
                number(begin)? <= number(&stop)?,
                "-extractregion {begin} {end}: the end lies before the begin"
            );
            self.regions.push((point(begin), stop));
        }
        Ok(())
    }

    /// One command of ours for each folder, or for each part of each trace.
    fn commands(&self, traces: &[Found]) -> anyhow::Result<Vec<Native>> {
        let mut commands: Vec<(PathBuf, Native)> = Vec::new();
        for trace in traces {
            let parent = trace.path.parent().unwrap_or(Path::new("."));
            let folder = self.out.clone().unwrap_or_else(|| parent.join(EXTRACT_FOLDER));
            std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
            for (begin, end) in &self.regions {
                let target = folder.join(format!("{}_Time_{begin}-{end}.etwx", trace.stem()));
                let mut native = self.command(&target);
                pair(&mut native, "--range", &format!("{begin}..{end}"));
                native.push("--keep-whole".into());
                native.push(trace.path.clone().into());
                commands.push((target, native));
            }
            if self.regions.is_empty() {
                match commands.iter_mut().find(|(of, _)| *of == folder) {
                    Some((_, native)) => native.push(trace.path.clone().into()),
                    None => {
                        let native =
                            self.command(&folder).into_iter().chain([trace.path.clone().into()]).collect();
                        commands.push((folder, native));
                    }
                }
            }
        }
        Ok(commands.into_iter().map(|(_, native)| native).collect())
    }

    fn command(&self, out: &Path) -> Native {
        let mut native: Native = ["extract".into(), "--out".into(), out.into()].into();
        native.extend(self.native.iter().cloned());
        native
    }
}

/// Options that choose tests.
#[derive(Debug, Parser)]
struct ChosenTests {
    #[command(flatten)]
    tests: TestSelectionArgs,
}

/// A trace as the file of a test.
fn of_test(path: PathBuf) -> TestFile {
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = TestName::parse(&file);
    let written = std::fs::metadata(&path).and_then(|meta| meta.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    TestFile {
        stem: test_run::stem(&file).unwrap_or(&file).to_owned(),
        performed_at: name.as_ref().and_then(|name| name.performed_at).unwrap_or_else(|| wall_clock(written)),
        name,
        trace: Some(path),
        extract: None,
    }
}

/// A number of seconds with one to four decimals.
fn shortest(seconds: f64) -> String {
    let text = format!("{seconds:.4}");
    let text = text.trim_end_matches('0');
    if text.ends_with('.') { format!("{text}0") } else { text.to_owned() }
}

pub(super) fn symbols(line: &mut Line, native: &mut Native) -> anyhow::Result<()> {
    let path = line.required("symserver")?;
    // Elements of a symbol path are folders, addresses or words.
    let is_folder = |part: &str| part.contains(['\\', ':']) && !part.contains('*') && !part.contains("://");
    let parts = path
        .split(';')
        .map(|part| if is_folder(part) { local(part).display().to_string() } else { part.to_owned() });
    pair(native, "--symbols", &parts.collect::<Vec<_>>().join(";"));
    Ok(())
}

fn parsed(native: &[OsString]) -> anyhow::Result<ExtractArgs> {
    match super::parse(native)? {
        Cli { command: Command::Extract(args), .. } => Ok(args),
        _ => bail!("in our own words the line is no extraction"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_pairs_of_seconds() {
        let regions = |words: &[&str]| {
            let words: Vec<String> = ["-extract", "all", "-fd", "x", "-extractregion"]
                .iter()
                .chain(words)
                .map(|w| (*w).to_owned())
                .collect();
            Request::read(&words).map(|request| request.regions).map_err(|error| error.to_string())
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(regions(&["10", "+5"]).unwrap(), [pair("10", "15.0")]);
        assert_eq!(
            regions(&["1,5", "2.25", "3", "+0.125"]).unwrap(),
            [pair("1.5", "2.25"), pair("3", "3.125")]
        );
        assert!(regions(&["1"]).unwrap_err().contains("pairs"));
        assert!(regions(&["2", "1"]).unwrap_err().contains("lies before"));
        assert!(regions(&["a", "b"]).unwrap_err().contains("expected seconds"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (words, expected) in [
            (&["-extract", "-fd", "x"][..], "-extract needs what is to be extracted"),
            (&["-extract", "all"], "-extract needs traces"),
            (&["-extract", "cpu", "everything", "-fd", "x"], "-extract everything: there is no such action"),
            (&["-extract", "all", "-fd", "x", "-nosuch"], "there is no switch -nosuch"),
            (&["-extract", "all", "-fd", "x", "-nosampling"], "-nosampling: an extract keeps samples"),
        ] {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let error = Request::read(&words).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
