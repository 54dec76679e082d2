//! Threads that each wait for the next one, down to the last, which sleeps. The first one really
//! waits for the sleep of the last, and only a wait chain shows that.

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;

use crate::lab::{Bench, Report};

/// Length of the chain, and the duration of the sleep.
#[derive(Debug, Clone, Args)]
pub(crate) struct WaitChainArgs {
    /// Threads of the chain
    #[arg(long, value_name = "N", default_value_t = 5,
          value_parser = clap::value_parser!(u32).range(2..=1_000))]
    depth: u32,
    /// Time that the last one sleeps each time
    #[arg(long, value_name = "MS", default_value_t = 200,
          value_parser = clap::value_parser!(u32).range(1..=60_000))]
    sleep: u32,
    /// Number of repetitions
    #[arg(long, value_name = "N", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    repeat: u32,
}

impl WaitChainArgs {
    pub(crate) fn run(&self, bench: &Bench<'_>) -> Result<Report> {
        let sleep = Duration::from_millis(self.sleep.into());
        let mut done = 0;
        let begun = Instant::now();
        while done < self.repeat && !(bench.is_stopped)() {
            std::thread::scope(|scope| link(scope, 1, self.depth, sleep))?;
            done += 1;
            bench.progress(done, self.repeat);
        }
        let waited = begun.elapsed();
        let slept = sleep * done;
        let mut report = Report::new("wait-chain", &["cswitch"], "dump wait --chain");
        report.line(format!(
            "The first of {} threads waited {:.3} s, {done} times; the last one slept {:.3} s of it.",
            self.depth,
            waited.as_secs_f64(),
            slept.as_secs_f64()
        ));
        report.seconds("waited_s", waited);
        report.seconds("slept_s", slept);
        Ok(report)
    }
}

/// Runs a thread of the chain that waits for the next one; the last one sleeps.
fn link<'s, 'e: 's>(
    scope: &'s std::thread::Scope<'s, 'e>,
    number: u32,
    depth: u32,
    sleep: Duration,
) -> Result<()> {
    if number == depth {
        std::thread::sleep(sleep);
        return Ok(());
    }
    let (sender, receiver) = channel();
    let name = format!("link {}", number + 1);
    let thread = std::thread::Builder::new()
        .name(name)
        .spawn_scoped(scope, move || {
            let done = link(scope, number + 1, depth, sleep);
            // The waiting thread does not end before it has this: sending cannot fail.
            let _ = sender.send(done);
        });
    thread.context("cannot start a thread")?;
    receiver
        .recv()
        .context("a thread of the chain ended early")?
}
