//! What commands print, character by character. `ETWKIT_BLESS=1` writes what they print now.

use std::path::Path;

use crate::support::{Answer, Exit, run, trace};

/// Runs the command (names of traces are those of the fixtures) and compares with
/// `tests/transcripts/NAME.txt`.
#[track_caller]
fn check(args: &[&str], name: &str) {
    let full: Vec<String> = args
        .iter()
        .map(|arg| {
            if arg.ends_with(".etl") {
                trace(arg)
            } else {
                (*arg).to_owned()
            }
        })
        .collect();
    let Answer { out, err, exit } = run(&full.iter().map(String::as_str).collect::<Vec<_>>());
    compare(
        &format!(
            "$ etwkit {}\n{out}{err}[exit {}]\n",
            args.join(" "),
            exit.code()
        ),
        name,
    );
}

/// A text without the keys of the cache, which distinguish files.
fn without_keys(printed: &str) -> String {
    let ending = format!("-{}.etwx", env!("CARGO_PKG_VERSION"));
    let mut parts = printed
        .split(ending.as_str())
        .map(str::to_owned)
        .collect::<Vec<_>>();
    let last = parts.pop().unwrap_or_default();
    let is_key = |text: &str| text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut text = String::new();
    for part in parts {
        let key = part
            .len()
            .checked_sub(16)
            .filter(|at| part.is_char_boundary(*at) && is_key(&part[*at..]));
        let kept = key.map_or(part.clone(), |at| format!("{}KEY", &part[..at]));
        text.push_str(&(kept + &ending));
    }
    text + &last
}

/// A text without the names of temporary folders. Where there were some, columns that they widened shrink
/// again.
fn without_folders(printed: &str) -> String {
    let (mut text, mut changed) = (without_keys(printed), false);
    let temporary = format!("{}/.tmp", std::env::temp_dir().display());
    for folder in [temporary.as_str(), env!("CARGO_TARGET_TMPDIR")] {
        while let Some(at) = text.find(folder) {
            let end = text[at + folder.len()..]
                .find('/')
                .map_or(text.len(), |next| at + folder.len() + next);
            text.replace_range(at..end, "DIR");
            changed = true;
        }
    }
    // Extracts of tests are numbered as they are made.
    while let Some((at, end)) = numbered(&text) {
        text.replace_range(at..end, "N");
    }
    let shrunk = |line: &str| {
        let cells = line
            .trim_end()
            .split("  ")
            .map(str::trim)
            .filter(|cell| !cell.is_empty());
        let indent = if line.starts_with("  ") { "  " } else { "" };
        format!("{indent}{}\n", cells.collect::<Vec<_>>().join("  "))
    };
    if changed {
        text.lines().map(shrunk).collect()
    } else {
        text
    }
}

/// Where the number of the next extract of the tests lies.
fn numbered(text: &str) -> Option<(usize, usize)> {
    const FOLDER: &str = "DIR/extracts/";
    let mut from = 0;
    while let Some(at) = text[from..].find(FOLDER) {
        from += at + FOLDER.len();
        let digits = text[from..].bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 {
            return Some((from, from + digits));
        }
    }
    None
}

/// Compares with `tests/transcripts/NAME.txt`.
#[track_caller]
pub(crate) fn compare(printed: &str, name: &str) {
    let printed = &*without_folders(printed);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/transcripts/{name}.txt"));
    if std::env::var_os("ETWKIT_BLESS").is_some() {
        std::fs::write(&path, printed).unwrap();
    }
    let expected = std::fs::read_to_string(&path)
        .unwrap_or_default()
        .replace("\r\n", "\n");
    if printed != expected {
        let pairs = printed.lines().zip(expected.lines()).enumerate();
        let first = pairs
            .into_iter()
            .find(|(_, (printed, expected))| printed != expected);
        panic!(
            "{name}.txt differs, first in {first:?}; it should be (ETWKIT_BLESS=1 writes it):\n{printed}"
        );
    }
}

#[test]
fn help() {
    check(&["--help"], "help");
    check(&["info", "--help"], "help-info");
    check(&["events", "--help"], "help-events");
    check(&["dump", "--help"], "help-dump");
    for dump in crate::support::dumps() {
        check(&["dump", &dump, "--help"], &format!("help-dump-{dump}"));
    }
    check(&["critical-path", "--help"], "help-critical-path");
    check(&["console", "--help"], "help-console");
    check(&["export", "--help"], "help-export");
    check(&["sql", "--help"], "help-sql");
    check(&["synth", "--help"], "help-synth");
    check(&["synth", "write", "--help"], "help-synth-write");
    check(&["extract", "--help"], "help-extract");
    check(&["symbols", "--help"], "help-symbols");
    check(&["demo", "--help"], "help-demo");
    check(&["completions", "--help"], "help-completions");
    check(&["man", "--help"], "help-man");
}

#[test]
fn shells_and_manual_pages_know_all_commands() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let answer = run(&["completions", shell]);
        assert_eq!((answer.exit, answer.err.as_str()), (Exit::Answered, ""));
        assert!(
            answer.out.contains("critical-path") && answer.out.contains("sort-by"),
            "{shell}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let answer = run(&["man", folder.path().to_str().unwrap()]);
    assert_eq!((answer.exit, answer.err.as_str()), (Exit::Answered, ""));
    for dump in crate::support::dumps() {
        let page = folder.path().join(format!("etwkit-dump-{dump}.1"));
        assert!(
            std::fs::read_to_string(&page).unwrap().contains("SYNOPSIS"),
            "{}",
            page.display()
        );
    }
}

#[test]
fn usage_errors() {
    check(
        &["events", "power-5.etl", "--range", "5..x"],
        "events-bad-range",
    );
    check(
        &["events", "power-5.etl", "--unordered"],
        "events-unordered-without-count",
    );
    check(&["evnets"], "unknown-command");
}

#[test]
fn events_count() {
    check(
        &["events", "--count", "power-5.etl"],
        "events-count-power-5",
    );
    check(
        &["events", "--count", "--unordered", "dns-5.etl"],
        "events-count-dns-5",
    );
    check(
        &["events", "--count", "--json", "tcp-5.etl"],
        "events-count-json-tcp-5",
    );
}

#[test]
fn events_listed() {
    check(
        &[
            "events",
            "--process",
            "beta",
            "--name",
            "Thread/*",
            "--range",
            "..0.003",
            "sched-5.etl",
        ],
        "events-threads",
    );
    check(
        &[
            "events",
            "--name",
            "EventID(3008)",
            "--limit",
            "3",
            "--json",
            "dns-5.etl",
        ],
        "events-json-dns-5",
    );
    check(
        &[
            "events",
            "--provider",
            "*TCPIP",
            "--limit",
            "4",
            "--format",
            "csv",
            "tcp-5.etl",
        ],
        "events-csv-tcp-5",
    );
    check(
        &["events", "--process", "nobody", "dns-5.etl"],
        "events-none",
    );
}

#[test]
fn info() {
    check(&["info", "dns-5.etl"], "info-dns-5");
    check(&["info", "sched-5.etl"], "info-sched-5");
}

/// Nouns whose number can be one.
const NOUNS: [&str; 16] = [
    "buffers",
    "changes",
    "cores",
    "events",
    "extracts",
    "files",
    "handles",
    "modules",
    "operations",
    "processes",
    "recordings",
    "rules",
    "runs",
    "samples",
    "tests",
    "traces",
];

#[test]
fn no_text_has_one_of_several_things() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let entries = std::fs::read_dir(folder).unwrap();
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        // Command lines have numbers of options, and `1 runs` can be a number and a folder.
        for line in text.lines().filter(|line| !line.starts_with('$')) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let is_wrong = words.windows(2).any(|pair| {
                let noun = pair[1].trim_end_matches(|letter: char| !letter.is_alphanumeric());
                pair[0] == "1" && NOUNS.contains(&noun)
            });
            assert!(!is_wrong, "{}: {line}", path.display());
        }
    }
}
