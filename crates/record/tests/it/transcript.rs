//! Transcripts of commands on Windows: lines after `> ` are run, lines after `! ` plant a fault in
//! the stand-ins or remove it, and the output has to be equal to the text below. `ETWKIT_BLESS=1`
//! writes it.
//!
//! Variable parts are masked: digits of measured times, processes, machines and paths.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// One after the other: starting Wine takes all processors, and commands have time limits.
static ONE: Mutex<()> = Mutex::new(());

/// The time that one command may take. The slowest needs ten seconds on a busy machine.
const LIMIT: Duration = Duration::from_secs(100);

/// `ERROR_INTERNAL_ERROR`, with which Wine refuses to start a program when its server is too busy. No
/// program of ours fails with it.
const WINE_FAILED: &str = "(os error 1359)";

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
    ///
    /// Wine rarely loses the end of a process, and then its parent waits forever; still more rarely
    /// a program does not start. So a transcript in which a command exceeds its limit, fails and
    /// prints nothing, or cannot start a program, runs again, once, with another server. A fault of
    /// ours shows twice.
    #[expect(
        clippy::print_stderr,
        reason = "a run that was repeated should be seen"
    )]
    pub(crate) fn check(&self, name: &str) {
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/windows")
            .join(name);
        let wanted = fs::read_to_string(&file).unwrap();
        let is = self.replay(&wanted).unwrap_or_else(|hung| {
            eprintln!("note: {name} runs again: {hung}");
            self.start_over();
            self.replay(&wanted)
                .unwrap_or_else(|hung| panic!("{name}, twice: {hung}"))
        });
        if std::env::var_os("ETWKIT_BLESS").is_some() {
            fs::write(&file, is).unwrap();
        } else {
            assert_eq!(is, wanted, "{name}; ETWKIT_BLESS=1 writes it");
        }
    }

    /// Returns the transcript as its commands print it now.
    ///
    /// # Errors
    /// A command exceeds its limit, fails and prints nothing, or cannot start a program.
    fn replay(&self, wanted: &str) -> Result<String, String> {
        let mut is = String::new();
        for line in wanted.lines() {
            if let Some(command) = line.strip_prefix("> ") {
                let printed = self.run(command)?;
                is.push_str(&format!("{line}\n{printed}\n"));
            } else if let Some(fault) = line.strip_prefix("! plant ") {
                fs::write(self.folder().join(fault), "").unwrap();
                is.push_str(&format!("{line}\n"));
            } else if let Some(fault) = line.strip_prefix("! heal ") {
                fs::remove_file(self.folder().join(fault)).unwrap();
                is.push_str(&format!("{line}\n"));
            } else if line.starts_with('#') {
                // Comments before commands stay.
                is.push_str(&format!("{line}\n"));
            }
        }
        Ok(is)
    }

    /// Ends all processes of Wine and empties the folder.
    fn start_over(&self) {
        let server = Command::new("wineserver").arg("--kill").status();
        assert!(server.is_ok(), "wineserver is missing");
        for entry in fs::read_dir(self.folder()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                fs::remove_dir_all(path).unwrap();
            } else {
                fs::remove_file(path).unwrap();
            }
        }
    }

    /// Returns the output of a command, both streams, and its exit code unless it is 0.
    ///
    /// # Errors
    /// The command exceeds its limit, fails and prints nothing, or cannot start a program.
    fn run(&self, command: &str) -> Result<String, String> {
        let folder = format!("Z:{}", self.folder().display()).replace('/', "\\");
        let words = command
            .split_whitespace()
            .map(|word| word.replace("FOLDER", &folder));
        let words: Vec<String> = words.collect();
        // Not pipes: processes that Wine starts next to the program hold them for a while.
        let [out, err] = ["out.txt", "err.txt"].map(|name| self.streams.path().join(name));
        let mut child = Command::new(&self.wine)
            .arg(self.programs.join(format!("{}.exe", words[0])))
            .args(&words[1..])
            .current_dir(self.folder())
            .env("WINEDEBUG", "-all")
            .env("STAND_IN_FOLDER", &folder)
            .env("ETWKIT_CACHE", format!("{folder}\\cache"))
            .stdin(Stdio::null())
            .stdout(File::create(&out).unwrap())
            .stderr(File::create(&err).unwrap())
            .spawn()
            .unwrap();
        let status = wait(&mut child, LIMIT);
        let text: String = [out, err]
            .map(|file| fs::read_to_string(file).unwrap())
            .concat();
        let Some(status) = status else {
            return Err(format!(
                "{command} did not end in {LIMIT:?} and printed\n{text}"
            ));
        };
        // Our programs say why they fail; a failure without a word is one of Wine's.
        if text.is_empty() && !status.success() {
            return Err(format!("{command} ended with {status} and printed nothing"));
        }
        if text.contains(WINE_FAILED) {
            return Err(format!("{command} could not start a program:\n{text}"));
        }
        let text = text.replace('\r', "").replace(&folder, "FOLDER");
        let mut printed: String = text.lines().map(|line| masked(line) + "\n").collect();
        if !status.success() {
            printed.push_str(&format!("exit code {}\n", status.code().unwrap()));
        }
        Ok(printed)
    }
}

/// Waits for the end of a process. Kills it after a time.
fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let end = Instant::now() + limit;
    while Instant::now() < end {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
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
