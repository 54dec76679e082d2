//! The questions of `docs/dashboard`, run on full extracts and summaries at once: DuckDB and the
//! session of `etwkit sql` return the same rows.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use etwkit_engine::{Asking, Engine, InputKind, Settings, named};
use etwkit_extract::manifest::Detail;
use etwkit_extract::{ConvertOptions, convert};
use etwkit_sql::arrow::util::display::{ArrayFormatter, FormatOptions};
use etwkit_sql::library::Query;
use etwkit_synth::Options;
use serde_json::Value;

/// Scenarios with all that the questions are about.
const RUNS: [(&str, u64, Detail); 8] = [
    ("file-writer", 1, Detail::Full),
    ("file-writer", 2, Detail::Summary),
    ("name-lookup", 1, Detail::Full),
    ("name-lookup", 2, Detail::Summary),
    ("collections", 1, Detail::Summary),
    ("collections", 2, Detail::Full),
    ("process-starts", 1, Detail::Full),
    ("process-starts", 2, Detail::Summary),
];

/// Writes the traces, one of which was broken off, and makes extracts of them.
fn extracts(folder: &Path) {
    std::fs::create_dir(folder.join("runs")).unwrap();
    for (name, seed, detail) in RUNS {
        let trace = folder.join(format!("{name}-{seed}.etl"));
        let scenario = etwkit_synth::find(name).unwrap();
        scenario
            .write(
                File::create(&trace).unwrap(),
                &Options {
                    seed,
                    ..Options::default()
                },
            )
            .unwrap();
        if (name, seed) == ("file-writer", 2) {
            let file = OpenOptions::new().write(true).open(&trace).unwrap();
            file.set_len(file.metadata().unwrap().len() * 3 / 4)
                .unwrap();
        }
        let input = etwkit_extract::open(&[trace], &etwkit_extract::Options::default()).unwrap();
        let target = folder.join(format!("runs/{name}-{seed}.etwx"));
        let options = ConvertOptions {
            detail,
            ..ConvertOptions::default()
        };
        convert(&input, &target, options, &mut |_| ControlFlow::Continue(())).unwrap();
    }
}

fn dashboard() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/dashboard")
}

/// The questions by their names.
fn questions() -> BTreeMap<String, PathBuf> {
    let files = std::fs::read_dir(dashboard())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let sql = files.filter(|path| path.extension().is_some_and(|ending| ending == "sql"));
    sql.map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), path))
        .collect()
}

/// Returns the answers of DuckDB, by question: names of columns, and rows.
fn in_duckdb(
    folder: &Path,
    questions: &BTreeMap<String, PathBuf>,
) -> Option<BTreeMap<String, Value>> {
    let test = "dashboard::questions_of_the_dashboard_have_the_same_rows_in_duckdb";
    let mut python = etwkit_testkit::python(test)?;
    python
        .arg(dashboard().join("ask.py"))
        .arg("runs/*.etwx")
        .args(questions.values())
        .current_dir(folder);
    let lines = etwkit_testkit::output_of(&mut python);
    let answer = |line: &str| {
        let answer: Value = serde_json::from_str(line).unwrap();
        (answer["question"].as_str().unwrap().to_owned(), answer)
    };
    Some(lines.lines().map(answer).collect())
}

/// Names of columns, and rows as texts without those that are null.
type Rows = (Vec<String>, Vec<Vec<Option<String>>>);

/// Returns the answers of the engine.
fn in_etwkit(folder: &Path, questions: &BTreeMap<String, PathBuf>) -> BTreeMap<String, Rows> {
    let engine = Engine::new(Settings {
        cache: None,
        temp_dir: None,
        is_offline: true,
    });
    let paths = named(&[folder.join("runs/*.etwx")], InputKind::Answers, false).unwrap();
    assert_eq!(paths.len(), RUNS.len());
    let session = engine
        .open(&Asking::default(), &paths, &mut Vec::new())
        .unwrap();
    let answer = |(name, path): (&String, &PathBuf)| {
        let query = Query::own(name.clone(), std::fs::read_to_string(path).unwrap());
        let answer = session
            .ask(&query, &[])
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let columns = answer
            .schema()
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect();
        let mut rows = Vec::new();
        for batch in answer {
            let batch = batch.unwrap_or_else(|error| panic!("{name}: {error}"));
            let options = FormatOptions::new();
            let cells: Vec<_> = batch
                .columns()
                .iter()
                .map(|c| (c, ArrayFormatter::try_new(c, &options).unwrap()))
                .collect();
            let text = |row: usize| {
                cells
                    .iter()
                    .map(move |(c, cell)| c.is_valid(row).then(|| cell.value(row)))
            };
            rows.extend(
                (0..batch.num_rows())
                    .map(|row| text(row).map(|cell| cell.map(|c| c.to_string())).collect()),
            );
        }
        (name.clone(), (columns, rows))
    };
    questions.iter().map(answer).collect()
}

/// Returns `true` if a value equals the one of the text: fractions to twelve digits, since sums
/// depend on their order.
fn is_same(value: &Value, text: Option<&str>) -> bool {
    match (value, text) {
        (Value::Null, None) => true,
        (Value::String(value), Some(text)) => value == text,
        (Value::Number(value), Some(text)) if value.is_f64() => {
            let (a, b) = (value.as_f64().unwrap(), text.parse::<f64>().unwrap());
            (a - b).abs() <= a.abs() * 1e-12
        }
        (Value::Number(value), Some(text)) => value.to_string() == text,
        _ => false,
    }
}

#[test]
fn questions_of_the_dashboard_have_the_same_rows_in_duckdb() {
    let folder = tempfile::tempdir().unwrap();
    extracts(folder.path());
    let questions = questions();
    let ours = in_etwkit(folder.path(), &questions);
    let expected = [
        "cpu",
        "disk",
        "dns",
        "gc",
        "lifecycle",
        "lost",
        "machines",
        "methods",
        "slow_fast",
        "waits",
    ];
    assert!(ours.keys().eq(expected));
    for (name, (_, rows)) in &ours {
        assert!(!rows.is_empty(), "{name} has no rows");
    }
    // Both kinds of extracts answer: names that timed out did so in two runs, collections are from
    // two runs.
    let of = |name: &str, column: &str| -> Vec<Option<String>> {
        let (columns, rows) = &ours[name];
        let index = columns.iter().position(|c| c == column).unwrap();
        rows.iter().map(|row| row[index].clone()).collect()
    };
    assert!(
        of("dns", "runs").contains(&Some("2".to_owned())),
        "{:?}",
        ours["dns"]
    );
    assert_eq!(of("gc", "run").len(), 2);
    assert_eq!(of("lost", "run"), [Some("file-writer-2.etl".to_owned())]);
    let Some(theirs) = in_duckdb(folder.path(), &questions) else {
        return;
    };
    for (name, (columns, rows)) in &ours {
        let answer = &theirs[name];
        let titles: Vec<&str> = answer["columns"]
            .as_array()
            .unwrap()
            .iter()
            .map(|c| c.as_str().unwrap())
            .collect();
        assert_eq!(&titles, columns, "{name}");
        let found = answer["rows"].as_array().unwrap();
        assert_eq!(found.len(), rows.len(), "{name}");
        for (found, row) in found.iter().zip(rows) {
            let found = found.as_array().unwrap();
            let same = found
                .iter()
                .zip(row)
                .all(|(value, text)| is_same(value, text.as_deref()));
            assert!(
                same && found.len() == row.len(),
                "{name}: {found:?} in DuckDB, {row:?} here"
            );
        }
    }
}
