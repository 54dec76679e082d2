//! Python with packages that read the files that we write.

use std::process::Command;

use crate::skip;

/// The script that runs another one and leaves before libraries are taken down beside their
/// threads.
const RUN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/run.py");

/// Returns a command of the Python that has the packages of `scripts/requirements.txt`, or `None`
/// with a note that a test is skipped. The arguments to add are those of Python: a script,
/// `-c TEXT` or `-m MODULE`. The variable `ETWKIT_PYTHON` names that Python.
///
/// # Panics
/// If there is none and the tests run under `CI`.
#[must_use]
pub fn python(test: &str) -> Option<Command> {
    let program = std::env::var_os("ETWKIT_PYTHON");
    if program.is_none() {
        let missing =
            "ETWKIT_PYTHON does not name a Python with the packages of scripts/requirements.txt";
        skip(&format!("{test}: {missing}"));
    }
    program.map(|program| {
        let mut python = Command::new(program);
        python.arg(RUN);
        python
    })
}

/// Runs a command and returns its output.
///
/// # Panics
/// If the command does not start or ends with an error; the message has its standard error.
pub fn output_of(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}
