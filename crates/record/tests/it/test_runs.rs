//! Whole plans, with commands of the shell and a recorder that logs its calls.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};
use etwkit_record::test_runs::{Axis, Cell, NoRecorder, Plan, Recorder, Row, Status, Timing, run};

fn plan(line: &str) -> Plan {
    Plan {
        case: "Case".into(),
        command: ["sh", "-c", line].map(str::to_owned).to_vec(),
        cells: vec![Cell::default()],
        power: Vec::new(),
        restore_file: None,
        repeat: 1,
        before: Vec::new(),
        after: Vec::new(),
        cool_down: Duration::ZERO,
        timeout: None,
        timing: Timing::Wall,
        is_heard: false,
        out: ".".into(),
    }
}

/// Logs its calls; fails on request.
#[derive(Default)]
struct Tape {
    said: RefCell<Vec<String>>,
    fails_at: Option<&'static str>,
}

impl Tape {
    fn say(&self, what: &str, file: Option<&Path>) -> Result<()> {
        let file = file
            .and_then(|file| file.file_name())
            .map(|name| format!(" {}", name.to_string_lossy()));
        self.said
            .borrow_mut()
            .push(what.to_owned() + &file.unwrap_or_default());
        if self.fails_at == Some(what) {
            bail!("no more space");
        }
        Ok(())
    }
}

impl Recorder for Tape {
    fn start(&mut self) -> Result<()> {
        self.say("start", None)
    }

    fn stop(&mut self, file: &Path) -> Result<PathBuf> {
        self.say("stop", Some(file))?;
        Ok(file.to_owned())
    }

    fn cancel(&mut self) {
        let _ = self.say("cancel", None);
    }

    fn ending(&self) -> Option<&str> {
        Some(".etl")
    }
}

const GO_ON: &dyn Fn() -> bool = &|| false;

#[test]
fn cells_take_turns_and_hooks_stand_around_each_run() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let say = |what: &str| format!("echo {what} >> {}", log.display());
    let axis = Axis::parse("n=1,2").unwrap();
    let cells = axis
        .values
        .iter()
        .map(|value| Cell {
            values: vec![("n".into(), value.clone())],
        })
        .collect();
    let plan = Plan {
        cells,
        repeat: 2,
        before: vec![say("before{n}")],
        after: vec![say("after{n}")],
        ..plan(&say("run{n}"))
    };
    let outcome = run(&plan, &mut NoRecorder, GO_ON, &mut |_| Ok(())).unwrap();
    let want = "before1\nrun1\nafter1\nbefore2\nrun2\nafter2\n".repeat(2);
    assert_eq!(std::fs::read_to_string(&log).unwrap(), want);
    let cases: Vec<_> = outcome
        .rows
        .iter()
        .map(|row| (row.case.as_str(), row.repetition))
        .collect();
    assert_eq!(
        cases,
        [
            ("Case+n=1", 1),
            ("Case+n=2", 1),
            ("Case+n=1", 2),
            ("Case+n=2", 2)
        ]
    );
    let sums: Vec<_> = outcome
        .summaries
        .iter()
        .map(|sum| (sum.case.as_str(), sum.passed))
        .collect();
    assert_eq!(sums, [("Case+n=1", 2), ("Case+n=2", 2)]);
    assert!(!outcome.is_stopped && outcome.rows.iter().all(|row| row.recording.is_none()));
}

#[test]
fn a_recording_is_named_by_what_the_command_says() {
    let mut tape = Tape::default();
    let plan = Plan {
        timing: Timing::ExitCode,
        ..plan("exit 42")
    };
    let row = run(&plan, &mut tape, GO_ON, &mut |_| Ok(()))
        .unwrap()
        .rows
        .remove(0);
    assert_eq!(
        (row.status, row.duration_ms, row.exit_code),
        (Status::Passed, Some(42), Some(42))
    );
    let said = tape.said.into_inner();
    assert_eq!(said[0], "start");
    assert!(
        said[1].starts_with("stop Case_42ms") && said[1].ends_with(".etl"),
        "{said:?}"
    );
    assert_eq!(said.len(), 2);
}

#[test]
fn failed_runs_are_recorded_and_do_not_end_the_others() {
    let mut tape = Tape::default();
    let plan = Plan {
        repeat: 2,
        ..plan("exit 3")
    };
    let outcome = run(&plan, &mut tape, GO_ON, &mut |_| Ok(())).unwrap();
    let found: Vec<_> = outcome
        .rows
        .iter()
        .map(|row| (row.status, row.problem.as_deref()))
        .collect();
    assert_eq!(found, [(Status::Failed, Some("exit code 3")); 2]);
    assert!(
        tape.said
            .borrow()
            .iter()
            .any(|said| said.contains("_TestStatus-Failed_"))
    );
    assert_eq!(outcome.summaries[0].median_ms, None);
}

#[test]
fn nothing_stays_recording() {
    // The command cannot be started.
    let mut tape = Tape::default();
    let missing = Plan {
        command: vec!["no-such-program-here".into()],
        ..plan("")
    };
    assert!(run(&missing, &mut tape, GO_ON, &mut |_| Ok(())).is_err());
    assert_eq!(tape.said.into_inner(), ["start", "cancel"]);
    // The disk is full.
    let mut tape = Tape {
        fails_at: Some("stop"),
        ..Tape::default()
    };
    let mut rows = Vec::new();
    let mut on_row = |row: &Row| {
        rows.push(row.clone());
        Ok(())
    };
    let error = run(&plan("true"), &mut tape, GO_ON, &mut on_row)
        .unwrap_err()
        .to_string();
    assert!(
        error.ends_with("could not be written: no more space"),
        "{error}"
    );
    // The measurement is reported.
    assert_eq!(
        (rows.len(), rows[0].status, rows[0].problem.as_ref()),
        (1, Status::Passed, Some(&error))
    );
    assert_eq!(tape.said.into_inner().last().unwrap(), "cancel");
    // The user has enough, in the middle of a run.
    let mut tape = Tape::default();
    let begun = std::time::Instant::now();
    let is_stopped = || begun.elapsed() > Duration::from_millis(100);
    let folder = tempfile::tempdir().unwrap();
    let clean = folder.path().join("clean");
    let after = vec![format!("touch {}", clean.display())];
    let plan = Plan {
        repeat: 3,
        after,
        ..plan("sleep 30")
    };
    let outcome = run(&plan, &mut tape, &is_stopped, &mut |_| Ok(())).unwrap();
    assert_eq!(tape.said.into_inner(), ["start", "cancel"]);
    assert!(outcome.is_stopped && outcome.rows.len() == 1 && clean.exists());
    // It could not begin: there is nothing to end.
    let mut tape = Tape {
        fails_at: Some("start"),
        ..Tape::default()
    };
    assert!(run(&self::plan("true"), &mut tape, GO_ON, &mut |_| Ok(())).is_err());
    assert_eq!(tape.said.into_inner(), ["start"]);
}

#[test]
fn a_hook_that_fails_ends_everything_before_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let ran = folder.path().join("ran");
    let plan = Plan {
        before: vec!["exit 9".into()],
        ..plan(&format!("touch {}", ran.display()))
    };
    let error = run(&plan, &mut NoRecorder, GO_ON, &mut |_| Ok(())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the hook \"exit 9\" ended with exit code 9"
    );
    assert!(!ran.exists());
}
