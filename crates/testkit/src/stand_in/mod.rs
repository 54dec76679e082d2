//! Stand-ins for wpr.exe and other Windows programs. They keep their state in files of a folder,
//! check their arguments, fail as the real ones do, and write a trace of a simulated machine.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking, and a program prints"
)]

use std::fs;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use etwkit_synth::{Options, find};

mod wpr;
mod xperf;

/// The scenario that recordings show.
pub const SCENARIO: &str = "file-writer";

/// Answers the command line of this process as the program `name`, and appends the line to the file
/// `lines` of the folder that `STAND_IN_FOLDER` names.
///
/// # Panics
/// The folder does not exist.
#[must_use]
pub fn program(name: &str) -> i32 {
    let folder = std::env::var_os("STAND_IN_FOLDER").unwrap();
    let words: Vec<String> = std::iter::once(name.to_owned())
        .chain(std::env::args().skip(1))
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (code, said) = noted(Path::new(&folder), &words);
    println!("{said}");
    code
}

/// Appends a line to the file `lines` and answers it.
///
/// # Panics
/// The folder cannot be written.
#[must_use]
pub fn noted(folder: &Path, words: &[&str]) -> (i32, String) {
    // Written before the answer, so that a line that crashes the program is also in the file.
    let mut lines = fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join("lines"))
        .unwrap();
    writeln!(lines, "{}", words.join(" ")).unwrap();
    answer(folder, words)
}

/// Answers `words`, a command line of one of these programs: exit code and text. The folder holds
/// the state, and a file for each planted fault: `full`, `full there` (but not below `aside`),
/// `denied`, `no counters`, `kernel logger`, `slow`, `changed`, `no screen`, `crash -stop`.
///
/// # Panics
/// The folder cannot be written.
#[must_use]
pub fn answer(folder: &Path, words: &[&str]) -> (i32, String) {
    let has = |fault: &str| folder.join(fault).exists();
    let (code, said) = match words[0] {
        "powercfg" => return powercfg(folder, words),
        "powershell" => return powershell(folder, words),
        "logman" => {
            let kernel = if has("kernel logger") {
                "NT Kernel Logger   Trace   Running\n"
            } else {
                ""
            };
            let closing = "\nThe command completed successfully.";
            let other = "EventLog-System   Trace   Running\n";
            return (
                0,
                format!("Data Collector Set   Type   Status\n-----\n{kernel}{other}{closing}"),
            );
        }
        // Programs other than wpr and xperf print no banner.
        "fltmc" => {
            return (
                0,
                "Name  Num Instances  Altitude  Frame\n-----\nAcme Scan  7  328010  0".into(),
            );
        }
        "netsh" => {
            return (
                0,
                "Idx Met MTU State Name\n---\n10 25 1500 connected Wi-Fi 2".into(),
            );
        }
        "xperf" => xperf::answer(folder, words),
        _ => wpr::answer(folder, words),
    };
    (
        code,
        format!("{}\n{said}", BANNERS[usize::from(words[0] == "xperf")]),
    )
}

/// Banners that wpr and xperf print before every answer.
const BANNERS: [&str; 2] = [
    "Microsoft Windows Performance Recorder Version 10.0.19041 (CoreSystem)\n\
     Copyright (c) 2019 Microsoft Corporation. All rights reserved.\n",
    "Microsoft Windows Performance Analyzer Version 10.0.19041\n\
     Performance Analyzer Command Line\nCopyright (c) 2019 Microsoft Corporation. All rights reserved.\n",
];

/// Returns the exit code and the text of a command that failed.
fn failed(code: u32, text: &str) -> (i32, String) {
    (
        code.cast_signed(),
        format!("{text}\n\n\tError code: 0x{code:x}"),
    )
}

/// Rejects options that the program does not have, as the real one does.
fn unknown(words: &[&str], known: &[&str]) -> Option<(i32, String)> {
    let is_unknown = |word: &&&str| word.starts_with('-') && !known.contains(word);
    let option = words[1..].iter().find(is_unknown)?;
    Some(failed(
        0x8007_0057,
        &format!("Invalid command syntax {option}"),
    ))
}

/// Answers with a screenshot, or the inventory of a machine.
fn powershell(folder: &Path, words: &[&str]) -> (i32, String) {
    let code = words.last().unwrap();
    let Some((_, file)) = code.split_once(".Save('") else {
        return (
            0,
            "security product=Acme Shield\ndisk=SSD, write cache False".into(),
        );
    };
    if folder.join("no screen").exists() {
        return (1, "The handle is invalid.".into());
    }
    fs::write(file.split_once('\'').unwrap().0, "picture").unwrap();
    (0, String::new())
}

/// Reads or sets the one setting, which starts at 100; others do not exist.
fn powercfg(folder: &Path, words: &[&str]) -> (i32, String) {
    let file = folder.join("PROCTHROTTLEMAX");
    match (words[1], words.get(4), words.get(5)) {
        ("/SETACTIVE", _, _) => (0, String::new()),
        ("/GETACTIVESCHEME", _, _) => (0, "Power Scheme GUID: 381b4222  (Balanced)".into()),
        ("/QUERY", Some(&"PROCTHROTTLEMAX"), _) => {
            // Largest value, value for mains and value for battery, as Windows prints them: readers
            // need the one in the middle.
            let value = fs::read_to_string(file).map_or(100, |text| text.parse::<u32>().unwrap());
            (
                0,
                format!("Maximum: 0x00000064\nCurrent AC: 0x{value:08x}\nCurrent DC: 0x00000032"),
            )
        }
        ("/SETACVALUEINDEX", Some(&"PROCTHROTTLEMAX"), Some(value)) => {
            if value.parse::<u32>().is_ok_and(|value| value <= 100) {
                fs::write(file, value).unwrap();
                return (0, String::new());
            }
            (1, "Invalid Parameters -- try \"/?\" for help".into())
        }
        _ => (
            1,
            "The power scheme, subgroup or setting specified does not exist.".into(),
        ),
    }
}

/// Writes the trace that a recording becomes.
fn write_trace(file: &Path) -> io::Result<()> {
    let mut out = BufWriter::new(fs::File::create_new(file)?);
    find(SCENARIO)
        .unwrap()
        .write(&mut out, &Options::default())
        .map_err(io::Error::other)?;
    out.flush()
}
