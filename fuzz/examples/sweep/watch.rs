//! Runs the cases of a subject in another process, and watches its time and memory.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Processor time of a case; what takes longer hangs.
const MAX_CPU: Duration = Duration::from_secs(20);
/// Time of a case, for what waits without using a processor; processes may be stopped for a while.
const MAX_WALL: Duration = Duration::from_secs(900);
/// Memory of a case.
const MAX_KIB: u64 = 1 << 20;
/// Where a process is ended, before it hurts the machine.
const DEADLY_KIB: u64 = 3 << 20;

/// How a case ended.
pub(crate) struct Outcome {
    pub(crate) case: usize,
    /// First word: what kind of outcome it is.
    pub(crate) text: String,
    /// Most memory that it used.
    pub(crate) peak_kib: u64,
}

/// Runs the cases from `first` on, `step` apart.
pub(crate) fn subject(path: &Path, first: usize, step: usize) -> Vec<Outcome> {
    let mut all = Vec::new();
    let mut next = Some(first);
    while let Some(from) = next {
        let mut worker = Worker::start(path, from, step);
        let finished = worker.watch(&mut all);
        let _ = worker.child.kill();
        let _ = worker.child.wait();
        next = if finished {
            None
        } else {
            Some(all.last().map_or(from, |last| last.case) + step)
        };
    }
    all
}

struct Worker {
    child: Child,
    lines: Receiver<String>,
}

impl Worker {
    fn start(path: &Path, first: usize, step: usize) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .arg("work")
            .arg(path)
            .args([first.to_string(), step.to_string()]);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            out.lines()
                .map_while(Result::ok)
                .try_for_each(|line| send.send(line))
        });
        Self { child, lines }
    }

    /// Collects outcomes until the process has run all cases (`true`) or one killed it.
    fn watch(&mut self, all: &mut Vec<Outcome>) -> bool {
        let mut running: Option<(usize, Instant, Duration)> = None;
        loop {
            match self.lines.recv_timeout(Duration::from_millis(100)) {
                Ok(line) if line == "end" => return true,
                Ok(line) if line == "fresh" => return false,
                Ok(line) => match line.split_once(' ').expect("two words") {
                    ("case", case) => {
                        running = Some((case.parse().unwrap(), Instant::now(), self.cpu_time()));
                    }
                    (peak, text) => {
                        let (case, ..) = running.take().expect("a case");
                        let peak_kib = peak.parse().unwrap();
                        let over = peak_kib > MAX_KIB;
                        let text = if over {
                            format!("memory: {text}")
                        } else {
                            text.to_owned()
                        };
                        all.push(Outcome {
                            case,
                            text,
                            peak_kib,
                        });
                    }
                },
                Err(RecvTimeoutError::Timeout) => {
                    let Some((case, start, cpu)) = running else {
                        continue;
                    };
                    let peak_kib = self.status("VmRSS:");
                    let text = if self.cpu_time().saturating_sub(cpu) > MAX_CPU
                        || start.elapsed() > MAX_WALL
                    {
                        "hang: it was ended"
                    } else if peak_kib > DEADLY_KIB {
                        "memory: it was ended"
                    } else {
                        continue;
                    };
                    all.push(Outcome {
                        case,
                        text: text.to_owned(),
                        peak_kib,
                    });
                    return false;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let status = self.child.wait().unwrap();
                    let (case, ..) = running.expect("a worker ends with its work");
                    all.push(Outcome {
                        case,
                        text: format!("crash: {status}"),
                        peak_kib: 0,
                    });
                    return false;
                }
            }
        }
    }

    /// Processor time so far; zero where the system does not say.
    fn cpu_time(&self) -> Duration {
        let stat =
            std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        let fields = stat
            .rsplit_once(')')
            .map_or("", |(_, fields)| fields)
            .split_whitespace();
        // Fields 14 and 15, in hundredths of a second; the first two are gone.
        let ticks: u64 = fields
            .skip(11)
            .take(2)
            .filter_map(|field| field.parse::<u64>().ok())
            .sum();
        Duration::from_millis(ticks * 10)
    }

    fn status(&self, name: &str) -> u64 {
        status_kib(&format!("/proc/{}/status", self.child.id()), name)
    }
}

/// A number of KiB out of a status file of Linux; 0 elsewhere.
pub(crate) fn status_kib(file: &str, name: &str) -> u64 {
    let status = std::fs::read_to_string(file).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or_default()
}
