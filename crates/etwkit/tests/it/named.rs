//! Folders, patterns, lists and the standard input, wherever a command line names traces or extracts.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{Answer, Exit, run, trace};

/// A folder with two traces and their extracts, in folders of their own.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).display().to_string();
    std::fs::create_dir_all(place("traces")).unwrap();
    std::fs::create_dir_all(place("extracts/deep")).unwrap();
    for (name, target) in [
        ("dns-5", "extracts/dns.etwx"),
        ("power-5", "extracts/deep/power.etwx"),
    ] {
        std::fs::copy(
            trace(&format!("{name}.etl")),
            place(&format!("traces/{name}.etl")),
        )
        .unwrap();
        let made = run(&[
            "extract",
            &place(&format!("traces/{name}.etl")),
            "--out",
            &place(target),
        ]);
        assert_eq!(made.exit, Exit::Answered, "{}", made.err);
    }
    folder
}

/// Runs a command line; HERE in a word stands for the folder.
fn ask(folder: &Path, line: &[&str]) -> Answer {
    let here = folder.display().to_string();
    let words: Vec<String> = line
        .iter()
        .map(|word| word.replace("HERE", &here))
        .collect();
    run(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn every_command_takes_patterns_and_lists() {
    let folder = folder();
    let list = "# both\nHERE/extracts/dns.etwx\nHERE/extracts/**/p*.etwx\n";
    let list = list.replace("HERE", &folder.path().display().to_string());
    std::fs::write(folder.path().join("list.txt"), list).unwrap();
    let count = "SELECT count(*) FROM extract";
    for (line, lines) in [
        // A header, then a line for each extract.
        (
            &[
                "dump",
                "stats",
                "--json",
                "--properties",
                "SessionStart",
                "HERE/extracts/**",
            ][..],
            3,
        ),
        (
            &[
                "dump",
                "stats",
                "--json",
                "--properties",
                "SessionStart",
                "@HERE/list.txt",
            ],
            3,
        ),
        (
            &[
                "dump",
                "stats",
                "--json",
                "--properties",
                "SessionStart",
                "HERE/extracts",
                "@HERE/list.txt",
            ],
            3,
        ),
        (
            &["dump", "test-run", "--json", "HERE/extracts/**/*.etwx"],
            3,
        ),
        (
            &["sql", "--format", "csv", "HERE/extracts/*.etwx", count],
            2,
        ),
        (
            &[
                "export",
                "HERE/extracts/d*",
                "--all-processes",
                "--out",
                "HERE/traces",
                "--json",
            ],
            2,
        ),
    ] {
        let answer = ask(folder.path(), line);
        assert_eq!(
            answer.out.lines().count(),
            lines,
            "{line:?}: {}{}",
            answer.out,
            answer.err
        );
    }
    for (extracts, expected) in [
        (&["HERE/extracts"][..], "1"),
        (&["HERE/extracts/**/*.etwx"], "2"),
        (&["@HERE/list.txt"], "2"),
        (&["@HERE/list.txt", "HERE/extracts/dns.etwx"], "2"),
        (&["HERE/traces/*.etl"], "2"),
    ] {
        let answer = ask(
            folder.path(),
            &[&["sql", "--format", "csv"][..], extracts, &[count]].concat(),
        );
        assert_eq!(
            answer.out.lines().nth(1),
            Some(expected),
            "{extracts:?}: {}",
            answer.err
        );
    }
    let twice = ask(
        folder.path(),
        &[
            "sql",
            "HERE/extracts/dns.etwx",
            "HERE/extracts/dns.etwx",
            count,
        ],
    );
    assert!(
        twice.exit == Exit::Error && twice.err.contains("named twice"),
        "{}",
        twice.err
    );
    let path = ask(
        folder.path(),
        &["critical-path", "--process", "*", "HERE/extracts/d*"],
    );
    assert!(
        path.err.is_empty() || !path.err.contains("d*"),
        "{}",
        path.err
    );
    let info = ask(folder.path(), &["info", "--json", "HERE/traces/d*.etl"]);
    let info: Value = serde_json::from_str(&info.out).unwrap();
    assert_eq!(info["files"][0]["name"], "dns-5.etl");
    let made = ask(
        folder.path(),
        &["extract", "HERE/traces", "--out", "HERE/extracts", "--json"],
    );
    assert_eq!(made.out.lines().count(), 3, "{}{}", made.out, made.err);
    assert!(folder.path().join("extracts/power-5.etwx").is_dir());
}

#[test]
fn what_names_nothing_is_an_error() {
    let folder = folder();
    for (line, message) in [
        (
            &["dump", "cpu", "HERE/*.etwx"][..],
            "error: no trace and no extract matches HERE/*.etwx\n",
        ),
        (
            &["sql", "HERE/traces/*.zip", "SELECT 1"],
            "error: no trace and no extract matches HERE/traces/*.zip\n",
        ),
        (
            &["export", "@HERE/none.txt"],
            "error: cannot read the list HERE/none.txt\n",
        ),
        (
            &["critical-path", "HERE"],
            "error: no trace and no extract is in the folder HERE\n",
        ),
        (
            &["info", "HERE/extracts/*"],
            "error: no trace matches HERE/extracts/*\n",
        ),
        (
            &["events", "HERE/*.etl"],
            "error: no trace matches HERE/*.etl\n",
        ),
        (
            &["extract", "HERE/extracts"],
            "error: no trace is in the folder HERE/extracts\n",
        ),
        (
            &["dump", "cpu", "-"],
            "error: a trace on the standard input cannot be queried\n",
        ),
        (
            &["extract", "-"],
            "error: the standard input (-) has no name that its extract could have\n",
        ),
    ] {
        let Answer { out, err, exit } = ask(folder.path(), line);
        let err = err.replace(&folder.path().display().to_string(), "HERE");
        assert_eq!((out.as_str(), exit), ("", Exit::Error), "{line:?}");
        assert!(
            err.starts_with(message) && err.contains("\nhint: "),
            "{line:?}: {err}"
        );
    }
}

#[test]
fn a_question_in_front_of_its_extracts_is_no_list() {
    let folder = folder();
    let Answer { err, exit, .. } = ask(
        folder.path(),
        &["sql", "@rules/spin", "HERE/extracts/dns.etwx"],
    );
    assert_eq!(exit, Exit::Error);
    assert!(
        err.contains("\nhint: questions of the library come after the extracts"),
        "{err}"
    );
}

/// Runs the program with a file as its standard input.
fn piped(args: &[&str], input: &[u8], temp: &Path) -> (String, String, Option<i32>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_etwkit"))
        .args(args)
        .env("ETWKIT_TMP", temp)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that refuses its line does not read.
    let _ = child.stdin.take().unwrap().write_all(input);
    let answer = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (
        text(&answer.stdout),
        text(&answer.stderr),
        answer.status.code(),
    )
}

#[test]
fn a_trace_comes_from_the_standard_input() {
    let (folder, temp) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let bytes = std::fs::read(trace("dns-5.etl")).unwrap();
    let (info, err, exit) = piped(&["info", "--json", "-"], &bytes, temp.path());
    assert_eq!(exit, Some(0), "{err}");
    let of_file = run(&["info", "--json", &trace("dns-5.etl")]).out;
    let (info, of_file): (Value, Value) = (
        serde_json::from_str(&info).unwrap(),
        serde_json::from_str(&of_file).unwrap(),
    );
    assert_eq!(info["files"][0]["name"], "standard-input.etl");
    assert_eq!(info["recording"], of_file["recording"]);
    let (events, err, _) = piped(&["events", "--count", "-"], &bytes, temp.path());
    assert!(
        events.starts_with("Events of standard-input.etl"),
        "{events}{err}"
    );
    let out = folder.path().join("dns.etwx").display().to_string();
    let (_, err, exit) = piped(&["extract", "-", "--out", &out], &bytes, temp.path());
    assert_eq!(exit, Some(0), "{err}");
    assert_eq!(
        run(&["sql", &out, "SELECT 1 FROM process LIMIT 1"]).exit,
        Exit::Answered
    );
    let (_, err, exit) = piped(&["info", "-"], b"no trace", temp.path());
    assert_eq!(exit, Some(2), "{err}");
    assert!(err.contains("standard-input.etl"), "{err}");
    let (_, err, exit) = piped(&["info", "-", "-"], &bytes, temp.path());
    assert!(exit == Some(2) && err.contains("named twice"), "{err}");
    let list = format!("{}\n# the end\n", trace("dns-5.etl"));
    let (events, err, _) = piped(&["events", "--count", "@-"], list.as_bytes(), temp.path());
    assert!(events.starts_with("Events of dns-5.etl"), "{events}{err}");
    let left: Vec<_> = std::fs::read_dir(temp.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}
