//! Two traces side by side: the top results, and the sums of each side, which equal the sums of the
//! dumps.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;

use etwkit_engine::{Asking, Engine, ExtractAnswer, Settings, question};
use etwkit_question::Answer;
use etwkit_synth::Options;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::support::answers;

type Rows = Vec<Map<String, Value>>;

struct Traces {
    folder: TempDir,
    engine: Engine,
}

impl Traces {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cache = Some(folder.path().join("cache"));
        Self {
            folder,
            engine: Engine::new(Settings {
                cache,
                temp_dir: None,
                is_offline: true,
            }),
        }
    }

    fn made(&self, scenario: &str) -> PathBuf {
        let path = self.folder.path().join(format!("{scenario}.etl"));
        if !path.exists() {
            let made = etwkit_synth::find(scenario).unwrap();
            made.write(File::create(&path).unwrap(), &Options::default())
                .unwrap();
        }
        path
    }

    fn asked(&self, name: &str, values: &Value, paths: &[PathBuf]) -> ExtractAnswer<Answer> {
        let mut request = question(name)
            .unwrap()
            .read(values.as_object().unwrap())
            .unwrap();
        let mut all = answers(&self.engine, &Asking::default(), paths, &mut *request).unwrap();
        assert_eq!(all.len(), 1, "{name}");
        all.remove(0)
    }

    /// The tables of a comparison by their names.
    fn diff(&self, values: &Value, paths: &[PathBuf]) -> BTreeMap<&'static str, Rows> {
        let (_, answer) = self.asked("diff", values, paths).answer.unwrap();
        let answer = answer.unwrap();
        answer
            .parts
            .iter()
            .map(|part| (part.name, rows(part.records())))
            .collect()
    }

    fn dump(&self, name: &str, values: &Value, path: &PathBuf) -> Rows {
        let (_, answer) = self
            .asked(name, values, std::slice::from_ref(path))
            .answer
            .unwrap();
        answer
            .unwrap()
            .parts
            .iter()
            .flat_map(|part| rows(part.records()))
            .collect()
    }
}

fn rows(table: &dyn etwkit_question::AnyTable) -> Rows {
    (0..table.len())
        .map(|row| table.record(row).unwrap())
        .collect()
}

fn text<'r>(row: &'r Map<String, Value>, name: &str) -> &'r str {
    row[name].as_str().unwrap_or_default()
}

/// Only one of the two runs has the virus scanner, the checkpoint of NTFS and pages that are read
/// again.
#[test]
fn what_slowed_the_file_writer_comes_out_on_top() {
    let traces = Traces::new();
    let both = [traces.made("file-writer-quiet"), traces.made("file-writer")];
    let tables = traces.diff(&json!({}), &both);
    let summary = &tables["summary"][0];
    assert_eq!(
        summary["wall"], "process",
        "nobody said what took long: {summary:?}"
    );
    let (a, b) = (
        summary["wall_a_ns"].as_i64().unwrap(),
        summary["wall_b_ns"].as_i64().unwrap(),
    );
    assert!(b > a && summary["wall_difference_ns"] == b - a);
    let sentence = text(summary, "sentence");
    assert!(
        sentence.starts_with("B takes ")
            && sentence.contains("of FileWriter.exe); only in B: FileWriter.exe (")
            && sentence.contains("for the filter driver WdFilter.sys"),
        "{sentence}"
    );
    let busiest = text(summary, "busiest");
    assert!(
        busiest.contains("FileWriter.exe waits") && busiest.contains("WdFilter.sys"),
        "{busiest}"
    );
    let finding = tables["findings"].last().unwrap();
    assert_eq!(text(finding, "rule"), "filter-scan");
    assert_eq!(text(finding, "only_in"), "B");
    let first = |table: &str, many: usize, column: &str, what: &str| {
        let found = tables[table]
            .iter()
            .take(many)
            .any(|row| text(row, column) == what);
        assert!(
            found,
            "{table}: {:?}",
            tables[table].iter().take(many).collect::<Vec<_>>()
        );
    };
    let top = |table: &str| {
        tables[table]
            .first()
            .map(|row| text(row, "name").to_owned())
    };
    assert_eq!(
        top("processes").as_deref(),
        Some("FileWriter.exe"),
        "it is what is measured"
    );
    first("processes", 3, "name", "System");
    first("modules", 8, "name", "WdFilter.sys");
    first("modules", 8, "name", "Ntfs.sys");
    first("readying", 2, "name", "MsMpEng.exe");
    first("readying", 2, "name", "System");
    first("reasons", 3, "name", "WrVirtualMemory");
    // The writes of the checkpoint, and the pages that are read again.
    let files: Vec<&str> = tables["disk"]
        .iter()
        .take(2)
        .map(|row| text(row, "name"))
        .collect();
    let library = files
        .iter()
        .any(|file| file.ends_with("System.Private.CoreLib.dll"));
    assert!(files.contains(&r"C:\$LogFile") && library, "{files:?}");
    let checkpoint = tables["modules"]
        .iter()
        .find(|row| row["name"] == "Ntfs.sys" && row["of"] == "System");
    let checkpoint = checkpoint.unwrap();
    assert!(
        checkpoint["of_time"] == "cpu" && checkpoint["only_in"] == "B",
        "{checkpoint:?}"
    );
    // Causes of the difference come first, and unrecorded topics are reported.
    let remarks = tables["remarks"]
        .iter()
        .map(|row| text(row, "remark"))
        .collect::<Vec<_>>()
        .join("\n");
    assert!(
        remarks.contains("Neither side recorded: ") && remarks.contains("DNS queries"),
        "{remarks}"
    );
    // The other way round all differences are negative.
    let [quiet, noisy] = both;
    let back = traces.diff(&json!({"table": "summary"}), &[noisy, quiet]);
    assert!(
        text(&back["summary"][0], "sentence").contains("only in A: FileWriter.exe"),
        "{back:?}"
    );
    assert_eq!(back["summary"][0]["wall_difference_ns"], a - b);
}

#[test]
fn a_trace_does_not_differ_from_itself() {
    let traces = Traces::new();
    let trace = traces.made("git-bash");
    let tables = traces.diff(&json!({}), &[trace.clone(), trace]);
    assert_eq!(
        tables["summary"][0]["sentence"],
        "Nothing differs between A and B"
    );
    assert_eq!(tables["summary"][0]["wall_difference_ns"], 0);
    // The description of each side, and times between its marks, are still reported.
    let others = tables
        .iter()
        .filter(|(name, _)| !["summary", "sides", "remarks", "marks"].contains(name));
    assert_eq!(others.count(), 0, "{tables:?}");
    assert_eq!(tables["marks"][0]["difference_ns"], 0);
}

#[test]
fn marks_ranges_and_processes_say_what_is_measured() {
    let traces = Traces::new();
    let trace = traces.made("git-bash");
    let both = [trace.clone(), trace.clone()];
    let summary =
        |values: Value, paths: &[PathBuf]| traces.diff(&values, paths)["summary"][0].clone();
    let table = json!("summary");
    let marks = summary(json!({"table": table}), &both);
    assert_eq!(marks["wall"], "marks");
    let set = traces.dump("mark", &json!({}), &trace);
    assert_eq!(marks["from_a_ns"], set[0]["ts_ns"]);
    assert_eq!(marks["to_b_ns"], set[1]["ts_ns"]);
    let from = summary(json!({"table": table, "from-mark": "git bash*"}), &both);
    assert_eq!(
        (&from["wall"], &from["from_a_ns"]),
        (&json!("marks"), &set[0]["ts_ns"])
    );
    let whole = summary(json!({"table": table, "align": "whole"}), &both);
    assert_eq!(whole["wall"], "recording");
    let process = summary(
        json!({"table": table, "align": "whole", "process": "mintty"}),
        &both,
    );
    assert_eq!(process["wall"], "process");
    let parts = summary(
        json!({"table": table, "range": ["1..4", "4..10"]}),
        &[trace],
    );
    assert_eq!(
        (&parts["wall"], &parts["wall_difference_ns"]),
        (&json!("range"), &json!(3_000_000_000_i64))
    );
    assert!(
        text(&parts, "sentence").starts_with("B takes 3.000 s longer (6.000 s against 3.000 s")
    );
}

/// The numbers of each side equal the numbers of its dumps, for whole traces and for ranges.
#[test]
fn sides_have_the_numbers_of_their_dumps() {
    let traces = Traces::new();
    let both = [traces.made("file-writer-quiet"), traces.made("file-writer")];
    for parts in [None, Some(["0.2..1", "0.5..2"])] {
        let mut values = json!({"noise": 0, "noise-percent": 0, "align": "whole"});
        if let Some(parts) = parts {
            values["range"] = json!(parts);
        }
        let tables = traces.diff(&values, &both);
        for (table, dump, options, sums) in [
            (
                "processes",
                "cpu",
                json!({}),
                &[
                    ("cpu", "cpu_ns"),
                    ("wait", "wait_ns"),
                    ("ready", "ready_ns"),
                ][..],
            ),
            (
                "methods",
                "cpu",
                json!({"methods": "*", "include-dll": true}),
                &[("cpu", "cpu_ns"), ("wait", "wait_ns")],
            ),
            (
                "modules",
                "cpu",
                json!({"methods": "*", "by": "module"}),
                &[("cpu", "cpu_ns"), ("wait", "wait_ns")],
            ),
            (
                "tags",
                "cpu",
                json!({"stack-tags": "*"}),
                &[
                    ("cpu", "cpu_ns"),
                    ("wait", "wait_ns"),
                    ("ready", "ready_ns"),
                ],
            ),
            (
                "reasons",
                "wait",
                json!({"by": "reason"}),
                &[("wait", "wait_ns"), ("count", "waits")],
            ),
            (
                "disk",
                "disk",
                json!({"dir-level": 100}),
                &[("", "total_service_ns"), ("bytes", "total_bytes")],
            ),
            (
                "files",
                "file",
                json!({"dir-level": 100}),
                &[("", "total_ns"), ("count", "total_count")],
            ),
        ] {
            for (at, side) in ["a", "b"].into_iter().enumerate() {
                let mut asked = options.clone();
                if let Some(parts) = parts {
                    asked["range"] = json!(parts[at]);
                }
                let dumped = traces.dump(dump, &asked, &both[at]);
                compare(&tables[table], &dumped, (table, side), sums);
            }
        }
    }
}

#[test]
fn names_that_two_parts_of_one_trace_asked_for_are_compared() {
    let traces = Traces::new();
    let trace = traces.made("name-lookup");
    let whole = traces.dump("dns", &json!({"details": true}), &trace);
    let starts: Vec<i64> = whole
        .iter()
        .filter_map(|row| row["start_ns"].as_i64())
        .collect();
    let (first, last) = (*starts.iter().min().unwrap(), *starts.iter().max().unwrap());
    let seconds = |ns: i64| ns as f64 / 1e9;
    let (middle, end) = (seconds(first + (last - first) / 2), seconds(last) + 0.001);
    let parts = [format!("0..{middle:.6}"), format!("{middle:.6}..{end:.6}")];
    let values = json!({"noise": 0, "noise-percent": 0, "range": parts});
    let tables = traces.diff(&values, std::slice::from_ref(&trace));
    let mut all = 0;
    for (side, part) in ["a", "b"].into_iter().zip(&parts) {
        let dumped = traces.dump("dns", &json!({"range": part}), &trace);
        let count: i64 = dumped.iter().filter_map(|row| row["count"].as_i64()).sum();
        assert!(count > 0, "{part}");
        all += count;
        compare(
            &tables["dns"],
            &dumped,
            ("dns", side),
            &[("count", "count")],
        );
    }
    let finished = whole
        .iter()
        .filter(|row| !row["start_ns"].is_null() && !row["end_ns"].is_null())
        .count();
    assert_eq!(usize::try_from(all), Ok(finished));
}

/// Compares rows whose name only one row of the comparison has with the sums of the rows of the
/// dump.
fn compare(compared: &Rows, dumped: &Rows, (table, side): (&str, &str), sums: &[(&str, &str)]) {
    let key = |row: &Map<String, Value>| {
        let name = ["name", "wait_reason", "path", "process"]
            .into_iter()
            .find_map(|name| row.get(name)?.as_str());
        let of = if table == "processes" {
            ""
        } else {
            row.get("process")
                .map_or("", |of| of.as_str().unwrap_or(""))
        };
        (name.unwrap_or_default().to_lowercase(), of.to_lowercase())
    };
    let mut all: BTreeMap<(String, String), Vec<i64>> = BTreeMap::new();
    for row in dumped {
        let totals = all.entry(key(row)).or_insert_with(|| vec![0; sums.len()]);
        for (total, (_, column)) in totals.iter_mut().zip(sums) {
            *total += row[*column].as_i64().unwrap_or(0);
        }
    }
    let mut checked = 0;
    for row in compared {
        let of = if table == "processes" {
            ""
        } else {
            text(row, "of")
        };
        let key = (text(row, "name").to_lowercase(), of.to_lowercase());
        // Processes of one name and several command lines are several rows.
        if compared
            .iter()
            .filter(|other| other["name"] == row["name"] && other["of"] == row["of"])
            .count()
            > 1
            || table == "processes"
                && compared
                    .iter()
                    .filter(|other| other["name"] == row["name"])
                    .count()
                    > 1
            || key.0.starts_with('(')
        {
            continue;
        }
        // Others of that name may be the same on both sides.
        if table == "processes"
            && dumped
                .iter()
                .filter(|other| text(other, "process") == text(row, "name"))
                .count()
                > 1
        {
            continue;
        }
        let expected = all
            .get(&key)
            .cloned()
            .unwrap_or_else(|| vec![0; sums.len()]);
        for ((measure, column), expected) in sums.iter().zip(expected) {
            let name = match *measure {
                "" => format!("{side}_ns"),
                "count" => format!("count_{side}"),
                "bytes" => format!("bytes_{side}"),
                measure => format!("{measure}_{side}_ns"),
            };
            assert_eq!(
                row[&name].as_i64().unwrap_or(0),
                expected,
                "{table} {column} of {side}: {row:?}"
            );
            checked += 1;
        }
    }
    assert!(checked > 0, "{table}");
}

#[test]
fn what_a_side_did_not_record_is_said_and_never_zero() {
    let traces = Traces::new();
    let quiet = PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/made/files-5.etl"
    ));
    let tables = traces.diff(
        &json!({"align": "whole"}),
        &[quiet, traces.made("file-writer")],
    );
    let remarks: Vec<&str> = tables["remarks"]
        .iter()
        .map(|row| text(row, "remark"))
        .collect();
    let reasons = remarks
        .iter()
        .find(|remark| remark.starts_with("Waits by reason: not compared, "));
    assert!(
        reasons.is_some_and(|remark| remark.ends_with("(A)")),
        "{remarks:?}"
    );
    assert!(
        remarks
            .iter()
            .any(|remark| remark.starts_with("B alone recorded ")),
        "{remarks:?}"
    );
    assert!(!tables.contains_key("reasons") && !tables.contains_key("readying"));
}

#[test]
fn two_are_compared_and_no_other_number_of_them() {
    let traces = Traces::new();
    let trace = traces.made("git-bash");
    let (_, answer) = traces
        .asked("diff", &json!({}), std::slice::from_ref(&trace))
        .answer
        .unwrap();
    let error = answer.err().unwrap();
    assert!(
        !error.is_nothing() && error.hint().unwrap().contains("--range"),
        "{error}"
    );
    let three = [trace.clone(), trace.clone(), trace.clone()];
    let (_, answer) = traces.asked("diff", &json!({}), &three).answer.unwrap();
    assert!(
        answer
            .err()
            .unwrap()
            .to_string()
            .starts_with("3 traces are named")
    );
    let wrong = question("diff").unwrap().read(
        json!({"range": ["1..2", "2..3", "3..4"]})
            .as_object()
            .unwrap(),
    );
    assert!(
        wrong
            .err()
            .unwrap()
            .to_string()
            .starts_with("--range: two parts are compared")
    );
    // Who gives up waits for nothing.
    let asking = Asking::default();
    asking.cancel.ask();
    let mut request = question("diff").unwrap().read(&Map::new()).unwrap();
    let given_up = match answers(&traces.engine, &asking, &three[..2], &mut *request) {
        Err(_) => true,
        Ok(all) => all.iter().all(|one| !matches!(&one.answer, Ok((_, Ok(_))))),
    };
    assert!(given_up);
}
