//! Many files that are created and deleted again, and then some that are timed one by one. NTFS
//! keeps deletions until its next checkpoint, which blocks all files of the volume: some creations
//! then take seconds.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;

use crate::lab::folder::Names;
use crate::lab::spread::Spread;
use crate::lab::{Bench, Report};

const FILES: Names = Names {
    begin: "Churn_",
    end: ".txt",
};
/// Duration from which a user notices that a program does not respond.
const STALL: Duration = Duration::from_millis(100);

/// Number of files, and their folder.
#[derive(Debug, Clone, Args)]
pub(crate) struct FileChurnArgs {
    /// Folder of the files, which is made; the files are removed
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Files that are created and deleted before
    #[arg(long, value_name = "N", default_value_t = 100_000,
          value_parser = clap::value_parser!(u32).range(0..=100_000_000))]
    churn: u32,
    /// Files that are timed
    #[arg(long, value_name = "N", default_value_t = 5_000,
          value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    files: u32,
}

impl FileChurnArgs {
    pub(crate) fn run(&self, bench: &Bench<'_>) -> Result<Report> {
        Names::prepare(&[FILES], &self.folder)?;
        let begun = Instant::now();
        for number in 0..self.churn {
            if (bench.is_stopped)() {
                break;
            }
            self.create(number)?;
            bench.progress(number, self.churn);
        }
        Names::prepare(&[FILES], &self.folder)?;
        // After the removal of the files, which is half of the churn.
        let churned = begun.elapsed();
        let mut times = Vec::new();
        for number in 0..self.files {
            if (bench.is_stopped)() {
                break;
            }
            times.push(self.create(number)?);
            bench.progress(number, self.files);
        }
        Names::prepare(&[FILES], &self.folder)?;
        Ok(self.report(churned, times))
    }

    /// Returns the time to create a file with a line of text.
    fn create(&self, number: u32) -> Result<Duration> {
        let path = FILES.path(&self.folder, number);
        let begun = Instant::now();
        File::create(&path)
            .and_then(|mut file| file.write_all(b"This file is not here for long.\r\n"))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(begun.elapsed())
    }

    fn report(&self, churned: Duration, times: Vec<Duration>) -> Report {
        let stalls = times.iter().filter(|time| **time >= STALL).count();
        let spread = Spread::of(times);
        let mut report = Report::new("file-churn", &["file", "cpu", "cswitch"], "diagnose");
        report.line(format!(
            "Created and deleted {} files in {:.3} s.",
            self.churn,
            churned.as_secs_f64()
        ));
        report.line(format!(
            "Then created {} files: {spread}; {stalls} took 100 ms and more.",
            self.files
        ));
        report.seconds("churn_s", churned);
        spread.values(&mut report);
        report.value("stalls", stalls as f64, "count");
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_timed_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let amount = FileChurnArgs {
            folder: folder.path().to_owned(),
            churn: 30,
            files: 20,
        };
        let report = amount.run(&crate::lab::tests::bench()).unwrap();
        assert!(report.of("median_s").unwrap() > 0.0, "{report:?}");
        assert!(
            report.lines[0].starts_with("Created and deleted 30 files in "),
            "{report:?}"
        );
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_takes_a_tenth_of_a_second_is_a_stall() {
        let amount = FileChurnArgs {
            folder: PathBuf::new(),
            churn: 0,
            files: 3,
        };
        let times = [1, 99, 100].map(Duration::from_millis).to_vec();
        let report = amount.report(Duration::ZERO, times);
        assert_eq!(report.of("stalls"), Some(1.0));
        assert!(
            report.lines[1].contains("longest 100.000 ms; 1 took 100 ms and more"),
            "{report:?}"
        );
    }
}
