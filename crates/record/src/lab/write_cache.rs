//! One large file, written in the three ways in which programs wait for the disk: never, at the
//! end, or after each piece. The differences show the effect of the write caches of the system and
//! the disk.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};

use crate::lab::folder::Names;
use crate::lab::noise::Noise;
use crate::lab::{Bench, Report};

const FILES: Names = Names {
    begin: "WriteCache_",
    end: ".bin",
};

/// Points at which the program waits until the disk has everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Flush {
    /// Not at all
    Never,
    /// After the last piece
    End,
    /// After each piece, as a database does
    Each,
}

impl Flush {
    /// Returns its description, and the names of its time and rate.
    const fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Never => ("without waiting for the disk", "never_s", "never_rate"),
            Self::End => ("waiting for the disk at the end", "end_s", "end_rate"),
            Self::Each => (
                "waiting for the disk after each piece",
                "each_s",
                "each_rate",
            ),
        }
    }
}

/// Size of the file, and its folder.
#[derive(Debug, Clone, Args)]
pub(crate) struct WriteCacheArgs {
    /// Folder of the file, which is made; the file is removed
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Size of the file
    #[arg(long, value_name = "MB", default_value_t = 500,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    size: u32,
    /// Size of a piece
    #[arg(long, value_name = "KB", default_value_t = 1_000,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    piece: u32,
    /// Points at which to wait for the disk; by default all, one after the other
    #[arg(long, value_enum)]
    flush: Option<Flush>,
}

impl WriteCacheArgs {
    pub(crate) fn run(&self, bench: &Bench<'_>) -> Result<Report> {
        Names::prepare(&[FILES], &self.folder)?;
        let path = FILES.path(&self.folder, 0);
        let mut report = Report::new("write-cache", &["file", "disk"], "dump disk");
        let ways = self
            .flush
            .as_ref()
            .map_or(Flush::value_variants(), std::slice::from_ref);
        for flush in ways {
            // Each way writes a new file: overwriting one needs no new space and is faster.
            let took = self.write(&path, *flush, bench);
            let removed = std::fs::remove_file(&path);
            // Without a file to remove, only the error of creating it shows the cause.
            let seconds = took?.as_secs_f64();
            removed.with_context(|| format!("cannot remove {}", path.display()))?;
            let (words, time, rate) = flush.words();
            let speed = self.bytes() as f64 / 1e6 / seconds;
            report.line(format!(
                "Wrote {} MB {words} in {seconds:.3} s: {speed:.1} MB/s.",
                self.size
            ));
            report.value(time, seconds, "s");
            report.value(rate, speed, "MB/s");
        }
        if let Some((never, each)) = report.of("never_rate").zip(report.of("each_rate")) {
            report.line(format!(
                "Waiting for the disk after each piece costs {:.1} times the time.",
                never / each
            ));
        }
        Ok(report)
    }

    fn bytes(&self) -> u64 {
        u64::from(self.size) * 1_000_000
    }

    /// Returns the time until the program may continue.
    fn write(&self, path: &Path, flush: Flush, bench: &Bench<'_>) -> Result<Duration> {
        let cannot = || format!("cannot write {}", path.display());
        // Noise, since disks and file systems with compression would write zeros in no time.
        let piece = Noise::new(1).bytes(self.piece as usize * 1_000);
        let mut file = File::create_new(path).with_context(cannot)?;
        let begun = Instant::now();
        let mut left = self.bytes();
        while left > 0 && !(bench.is_stopped)() {
            let part = piece
                .get(..usize::try_from(left).unwrap_or(usize::MAX))
                .unwrap_or(&piece);
            file.write_all(part).with_context(cannot)?;
            if flush == Flush::Each {
                file.sync_data().with_context(cannot)?;
            }
            left -= part.len() as u64;
            bench.progress(((self.bytes() - left) / 1_000_000) as u32, self.size);
        }
        if flush == Flush::End {
            file.sync_data().with_context(cannot)?;
        }
        Ok(begun.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_in_all_ways_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let mut amount = WriteCacheArgs {
            folder: folder.path().to_owned(),
            size: 3,
            piece: 700,
            flush: None,
        };
        let report = amount.run(&crate::lab::tests::bench()).unwrap();
        for name in ["never_rate", "end_rate", "each_rate"] {
            assert!(report.of(name).unwrap() > 0.0, "{report:?}");
        }
        assert_eq!(report.lines.len(), 4, "{report:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let path = folder.path().join("WriteCache_7.bin");
        amount
            .write(&path, Flush::Each, &crate::lab::tests::bench())
            .unwrap();
        assert_eq!(path.metadata().unwrap().len(), 3_000_000);
        amount.flush = Some(Flush::End);
        let report = amount.run(&crate::lab::tests::bench()).unwrap();
        assert_eq!((report.lines.len(), report.of("never_rate")), (1, None));
    }
}
