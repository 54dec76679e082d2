//! Answers of wpr.exe.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use crate::stand_in::{failed, unknown, write_trace};

/// Duration of a command on a slow machine.
const SLOW: Duration = Duration::from_millis(1500);

pub(crate) fn answer(folder: &Path, words: &[&str]) -> (i32, String) {
    let has = |fault: &str| folder.join(fault).exists();
    if has("denied") {
        return failed(0x8007_0005, "Access is denied.");
    }
    if has(&format!("crash {}", words[1])) {
        // Like a recorder that dies before it has printed anything.
        std::process::abort();
    }
    let is_recording = has("recording");
    match words[1] {
        "-status" if is_recording => (0, status(has("changed"))),
        "-status" => (0, "WPR is not recording".into()),
        "-pmcsources" if has("no counters") => (0, "Id  Name\n--------\n  0 Timer".into()),
        "-pmcsources" => (
            0,
            "Id  Name\n--------\n  0 Timer\n 19 TotalCycles\n 36 TimerFixed".into(),
        ),
        "-profint" => (
            0,
            fs::read_to_string(folder.join("interval")).unwrap_or_else(|_| "10000".into()),
        ),
        "-setprofint" => set_interval(folder, words[2]),
        "-resetprofint" => set_interval(folder, "10000"),
        "-start" if is_recording => failed(0x8007_00B7, "The event collector was already running."),
        "-start" => start(folder, words),
        "-boottrace" => boot(folder, words),
        "-marker" | "-cancel" | "-stop" if !is_recording => idle(),
        "-marker" => (0, String::new()),
        "-cancel" => end(folder, "recording", ""),
        "-stop" => stop(folder, words),
        other => failed(0x8007_0057, &format!("Invalid command syntax {other}")),
    }
}

fn idle() -> (i32, String) {
    failed(0xC558_3000, "There are no trace profiles running.")
}

/// Another program can remove keywords from the session.
fn status(is_changed: bool) -> String {
    let keywords = if is_changed {
        "Loader"
    } else {
        "CSwitch Loader SampledProfile"
    };
    format!(
        "Time since start        : 00:00:07\nDropped event           : 0\n\
         Collector Name          : NT Kernel Logger\nEvents Lost             : 0\n\
         System Keywords         : {keywords}"
    )
}

fn set_interval(folder: &Path, ticks: &str) -> (i32, String) {
    fs::write(folder.join("interval"), ticks).unwrap();
    (0, String::new())
}

fn end(folder: &Path, state: &str, said: &str) -> (i32, String) {
    fs::remove_file(folder.join(state)).unwrap();
    (0, said.to_owned())
}

/// Starts a recording. Profiles of files have to be in them, and only one recorder can have the
/// kernel session.
fn start(folder: &Path, words: &[&str]) -> (i32, String) {
    if let Some(refused) = unknown(words, &["-start", "-filemode", "-recordtempto"]) {
        return refused;
    }
    let refused = profiles(folder, words, "-start");
    if refused.0 != 0 {
        return refused;
    }
    // Tests wait for this file, to interrupt in the middle of a slow start.
    fs::write(folder.join("starting"), "").unwrap();
    if folder.join("slow").exists() {
        sleep(SLOW);
    }
    fs::write(folder.join("recording"), words.join(" ")).unwrap();
    (0, String::new())
}

fn profiles(folder: &Path, words: &[&str], option: &str) -> (i32, String) {
    for pair in words.windows(2).filter(|pair| pair[0] == option) {
        // Names without a file are profiles of wpr itself, which exist always.
        let Some((file, name)) = pair[1].split_once('!') else {
            continue;
        };
        // A file that is not there has no profile.
        let text = fs::read_to_string(file).unwrap_or_default();
        if !text.contains(&format!("Name=\"{name}\"")) {
            return (
                0xC558_1001_u32.cast_signed(),
                format!("no profile {name} in {file}"),
            );
        }
        if folder.join("kernel logger").exists() && text.contains("Name=\"NT Kernel Logger\"") {
            return failed(0x8007_00B7, "The event collector was already running.");
        }
    }
    (0, String::new())
}

fn stop(folder: &Path, words: &[&str]) -> (i32, String) {
    if let Some(refused) = unknown(words, &["-stop", "-skipPdbGen", "-compress"]) {
        return refused;
    }
    if words.len() < 3 {
        return failed(0x8007_0057, "The file name is missing.");
    }
    let has = |fault: &str| folder.join(fault).exists();
    if has("full") || has("full there") && !words[2].contains("aside") {
        return failed(0x8007_0070, "There is not enough space on the disk.");
    }
    // Tests wait for this file, to interrupt in the middle of a slow stop.
    fs::write(folder.join("stopping"), "").unwrap();
    if folder.join("slow").exists() {
        sleep(SLOW);
    }
    written(folder, "recording", words[2])
}

fn written(folder: &Path, state: &str, file: &str) -> (i32, String) {
    match write_trace(Path::new(file)) {
        Ok(()) => end(folder, state, "100%"),
        Err(error) => failed(
            0x8007_0003,
            &format!("The system cannot find the path specified. {error}"),
        ),
    }
}

/// Starts or stops a boot recording. Nothing is recorded: the boot counts as done when the
/// recording is stopped.
fn boot(folder: &Path, words: &[&str]) -> (i32, String) {
    let known = [
        "-boottrace",
        "-addboot",
        "-filemode",
        "-recordtempto",
        "-stopboot",
        "-cancelboot",
        "-skipPdbGen",
    ];
    if let Some(refused) = unknown(words, &known) {
        return refused;
    }
    let is_asked = folder.join("boot").exists();
    match words[2] {
        "-addboot" => {
            fs::write(folder.join("boot"), words.join(" ")).unwrap();
            profiles(folder, words, "-addboot")
        }
        "-stopboot" if is_asked => written(folder, "boot", words[3]),
        "-cancelboot" if is_asked => end(folder, "boot", ""),
        _ => idle(),
    }
}
