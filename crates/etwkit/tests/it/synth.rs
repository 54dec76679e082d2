//! `etwkit synth`: what it prints, and what it leaves behind.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::support::{Answer, Exit, json, run};
use crate::transcripts::compare;

/// Runs commands with the folder in the place of `DIR` and compares what they print.
fn session(folder: &Path, commands: &[&[&str]], name: &str) {
    let (place, mut printed) = (folder.to_str().unwrap(), String::new());
    for args in commands {
        let full: Vec<String> = args.iter().map(|arg| arg.replace("DIR", place)).collect();
        let Answer { out, err, exit } = run(&full.iter().map(String::as_str).collect::<Vec<_>>());
        let text = format!(
            "$ etwkit {}\n{out}{err}[exit {}]\n",
            args.join(" "),
            exit.code()
        );
        printed.push_str(&text.replace(place, "DIR").replace('\\', "/"));
    }
    compare(&printed, name);
}

fn files(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn scenarios_are_listed_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = "DIR/a.etl";
    session(
        folder.path(),
        &[
            &["synth", "list"],
            &["synth", "write", "office", "--out", out, "--compressed"],
            &["synth", "write", "office", "--out", out],
            &[
                "synth", "write", "office", "--out", out, "--force", "--seed", "2",
            ],
            &["synth", "write", "offic", "--out", "DIR/b.etl"],
            &[
                "synth",
                "write",
                "office",
                "--out",
                "DIR/b.etl",
                "--scale",
                "0",
            ],
            &["synth", "write", "wait-chain", "--out", "DIR/c.etl"],
            &["synth", "write", "wait-chain", "--out", "DIR/c.etl"],
            &[
                "synth",
                "write",
                "wait-chain",
                "--out",
                "DIR/c.etl",
                "--force",
                "--scale",
                "2",
            ],
            &[
                "synth",
                "write",
                "wait-chain",
                "--out",
                "DIR/d.etl",
                "--scale",
                "101",
            ],
        ],
        "synth",
    );
    let expected = [
        "a.etl",
        "a.truth.json",
        "c.etl",
        "c.symbols",
        "c.truth.json",
    ];
    assert_eq!(files(folder.path()), expected);
}

/// Names of functions by offset, from a symbol file; public labels have no end.
fn functions(symbols: &str) -> BTreeMap<i64, (i64, String)> {
    let hex = |word: &str| i64::from_str_radix(word, 16).unwrap();
    let record = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        match words[0] {
            "FUNC" => Some((
                hex(words[1]),
                (hex(words[1]) + hex(words[2]), words[4..].join(" ")),
            )),
            "PUBLIC" => Some((hex(words[1]), (i64::MAX, words[3..].join(" ")))),
            _ => None,
        }
    };
    symbols.lines().filter_map(record).collect()
}

const SAMPLED_FRAMES: &str = "SELECT DISTINCT s.ts_ns, p.pid, f.depth, m.name AS image, m.pdb_name, \
    m.pdb_guid, m.pdb_age, frame.rva \
    FROM cpu_sample s JOIN process p USING (process_key) JOIN stack_frame f USING (stack_id) \
    JOIN frame ON frame.frame_id = f.frame_id JOIN module m USING (module_id) \
    WHERE s.has_stack AND NOT s.is_idle AND NOT s.is_dpc_isr ORDER BY s.ts_ns, f.depth";

/// Inclusive and exclusive samples of every function, from the tables of an extract and the symbol files:
/// what the truth says.
#[test]
fn symbol_files_name_the_frames_of_the_extract_as_the_truth_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for scenario in ["git-bash", "wait-chain"] {
        let trace = path(&format!("{scenario}.etl"));
        for args in [
            &["synth", "write", scenario, "--out", &trace][..],
            &["extract", &trace],
        ] {
            let Answer { err, exit, .. } = run(args);
            assert_eq!(exit, Exit::Answered, "{args:?}: {err}");
        }
        let extract = path(&format!("{scenario}.etwx"));
        let Answer { out, err, exit } = run(&["sql", &extract, "--format", "json", SAMPLED_FRAMES]);
        assert_eq!(exit, Exit::Answered, "{err}");
        let mut files: BTreeMap<String, BTreeMap<i64, (i64, String)>> = BTreeMap::new();
        let mut counts: BTreeMap<(String, String), (u64, u64)> = BTreeMap::new();
        // A function counts once for each sample.
        let mut seen = BTreeSet::new();
        for line in out.lines().skip(1) {
            let row: Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| row[name].as_str().unwrap().to_owned();
            let identity = format!(
                "{}{:X}",
                text("pdb_guid").replace('-', "").to_uppercase(),
                row["pdb_age"].as_i64().unwrap()
            );
            let stem = text("pdb_name").replace(".pdb", ".sym");
            let file = format!("{scenario}.symbols/{}/{identity}/{stem}", text("pdb_name"));
            let names = files.entry(file.clone()).or_insert_with(|| {
                functions(&std::fs::read_to_string(folder.path().join(&file)).expect(&file))
            });
            let rva = row["rva"].as_i64().unwrap();
            let (end, name) = names.range(..=rva).next_back().expect("a function").1;
            assert!(rva < *end, "{row}");
            let key = (row["pid"].to_string(), format!("{}!{name}", text("image")));
            let sums = counts.entry(key.clone()).or_default();
            sums.0 += u64::from(seen.insert((row["ts_ns"].as_i64(), key)));
            sums.1 += u64::from(row["depth"] == 0);
        }
        let truth = std::fs::read_to_string(path(&format!("{scenario}.truth.json"))).unwrap();
        let truth: Value = serde_json::from_str(&truth).unwrap();
        let mut expected = BTreeMap::new();
        for (pid, functions) in truth["functions"].as_object().unwrap() {
            for (name, samples) in functions.as_object().unwrap() {
                let sums = (
                    samples["inclusive"].as_u64().unwrap(),
                    samples["exclusive"].as_u64().unwrap(),
                );
                expected.insert((pid.clone(), name.clone()), sums);
            }
        }
        assert_eq!(counts, expected, "{scenario}");
        assert!(expected.len() > 20, "{scenario}");
    }
}

/// Waits by the thread that ended them, from the table of switches: what the truth says.
#[test]
fn switches_of_the_extract_and_the_truth_agree_on_who_waited_for_whom() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let trace = path("t.etl");
    for args in [
        &["synth", "write", "git-bash", "--out", &trace][..],
        &["extract", &trace],
    ] {
        assert_eq!(run(args).exit, Exit::Answered, "{args:?}");
    }
    let sql = "SELECT p.pid, t.tid, rp.pid AS by_pid, r.tid AS by_tid, c.is_readied_by_dpc, count(*) AS waits, \
        CAST(sum(c.wait_ns) AS BIGINT) AS wait_ns \
        FROM context_switch c JOIN thread t USING (thread_key) JOIN process p ON p.process_key = t.process_key \
        LEFT JOIN thread r ON r.thread_key = c.readying_thread_key \
        LEFT JOIN process rp ON rp.process_key = r.process_key \
        WHERE c.in_ns IS NOT NULL AND c.readied_ns IS NOT NULL AND c.last_out_ns IS NOT NULL \
        GROUP BY 1, 2, 3, 4, 5";
    let Answer { out, err, exit } = run(&["sql", &path("t.etwx"), "--format", "json", sql]);
    assert_eq!(exit, Exit::Answered, "{err}");
    let mut ours: BTreeMap<(String, String), (i64, i64)> = BTreeMap::new();
    for line in out.lines().skip(1) {
        let row: Value = serde_json::from_str(line).unwrap();
        let by = if row["is_readied_by_dpc"] == true {
            "dpc".to_owned()
        } else {
            format!("{}/{}", row["by_pid"], row["by_tid"])
        };
        let sums = ours
            .entry((format!("{}/{}", row["pid"], row["tid"]), by))
            .or_default();
        sums.0 += row["waits"].as_i64().unwrap();
        sums.1 += row["wait_ns"].as_i64().unwrap();
    }
    let truth: Value =
        serde_json::from_str(&std::fs::read_to_string(path("t.truth.json")).unwrap()).unwrap();
    let mut expected = BTreeMap::new();
    for (thread, by) in truth["waited_for"].as_object().unwrap() {
        for (by, sums) in by.as_object().unwrap() {
            let sums = (
                sums["waits"].as_i64().unwrap(),
                sums["wait_ns"].as_i64().unwrap(),
            );
            expected.insert((thread.clone(), by.clone()), sums);
        }
    }
    assert_eq!(ours, expected);
}

#[test]
fn the_truth_beside_the_trace_is_that_of_the_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let answer = run(&[
        "synth",
        "write",
        "office",
        "--out",
        &path("t.etl"),
        "--seed",
        "9",
    ]);
    assert_eq!((answer.exit, answer.err.as_str()), (Exit::Answered, ""));
    let truth: Value =
        serde_json::from_str(&std::fs::read_to_string(path("t.truth.json")).unwrap()).unwrap();
    let info = json(&["info", "--json", &path("t.etl")]);
    assert_eq!(info["counts"]["total"], truth["counts"]["total"]);
    assert_eq!(info["cpu"]["by_thread"], truth["samples"]["by_thread"]);
    assert_eq!(
        (&truth["made"]["seed"], &truth["made"]["scenario"]),
        (&9.into(), &"office".into())
    );
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("no/such/t.etl");
    let answer = run(&["synth", "write", "office", "--out", out.to_str().unwrap()]);
    assert_eq!(answer.exit, Exit::Error);
    assert!(
        answer.err.starts_with("error: cannot write into "),
        "{}",
        answer.err
    );
    assert!(files(folder.path()).is_empty());
}
