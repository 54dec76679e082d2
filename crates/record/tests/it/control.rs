//! A recorder that another program controls, against the stand-in of wpr.

use std::fs;
use std::path::Path;

use etwkit_record::{Control, FailedStep};

use crate::stand_in::StandIn;

/// A recorder whose recordings go into a folder that is not there yet.
fn control(folder: &Path) -> (Control, StandIn) {
    let stand_in = || StandIn {
        folder: folder.to_owned(),
    };
    let control = Control {
        runner: Box::new(stand_in()),
        machine: "MAGNON".to_owned(),
        settings: folder.join("etwkit"),
        recordings: folder.join("recordings/here"),
    };
    (control, stand_in())
}

fn start(control: &mut Control, profiles: &[&str]) -> Result<Option<String>, FailedStep> {
    let profiles: Vec<String> = profiles.iter().map(|name| (*name).to_owned()).collect();
    control.start(&profiles, false)
}

#[test]
fn a_recording_is_started_marked_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let (mut control, wpr) = control(folder.path());
    assert_eq!(control.counts().unwrap(), None);
    assert_eq!(start(&mut control, &["default", "cswitch"]), Ok(None));
    let counts = control.counts().unwrap().unwrap();
    let counts: Vec<(&str, u64)> = counts
        .iter()
        .map(|count| (count.name.as_str(), count.value))
        .collect();
    assert_eq!(counts, [("Dropped event", 0), ("Events Lost", 0)]);
    control.mark("slow now").unwrap();
    let written = control.stop().unwrap();
    assert_eq!(written.warnings, Vec::<String>::new());
    let file = &written.file;
    assert!(file.starts_with(folder.path().join("recordings/here")));
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(
        name.starts_with("Recording_MAGNON.20") && name.ends_with(".etl"),
        "{name}"
    );
    assert!(fs::metadata(file).unwrap().len() > 0 && !wpr.is_recording());
    assert!(file.with_added_extension("facts.json").exists());
    let (own, file) = (folder.path().join("etwkit/etwkit.wprp"), file.display());
    let own = own.display();
    assert_eq!(
        wpr.lines(),
        [
            format!("wpr -start {own}!default -start {own}!cswitch"),
            "wpr -marker slow now".to_owned(),
            format!("wpr -stop {file} -skipPdbGen"),
        ]
    );
}

#[test]
fn all_events_go_to_a_file_and_a_recording_can_be_thrown_away() {
    let folder = tempfile::tempdir().unwrap();
    let (mut control, wpr) = control(folder.path());
    control.start(&["disk".to_owned()], true).unwrap();
    control.cancel().unwrap();
    let lines = wpr.lines();
    assert!(lines[0].ends_with("!disk -filemode"), "{lines:?}");
    assert_eq!(lines[1..], ["wpr -cancel"]);
    assert_eq!(control.counts().unwrap(), None);
}

#[test]
fn nothing_runs_for_a_wrong_name_or_a_wrong_mark() {
    let folder = tempfile::tempdir().unwrap();
    let (mut control, wpr) = control(folder.path());
    let unknown = start(&mut control, &["cpu", "CPU"]).unwrap_err();
    assert_eq!(unknown.message, "no profile is called \"CPU\"");
    assert!(unknown.hint.unwrap().contains("default, cpu, cswitch"));
    for mark in ["-cancel", "/stop", "a\r\nb", ""] {
        assert!(control.mark(mark).is_err(), "{mark:?}");
    }
    assert_eq!(wpr.lines(), Vec::<String>::new());
}

#[test]
fn a_second_recording_and_an_end_without_one_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (mut control, _) = control(folder.path());
    for idle in [control.stop().unwrap_err(), control.cancel().unwrap_err()] {
        assert!(
            idle.message.contains("nothing is being recorded"),
            "{idle:?}"
        );
    }
    start(&mut control, &["cpu"]).unwrap();
    let second = start(&mut control, &["disk"]).unwrap_err();
    assert_eq!(second.message, "wpr is recording already");
    assert!(second.hint.is_some());
}

#[test]
fn a_file_that_cannot_be_written_leaves_the_recording_running() {
    let folder = tempfile::tempdir().unwrap();
    let (mut control, wpr) = control(folder.path());
    start(&mut control, &["cpu"]).unwrap();
    wpr.plant("full");
    let full = control.stop().unwrap_err();
    assert!(full.message.contains("no space is left"), "{full:?}");
    assert!(control.counts().unwrap().is_some());
    wpr.heal("full");
    assert!(control.stop().unwrap().file.exists());
    // A file in place of the folder: refused before anything is recorded.
    let (mut control, wpr) = self::control(&folder.path().join("recordings"));
    fs::write(folder.path().join("recordings/recordings"), "").unwrap();
    let refused = start(&mut control, &["cpu"]).unwrap_err();
    assert!(refused.message.contains("cannot write into"), "{refused:?}");
    assert!(!wpr.is_recording());
}
