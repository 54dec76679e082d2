//! Diagnosis of traces with planted causes by another writer, with the public symbols of Windows and without
//! any, as in everybody's first run. `benches` and `diagnosis.rs` have those of our own writer.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use etwkit_analysis::diagnose::Spot;
use etwkit_base::shell;
use etwkit_testkit::{is_exhaustive, read_json, skip, traces, truth_files};
use serde_json::Value;

use crate::extracts::support::kept_as;
use crate::support::{ALL_RULES, Answer, Exit, json_lines, run};

/// How far a cost may be off the definition of the truth, or one of its alternatives.
const TOLERANCE: f64 = 0.05;

/// A trace with what is true of it.
struct Card {
    name: String,
    archive: PathBuf,
    symbols: PathBuf,
    truth: Value,
}

fn cards() -> Vec<Card> {
    let Some(folder) = traces().map(|root| root.join("cards")) else {
        return Vec::new();
    };
    if !folder.is_dir() {
        skip(&format!(
            "cards of another writer: there is no {}",
            folder.display()
        ));
        return Vec::new();
    }
    let card = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        let name = name.strip_suffix(".truth.json").unwrap().to_owned();
        Card {
            archive: folder.join(format!("{name}.etl.zip")),
            symbols: folder.join(format!("{name}.symbols")),
            truth: read_json(path),
            name,
        }
    };
    truth_files(&folder).iter().map(card).collect()
}

/// Returns the extract of a card, with its symbols or without any.
fn extracted(card: &Card, symbols: Option<&Path>) -> String {
    let archive = std::fs::read(&card.archive).unwrap();
    let names: Vec<Vec<u8>> = symbols.map(files_of).unwrap_or_default();
    kept_as(&(&card.name, archive, names), |extract| {
        let folder = tempfile::tempdir().unwrap();
        // Symbols that lie beside a trace are read; away from them there are none.
        let away = folder.path().join("card.etl.zip");
        std::fs::copy(&card.archive, &away).unwrap();
        let mut line = vec!["extract", "--out", extract];
        if let Some(symbols) = symbols {
            line.extend(["--symbols", symbols.to_str().unwrap()]);
        }
        line.push(away.to_str().unwrap());
        let Answer { err, exit, .. } = run(&line);
        assert_eq!(exit, Exit::Answered, "{err}");
    })
}

/// Returns the contents of the files of a folder.
fn files_of(folder: &Path) -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|path| std::fs::read(path).unwrap())
        .collect()
}

/// Rows of a diagnosis; where there is none, a line says so, which is left out.
fn diagnosed(extract: &str, rules: &str, table: &str) -> Vec<Value> {
    let answer = run(&[
        "diagnose", "--json", "--rule", rules, "--table", table, extract,
    ]);
    let rows = json_lines(&answer.out).into_iter();
    rows.filter(|row| row["nothing"].is_null()).collect()
}

fn texts(value: &Value) -> impl Iterator<Item = &str> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

fn has(text: &Value, part: &str) -> bool {
    let text = text.as_str().unwrap_or_default().to_lowercase();
    text.contains(&part.to_lowercase())
}

fn costs_time(finding: &&Value) -> bool {
    finding["severity"] == "cost"
}

fn has_victim(truth: &Value, finding: &Value) -> bool {
    truth["victim_optional"] == true
        || texts(&truth["victims"]).any(|name| has(&finding["victims"], name))
}

/// The finding that names the planted cause: of those that cost time the first or second, of a cause without
/// a cost any.
fn named<'f>(truth: &Value, findings: &'f [Value]) -> Option<&'f Value> {
    let is_it = |finding: &&Value| {
        let culprits = &mut texts(&truth["culprits"]);
        culprits.any(|name| has(&finding["culprit"], name)) && has_victim(truth, finding)
    };
    if truth["no_cost"] == true {
        findings.iter().find(is_it)
    } else {
        findings.iter().filter(costs_time).take(2).find(is_it)
    }
}

/// Whether the cost is that of the truth, by its definition or by an alternative one.
fn is_right(truth: &Value, finding: &Value) -> bool {
    let Some(cost) = finding["cost_ns"].as_f64() else {
        return truth["no_cost"] == true;
    };
    let alternatives = truth["alternatives"].as_object().into_iter().flatten();
    let expected = [&truth["cost_ms"]]
        .into_iter()
        .chain(alternatives.map(|(_, ms)| ms));
    expected
        .filter_map(Value::as_f64)
        .any(|ms| (cost / (ms * 1e6) - 1.0).abs() <= TOLERANCE)
}

/// Command lines of evidence.
fn evidence(findings: &[Value]) -> BTreeSet<&str> {
    findings
        .iter()
        .filter_map(|finding| finding["evidence"].as_str())
        .flat_map(str::lines)
        .collect()
}

/// The command lines that show nothing.
fn empty<'l>(extract: &str, lines: impl Iterator<Item = &'l &'l str>) -> Vec<String> {
    let is_empty = |line: &str| {
        let mut words = shell::split(line);
        words.extend(["--quiet".to_owned(), extract.to_owned()]);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        run(&words).exit != Exit::Answered
    };
    lines
        .filter(|line| is_empty(line))
        .map(|line| format!("shows nothing: {line}"))
        .collect()
}

/// What is wrong with the spot of a finding, which names the view of the page that shows it.
fn wrong_spot(finding: &Value) -> Option<String> {
    let spot = finding["spot"].as_str();
    let is_read = spot.is_some_and(|line| Spot::read(line).is_ok());
    (!is_read).then(|| format!("no view shows {}: {}", finding["sentence"], finding["spot"]))
}

/// What is wrong with the findings of a card with symbols and without: evidence that shows nothing, and spots
/// that no view has.
fn wrongly_shown(
    [named, nameless]: [&str; 2],
    [with_symbols, without]: [&[Value]; 2],
) -> Vec<String> {
    let (of_named, of_nameless) = (evidence(with_symbols), evidence(without));
    let mut wrong = empty(named, of_named.iter());
    // A line that needs no names shows the same rows in both.
    wrong.extend(empty(nameless, of_nameless.difference(&of_named)));
    wrong.extend(with_symbols.iter().chain(without).filter_map(wrong_spot));
    wrong
}

/// What is wrong with the diagnoses of a card. Without its symbols a card with a cause may be asked only the
/// rule that names this cause with them.
fn judge(card: &Card, all_rules: bool) -> Vec<String> {
    let truth = &card.truth;
    let extracts = [extracted(card, Some(&card.symbols)), extracted(card, None)];
    let [named_extract, nameless] = extracts.each_ref().map(String::as_str);
    let with_symbols = diagnosed(named_extract, ALL_RULES, "findings");
    if truth["fault"] != true {
        let without = diagnosed(nameless, ALL_RULES, "findings");
        let alarms = with_symbols.iter().chain(&without).filter(costs_time);
        let alarms = alarms.map(|alarm| format!("false alarm: {}", alarm["sentence"]));
        let shown = wrongly_shown([named_extract, nameless], [&with_symbols, &without]);
        return shown.into_iter().chain(alarms).collect();
    }
    let Some(found) = named(truth, &with_symbols) else {
        let sentences: Vec<&Value> = with_symbols.iter().map(|f| &f["sentence"]).collect();
        return vec![format!("not named: {sentences:?}")];
    };
    let rule = found["rule"].as_str().unwrap();
    let asked = if all_rules { ALL_RULES } else { rule };
    let without = diagnosed(nameless, asked, "findings");
    let mut wrong = wrongly_shown([named_extract, nameless], [&with_symbols, &without]);
    if !is_right(truth, found) {
        wrong.push(format!("cost {} ns", found["cost_ns"]));
    }
    let is_unchecked = |row: &Value| has(&row["missing"], "names of functions in");
    // Without its symbols a function is a place in its module.
    let is_at_address = |finding: &Value| {
        finding["rule"] == rule
            && has(&finding["culprit"], "+0x")
            && has_victim(truth, finding)
            && is_right(truth, finding)
    };
    match named(truth, &without) {
        Some(found) if !is_right(truth, found) => {
            wrong.push(format!("cost without symbols {} ns", found["cost_ns"]));
        }
        Some(_) => {}
        None if without.iter().any(is_at_address) => {}
        None if diagnosed(nameless, rule, "rules").iter().any(is_unchecked) => {}
        None => wrong.push(format!(
            "without symbols {rule} says nothing and is not called unchecked"
        )),
    }
    wrong
}

/// Parts of the cards, so that they are tried on several processors.
const PARTS: usize = 2;

/// Other causes have the same findings with symbols and without: one of so many cards with a cause, and each
/// healthy one, is asked all rules without symbols. With `ETWKIT_ALL` each is.
const ALL_WITHOUT_SYMBOLS: usize = 3;

fn check_part(part: usize) {
    let cards = cards();
    let of_part = cards
        .iter()
        .enumerate()
        .filter(|(at, _)| at % PARTS == part);
    let wrong: Vec<String> = of_part
        .flat_map(|(at, card)| {
            let all_rules = is_exhaustive() || at % ALL_WITHOUT_SYMBOLS == 0;
            judge(card, all_rules)
                .into_iter()
                .map(move |wrong| format!("{}: {wrong}", card.name))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn causes_of_another_writer_are_named_or_called_unchecked_1() {
    check_part(0);
}

#[test]
fn causes_of_another_writer_are_named_or_called_unchecked_2() {
    check_part(1);
}

/// The first sentence of a comparison with the healthy twin names the planted cause.
#[test]
fn the_difference_to_a_twin_is_the_planted_cause() {
    let cards = cards();
    let mut wrong = Vec::new();
    for card in &cards {
        let twin = format!("{}-twin", card.name);
        let Some(healthy) = cards.iter().find(|other| other.name == twin) else {
            continue;
        };
        let healthy = extracted(healthy, Some(&healthy.symbols));
        let sick = extracted(card, Some(&card.symbols));
        let answer = run(&["diff", "--json", "--table", "summary", &healthy, &sick]);
        let rows = json_lines(&answer.out);
        let sentence = &rows[0]["sentence"];
        let is_named = texts(&card.truth["culprits"]).any(|name| has(sentence, name));
        if !is_named {
            wrong.push(format!("{}: {sentence}", card.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
