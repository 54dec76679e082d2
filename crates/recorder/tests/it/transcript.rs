//! Transcripts of commands on Windows: lines after `> ` are run, lines after `! ` plant a fault in
//! the stand-ins or remove it, and the output has to be equal to the text below. `ETWKIT_BLESS=1`
//! writes it.
//!
//! Variable parts are masked: digits of measured times, processes, machines and paths.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use tempfile::TempDir;

/// One after the other: starting Wine takes all processors, and commands have time limits.
static ONE: Mutex<()> = Mutex::new(());

/// Programs for Windows, Wine, and a folder for one test.
pub(crate) struct Windows {
    programs: PathBuf,
    wine: OsString,
    folder: TempDir,
    /// Output of commands, and the folder that they see.
    streams: TempDir,
}

impl Windows {
    /// Nothing, said so, where the programs were not built or Wine is missing. `scripts/test` names
    /// both.
    pub(crate) fn here() -> Option<Self> {
        let name = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let (Some(programs), Some(wine)) = (name("ETWKIT_WINDOWS"), name("ETWKIT_WINE")) else {
            let test = std::thread::current().name().unwrap_or("a test").to_owned();
            etwkit_testkit::skip(&format!(
                "{test}: ETWKIT_WINDOWS and ETWKIT_WINE name no programs"
            ));
            return None;
        };
        let [folder, streams] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        Some(Self {
            programs: programs.into(),
            wine,
            folder,
            streams,
        })
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a transcript and compares.
    pub(crate) fn check(&self, name: &str) {
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/windows")
            .join(name);
        let wanted = fs::read_to_string(&file).unwrap();
        let mut is = String::new();
        for line in wanted.lines() {
            if let Some(fault) = line.strip_prefix("! plant ") {
                fs::write(self.folder().join(fault), "").unwrap();
            } else if let Some(fault) = line.strip_prefix("! heal ") {
                fs::remove_file(self.folder().join(fault)).unwrap();
            } else if let Some(command) = line.strip_prefix("> ") {
                is.push_str(&format!("{line}\n{}\n", self.said(command)));
                continue;
            } else {
                // Comments before commands stay.
                if line.starts_with('#') {
                    is.push_str(&format!("{line}\n"));
                }
                continue;
            }
            is.push_str(&format!("{line}\n"));
        }
        if std::env::var_os("ETWKIT_BLESS").is_some() {
            fs::write(&file, is).unwrap();
        } else {
            assert_eq!(is, wanted, "{name}; ETWKIT_BLESS=1 writes it");
        }
    }

    /// Returns the output of a command, both streams, and its exit code unless it is 0.
    fn said(&self, command: &str) -> String {
        let folder = format!("Z:{}", self.folder().display()).replace('/', "\\");
        let words = command
            .split_whitespace()
            .map(|word| word.replace("FOLDER", &folder));
        let words: Vec<String> = words.collect();
        // Not pipes: processes that Wine starts next to the program hold them for a while.
        let [out, err] = ["out.txt", "err.txt"].map(|name| self.streams.path().join(name));
        let status = Command::new(&self.wine)
            .arg(self.programs.join(format!("{}.exe", words[0])))
            .args(&words[1..])
            .current_dir(self.folder())
            .env("WINEDEBUG", "-all")
            .env("STAND_IN_FOLDER", &folder)
            .env("ETWKIT_CACHE", format!("{folder}\\cache"))
            .stdin(Stdio::null())
            .stdout(File::create(&out).unwrap())
            .stderr(File::create(&err).unwrap())
            .status()
            .unwrap();
        let text: String = [out, err]
            .map(|file| fs::read_to_string(file).unwrap())
            .concat();
        let text = text.replace('\r', "").replace(&folder, "FOLDER");
        let mut said: String = text.lines().map(|line| masked(line) + "\n").collect();
        if !status.success() {
            said.push_str(&format!("exit code {}\n", status.code().unwrap()));
        }
        said
    }
}

/// Returns a line with its variable parts masked.
fn masked(line: &str) -> String {
    let is_process = line.contains(" pid is ");
    let words = line.split_whitespace().map(|word| {
        let is_measured = word
            .split('.')
            .skip(1)
            .any(|part| part.starts_with(|c: char| c.is_ascii_digit()));
        if word.contains(".etl") {
            recording(word)
        } else if is_process || is_measured {
            digits(word)
        } else {
            word.to_owned()
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Each row of digits as one `#`.
fn digits(word: &str) -> String {
    let mut masked = String::new();
    for c in word.chars() {
        match c {
            '0'..='9' if masked.ends_with('#') => {}
            '0'..='9' => masked.push('#'),
            c => masked.push(c),
        }
    }
    masked
}

/// `Copy_12msHOST.20240506-103000.etl` without machine and time.
fn recording(word: &str) -> String {
    let Some((case, rest)) = word.split_once("ms") else {
        return word.to_owned();
    };
    match rest.split_once('.') {
        Some((_, time)) => format!("{case}msMACHINE.{}", digits(time)),
        None => word.to_owned(),
    }
}
