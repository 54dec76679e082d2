//! Colours say nothing that the words do not: without them the answer is the same, and where a program reads
//! it there are none.

use std::process::Command;

use crate::support::{Exit, run, trace};

/// What colours are made of: those that we use, and no others.
const STYLES: [&str; 6] = [
    "\u{1B}[0m",
    "\u{1B}[1m",
    "\u{1B}[31m",
    "\u{1B}[32m",
    "\u{1B}[33m",
    "\u{1B}[36m",
];
const CYAN: &str = "\u{1B}[36m";
const BOLD: &str = "\u{1B}[1m";
const END: &str = "\u{1B}[0m";

/// A text without our colours.
pub(crate) fn plain(text: &str) -> String {
    STYLES
        .iter()
        .fold(text.to_owned(), |text, style| text.replace(style, ""))
}

/// A folder with the extract of a trace.
fn extract() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder
        .path()
        .join("sched.etwx")
        .to_str()
        .unwrap()
        .to_owned();
    let answer = run(&["extract", &trace("sched-5.etl"), "--out", &path]);
    assert_eq!(answer.exit, Exit::Answered, "{}", answer.err);
    (folder, path)
}

#[test]
fn answers_with_colours_are_the_same_text() {
    let (_folder, path) = extract();
    let trace = trace("sched-5.etl");
    for (args, begins) in [
        (&["dump", "cpu", &path][..], CYAN),
        (&["dump", "cpu", "--methods", "*", &path], CYAN),
        (&["dump", "process", "--sort-by", "tree", &path], CYAN),
        (&["dump", "wait", "--by", "method", &path], CYAN),
        (&["dump", "mark", &path], CYAN),
        (&["dump", "stats", &path], CYAN),
        (&["dump", "overview", &path], CYAN),
        (&["dump", "dns", &path], &path),
        (&["critical-path", "--process", "gamma.exe", &path], CYAN),
        (&["info", &trace], CYAN),
        (&["events", "--count", &trace], CYAN),
        (
            &["sql", &path, "SELECT pid, name FROM process ORDER BY pid"],
            BOLD,
        ),
        (&["sql", "--show-schema", "process"], BOLD),
        (&["export", &path], "No process was chosen"),
        (&["dump", "cpu", "--nonsense", &path], ""),
        (&["dump", "cpu", "no-such.etwx"], ""),
        (&["nonsense"], ""),
    ] {
        let without = run(args);
        let with = run(&[args, &["--color", "always"]].concat());
        assert_eq!(plain(&with.out), without.out, "{args:?}");
        assert_eq!(plain(&with.err), without.err, "{args:?}");
        assert_eq!(with.exit, without.exit);
        assert!(with.out.starts_with(begins), "{args:?}: {:?}", with.out);
        assert_ne!(
            with.out + &with.err,
            without.out + &without.err,
            "{args:?} has no colour"
        );
        assert_eq!(without.exit, run(&[args, &["--color=never"]].concat()).exit);
    }
}

#[test]
fn headings_titles_and_labels_have_colours() {
    let (_folder, path) = extract();
    let out = run(&["dump", "cpu", "--color=always", &path]).out;
    let lines: Vec<&str> = out.lines().collect();
    assert!(
        lines[0].starts_with(CYAN) && lines[0].ends_with(&format!("sched-5.etl{END}")),
        "{lines:?}"
    );
    assert!(
        lines[1].starts_with(BOLD) && lines[1].contains("CPU ms") && lines[1].ends_with(END),
        "{lines:?}"
    );
    assert!(
        lines[2..].iter().all(|line| !line.contains('\u{1B}')),
        "{lines:?}"
    );
    let none = run(&["dump", "dns", "--color=always", &path]).out;
    assert!(none.contains("\n\u{1B}[32mhint:\u{1B}[0m "), "{none:?}");
    let wrong = run(&["dump", "cpu", "--color", "always", "--range", "5..x", &path]).err;
    assert!(
        wrong.starts_with("\u{1B}[1m\u{1B}[31merror:\u{1B}[0m "),
        "{wrong:?}"
    );
    assert!(wrong.contains("\n\u{1B}[32mhint:\u{1B}[0m "), "{wrong:?}");
}

#[test]
fn what_programs_read_has_no_colours() {
    let (folder, path) = extract();
    let trace = trace("sched-5.etl");
    let file = folder.path().join("rows.csv");
    let file = file.to_str().unwrap();
    for args in [
        &["dump", "cpu", "--json", &path][..],
        &["dump", "dns", "--json", &path],
        &["dump", "cpu", "--show-sql", &path],
        &["info", "--json", &trace],
        &["events", "--limit", "3", "--json", &trace],
        &["events", "--limit", "3", "--format", "csv", &trace],
        &[
            "sql",
            &path,
            "SELECT pid, name FROM process",
            "--format",
            "json",
        ],
        &[
            "sql",
            &path,
            "SELECT pid, name FROM process",
            "--format",
            "csv",
        ],
        &["dump", "cpu", "--csv", file, &path],
    ] {
        let answer = run(&[args, &["--color", "always"]].concat());
        assert!(!answer.out.contains('\u{1B}'), "{args:?}: {:?}", answer.out);
    }
    assert!(!std::fs::read_to_string(file).unwrap().contains('\u{1B}'));
}

/// What the program prints as a process, with these variables.
fn process(args: &[&str], variables: &[(&str, &str)]) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_etwkit"));
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM", "CI"] {
        command.env_remove(name);
    }
    let answer = command
        .args(args)
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    (
        String::from_utf8(answer.stdout).unwrap(),
        String::from_utf8(answer.stderr).unwrap(),
    )
}

#[test]
fn the_command_line_goes_before_the_environment() {
    let args = ["sql", "--show-schema", "process"];
    for (more, variables, expected) in [
        (&[][..], &[][..], false),
        (&[], &[("TERM", "xterm")], false),
        (&[], &[("CLICOLOR_FORCE", "1")], true),
        (&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
        (&["--color", "auto"], &[("CLICOLOR_FORCE", "1")], true),
        (&["--color", "never"], &[("CLICOLOR_FORCE", "1")], false),
        (&["--color", "always"], &[("NO_COLOR", "1")], true),
        (&["--color=always"], &[("TERM", "dumb")], true),
    ] {
        let (out, err) = process(&[&args, more].concat(), variables);
        assert_eq!(out.contains('\u{1B}'), expected, "{more:?} {variables:?}");
        assert_eq!(err, "");
    }
    let (_, wrong) = process(&["nonsense"], &[("CLICOLOR_FORCE", "1")]);
    assert!(wrong.starts_with("\u{1B}[1m\u{1B}[31merror:"), "{wrong:?}");
    let (_, wrong) = process(&["nonsense", "--color=never"], &[("CLICOLOR_FORCE", "1")]);
    assert!(wrong.starts_with("error:"), "{wrong:?}");
    let (_, wrong) = process(&["-dump", "nosuch", "-NoColor"], &[("CLICOLOR_FORCE", "1")]);
    assert!(wrong.starts_with("error:"), "{wrong:?}");
}

#[test]
fn lines_are_cut_as_those_without_colours() {
    let (_folder, path) = extract();
    let args = ["dump", "process", "--clip", &path];
    let variables = [("COLUMNS", "40")];
    let without = process(&args, &variables).0;
    let with = process(&[&args[..], &["--color", "always"]].concat(), &variables).0;
    assert_eq!(plain(&with), without);
    assert!(
        with != without && without.lines().any(|line| line.ends_with("...")),
        "{without}"
    );
    assert!(
        without.lines().all(|line| line.chars().count() <= 40),
        "{without}"
    );
}

#[test]
fn a_console_keeps_what_was_set() {
    use std::io::Write;
    let (_folder, path) = extract();
    let session = |args: &[&str]| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_etwkit"))
            .args(args)
            .env_remove("NO_COLOR")
            .env("CLICOLOR_FORCE", "1")
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let lines = "dump stats\n.dump stats\n.nonsense\n";
        child
            .stdin
            .take()
            .unwrap()
            .write_all(lines.as_bytes())
            .unwrap();
        let answer = child.wait_with_output().unwrap();
        (
            String::from_utf8(answer.stdout).unwrap(),
            String::from_utf8(answer.stderr).unwrap(),
        )
    };
    let (out, err) = session(&["console", &path]);
    assert_eq!(out.matches(CYAN).count(), 2, "{out:?}");
    assert!(err.contains("\u{1B}[31merror:"), "{err:?}");
    for quiet in [
        &["console", "--color", "never", &path][..],
        &["-console", &path, "-nocolor"],
    ] {
        let (plain_out, plain_err) = session(quiet);
        assert_eq!((plain_out, plain_err), (plain(&out), plain(&err)));
    }
}

/// On a terminal there are colours, unless it is one that has none.
#[cfg(unix)]
#[test]
fn a_terminal_has_colours() {
    use std::fs::File;
    use std::io::Read;
    let on_terminal = |variables: &[(&str, &str)]| {
        let pty = nix::pty::openpty(None, None).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_etwkit"));
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM", "CI"] {
            command.env_remove(name);
        }
        let mut child = command
            .args(["sql", "--show-schema", "process"])
            .envs(variables.iter().copied())
            .stdout(pty.slave)
            .spawn()
            .unwrap();
        // The command holds the other end; reading fails when it is done.
        drop(command);
        let (mut seen, mut screen, mut bytes) = (Vec::new(), File::from(pty.master), [0; 4096]);
        while let Ok(count @ 1..) = screen.read(&mut bytes) {
            seen.extend_from_slice(&bytes[..count]);
        }
        assert!(child.wait().unwrap().success());
        String::from_utf8(seen).unwrap().contains(BOLD)
    };
    assert!(on_terminal(&[("TERM", "xterm")]));
    for variables in [
        &[("TERM", "dumb")][..],
        &[("TERM", "xterm"), ("NO_COLOR", "1")],
        &[("TERM", "xterm"), ("CLICOLOR", "0")],
    ] {
        assert!(!on_terminal(variables), "{variables:?}");
    }
}
