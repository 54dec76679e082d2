//! A stand-in for `wpr` and `logman`: this program, started again. It keeps its state in files of a
//! folder, checks its arguments, and fails as the real ones do.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use etwkit_record::{Outcome, Runner, Step, wait};

/// Runs the stand-in for each line.
pub(crate) struct StandIn {
    pub(crate) folder: PathBuf,
}

impl StandIn {
    /// Plants a fault, by its name in the stand-in.
    pub(crate) fn plant(&self, fault: &str) {
        fs::write(self.folder.join(fault), "").unwrap();
    }

    pub(crate) fn heal(&self, fault: &str) {
        fs::remove_file(self.folder.join(fault)).unwrap();
    }

    pub(crate) fn is_recording(&self) -> bool {
        self.folder.join("recording").exists()
    }

    pub(crate) fn interval(&self) -> String {
        fs::read_to_string(self.folder.join("interval")).unwrap_or_else(|_| "10000".into())
    }

    /// The lines that were run, without those that only ask.
    pub(crate) fn lines(&self) -> Vec<String> {
        let text = fs::read_to_string(self.folder.join("lines")).unwrap_or_default();
        let asks = ["-status", "-profint", "-pmcsources"];
        let is_act =
            |line: &&str| line.starts_with("wpr ") && !asks.iter().any(|asks| line.contains(asks));
        text.lines().filter(is_act).map(str::to_owned).collect()
    }
}

impl Runner for StandIn {
    fn run(&mut self, step: &Step) -> io::Result<Outcome> {
        let line = [vec![step.program.to_owned()], step.args.clone()]
            .concat()
            .join("\n");
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--exact", "stand_in::program", "--ignored", "--nocapture"]);
        wait(
            command
                .env("STAND_IN_LINE", line)
                .env("STAND_IN_FOLDER", &self.folder),
        )
    }
}

/// The program itself.
#[test]
#[ignore = "no test: the stand-in for wpr and logman, which tests start"]
fn program() {
    let (Ok(line), Some(folder)) = (
        std::env::var("STAND_IN_LINE"),
        std::env::var_os("STAND_IN_FOLDER"),
    ) else {
        return;
    };
    let words: Vec<&str> = line.split('\n').collect();
    let (code, said) = etwkit_testkit::stand_in::noted(Path::new(&folder), &words);
    println!("\n{said}");
    // Other systems keep eight bits of a code, of which all can be zero.
    std::process::exit(if cfg!(windows) {
        code
    } else {
        i32::from(code != 0)
    });
}
