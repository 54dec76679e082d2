//! A trace, its extracts, and the rows that each way to ask gives, each asked once.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use etwkit_testkit::Sample;
use serde_json::{Map, Value};

use super::Values;
use super::ways::{From, Of, Way};
use crate::extracts::support::Extract;
use crate::support::{Exit, run};

type Row = Map<String, Value>;

/// A trace with its full extract and its summary.
pub(super) struct Trace {
    pub(super) name: String,
    files: Vec<String>,
    full: Arc<Extract>,
    summary: Arc<Extract>,
    folder: PathBuf,
    asked: Mutex<HashMap<From, Arc<Vec<Row>>>>,
}

impl Trace {
    pub(super) fn of(sample: &Sample) -> Self {
        let files: Vec<String> = sample
            .files
            .iter()
            .map(|path| path.to_str().unwrap().to_owned())
            .collect();
        let named: Vec<&str> = files.iter().map(String::as_str).collect();
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join("agreement")
            .join(&sample.name);
        std::fs::create_dir_all(&folder).unwrap();
        Self {
            name: sample.name.clone(),
            full: Extract::of(&named, &[]),
            summary: Extract::of(&named, &["--detail", "summary"]),
            files,
            folder,
            asked: Mutex::default(),
        }
    }

    /// The number that a question answers.
    pub(super) fn number(&self, sql: &'static str) -> f64 {
        let rows = self.rows(From::Sql(sql));
        rows.iter().flat_map(Map::values).filter_map(number).sum()
    }

    /// The values that a way gives.
    pub(super) fn values(&self, way: &Way) -> Values {
        let mut values = Values::new();
        let is_meant = |row: &&Row| match way.only {
            Some((column, value)) => row.get(column).is_some_and(|cell| text(cell) == value),
            None => true,
        };
        let rows = self.rows(way.from);
        let columns = way
            .value
            .split('+')
            .chain(way.only.map(|(column, _)| column))
            .filter(|column| *column != "#");
        for column in columns {
            // A column that no row has is a mistake of the list, and would be zero everywhere; but text
            // leaves some out where no row has a number in them.
            let is_there = column.ends_with('?')
                || rows.is_empty()
                || rows.iter().any(|row| row.contains_key(column));
            assert!(
                is_there,
                "{}: {:?} has no column {column}",
                self.name, way.from
            );
        }
        for row in rows.iter().filter(is_meant) {
            let Some(key) = self.key(way.of, row) else {
                continue;
            };
            let (mut value, mut rounding) = (0.0, 0.0);
            for column in way.value.split('+') {
                let column = column.trim_end_matches('?');
                let cell = if column == "#" {
                    Some(1.0)
                } else {
                    row.get(column).and_then(number)
                };
                value += cell.unwrap_or_default() * way.scale;
                rounding += way.rounding;
            }
            let sum = values.entry(key).or_default();
            *sum = (sum.0 + value, sum.1 + rounding);
        }
        values
    }

    fn key(&self, of: Of, row: &Row) -> Option<String> {
        let cell = |column: &str| row.get(column).unwrap_or(&Value::Null);
        match of {
            Of::Trace => Some(String::new()),
            Of::Key(column) => Some(id(&self.full.process(&key_of(cell(column))))),
            Of::Id(column) => Some(id(&text(cell(column)))),
            Of::Name(column) => {
                Some(text(cell(column)).to_lowercase()).filter(|name| is_name(name))
            }
        }
    }

    fn rows(&self, from: From) -> Arc<Vec<Row>> {
        if let Some(known) = self.asked.lock().unwrap().get(&from) {
            return Arc::clone(known);
        }
        let rows = Arc::new(self.ask(from));
        self.asked.lock().unwrap().insert(from, Arc::clone(&rows));
        rows
    }

    fn ask(&self, from: From) -> Vec<Row> {
        let (full, summary) = (self.full.path.as_str(), self.summary.path.as_str());
        match from {
            From::Json(dump) => lines(&dumped(dump, &["--json", full])),
            From::Range(dump) => lines(&dumped(
                dump,
                &["--json", "--range", "-1000000..1000000", full],
            )),
            From::Summary(dump) => lines(&dumped(dump, &["--json", summary])),
            From::Csv(dump) => {
                let file = self.file("native.csv");
                dumped(dump, &["--csv", &file, full]);
                csv_rows(&file)
            }
            From::Text(dump) => {
                let options = ["--no-cmdline", "--no-digit-sep", "--process-format", "none"];
                let options = if dump.starts_with("dns")
                    || dump.starts_with("disk") && !dump.contains("--per")
                {
                    &options[1..2]
                } else {
                    &options[..]
                };
                // All rows, of which text shows a screenful unless it is asked for more.
                super::printed::table(&dumped(dump, &[options, &["--top", "0", full]].concat()))
            }
            From::Overview(heading) => {
                let text = answered(&["dump", "overview", "--top", "1000000", full]);
                super::printed::table(super::printed::section(&text, heading))
            }
            From::Sql(sql) => lines(&answered(&["sql", "--format", "json", full, sql])),
            From::SummarySql(sql) => lines(&answered(&["sql", "--format", "json", summary, sql])),
            From::Library(question) => {
                let question = format!("@{question}");
                let words: Vec<&str> = question.split(' ').collect();
                lines(&answered(
                    &[&["sql", "--format", "json", full], &words[..]].concat(),
                ))
            }
            From::Info(pointer) => {
                let files: Vec<&str> = self.files.iter().map(String::as_str).collect();
                let printed = answered(&[&["info", "--json"], &files[..]].concat());
                let info: Value = serde_json::from_str(&printed).unwrap();
                let rows = |pointer| part(info.pointer(pointer).unwrap_or(&Value::Null));
                pointer
                    .split(" or ")
                    .map(rows)
                    .find(|rows| !rows.is_empty())
                    .unwrap_or_default()
            }
            From::Compat(line) => {
                let file = self.file("theirs.csv");
                let words: Vec<&str> = line.split(' ').collect();
                answered(&[&words[..], &["-fd", full, "-csv", &file, "-NoCSVSeparator"]].concat());
                csv_rows(&file)
            }
        }
    }

    /// A file that is not there yet.
    fn file(&self, name: &str) -> String {
        let path = self.folder.join(name);
        _ = std::fs::remove_file(&path);
        path.to_str().unwrap().to_owned()
    }
}

fn dumped(dump: &str, more: &[&str]) -> String {
    let words: Vec<&str> = dump.split(' ').collect();
    answered(&[&["dump"], &words[..], more].concat())
}

/// What a command prints; nothing where it has no answer.
fn answered(args: &[&str]) -> String {
    let answer = run(args);
    assert!(answer.exit != Exit::Error, "{args:?}: {}", answer.err);
    if answer.exit == Exit::Answered {
        answer.out
    } else {
        String::new()
    }
}

/// Objects behind the first line.
fn lines(printed: &str) -> Vec<Row> {
    printed
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn csv_rows(path: &str) -> Vec<Row> {
    let Ok(text) = std::fs::read_to_string(path) else {
        return Vec::new();
    };
    // Files of ETWAnalyzer begin with a line that names the separator, so that Excel takes them everywhere.
    let is_theirs = text
        .lines()
        .next()
        .is_some_and(|titles| titles.starts_with("CSVOptions;"));
    let separator = if is_theirs { b';' } else { b',' };
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .from_reader(text.as_bytes());
    let titles = reader.headers().unwrap().clone();
    let row = |record: csv::StringRecord| {
        let cells = titles.iter().zip(record.iter());
        cells
            .map(|(title, cell)| (title.to_owned(), Value::from(cell)))
            .collect()
    };
    reader
        .records()
        .map(|record| row(record.unwrap()))
        .collect()
}

/// Rows of a part of `info`: of an object its members with their `key`, of a list its elements.
fn part(value: &Value) -> Vec<Row> {
    let row = |key: Option<&String>, value: &Value| {
        let mut row = value.as_object().cloned().unwrap_or_default();
        row.insert("value".into(), value.clone());
        row.extend(key.map(|key| ("key".to_owned(), Value::from(key.as_str()))));
        row
    };
    match value {
        Value::Null => Vec::new(),
        Value::Object(all) => all
            .iter()
            .map(|(key, value)| row(Some(key), value))
            .collect(),
        Value::Array(all) => all.iter().map(|value| row(None, value)).collect(),
        one => vec![row(None, one)],
    }
}

/// A number, written as one or as text.
fn number(cell: &Value) -> Option<f64> {
    cell.as_f64()
        .or_else(|| cell.as_str()?.replace(',', "").parse().ok())
}

fn text(cell: &Value) -> String {
    cell.as_str().map_or_else(
        || {
            if cell.is_null() {
                String::new()
            } else {
                cell.to_string()
            }
        },
        str::to_owned,
    )
}

/// A key as a number, whatever it was written as.
fn key_of(cell: &Value) -> Value {
    match cell.as_str() {
        Some(key) => key.parse::<i64>().map_or(Value::Null, Value::from),
        None => cell.clone(),
    }
}

/// The id of `1234`, `1234#2`, `name(1234)` or `name (1234) +`; `?` if it is not known.
fn id(text: &str) -> String {
    let inner = match text.rfind('(').zip(text.rfind(')')) {
        Some((open, close)) if open < close => &text[open + 1..close],
        _ => text,
    };
    let digits = inner.split('#').next().unwrap_or_default().trim();
    if digits.parse::<i64>().is_ok() {
        digits.to_owned()
    } else {
        "?".to_owned()
    }
}

/// Whether something has a name, and not what stands for those without.
fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name != "?"
        && !name.starts_with('(')
        && !name.starts_with("flushes, and files")
}

/// The rows of a part of `info` by their keys, for tests of this module.
#[test]
fn ids_are_those_of_all_spellings() {
    let spellings = [
        ("12", "12"),
        ("12#2", "12"),
        ("a.exe(12)", "12"),
        ("a (b) (12) +", "12"),
        ("(unknown)", "?"),
        ("", "?"),
    ];
    for (spelling, expected) in spellings {
        assert_eq!(id(spelling), expected, "{spelling}");
    }
    let rows: BTreeMap<String, Value> = part(&serde_json::json!({"4": {"n": 1}}))
        .remove(0)
        .into_iter()
        .collect();
    assert_eq!(
        (text(&rows["key"]), number(&rows["n"])),
        ("4".into(), Some(1.0))
    );
}
