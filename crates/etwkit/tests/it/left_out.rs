//! `etwkit extract --tables`: what extracts do without, and what questions say of it.

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Exit, dumps, run, trace};

/// An extract of a fixture with threads that are switched, made with these options.
fn made(folder: &TempDir, options: &[&str]) -> String {
    let out = folder.path().join("part.etwx").to_str().unwrap().to_owned();
    let answer = run(&[&["extract", &trace("sched-5.etl"), "--out", &out], options].concat());
    assert_eq!(answer.exit, Exit::Answered, "{}", answer.err);
    out
}

#[test]
fn a_question_that_needs_a_table_that_was_left_out_says_how_to_make_it() {
    let folder = tempfile::tempdir().unwrap();
    let part = made(&folder, &["--tables", "!context_switch"]);
    let ready = run(&["dump", "ready", &part]);
    assert_eq!(ready.exit, Exit::Nothing, "{}", ready.err);
    let why = "this extract was made without the rows of context_switch (--tables), which the question needs";
    let how =
        format!("hint: make it anew with all tables: etwkit extract --out {part} sched-5.etl");
    let lines: Vec<&str> = ready.out.lines().collect();
    assert!(lines[0].ends_with(why) && lines[1] == how, "{}", ready.out);
    let json = run(&["dump", "ready", "--json", &part]);
    let nothing: Value = serde_json::from_str(json.out.lines().nth(1).unwrap()).unwrap();
    assert!(
        nothing["hint"].as_str().unwrap().contains("etwkit extract"),
        "{nothing}"
    );
    // The sums were computed before their rows were left out.
    let cpu = run(&["dump", "cpu", &part]);
    assert_eq!(
        (cpu.exit, cpu.err.contains("--tables")),
        (Exit::Answered, false),
        "{}",
        cpu.err
    );
    let range = run(&["dump", "cpu", "--range", "0..0.1", &part]);
    let printed = range.out + &range.err;
    assert!(printed.contains("context_switch (--tables)"), "{printed}");
    let sql = run(&["sql", &part, "SELECT count(*) FROM context_switch"]);
    let note = format!(
        "note: {part}: made without context_switch (--tables), which is empty for that reason\n"
    );
    assert_eq!((sql.exit, sql.err), (Exit::Answered, note));
    // Without the option the extract has everything that was recorded.
    let again = run(&[
        "extract",
        &trace("sched-5.etl"),
        "--out",
        &part,
        "--no-overwrite",
    ]);
    assert!(!again.out.contains("is up to date"), "{}", again.out);
    assert_eq!(run(&["dump", "ready", &part]).exit, Exit::Answered);
}

#[test]
fn every_dump_of_an_extract_with_hardly_a_table_says_what_it_lacks_or_what_was_not_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let part = made(&folder, &["--tables", "volume"]);
    let mut without = 0;
    for dump in dumps() {
        let answer = run(&["dump", &dump, &part]);
        let printed = format!("{}{}", answer.out, answer.err);
        without += usize::from(printed.contains("(--tables)"));
        // Tables that are always kept can answer that there is nothing.
        let is_answer = printed.contains("No known cause was found");
        if answer.exit == Exit::Nothing && !is_answer && !printed.contains("note: no rows in ") {
            assert!(printed.contains("hint: "), "{dump}: {printed}");
        }
    }
    assert!(without > 3, "{without}");
    let cpu = run(&["dump", "cpu", &part]);
    assert!(
        cpu.exit == Exit::Nothing && cpu.out.contains("cpu_process"),
        "{}{}",
        cpu.out,
        cpu.err
    );
}

#[test]
fn kinds_of_cores_that_were_left_out_are_not_said_to_be_unrecorded() {
    for (tables, says) in [
        ("!cpu_core", "cpu_core (--tables)"),
        ("!disk_io", "Kinds of cores were not recorded: "),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let part = made(&folder, &["--tables", tables]);
        let cores = run(&["dump", "cores", &part]);
        let is_said = |text: &str| cores.out.contains(text);
        assert!(is_said(says), "{tables}: {}", cores.out);
        assert_ne!(
            is_said("made without"),
            is_said("were not recorded"),
            "{tables}: {}",
            cores.out
        );
    }
}

#[test]
fn tables_are_chosen_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let part = made(&folder, &["--tables", "cpu_*;!cpu_tag", "--json"]);
    let rows = |table: &str| {
        let sql = format!("SELECT count(*) AS n FROM {table}");
        let out = run(&["sql", "--format", "csv", &part, &sql]).out;
        out.lines().nth(1).unwrap().parse::<u64>().unwrap()
    };
    assert!(rows("cpu_process") > 0 && rows("process") > 0);
    assert_eq!((rows("cpu_tag"), rows("context_switch")), (0, 0));
    let wrong = run(&[
        "extract",
        &trace("sched-5.etl"),
        "--out",
        &part,
        "--tables",
        "contextswitch",
    ]);
    assert_eq!(wrong.exit, Exit::Error, "{}", wrong.err);
    assert!(
        wrong
            .err
            .contains("--tables: no table matches contextswitch"),
        "{}",
        wrong.err
    );
    assert!(
        wrong.err.contains("similar: context_switch"),
        "{}",
        wrong.err
    );
}
