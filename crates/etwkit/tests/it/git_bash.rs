//! The demo from end to end: a trace whose native code has names, waits and tags.

use std::path::Path;

use etwkit_base::shell;
use serde_json::Value;

use crate::support::{Answer, Exit, json_lines, run};
use crate::transcripts::compare;

/// A trace of the scenario, with its symbols under another name, where nobody looks for them.
fn trace(folder: &Path) -> (String, String) {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let answer = run(&["synth", "write", "git-bash", "--out", &path("bash.etl")]);
    assert_eq!(answer.exit, Exit::Answered, "{answer:?}");
    std::fs::rename(path("bash.symbols"), path("elsewhere")).unwrap();
    (path("bash.etl"), path("elsewhere"))
}

fn rows(args: &[&str]) -> Vec<Value> {
    let Answer { out, err, exit } = run(args);
    assert_eq!(exit, Exit::Answered, "{args:?}: {err}");
    json_lines(&out)
}

#[test]
fn the_demo_finds_who_waits_for_whom() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    let Answer { out, err, exit } = run(&["demo", place]);
    assert_eq!((exit, err.as_str()), (Exit::Answered, ""));
    compare(&out.replace(place, "DIR").replace("DIR\\", "DIR/"), "demo");

    // What it prints of the longest wait is what the simulation did.
    let truth = std::fs::read_to_string(folder.path().join("git-bash.truth.json")).unwrap();
    let truth: Value = serde_json::from_str(&truth).unwrap();
    let calls = truth["calls"].as_array().unwrap();
    let wait = |call: &Value| {
        call["chain"][0]["ready_ns"]
            .as_i64()
            .zip(call["chain"][0]["wait_start_ns"].as_i64())
    };
    let longest = calls
        .iter()
        .filter_map(wait)
        .map(|(readied, start)| readied - start)
        .max()
        .unwrap();
    let extract = folder.path().join("git-bash.etwx");
    let chain = rows(&[
        "dump",
        "wait",
        "--json",
        "--chain",
        "--top",
        "1",
        "--method",
        "*CreateProcessW",
        extract.to_str().unwrap(),
    ]);
    assert_eq!(chain[0]["wait_ns"], longest);
    assert_eq!(chain[0]["readying_process"], "NwScanSvc.exe");

    let again = run(&["demo", place]);
    assert_eq!(
        again.out,
        out.split_once('\n').unwrap().1,
        "the second time the trace is there"
    );
}

#[test]
fn the_virus_scanner_costs_others_what_they_wait_below_its_driver() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, _) = trace(folder.path());
    let extract = trace.replace(".etl", ".etwx");
    assert_eq!(run(&["extract", &trace]).exit, Exit::Answered);
    let products = rows(&["dump", "overhead", "--json", &extract]);
    let shield = &products[0];
    assert_eq!(
        (&shield["product"], &shield["company"]),
        (
            &"Northwall Endpoint Shield".into(),
            &"Northwall Security".into()
        )
    );
    let sum = |rows: Vec<Value>, name: &str| {
        rows.iter()
            .filter_map(|row| row[name].as_i64())
            .sum::<i64>()
    };
    let cpu = sum(
        rows(&["dump", "cpu", "--json", "--process", "NwScanSvc", &extract]),
        "cpu_ns",
    );
    assert_eq!(shield["own_cpu_ns"], cpu);
    let waits = sum(
        rows(&[
            "sql",
            "--format",
            "json",
            &extract,
            "SELECT sum(wait_ns) AS wait_ns FROM context_switch \
            WHERE in_ns IS NOT NULL AND stack_contains(stack_id, 'nwshield.sys!*;nwshield.sys+*')",
        ]),
        "wait_ns",
    );
    assert!(waits > 0);
    assert_eq!(shield["wait_ns"], waits);
    // Its disk I/O is that of its service.
    let disk = rows(&[
        "sql",
        "--format",
        "json",
        &extract,
        "SELECT sum(size_bytes) AS bytes FROM disk_io d \
        JOIN process p ON p.process_key = d.process_key WHERE p.name = 'NwScanSvc.exe'",
    ]);
    assert_eq!(shield["disk_bytes"], disk[0]["bytes"]);
}

/// Runs the first line of evidence of the one finding of a rule, and returns both.
fn finding_with_evidence(rule: &str, extract: &str) -> (Value, Vec<Value>) {
    let found = rows(&["diagnose", "--json", "--rule", rule, extract]);
    let [finding] = &found[..] else {
        panic!("{found:?}")
    };
    let line = finding["evidence"].as_str().unwrap().lines().next();
    let mut words = shell::split(line.unwrap());
    words.extend(["--json".to_owned(), extract.to_owned()]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    (finding.clone(), rows(&words))
}

#[test]
fn evidence_shows_all_victims_with_names_of_functions_and_without() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, symbols) = trace(folder.path());
    let [named, nameless] = ["named.etwx", "nameless.etwx"].map(|name| {
        let path = folder.path().join(name);
        path.to_str().unwrap().to_owned()
    });
    let extract = |args: &[&str]| {
        let answer = run(&[&["extract", &trace][..], args].concat());
        assert_eq!(answer.exit, Exit::Answered, "{answer:?}");
    };
    extract(&["--symbols", &symbols, "--out", &named]);
    extract(&["--out", &nameless]);
    for extract in [&named, &nameless] {
        let (finding, waits) = finding_with_evidence("filter-scan", extract);
        let each = |name: &str| -> Vec<i64> {
            let values = waits.iter().map(|row| row[name].as_i64().unwrap());
            values.collect()
        };
        assert_eq!(finding["count"], each("waits").iter().sum::<i64>());
        assert_eq!(
            finding["longest_ns"],
            *each("wait_max_ns").iter().max().unwrap()
        );
        // The cost has the short times until the processors took the threads, too.
        let (cost, sum) = (
            finding["cost_ns"].as_i64().unwrap(),
            each("wait_ns").iter().sum::<i64>(),
        );
        assert!((cost - sum).abs() < cost / 100, "{cost} {sum}");
    }
}

#[test]
fn symbols_are_loaded_into_an_extract_that_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, symbols) = trace(folder.path());
    assert_eq!(run(&["extract", &trace]).exit, Exit::Answered);
    let extract = trace.replace(".etl", ".etwx");
    let methods = |extract: &str| {
        let rows = rows(&[
            "dump",
            "cpu",
            "--json",
            "--process",
            "NwScanSvc",
            "--methods",
            "*Scan*",
            extract,
        ]);
        rows.iter()
            .map(|row| row["method"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let unnamed = run(&["dump", "cpu", "--methods", "*Scan*", &extract]);
    assert!(!unnamed.out.contains("CScanEngine"), "{}", unnamed.out);

    let nowhere = folder.path().join("nowhere");
    let none = run(&[
        "symbols",
        "load",
        "--symbols",
        nowhere.to_str().unwrap(),
        "--refresh",
        &extract,
    ]);
    assert_eq!(none.exit, Exit::Nothing);
    assert!(
        none.out.contains("\n0 of ") && none.out.contains(" symbol files found, 0 of "),
        "{}",
        none.out
    );

    let file = folder.path().join("team.stacktags");
    let rules = r#"<Tag Name=""><Tag Name="Shield"><Entrypoint Module="nwshield.sys" Method="*"/></Tag></Tag>"#;
    std::fs::write(&file, rules).unwrap();
    let tagged = [
        "dump",
        "cpu",
        "--stack-tags",
        "Shield",
        "--stack-tag-file",
        file.to_str().unwrap(),
        &extract,
    ];
    assert_eq!(run(&tagged).exit, Exit::Answered);
    let loaded = run(&["symbols", "load", "--json", "--symbols", &symbols, &extract]);
    assert!(
        loaded
            .err
            .contains("the stack tags of team.stacktags were of the old names"),
        "{}",
        loaded.err
    );
    assert!(
        run(&tagged).err.contains("tagged the stacks"),
        "with the file they are there again"
    );
    let loaded = json_lines(&loaded.out);
    let kernel = loaded
        .iter()
        .find(|row| row["pdb_name"] == "ntkrnlmp.pdb")
        .unwrap();
    assert_eq!(kernel["named"], kernel["addresses"]);
    assert!(methods(&extract).contains(&"CScanEngine::ScanFile".to_owned()));
    let lines = rows(&[
        "sql",
        "--format",
        "json",
        &extract,
        "select count(*) as n from frame where line > 0 and source_file is not null",
    ]);
    assert!(lines[0]["n"].as_i64().unwrap() > 100, "{lines:?}");

    // The same chain, from the start.
    let out = folder.path().join("named.etwx");
    let out = out.to_str().unwrap();
    assert_eq!(
        run(&["extract", "--symbols", &symbols, "--out", out, &trace]).exit,
        Exit::Answered
    );
    assert_eq!(methods(out), methods(&extract));
    let summary = folder.path().join("summary.etwx");
    let summary = summary.to_str().unwrap();
    run(&["extract", "--detail", "summary", "--out", summary, &trace]);
    let refused = run(&["symbols", "load", "--symbols", &symbols, summary]);
    assert_eq!(refused.exit, Exit::Nothing);
    assert!(refused.err.contains("is a summary"), "{}", refused.err);
}

#[test]
fn tags_of_a_file_of_the_user() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    run(&[
        "synth",
        "write",
        "git-bash",
        "--out",
        &format!("{place}/bash.etl"),
    ]);
    assert_eq!(
        run(&["extract", &format!("{place}/bash.etl")]).exit,
        Exit::Answered
    );
    let (extract, file) = (
        format!("{place}/bash.etwx"),
        format!("{place}/team.stacktags"),
    );
    let rules = r#"<Tag Name=""><Tag Name="Shield"><Entrypoint Module="nwshield.sys" Method="*"/></Tag></Tag>"#;
    std::fs::write(&file, rules).unwrap();
    let ask = [
        "dump",
        "cpu",
        "--json",
        "--stack-tags",
        "Shield",
        "--stack-tag-file",
        &file,
        &extract,
    ];
    let tagged = rows(&ask);
    let bash: Vec<&Value> = tagged.iter().filter(|row| row["pid"] == 3640).collect();
    assert_eq!(bash.len(), 1);
    // All waits for the scanner, as `dump wait` has them.
    let waits = rows(&[
        "dump",
        "wait",
        "--json",
        "--process",
        "3640",
        "--method",
        "FltSendMessage",
        &extract,
    ]);
    assert_eq!(bash[0]["wait_ns"], waits[0]["wait_ns"]);
    waits_by_tag(&extract, &file, &waits);
    exports_by_tag(&extract, &file);
    tags_of_a_part(&extract, &file);
    // They are kept: the same question again computes nothing.
    assert_eq!(run(&ask).err, "");

    std::fs::write(&file, "<Tag Name=\"\"><Tug/></Tag>").unwrap();
    let broken = run(&ask);
    assert_eq!(broken.exit, Exit::Error);
    assert!(
        broken.err.contains("team.stacktags:1:") && !broken.err.contains("\\n"),
        "{}",
        broken.err
    );
    assert!(
        broken
            .err
            .lines()
            .any(|line| line.starts_with("hint: a stack tag file is XML")),
        "{}",
        broken.err
    );
}

/// Stacks of a part of the trace are tagged when they are asked for. A part that has all of it has the sums
/// that are stored, by both sets.
fn tags_of_a_part(extract: &str, file: &str) {
    let sums = |more: &[&str]| {
        let ask = [
            "dump",
            "cpu",
            "--json",
            "--stack-tags",
            "*",
            "--stack-tag-file",
            file,
        ];
        let columns = [
            "pid",
            "tag_set",
            "name",
            "cpu_ns",
            "wait_ns",
            "ready_ns",
            "wait_sum_ns",
            "switches",
        ];
        let text = |row: &Value| columns.map(|column| row[column].to_string()).join(" ");
        let mut sums: Vec<String> = rows(&[&ask, more, &[extract]].concat())
            .iter()
            .map(text)
            .collect();
        sums.sort();
        sums
    };
    let (all, whole) = (sums(&["--range", "0..1000"]), sums(&[]));
    assert_eq!(all, whole);
    assert!(
        all.iter()
            .any(|row| row.contains("\"team.stacktags\" \"Shield\"")),
        "{all:?}"
    );
    let half = sums(&["--range", "0..6"]);
    assert!(
        half.len() > 1 && half.iter().any(|row| !all.contains(row)),
        "{half:?}"
    );
}

/// Rows of a question in SQL, each as one text.
fn texts(args: &[&str]) -> Vec<String> {
    rows(args).iter().map(Value::to_string).collect()
}

/// Exported stacks, and slices of a timeline, with the tag `Shield` weigh what SQL says.
fn exports_by_tag(extract: &str, file: &str) {
    let sql = "SELECT sum(wait_ns) AS wait_ns, sum(run_ns) AS run_ns FROM context_switch JOIN process USING (process_key) \
               WHERE pid = 3640 AND stack_tag(stack_id, 'team.stacktags') = 'Shield'";
    let sums = rows(&[
        "sql",
        "--format",
        "json",
        "--stack-tag-file",
        file,
        extract,
        sql,
    ]);
    let export = |more: &[&str]| {
        let out = format!("{extract}.{}", more.join("-"));
        let tags = [
            "export",
            "--json",
            "--pid",
            "3640",
            "--tag",
            "Shield",
            "--stack-tag-file",
            file,
        ];
        rows(&[&tags, more, &["--out", &out, extract]].concat()).remove(0)
    };
    let waits = export(&["--metric", "wait"]);
    assert!(
        sums[0]["wait_ns"].as_i64() > Some(0) && sums[0]["run_ns"].as_i64() > Some(0),
        "{sums:?}"
    );
    assert_eq!(waits["total_ns"], sums[0]["wait_ns"]);
    let timeline = export(&["--format", "chrome"]);
    assert_eq!(timeline["run_ns"], sums[0]["run_ns"]);
    let no_tag = run(&["export", "--pid", "3640", "--stack-tag-file", file, extract]);
    assert!(
        no_tag.exit == Exit::Error && no_tag.err.contains("--stack-tag-file needs --tag"),
        "{}",
        no_tag.err
    );
}

/// The sums of waits by tag are those of the table, and their filter is that of the waits; `shield` are the
/// waits of the tag `Shield`.
fn waits_by_tag(extract: &str, file: &str, shield: &[Value]) {
    let with_file = ["--stack-tag-file", file, extract];
    let by_tag = |more: &[&str]| rows(&[&["dump", "wait", "--json", "--by", "tag"], more].concat());
    let mut ours: Vec<String> = Vec::new();
    for row in by_tag(&with_file) {
        let (key, set, tag) = (&row["process_key"], &row["tag_set"], &row["tag"]);
        let times = ["wait_ns", "wait_sum_ns", "ready_ns", "ready_sum_ns"]
            .map(|name| row[name].as_i64().unwrap());
        if times.iter().any(|time| *time > 0) {
            ours.push(format!("{key} {set} {tag} {times:?}"));
        }
    }
    ours.sort();
    let table = "select process_key, tag_set, tag, wait_ns, wait_sum_ns, ready_ns, ready_sum_ns from cpu_tag \
                 where greatest(wait_ns, wait_sum_ns, ready_ns, ready_sum_ns) > 0";
    let mut table: Vec<String> = rows(&["sql", "--format", "json", extract, table])
        .iter()
        .map(|row| {
            let times = ["wait_ns", "wait_sum_ns", "ready_ns", "ready_sum_ns"];
            let times = times.map(|name| row[name].as_i64().unwrap());
            format!(
                "{} {} {} {times:?}",
                row["process_key"], row["tag_set"], row["tag"]
            )
        })
        .collect();
    table.sort();
    assert_eq!(ours, table);
    let named = |row: &&String| !row.contains("\"Other\"");
    assert!(ours.iter().filter(named).count() > 20, "{ours:?}");

    let of_bash = ["--process", "3640", "--tag", "shield"];
    let tagged = by_tag(&[&of_bash[..], &with_file].concat());
    assert_eq!(tagged.len(), 1);
    assert_eq!(
        (&tagged[0]["tag"], &tagged[0]["tag_set"]),
        (&"Shield".into(), &"team.stacktags".into())
    );
    let by_process = rows(&[&["dump", "wait", "--json"], &of_bash[..], &with_file].concat());
    for column in [
        "waits",
        "wait_ns",
        "wait_max_ns",
        "ready_sum_ns",
        "first_ns",
    ] {
        assert_eq!(by_process[0][column], shield[0][column], "{column}");
        assert_eq!(tagged[0][column], shield[0][column], "{column}");
    }
    let nothing = run(&["dump", "wait", "--by", "tag", "--tag", "Shield", extract]);
    assert_eq!(
        nothing.exit,
        Exit::Nothing,
        "without the file there is no such tag: {nothing:?}"
    );

    let twice = run(&[
        "dump",
        "wait",
        "--stack-tag-file",
        file,
        "--stack-tag-file",
        file,
        extract,
    ]);
    assert_eq!(twice.exit, Exit::Error);
    assert!(twice.err.contains("different names"), "{}", twice.err);

    // The SQL that is shown gives the same rows, for a part of the trace as well.
    let part = [
        "dump", "wait", "--by", "tag", "--range", "3..9", "--tag", "!Other",
    ];
    let sql = run(&[&part[..], &["--show-sql"], &with_file].concat()).out;
    let columns =
        "process_key, tag_set, tag, waits, wait_ns, wait_max_ns, ready_ns, threads, first_ns";
    let sql = format!(
        "select {columns} from ({sql}) order by sort_value, wait_sum_ns, process_key, tag_set, tag"
    );
    let shown = texts(&[&["sql", "--format", "json"], &with_file[..], &[&sql]].concat());
    let mut ours: Vec<String> = rows(&[&part[..], &["--json"], &with_file].concat())
        .iter()
        .map(|row| {
            columns
                .split(", ")
                .map(|name| (name.to_owned(), row[name].clone()))
                .collect()
        })
        .map(|row: serde_json::Map<String, Value>| Value::Object(row).to_string())
        .collect();
    assert!(
        ours.len() > 20 && ours.iter().any(|row| row.contains("Shield")),
        "{ours:?}"
    );
    // The printed list begins with the largest row, the SQL ends with it.
    ours.reverse();
    assert_eq!(ours, shown);
}

#[test]
fn a_long_chain_is_printed_by_its_ends_and_is_whole_for_machines() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("lock.etl");
    let trace = trace.to_str().unwrap();
    let answer = run(&["synth", "write", "user-lock", "--out", trace]);
    assert_eq!(answer.exit, Exit::Answered, "{answer:?}");
    let chain = ["dump", "wait", "--chain", "--top", "1", trace];
    let waits = rows(&[&chain[..], &["--json"]].concat())
        .iter()
        .filter(|row| row["kind"] == "wait")
        .count();
    assert!(waits > 4, "{waits}");
    let text = run(&chain).out;
    let left_out = format!("      … {} more waits (", waits - 3);
    assert!(text.contains(&left_out), "{text}");
    assert!(text.contains("\n      root: "), "{text}");
}
