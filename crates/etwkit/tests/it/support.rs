//! Whole commands without a process.

pub(crate) use etwkit::Exit;
use serde_json::Value;

/// What a command printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) exit: Exit,
}

impl Answer {
    /// The error stream without the notes about what a trace, or the names in an answer, lack: tests of their
    /// own check these.
    pub(crate) fn other_errors(&self) -> String {
        let is_gap = |line: &str| {
            line.starts_with("note: ")
                && [
                    " is incomplete: ",
                    " native addresses have no name: ",
                    ": not recorded: ",
                    "messages of WPP without",
                ]
                .iter()
                .any(|gap| line.contains(gap))
        };
        self.err
            .split_inclusive('\n')
            .filter(|line| !is_gap(line))
            .collect()
    }
}

pub(crate) fn run(args: &[&str]) -> Answer {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let exit = etwkit::run(["etwkit"].iter().chain(args), &mut out, &mut err);
    Answer {
        out: String::from_utf8(out).unwrap(),
        err: String::from_utf8(err).unwrap(),
        exit,
    }
}

/// The pattern that matches all rules.
pub(crate) const ALL_RULES: &str = "*";

/// Names of all commands below `etwkit dump`: those that its help lists, and those that it names as
/// commands of the program.
pub(crate) fn dumps() -> Vec<String> {
    let help = run(&["dump", "--help"]).out;
    let shown = help.split("Options:").next().unwrap();
    let listed = shown
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next());
    let remark = shown.lines().find(|line| line.starts_with("Causes: "));
    let elsewhere = remark
        .unwrap()
        .split("etwkit ")
        .skip(1)
        .filter_map(|rest| rest.split([',', ' ', '.']).next());
    let names: Vec<String> = listed.chain(elsewhere).map(str::to_owned).collect();
    assert!(names.len() >= 55, "{names:?}");
    names
}

/// How many threads of a process were on a processor when a simulation ended.
pub(crate) fn running_at_the_end(truth: &Value, pid: &str) -> i64 {
    let threads = truth["threads"].as_object().unwrap().iter();
    let of_process = threads.filter(|(thread, _)| thread.split('/').next() == Some(pid));
    of_process
        .filter(|(_, times)| times["run_open_end_ns"].as_i64().unwrap() > 0)
        .count() as i64
}

/// Nanoseconds between the last event of the kernel logger, to which running time goes, and the end of the
/// session, to which a simulation knows it.
pub(crate) fn behind_kernel_logger(extract: &str) -> i64 {
    let answer = run(&[
        "sql",
        "--format",
        "json",
        extract,
        "SELECT duration_ns - kernel_end_ns AS ns FROM trace",
    ]);
    let row: Value = serde_json::from_str(answer.out.lines().nth(1).unwrap()).unwrap();
    row["ns"].as_i64().unwrap()
}

pub(crate) use etwkit_testkit::files::made;

/// Path of a small trace.
pub(crate) fn trace(name: &str) -> String {
    made().join(name).to_str().unwrap().to_owned()
}

/// The rows that a command printed with `--json`, behind the line that says which command it is.
pub(crate) fn json_lines(out: &str) -> Vec<Value> {
    out.lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The object that a command prints with `--json`.
#[track_caller]
pub(crate) fn json(args: &[&str]) -> Value {
    let answer = run(args);
    assert_eq!(
        (answer.exit, answer.other_errors().as_str()),
        (Exit::Answered, ""),
        "{args:?}"
    );
    let lines: Vec<&str> = answer.out.lines().collect();
    let first: Value = serde_json::from_str(lines[0]).unwrap();
    assert_eq!(
        (&first["command"], &first["format_version"]),
        (&args[0].into(), &1.into())
    );
    match lines[..] {
        // One object that says what it is,
        [_] => first,
        // or a line that does, then the object.
        [_, object] => serde_json::from_str(object).unwrap(),
        _ => panic!("{} lines", lines.len()),
    }
}

/// Copies a file or a folder.
pub(crate) fn copy(from: &std::path::Path, to: &std::path::Path) {
    if !from.is_dir() {
        std::fs::copy(from, to).unwrap();
        return;
    }
    std::fs::create_dir_all(to).unwrap();
    for file in std::fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        copy(&file.path(), &to.join(file.file_name()));
    }
}
