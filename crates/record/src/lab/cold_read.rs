//! A file that is read when it is not in memory, and then again when it is. Test runs that differ
//! in this cannot be compared: the first one after a start of the machine is always slow.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;

use crate::lab::folder::Names;
use crate::lab::noise::Noise;
use crate::lab::{Bench, Report};

const FILES: Names = Names {
    begin: "ColdRead_",
    end: ".bin",
};
/// Bytes of each write and read.
const PIECE: usize = 1_000_000;

/// Size of the file, and its folder.
#[derive(Debug, Clone, Args)]
pub(crate) struct ColdReadArgs {
    /// Folder of the file, which is made; the file is removed
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Size of the file
    #[arg(long, value_name = "MB", default_value_t = 200,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    size: u32,
}

impl ColdReadArgs {
    pub(crate) fn run(&self, bench: &Bench<'_>) -> Result<Report> {
        Names::prepare(&[FILES], &self.folder)?;
        let path = FILES.path(&self.folder, 0);
        let times = self.times(&path, bench);
        let removed = std::fs::remove_file(&path);
        // Without a file to remove, only the error of creating it shows the cause.
        let (cold, warm) = times?;
        removed.with_context(|| format!("cannot remove {}", path.display()))?;
        let mut report = Report::new("cold-read", &["file", "disk", "memory"], "dump disk");
        for (what, time, rate) in [("cold", cold, "cold_rate"), ("warm", warm, "warm_rate")] {
            let seconds = time.as_secs_f64();
            let speed = f64::from(self.size) / seconds;
            report.line(format!(
                "Read {} MB {what} in {seconds:.3} s: {speed:.1} MB/s.",
                self.size
            ));
            report.value(rate, speed, "MB/s");
        }
        report.seconds("cold_s", cold);
        report.seconds("warm_s", warm);
        report.line(match cold.as_secs_f64() / warm.as_secs_f64() {
            times if times > 1.1 => format!("The disk costs {times:.1} times the time of memory."),
            _ => "Both took the same time: this file system keeps its files in memory.".to_owned(),
        });
        Ok(report)
    }

    /// Returns the times to read the file, without and with its pages in memory.
    fn times(&self, path: &Path, bench: &Bench<'_>) -> Result<(Duration, Duration)> {
        let cannot = |doing: &str| format!("cannot {doing} {}", path.display());
        let mut file = File::create_new(path).with_context(|| cannot("write"))?;
        let mut noise = Noise::new(1);
        for number in 0..self.size {
            if (bench.is_stopped)() {
                break;
            }
            file.write_all(&noise.bytes(PIECE))
                .with_context(|| cannot("write"))?;
            bench.progress(number, self.size);
        }
        // Pages that the disk does not have yet cannot be dropped from memory.
        file.sync_all().with_context(|| cannot("write"))?;
        drop(file);
        forget(path).with_context(|| cannot("take out of memory"))?;
        let cold = read(path).with_context(|| cannot("read"))?;
        let warm = read(path).with_context(|| cannot("read"))?;
        Ok((cold, warm))
    }
}

fn read(path: &Path) -> std::io::Result<Duration> {
    let begun = Instant::now();
    let mut file = File::open(path)?;
    let mut buffer = vec![0; PIECE];
    while file.read(&mut buffer)? > 0 {}
    Ok(begun.elapsed())
}

/// Drops the pages of a file from memory.
#[cfg(any(target_os = "linux", target_os = "freebsd"))]
fn forget(path: &Path) -> std::io::Result<()> {
    use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
    let file = File::open(path)?;
    Ok(posix_fadvise(
        &file,
        0,
        0,
        PosixFadviseAdvice::POSIX_FADV_DONTNEED,
    )?)
}

/// Drops the pages of a file from memory: opening it without buffering makes Windows drop them.
#[cfg(windows)]
fn forget(path: &Path) -> std::io::Result<()> {
    use std::os::windows::fs::OpenOptionsExt;
    const FILE_FLAG_NO_BUFFERING: u32 = 0x2000_0000;
    std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(FILE_FLAG_NO_BUFFERING)
        .open(path)
        .map(drop)
}

/// Drops the pages of a file from memory.
#[cfg(not(any(target_os = "linux", target_os = "freebsd", windows)))]
fn forget(_path: &Path) -> std::io::Result<()> {
    Err(std::io::Error::other(
        "no program may ask for that on this system",
    ))
}

#[cfg(all(test, any(target_os = "linux", target_os = "freebsd", windows)))]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_twice_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let amount = ColdReadArgs {
            folder: folder.path().to_owned(),
            size: 3,
        };
        let report = amount.run(&crate::lab::tests::bench()).unwrap();
        assert!(
            report.of("cold_s").unwrap() > 0.0 && report.of("warm_s").unwrap() > 0.0,
            "{report:?}"
        );
        assert_eq!(
            (
                report.lines.len(),
                std::fs::read_dir(folder.path()).unwrap().count()
            ),
            (3, 0)
        );
    }
}
