//! Recorded runs of a command, and the files that remain after a failure.

use std::fs;
use std::path::Path;

use clap::{Args as _, FromArgMatches as _};
use etwkit_record::test_runs::{Outcome, RunArgs, Status};
use etwkit_record::{EachRun, Machine};

use crate::rotate::At;
use crate::stand_in::StandIn;

/// Runs a line with recording; also returns the notes about the recordings.
fn run(
    wpr: &mut StandIn,
    is_windows: bool,
    line: &[&str],
) -> (anyhow::Result<Outcome>, Vec<String>) {
    let command = RunArgs::augment_args(clap::Command::new("run"));
    let matches = command
        .try_get_matches_from(["run"].iter().chain(line))
        .unwrap();
    let args = RunArgs::from_arg_matches(&matches).unwrap();
    let folder = wpr.folder.join("etwkit");
    let aside = wpr.folder.join("aside");
    let clock = &At::default();
    let mut machine = Machine {
        runner: wpr,
        is_windows,
        name: "MAGNON".into(),
        clock,
        written: None,
        folder,
    };
    let mut recorder = match EachRun::new(&mut machine, args.record.clone(), aside) {
        Ok(recorder) => recorder,
        Err(error) => return (Err(error), Vec::new()),
    };
    let outcome =
        etwkit_record::test_runs::run(&args.plan().unwrap(), &mut recorder, &|| false, &mut |_| {
            Ok(())
        });
    (outcome, recorder.notes())
}

fn wpr(folder: &Path) -> StandIn {
    for name in ["out", "aside"] {
        fs::create_dir(folder.join(name)).unwrap();
    }
    StandIn {
        folder: folder.to_owned(),
    }
}

#[test]
fn each_run_has_its_recording() {
    let folder = tempfile::tempdir().unwrap();
    let (mut wpr, out) = (wpr(folder.path()), folder.path().join("out"));
    let to = out.display().to_string();
    let line = [
        "Copy",
        "--record",
        "file",
        "--record",
        "disk",
        "--repeat",
        "5",
        "--cool-down",
        "0",
        "--to",
        &to,
    ];
    let (outcome, notes) = run(
        &mut wpr,
        true,
        &[&line[..], &["--", "cargo", "--version"]].concat(),
    );
    let rows = outcome.unwrap().rows;
    assert_eq!((rows.len(), notes.len(), wpr.is_recording()), (5, 0, false));
    for row in &rows {
        let file = Path::new(row.recording.as_ref().unwrap());
        assert_eq!(row.status, Status::Passed, "{row:?}");
        let begins = format!("Copy_{}ms", row.duration_ms.unwrap());
        assert!(file.starts_with(&out) && file.exists(), "{row:?}");
        assert!(
            file.file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .starts_with(&begins),
            "{row:?}"
        );
        let facts = fs::read_to_string(file.with_added_extension("facts.json")).unwrap();
        assert!(facts.contains("Balanced"), "{facts}");
    }
    let lines = wpr.lines();
    assert_eq!(lines.len(), 10, "{lines:?}");
    assert!(
        lines[0].contains("!file") && lines[0].contains("!disk"),
        "{lines:?}"
    );
    assert!(lines[1].ends_with("-skipPdbGen"), "{lines:?}");
}

#[test]
fn nothing_stays_recording_where_a_command_or_a_disk_fails() {
    let folder = tempfile::tempdir().unwrap();
    let mut wpr = wpr(folder.path());
    let to = folder.path().join("out").display().to_string();
    let missing = [
        "Copy",
        "--record",
        "cpu",
        "--to",
        &to,
        "--",
        "no-such-program-anywhere",
    ];
    let (outcome, notes) = run(&mut wpr, true, &missing);
    assert!(outcome.is_err() && notes.is_empty() && !wpr.is_recording());
    let fine = [
        "Copy",
        "--record",
        "cpu",
        "--to",
        &to,
        "--",
        "cargo",
        "--version",
    ];
    wpr.plant("full");
    let (outcome, notes) = run(&mut wpr, true, &fine);
    let error = format!("{:#}", outcome.unwrap_err());
    assert!(
        error.contains("could not be written") && error.contains("disk"),
        "{error}"
    );
    assert!(notes.is_empty() && !wpr.is_recording());
    wpr.heal("full");
    wpr.plant("crash -stop");
    wpr.plant("crash -cancel");
    let (outcome, notes) = run(&mut wpr, true, &fine);
    assert!(
        outcome.is_err() && notes[0].contains("`etwkit record cancel` tries again"),
        "{notes:?}"
    );
}

#[test]
fn a_recording_that_does_not_fit_is_written_where_there_is_space() {
    let folder = tempfile::tempdir().unwrap();
    let mut wpr = wpr(folder.path());
    let to = folder.path().join("out").display().to_string();
    wpr.plant("full there");
    let line = [
        "Copy",
        "--record",
        "cpu",
        "--repeat",
        "2",
        "--cool-down",
        "0",
        "--to",
        &to,
        "--",
        "cargo",
        "--version",
    ];
    let (outcome, notes) = run(&mut wpr, true, &line);
    let rows = outcome.unwrap().rows;
    assert_eq!(rows.len(), 2, "the runs go on");
    for (row, note) in rows.iter().zip(&notes) {
        let file = Path::new(row.recording.as_ref().unwrap());
        assert!(
            file.starts_with(folder.path().join("aside")) && file.exists(),
            "{row:?}"
        );
        assert!(
            note.contains(row.recording.as_ref().unwrap()) && note.contains("no space is left"),
            "{note}"
        );
    }
    assert!(!wpr.is_recording());
}

#[cfg(unix)]
#[test]
fn a_recording_that_somebody_ends_needs_no_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut wpr = wpr(folder.path());
    let to = folder.path().join("out").display().to_string();
    let state = folder.path().join("recording").display().to_string();
    let line = ["Copy", "--record", "cpu", "--to", &to, "--", "rm", &state];
    let (outcome, notes) = run(&mut wpr, true, &line);
    let error = format!("{:#}", outcome.unwrap_err());
    assert!(
        error.contains("nothing is being recorded") && notes.is_empty(),
        "{error} {notes:?}"
    );
}

#[cfg(unix)]
#[test]
fn a_command_that_crashes_has_its_recording() {
    let folder = tempfile::tempdir().unwrap();
    let mut wpr = wpr(folder.path());
    let to = folder.path().join("out").display().to_string();
    let crash = [
        "Crash",
        "--record",
        "cpu",
        "--to",
        &to,
        "--",
        "sh",
        "-c",
        "kill -SEGV $$",
    ];
    let (outcome, notes) = run(&mut wpr, true, &crash);
    let rows = outcome.unwrap().rows;
    assert_eq!(
        (rows[0].status, rows[0].problem.as_deref()),
        (Status::Failed, Some("it ended without an exit code"))
    );
    let file = rows[0].recording.as_ref().unwrap();
    assert!(
        file.contains("_TestStatus-Failed") && Path::new(file).exists(),
        "{file}"
    );
    assert!(notes.is_empty() && !wpr.is_recording());
}

#[test]
fn elsewhere_than_on_windows_nothing_is_begun() {
    let folder = tempfile::tempdir().unwrap();
    let mut wpr = wpr(folder.path());
    let (outcome, _) = run(
        &mut wpr,
        false,
        &["Copy", "--record", "cpu", "--", "cargo", "--version"],
    );
    assert_eq!(
        outcome.unwrap_err().to_string(),
        "runs are recorded on Windows machines only"
    );
    assert!(wpr.lines().is_empty());
}
