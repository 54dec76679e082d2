//! Processes that start others, until a thousand are alive at the same time; then all of them end.
//! Both are measured separately, with a pause between them that a timeline shows as a gap.

use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;
use etwkit_base::path;

use crate::lab::family::Family;
use crate::lab::lock::Lock;
use crate::lab::probe::ValueNames;
use crate::lab::{Bench, Report};

/// Pause between creation and end.
const GAP: Duration = Duration::from_millis(500);

const CREATE: ValueNames = ValueNames {
    total: "create_blocked_total_s",
    most: "create_blocked_max_s",
    median: "create_blocked_median_s",
    slow: "create_blocked_p99_s",
};
const DESTROY: ValueNames = ValueNames {
    total: "destroy_blocked_total_s",
    most: "destroy_blocked_max_s",
    median: "destroy_blocked_median_s",
    slow: "destroy_blocked_p99_s",
};

/// Number of processes.
#[derive(Debug, Clone, Args)]
pub(crate) struct ProcessCreateArgs {
    /// Processes that the first one starts
    #[arg(long, value_name = "N", default_value_t = 40,
          value_parser = clap::value_parser!(u32).range(1..=1_000))]
    children: u32,
    /// Processes that each of these starts
    #[arg(long, value_name = "N", default_value_t = 24,
          value_parser = clap::value_parser!(u32).range(0..=1_000))]
    grandchildren: u32,
    /// Library that each process loads before it is there; user32 is one for which Windows takes
    /// the lock of the window manager. Elsewhere it is a plan
    #[arg(long, value_name = "LIBRARY")]
    load: Option<String>,
}

/// A process that was started.
#[derive(Debug, Clone, Args)]
pub(crate) struct Child {
    /// Number of processes that it starts
    #[arg(long, value_name = "N", default_value_t = 0)]
    children: u32,
    /// Library that it and they load
    #[arg(long, value_name = "LIBRARY")]
    load: Option<String>,
}

impl ProcessCreateArgs {
    pub(crate) fn run(&self, bench: &Bench<'_>) -> Result<Report> {
        let library = self.load.as_deref().map(file_name);
        let load = library.as_deref();
        let all = self.children * self.grandchildren + self.children;
        let question = if load.is_some() {
            "dump user-lock"
        } else {
            "dump start"
        };
        let mut report = Report::new("process-create", &["cswitch", "usercrit"], question);
        if let Some(load) = load.filter(|_| !cfg!(windows)) {
            plan(&mut report, (self.children, self.grandchildren), load);
            return Ok(report);
        }
        // Loaded here first: a library that a thousand processes cannot load is reported once.
        let _loaded = load.map(loaded).transpose()?;
        let lock = Lock::of_system()?;
        report.line(format!("Main process pid is {}.", std::process::id()));
        let with = load.map_or_else(String::new, |load| format!(" with {load} loaded"));
        report.line(format!("Testing with {all} descendant processes{with}."));
        report.line(lock.words());
        let probe = lock.probe()?;
        let begun = Instant::now();
        let is_stopped = |done: u32, all: u32| {
            bench.progress(done, all);
            (bench.is_stopped)()
        };
        let start = || child(bench.program, self.grandchildren, load);
        let family = Family::start(self.children, start, &|done| {
            is_stopped(done, self.children * 2)
        })?;
        report_time(&mut report, "creation", (begun.elapsed(), all), "create_s");
        probe.end()?.report(&mut report, &CREATE);
        std::thread::sleep(GAP);
        report.line("");
        report.line("Process termination starts now.");
        let probe = lock.probe()?;
        let begun = Instant::now();
        family.end(&|done| is_stopped(done, self.children))?;
        report_time(
            &mut report,
            "destruction",
            (begun.elapsed(), all),
            "destroy_s",
        );
        probe.end()?.report(&mut report, &DESTROY);
        report.value("processes", all.into(), "count");
        Ok(report)
    }
}

/// Adds a line in the words of the case study's program, and the value.
pub(crate) fn report_time(
    report: &mut Report,
    what: &str,
    (time, processes): (Duration, u32),
    name: &'static str,
) {
    let seconds = time.as_secs_f64();
    let each = seconds * 1000.0 / f64::from(processes.max(1));
    report.line(format!(
        "Process {what} took {seconds:.3} s ({each:.3} ms per process)."
    ));
    report.seconds(name, time);
}

/// Prints the steps that Windows would run, on other systems.
fn plan(report: &mut Report, (children, grandchildren): (u32, u32), load: &str) {
    for line in [
        format!(
            "Plan: libraries are loaded on Windows only, where the same command does this with {load}."
        ),
        format!(
            "  1. It starts {children} processes, each of which starts {grandchildren}; each loads {load} first."
        ),
        "  2. When all are there, it waits half a second and lets all of them end at once."
            .to_owned(),
        "  3. In addition it asks for the lock of the window manager every 10 ms.".to_owned(),
        "  4. It prints how long creation and destruction took and how long the lock was blocked."
            .to_owned(),
        "Without --load it also runs here.".to_owned(),
    ] {
        report.line(line);
    }
}

/// Returns the name as Windows reads it: a name without an extension is a `.dll`.
fn file_name(library: &str) -> String {
    if path::file_name(library).contains('.') {
        library.to_owned()
    } else {
        format!("{library}.dll")
    }
}

/// Returns the command of a process that starts `children` others.
fn child(program: &Path, children: u32, load: Option<&str>) -> Command {
    let mut command = Command::new(program);
    command
        .args(["lab", "child", "--children"])
        .arg(children.to_string());
    command.args(load.into_iter().flat_map(|load| ["--load", load]));
    command
}

impl Child {
    /// Starts its children, reports that all are ready, and ends when its input does.
    pub(crate) fn run(&self, bench: &Bench<'_>) -> Result<()> {
        let load = self.load.as_deref();
        let _loaded = load.map(loaded).transpose()?;
        // Only the first process shows progress.
        let family = Family::start(self.children, || child(bench.program, 0, load), &|_| {
            (bench.is_stopped)()
        })?;
        let mut out = std::io::stdout();
        out.write_all(b".")
            .and_then(|()| out.flush())
            .context("the first process is gone")?;
        let mut rest = Vec::new();
        std::io::stdin()
            .read_to_end(&mut rest)
            .context("cannot wait for the end")?;
        family.end(&|_| false)
    }
}

/// Loads a library until the result is dropped. It is loaded at run time, since a linked one would
/// be in every process, also without `--load`.
#[cfg(windows)]
fn loaded(library: &str) -> Result<impl Drop + use<>> {
    winsafe::HINSTANCE::LoadLibrary(library).with_context(|| format!("cannot load {library}"))
}

/// Fails: these libraries exist only on Windows.
#[cfg(not(windows))]
fn loaded(library: &str) -> Result<()> {
    anyhow::bail!("{library} cannot be loaded on this system")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_without_an_ending_is_a_dll() {
        let names = ["user32", "user32.dll", "C:\\a.b\\own", "winspool.drv"].map(file_name);
        assert_eq!(
            names,
            [
                "user32.dll",
                "user32.dll",
                "C:\\a.b\\own.dll",
                "winspool.drv"
            ]
        );
    }

    #[cfg(not(windows))]
    #[test]
    fn libraries_are_a_plan_elsewhere() {
        let amount = ProcessCreateArgs {
            children: 40,
            grandchildren: 24,
            load: Some("user32".to_owned()),
        };
        let report = amount.run(&crate::lab::tests::bench()).unwrap();
        assert!(
            report.lines[0].ends_with("the same command does this with user32.dll."),
            "{report:?}"
        );
        assert!(
            report.lines[1].contains("40 processes, each of which starts 24"),
            "{report:?}"
        );
        assert!(report.values.is_empty(), "{report:?}");
    }
}
