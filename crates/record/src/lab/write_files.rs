//! Many files with lines of text, written one after the other or by several threads: the MB per
//! second of a machine depend more on its virus scanner and the number of threads than on its disk.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};

use crate::lab::crowd::{crowd, processors};
use crate::lab::folder::Names;
use crate::lab::{Bench, Report};

const FILES: Names = Names {
    begin: "TestDataFile_",
    end: ".cmd",
};

/// Threads that write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Mode {
    /// One thread
    #[default]
    Serial,
    /// Several threads, each its part of the files
    Parallel,
    /// Several threads, each the next file that is left
    TaskParallel,
    /// Several threads that take turns: the first one writes files 0, n, 2n …
    Threads,
}

/// Number and size of the files, and their folder.
#[derive(Debug, Clone, Args)]
pub(crate) struct WriteFilesArgs {
    /// Folder of the files, which is made; files of an earlier run are replaced
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Threads that write
    #[arg(long, value_enum, default_value_t)]
    mode: Mode,
    /// Files
    #[arg(long, value_name = "N", default_value_t = 5_000,
          value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    files: u32,
    /// Size of each
    #[arg(long, value_name = "KB", default_value_t = 100,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    size: u32,
    /// Threads; the default is one for each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4_096))]
    threads: Option<u32>,
}

impl WriteFilesArgs {
    pub(crate) fn run(&self, bench: &Bench<'_>) -> Result<Report> {
        Names::prepare(&[FILES], &self.folder)?;
        let threads = if self.mode == Mode::Serial {
            1
        } else {
            self.threads.unwrap_or_else(processors)
        };
        let next = AtomicU32::new(0);
        let done = AtomicU32::new(0);
        let begun = Instant::now();
        let look = || bench.progress(done.load(Ordering::Relaxed), self.files);
        let written = crowd(threads, bench, look, |worker, is_over| {
            self.write(worker, threads, (&next, &done), is_over)
        });
        let bytes = written.into_iter().sum::<Result<u64>>()?;
        Ok(self.report(threads, bytes, begun.elapsed().as_secs_f64()))
    }

    fn report(&self, threads: u32, bytes: u64, seconds: f64) -> Report {
        let megabytes = bytes as f64 / 1e6;
        let mode = self.mode.to_possible_value();
        let mode = mode.as_ref().map_or("", |mode| mode.get_name());
        let mut report = Report::new("write-files", &["file", "minifilter", "disk"], "dump file");
        report.line(format!(
            "Did {mode} {} files of {} KB size ({megabytes:.0} MB) in {seconds:.3} s with {threads} threads: \
             {:.1} MB/s.",
            self.files,
            self.size,
            megabytes / seconds
        ));
        report.value("files", self.files.into(), "count");
        report.value("threads", threads.into(), "count");
        report.value("seconds", seconds, "s");
        report.value("rate", megabytes / seconds, "MB/s");
        report
    }

    /// Writes the files of one of the threads. Returns their bytes.
    fn write(
        &self,
        worker: u32,
        threads: u32,
        (next_of_all, done): (&AtomicU32, &AtomicU32),
        is_over: &dyn Fn() -> bool,
    ) -> Result<u64> {
        // Rounded down at both ends in 64 bits: the parts differ by one file at most, and together
        // have each file once.
        let part =
            |worker: u32| (u64::from(self.files) * u64::from(worker) / u64::from(threads)) as u32;
        let mut own = part(worker)..part(worker + 1);
        let mut turns = (worker..self.files).step_by(threads as usize);
        let mut next = || match self.mode {
            Mode::TaskParallel => Some(next_of_all.fetch_add(1, Ordering::Relaxed)),
            Mode::Threads => turns.next(),
            Mode::Serial | Mode::Parallel => own.next(),
        };
        let mut bytes = 0;
        while let Some(number) = next().filter(|number| *number < self.files) {
            if is_over() {
                break;
            }
            let path = FILES.path(&self.folder, number);
            bytes += lines(&path, u64::from(self.size) * 1024)
                .with_context(|| format!("cannot write {}", path.display()))?;
            done.fetch_add(1, Ordering::Relaxed);
        }
        Ok(bytes)
    }
}

/// Writes lines until they have this many characters, without line ends. Returns all bytes.
fn lines(path: &Path, characters: u64) -> std::io::Result<u64> {
    let mut file = BufWriter::new(File::create(path)?);
    let mut written = 0;
    let mut bytes = 0;
    let mut number = 0_u32;
    while written < characters {
        let line = format!("echo This is line {number}");
        written += line.len() as u64;
        bytes += line.len() as u64 + 2;
        file.write_all(line.as_bytes())?;
        file.write_all(b"\r\n")?;
        number += 1;
    }
    file.flush()?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn write(folder: &Path, mode: Mode, threads: Option<u32>) -> Result<Report> {
        let amount = WriteFilesArgs {
            folder: folder.to_owned(),
            mode,
            files: 25,
            size: 3,
            threads,
        };
        amount.run(&crate::lab::tests::bench())
    }

    #[test]
    fn every_way_writes_the_same_files() {
        let folder = tempfile::tempdir().unwrap();
        let mut all = Vec::new();
        for (mode, threads) in [
            (Mode::Serial, None),
            (Mode::Parallel, Some(4)),
            (Mode::TaskParallel, Some(3)),
            (Mode::Threads, Some(4)),
            // More threads than files.
            (Mode::Threads, Some(40)),
        ] {
            // Files of the previous run are replaced.
            let report = write(folder.path(), mode, threads).unwrap();
            assert_eq!(report.of("threads"), Some(f64::from(threads.unwrap_or(1))));
            let mut files: Vec<_> = fs::read_dir(folder.path())
                .unwrap()
                .map(|file| {
                    let path = file.unwrap().path();
                    (
                        path.file_name().unwrap().to_owned(),
                        fs::read_to_string(path).unwrap(),
                    )
                })
                .collect();
            files.sort();
            assert_eq!(files.len(), 25);
            all.push(files);
        }
        assert!(all.windows(2).all(|two| two[0] == two[1]));
        let (name, text) = &all[0][0];
        assert_eq!(name, "TestDataFile_0.cmd");
        assert!(text.starts_with("echo This is line 0\r\necho This is line 1\r\n"));
        let characters: usize = text.lines().map(str::len).sum();
        assert!((3072..3072 + 30).contains(&characters), "{characters}");
    }

    #[test]
    fn files_of_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("thesis.txt"), "all of it").unwrap();
        let error = write(folder.path(), Mode::Serial, None).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("holds thesis.txt, which is not of this workload"),
            "{error}"
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
