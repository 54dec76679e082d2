//! Command lines of ETWAnalyzer as people published them, character by character: what they print is in
//! `tests/transcripts/compat`.
//!
//! Each line runs as a process of its own, called `ETWAnalyzer`, in a folder that stands for drive C:. What
//! stands in front of the prompt is the folder that it runs in.

mod built;
mod csv;
mod drive;
mod lines;
mod locale;
mod options;
mod rows;
mod small;

use std::path::Path;
use std::process::Command;

use crate::transcripts::compare;
use drive::drive;

/// What a line printed, as the transcript has it.
pub(crate) struct Printed {
    pub(crate) text: String,
    pub(crate) out: String,
    pub(crate) exit: i32,
}

/// Runs a line in a folder of the drive.
#[track_caller]
fn run(line: &str, folder: &str) -> Printed {
    run_in(line, folder, &[("LC_ALL", "C")])
}

/// Runs a line where these variables are set, and none of the others that change how an answer looks.
#[track_caller]
fn run_in(line: &str, folder: &str, variables: &[(&str, &str)]) -> Printed {
    const LOOKS: [&str; 7] = [
        "LC_ALL",
        "LC_NUMERIC",
        "LANG",
        "NO_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "COLORTERM",
    ];
    let words = words(line);
    let drive = drive();
    let mut command = Command::new(env!("CARGO_BIN_EXE_etwkit"));
    #[cfg(unix)]
    std::os::unix::process::CommandExt::arg0(&mut command, words[0].trim_end_matches(".exe"));
    LOOKS.iter().for_each(|name| _ = command.env_remove(name));
    let answer = command
        .args(&words[1..])
        .current_dir(drive.join(folder))
        .env("ETWKIT_DRIVE_C", drive)
        .env("ETWKIT_CACHE", drive.join("cache"))
        // No server is asked in tests.
        .env("ETWKIT_OFFLINE", "1")
        .env_remove("_NT_SYMBOL_PATH")
        .env_remove("ETWKIT_RENAME_RULES")
        .env_remove("ETWKIT_EXCEPTION_FILTERS")
        .env("COLUMNS", "60")
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let (out, err) = (place(&text(answer.stdout)), place(&text(answer.stderr)));
    let exit = answer.status.code().unwrap();
    Printed {
        text: format!("{line}\n{out}{err}[exit {exit}]\n"),
        out,
        exit,
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// A text with the folder that stands for the drive under the name of the drive.
fn place(text: &str) -> String {
    let drive = drive();
    text.replace(&drive.canonicalize().unwrap().display().to_string(), "C:")
        .replace(&drive.display().to_string(), "C:")
}

/// Runs a line and compares with its transcript.
#[track_caller]
fn check(id: &str, line: &str, folder: &str) -> Printed {
    let printed = run(line, folder);
    compare(&printed.text, &format!("compat/{id}"));
    printed
}

/// Runs a line that writes a file, and compares the file with its transcript.
#[track_caller]
fn check_file(id: &str, line: &str, folder: &str, file: &str) {
    let path = drive().join(folder).join(file);
    let _ = std::fs::remove_file(&path);
    let printed = run(line, folder);
    assert_eq!(printed.exit, 0, "{}", printed.text);
    assert!(
        printed
            .text
            .contains("CSV export was successful. File is: C:"),
        "{}",
        printed.text
    );
    compare(
        &format!("{line}\n{}", place(&written(&path))),
        &format!("compat/{id}"),
    );
}

/// Words as cmd.exe hands them on: quotes keep blanks, and are taken away.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut in_quotes, mut begun) = (Vec::new(), String::new(), false, false);
    for c in line.chars() {
        match c {
            '"' => (in_quotes, begun) = (!in_quotes, true),
            c if c.is_whitespace() && !in_quotes => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            c => {
                word.push(c);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    words
}

#[test]
fn words_are_those_of_cmd() {
    let line = r#" EtwAnalyzer -cmdline "*firstcall* cross*#x*";*ngen*  -ProcessFmt s "#;
    assert_eq!(
        words(line),
        [
            "EtwAnalyzer",
            "-cmdline",
            "*firstcall* cross*#x*;*ngen*",
            "-ProcessFmt",
            "s"
        ]
    );
}

/// Compares with the page of the documentation, or writes it.
#[track_caller]
fn page(text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/etwanalyzer-compat.md");
    if std::env::var_os("ETWKIT_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let there = std::fs::read_to_string(&path)
        .unwrap_or_default()
        .replace("\r\n", "\n");
    assert!(
        there == text,
        "docs/etwanalyzer-compat.md differs; ETWKIT_BLESS=1 writes it:\n{text}"
    );
}

/// A file that a line wrote.
fn written(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}
