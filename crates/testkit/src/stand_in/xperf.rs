//! Answers of xperf.exe.

use std::fs;
use std::path::Path;

use crate::stand_in::{failed, unknown, write_trace};

/// Options that it has here.
const KNOWN: &[&str] = &[
    "-on",
    "-stackwalk",
    "-f",
    "-d",
    "-stop",
    "-stopall",
    "-merge",
    "-m",
    "-Loggers",
    "-loggers",
    "-help",
];

pub(crate) fn answer(folder: &Path, words: &[&str]) -> (i32, String) {
    if let Some(refused) = unknown(words, KNOWN) {
        return refused;
    }
    let session = folder.join("kernel session");
    let is_running = session.exists();
    match words[1] {
        "-on" if is_running => failed(
            0x8007_00B7,
            "NT Kernel Logger: Cannot create a file when that file already exists.",
        ),
        "-on" => {
            fs::write(session, words[2]).unwrap();
            (0, String::new())
        }
        "-Loggers" | "-loggers" => {
            // Without a session there are no flags.
            let flags = fs::read_to_string(session).unwrap_or_default();
            let logger = "Logger Name           : NT Kernel Logger\nEvents Lost           : 0";
            (0, format!("{logger}\nTrace Flags           : {flags}"))
        }
        "-merge" => written(words),
        "-d" | "-stop" | "-stopall" | "-m" if !is_running => failed(
            0x8007_1069,
            "NT Kernel Logger: The instance name passed was not recognized as valid.",
        ),
        "-d" => {
            fs::remove_file(session).unwrap();
            written(words)
        }
        "-stop" | "-stopall" => {
            fs::remove_file(session).unwrap();
            (
                0,
                "The trace you have just captured may contain personally identifiable information"
                    .into(),
            )
        }
        _ => (0, String::new()),
    }
}

/// Returns the output of a merge: the last file gets the merged ones.
fn written(words: &[&str]) -> (i32, String) {
    match write_trace(Path::new(words[words.len() - 1])) {
        Ok(()) => (0, "Merged Etl".into()),
        Err(error) => failed(
            0x8007_0003,
            &format!("The system cannot find the path specified. {error}"),
        ),
    }
}
