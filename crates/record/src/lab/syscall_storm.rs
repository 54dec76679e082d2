//! Threads that only make system calls. The cost of a call is small until each call is logged. One
//! run as it is and one run during a recording of system calls show the cost of recording them.

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use etwkit_terminal::errors::advised;
use serde_json::Value;

use crate::lab::crowd::{crowd, processors};
use crate::lab::{Bench, Report};

/// Calls between two reads of the clock.
const CALLS: u32 = 100;

/// Number of threads, and the duration.
#[derive(Debug, Clone, Args)]
pub(crate) struct SyscallStormArgs {
    /// Threads; the default is one for each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4_096))]
    threads: Option<u32>,
    /// Time that they make calls
    #[arg(long, value_name = "SECONDS", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(1..=86_400))]
    seconds: u32,
    /// Do it again while each call is recorded, on Windows by `etwkit record start syscall`,
    /// elsewhere by strace, and compare
    #[arg(long)]
    traced: bool,
}

impl SyscallStormArgs {
    pub(crate) fn run(&self, bench: &Bench<'_>) -> Result<Report> {
        let mut report = self.storm(bench);
        if !self.traced {
            report.line(
                "With --traced the same is done while system calls are recorded, and compared.",
            );
            return Ok(report);
        }
        if (bench.is_stopped)() {
            return Ok(report);
        }
        let (recorder, recorded) = if cfg!(windows) {
            let recording = Recording::start(bench)?;
            let recorded = self.storm(bench).of("call_ns");
            recording.cancel()?;
            ("a recording of the profile syscall", recorded)
        } else {
            ("strace", self.below(Command::new("strace"), bench)?)
        };
        let plain = report.of("call_ns");
        let recorded = recorded.context("nothing was measured")?;
        let times = plain
            .filter(|plain| *plain > 0.0)
            .map_or(0.0, |plain| recorded / plain);
        report.line(format!(
            "Below {recorder} a call costs {recorded:.0} ns: {times:.1} times as much."
        ));
        report.value("traced_call_ns", recorded, "ns");
        report.value("times", times, "times");
        Ok(report)
    }

    /// Returns the cost of a call in nanoseconds in a new process whose calls are logged by that
    /// program, as strace does.
    fn below(&self, mut strace: Command, bench: &Bench<'_>) -> Result<Option<f64>> {
        strace
            .args(["-f", "-qq", "-o", "/dev/null"])
            .arg(bench.program)
            .args(["lab", "syscall-storm", "--json"]);
        strace.args(["--seconds", &self.seconds.to_string()]);
        strace.args(
            self.threads
                .iter()
                .flat_map(|threads| ["--threads".to_owned(), threads.to_string()]),
        );
        let name = strace.get_program().to_string_lossy().into_owned();
        let output = strace.stdin(Stdio::null()).output().map_err(|error| {
            let message = format!("--traced needs {name}, which does not start ({error})");
            advised(message, "install strace, or leave --traced away")
        })?;
        if !output.status.success() {
            bail!("{name} failed: {}", said(&output));
        }
        Ok(call_ns(&String::from_utf8_lossy(&output.stdout)))
    }

    fn storm(&self, bench: &Bench<'_>) -> Report {
        let threads = self.threads.unwrap_or_else(processors);
        let begun = Instant::now();
        let end = begun + Duration::from_secs(self.seconds.into());
        let calls: u64 = crowd(
            threads,
            bench,
            || bench.until(begun, end),
            |_, is_over| {
                let mut calls = 0_u64;
                while Instant::now() < end && !is_over() {
                    // The clock is read once for many calls; otherwise the loop would measure the
                    // clock.
                    (0..CALLS).for_each(|_| std::thread::yield_now());
                    calls += u64::from(CALLS);
                }
                calls
            },
        )
        .into_iter()
        .sum();
        let wall = begun.elapsed();
        // With more threads than processors each call also waits for its turn.
        let each =
            wall.as_secs_f64() * f64::from(threads.min(processors())) * 1e9 / calls.max(1) as f64;
        let mut report = Report::new("syscall-storm", &["syscall"], "dump syscall");
        report.line(format!(
            "{threads} threads called the system {calls} times in {:.3} s: {each:.0} ns of a processor for each \
             call.",
            wall.as_secs_f64()
        ));
        report.value("threads", threads.into(), "count");
        report.value("calls", calls as f64, "count");
        report.value("call_ns", each, "ns");
        report.seconds("wall_s", wall);
        report
    }
}

/// Returns the cost of a call from the output of `--json`: its last line has the values.
fn call_ns(text: &str) -> Option<f64> {
    let answer: Value = serde_json::from_str(text.lines().last()?).ok()?;
    let values = answer.pointer("/measured/values")?.as_array()?;
    values
        .iter()
        .find(|value| value.get("name").is_some_and(|name| name == "call_ns"))?
        .get("value")?
        .as_f64()
}

/// Returns the error output of a failed program, on one line.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A recording of system calls by this program, which is always discarded.
struct Recording<'b> {
    bench: &'b Bench<'b>,
    is_over: bool,
}

impl<'b> Recording<'b> {
    /// Starts the recording. It goes to memory, since it is not read.
    fn start(bench: &'b Bench<'b>) -> Result<Self> {
        record(bench, &["start", "syscall"])?;
        Ok(Self {
            bench,
            is_over: false,
        })
    }

    fn cancel(mut self) -> Result<()> {
        self.is_over = true;
        record(self.bench, &["cancel"])
    }
}

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            // The result is ignored: a failure has already been reported.
            let _ = record(self.bench, &["cancel"]);
        }
    }
}

fn record(bench: &Bench<'_>, args: &[&str]) -> Result<()> {
    let output = Command::new(bench.program)
        .arg("record")
        .args(args)
        .stdin(Stdio::null())
        .output();
    let output = output.context("cannot start this program again")?;
    if !output.status.success() {
        bail!("etwkit record {} failed: {}", args.join(" "), said(&output));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_for_as_long_as_asked() {
        let report = SyscallStormArgs {
            threads: Some(2),
            seconds: 1,
            traced: false,
        }
        .run(&crate::lab::tests::bench())
        .unwrap();
        let [calls, each, wall] =
            ["calls", "call_ns", "wall_s"].map(|name| report.of(name).unwrap());
        assert!(wall >= 1.0 && calls >= 200.0, "{report:?}");
        let all = wall * f64::from(processors().min(2)) * 1e9;
        assert!((each * calls / all - 1.0).abs() < 1e-6, "{report:?}");
        assert_eq!(report.of("times"), None);
    }

    #[test]
    fn what_another_process_measured_is_read() {
        let text = "{\"command\":\"lab\"}\n{\"measured\":{\"values\":[\
                    {\"name\":\"calls\",\"value\":7.0,\"unit\":\"count\"},\
                    {\"name\":\"call_ns\",\"value\":21218.5,\"unit\":\"ns\"}]}}\n";
        assert_eq!(call_ns(text), Some(21_218.5));
        assert_eq!(call_ns("nothing"), None);
    }

    #[test]
    fn without_strace_there_is_a_hint() {
        let amount = SyscallStormArgs {
            threads: Some(1),
            seconds: 1,
            traced: true,
        };
        let error = amount
            .below(Command::new("no-such-strace"), &crate::lab::tests::bench())
            .unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("--traced needs no-such-strace, which does not start"),
            "{error}"
        );
    }
}
