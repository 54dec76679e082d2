//! The system's own copy of a file, compared with the original afterwards. It finds a machine on
//! which `CopyFile` fails or leaves an empty file.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;
use etwkit_terminal::errors::advised;

use crate::lab::spread::Spread;
use crate::lab::{Bench, Report};

/// Bytes that are compared at once.
const PIECE: usize = 1 << 16;

/// Source and target of the copy, and the number of copies.
#[derive(Debug, Clone, Args)]
pub(crate) struct CopyFileArgs {
    /// File to copy
    #[arg(value_name = "FROM")]
    from: PathBuf,
    /// The copy, which must not be there yet
    #[arg(value_name = "TO")]
    to: PathBuf,
    /// Copies, one after the other; all but the last are removed
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    repeat: u32,
}

impl CopyFileArgs {
    pub(crate) fn run(&self, bench: &Bench<'_>) -> Result<Report> {
        // The link itself counts, not its target: copying through a link would write elsewhere.
        if self.to.symlink_metadata().is_ok() {
            let message = format!("{} is there already", self.to.display());
            return Err(advised(message, "name a file that is not there yet"));
        }
        let mut times = Vec::new();
        let mut bytes = 0;
        while (times.len() as u32) < self.repeat && !(bench.is_stopped)() {
            if !times.is_empty() {
                // Removed before each copy, so that each one creates its file as the first one
                // does.
                std::fs::remove_file(&self.to)
                    .with_context(|| format!("cannot remove {}", self.to.display()))?;
            }
            let (copied, took) = self.copy()?;
            bytes = copied;
            times.push(took);
            bench.progress(times.len() as u32, self.repeat);
        }
        let copies = times.len();
        let spread = Spread::of(times);
        let mut report = Report::new("copy-file", &["syscall", "file"], "dump syscall");
        let times = if copies == 1 {
            "once".to_owned()
        } else {
            format!("{copies} times")
        };
        report.line(format!("Copied {bytes} bytes {times}: {spread}."));
        report.line("The copy has the same contents.");
        report.value("bytes", bytes as f64, "count");
        spread.values(&mut report);
        Ok(report)
    }

    /// Copies, and compares. Returns the bytes of the copy and the time of copying.
    fn copy(&self) -> Result<(u64, Duration)> {
        let begun = Instant::now();
        std::fs::copy(&self.from, &self.to).with_context(|| {
            format!(
                "the system cannot copy {} to {}",
                self.from.display(),
                self.to.display()
            )
        })?;
        // Before the comparison, which reads both files and is not part of the copy.
        let took = begun.elapsed();
        match difference(&self.from, &self.to)? {
            Ok(bytes) => Ok((bytes, took)),
            Err(at) => {
                let message = format!("the copy {} differs from byte {at} on", self.to.display());
                Err(advised(
                    message,
                    "record it with `--record syscall`, and look for odd results",
                ))
            }
        }
    }
}

/// Returns the length of two files with equal contents, or the offset of the first difference.
fn difference(one: &Path, other: &Path) -> Result<std::result::Result<u64, u64>> {
    let open = |path: &Path| {
        let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        Ok::<_, anyhow::Error>(BufReader::with_capacity(PIECE, file))
    };
    let mut one = open(one)?;
    let mut other = open(other)?;
    let mut at = 0;
    loop {
        let mut pieces = [Vec::new(), Vec::new()];
        (&mut one)
            .take(PIECE as u64)
            .read_to_end(&mut pieces[0])
            .context("cannot read the file")?;
        (&mut other)
            .take(PIECE as u64)
            .read_to_end(&mut pieces[1])
            .context("cannot read the copy")?;
        let [left, right] = &pieces;
        // A shorter piece also counts as a difference: an empty copy differs from the first byte
        // on.
        let same = left
            .iter()
            .zip(right)
            .take_while(|(left, right)| left == right)
            .count();
        at += same as u64;
        if same < left.len().max(right.len()) {
            return Ok(Err(at));
        }
        if same == 0 {
            return Ok(Ok(at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(from: &Path, to: &Path) -> Result<Report> {
        CopyFileArgs {
            from: from.to_owned(),
            to: to.to_owned(),
            repeat: 3,
        }
        .run(&crate::lab::tests::bench())
    }

    #[test]
    fn a_file_is_copied_and_compared() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (
            folder.path().join("report.pdf"),
            folder.path().join("copy.pdf"),
        );
        std::fs::write(&from, vec![7; 200_000]).unwrap();
        let report = copy(&from, &to).unwrap();
        assert_eq!(report.of("bytes"), Some(200_000.0));
        assert!(
            report.lines[0].starts_with("Copied 200000 bytes 3 times: "),
            "{report:?}"
        );
        assert_eq!(std::fs::read(&to).unwrap(), std::fs::read(&from).unwrap());
        let error = copy(&from, &to).unwrap_err().to_string();
        assert!(error.ends_with("copy.pdf is there already"), "{error}");
        let error = copy(&folder.path().join("no.pdf"), &folder.path().join("x"))
            .unwrap_err()
            .to_string();
        assert!(error.contains("cannot copy"), "{error}");
    }

    #[test]
    fn files_differ_where_they_do() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let whole = file("whole", &vec![7; PIECE * 2 + 5]);
        let short = file("short", &vec![7; PIECE * 2]);
        let mut other = vec![7; PIECE * 2 + 5];
        other[PIECE + 3] = 8;
        let other = file("other", &other);
        let empty = file("empty", b"");
        let of = |one: &Path, two: &Path| difference(one, two).unwrap();
        assert_eq!(of(&whole, &whole), Ok(PIECE as u64 * 2 + 5));
        assert_eq!(of(&whole, &short), Err(PIECE as u64 * 2));
        assert_eq!(of(&other, &whole), Err(PIECE as u64 + 3));
        assert_eq!((of(&whole, &empty), of(&empty, &empty)), (Err(0), Ok(0)));
    }
}
