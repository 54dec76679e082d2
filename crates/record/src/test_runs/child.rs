//! Commands as processes: started, watched, and killed with all of their child processes.

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use etwkit_base::lock::lock;
use etwkit_terminal::errors::advised;

/// Polling intervals for the end of a process: the end is detected at most this much late, so short
/// commands are polled more often.
const SHORT: Duration = Duration::from_micros(200);
const LONG: Duration = Duration::from_millis(5);

/// Largest number of characters of the output that are kept, from its end.
const MAX_OUTPUT: usize = 1 << 16;

/// Outcome of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    /// Time from the start until the end was detected.
    pub(crate) wall: Duration,
    /// The exit code, if it ended by itself with one.
    pub(crate) exit_code: Option<i32>,
    /// The end of its output.
    pub(crate) printed: String,
    /// Reason for which it was killed, if it was.
    pub(crate) killed: Option<Killed>,
}

/// Reason for which a command was killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Killed {
    /// The user has stopped it.
    Stopped,
    /// The command exceeded its time limit.
    TooLong,
}

/// Conditions under which a command is killed.
pub(crate) struct Limits<'l> {
    /// Polled while the command runs.
    pub(crate) is_stopped: &'l dyn Fn() -> bool,
    pub(crate) timeout: Option<Duration>,
    /// True if its output goes to our error stream.
    pub(crate) is_heard: bool,
}

/// Runs a program with its arguments. Its output is kept for
/// [`Timing::Printed`](crate::test_runs::Timing::Printed).
///
/// # Errors
/// It cannot be started.
pub(crate) fn run(words: &[String], limits: &Limits<'_>) -> Result<Ended> {
    let Some((program, args)) = words.split_first() else {
        return Err(advised(
            "expected a command after --, found nothing",
            "for example: etwkit run Copy -- cp a b",
        ));
    };
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit());
    // Only this program receives Ctrl-C: it ends the command when its recording is safe.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let begun = Instant::now();
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start {program}"))?;
    let output = child.stdout.take();
    let printed = Arc::new(Mutex::new(Vec::new()));
    let is_heard = limits.is_heard;
    let to = printed.clone();
    // Read on a thread of its own, so that the command never blocks on a full pipe while this
    // thread watches it.
    let reader = std::thread::spawn(move || output.map(|output| keep(output, is_heard, &to)));
    let watched = watch(&mut child, begun, limits);
    if watched.as_ref().is_ok_and(|(.., killed)| killed.is_none()) {
        wait_for(&reader);
    }
    if !reader.is_finished() {
        kill(&mut child);
        // A process that has left the group cannot be killed. Its reader thread is abandoned with
        // it, and the output so far is enough.
        wait_for(&reader);
    }
    let (status, wall, killed) = watched.with_context(|| format!("cannot wait for {program}"))?;
    let printed = lock(&printed);
    let printed = String::from_utf8_lossy(&printed).into_owned();
    Ok(Ended {
        wall,
        exit_code: status.code(),
        printed,
        killed,
    })
}

/// Gives a reader time to end: a background process of the command may keep the other end open
/// forever.
fn wait_for<T>(reader: &JoinHandle<T>) {
    let end = Instant::now() + Duration::from_secs(1);
    while !reader.is_finished() && Instant::now() < end {
        std::thread::sleep(SHORT);
    }
}

/// Runs a line of the system's shell, for hooks; its duration is not measured.
///
/// # Errors
/// It cannot be started, or it failed.
pub(crate) fn run_hook(line: &str, limits: &Limits<'_>) -> Result<()> {
    let shell: &[&str] = if cfg!(windows) {
        &["cmd", "/C"]
    } else {
        &["sh", "-c"]
    };
    let words: Vec<String> = shell
        .iter()
        .chain(&[line])
        .map(ToString::to_string)
        .collect();
    let ended = run(&words, limits)?;
    match (ended.killed, ended.exit_code) {
        (None, Some(0)) => Ok(()),
        (Some(Killed::TooLong), _) => Err(advised(
            format!("the hook \"{line}\" took too long"),
            "--timeout also applies to hooks",
        )),
        (Some(Killed::Stopped), _) => Err(advised(
            format!("the hook \"{line}\" was ended"),
            "run it again",
        )),
        (None, code) => {
            let how = code.map_or_else(
                || "without an exit code".to_owned(),
                |code| format!("with exit code {code}"),
            );
            Err(advised(
                format!("the hook \"{line}\" ended {how}"),
                "what it printed says why",
            ))
        }
    }
}

fn watch(
    child: &mut Child,
    begun: Instant,
    limits: &Limits<'_>,
) -> std::io::Result<(ExitStatus, Duration, Option<Killed>)> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, begun.elapsed(), None));
        }
        let elapsed = begun.elapsed();
        let killed = if (limits.is_stopped)() {
            Some(Killed::Stopped)
        } else {
            limits
                .timeout
                .filter(|timeout| elapsed >= *timeout)
                .map(|_| Killed::TooLong)
        };
        if killed.is_some() {
            kill(child);
            return Ok((child.wait()?, begun.elapsed(), killed));
        }
        // Short at first, since the pause is the error of the measurement. A long command tolerates
        // a longer pause, which takes less CPU time from it.
        std::thread::sleep(if elapsed < Duration::from_millis(100) {
            SHORT
        } else {
            LONG
        });
    }
}

/// Kills a process and all of its group. A process that has already ended is not an error.
fn kill(child: &mut Child) {
    #[cfg(unix)]
    if let Ok(group) = i32::try_from(child.id()) {
        let _ = nix::sys::signal::killpg(
            nix::unistd::Pid::from_raw(group),
            nix::sys::signal::Signal::SIGKILL,
        );
    }
    #[cfg(windows)]
    {
        let id = child.id().to_string();
        let _ = Command::new("taskkill")
            .args(["/T", "/F", "/PID", &id])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
    let _ = child.kill();
}

/// Passes the output on as it arrives and keeps its end.
fn keep(mut output: impl Read, is_heard: bool, to: &Mutex<Vec<u8>>) {
    let mut bytes = vec![0; 8192];
    while let Ok(count) = output.read(&mut bytes) {
        let Some(new) = bytes.get(..count).filter(|new| !new.is_empty()) else {
            return;
        };
        if is_heard {
            // A closed error stream does not affect the run.
            let _ = std::io::stderr().write_all(new);
        }
        let mut kept = lock(to);
        kept.extend_from_slice(new);
        // The end of the output is kept, since it has durations and errors.
        let over = kept.len().saturating_sub(MAX_OUTPUT);
        kept.drain(..over);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(line: &str) -> Vec<String> {
        ["sh", "-c", line].map(str::to_owned).to_vec()
    }

    const FREE: Limits<'static> = Limits {
        is_stopped: &|| false,
        timeout: None,
        is_heard: false,
    };

    #[test]
    fn output_and_exit_code_are_kept() {
        let ended = run(&shell("echo took 5 ms; exit 3"), &FREE).unwrap();
        assert_eq!(
            (ended.exit_code, ended.printed.as_str(), ended.killed),
            (Some(3), "took 5 ms\n", None)
        );
        let long = run(&shell("yes | head -c 300000; echo end"), &FREE)
            .unwrap()
            .printed;
        assert!(long.len() == MAX_OUTPUT && long.ends_with("\nend\n"));
    }

    #[test]
    fn what_takes_too_long_is_ended_with_what_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let late = folder.path().join("late");
        let line = format!("(sleep 2; touch {}) & sleep 30", late.display());
        let begun = Instant::now();
        let ended = run(
            &shell(&line),
            &Limits {
                timeout: Some(Duration::from_millis(200)),
                ..FREE
            },
        )
        .unwrap();
        assert_eq!(ended.killed, Some(Killed::TooLong));
        assert!(begun.elapsed() < Duration::from_secs(2));
        std::thread::sleep(Duration::from_millis(2300));
        assert!(
            !late.exists(),
            "a process that the command had started went on"
        );
    }

    #[test]
    fn a_process_left_behind_does_not_hold_the_run_up() {
        let begun = Instant::now();
        let ended = run(&shell("sleep 30 & echo done"), &FREE).unwrap();
        assert_eq!(
            (ended.exit_code, ended.printed.as_str()),
            (Some(0), "done\n")
        );
        assert!(begun.elapsed() < Duration::from_secs(10));
        // In a group of its own, where it is not killed with the command.
        let begun = Instant::now();
        let ended = run(&shell("setsid sleep 20 & echo done"), &FREE).unwrap();
        assert_eq!(
            (ended.exit_code, ended.printed.as_str()),
            (Some(0), "done\n")
        );
        assert!(begun.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn who_asks_to_stop_is_heard_and_missing_programs_are_named() {
        let ended = run(
            &shell("sleep 30"),
            &Limits {
                is_stopped: &|| true,
                ..FREE
            },
        )
        .unwrap();
        assert_eq!(ended.killed, Some(Killed::Stopped));
        let missing = run(&["no-such-program-here".to_owned()], &FREE).unwrap_err();
        assert_eq!(missing.to_string(), "cannot start no-such-program-here");
        assert!(run(&[], &FREE).is_err());
    }

    #[test]
    fn hooks_are_lines_of_the_shell() {
        run_hook("true && true", &FREE).unwrap();
        let failed = run_hook("exit 4", &FREE).unwrap_err().to_string();
        assert_eq!(failed, "the hook \"exit 4\" ended with exit code 4");
    }
}
