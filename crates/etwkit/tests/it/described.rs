//! Events that files describe: `--tmf` and `--manifest` of whole commands.

use std::fs;
use std::path::{Path, PathBuf};

use etwkit_testkit::{read_json, traces};
use serde_json::Value;

use crate::support::{Answer, Exit, run, trace};

/// Objects that a command prints behind its first line.
#[track_caller]
fn rows(args: &[&str]) -> Vec<Value> {
    let Answer { out, err, exit } = run(args);
    assert_eq!((exit, err.as_str()), (Exit::Answered, ""), "{args:?}");
    out.lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn path(root: &Path, name: &str) -> String {
    root.join(name).to_str().unwrap().to_owned()
}

const QUESTION: &str = "SELECT event_id, provider, name, described_by, message, fields FROM generic_event \
                        WHERE event_id IN (1, 2, 10, 11) ORDER BY ts_ns";

#[test]
fn messages_have_text_and_number_in_events_and_extracts() {
    let Some(root) = traces() else { return };
    let (file, tmf) = (path(&root, "wppstr-sample.etl"), path(&root, "tmf"));
    let truth = read_json(&root.join("truth/wppstr-sample.wpp.json"));
    let expected: Vec<(u64, &str)> = truth["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| {
            (
                message["number"].as_u64().unwrap(),
                message["text"].as_str().unwrap(),
            )
        })
        .collect();
    let found: Vec<Value> = rows(&[
        "events",
        "--json",
        "--tmf",
        &tmf,
        "--provider",
        "findneedle",
        &file,
    ]);
    let got: Vec<(u64, &str)> = found
        .iter()
        .map(|row| {
            (
                row["id"].as_u64().unwrap(),
                row["message"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(got, expected);
    assert_eq!(found[0]["event"], "main/WppStrEmitter_cpp27");
    assert_eq!(
        found[0]["fields"].to_string(),
        r#"{"names[i]":"alpha","i":0}"#
    );
    assert_eq!(found[0]["source"], "tmf");
    let counted = run(&["events", "--count", "--tmf", &tmf, &file]).out;
    assert!(
        counted.contains("744151fd-b3f4-32e6-38eb-0fd11e3fb62d") && counted.contains("findneedle"),
        "{counted}"
    );

    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("a.etwx").to_str().unwrap().to_owned();
    let extract = |options: &[&str]| {
        let answer = run(&[&["extract", "--out", &target], options, &[file.as_str()]].concat());
        assert_eq!((answer.exit, answer.err.as_str()), (Exit::Answered, ""));
        answer.out
    };
    extract(&["--tmf", &tmf]);
    let found = rows(&["sql", "--format", "json", &target, QUESTION]);
    let got: Vec<(u64, &str)> = found
        .iter()
        .map(|row| {
            (
                row["event_id"].as_u64().unwrap(),
                row["message"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(got, expected);
    assert_eq!(
        (&found[0]["described_by"], &found[0]["provider"]),
        (&"tmf".into(), &"findneedle".into())
    );
    assert_eq!(found[0]["fields"], r#"{"names[i]":"alpha","i":0}"#);

    // Extracts are kept only if the same files described their events.
    assert!(extract(&["--tmf", &tmf, "--no-overwrite"]).contains("is up to date"));
    assert!(!extract(&["--no-overwrite"]).contains("is up to date"));
    let found = rows(&["sql", "--format", "json", &target, QUESTION]);
    assert_eq!(
        (&found[0]["event_id"], &found[0]["message"]),
        (&10.into(), &Value::Null)
    );
    assert!(extract(&["--no-overwrite"]).contains("is up to date"));
    assert!(!extract(&["--tmf", &tmf, "--no-overwrite"]).contains("is up to date"));
}

#[test]
fn messages_without_a_format_are_noted() {
    let Some(root) = traces() else { return };
    let file = path(&root, "wppstr-sample.etl");
    let answer = run(&["events", "--name", "Message*", &file]);
    assert_eq!(answer.exit, Exit::Answered);
    assert_eq!(
        answer.err,
        "note: messages of WPP without a text: 4; name their format files with --tmf\n"
    );
    assert!(
        answer
            .out
            .contains("Message(10) payload=\"616c7068610000000000\""),
        "{}",
        answer.out
    );
    let tmf = path(&root, "tmf/744151fd-b3f4-32e6-38eb-0fd11e3fb62d.tmf");
    let answer = run(&["events", "--tmf", &tmf, "--name", "main/*", &file]);
    assert_eq!(answer.err, "");
    let line = answer.out.lines().next().unwrap();
    let end = "findneedle main/WppStrEmitter_cpp27: strtrace name=alpha id=0 tag=END names[i]=\"alpha\" i=0";
    assert!(line.ends_with(end), "{line}");
}

#[test]
fn a_manifest_decodes_events_of_its_provider_in_events_and_extracts() {
    let Some(root) = traces() else { return };
    let (file, manifest) = (
        path(&root, "beats_sample.etl"),
        path(&root, "beats_sample.man"),
    );
    let truth = read_json(&root.join("truth/beats_sample.man.json"));
    let expected = truth["events"].as_array().unwrap();
    let found = rows(&[
        "events",
        "--json",
        "--manifest",
        &manifest,
        "--provider",
        "Beats*",
        &file,
    ]);
    assert_eq!(found.len(), expected.len());
    for (ours, truth) in found.iter().zip(expected) {
        assert_eq!(
            (&ours["event"], &ours["message"]),
            (&truth["name"], &truth["message"])
        );
        assert_eq!(ours["fields"], truth["values"]);
    }
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("a.etwx").to_str().unwrap().to_owned();
    run(&["extract", "--manifest", &manifest, "--out", &target, &file]);
    let found = rows(&["sql", "--format", "json", &target, QUESTION]);
    for (ours, truth) in found.iter().zip(expected) {
        assert_eq!(
            (&ours["name"], &ours["message"]),
            (&truth["name"], &truth["message"])
        );
        let fields: Value = serde_json::from_str(ours["fields"].as_str().unwrap()).unwrap();
        assert_eq!(
            (&fields, &ours["described_by"]),
            (&truth["values"], &"manifest".into())
        );
    }
}

/// A dump of a trace extracts it into the cache: once for each set of files.
#[test]
fn dumps_of_traces_take_the_files_into_account() {
    let Some(root) = traces() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("described-once.etl");
    // A content of its own, so that nothing is in the cache yet.
    let mut bytes = fs::read(root.join("wppstr-sample.etl")).unwrap();
    bytes.extend(folder.path().to_str().unwrap().bytes());
    fs::write(&file, bytes).unwrap();
    let (file, tmf) = (file.to_str().unwrap(), path(&root, "tmf"));
    let dump = |options: &[&str]| {
        run(&[&["dump", "tracelog", "--by", "event"], options, &[file]].concat())
    };
    let with = dump(&["--tmf", &tmf]);
    assert!(with.err.contains("note: extracted"), "{}", with.err);
    assert!(
        with.out.contains("strtrace name=bravo id=1 tag=END"),
        "{}",
        with.out
    );
    let again = dump(&["--tmf", &tmf]);
    assert!(!again.err.contains("note: extracted"), "{}", again.err);
    assert_eq!(again.out, with.out);
    let without = dump(&["--all-events"]);
    assert!(without.err.contains("note: extracted"), "{}", without.err);
    assert!(!without.out.contains("strtrace"), "{}", without.out);
}

#[test]
fn files_that_are_of_no_use_are_errors_with_a_place() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| -> PathBuf {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let tmf = write("a\u{1B}.tmf", "// PDB\n#typev x 10 \"%0\"\n");
    let manifest = write("a.man", "<provider guid=\"x\"/>");
    let file = trace("power-5.etl");
    for (option, path, expected) in [
        (
            "--tmf",
            &tmf,
            "line 2: expected a line with a GUID and `// SRC=` before the first message, found `#typev`",
        ),
        (
            "--manifest",
            &manifest,
            "line 1: expected a <provider> with a guid, found \"x\"",
        ),
    ] {
        for command in [&["events"][..], &["extract"], &["dump", "tracelog"]] {
            let answer = run(&[command, &[option, path.to_str().unwrap(), &file]].concat());
            assert_eq!(
                (answer.exit, answer.out.as_str()),
                (Exit::Error, ""),
                "{command:?}"
            );
            assert!(
                answer.err.starts_with("error: ") && answer.err.contains(expected),
                "{}",
                answer.err
            );
            assert!(
                answer.err.contains("\nhint: ") && !answer.err.contains('\u{1B}'),
                "{}",
                answer.err
            );
        }
    }
    let answer = run(&["events", "--tmf", "lost.tmf", &file]);
    assert!(
        answer
            .err
            .starts_with("error: cannot read lost.tmf\ncaused by: "),
        "{}",
        answer.err
    );
}

/// Counters that stand in the headers of kernel events.
#[test]
fn events_print_the_counters_of_headers() {
    let file = trace("pmc-5.etl");
    let found = rows(&[
        "events",
        "--json",
        "--name",
        "Thread/CSwitch",
        "--limit",
        "3",
        &file,
    ]);
    for row in &found {
        let counters = row["counters"].as_array().unwrap();
        assert!(
            !counters.is_empty() && counters.iter().all(Value::is_u64),
            "{row}"
        );
    }
    let counters: Vec<String> = found[0]["counters"]
        .as_array()
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    let answer = run(&["events", "--name", "Thread/CSwitch", "--limit", "1", &file]);
    assert!(
        answer
            .out
            .ends_with(&format!(" [counters {}]\n", counters.join(" "))),
        "{}",
        answer.out
    );
    let answer = run(&[
        "events",
        "--format",
        "csv",
        "--name",
        "Thread/CSwitch",
        "--limit",
        "1",
        &file,
    ]);
    assert!(
        answer.out.ends_with(&format!(",,{}\n", counters.join(" "))),
        "{}",
        answer.out
    );
}
