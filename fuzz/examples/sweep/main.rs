//! Broken files by the ten thousand: every one is answered or refused, without a panic, in time and in
//! memory.
//!
//! `cargo run --release --example sweep -- [--share 0.1] [--workers 2] TRACES` runs all cases, or a share of
//! them, in processes of their own; with `--cli PROGRAM` through the program. `… -- replay SUBJECT CASE
//! [FILE]` runs one, and keeps its bytes. What is read is what `info`, `events` and `extract` read.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a tool of developers; it fails by panicking"
)]

mod cases;
mod cli;
mod crowds;
mod files;
mod json;
mod topics;
mod watch;
mod worker;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use cases::Subject;

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let mut option = |name: &str| {
        let at = args.iter().position(|arg| arg == name)?;
        args.remove(at);
        Some(args.remove(at))
    };
    let share: f64 = option("--share").map_or(1.0, |text| text.parse().expect("a number"));
    let workers: usize = option("--workers").map_or(2, |text| text.parse().expect("a number"));
    let cli = option("--cli").map(PathBuf::from);
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["work", subject, first, step] => worker::run(subject, number(first), number(step)),
        ["replay", subject, case] => worker::replay(subject, number(case), None),
        ["replay", subject, case, keep] => {
            worker::replay(subject, number(case), Some(Path::new(keep)))
        }
        [traces] => sweep(Path::new(traces), share, workers, cli.as_deref()),
        _ => panic!(
            "usage: sweep [--share 0.1] [--workers 2] [--cli PROGRAM] TRACES | sweep replay SUBJECT CASE [FILE]"
        ),
    }
}

fn number(text: &str) -> usize {
    text.parse().expect("a number")
}

/// Every so many cases of each subject make up the share.
fn sweep(traces: &Path, share: f64, workers: usize, cli: Option<&Path>) {
    let start = Instant::now();
    let step = (1.0 / share.clamp(0.001, 1.0)).round() as usize;
    let mut paths = vec![PathBuf::from(cases::FILES)];
    find(traces, &mut paths);
    paths.sort();
    let (next, totals) = (AtomicUsize::new(0), Mutex::new(Totals::default()));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(path) = paths.get(index) else { return };
                    // Not the same cases of every trace; of the few files without a trace all.
                    let (first, step) = if Subject::is_files(path) {
                        (0, 1)
                    } else {
                        (index * 7 % step, step)
                    };
                    let found = match cli {
                        Some(program) => cli::subject(program, path, first, step),
                        None => watch::subject(path, first, step),
                    };
                    totals.lock().unwrap().add(path, found);
                }
            });
        }
    });
    let totals = totals.into_inner().unwrap();
    println!(
        "{} subjects, every case of {step}: {:.0} s",
        paths.len(),
        start.elapsed().as_secs_f64()
    );
    totals.print();
    if totals.has_failures() {
        std::process::exit(1);
    }
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            find(&path, files);
        } else if path
            .extension()
            .is_some_and(|ending| ending == "etl" || ending == "7z")
        {
            files.push(path);
        }
    }
}

/// What became of the cases.
#[derive(Default)]
struct Totals {
    outcomes: BTreeMap<String, u64>,
    peak_kib: u64,
}

/// How a case may end; everything else is a bug.
const GOOD: [&str; 4] = ["clean", "damage", "refused", "answered"];

impl Totals {
    fn add(&mut self, path: &Path, found: Vec<watch::Outcome>) {
        let mut here: BTreeMap<String, u64> = BTreeMap::new();
        for outcome in &found {
            let kind = outcome
                .text
                .split(':')
                .next()
                .unwrap_or_default()
                .to_owned();
            *here.entry(kind.clone()).or_default() += 1;
            self.peak_kib = self.peak_kib.max(outcome.peak_kib);
            if !GOOD.contains(&&*kind) {
                println!(
                    "FAILED {} case {}: {}",
                    path.display(),
                    outcome.case,
                    outcome.text
                );
            }
        }
        let largest = found
            .iter()
            .map(|outcome| outcome.peak_kib)
            .max()
            .unwrap_or_default()
            / 1024;
        let memory = if largest > 0 {
            format!(", at most {largest} MiB")
        } else {
            String::new()
        };
        println!(
            "{}{}: {here:?}{memory}",
            path.display(),
            cases::cut_note(path)
        );
        here.into_iter()
            .for_each(|(kind, count)| *self.outcomes.entry(kind).or_default() += count);
    }

    fn has_failures(&self) -> bool {
        self.outcomes
            .keys()
            .any(|kind| !GOOD.contains(&kind.as_str()))
    }

    fn print(&self) {
        let of = |kind: &str| self.outcomes.get(kind).copied().unwrap_or_default();
        println!("cases: {}", self.outcomes.values().sum::<u64>());
        println!("read, no damage met: {}", of("clean"));
        println!("read with damage counted: {}", of("damage"));
        println!("answered by the program: {}", of("answered"));
        println!("refused with position and hint: {}", of("refused"));
        for kind in ["panic", "crash", "hang", "memory", "wrong"] {
            println!("{kind}: {}", of(kind));
        }
        println!("most memory of a case: {} MiB", self.peak_kib / 1024);
    }
}
