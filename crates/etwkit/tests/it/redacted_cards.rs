//! Redacted traces are diagnosed as their originals: the same causes with the same costs, and by the
//! table of substitutes the same names. Healthy ones stay quiet.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use etwkit_synth::cards::{CARDS, Case};
use etwkit_testkit::files::Folder;
use etwkit_testkit::{is_exhaustive, skip, traces, truth_files};
use serde_json::Value;

use crate::support::{ALL_RULES, Exit, copy, json_lines, run};

/// Cards of our own writer that each run checks: modules of Windows, addresses, and drivers of others.
const USUAL: [&str; 3] = ["dns-timeout", "filter-scan", "network-share"];

/// The card whose healthy twin each run checks.
const USUAL_TWIN: &str = "filter-scan";

/// Cards of another writer that each run checks, with a healthy one.
const USUAL_OF_OTHERS: [&str; 2] = ["network-share-1", "lock-convoy-1-twin"];

/// A text of a finding. Substitutes are in lower case.
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_lowercase()
}

/// Our card that each run asks all rules. The others are asked the rule of their cause, unless tests are
/// exhaustive.
const USUAL_OF_ALL_RULES: &str = "filter-scan";

/// Rule, severity, culprit and cost.
type Finding = (String, String, String, i64);

/// The findings of rules in a trace with its symbols.
fn findings(rules: &str, trace: &Path, symbols: &Path, map: Option<&Path>) -> BTreeSet<Finding> {
    let folder = Folder::new();
    let extract = folder.path("x.etwx");
    let [trace, symbols, extract] = [trace, symbols, &extract].map(|path| path.to_str().unwrap());
    let extracted = run(&["extract", "--symbols", symbols, "--out", extract, trace]);
    assert_eq!(extracted.exit, Exit::Answered, "{}", extracted.err);
    let mut line = vec!["diagnose", "--json", "--rule", rules, extract];
    line.extend(
        map.into_iter()
            .flat_map(|map| ["--map", map.to_str().unwrap()]),
    );
    let answer = run(&line);
    assert_ne!(answer.exit, Exit::Error, "{}", answer.err);
    json_lines(&answer.out)
        .iter()
        .filter(|row| row["rule"].is_string())
        .map(|row| {
            let [rule, severity, culprit] =
                ["rule", "severity", "culprit"].map(|key| text(&row[key]));
            (
                rule,
                severity,
                culprit,
                row["cost_ns"].as_i64().unwrap_or_default(),
            )
        })
        .collect()
}

/// Copies the symbol files that a redacted copy still names: those of the sender's own modules are
/// not found for it, so its findings name these modules without functions.
fn public_symbols(symbols: &Path, map: &Path, to: &Path) {
    let table = std::fs::read_to_string(map).unwrap();
    let replaced: BTreeSet<String> = json_lines(&table)
        .iter()
        .map(|row| text(&row["original"]))
        .collect();
    std::fs::create_dir_all(to).unwrap();
    for file in std::fs::read_dir(symbols).unwrap() {
        let file = file.unwrap().path();
        let stem = file.file_stem().unwrap().to_string_lossy().to_lowercase();
        if !replaced.contains(&stem) {
            copy(&file, &to.join(file.file_name().unwrap()));
        }
    }
}

/// The difference between the findings of a trace and of its redacted copy.
fn difference(name: &str, rules: &str, trace: &Path, symbols: &Path) -> Option<String> {
    let folder = Folder::new();
    let [copy, map, public] = ["redacted.etl", "names", "public"].map(|name| folder.path(name));
    let [from, to, table] = [trace, &copy, &map].map(|path| path.to_str().unwrap());
    let cut = run(&["cut", from, "--redact", "--map", table, "--out", to]);
    assert_eq!(cut.exit, Exit::Answered, "{name}: {}", cut.err);
    public_symbols(symbols, &map, &public);
    let before = findings(rules, trace, &public, None);
    // One rule that finds nothing would say the same of both.
    assert!(
        rules == ALL_RULES || !before.is_empty(),
        "{name}: {rules} finds nothing"
    );
    let after = findings(rules, &copy, &public, Some(&map));
    (before != after).then(|| {
        let gone: Vec<_> = before.difference(&after).collect();
        let new: Vec<_> = after.difference(&before).collect();
        format!("{name}: gone {gone:?}\n  new {new:?}")
    })
}

/// Writes a card of our own writer with its symbols.
fn written(case: &Case, folder: &Folder) -> (PathBuf, PathBuf) {
    let mut trace = std::io::Cursor::new(Vec::new());
    case.write(&mut trace).unwrap();
    let (path, symbols) = (folder.path("t.etl"), folder.path("names-of-functions"));
    std::fs::write(&path, trace.into_inner()).unwrap();
    for file in case.symbols() {
        let to = symbols.join(&file.path);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::write(to, file.text).unwrap();
    }
    (path, symbols)
}

#[test]
fn redacted_cards_are_diagnosed_as_their_originals() {
    let mut wrong = Vec::new();
    for card in CARDS {
        if !is_exhaustive() && !USUAL.contains(&card.name) {
            continue;
        }
        for is_healthy in [false, true] {
            if is_healthy && !is_exhaustive() && card.name != USUAL_TWIN {
                continue;
            }
            let folder = Folder::new();
            let case = Case {
                is_healthy,
                ..Case::new(vec![card], 9)
            };
            let (trace, symbols) = written(&case, &folder);
            let all_rules = is_exhaustive() || card.name == USUAL_OF_ALL_RULES;
            let rules = if all_rules { ALL_RULES } else { card.rule };
            wrong.extend(difference(card.name, rules, &trace, &symbols));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A copy in which all modules have other names: rules that look for functions of Windows cannot
/// find them, and say so.
#[test]
fn a_trace_without_any_real_name_is_not_called_clean() {
    let folder = Folder::new();
    let card = CARDS.iter().find(|card| card.name == "filter-scan");
    let (trace, _) = written(&Case::new(vec![card.unwrap()], 9), &folder);
    let copy = folder.path("all.etl");
    let [from, to] = [&trace, &copy].map(|path| path.to_str().unwrap());
    let cut = run(&["cut", from, "--redact=all", "--out", to]);
    assert_eq!(cut.exit, Exit::Answered, "{}", cut.err);
    let not_checked = "names of the modules of Windows (no stack has one, as in a redacted trace)";
    let of_copy = run(&["diagnose", "--rule", "filter-scan", to]).out;
    let line = of_copy.lines().find(|line| line.contains(not_checked));
    assert!(
        line.is_some_and(|line| line.contains("filter-scan")),
        "{of_copy}"
    );
    let of_original = run(&["diagnose", "--rule", "filter-scan", from]).out;
    assert!(!of_original.contains(not_checked), "{of_original}");
}

#[test]
fn redacted_cards_of_another_writer_are_diagnosed_as_their_originals() {
    let Some(root) = traces()
        .map(|root| root.join("cards"))
        .filter(|root| root.is_dir())
    else {
        skip("cards of another writer");
        return;
    };
    let mut wrong = Vec::new();
    for truth in truth_files(&root) {
        let file = truth.file_name().unwrap().to_str().unwrap();
        let name = file.strip_suffix(".truth.json").unwrap();
        if !is_exhaustive() && !USUAL_OF_OTHERS.contains(&name) {
            continue;
        }
        let folder = Folder::new();
        // Symbols that lie beside a trace are read for it alone.
        let trace = folder.path("card.etl.zip");
        std::fs::copy(root.join(format!("{name}.etl.zip")), &trace).unwrap();
        wrong.extend(difference(
            name,
            ALL_RULES,
            &trace,
            &root.join(format!("{name}.symbols")),
        ));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
