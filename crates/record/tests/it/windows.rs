//! Whole commands of the program for Windows, against stand-ins for wpr.exe and logman.exe next to
//! it. Wine has neither; the parts of Windows that it has (processes, handles, libraries, files,
//! the command processor) are not simulated.

use std::fs;

use etwkit_synth::{Options, find};
use etwkit_testkit::stand_in::SCENARIO;

use crate::transcript::Windows;

#[test]
fn a_recording_from_start_to_stop_and_what_goes_wrong() {
    let Some(windows) = Windows::here() else {
        return;
    };
    windows.check("record.txt");
    // The recording of the stand-in is in the folder, byte for byte.
    let mut wanted = std::io::Cursor::new(Vec::new());
    find(SCENARIO)
        .unwrap()
        .write(&mut wanted, &Options::default())
        .unwrap();
    assert_eq!(
        fs::read(windows.folder().join("slow.etl")).unwrap(),
        wanted.into_inner()
    );
    assert!(windows.folder().join("full.etl").exists());
    assert!(
        !windows.folder().join("recording").exists(),
        "nothing stays recording"
    );
}

#[test]
fn runs_have_their_recordings_and_nothing_stays_recording() {
    let Some(windows) = Windows::here() else {
        return;
    };
    windows.check("run.txt");
    let recordings = fs::read_dir(windows.folder().join("out")).unwrap();
    let is_case = |name: &str| name.starts_with("Copy_12ms") && name.ends_with(".etl");
    let is_facts = |name: &str| name.ends_with(".etl.facts.json");
    let names: Vec<String> = recordings
        .map(|file| file.unwrap().file_name().to_str().unwrap().to_owned())
        .collect();
    let of = |is: &dyn Fn(&str) -> bool| names.iter().filter(|name| is(name)).count();
    assert_eq!(
        (names.len(), of(&is_case), of(&is_facts)),
        (10, 5, 5),
        "{names:?}"
    );
    let csv = fs::read_to_string(windows.folder().join("runs.csv")).unwrap();
    assert_eq!(
        csv.lines()
            .filter(|line| line.contains(",passed,12"))
            .count(),
        5,
        "{csv}"
    );
    assert!(
        !windows.folder().join("recording").exists(),
        "nothing stays recording"
    );
}

#[test]
fn workloads_run() {
    let Some(windows) = Windows::here() else {
        return;
    };
    windows.check("lab.txt");
}
