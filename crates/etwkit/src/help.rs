//! The two sizes of help: `-h` fits on a screen, `--help` is complete.
//!
//! The short help of a question has the options that people use most, and its examples. Commands
//! that have others below them list these by what people want to do.

use std::ffi::OsString;
use std::fmt::Write;

use clap::{Arg, Command};
use etwkit_engine::question;
use etwkit_question::Example;

/// A title and names of commands.
type Groups = &'static [(&'static str, &'static [&'static str])];

/// The commands of the program.
pub(crate) const COMMANDS: Groups = &[
    ("Start here", &["diagnose", "view", "demo"]),
    (
        "Analyze",
        &[
            "info",
            "dump",
            "critical-path",
            "diff",
            "explain",
            "sql",
            "console",
            "events",
            "strace",
        ],
    ),
    ("Record and measure", &["record", "run", "lab"]),
    (
        "Convert and share",
        &["extract", "lake", "symbols", "export", "cut", "wpaexporter"],
    ),
    (
        "Other",
        &["docs", "mcp", "synth", "cache", "completions", "man"],
    ),
];

/// The questions of `dump`.
pub(crate) const QUESTIONS: Groups = &[
    (
        "Overview",
        &[
            "overview", "stats", "metrics", "boot", "time", "version", "service",
        ],
    ),
    (
        "CPU and waits",
        &[
            "cpu", "wait", "ready", "process", "start", "dpc", "cores", "timer", "pmc", "lbr",
            "overhead",
        ],
    ),
    (
        "Disk and files",
        &["disk", "file", "hard-fault", "mini-filter"],
    ),
    ("Network", &["net", "tcp", "dns"]),
    (
        "Memory and handles",
        &[
            "memory",
            "virtual-alloc",
            "heap",
            "pool",
            "page-fault",
            "objectref",
            "gdi-user",
        ],
    ),
    (".NET", &["gc", "jit", "exception", "thread-pool"]),
    (
        "Windows and input",
        &["ui-delay", "focus", "user-lock", "screenshot"],
    ),
    (
        "System calls, registry, ALPC",
        &["syscall", "registry", "alpc"],
    ),
    ("Power", &["power", "standby"]),
    (
        "Events and the recording",
        &["events", "tracelog", "loggers", "trace-stats"],
    ),
    ("Tests and phases", &["test-run", "region", "mark"]),
];

/// Questions that `dump` accepts and does not list, since they are commands of the program.
pub(crate) const ELSEWHERE: &str =
    "Causes: use etwkit diagnose, etwkit diff, etwkit explain and etwkit critical-path.\n\n";

/// Options of all questions that the short help shows before their own.
const FIRST: &[&str] = &["process", "range"];
/// Options of all questions that the short help shows after their own.
const LAST: &[&str] = &[
    "by",
    "top",
    "sort-by",
    "stack-filter",
    "show-stack",
    "details",
    "json",
    "csv",
];

/// Options of other commands in their short help; of commands that are not here it is the complete
/// help.
const OTHERS: &[(&str, &[&str])] = &[
    (
        "extract",
        &[
            "out",
            "detail",
            "tables",
            "range",
            "jobs",
            "one-session",
            "symbols",
            "stack-tag-file",
            "label",
        ],
    ),
    (
        "sql",
        &["file", "param", "library", "format", "out", "show-schema"],
    ),
    (
        "export",
        &[
            "format",
            "pid",
            "process",
            "all-processes",
            "per-thread",
            "range",
            "metric",
            "profile",
            "out",
            "force",
        ],
    ),
];

/// Columns of the short help.
const WIDTH: usize = 100;

/// Lists the commands below a command in groups, followed by a remark.
pub(crate) fn in_groups(command: Command, groups: Groups, remark: &str) -> Command {
    let mut list = String::new();
    for (title, names) in groups {
        let _ = writeln!(list, "{title}:");
        for name in *names {
            let about = command
                .find_subcommand(name)
                .and_then(Command::get_about)
                .map_or_else(String::new, ToString::to_string);
            let _ = writeln!(list, "  {name:<14} {about}");
        }
        list.push('\n');
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{remark}Options:\n{{options}}{{after-help}}"
    ))
}

/// Returns the short help that a command line asks for; `None` if it asks for another one, or if
/// the command has one help only.
pub(crate) fn short(root: Command, args: &[OsString]) -> Option<String> {
    let words: Vec<&str> = args.iter().skip(1).filter_map(|arg| arg.to_str()).collect();
    let is_short = words.contains(&"-h") && !words.contains(&"--help");
    if !is_short {
        return None;
    }
    let mut path = vec![root.get_name().to_owned()];
    let mut root = root;
    root.build();
    let mut command = &root;
    for word in words.iter().filter(|word| !word.starts_with('-')) {
        let Some(below) = command.find_subcommand(word) else {
            break;
        };
        path.push(below.get_name().to_owned());
        command = below;
    }
    let path = path.join(" ");
    let name = command.get_name();
    if let Some(question) = question(name).filter(|_| !command.has_subcommands()) {
        let usual = FIRST.iter().chain(question.usual()).chain(LAST);
        let examples = examples(&path, question.examples());
        return Some(text(command, &path, usual, &examples));
    }
    let (_, usual) = OTHERS.iter().find(|(other, _)| *other == name)?;
    let examples = command.get_after_help()?.to_string();
    Some(text(command, &path, usual.iter(), &examples))
}

/// Returns the lines of examples, with a title.
pub(crate) fn examples(path: &str, examples: &[Example]) -> String {
    let lines: Vec<String> = examples
        .iter()
        .map(|example| format!("{path} {}", example.words))
        .collect();
    let width = lines.iter().map(String::len).fold(0, usize::max);
    let answers = examples.iter().map(|example| example.answer.len());
    let is_on_one_line = width + answers.fold(0, usize::max) + 5 <= WIDTH;
    let mut text = "Examples:".to_owned();
    for (line, example) in lines.iter().zip(examples) {
        let answer = example.answer;
        let _ = if is_on_one_line {
            write!(text, "\n  {line:<width$}   {answer}")
        } else {
            write!(text, "\n  {line}\n      {answer}")
        };
    }
    text
}

fn text<'a>(
    command: &Command,
    path: &str,
    usual: impl Iterator<Item = &'a &'a str>,
    examples: &str,
) -> String {
    let about = command
        .get_about()
        .map_or_else(String::new, ToString::to_string);
    let rows: Vec<(String, &Arg)> = usual
        .filter_map(|name| option(command, name))
        .map(|arg| (term(arg), arg))
        .collect();
    let width = rows.iter().map(|(term, _)| term.len()).fold(0, usize::max);
    let usage = command.clone().render_usage().to_string();
    let about = folded(&about, "");
    let mut text = format!("{about}\n\n{usage}\n\nOptions:\n");
    for (term, arg) in rows {
        let line = format!("  {term:<width$}  {}", clause(arg));
        let with_values = format!("{line}: {}", values(arg));
        let is_shown = !values(arg).is_empty() && with_values.chars().count() <= WIDTH;
        let line = if is_shown { with_values } else { line };
        let _ = writeln!(text, "{}", folded(&line, &" ".repeat(width + 4)));
    }
    let all = command
        .get_arguments()
        .filter(|arg| arg.get_long().is_some() && !arg.is_hide_set())
        .count();
    let _ = writeln!(text, "\n{examples}\n\nAll {all} options: {path} --help");
    text
}

fn option<'c>(command: &'c Command, name: &str) -> Option<&'c Arg> {
    command
        .get_arguments()
        .find(|arg| arg.get_long() == Some(name))
}

/// Returns an option with the placeholder of its value.
fn term(arg: &Arg) -> String {
    let long = arg.get_long().unwrap_or("");
    if !arg.get_action().takes_values() {
        return format!("--{long}");
    }
    let names: Vec<String> = arg
        .get_value_names()
        .into_iter()
        .flatten()
        .map(|name| format!("<{name}>"))
        .collect();
    let names = names.join(" ");
    let is_optional = arg
        .get_num_args()
        .is_some_and(|count| count.min_values() == 0);
    if is_optional {
        format!("--{long}[={names}]")
    } else {
        format!("--{long} {names}")
    }
}

/// Returns the first clause of the help of an option.
fn clause(arg: &Arg) -> String {
    let help = arg.get_help().map_or_else(String::new, ToString::to_string);
    let end = ["; ", ": ", " (", " ["]
        .iter()
        .filter_map(|mark| help.find(mark))
        .min()
        .unwrap_or(help.len());
    help.split_at(end).0.to_owned()
}

/// Breaks a line between words where it is wider than the help; lines after the first one begin
/// with `indent`.
fn folded(line: &str, indent: &str) -> String {
    let mut lines = Vec::new();
    let mut left = line.to_owned();
    while left.chars().count() > WIDTH {
        let end = left
            .char_indices()
            .nth(WIDTH)
            .map_or(left.len(), |(at, _)| at);
        let space = left.get(..end).and_then(|start| start.rfind(' '));
        let Some(at) = space.filter(|at| *at > indent.len()) else {
            break;
        };
        let rest = left.split_off(at);
        lines.push(std::mem::replace(
            &mut left,
            format!("{indent}{}", rest.trim_start()),
        ));
    }
    lines.push(left);
    lines.join("\n")
}

/// Returns the words that an option takes, if it takes no others.
fn values(arg: &Arg) -> String {
    if !arg.get_action().takes_values() {
        return String::new();
    }
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .map(|value| value.get_name().to_owned())
        .collect();
    values.join(", ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use etwkit_engine::questions;

    use super::*;
    use crate::cli;

    /// Questions that are also commands of the program: `dump` accepts them and does not list them.
    const ALSO_COMMANDS: &[&str] = &["critical-path", "diagnose", "diff", "explain"];

    fn help(words: &[&str]) -> String {
        let args: Vec<OsString> = ["etwkit"].iter().chain(words).map(Into::into).collect();
        short(cli::command(), &args).unwrap_or_else(|| panic!("{words:?} has a short help"))
    }

    #[test]
    fn each_command_is_in_one_group() {
        let root = cli::command();
        let dump = root.find_subcommand("dump").unwrap();
        for (command, groups, left_out) in
            [(&root, COMMANDS, &[][..]), (dump, QUESTIONS, ALSO_COMMANDS)]
        {
            let listed: Vec<&str> = groups
                .iter()
                .flat_map(|(_, names)| *names)
                .copied()
                .collect();
            let names: BTreeSet<&str> = command
                .get_subcommands()
                .map(Command::get_name)
                .filter(|name| !left_out.contains(name))
                .collect();
            assert_eq!(listed.len(), names.len(), "each is listed once");
            assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), names);
        }
    }

    #[test]
    fn what_dump_does_not_list_is_named_elsewhere() {
        for name in ALSO_COMMANDS {
            assert!(ELSEWHERE.contains(&format!("etwkit {name}")), "{name}");
        }
    }

    #[test]
    fn the_number_of_reports_is_right() {
        let root = cli::command();
        let about = root.find_subcommand("dump").unwrap().get_about().unwrap();
        let count = questions().count();
        assert!(
            about
                .to_string()
                .contains(&format!("one of {count} reports"))
        );
    }

    #[test]
    fn the_short_help_fits_on_a_screen() {
        let dumps = questions().map(|question| vec!["dump", question.name(), "-h"]);
        let others = OTHERS.iter().map(|(name, _)| vec![*name, "-h"]);
        for words in dumps.chain(others) {
            let text = help(&words);
            let lines = text.lines().count();
            assert!(lines <= 40, "{words:?} has {lines} lines:\n{text}");
            // Examples of other commands are printed as they are written.
            for line in text.lines().filter(|_| words.len() == 3) {
                assert!(line.chars().count() <= WIDTH, "{words:?}: {line}");
            }
        }
    }

    #[test]
    fn the_short_help_names_options_that_exist() {
        let root = cli::command();
        for question in questions() {
            let dump = root.find_subcommand("dump").unwrap();
            let command = dump.find_subcommand(question.name()).unwrap();
            for name in question.usual() {
                assert!(
                    option(command, name).is_some(),
                    "{}: {name}",
                    question.name()
                );
            }
        }
        for (name, usual) in OTHERS {
            let command = root.find_subcommand(name).unwrap();
            for name in *usual {
                assert!(option(command, name).is_some(), "{command}: {name}");
            }
        }
    }

    #[test]
    fn every_example_is_a_line_that_the_program_reads() {
        for question in questions() {
            assert!(question.examples().len() >= 2, "{}", question.name());
            for example in question.examples() {
                let words = etwkit_base::shell::split(example.words);
                let line = ["etwkit", "dump", question.name()]
                    .map(str::to_owned)
                    .into_iter()
                    .chain(words);
                let read = cli::command().try_get_matches_from(line);
                assert!(
                    read.is_ok(),
                    "{}: {}: {read:?}",
                    question.name(),
                    example.words
                );
            }
        }
    }

    #[test]
    fn options_with_one_name_say_what_they_do_for_each_command() {
        let mut root = cli::command();
        root.build();
        for (path, name, expected) in [
            (&["cut"][..], "map", "write the table"),
            (&["diagnose"], "map", "print the real names"),
            (&["dump", "cpu"], "map", "print the real names"),
            (&["extract"], "symbols", "by default only these"),
            (&["symbols", "load"], "symbols", "in _NT_SYMBOL_PATH"),
        ] {
            let command = path.iter().fold(&root, |command, name| {
                command.find_subcommand(name).unwrap()
            });
            let help = option(command, name).unwrap().get_help().unwrap();
            let help = help.to_string();
            assert!(help.contains(expected), "{path:?}: {help}");
        }
    }

    #[test]
    fn the_table_of_real_names_is_named_before_and_after_its_command() {
        for line in [
            "etwkit cut a.etl --redact --map real.names --out b.etl",
            "etwkit --map real.names cut a.etl --redact --out b.etl",
            "etwkit diagnose a.etl --map real.names",
        ] {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let map = cli::read(&args).unwrap().map;
            assert_eq!(map, Some("real.names".into()), "{line}");
        }
    }

    #[test]
    fn the_complete_help_stays_complete() {
        let args: Vec<OsString> = ["etwkit", "dump", "cpu", "-h", "--help"]
            .map(Into::into)
            .into();
        assert_eq!(short(cli::command(), &args), None);
        assert_eq!(
            short(
                cli::command(),
                &["etwkit".into(), "info".into(), "-h".into()]
            ),
            None
        );
    }
}
