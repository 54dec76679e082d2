//! Tables as they are printed for people, read back.

use serde_json::{Map, Value};

/// The lines of a section, behind its heading.
pub(super) fn section<'t>(text: &'t str, heading: &str) -> &'t str {
    let Some(at) = text.find(&format!("\n{heading}")) else {
        return "";
    };
    let behind = &text[at + 1..];
    let begin = behind.find('\n').map_or(behind.len(), |end| end + 1);
    let section = &behind[begin..];
    &section[..section.find("\n\n").unwrap_or(section.len())]
}

/// Rows of the first table: cells by title. Numbers stand right below their titles, words left. What is no
/// row has no number there.
pub(super) fn table(text: &str) -> Vec<Map<String, Value>> {
    let mut lines = text.lines().skip_while(|line| !is_titles(line));
    let titles = lines.next().map(titles).unwrap_or_default();
    let row = |line: &str| {
        let line: Vec<char> = line.chars().collect();
        let cells = titles.iter().map(|(title, from, to)| {
            let cell = if is_word(title) {
                word(&line, *from)
            } else {
                number(&line, *to)
            };
            (title.clone(), Value::from(cell))
        });
        cells.collect::<Map<String, Value>>()
    };
    let has_number = |row: &Map<String, Value>| {
        let numbers = titles.iter().filter(|(title, ..)| !is_word(title));
        numbers.clone().count() == 0 || numbers.clone().any(|(title, ..)| row[title] != "")
    };
    lines.map(row).filter(has_number).collect()
}

/// Titles that words stand below.
const WORDS: &[&str] = &[
    "Process",
    "process",
    "Query",
    "File",
    "file",
    "module",
    "method",
    "path",
    "Connection",
    "Reason",
    "DNS query",
    "Local IP/port -> remote IP/port",
    "Network adapter",
    "ReturnCode",
    "Folder (files with --dir-level 100)",
];

fn is_word(title: &str) -> bool {
    WORDS.contains(&title)
}

/// A line of titles has no digits that stand for numbers, and at least two titles.
fn is_titles(line: &str) -> bool {
    let titles = titles(line);
    titles.len() > 1 && titles.iter().any(|(title, ..)| is_word(title))
}

/// Titles with the places of their first character and behind their last one.
fn titles(line: &str) -> Vec<(String, usize, usize)> {
    let line: Vec<char> = line.chars().collect();
    let (mut titles, mut at) = (Vec::new(), 0);
    while at < line.len() {
        if line[at] == ' ' {
            at += 1;
            continue;
        }
        let is_end = |end: usize| {
            end >= line.len() || (line[end] == ' ' && line.get(end + 1).is_none_or(|c| *c == ' '))
        };
        let end = (at..).find(|end| is_end(*end)).unwrap();
        titles.push((line[at..end].iter().collect(), at, end));
        at = end;
    }
    titles
}

/// The number that ends there: columns have two blanks between them.
fn number(line: &[char], end: usize) -> String {
    if end > line.len()
        || end == 0
        || line[end - 1] == ' '
        || line.get(end).is_some_and(|c| *c != ' ')
    {
        return String::new();
    }
    let mut from = end;
    while from > 0 && (line[from - 1] != ' ' || (from > 1 && line[from - 2] != ' ')) {
        from -= 1;
    }
    let cell: String = line[from..end].iter().collect();
    let cell = cell.trim_end_matches(" B").replace(',', "");
    if cell.parse::<f64>().is_ok() {
        cell
    } else {
        String::new()
    }
}

/// The word that begins there, to the next column.
fn word(line: &[char], from: usize) -> String {
    let rest: String = line.iter().skip(from).collect();
    rest.split("  ")
        .next()
        .unwrap_or_default()
        .trim_end()
        .to_owned()
}

#[test]
fn cells_stand_below_their_titles() {
    let text = "0.000  a.etl\n  CPU ms         MB  Process\n       5  1,000.250  a b(8) +\n              2.000  c(9)\nTotal 5 ms, x\n";
    let rows = table(text);
    let cells: Vec<[&str; 3]> = rows
        .iter()
        .map(|row| ["CPU ms", "MB", "Process"].map(|title| row[title].as_str().unwrap()))
        .collect();
    assert_eq!(
        cells,
        [["5", "1000.250", "a b(8) +"], ["", "2.000", "c(9)"]]
    );
    assert_eq!(section("\nA\n  1\n\nB: c\n  2\n  3\n\nD", "B"), "  2\n  3");
    assert!(table("nothing").is_empty());
}
