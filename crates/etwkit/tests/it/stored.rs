//! `extract --findings`: the findings of summaries and of lakes, and their trend.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use etwkit_extract::manifest::{Clock, Detail, Machine, SourceFile, TraceSource};
use etwkit_extract::{Manifest, Writer, WriterOptions, run_id};
use etwkit_synth::cards::{Case, find};
use etwkit_trace::table::{Columns as _, Finding, Process, Row, RuleOutcome, Trace};
use serde_json::Value;

use crate::support::{Answer, Exit, json_lines, run, trace};

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Columns of a finding that do not depend on the detail of its extract. Stacks have other numbers in
/// a summary.
const COLUMNS: [&str; 26] = [
    "number",
    "rule",
    "severity",
    "title",
    "sentence",
    "culprit",
    "cost_ns",
    "cost_percent",
    "process_key",
    "pid",
    "process",
    "victims",
    "count",
    "longest_ns",
    "from_ns",
    "to_ns",
    "at_ns",
    "thread_key",
    "tid",
    "stack",
    "chain",
    "explained_by",
    "confidence",
    "why",
    "fix",
    "not_proved",
];

/// The findings of an answer.
fn findings(answer: &Answer) -> Vec<Vec<Value>> {
    let rows = json_lines(&answer.out);
    let cells = |row: &Value| COLUMNS.map(|column| row[column].clone()).to_vec();
    rows.iter().map(cells).collect()
}

/// Writes the trace of a card with its symbols, and extracts it with these options.
fn extracted(folder: &Path, name: &str, options: &[&str]) -> PathBuf {
    let case = Case::new(vec![find("filter-scan").unwrap()], 11);
    let mut trace = Cursor::new(Vec::new());
    case.write(&mut trace).unwrap();
    let path = folder.join("card.etl");
    std::fs::write(&path, trace.into_inner()).unwrap();
    for file in case.symbols() {
        let to = folder.join("symbols").join(&file.path);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::write(to, file.text).unwrap();
    }
    let target = folder.join(name);
    let symbols = folder.join("symbols");
    let line = [
        "extract",
        "--symbols",
        text(&symbols),
        "--out",
        text(&target),
    ];
    let made = run(&[&line[..], options, &[text(&path)]].concat());
    assert_eq!(made.exit, Exit::Answered, "{}", made.err);
    target
}

#[test]
fn a_summary_has_the_findings_of_the_rows_that_it_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let full = extracted(folder.path(), "full.etwx", &[]);
    let summary = ["--detail", "summary", "--findings"];
    let summary = extracted(folder.path(), "summary.etwx", &summary);
    let of = |path: &Path, more: &[&str]| {
        let line = [&["diagnose", "--json"][..], more, &[text(path)]].concat();
        run(&line)
    };
    let (made, read) = (of(&full, &[]), of(&summary, &[]));
    assert_eq!((read.exit, made.exit), (Exit::Answered, Exit::Answered));
    assert_eq!(findings(&read), findings(&made));
    assert!(findings(&read).iter().any(|row| row[1] == "filter-scan"));
    let states = |answer: &Answer| -> Vec<Value> {
        let rows = json_lines(&answer.out);
        rows.iter().map(|row| row["state"].clone()).collect()
    };
    let rules = ["--table", "rules"];
    assert_eq!(states(&of(&summary, &rules)), states(&of(&full, &rules)));

    // A lake has them as well.
    let lake = folder.path().join("lake");
    for line in [
        &["lake", "init", text(&lake)][..],
        &["lake", "add", text(&lake), text(&summary)],
    ] {
        let done = run(line);
        assert_eq!(done.exit, Exit::Answered, "{}", done.err);
    }
    assert_eq!(findings(&of(&lake, &[])), findings(&made));

    // A second time there is nothing to do, but for an extract without them there is.
    let again = |target: &Path, more: &[&str]| {
        let line = ["extract", "--json", "--no-overwrite", "--findings", "--out"];
        let trace = folder.path().join("card.etl");
        let answer = run(&[&line[..], &[text(target)], more, &[text(&trace)]].concat());
        json_lines(&answer.out)[0]["kept"].clone()
    };
    assert_eq!(again(&summary, &["--detail", "summary"]), true);
    assert_eq!(again(&full, &[]), false);
}

#[test]
fn answers_that_are_kept_need_the_rows_of_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("part.etwx");
    for option in ["--findings", "--features"] {
        let line = ["extract", option, "--tables", "cpu*", "--out"];
        let refused = run(&[&line[..], &[text(&target), trace("dns-5.etl").as_str()]].concat());
        assert_eq!(refused.exit, Exit::Error, "{option}");
        assert!(!target.exists(), "{option}");
    }
}

/// The rule of made extracts.
const RULE: &str = "spin";

fn batch<R: Row>(row: &R) -> etwkit_sql::arrow::array::RecordBatch {
    let mut columns = R::Columns::default();
    columns.push(row);
    columns.take().unwrap()
}

/// A summary that was recorded on that day of November, with the state of a rule by another version of
/// the program, if it was diagnosed, and the cost of a finding.
fn made(folder: &Path, day: u8, state: Option<&str>, cost_ms: i64) {
    let hash = format!("{day:016x}");
    let options = WriterOptions {
        run_id: run_id(&hash),
        no_empty: true,
        ..WriterOptions::default()
    };
    let target = folder.join(format!("{day:02}.etwx"));
    let mut writer = Writer::create(&target, options).unwrap();
    let trace = Trace {
        file_name: format!("{day:02}.etl"),
        ..Trace::default()
    };
    writer.write(Trace::TABLE, batch(&trace)).unwrap();
    let process = batch(&Process::default());
    writer.write(Process::TABLE, process).unwrap();
    if let Some(state) = state {
        let outcome = RuleOutcome {
            rule: RULE.to_owned(),
            title: "a title".to_owned(),
            state: state.to_owned(),
            rule_version: "0123456789abcdef".to_owned(),
            ..RuleOutcome::default()
        };
        writer.write(RuleOutcome::TABLE, batch(&outcome)).unwrap();
    }
    if state == Some("found") {
        let finding = Finding {
            number: 1,
            rule: RULE.to_owned(),
            culprit: "a.exe".to_owned(),
            cost_ns: Some(cost_ms * 1_000_000),
            ..Finding::default()
        };
        writer.write(Finding::TABLE, batch(&finding)).unwrap();
    }
    let source = TraceSource {
        files: vec![SourceFile {
            name: format!("{day:02}.etl"),
            archive: None,
            size_bytes: 100,
        }],
        hash,
    };
    let clock = Clock {
        kind: "qpc".to_owned(),
        frequency: 10_000_000,
        start_utc: format!("2026-11-{day:02}T10:00:00Z"),
        // The first day of November at 10 o'clock, and a day for each more.
        start_filetime: 134_380_008_000_000_000 + i64::from(day - 1) * 864_000_000_000,
    };
    let manifest = Manifest::new(Detail::Summary, source, clock, Machine::default());
    writer.finish(manifest).unwrap();
}

#[test]
fn a_trend_shows_how_often_a_rule_found_something_and_when() {
    let folder = tempfile::tempdir().unwrap();
    made(folder.path(), 1, Some("nothing"), 0);
    for (day, cost_ms) in [(2, 100), (3, 300), (4, 200)] {
        made(folder.path(), day, Some("found"), cost_ms);
    }
    let all = folder.path().join("*.etwx");
    let lake = folder.path().join("lake");
    assert_eq!(run(&["lake", "init", text(&lake)]).exit, Exit::Answered);
    let added = run(&["lake", "add", text(&lake), text(&all)]);
    assert_eq!(added.exit, Exit::Answered, "{}", added.err);
    for place in [&all, &lake] {
        let answer = run(&["diagnose", "--trend", "--json", text(place)]);
        assert_eq!(answer.exit, Exit::Answered, "{}", answer.err);
        let rows = json_lines(&answer.out);
        let [row] = &rows[..] else { panic!("{rows:?}") };
        let cells: [(&str, Value); 10] = [
            ("rule", RULE.into()),
            ("runs", 3.into()),
            ("checked", 4.into()),
            ("early_percent", 50.0.into()),
            ("late_percent", 100.0.into()),
            ("median_cost_ns", 200_000_000.into()),
            ("max_cost_ns", 300_000_000.into()),
            ("first_day", "2026-11-02".into()),
            ("last_day", "2026-11-04".into()),
            ("culprit", "a.exe".into()),
        ];
        for (column, value) in cells {
            assert_eq!(row[column], value, "{column}");
        }
        let shown = run(&["diagnose", "--trend", text(place)]).out;
        let version = format!("Another version of the rule checked some of the runs: {RULE}");
        assert!(shown.contains(&version), "{shown}");
    }
    // A condition chooses runs, and --rule rules.
    let line = [
        "diagnose",
        "--trend",
        "--json",
        "--where",
        "start_utc < '2026-11-03'",
    ];
    let rows = json_lines(&run(&[&line[..], &[text(&lake)]].concat()).out);
    assert_eq!(
        (&rows[0]["runs"], &rows[0]["checked"]),
        (&1.into(), &2.into())
    );
    let other = run(&["diagnose", "--trend", "--rule", "dns-timeout", text(&lake)]);
    assert_eq!(other.exit, Exit::Nothing);
}

/// A rule whose rows are missing is not checked, and the reason names the way to its findings.
#[test]
fn a_rule_without_rows_and_without_its_findings_is_not_checked() {
    for (state, expected) in [
        (Some("found"), "diagnosis by this version of the rule"),
        (
            Some("not checked"),
            "rows of context_switch: this extract is a summary",
        ),
        (
            None,
            "rows of context_switch: this extract is a summary without findings (etwkit extract",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        made(folder.path(), 1, state, 100);
        let path = folder.path().join("01.etwx");
        let line = ["diagnose", "--table", "rules", "--rule", RULE, "--json"];
        let rows = json_lines(&run(&[&line[..], &[text(&path)]].concat()).out);
        assert_eq!(rows[0]["state"], "not checked", "{state:?}");
        let missing = rows[0]["missing"].as_str().unwrap();
        assert!(missing.starts_with(expected), "{state:?}: {missing}");
    }
}

#[test]
fn a_trend_without_a_diagnosis_names_the_way_to_one() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("dns.etwx");
    let made = run(&[
        "extract",
        "--out",
        text(&target),
        trace("dns-5.etl").as_str(),
    ]);
    assert_eq!(made.exit, Exit::Answered, "{}", made.err);
    let answer = run(&["diagnose", "--trend", text(&target)]);
    assert_eq!(answer.exit, Exit::Nothing);
    assert!(
        answer.out.contains("`etwkit extract --findings` makes one"),
        "{}",
        answer.out
    );
}
