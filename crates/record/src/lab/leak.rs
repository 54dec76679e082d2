//! A leak: with each click of a user, a program opens a resource and keeps it. Nothing is slow
//! until the resource is exhausted.

use std::fs::File;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;
use etwkit_terminal::errors::advised;

use crate::lab::{Bench, Report};

/// Number of clicks, and the size of the leak.
#[derive(Debug, Clone, Args)]
pub(crate) struct LeakArgs {
    /// Number of clicks
    #[arg(long, value_name = "N", default_value_t = 100,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    clicks: u32,
    /// Handles that each click leaves open
    #[arg(long, value_name = "N", default_value_t = 2,
          value_parser = clap::value_parser!(u32).range(0..=1_000))]
    handles: u32,
    /// Memory that each click keeps
    #[arg(long, value_name = "KB", default_value_t = 64,
          value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    memory: u32,
    /// Pause between two clicks
    #[arg(long, value_name = "MS", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(0..=60_000))]
    pause: u32,
}

impl LeakArgs {
    pub(crate) fn run(&self, bench: &Bench<'_>) -> Result<Report> {
        let mut report = Report::new("leak", &["handle", "memory"], "dump objectref --leak");
        let before = handles();
        // A file that exists on every machine and does not have to be created.
        let program = std::env::current_exe().context("cannot find this program, to open it")?;
        let mut kept = Vec::new();
        let mut pages = Vec::new();
        let begun = Instant::now();
        for click in 0..self.clicks {
            if (bench.is_stopped)() {
                break;
            }
            for _ in 0..self.handles {
                let opened = File::open(&program).map_err(|error| {
                    let opened = kept.len();
                    advised(
                        format!("the system gives no more handles: {opened} are open ({error})"),
                        "fewer --clicks or --handles stay below its limit (ulimit -n)",
                    )
                })?;
                kept.push(opened);
            }
            // Written to, so that the system has to provide it.
            pages.push(vec![1_u8; self.memory as usize * 1024]);
            std::thread::sleep(Duration::from_millis(self.pause.into()));
            bench.progress(click + 1, self.clicks);
        }
        let took = begun.elapsed();
        let after = handles();
        let bytes: usize = pages.iter().map(Vec::len).sum();
        report.line(format!(
            "{} clicks took {:.3} s.",
            pages.len(),
            took.as_secs_f64()
        ));
        report.line(format!(
            "They left {} handles open and kept {:.1} MB.",
            kept.len(),
            bytes as f64 / f64::from(1 << 20)
        ));
        if let Some((before, after)) = before.zip(after) {
            report.line(format!(
                "The system counts {after} handles of this process, {before} before."
            ));
            report.value("handles_before", before.into(), "count");
            report.value("handles_after", after.into(), "count");
        }
        report.value("clicks", pages.len() as f64, "count");
        report.value("handles_kept", kept.len() as f64, "count");
        report.value("bytes_kept", bytes as f64, "bytes");
        report.seconds("wall_s", took);
        Ok(report)
    }
}

/// Returns the number of handles of this process, as counted by the system.
#[cfg(windows)]
fn handles() -> Option<u32> {
    // A process always has some handles. Wine, which does not count them, returns 0.
    winsafe::HPROCESS::GetCurrentProcess()
        .GetProcessHandleCount()
        .ok()
        .filter(|count| *count > 0)
}

/// Returns the number of handles of this process, as counted by the system; `None` if it is not
/// available.
#[cfg(not(windows))]
fn handles() -> Option<u32> {
    // The folder that is being read is one of them, and it is closed afterwards.
    let open = std::fs::read_dir("/proc/self/fd").ok()?.count();
    u32::try_from(open.saturating_sub(1)).ok()
}
