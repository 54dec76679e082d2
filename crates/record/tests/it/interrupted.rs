//! Ctrl-C while commands record, each in a process of its own.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use clap::{Args as _, FromArgMatches as _};
use etwkit_record::front::{Here, Plain};
use etwkit_record::test_runs::RunArgs;
use etwkit_record::{Outcome, RecordArgs, Runner, Step};
use etwkit_terminal::Lines;

/// Returns the output of a command that received Ctrl-C after a file existed, with its exit code.
fn interrupted(folder: &Path, at: &str, words: &[&str]) -> (Option<i32>, String) {
    let said = folder.join("said");
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([
            "--exact",
            "interrupted::command",
            "--ignored",
            "--nocapture",
        ])
        .process_group(0);
    command
        .env("COMMAND", words.join("\n"))
        .env("STAND_IN_FOLDER", folder);
    let mut process = command
        .stdout(File::create(&said).unwrap())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while !folder.join(at).exists() {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "{:?}",
            fs::read_to_string(&said)
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    let group = format!("-{}", process.id());
    assert!(
        Command::new("kill")
            .args(["-INT", "--", &group])
            .status()
            .unwrap()
            .success()
    );
    let code = process.wait().unwrap().code();
    (code, fs::read_to_string(said).unwrap())
}

/// wpr answers at once, in this process.
struct InProcess(PathBuf);

impl Runner for InProcess {
    fn run(&mut self, step: &Step) -> io::Result<Outcome> {
        let words: Vec<&str> = [step.program]
            .into_iter()
            .chain(step.args.iter().map(String::as_str))
            .collect();
        let (code, text) = etwkit_testkit::stand_in::noted(&self.0, &words);
        Ok(Outcome {
            code: Some(code),
            text,
        })
    }
}

/// The command itself.
#[test]
#[ignore = "no test: a command that tests start and interrupt"]
fn command() {
    let (Ok(words), Some(folder)) = (
        std::env::var("COMMAND"),
        std::env::var_os("STAND_IN_FOLDER"),
    ) else {
        return;
    };
    etwkit_terminal::interrupt::install();
    let folder = PathBuf::from(folder);
    let mut wpr = InProcess(folder.clone());
    let mut here = Here::default();
    let mut machine = here.machine(Some(folder.join("cache")));
    machine.runner = &mut wpr;
    machine.is_windows = true;
    let words: Vec<OsString> = words.split('\n').map(OsString::from).collect();
    let mut out = io::stdout();
    let mut front = Plain::new(Lines::new(&mut out));
    let exit = if words[0] == "record" {
        let matches =
            RecordArgs::augment_args(clap::Command::new("record")).get_matches_from(words);
        let args = RecordArgs::from_arg_matches(&matches).unwrap();
        etwkit_record::run(&args, &mut machine, &mut front.lines)
    } else {
        let matches = RunArgs::augment_args(clap::Command::new("run")).get_matches_from(words);
        let args = RunArgs::from_arg_matches(&matches).unwrap();
        etwkit_record::front::run(&args, &mut machine, &mut front)
    };
    std::process::exit(exit.unwrap().code().into());
}

/// Recordings in a folder.
fn recordings(folder: &Path) -> usize {
    let is_one = |file: &fs::DirEntry| {
        file.path()
            .extension()
            .is_some_and(|ending| ending == "etl")
    };
    fs::read_dir(folder)
        .unwrap()
        .filter(|file| is_one(file.as_ref().unwrap()))
        .count()
}

#[test]
fn a_recording_that_begins_is_ended_again() {
    let folder = tempfile::tempdir().unwrap();
    // wpr takes a while to start; Ctrl-C comes in this time.
    fs::write(folder.path().join("slow"), "").unwrap();
    let (code, said) = interrupted(folder.path(), "starting", &["record", "start", "cpu"]);
    assert_eq!(code, Some(130), "{said}");
    assert!(
        said.contains("it was ended again and thrown away"),
        "{said}"
    );
    assert!(
        !folder.path().join("recording").exists(),
        "nothing stays recording"
    );
}

#[test]
fn a_run_is_ended_with_its_command_and_its_recording() {
    let folder = tempfile::tempdir().unwrap();
    let (to, runs, clean) = (
        folder.path().join("out"),
        folder.path().join("runs"),
        folder.path().join("clean"),
    );
    let (to, line) = (
        to.to_str().unwrap(),
        format!("touch {}; sleep 60", runs.display()),
    );
    let after = format!("touch {}", clean.display());
    let words = [
        "run", "Case", "--repeat", "3", "--record", "cpu", "--to", to, "--after", &after, "--",
        "sh", "-c", &line,
    ];
    let begun = Instant::now();
    let (code, said) = interrupted(folder.path(), "runs", &words);
    assert!(
        begun.elapsed() < Duration::from_secs(50),
        "its command was not ended"
    );
    assert_eq!(code, Some(130), "{said}");
    assert!(
        said.contains("Case #1: no duration, stopped") && clean.exists(),
        "{said}"
    );
    assert!(
        !folder.path().join("recording").exists(),
        "nothing stays recording"
    );
    assert_eq!(recordings(Path::new(to)), 0);
}

#[test]
fn a_day_of_recordings_ends_with_its_last_file() {
    let folder = tempfile::tempdir().unwrap();
    let into = folder.path().join("day");
    let words = [
        "record",
        "start",
        "cpu",
        "--rotate",
        "1h",
        "--into",
        into.to_str().unwrap(),
    ];
    let (code, said) = interrupted(folder.path(), "recording", &words);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("Recording since") && said.contains("Recorded "),
        "{said}"
    );
    assert!(
        !folder.path().join("recording").exists(),
        "nothing stays recording"
    );
    assert_eq!(recordings(&into), 1);
}
