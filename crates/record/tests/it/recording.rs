//! A recording from start to stop, and failures in between.

use std::cell::Cell;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::Duration;

use chrono::NaiveDateTime;
use clap::{Args as _, FromArgMatches as _};
use etwkit_record::{Clock, Machine, RecordArgs, run};
use etwkit_terminal::Lines;
use etwkit_terminal::errors::Advised;

use crate::rotate::At;
use crate::stand_in::StandIn;

/// Output of a command; for an error its whole text, and its hint.
pub(crate) fn record(
    stand_in: &mut StandIn,
    is_windows: bool,
    words: &[&str],
) -> Result<String, String> {
    record_at(&At::default(), stand_in, is_windows, words)
}

/// The same, at that time.
pub(crate) fn record_at(
    clock: &dyn Clock,
    stand_in: &mut StandIn,
    is_windows: bool,
    words: &[&str],
) -> Result<String, String> {
    let command = RecordArgs::augment_args(clap::Command::new("record"));
    let words = ["record"].iter().chain(words).map(OsString::from);
    let matches = command
        .try_get_matches_from(words)
        .map_err(|error| error.to_string())?;
    let args = RecordArgs::from_arg_matches(&matches).unwrap();
    let folder = stand_in.folder.join("etwkit");
    let mut machine = Machine {
        runner: stand_in,
        is_windows,
        name: "MAGNON".into(),
        clock,
        written: None,
        folder,
    };
    let mut out = Vec::new();
    match run(&args, &mut machine, &mut Lines::new(&mut out)) {
        Ok(_) => Ok(String::from_utf8(out).unwrap()),
        Err(error) => {
            let hint = error
                .downcast_ref::<Advised>()
                .map(|advised| advised.hint.clone());
            Err(format!("{error:#}\n{}", hint.unwrap_or_default()))
        }
    }
}

fn machine() -> (tempfile::TempDir, StandIn) {
    let folder = tempfile::tempdir().unwrap();
    let stand_in = StandIn {
        folder: folder.path().to_owned(),
    };
    (folder, stand_in)
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

#[test]
fn a_recording_is_written_and_the_interval_is_what_it_was() {
    let (folder, mut wpr) = machine();
    fs::write(folder.path().join("interval"), "20000").unwrap();
    record(
        &mut wpr,
        true,
        &[
            "start",
            "cswitch",
            "FILE",
            "Registry.Light",
            "--sample-every",
            "0.5",
        ],
    )
    .unwrap();
    assert!(wpr.is_recording());
    assert_eq!(wpr.interval(), "5000");
    record(&mut wpr, true, &["mark", "slow now"]).unwrap();
    let etl = path(folder.path(), "slow.etl");
    let said = record(
        &mut wpr,
        true,
        &["stop", &etl, "--no-native-pdb", "--no-facts"],
    )
    .unwrap();
    assert_eq!(said, format!("Recorded {etl}\n"));
    assert!(!wpr.is_recording() && Path::new(&etl).exists());
    assert_eq!(wpr.interval(), "20000");
    let own = path(folder.path(), "etwkit/etwkit.wprp");
    let want = [
        format!("wpr -start {own}!cswitch -start {own}!file -start Registry.Light"),
        "wpr -setprofint 5000".into(),
        "wpr -marker slow now".into(),
        format!("wpr -stop {etl} -skipPdbGen"),
        "wpr -setprofint 20000".into(),
    ];
    assert_eq!(wpr.lines(), want);
}

#[test]
fn a_name_becomes_the_name_of_a_file_and_the_archive_replaces_it() {
    let (folder, mut wpr) = machine();
    record(&mut wpr, true, &["start", "cpu"]).unwrap();
    let name = path(folder.path(), "ManySlowCalls");
    let said = record(&mut wpr, true, &["stop", &name, "--zip"]).unwrap();
    let etl = format!("{name}_MAGNON.20230307-232141.etl");
    let beside = "Next to it are 18 facts about the machine, which `etwkit extract` takes in";
    assert_eq!(said, format!("Recorded {etl}.zip\n{beside}\n"));
    let facts = fs::read_to_string(format!("{etl}.facts.json")).unwrap();
    for fact in [
        "Acme Scan, altitude 328010",
        "Wi-Fi 2: index 10, metric 25, connected",
        "Balanced",
        "Acme Shield",
    ] {
        assert!(facts.contains(&format!("\"value\": \"{fact}\"")), "{facts}");
    }
    let kernel = "System Keywords : CSwitch Loader SampledProfile";
    for (name, value) in [
        ("session before the recording", "EventLog-System"),
        ("session during the recording", "EventLog-System"),
        ("session after the recording", "EventLog-System"),
        ("recording when it started", kernel),
        ("recording when it ended", kernel),
    ] {
        let fact = format!("\"name\": \"{name}\",\n      \"value\": \"{value}\"");
        assert_eq!(facts.matches(&fact).count(), 1, "{fact}: {facts}");
    }
    assert!(
        !facts.contains("The command completed"),
        "the line that logman closes with is no session"
    );
    assert!(!Path::new(&etl).exists());
    let mut archive = zip::ZipArchive::new(fs::File::open(format!("{etl}.zip")).unwrap()).unwrap();
    assert!(
        archive.by_index(0).unwrap().size() > 100_000,
        "it holds the trace"
    );
}

#[test]
fn a_file_is_never_replaced_and_the_recording_goes_on() {
    let (folder, mut wpr) = machine();
    record(&mut wpr, true, &["start", "cpu"]).unwrap();
    let etl = path(folder.path(), "old.etl");
    fs::write(&etl, "old").unwrap();
    let error = record(&mut wpr, true, &["stop", &etl]).unwrap_err();
    assert!(
        error.contains("exists already") && wpr.is_recording(),
        "{error}"
    );
    assert_eq!(fs::read_to_string(&etl).unwrap(), "old");
}

#[test]
fn recordings_of_others_are_left_alone() {
    let (_folder, mut wpr) = machine();
    wpr.plant("recording");
    let error = record(&mut wpr, true, &["start", "cpu"]).unwrap_err();
    assert!(
        error.contains("wpr is recording already") && error.contains("record stop NAME"),
        "{error}"
    );
    wpr.heal("recording");
    assert_eq!(wpr.lines(), [""; 0]);
}

#[test]
fn where_somebody_has_the_session_of_the_kernel_our_profiles_use_another_one() {
    let (_folder, mut wpr) = machine();
    wpr.plant("kernel logger");
    let said = record(&mut wpr, true, &["start", "cpu", "file"]).unwrap();
    let warning = "warning: another recorder has the session NT Kernel Logger: the session \"etwkit kernel\" \
                   is used instead\nRecording\n";
    assert!(said.starts_with(warning) && wpr.is_recording(), "{said}");
    record(&mut wpr, true, &["cancel"]).unwrap();
    // Profiles of others name that session themselves.
    let error = record(&mut wpr, true, &["start", "cpu", "GeneralProfile"]).unwrap_err();
    assert!(
        error.contains("which GeneralProfile needs") && error.contains("logman stop"),
        "{error}"
    );
    assert!(!wpr.is_recording());
}

#[test]
fn who_changes_the_recording_is_noticed() {
    let (folder, mut wpr) = machine();
    record(&mut wpr, true, &["start", "cpu"]).unwrap();
    wpr.plant("changed");
    let said = record(&mut wpr, true, &["stop", &path(folder.path(), "slow.etl")]).unwrap();
    let alarm = "warning: another program changed the recording: it was System Keywords : CSwitch Loader \
                 SampledProfile, it is now System Keywords : Loader\nRecorded ";
    assert!(said.starts_with(alarm), "{said}");
    // Observations of one recording say nothing about the next one, whichever program starts it.
    wpr.heal("changed");
    record(&mut wpr, true, &["wpr", "-start", "CPU"]).unwrap();
    let said = record(&mut wpr, true, &["stop", &path(folder.path(), "next.etl")]).unwrap();
    assert!(said.starts_with("Recorded "), "{said}");
}

#[test]
fn pictures_with_marks_lie_beside_the_recording() {
    let (folder, mut wpr) = machine();
    record(&mut wpr, true, &["start", "cpu"]).unwrap();
    let said = record(&mut wpr, true, &["mark", "slow now", "--picture"]).unwrap();
    assert!(said.starts_with("Marked: slow now\nPicture "), "{said}");
    wpr.plant("no screen");
    let error = record(&mut wpr, true, &["mark", "again", "--picture"]).unwrap_err();
    assert!(
        error.contains("there is no picture") && error.contains("a desktop that is seen"),
        "{error}"
    );
    assert_eq!(
        wpr.lines()
            .iter()
            .filter(|line| line.starts_with("wpr -marker"))
            .count(),
        2,
        "both are marked"
    );
    let etl = path(folder.path(), "slow.etl");
    let said = record(&mut wpr, true, &["stop", &etl, "--no-facts"]).unwrap();
    assert_eq!(
        said,
        format!("Recorded {etl}\nPictures of the screen next to it: 1\n")
    );
    let picture = format!("{etl}.Screenshots/Screenshot_Forced_23.21.41.000.jpg");
    assert_eq!(fs::read_to_string(picture).unwrap(), "picture");
    // They belong to one recording.
    wpr.heal("no screen");
    record(&mut wpr, true, &["start", "cpu"]).unwrap();
    record(&mut wpr, true, &["mark", "slow now", "--picture"]).unwrap();
    record(&mut wpr, true, &["cancel"]).unwrap();
    record(&mut wpr, true, &["start", "cpu"]).unwrap();
    let said = record(
        &mut wpr,
        true,
        &["stop", &path(folder.path(), "next.etl"), "--no-facts"],
    )
    .unwrap();
    assert!(!said.contains("Pictures"), "{said}");
}

#[test]
fn ctrl_c_while_a_recording_begins_leaves_none() {
    let (_folder, mut wpr) = machine();
    for pauses in [0, 1] {
        let said = record_at(
            &Pauses(Cell::new(pauses)),
            &mut wpr,
            true,
            &["start", "cpu"],
        )
        .unwrap();
        assert_eq!(
            said.contains("it was ended again and thrown away"),
            pauses == 1,
            "{said}"
        );
        assert!(
            !said.contains("Recording\n") && !wpr.is_recording(),
            "{said}"
        );
    }
    assert_eq!(wpr.lines().len(), 2, "{:?}", wpr.lines());
}

/// A user who stops after this many reads of the clock.
struct Pauses(Cell<u32>);

impl Clock for Pauses {
    fn now(&self) -> NaiveDateTime {
        NaiveDateTime::default()
    }

    fn pause(&self, _time: Duration) -> bool {
        self.0.replace(self.0.get().saturating_sub(1)) > 0
    }
}

#[test]
fn a_full_disk_loses_nothing() {
    let (folder, mut wpr) = machine();
    record(&mut wpr, true, &["start", "cpu"]).unwrap();
    wpr.plant("full");
    let etl = path(folder.path(), "slow.etl");
    let error = record(&mut wpr, true, &["stop", &etl]).unwrap_err();
    assert!(
        error.contains("the recording goes on") && error.contains("no space is left"),
        "{error}"
    );
    assert!(
        error.contains("stop again") && wpr.is_recording() && !Path::new(&etl).exists(),
        "{error}"
    );
    wpr.heal("full");
    record(&mut wpr, true, &["stop", &etl]).unwrap();
    assert!(Path::new(&etl).exists());
}

#[test]
fn when_a_program_crashes_behind_the_start_nothing_stays_recording() {
    let (_folder, mut wpr) = machine();
    wpr.plant("crash -setprofint");
    let error = record(&mut wpr, true, &["start", "cpu", "--sample-every", "2"]).unwrap_err();
    // The crash also meets the line that restores the interval, which is said.
    assert!(
        error.contains("-setprofint") && !wpr.is_recording(),
        "{error}"
    );
    wpr.heal("crash -setprofint");
    record(&mut wpr, true, &["start", "cpu"]).unwrap();
    wpr.plant("crash -stop");
    let error = record(&mut wpr, true, &["stop", "x"]).unwrap_err();
    assert!(
        error.contains("the recording goes on") && wpr.is_recording(),
        "{error}"
    );
}

#[test]
fn missing_rights_counters_and_recordings_are_reported() {
    let (_folder, mut wpr) = machine();
    wpr.plant("no counters");
    let error = record(&mut wpr, true, &["start", "pmc"]).unwrap_err();
    assert!(
        error.contains("pmc needs counters") && error.contains("Hyper-V"),
        "{error}"
    );
    wpr.heal("no counters");
    record(&mut wpr, true, &["start", "pmc"]).unwrap();
    record(&mut wpr, true, &["cancel"]).unwrap();
    for line in [&["stop", "x"][..], &["cancel"]] {
        let error = record(&mut wpr, true, line).unwrap_err();
        assert!(
            error.contains("nothing is being recorded") && error.contains("record start"),
            "{error}"
        );
    }
    wpr.plant("denied");
    let error = record(&mut wpr, true, &["start", "cpu"]).unwrap_err();
    assert!(
        error.contains("administrator") && !wpr.is_recording(),
        "{error}"
    );
}

/// Ctrl-C reaches all programs of a terminal. The waiting program ends, and the recorder writes its
/// file.
#[cfg(unix)]
#[test]
fn the_recorder_writes_its_file_when_ctrl_c_ends_the_one_who_waits() {
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;
    use std::time::Instant;

    let (folder, mut wpr) = machine();
    record(&mut wpr, true, &["start", "cpu"]).unwrap();
    wpr.plant("slow");
    let etl = folder.path().join("slow.etl");
    let mut waiting = Command::new(std::env::current_exe().unwrap());
    waiting
        .args(["--exact", "recording::stop_of_its_own", "--ignored"])
        .process_group(0);
    let mut waiting = waiting
        .env("STOP_IN", folder.path())
        .env("STOP_TO", &etl)
        .spawn()
        .unwrap();
    let until = |is_there: &dyn Fn() -> bool| {
        let begun = Instant::now();
        while !is_there() {
            assert!(begun.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    until(&|| folder.path().join("stopping").exists());
    let group = format!("-{}", waiting.id());
    // In place of the signal of Ctrl-C, which shells make programs in the background ignore.
    assert!(
        Command::new("kill")
            .args(["-TERM", "--", &group])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(
        waiting.wait().unwrap().code(),
        None,
        "it was to be ended by the signal"
    );
    assert!(
        wpr.is_recording() && !etl.exists(),
        "the stop was over too soon to show anything"
    );
    until(&|| !wpr.is_recording());
    assert!(
        fs::metadata(&etl).unwrap().len() > 100_000,
        "it holds the trace"
    );
}

#[cfg(unix)]
#[test]
#[ignore = "no test: it stops a recording and is interrupted by one"]
fn stop_of_its_own() {
    let (Some(folder), Ok(to)) = (std::env::var_os("STOP_IN"), std::env::var("STOP_TO")) else {
        return;
    };
    let _ = record(
        &mut StandIn {
            folder: folder.into(),
        },
        true,
        &["stop", &to],
    );
}

/// The lines of Windows for a recording into a file.
fn start_and_stop(folder: &Path, etl: &str) -> [String; 2] {
    let own = path(folder, "etwkit/etwkit.wprp");
    [
        format!("wpr -start {own}!default -start {own}!cswitch"),
        format!("wpr -stop {etl} -skipPdbGen"),
    ]
}

#[test]
fn a_recording_of_some_seconds_is_started_and_written() {
    let (folder, mut wpr) = machine();
    let etl = path(folder.path(), "now.etl");
    let said = record(&mut wpr, true, &["now", "--for", "3s", "--name", &etl]).unwrap();
    let begin = format!(
        "Recording for 3 s; Ctrl-C ends it and writes the file\nRecorded {etl}\nNext to it are "
    );
    assert!(said.starts_with(&begin), "{said}");
    assert_eq!(wpr.lines(), start_and_stop(folder.path(), &etl));
    assert!(!wpr.is_recording());
    let again = record(&mut wpr, true, &["now", "--for", "3s", "--name", &etl]).unwrap_err();
    assert!(again.contains("exists already"), "{again}");
    assert_eq!(wpr.lines().len(), 2, "nothing was started");
}

#[test]
fn a_recording_ends_with_its_command() {
    let (folder, mut wpr) = machine();
    let this = std::env::current_exe().unwrap();
    let this = this.to_str().unwrap();
    for (name, word, note) in [
        ("a", "--help", ""),
        ("b", "--no-such-option", "note: the command failed ("),
    ] {
        let etl = path(folder.path(), &format!("{name}.etl"));
        let words = ["now", "--name", &etl, "--", this, word];
        let said = record(&mut wpr, true, &words).unwrap();
        assert!(
            said.starts_with("Recording until the command ends; Ctrl-C"),
            "{said}"
        );
        assert!(said.contains(note), "{said}");
        assert_eq!(said.contains("note:"), !note.is_empty(), "{said}");
        assert!(Path::new(&etl).exists());
    }
    let etl = path(folder.path(), "c.etl");
    let words = ["now", "--name", &etl, "--", "no-such-program-anywhere"];
    let error = record(&mut wpr, true, &words).unwrap_err();
    assert!(
        error.starts_with("the recording was thrown away: cannot run no-such-program-anywhere"),
        "{error}"
    );
    assert!(!wpr.is_recording() && !Path::new(&etl).exists());
}

#[test]
fn other_systems_print_the_lines_of_a_recording_from_start_to_answer() {
    let (_folder, mut wpr) = machine();
    let said = record(&mut wpr, false, &["now", "--profile", "cswitch,file"]).unwrap();
    for line in [
        "wpr -start etwkit.wprp!cswitch -start etwkit.wprp!file",
        "wpr -stop Now_%COMPUTERNAME%.etl -skipPdbGen",
        "\npause\n",
        "Afterwards: etwkit diagnose FILE",
    ] {
        assert!(said.contains(line), "{line}:\n{said}");
    }
    assert!(wpr.lines().is_empty());
}
