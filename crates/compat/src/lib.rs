//! Command lines of ETWAnalyzer, from existing scripts:
//! `-dump cpu -pn cmd;explorer -MinMaxWaitMs 10`.
//!
//! A line is one of these if its switches have one dash, or if the program is called `ETWAnalyzer`.
//! [`plan`] translates it into our own commands, with settings that these have no words for. The
//! tables in `tables` translate switches; no number is computed, nothing is run and nothing is
//! printed here. [`csv`] writes rows into files in the format of ETWAnalyzer.

#![forbid(unsafe_code)]

mod chosen;
pub mod console;
mod convert;
pub mod csv;
mod drive;
mod dump;
mod extract;
mod files;
mod help;
mod line;
mod locale;
mod read;
mod reconcile;
mod small;
mod switch;
mod tables;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::bail;
use etwkit_base::path::stem_of;
use etwkit_base::shell;
use etwkit_query::nearest;
use etwkit_query::numbers::Numbers;

pub use extract::{Extraction, Progress};
pub use files::on_disk;

/// Words that choose a command; the last one in a line counts.
const COMMANDS: [(&str, Command); 10] = [
    ("-extract", Command::Extract),
    ("-dump", Command::Dump),
    ("-loadsymbol", Command::LoadSymbol),
    ("-converttime", Command::ConvertTime),
    ("-convert", Command::Convert),
    ("-console", Command::Console),
    ("-mcp", Command::Mcp),
    ("-analyze", Command::Analyze),
    ("-help", Command::Help),
    ("-h", Command::Help),
];

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

/// The plan for a line.
#[derive(Debug)]
pub enum Plan {
    /// A text to print.
    Text(String),
    /// Our commands to run, one after the other.
    Steps(Vec<Step>),
    /// Traces to extract.
    Extract(Box<Extraction>),
}

/// One of our commands.
#[derive(Debug, Clone)]
pub struct Step {
    /// Its arguments, without the name of the program.
    pub args: Vec<OsString>,
    /// Settings that it has no arguments for.
    pub guest: Guest,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// True if the line also requests its translation into our own commands: see [`shell_line`].
    pub shows_line: bool,
    /// True if the line ends with the exit code of this command; otherwise only its errors count.
    pub decides: bool,
}

impl Step {
    fn new(args: Vec<OsString>) -> Self {
        Self {
            args,
            guest: Guest::default(),
            notes: Vec::new(),
            shows_line: false,
            decides: true,
        }
    }
}

impl From<Step> for Plan {
    fn from(step: Step) -> Self {
        Self::Steps(vec![step])
    }
}

/// Settings of the answer that our own command lines have no words for.
#[derive(Debug, Clone)]
pub struct Guest {
    /// Format of numbers.
    pub numbers: Numbers,
    /// Format of a file of rows.
    pub csv: Option<csv::Style>,
}

/// Numbers have the format of the reader's locale, or our own if that is not known.
impl Default for Guest {
    fn default() -> Self {
        Self {
            numbers: locale::of_reader().unwrap_or_default(),
            csv: None,
        }
    }
}

/// An error in a line.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Wrong {
    message: String,
    /// Advice for the user.
    pub hint: String,
}

impl Wrong {
    fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: hint.into(),
        }
    }
}

/// Finds the files that the queries of `-fd` name, or the files of the current folder if there are
/// none; with `true` also in subfolders.
pub type Find<'f> = &'f dyn Fn(&[String], bool) -> anyhow::Result<Vec<PathBuf>>;

/// Returns `true` if a command line, whose first item is the name of the program, is one of
/// ETWAnalyzer, or was meant to be one.
#[must_use]
pub fn is_line(args: &[OsString]) -> bool {
    let Some((program, words)) = args.split_first() else {
        return false;
    };
    let stem = stem_of(Path::new(program)).to_lowercase();
    let begins = words.first().is_some_and(|word| {
        let word = word.to_string_lossy();
        // One dash and one letter is an option of ours, such as `-q`.
        word.starts_with('-') && !word.starts_with("--") && word.len() > 2
    });
    let meant = || {
        words
            .first()
            .and_then(|word| similar_command(&word.to_string_lossy()))
            .is_some()
    };
    stem == "etwanalyzer"
        || (begins
            && (words
                .iter()
                .any(|word| command(&word.to_string_lossy()).is_some())
                || meant()))
}

/// Returns the words of a line after the name of the program.
#[must_use]
pub fn words(args: &[OsString]) -> Vec<String> {
    args.iter()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

/// Returns `true` if a line disables colors; errors in the line itself follow that as well.
#[must_use]
pub fn is_plain(words: &[String]) -> bool {
    has_word(words, "-nocolor")
}

fn has_word(words: &[String], wanted: &str) -> bool {
    words.iter().any(|word| word.eq_ignore_ascii_case(wanted))
}

/// Returns the likely intended command for a word with a dash.
fn similar_command(word: &str) -> Option<&'static str> {
    let known: Vec<&'static str> = COMMANDS.iter().map(|(name, _)| *name).collect();
    nearest(&word.to_lowercase(), &known)
}

fn command(word: &str) -> Option<Command> {
    COMMANDS
        .iter()
        .find(|(name, _)| word.eq_ignore_ascii_case(name))
        .map(|(_, command)| *command)
}

/// Returns the plan for the words of a line, over files that `find` chooses.
///
/// # Errors
///
/// The error in the line, [`Wrong`] if there is advice for it.
pub fn plan(words: &[String], find: Find<'_>) -> anyhow::Result<Plan> {
    let last = words.iter().filter_map(|word| command(word)).next_back();
    if words.is_empty() || has_word(words, "-help") {
        return Ok(Plan::Text(help::text(words)));
    }
    Ok(match last {
        None => return Err(no_command(words).into()),
        Some(Command::Help) => Plan::Text(help::text(words)),
        Some(Command::Mcp) => {
            Step::new(["mcp", "--etwanalyzer"].map(OsString::from).to_vec()).into()
        }
        Some(Command::Analyze) => {
            return Err(Wrong::new(
                "-analyze: there is no such command, as there is none in ETWAnalyzer, which only has the word",
                "-dump asks extracts; -help lists the commands",
            )
            .into());
        }
        Some(Command::Extract) => Plan::Extract(Box::new(Extraction::read(words)?)),
        Some(Command::Dump) => dump::translate(words, find)?.into(),
        Some(Command::LoadSymbol) => small::LOAD_SYMBOLS.step(words, find, true)?.into(),
        Some(Command::ConvertTime) => small::CONVERT_TIMES.step(words, find, true)?.into(),
        Some(Command::Convert) => Plan::Steps(convert::steps(words)?),
        Some(Command::Console) => bail!("this is a console already"),
    })
}

/// Returns the error for a line without a command.
fn no_command(words: &[String]) -> Wrong {
    let first = words
        .iter()
        .find(|word| word.starts_with('-'))
        .or(words.first());
    let first = first.map_or("", String::as_str);
    // A sub command alone, as in the console.
    let sub_command = words.iter().find(|word| tables::dump(word).is_some());
    match (similar_command(first), sub_command) {
        (Some(meant), _) => Wrong::new(
            format!("{first}: there is no such command"),
            format!("did you mean {meant}?"),
        ),
        (None, Some(sub)) => Wrong::new(
            "the line has no command",
            format!("did you mean -dump {sub}?"),
        ),
        (None, None) => Wrong::new(
            format!("{first}: the line has no command"),
            "the commands are -extract -dump -convert -converttime -loadsymbol -console; see -help",
        ),
    }
}

/// Formats our arguments as a shell command line.
#[must_use]
pub fn shell_line(args: &[OsString]) -> String {
    let words = args.iter().map(|arg| arg.to_string_lossy());
    format!("etwkit {}", shell::joined(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_recognized_by_the_dash_or_the_name() {
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
        assert_eq!(
            shell_line(&args),
            r"etwkit dump cpu '--process=cmd;explorer' 'it'\''s'"
        );
        // An empty word is an argument, too.
        let args = ["dump", "cpu", "--process", "", "x.etwx"].map(OsString::from);
        assert_eq!(shell_line(&args), "etwkit dump cpu --process '' x.etwx");
    }
}
