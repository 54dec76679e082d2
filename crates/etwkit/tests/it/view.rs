//! `etwkit view`: the link that the page begins with, and what it opens.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Exit, json_lines, run};

/// A trace with a planted cause, as an extract.
fn extract(folder: &Path) -> String {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (trace, extract) = (path("slow.etl"), path("slow.etwx"));
    assert_eq!(
        run(&["synth", "write", "spin", "--out", &trace]).exit,
        Exit::Answered
    );
    assert_eq!(
        run(&["extract", "--out", &extract, &trace]).exit,
        Exit::Answered
    );
    extract
}

/// The link that the program prints while it serves the page.
fn link(args: &[&str], folder: &Path) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_etwkit"))
        .args(["view", "--no-open"])
        .args(args)
        .env("ETWKIT_CACHE", folder.join("cache"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    line.trim_end()
        .strip_prefix("The page: ")
        .unwrap_or_else(|| panic!("{line}"))
        .to_owned()
}

#[test]
fn a_link_names_the_finding_that_the_page_goes_to() {
    let folder = tempfile::tempdir().unwrap();
    let extract = extract(folder.path());
    let findings = json_lines(&run(&["diagnose", "--json", &extract]).out);
    let last = findings
        .iter()
        .filter_map(|row| row["number"].as_i64())
        .max()
        .unwrap();
    for number in ["1".to_owned(), last.to_string()] {
        let link = link(&["--finding", &number, &extract], folder.path());
        let (address, fragment) = link.split_once('#').unwrap();
        assert!(address.starts_with("http://127.0.0.1:"), "{link}");
        let (token, rest) = fragment.split_once(';').unwrap();
        assert!(
            token.starts_with("k=") && rest == format!("finding={number}"),
            "{link}"
        );
    }
    assert!(!link(&[&extract], folder.path()).contains("finding"));
}

#[test]
fn a_folder_is_listed_by_the_page_even_if_it_is_empty() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("runs");
    std::fs::create_dir(&empty).unwrap();
    let link = link(&[empty.to_str().unwrap()], folder.path());
    assert!(link.starts_with("http://127.0.0.1:"), "{link}");
}

#[test]
fn a_file_that_does_not_exist_is_refused_before_the_page_starts() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("slow.etl"), "").unwrap();
    let missing = folder.path().join("slwo.etl");
    let answer = run(&["view", "--no-open", missing.to_str().unwrap()]);
    assert_eq!((answer.exit, answer.out.as_str()), (Exit::Error, ""));
    assert!(
        answer.err.contains("cannot open ") && answer.err.contains("hint: did you mean "),
        "{}",
        answer.err
    );
}

#[test]
fn a_finding_that_is_not_there_is_refused_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let extract = extract(folder.path());
    let refused = |args: &[&str]| {
        let answer = run(&[&["view", "--no-open"], args].concat());
        assert_eq!(
            (answer.exit, answer.out.as_str()),
            (Exit::Error, ""),
            "{}",
            answer.err
        );
        answer.err
    };
    let none = refused(&["--finding", "99", &extract]);
    assert!(
        none.contains("slow.etwx has ") && none.contains(", and none is number 99"),
        "{none}"
    );
    assert!(
        none.contains("hint: `etwkit diagnose ")
            && none.contains("slow.etwx` lists the findings with their numbers"),
        "{none}"
    );
    let zero = refused(&["--finding", "0", &extract]);
    assert!(zero.contains("0 is not in 1.."), "{zero}");
    for files in [&[][..], &[extract.as_str(), extract.as_str()]] {
        let text = refused(&[&["--finding", "1"], files].concat());
        assert!(
            text.contains("--finding is of one trace") && text.contains("hint: "),
            "{text}"
        );
    }
}
