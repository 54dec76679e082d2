//! Command lines of ETWAnalyzer, as people have them in scripts: `-dump cpu -pn cmd;explorer -MinMaxWaitMs 10`.
//!
//! A line is one of these if its switches have one dash, or if the program is called `ETWAnalyzer`. It becomes arguments of our own
//! commands by the tables in `tables`; no number is computed here.

mod chosen;
pub(crate) mod console;
mod convert;
pub(crate) mod csv;
mod drive;
mod dump;
mod extract;
mod files;
mod help;
mod line;
mod reconcile;
mod small;
mod switch;
mod tables;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{CommandFactory, Parser};
use etwkit_query::nearest;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::numbers::locale;
use crate::printer::Printer;
use crate::style::When;

/// Words that choose a command; the last one in a line counts.
const COMMANDS: [(&str, Command); 9] = [
    ("-extract", Command::Extract),
    ("-dump", Command::Dump),
    ("-loadsymbol", Command::LoadSymbol),
    ("-converttime", Command::ConvertTime),
    ("-convert", Command::Convert),
    ("-console", Command::Console),
    ("-mcp", Command::Mcp),
    ("-analyze", Command::Analyze),
    ("-help", Command::Help),
];

/// Something in a line is wrong.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Wrong {
    message: String,
    /// What to do about it.
    pub(crate) hint: String,
}

impl Wrong {
    fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Command {
    Extract,
    Dump,
    LoadSymbol,
    ConvertTime,
    Convert,
    Console,
    Mcp,
    Analyze,
    Help,
}

/// Whether a command line, its first item being the name of the program, is one of ETWAnalyzer, or was meant
/// to be one.
pub(crate) fn is_line(args: &[OsString]) -> bool {
    let Some((program, words)) = args.split_first() else { return false };
    let stem = Path::new(program).file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    let begins = words.first().is_some_and(|word| {
        let word = word.to_string_lossy();
        word.starts_with('-') && !word.starts_with("--") && word.len() > 2
    });
    let meant = || words.first().and_then(|word| similar_command(&word.to_string_lossy())).is_some();
    stem == "etwanalyzer"
        || (begins && (words.iter().any(|word| command(&word.to_string_lossy()).is_some()) || meant()))
}

/// The command that a word with a dash was perhaps meant to be.
fn similar_command(word: &str) -> Option<&'static str> {
    let known: Vec<&'static str> = COMMANDS.iter().map(|(name, _)| *name).collect();
    nearest(&word.to_lowercase(), &known)
}

fn command(word: &str) -> Option<Command> {
    COMMANDS.iter().find(|(name, _)| word.eq_ignore_ascii_case(name)).map(|(_, command)| *command)
}

/// Runs a line of ETWAnalyzer.
pub(crate) fn run(args: &[OsString], printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let words: Vec<String> = args.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let asks_help = words.iter().any(|word| word.eq_ignore_ascii_case("-help"));
    // Errors in the line itself follow it, too.
    if words.iter().any(|word| word.eq_ignore_ascii_case("-nocolor")) {
        printer.choose_colors(Some(When::Never));
    }
    match words.iter().filter_map(|word| command(word)).next_back() {
        _ if asks_help => help::print(&words, printer),
        Some(Command::Help) => help::print(&words, printer),
        None if words.is_empty() => help::print(&words, printer),
        None => Err(no_command(&words).into()),
        Some(Command::Mcp) => Err(Wrong::new(
            "-mcp: there is no server for agents",
            "agents can run the commands themselves: etwkit dump WHAT --json writes one object for each row",
        )
        .into()),
        Some(Command::Analyze) => Err(Wrong::new(
            "-analyze: there is no such command, as there is none in ETWAnalyzer, which only has the word",
            "-dump asks extracts; -help lists the commands",
        )
        .into()),
        Some(Command::Extract) => extract::run(&words, printer),
        Some(Command::Dump) => {
            let translated = dump::translate(&words, &files::in_files)?;
            translated.notes.iter().for_each(|note| printer.note(note));
            if translated.is_debug {
                printer.note(&shell_line(&translated.native));
            }
            native(&translated.native, printer)
        }
        Some(Command::LoadSymbol) => native(&small::load_symbol(&words)?, printer),
        Some(Command::ConvertTime) => native(&small::convert_time(&words, None)?, printer),
        Some(Command::Convert) => convert::run(&words, printer),
        Some(Command::Console) => bail!("this is a console already"),
    }
}

/// A line without a command.
fn no_command(words: &[String]) -> Wrong {
    let first = words.iter().find(|word| word.starts_with('-')).or(words.first());
    let first = first.map_or("", String::as_str);
    // A sub command alone, as in the console.
    let sub_command = words.iter().find(|word| tables::dump(word).is_some());
    match (similar_command(first), sub_command) {
        (Some(meant), _) => {
            Wrong::new(format!("{first}: there is no such command"), format!("did you mean {meant}?"))
        }
        (None, Some(sub)) => Wrong::new("the line has no command", format!("did you mean -dump {sub}?")),
        (None, None) => Wrong::new(
            format!("{first}: the line has no command"),
            "the commands are -extract -dump -convert -converttime -loadsymbol -console; see -help",
        ),
    }
}

/// Finds what the queries of `-fd` name, of the current folder if there are none; with `true` in folders of folders, too.
type Find<'f> = &'f dyn Fn(&[String], bool) -> anyhow::Result<Vec<PathBuf>>;

/// Runs arguments of our own.
fn native(args: &[OsString], printer: &mut Printer<'_>) -> anyhow::Result<Exit> {
    let parsed = parse(args)?;
    let line: Vec<OsString> = std::iter::once("etwkit".into()).chain(args.iter().cloned()).collect();
    printer.ask(&line);
    crate::dispatch(&parsed, printer)
}

fn parse(args: &[OsString]) -> anyhow::Result<Cli> {
    let program = OsString::from("etwkit");
    let why = |error: clap::Error| {
        let text = error.render().to_string();
        anyhow::anyhow!("{}", text.trim_end().trim_start_matches("error: "))
    };
    let parsed = Cli::try_parse_from(std::iter::once(program).chain(of_reader(args))).map_err(why);
    parsed.with_context(|| format!("in our own words the line is: {}", shell_line(args)))
}

/// Arguments with the numbers of whoever reads the answer, ours where nothing is known of them; our own command lines write all numbers in
/// one way, and have units of their own.
fn of_reader(args: &[OsString]) -> Vec<OsString> {
    const OPTION: &str = "etwanalyzer-numbers";
    let mut args = args.to_vec();
    let numbers = locale::of_reader().unwrap_or_default();
    let (mut command, mut depth) = (Cli::command(), 0);
    while let Some(sub) = args.get(depth).and_then(|word| command.find_subcommand(word)) {
        command = sub.clone();
        depth += 1;
    }
    if command.get_arguments().any(|arg| arg.get_long() == Some(OPTION)) {
        args.insert(depth, format!("--{OPTION}={numbers}").into());
    }
    args
}

/// The line as a shell takes it.
fn shell_line(args: &[OsString]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+@%".contains(c);
    let quoted = args.iter().map(|arg| {
        let arg = arg.to_string_lossy();
        if arg.chars().all(is_plain) { arg.into_owned() } else { format!("'{}'", arg.replace('\'', r"'\''")) }
    });
    format!("etwkit {}", quoted.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_by_the_dash_or_the_name() {
        for (line, expected) in [
            ("etwkit -dump cpu", true),
            ("etwkit -fd x -DUMP version", true),
            ("/usr/bin/ETWAnalyzer -dump cpu", true),
            ("EtwAnalyzer.exe", true),
            ("etwkit dump cpu --process -dump x", false),
            ("etwkit --help", false),
            ("etwkit -h", false),
            ("etwkit -V", false),
            ("etwkit", false),
            ("etwkit -fd x", false),
            ("etwkit -dmp cpu", true),
            ("etwkit -convrt -fd x", true),
            ("etwkit -mcp", true),
            ("etwkit -Analyze", true),
            ("etwkit -vvv", false),
        ] {
            let args: Vec<OsString> = line.split(' ').map(Into::into).collect();
            assert_eq!(is_line(&args), expected, "{line}");
        }
    }

    #[test]
    fn lines_are_quoted_for_a_shell() {
        let args = ["dump", "cpu", "--process=cmd;explorer", "it's"].map(OsString::from);
        assert_eq!(shell_line(&args), r"etwkit dump cpu '--process=cmd;explorer' 'it'\''s'");
    }
}
