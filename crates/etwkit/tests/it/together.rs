//! Many extracts in one question: each answers as it does alone.

use std::path::{Path, PathBuf};

use crate::extracts::Extract;
use crate::support::{Exit, copy, run, trace};

const TRACES: [&str; 6] = [
    "sched-5",
    "dotnet-5",
    "files-5",
    "tcp-5",
    "dns-5",
    "handles-5",
];

pub(crate) const QUESTIONS: &[&str] = &[
    "process",
    "process --sort-by tree --parent *",
    "cpu",
    "cpu --details --sort-by wait --cpu 1ms..",
    "cpu --zero-time first:*",
    "cpu --methods * --top 5",
    "cpu --stack-tags * --top 3",
    "cpu --range 0.01..0.2",
    "disk",
    "disk --per-process --dir-level 100 --top 3",
    "file",
    "file --per-process --dir-level 100 --details",
    "dns",
    "dns --details",
    "tcp",
    "tcp --show-retransmit",
    "exception",
    "exception --sort-by time --show-stack",
    "mark",
    "tracelog",
    "thread-pool",
    "objectref",
    "virtual-alloc",
    "stats",
    "version --top 2",
    "wait --top 3",
    "wait --by process",
    "cores --table cores",
    "power",
    "memory",
    "pmc",
    "syscall",
];

/// Extracts of [`TRACES`], which all tests share.
pub(crate) fn extracts() -> Vec<PathBuf> {
    let extract = |name: &&str| {
        let extract = Extract::of(&[&trace(&format!("{name}.etl"))], &[]);
        PathBuf::from(&extract.path)
    };
    TRACES.iter().map(extract).collect()
}

/// What the question prints for machines, without the line that says what it is.
pub(crate) fn answer(question: &str, extracts: &[PathBuf]) -> Vec<String> {
    let mut line = vec!["dump"];
    line.extend(question.split(' '));
    line.push("--json");
    line.extend(extracts.iter().map(|path| path.to_str().unwrap()));
    let answer = run(&line);
    assert!(answer.exit != Exit::Error, "{question}: {}", answer.err);
    // The same extract may lie in another folder.
    let folders = extracts.iter().map(|path| path.parent().unwrap());
    let out = folders.fold(answer.out, |out, folder| {
        out.replace(&format!("{}/", folder.display()), "")
    });
    // What a trace lacks is reported in the first line of one and in lines of several.
    let rows = out
        .lines()
        .skip(1)
        .filter(|line| !line.contains("\"incomplete\":{"));
    rows.map(without_place).collect()
}

/// A line without the columns that only rows of several extracts have.
fn without_place(line: &str) -> String {
    let mut row: serde_json::Value = serde_json::from_str(line).unwrap();
    if let Some(columns) = row
        .as_object_mut()
        .filter(|columns| columns.contains_key("trace"))
    {
        for name in ["extract", "computer", "start_utc", "run_id", "labels"] {
            columns.shift_remove(name);
        }
    }
    row.to_string()
}

/// Questions whose rows are written when all extracts have answered: something is said of several, or stacks
/// are shown.
const WRITTEN_AT_THE_END: [&str; 6] = [
    "tcp --show-retransmit",
    "exception",
    "stats",
    "wait --top",
    "cores",
    "power",
];

/// Lines that can be compared: that there is nothing is said at once, before such rows.
fn sorted<'a>(question: &str, lines: impl Iterator<Item = &'a String>) -> Vec<&'a String> {
    let mut lines: Vec<&String> = lines.collect();
    if WRITTEN_AT_THE_END
        .iter()
        .any(|begin| question.starts_with(begin))
    {
        lines.sort_by_key(|line| line.starts_with("{\"extract\":"));
    }
    lines
}

/// Copies an extract into a folder, where it has the same name.
fn copied(extract: &Path, folder: &Path) -> PathBuf {
    let to = folder.join(extract.file_name().unwrap());
    copy(extract, &to);
    to
}

#[test]
fn extracts_answer_together_as_each_does_alone() {
    let extracts = extracts();
    // So many that several are asked together, after others have been asked alone. Those that are named
    // twice would count once.
    let folder = tempfile::tempdir().unwrap();
    let copies = (0..3).flat_map(|number| {
        let folder = folder.path().join(number.to_string());
        extracts.iter().map(move |extract| copied(extract, &folder))
    });
    let many: Vec<PathBuf> = copies.collect();
    let mut rows = 0;
    for question in QUESTIONS {
        let alone: Vec<Vec<String>> = extracts
            .iter()
            .map(|path| answer(question, std::slice::from_ref(path)))
            .collect();
        let expected = sorted(question, (0..3).flat_map(|_| alone.iter().flatten()));
        let together = answer(question, &many);
        assert_eq!(sorted(question, together.iter()), expected, "{question}");
        rows += together.len();
    }
    assert!(rows > 3 * TRACES.len() * QUESTIONS.len(), "{rows} rows");
}

#[test]
fn a_total_below_the_largest_row_is_that_of_all_rows_or_says_so() {
    let extracts = extracts();
    let mut limited = 0;
    for question in QUESTIONS.iter().filter(|question| !question.contains(' ')) {
        for extract in &extracts {
            let totals = |top: &str| -> Vec<String> {
                let answer = run(&["dump", question, "--top", top, extract.to_str().unwrap()]);
                let lines = answer.out.lines().filter(|line| line.starts_with("Total"));
                lines.map(str::to_owned).collect()
            };
            let all = totals("0");
            for total in totals("1") {
                let says_so = total.starts_with("Total of the rows shown: ");
                assert!(
                    says_so || all.contains(&total),
                    "{question}: {total}, {all:?}"
                );
                limited += usize::from(says_so);
            }
        }
    }
    assert!(limited >= 2, "{limited}");
}

#[test]
fn what_was_answered_is_there_although_a_later_extract_is_broken() {
    let folder = tempfile::tempdir().unwrap();
    let mut extracts = extracts();
    extracts.truncate(2);
    let broken = folder.path().join("broken.etwx");
    let extract = run(&[
        "extract",
        &trace("files-5.etl"),
        "--out",
        broken.to_str().unwrap(),
    ]);
    assert_eq!(extract.exit, Exit::Answered, "{}", extract.err);
    std::fs::write(broken.join("process.parquet"), "no table").unwrap();
    extracts.push(broken);
    let names: Vec<&str> = extracts.iter().map(|path| path.to_str().unwrap()).collect();
    for dump in ["process", "cpu", "file", "version", "dns"] {
        let answered =
            |names: &[&str], option: &str| run(&[&["dump", dump, option], names].concat());
        for option in ["--json", "--top=3"] {
            let two = answered(&names[..2], option);
            let three = answered(&names, option);
            assert_eq!(three.exit, Exit::Error, "{dump}");
            assert!(three.err.contains(names[2]), "{dump}: {}", three.err);
            let begins = two
                .out
                .lines()
                .zip(three.out.lines())
                .filter(|(a, b)| a == b)
                .count();
            assert!(
                begins >= three.out.lines().count() && begins > 0,
                "{dump} {option}:\n{}",
                three.out
            );
        }
    }
}
