//! The traces that fill every table and column of extracts. The result is the last part of
//! `docs/evidence.md`, whose first part a test of the program writes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs::{self, File};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use arrow_array::Array;
use etwkit_extract::left_out::Names;
use etwkit_extract::{ConvertOptions, Extract, NameFrom, convert};
use etwkit_symbols::{Options, SearchPath};
use etwkit_synth::SCENARIOS;
use etwkit_testkit::{samples, trace_files, traces};
use etwkit_trace::table::{DERIVED, Table};
use etwkit_trace::topics::TABLES;

use crate::support::Folder;

/// The traces that contain values of a column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Met {
    /// Traces of Windows machines.
    real: BTreeSet<String>,
    /// Synthetic traces of a generator that shares no code with this project.
    made: BTreeSet<String>,
    /// Scenarios of `etwkit synth`.
    own: BTreeSet<String>,
}

/// By table and column.
type AllMet = BTreeMap<(String, String), Met>;

/// Origin of the trace.
#[derive(Clone, Copy)]
enum Origin {
    Real,
    Made,
    Own,
}

/// Traces, with the files of one recording together. One seed of each synthetic trace is enough.
fn recordings() -> Vec<(Origin, String, Vec<PathBuf>)> {
    let several: Vec<Vec<PathBuf>> = samples()
        .into_iter()
        .map(|sample| sample.files)
        .filter(|files| files.len() > 1)
        .collect();
    let is_alone = |file: &PathBuf| !several.iter().flatten().any(|other| other == file);
    let mut all = several.clone();
    all.extend(
        trace_files()
            .into_iter()
            .filter(is_alone)
            .map(|file| vec![file]),
    );
    all.extend(traces().map(|folder| vec![folder.join("TraceLoggingTester.7z")]));
    let recording = |files: Vec<PathBuf>| {
        let stem = files[0].file_stem().unwrap().to_string_lossy().into_owned();
        let is_made = files[0].parent().unwrap().ends_with("made");
        match stem.rsplit_once('-').filter(|_| is_made) {
            Some((name, "5")) => Some((Origin::Made, name.to_owned(), files)),
            Some(_) => None,
            None => Some((Origin::Real, stem, files)),
        }
    };
    all.into_iter().filter_map(recording).collect()
}

/// Reads all tables of the extract of a trace.
fn look(all: &mut AllMet, folder: &Folder, (origin, name): (Origin, &str), files: &[PathBuf]) {
    let target = folder.path("run.etwx");
    let path = SearchPath::default().with_folder(folder.path("symbols"));
    let names = NameFrom {
        path,
        options: Options::default(),
        on_symbols: &|_, _| {},
    };
    // All tables, including those that are left out by default.
    let left_out = Names::new();
    let options = ConvertOptions {
        names: Some(&names),
        left_out: Some(&left_out),
        ..ConvertOptions::default()
    };
    let input = etwkit_extract::open(files, &etwkit_extract::Options::default()).unwrap();
    convert(&input, &target, options, &mut |_| ControlFlow::Continue(())).unwrap();
    let extract = Extract::open(&target).unwrap();
    for file in extract.tables() {
        for batch in file.batches(None).unwrap() {
            let batch = batch.unwrap();
            for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
                if column.null_count() < column.len() {
                    let met = all
                        .entry((file.name.clone(), field.name().clone()))
                        .or_default();
                    let names = match origin {
                        Origin::Real => &mut met.real,
                        Origin::Made => &mut met.made,
                        Origin::Own => &mut met.own,
                    };
                    names.insert(name.to_owned());
                }
            }
        }
    }
    fs::remove_dir_all(target).unwrap();
}

fn scenarios(all: &mut AllMet) {
    for scenario in &SCENARIOS {
        let folder = Folder::new();
        let options = etwkit_synth::Options::default();
        let trace = folder.path("run.etl");
        scenario
            .write(File::create(&trace).unwrap(), &options)
            .unwrap();
        for symbols in scenario.symbols(&options).unwrap() {
            let path = folder.path("symbols").join(symbols.path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, symbols.text).unwrap();
        }
        look(all, &folder, (Origin::Own, scenario.name), &[trace]);
    }
}

const HEAD: &str = "\n## Tables and columns of extracts\n\n\
    Which traces have a value in each column: *real* ones where there are any, else *made* ones, else *own* ones,\n\
    which are scenarios of `etwkit synth` ([synth.md](synth.md)) and share their author with the reader. What no trace\n\
    has was tested with events and rows of tests. Whether the values are right is for the tests against the truth of\n\
    these traces to say; this part is written by `crates/extract/tests/it/evidence.rs`\n\
    (`ETWKIT_BLESS=1 cargo test -p etwkit-extract evidence`).\n";
const BY_HAND: &str = "events and rows of tests; no trace";
/// Maximum number of traces that are named; more add nothing.
const NAMED: usize = 4;

/// The best traces for a column.
fn best_traces(met: Option<&Met>) -> String {
    let Some(met) = met else {
        return BY_HAND.to_owned();
    };
    let (kind, names) = match (met.real.is_empty(), met.made.is_empty()) {
        (false, _) => ("real", &met.real),
        (true, false) => ("made", &met.made),
        (true, true) => ("own", &met.own),
    };
    let first: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
    let more = names.len().saturating_sub(NAMED);
    let more = if more == 0 {
        String::new()
    } else {
        format!(" and {more} more")
    };
    format!("{kind}: {}{more}", first.join(", "))
}

/// Columns with the same traces share a line.
fn rows(page: &mut String, table: &Table, all: &AllMet) {
    let mut lines: Vec<(Vec<&str>, String)> = Vec::new();
    for column in table.columns {
        let traces = best_traces(all.get(&(table.name.to_owned(), column.name.to_owned())));
        match lines.iter_mut().find(|(_, known)| *known == traces) {
            Some((columns, _)) => columns.push(column.name),
            None => lines.push((vec![column.name], traces)),
        }
    }
    let _ = write!(
        page,
        "\n### `{}`\n\n| columns | values in |\n|---|---|\n",
        table.name
    );
    for (columns, traces) in lines {
        let columns: Vec<String> = columns.iter().map(|column| format!("`{column}`")).collect();
        let _ = writeln!(page, "| {} | {traces} |", columns.join(", "));
    }
}

#[test]
fn every_table_and_column_has_traces_and_the_page_says_which() {
    if traces().is_none() {
        return;
    }
    let mut all = AllMet::new();
    let folder = Folder::new();
    for (origin, name, files) in recordings() {
        look(&mut all, &folder, (origin, &name), &files);
    }
    scenarios(&mut all);
    let mut page = HEAD.to_owned();
    for table in TABLES.iter().chain(DERIVED) {
        rows(&mut page, table, &all);
    }
    // Data of our own programs is confirmed with recordings of others, if one exists.
    let of = |table: &str, column: &str| {
        let met = all.get(&(table.to_owned(), column.to_owned()));
        met.cloned()
            .unwrap_or_else(|| panic!("no trace has {table}.{column}"))
    };
    for (table, column) in [
        ("hard_fault", "duration_ns"),
        ("net_io", "process_key"),
        ("event_count", "events"),
        ("gc", "start_ns"),
        ("process", "terminate_ns"),
        ("process", "exit_duration_ns"),
        ("thread", "name"),
    ] {
        assert!(!of(table, column).real.is_empty(), "{table}.{column}");
    }
    for (table, column) in [
        ("mini_filter", "process_key"),
        ("page_fault", "kind"),
        ("alpc", "message_id"),
        ("heap", "kind"),
        ("pool", "pool_type"),
    ] {
        let met = of(table, column);
        assert!(
            met.real.is_empty() && met.made.is_empty() && !met.own.is_empty(),
            "{table}.{column}: {met:?}"
        );
    }
    compare(&page);
}

/// This is the last part of the page. The text before it stays.
fn compare(part: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/evidence.md");
    let stored = fs::read_to_string(&path).unwrap();
    let title = HEAD.split_inclusive('\n').take(2).collect::<String>();
    let at = stored.find(&title).unwrap_or(stored.len());
    if std::env::var_os("ETWKIT_BLESS").is_some() {
        fs::write(&path, format!("{}{part}", &stored[..at])).unwrap();
    } else {
        assert!(
            &stored[at..] == part,
            "docs/evidence.md is stale; ETWKIT_BLESS=1 writes it"
        );
    }
}
