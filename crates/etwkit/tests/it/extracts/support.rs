//! An extract in a temporary folder, and questions to it.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use etwkit_testkit::{read_json, traces};
use serde_json::{Map, Value};

use crate::architecture::root;
use crate::support::{Answer, Exit, made, run};
use crate::transcripts::compare;

/// Microseconds of the truth are those of raw ticks; ours are nanoseconds rounded down, summed up.
const TOLERANCE_US: f64 = 0.6;

/// The extract of a trace, with what the truth calls its processes.
pub(crate) struct Extract {
    pub(crate) path: String,
    /// `pid`, `pid#2`, … by process key.
    keys: HashMap<i64, String>,
}

impl Extract {
    /// Extracts a trace once for all tests. Tests that need another extract do not wait for it.
    #[track_caller]
    pub(crate) fn of(traces: &[&str], options: &[&str]) -> Arc<Self> {
        type Known = HashMap<Vec<String>, Arc<OnceLock<Arc<Extract>>>>;
        static KNOWN: Mutex<Option<Known>> = Mutex::new(None);
        let key: Vec<String> = options
            .iter()
            .chain(traces)
            .map(|text| (*text).to_owned())
            .collect();
        let one = {
            let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.get_or_insert_default().entry(key).or_default())
        };
        Arc::clone(one.get_or_init(|| Arc::new(Self::new(traces, options))))
    }

    fn new(traces: &[&str], options: &[&str]) -> Self {
        let path = kept(traces, options, |out| {
            let answer =
                run(&[&["extract", "--one-session", "--out", out], options, traces].concat());
            assert_eq!(
                (answer.exit, answer.other_errors().as_str()),
                (Exit::Answered, ""),
                "{traces:?}"
            );
        });
        let mut extract = Self {
            path,
            keys: HashMap::new(),
        };
        let mut seen: HashMap<i64, u32> = HashMap::new();
        for row in extract.ask("select process_key, pid from process order by process_key") {
            let (key, pid) = (row[0].as_i64().unwrap(), row[1].as_i64().unwrap());
            let ordinal = seen.entry(pid).and_modify(|n| *n += 1).or_insert(1);
            let text = if *ordinal == 1 {
                pid.to_string()
            } else {
                format!("{pid}#{ordinal}")
            };
            extract.keys.insert(key, text);
        }
        extract
    }

    /// Rows of an answer, values in the order of the columns.
    #[track_caller]
    pub(super) fn ask(&self, sql: &str) -> Vec<Vec<Value>> {
        let answer = run(&["sql", "--format", "json", &self.path, sql]);
        assert_eq!(answer.other_errors(), "", "{sql}");
        let rows = answer.out.lines().skip(1).map(|line| {
            let row: Map<String, Value> = serde_json::from_str(line).unwrap();
            row.into_iter().map(|(_, value)| value).collect()
        });
        rows.collect()
    }

    /// The rows of an answer by the process key in its first column, which becomes the truth's name.
    #[track_caller]
    pub(super) fn by_process(&self, sql: &str) -> HashMap<String, Vec<Value>> {
        self.ask(sql)
            .into_iter()
            .map(|row| (self.process(&row[0]), row[1..].to_vec()))
            .collect()
    }

    /// The truth's name of a process.
    pub(super) fn process(&self, key: &Value) -> String {
        key.as_i64()
            .map_or_else(|| "?".to_owned(), |key| self.keys[&key].clone())
    }
}

/// Path of the extract of traces, which is made unless an earlier run of the tests left it: the same
/// bytes and options give the same extract while the crates that write it are the same.
fn kept(traces: &[&str], options: &[&str], make: impl FnOnce(&str)) -> String {
    // The name of a trace is shown in answers.
    let trace = |path: &&str| (path.to_string(), std::fs::read(path).unwrap());
    let traces: Vec<_> = traces.iter().map(trace).collect();
    kept_as(&(options, traces), make)
}

/// Path of the extract of what a key says, which is made unless an earlier run of the tests left it.
/// The key stands for all that decides what the extract holds, but for the crates that write it.
pub(crate) fn kept_as(key: &impl Hash, make: impl FnOnce(&str)) -> String {
    let shelf = shelf();
    let mut hasher = DefaultHasher::new();
    // Tests of another state can run at the same time, in another process.
    (&shelf.state, key).hash(&mut hasher);
    let path = shelf.folder.join(format!("{}.etwx", hasher.finish()));
    if !path.exists() {
        let unfinished = path.with_extension(format!("{}.etwx", std::process::id()));
        make(unfinished.to_str().unwrap());
        put(&unfinished, &path);
    }
    path.to_str().unwrap().to_owned()
}

/// Gives a finished extract its name, unless another process has made the same one.
fn put(finished: &Path, path: &Path) {
    if let Err(error) = std::fs::rename(finished, path) {
        assert!(path.exists(), "{}: {error}", path.display());
        std::fs::remove_dir_all(finished).unwrap();
    }
}

/// The folder of extracts, with the state of the crates that write them.
struct Shelf {
    folder: PathBuf,
    state: String,
    /// Locked while tests of this process use the folder.
    _in_use: File,
}

/// The folder of extracts. Those of another state are removed, unless another process uses the folder.
fn shelf() -> &'static Shelf {
    static SHELF: OnceLock<Shelf> = OnceLock::new();
    SHELF.get_or_init(|| {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let in_use = File::create(place.join("extracts.lock")).unwrap();
        let folder = place.join("extracts");
        let state = state_of_the_writer().to_string();
        let known_state = folder.join("state");
        let is_of_state = || std::fs::read_to_string(&known_state).ok().as_ref() == Some(&state);
        if in_use.try_lock().is_ok() {
            if !is_of_state() && folder.exists() {
                std::fs::remove_dir_all(&folder).unwrap();
            }
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&known_state, &state).unwrap();
            in_use.unlock().unwrap();
        }
        in_use.lock_shared().unwrap();
        std::fs::create_dir_all(&folder).unwrap();
        Shelf {
            folder,
            state,
            _in_use: in_use,
        }
    })
}

#[test]
fn an_extract_that_another_process_made_at_the_same_time_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let [finished, path] = ["1.etwx", "2.etwx"].map(|name| folder.path().join(name));
    for extract in [&finished, &path] {
        std::fs::create_dir(extract).unwrap();
        std::fs::write(extract.join("manifest.json"), "{}").unwrap();
    }
    put(&finished, &path);
    assert!(!finished.exists() && path.join("manifest.json").exists());
}

/// The crates that decide what an extract holds: `extract` and `synth`, which writes traces, with all
/// that they need. The script `scripts/test` has the same list.
pub(crate) const WRITERS: [&str; 7] = [
    "base", "decode", "etl", "extract", "symbols", "synth", "trace",
];

/// A hash of the sources that decide what an extract holds.
fn state_of_the_writer() -> u64 {
    let mut files = vec![root().join("Cargo.lock")];
    for name in WRITERS {
        all_files(&root().join("crates").join(name).join("src"), &mut files);
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        std::fs::read(file).unwrap().hash(&mut hasher);
    }
    hasher.finish()
}

fn all_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all_files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// Traces whose truth has a section, from the folder of the sample traces and from the repository.
pub(super) fn made_with(section: &str) -> Vec<(String, Value)> {
    let folders = [traces().map(|folder| folder.join("made")), Some(made())];
    let mut found: Vec<(String, Value)> = Vec::new();
    for folder in folders.into_iter().flatten() {
        let mut paths: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        paths.sort();
        let is_known_trace = |path: &&PathBuf| {
            path.extension().is_some_and(|e| e == "etl") && truth_of(path).exists()
        };
        for path in paths.iter().filter(is_known_trace) {
            let truth = read_json(&truth_of(path));
            let is_known = found
                .iter()
                .any(|(known, _)| Path::new(known).file_name() == path.file_name());
            if !truth[section].is_null() && !is_known {
                found.push((path.to_str().unwrap().to_owned(), truth));
            }
        }
    }
    assert!(
        !found.is_empty() || traces().is_none(),
        "no truth has a section {section}"
    );
    found
}

fn truth_of(trace: &Path) -> PathBuf {
    trace.with_extension("truth.json")
}

/// Whether all made traces are there, so that enough was compared.
pub(super) fn has_all() -> bool {
    traces().is_some()
}

/// Nanoseconds of an answer in microseconds; no rows have no length.
pub(super) fn us(value: &Value) -> f64 {
    value.as_f64().unwrap_or_default() / 1000.0
}

#[track_caller]
pub(super) fn assert_us(what: &str, ours: f64, truth: &Value) {
    let truth = truth
        .as_f64()
        .unwrap_or_else(|| panic!("{what}: the truth is {truth}"));
    assert!(
        (ours - truth).abs() <= TOLERANCE_US,
        "{what}: {ours} us, the truth is {truth} us"
    );
}

/// Microseconds that are those of the truth to a quarter.
#[track_caller]
pub(super) fn assert_near(what: &str, ours: f64, truth: &Value) {
    let truth = truth
        .as_f64()
        .unwrap_or_else(|| panic!("{what}: the truth is {truth}"));
    assert!(
        (ours - truth).abs() <= 0.25,
        "{what}: {ours} us, the truth is {truth} us"
    );
}

/// Rows of a dump.
#[track_caller]
pub(super) fn dump_rows(args: &[&str], extract: &Extract) -> Vec<Value> {
    let answer = run(&[&["dump"], args, &["--json", &extract.path]].concat());
    let other = answer.other_errors();
    // An answer without rows is an answer.
    assert!(
        other.is_empty() || other.starts_with("note: nothing in "),
        "{args:?}: {other}"
    );
    assert!(answer.exit != Exit::Error, "{args:?}");
    let rows = answer
        .out
        .lines()
        .skip(1)
        .filter(|line| !line.starts_with("{\"nothing\":"));
    rows.map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Compares what a dump prints with a transcript.
#[track_caller]
pub(super) fn print_as(name: &str, args: &[&str], extract: &Extract) {
    let answer = run(&[&["dump"], args, &["--time-format", "s", &extract.path]].concat());
    let command = format!("$ etwkit dump {} --time-format s", args.join(" "));
    let Answer { out, err, exit } = answer;
    compare(
        &format!("{command}\n{out}{err}[exit {}]\n", exit.code()),
        name,
    );
}
