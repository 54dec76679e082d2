//! Programs with more and more functions, each once with Control Flow Guard and once without. A
//! Windows that prepares the guard in quadratic time starts the guarded ones slowly; the others are
//! the baseline.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;

use crate::lab::executable::{Guard, executable};
use crate::lab::folder::Names;
use crate::lab::growth::Growth;
use crate::lab::spread::Spread;
use crate::lab::{Bench, Report};

const GUARDED: Names = Names {
    begin: "Guarded_",
    end: ".exe",
};
const PLAIN: Names = Names {
    begin: "Plain_",
    end: ".exe",
};

/// Number of functions, and the folder of the programs.
#[derive(Debug, Clone, Args)]
pub(crate) struct CfgStartArgs {
    /// Folder of the programs, which is made; programs of an earlier run are replaced
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Functions of the programs
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "20000,40000,80000,160000,320000",
          value_parser = clap::value_parser!(u32).range(1..=4_000_000))]
    functions: Vec<u32>,
    /// Starts of each program
    #[arg(long, value_name = "N", default_value_t = 5,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeat: u32,
}

impl CfgStartArgs {
    pub(crate) fn run(&self, bench: &Bench<'_>) -> Result<Report> {
        Names::prepare(&[GUARDED, PLAIN], &self.folder)?;
        for functions in &self.functions {
            for (names, guard) in [(GUARDED, Guard::On), (PLAIN, Guard::Off)] {
                let path = names.path(&self.folder, *functions);
                let bytes = executable(*functions, guard)?;
                std::fs::write(&path, bytes)
                    .with_context(|| format!("cannot write {}", path.display()))?;
            }
        }
        let mut report = Report::new("cfg-start", &["cpu", "cswitch"], "diagnose");
        let programs = self.functions.len() * 2;
        report.line(format!(
            "Wrote {programs} programs into {}.",
            self.folder.display()
        ));
        if !cfg!(windows) {
            report.line(
                "They are programs for Windows, which alone has Control Flow Guard: there the same command",
            );
            report.line(
                "starts each of them and shows how the time grows with the number of functions.",
            );
            return Ok(report);
        }
        let mut growth = Growth::default();
        for (done, functions) in self.functions.iter().enumerate() {
            let [guarded, plain] = [GUARDED, PLAIN]
                .map(|names| self.start(&names.path(&self.folder, *functions), bench));
            let [guarded, plain] =
                [guarded?.median, plain?.median].map(|time| time.as_secs_f64() * 1e3);
            report.line(format!(
                "{functions} functions: CreateProcess took {guarded:.3} ms with the guard, {plain:.3} ms without."
            ));
            // Only the difference grows with the functions: all other costs of a start are in both.
            growth.add(f64::from(*functions), guarded - plain);
            bench.progress(done as u32 + 1, self.functions.len() as u32);
        }
        match growth.power() {
            Some((exponent, fit)) => {
                report.line(format!(
                    "What the guard costs grows with the number of functions to the power of {exponent:.2} (R² {fit:.3})."
                ));
                report.value("exponent", exponent, "power");
                report.value("fit", fit, "R²");
            }
            None => {
                report.line(
                    "The guard costs nothing that grows: not every size started slower with it.",
                );
            }
        }
        Ok(report)
    }

    /// Starts a program several times and kills it at once.
    fn start(&self, path: &Path, bench: &Bench<'_>) -> Result<Spread> {
        let mut times = Vec::new();
        for _ in 0..self.repeat {
            if (bench.is_stopped)() {
                break;
            }
            times.push(start(path).with_context(|| format!("cannot start {}", path.display()))?);
        }
        Ok(Spread::of(times))
    }
}

fn start(path: &Path) -> std::io::Result<Duration> {
    let mut command = Command::new(path);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let begun = Instant::now();
    let mut process = command.spawn()?;
    // Until `CreateProcess` returns: the kernel prepares the guard in this call, before the program
    // runs.
    let took = begun.elapsed();
    // It may already have ended by itself.
    let _ = process.kill();
    process.wait()?;
    Ok(took)
}

#[cfg(all(test, not(windows)))]
mod tests {
    use super::*;

    #[test]
    fn programs_are_written_and_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let amount = CfgStartArgs {
            folder: folder.path().to_owned(),
            functions: vec![10, 20],
            repeat: 1,
        };
        for _ in 0..2 {
            let report = amount.run(&crate::lab::tests::bench()).unwrap();
            assert!(
                report.lines[0].starts_with("Wrote 4 programs into "),
                "{report:?}"
            );
            assert!(
                report.lines[1].starts_with("They are programs for Windows"),
                "{report:?}"
            );
        }
        let mut names: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|file| file.unwrap().file_name())
            .collect();
        names.sort();
        assert_eq!(
            names,
            [
                "Guarded_10.exe",
                "Guarded_20.exe",
                "Plain_10.exe",
                "Plain_20.exe"
            ]
        );
    }
}
