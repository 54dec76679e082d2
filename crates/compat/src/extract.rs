//! `-extract`: traces become extracts in the folder `Extract` next to them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, ensure};
use etwkit_base::path::name_of;
use etwkit_question::test_run;
use etwkit_question::test_run::{Selection, TestFile, TestName, wall_clock};

use crate::LineError;
use crate::drive::local;
use crate::files::{self, EXTRACT_FOLDER, Queries};
use crate::line::{Line, Word, point};
use crate::read::read;
use crate::switch::{NO_COLOR, Native, Switch, To, find, pair};
use crate::tables::shared::TESTS;

/// Words for the extracted data. An extract of ours holds all of it in any case.
const ACTIONS: &str = "all default cpu frequency disk file memory exception stacktag threadpool module pmc dns \
    tcp power objectref virtualalloc tracelog machinedetails lbr";

pub(crate) const SWITCHES: &[Switch] = &[
    Switch {
        names: &["symserver", "symfolder"],
        to: To::Special(symbols),
    },
    Switch {
        names: &["nooverwrite"],
        to: To::Flag("--no-overwrite"),
    },
    Switch {
        names: &["nthreads"],
        to: To::Text("--jobs"),
    },
    Switch {
        names: &["allcpu"],
        to: To::Nothing(0, "no method is cut off"),
    },
    Switch {
        names: &["allexceptions"],
        to: To::Nothing(0, "no exception is left out"),
    },
    Switch {
        names: &["includeexitedprocesses"],
        to: To::Nothing(0, "no process is left out"),
    },
    Switch {
        names: &["keeptemp", "keep"],
        to: To::Nothing(0, "temporary files have no names and go away by themselves"),
    },
    Switch {
        names: &["child"],
        to: To::Nothing(0, "there are no child processes"),
    },
    Switch {
        names: &["debug"],
        to: To::Nothing(0, "there is no log file"),
    },
    Switch {
        names: &["nocolor"],
        to: NO_COLOR,
    },
    Switch {
        names: &["nocompress", "indent"],
        to: To::Nothing(0, "an extract is not JSON"),
    },
    Switch {
        names: &["overwrite"],
        to: To::Nothing(0, "extracts are overwritten in any case"),
    },
    Switch {
        names: &["noready"],
        to: To::Nothing(0, "percentiles are always computed"),
    },
    Switch {
        names: &["concurrency", "pthreads"],
        to: To::Nothing(1, "all processors are used"),
    },
    Switch {
        names: &["symcache"],
        to: To::Nothing(1, "names that were found are kept in the cache of etwkit"),
    },
    Switch {
        names: &["timeline"],
        to: To::Nothing(1, "an extract has each sample with its time"),
    },
    Switch {
        names: &["tempdir"],
        to: To::Nothing(
            1,
            "archives are unpacked in the folder that the variable ETWKIT_TMP names",
        ),
    },
    Switch {
        names: &["nosampling", "nocswitch"],
        to: To::Missing("an extract keeps samples and context switches"),
    },
    Switch {
        names: &["unzipoperation"],
        to: To::Missing("no other program is run while a trace is read"),
    },
];

/// A parsed line of `-extract`.
#[derive(Debug, Default)]
pub struct Extraction {
    queries: Queries,
    /// Options that choose tests and test runs.
    tests: Native,
    only_lists: bool,
    out: Option<PathBuf>,
    /// Start and end of ranges, in the words of the line.
    regions: Vec<(String, String)>,
    native: Native,
}

impl Extraction {
    pub(crate) fn read(words: &[String]) -> anyhow::Result<Self> {
        let mut request = Self::default();
        let mut has_action = false;
        let said = read("extract", words, &[SWITCHES], |word, line, _| {
            match word {
                Word::Plain(action) => {
                    ensure!(
                        ACTIONS
                            .split(' ')
                            .any(|known| action.to_lowercase() == known),
                        "-extract {action}: there is no action of this name; there are: {ACTIONS}"
                    );
                    has_action = true;
                }
                Word::Switch(name) => request.switch(name, line)?,
            }
            Ok(true)
        })?;
        ensure!(
            has_action,
            "-extract needs what is to be extracted: {ACTIONS}"
        );
        ensure!(
            !said.queries.is_empty(),
            "-extract needs traces: add -fd with a file, a folder or a query"
        );
        Ok(Self {
            queries: said.queries,
            native: said.native,
            ..request
        })
    }

    fn switch(&mut self, name: &str, line: &mut Line) -> anyhow::Result<()> {
        match name {
            "dryrun" => self.only_lists = true,
            "outdir" => {
                let folder = local(&line.required(name)?);
                ensure!(
                    folder.is_dir(),
                    "-outdir {}: this folder does not exist",
                    folder.display()
                );
                self.out = Some(folder);
            }
            "extractregion" => self.regions(line)?,
            _ => match find(&[TESTS], name) {
                Some(switch) => switch.apply(name, line, &mut self.tests)?,
                None => {
                    return Err(LineError::new(
                        format!("there is no switch -{name} of -extract"),
                        "-extract -help lists the switches",
                    )
                    .into());
                }
            },
        }
        Ok(())
    }

    /// Returns the traces that the line names: traces of the chosen tests and test runs, in the
    /// order of their times. `selected` makes the choice from options of `dump`.
    ///
    /// # Errors
    ///
    /// No file matches, a folder cannot be read, or the options are wrong.
    pub fn traces(
        &self,
        selected: &dyn Fn(&[OsString]) -> anyhow::Result<Selection>,
    ) -> anyhow::Result<Vec<PathBuf>> {
        let all = self.queries.traces()?;
        if self.tests.is_empty() {
            return Ok(all);
        }
        let files = all.into_iter().map(of_test).collect();
        let runs = selected(&self.tests)?.of(files, SystemTime::now());
        let files = runs
            .into_iter()
            .flat_map(|run| run.tests)
            .flat_map(|test| test.files);
        Ok(files.filter_map(|file| file.trace).collect())
    }

    /// Returns `true` if traces are only listed.
    #[must_use]
    pub const fn only_lists(&self) -> bool {
        self.only_lists
    }

    /// Creates the reports of the work on these traces.
    #[must_use]
    pub fn progress(&self, traces: &[PathBuf]) -> Progress {
        Progress {
            all: traces.len() * self.regions.len().max(1),
            done: 0,
            failed: 0,
        }
    }

    /// Reads pairs of start and end; an end with `+` is a length.
    fn regions(&mut self, line: &mut Line) -> anyhow::Result<()> {
        let numbers: Vec<String> = std::iter::from_fn(|| line.value()).collect();
        let number = |text: &str| -> anyhow::Result<f64> {
            point(text)
                .parse()
                .with_context(|| format!("-extractregion {text}: expected seconds"))
        };
        ensure!(
            !numbers.is_empty() && numbers.len().is_multiple_of(2),
            "-extractregion needs pairs of start and end"
        );
        for pair in numbers.chunks_exact(2) {
            let [begin, end] = pair else { continue };
            let stop = match end.strip_prefix('+') {
                Some(length) => shortest(number(begin)? + number(length)?),
                None => point(end),
            };
            ensure!(
                number(begin)? <= number(&stop)?,
                "-extractregion {begin} {end}: the end is before the start"
            );
            self.regions.push((point(begin), stop));
        }
        Ok(())
    }

    /// Returns one of our commands for each folder, or for each range of each trace.
    ///
    /// # Errors
    ///
    /// The folder for the extracts cannot be created.
    pub fn commands(&self, traces: &[PathBuf]) -> anyhow::Result<Vec<Native>> {
        let mut commands: Vec<(PathBuf, Native)> = Vec::new();
        for trace in traces {
            let parent = trace.parent().unwrap_or(Path::new("."));
            let folder = self
                .out
                .clone()
                .unwrap_or_else(|| parent.join(EXTRACT_FOLDER));
            std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
            for (begin, end) in &self.regions {
                let target = folder.join(format!("{}_Time_{begin}-{end}.etwx", files::stem(trace)));
                let mut native = self.command(&target);
                pair(&mut native, "--range", &format!("{begin}..{end}"));
                native.push("--keep-whole".into());
                // Words after it are not options, not even a trace that starts with `-`.
                native.push("--".into());
                native.push(trace.into());
                commands.push((target, native));
            }
            // Traces of one folder go into one command, which extracts several of them at the same
            // time.
            if self.regions.is_empty() {
                match commands.iter_mut().find(|(of, _)| *of == folder) {
                    Some((_, native)) => native.push(trace.into()),
                    None => {
                        let begin = self.command(&folder).into_iter();
                        let native = begin.chain(["--".into(), trace.into()]).collect();
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

/// Writes the report of each trace, and of all of them at the end.
#[derive(Debug)]
pub struct Progress {
    all: usize,
    done: usize,
    failed: usize,
}

impl Progress {
    /// Returns the lines for a trace: whether there was an extract, which was kept, or the error.
    pub fn of(&mut self, trace: &str, target: &Path, kept: &Result<bool, String>) -> [String; 2] {
        self.done += 1;
        self.failed += usize::from(kept.is_err());
        let what = match kept {
            Ok(false) => format!("Success Extraction of {}", target.display()),
            Ok(true) => format!("Skipping file {trace} because extract already exists"),
            Err(error) => format!("Error: {trace}: {error}"),
        };
        [
            what,
            format!(
                "Extracted {}/{} - Failed {} files.",
                self.done, self.all, self.failed
            ),
        ]
    }

    /// Returns the line at the end.
    #[must_use]
    pub fn end(&self, time: Duration) -> String {
        let seconds = time.as_secs();
        let days = seconds / 86_400;
        let rest = seconds % 86_400;
        let time = format!(
            "{days:02} {:02}:{:02}:{:02}",
            rest / 3600,
            rest / 60 % 60,
            rest % 60
        );
        format!(
            "Extracted: {} files in {time}, Failed Files {}",
            self.done - self.failed,
            self.failed
        )
    }

    /// Returns `true` if the extract of a trace is missing.
    #[must_use]
    pub const fn has_failed(&self) -> bool {
        self.failed > 0
    }
}

/// Returns a trace as the file of a test.
fn of_test(path: PathBuf) -> TestFile {
    let file = name_of(&path);
    let name = TestName::parse(&file);
    let written = std::fs::metadata(&path)
        .and_then(|meta| meta.modified())
        .unwrap_or(SystemTime::UNIX_EPOCH);
    TestFile {
        stem: test_run::stem(&file).unwrap_or(&file).to_owned(),
        performed_at: name
            .as_ref()
            .and_then(|name| name.performed_at)
            .unwrap_or_else(|| wall_clock(written)),
        name,
        trace: Some(path),
        extract: None,
    }
}

/// Formats seconds with one to four decimals.
fn shortest(seconds: f64) -> String {
    let text = format!("{seconds:.4}");
    let text = text.trim_end_matches('0');
    if text.ends_with('.') {
        format!("{text}0")
    } else {
        text.to_owned()
    }
}

pub(crate) fn symbols(line: &mut Line, native: &mut Native) -> anyhow::Result<()> {
    let path = line.required("symserver")?;
    // Elements of a symbol path are folders, addresses or words, and only folders can be Windows
    // paths.
    let is_folder =
        |part: &str| part.contains(['\\', ':']) && !part.contains('*') && !part.contains("://");
    let parts = path.split(';').map(|part| {
        if is_folder(part) {
            local(part).display().to_string()
        } else {
            part.to_owned()
        }
    });
    pair(native, "--symbols", &parts.collect::<Vec<_>>().join(";"));
    Ok(())
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
            Extraction::read(&words)
                .map(|request| request.regions)
                .map_err(|error| error.to_string())
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(regions(&["10", "+5"]).unwrap(), [pair("10", "15.0")]);
        assert_eq!(
            regions(&["1,5", "2.25", "3", "+0.125"]).unwrap(),
            [pair("1.5", "2.25"), pair("3", "3.125")]
        );
        assert!(regions(&["1"]).unwrap_err().contains("pairs"));
        assert!(regions(&["2", "1"]).unwrap_err().contains("is before"));
        assert!(
            regions(&["a", "b"])
                .unwrap_err()
                .contains("expected seconds")
        );
    }

    #[test]
    fn a_trace_is_no_option() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().to_str().unwrap();
        let commands = |more: &[&str]| {
            let words = [&["-extract", "all", "-fd", "x", "-outdir", out][..], more].concat();
            let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
            let extraction = Extraction::read(&words).unwrap();
            extraction
                .commands(&["-x.etl".into(), "b.etl".into()])
                .unwrap()
        };
        let [command] = <[Native; 1]>::try_from(commands(&[])).unwrap();
        assert!(
            command.ends_with(&["--".into(), "-x.etl".into(), "b.etl".into()]),
            "{command:?}"
        );
        let [first, second] =
            <[Native; 2]>::try_from(commands(&["-extractregion", "1", "2"])).unwrap();
        assert!(
            first.ends_with(&["--".into(), "-x.etl".into()]),
            "{first:?}"
        );
        assert!(
            second.ends_with(&["--".into(), "b.etl".into()]),
            "{second:?}"
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (words, expected) in [
            (
                &["-extract", "-fd", "x"][..],
                "-extract needs what is to be extracted",
            ),
            (&["-extract", "all"], "-extract needs traces"),
            (
                &["-extract", "cpu", "everything", "-fd", "x"],
                "-extract everything: there is no action of this name",
            ),
            (
                &["-extract", "all", "-fd", "x", "-nosuch"],
                "there is no switch -nosuch",
            ),
            (
                &["-extract", "all", "-fd", "x", "-nosampling"],
                "-nosampling: an extract keeps samples",
            ),
        ] {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let error = Extraction::read(&words).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
