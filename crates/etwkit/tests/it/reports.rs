//! Findings as files to hand on, and exit codes for scripts.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{Exit, run};

/// The rule of the planted cause, and one that finds nothing. Files and exit codes do not depend on the others.
const FEW_RULES: [&str; 2] = ["--rule", "spin;dns-timeout"];

/// A trace with a planted cause, as an extract.
fn extract(folder: &Path, healthy: bool) -> String {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (trace, extract) = (path("slow.etl"), path("slow.etwx"));
    let mut args = vec!["synth", "write", "spin", "--out", &trace];
    args.extend(healthy.then_some("--healthy"));
    assert_eq!(run(&args).exit, Exit::Answered);
    assert_eq!(
        run(&["extract", "--out", &extract, &trace]).exit,
        Exit::Answered
    );
    extract
}

#[test]
fn findings_are_written_for_people_and_judged_for_scripts() {
    let folder = tempfile::tempdir().unwrap();
    let extract = extract(folder.path(), false);
    let file = |name: &str| -> PathBuf { folder.path().join(name) };
    let [option, rule] = FEW_RULES;
    let printed = run(&["diagnose", option, rule, "--markdown", "-", &extract]);
    assert_eq!(printed.exit, Exit::Answered, "{}", printed.err);
    assert!(
        printed.out.starts_with("# ") && printed.out.contains("\n| 1 | "),
        "{}",
        printed.out
    );
    let (page, text) = (file("a.html"), file("a.md"));
    let args = |option: &'static str, file: &Path| {
        let rest = [option, file.to_str().unwrap(), &extract];
        let words = ["diagnose"].iter().chain(&FEW_RULES).chain(&rest);
        words.map(|word| (*word).to_owned()).collect::<Vec<_>>()
    };
    let call = |args: &[String]| run(&args.iter().map(String::as_str).collect::<Vec<_>>());
    for (option, file) in [("--html", &page), ("--markdown", &text)] {
        let written = call(&args(option, file));
        assert_eq!(written.exit, Exit::Answered, "{}", written.err);
        assert_eq!(written.out, format!("Wrote {}\n", file.display()));
    }
    assert_eq!(fs::read_to_string(&text).unwrap(), printed.out);
    let html = fs::read_to_string(&page).unwrap();
    assert!(
        html.contains("<h2>1. ")
            && html.contains("slow")
            && !html.contains(folder.path().to_str().unwrap())
    );
    // A page of the command is written again; any other file stays.
    assert_eq!(call(&args("--html", &page)).exit, Exit::Answered);
    let refused = call(&args("--html", &text));
    assert_eq!(refused.exit, Exit::Error);
    assert!(
        refused.err.contains("is not a page of etwkit diagnose"),
        "{}",
        refused.err
    );
    assert_eq!(fs::read_to_string(&text).unwrap(), printed.out);
    for (fail_on, want) in [
        ("any", Exit::Failed),
        ("1ms", Exit::Failed),
        ("spin", Exit::Failed),
        ("1000s", Exit::Answered),
        ("dns-timeout", Exit::Answered),
        ("spim", Exit::Error),
    ] {
        let asked = run(&["diagnose", option, rule, "--fail-on", fail_on, &extract]);
        assert_eq!(asked.exit, want, "{fail_on}: {}", asked.err);
        let page = call(
            &[
                args("--html", &page),
                vec!["--fail-on".into(), fail_on.into()],
            ]
            .concat(),
        );
        assert_eq!(page.exit, want, "{fail_on}: {}", page.err);
    }
}

#[test]
fn one_finding_is_a_file_to_mail() {
    let folder = tempfile::tempdir().unwrap();
    let extract = extract(folder.path(), false);
    let file = folder.path().join("one.zip");
    let call = |number: &str| {
        let [option, rule] = FEW_RULES;
        run(&[
            "diagnose",
            option,
            rule,
            "--finding",
            number,
            "--out",
            file.to_str().unwrap(),
            &extract,
        ])
    };
    let none = call("99");
    assert_eq!(none.exit, Exit::Error);
    assert!(none.err.contains("none is number 99"), "{}", none.err);
    let written = call("1");
    assert_eq!(written.exit, Exit::Answered, "{}", written.err);
    let mut archive = zip::ZipArchive::new(fs::File::open(&file).unwrap()).unwrap();
    let mut text = |name: &str| std::io::read_to_string(archive.by_name(name).unwrap()).unwrap();
    let finding: serde_json::Value = serde_json::from_str(&text("finding.json")).unwrap();
    assert_eq!(
        (&finding["number"], &finding["rule"]),
        (&1.into(), &"spin".into())
    );
    let line = finding["evidence"].as_str().unwrap();
    let (page, rows) = (text("finding.html"), text("evidence-1.jsonl"));
    assert!(
        line.starts_with("dump cpu --process ") && page.contains("<pre>"),
        "{line}"
    );
    // The page shows the rows that the line prints, and the other file has them for programs.
    let answer = run(&[
        "dump",
        "cpu",
        "--process",
        line.split(' ').nth(3).unwrap(),
        "--json",
        &extract,
    ]);
    let of_process = answer.out.lines().nth(1).unwrap();
    let name = serde_json::from_str::<serde_json::Value>(of_process).unwrap()["process"].clone();
    assert!(page.contains(name.as_str().unwrap()), "{page}");
    assert!(
        rows.lines().count() > 2 && rows.contains("\"method\""),
        "{rows}"
    );
    for text in [&page, &rows, &finding.to_string()] {
        assert!(!text.contains(folder.path().to_str().unwrap()), "{text}");
    }
    let again = call("1");
    assert_eq!(again.exit, Exit::Error);
    assert!(
        again
            .err
            .contains("one.zip exists\nhint: give another name"),
        "{}",
        again.err
    );
    let two = run(&[
        "diagnose",
        "--finding",
        "1",
        "--out",
        "x.zip",
        &extract,
        "other.etwx",
    ]);
    assert!(
        two.exit == Exit::Error && two.err.contains("is of one trace"),
        "{}",
        two.err
    );
}

#[test]
fn a_healthy_trace_fails_on_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let extract = extract(folder.path(), true);
    assert_eq!(
        run(&["diagnose", "--no-notes", &extract]).exit,
        Exit::Nothing
    );
    let asked = run(&["diagnose", "--no-notes", "--fail-on", "any", &extract]);
    assert_eq!(
        (asked.exit, asked.err.contains("nothing")),
        (Exit::Answered, false),
        "{}",
        asked.err
    );
}
