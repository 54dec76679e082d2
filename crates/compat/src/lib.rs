//! Command lines of ETWAnalyzer, from existing scripts:
//! `-dump cpu -pn cmd;explorer -MinMaxWaitMs 10`.
//!
//! A line is one of these if its switches have one dash, or if the program is called `ETWAnalyzer`.
//! [`plan`] translates it into our own commands, with settings that these have no words for. The
//! tables in `tables` translate switches; no number is computed, nothing is run and nothing is
//! printed here. [`csv`] writes rows into files in the format of ETWAnalyzer.

#![forbid(unsafe_code)]

mod column_names;
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
use std::path::PathBuf;

use anyhow::bail;
use etwkit_base::{path, shell};
use etwkit_question::numbers::Numbers;
use etwkit_sql::nearest;

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
    pub etwanalyzer: EtwAnalyzerForm,
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
            etwanalyzer: EtwAnalyzerForm::default(),
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

/// The form of an answer to a line of ETWAnalyzer: settings that our own lines have no words for.
#[derive(Debug, Clone)]
pub struct EtwAnalyzerForm {
    /// Format of numbers.
    pub numbers: Numbers,
    /// Format of a file of rows.
    pub csv: Option<csv::Style>,
}

/// Numbers have the format of the reader's locale, or our own if that is not known.
impl Default for EtwAnalyzerForm {
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
pub struct LineError {
    message: String,
    /// Advice for the user.
    pub hint: String,
}

impl LineError {
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
    let Some(program) = args.first() else {
        return false;
    };
    let (words, is_named) = read_words(args);
    let begins = words.first().is_some_and(|word| {
        // One dash and one letter is an option of ours, such as `-q`.
        word.starts_with('-') && !word.starts_with("--") && word.len() > 2
    });
    let meant = || {
        words
            .first()
            .and_then(|word| similar_command(word))
            .is_some()
    };
    is_named
        || is_program(&program.to_string_lossy())
        || (begins && (words.iter().any(|word| command(word).is_some()) || meant()))
}

/// Returns the words of a line after the name of the program.
#[must_use]
pub fn words(args: &[OsString]) -> Vec<String> {
    read_words(args).0
}

/// Returns the words of a line after the name of the program, and `true` if they began with the
/// name of ETWAnalyzer. A whole line in quotes, as a shell takes one that was typed for Windows, is
/// split here.
fn read_words(args: &[OsString]) -> (Vec<String>, bool) {
    let typed: Vec<String> = args
        .iter()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let words = match typed.as_slice() {
        [line] if is_whole_line(line) => shell::split(line),
        _ => typed,
    };
    let mut words: Vec<String> = words.into_iter().map(with_plain_dash).collect();
    let is_named = words.first().is_some_and(|word| is_program(word));
    if is_named {
        words.remove(0);
    }
    (quoted_as_in_texts(words), is_named)
}

/// Returns `true` if a word is a line of several words with a command of ETWAnalyzer.
fn is_whole_line(word: &str) -> bool {
    let words: Vec<String> = shell::split(word)
        .into_iter()
        .map(with_plain_dash)
        .collect();
    let begins = |first: &String| first.starts_with('-') || is_program(first);
    words.len() > 1
        && words.first().is_some_and(begins)
        && words.iter().any(|word| command(word).is_some())
}

fn is_program(word: &str) -> bool {
    // A path of Windows on any system.
    let name = path::file_name(word);
    ["etwanalyzer", "etwanalyzer.exe"]
        .iter()
        .any(|program| name.eq_ignore_ascii_case(program))
}

/// Turns the longer dash of texts of word processors before a name into the one of switches.
fn with_plain_dash(word: String) -> String {
    const DASHES: [char; 3] = ['\u{2012}', '\u{2013}', '\u{2014}'];
    match word.strip_prefix(DASHES) {
        Some(name) if name.starts_with(|c: char| c.is_ascii_alphabetic()) => format!("-{name}"),
        _ => word,
    }
}

/// Joins words between quotes as texts of word processors have them, which no shell reads.
fn quoted_as_in_texts(words: Vec<String>) -> Vec<String> {
    const QUOTES: [char; 3] = ['\u{201c}', '\u{201d}', '\u{201e}'];
    let (mut joined, mut open) = (Vec::new(), None::<String>);
    for word in words {
        let is_quoted = open.is_some() || word.starts_with(QUOTES);
        let quotes = word.matches(QUOTES).count();
        let plain = if is_quoted {
            word.replace(QUOTES, "")
        } else {
            word
        };
        let stays_open = is_quoted && (quotes % 2 == 1) != open.is_some();
        let whole = match open.take() {
            Some(mut begin) => {
                begin.push(' ');
                begin.push_str(&plain);
                begin
            }
            None => plain,
        };
        if stays_open {
            open = Some(whole);
        } else {
            joined.push(whole);
        }
    }
    // A quote that is not closed ends with the line.
    joined.extend(open);
    joined
}

/// Returns the command line that shows the help for a line: `-dump cpu -help`.
#[must_use]
pub fn help_line(args: &[OsString]) -> String {
    let words = words(args);
    let mut after = words
        .iter()
        .skip_while(|word| !word.eq_ignore_ascii_case("-dump"));
    after.next();
    match after.next().filter(|word| tables::dump(word).is_some()) {
        Some(sub) => format!("-dump {} -help", sub.to_lowercase()),
        None => "-help".to_owned(),
    }
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
/// The error in the line, [`LineError`] if there is advice for it.
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
            return Err(LineError::new(
                "-analyze: there is no command of this name; ETWAnalyzer has the word, but no command either",
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
fn no_command(words: &[String]) -> LineError {
    let first = words
        .iter()
        .find(|word| word.starts_with('-'))
        .or(words.first());
    let first = first.map_or("", String::as_str);
    // A sub command alone, as in the console.
    let sub_command = words.iter().find(|word| tables::dump(word).is_some());
    match (similar_command(first), sub_command) {
        (Some(meant), _) => LineError::new(
            format!("{first}: there is no command of this name"),
            format!("did you mean {meant}?"),
        ),
        (None, Some(sub)) => LineError::new(
            "the line has no command",
            format!("did you mean -dump {sub}?"),
        ),
        (None, None) => LineError::new(
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
    fn the_help_of_a_line_is_of_its_sub_command() {
        let help = |line: &str| help_line(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(help("etwkit -dump CPU -topm 5"), "-dump cpu -help");
        assert_eq!(help("etwkit -dump cpuu"), "-help");
        assert_eq!(help("etwkit -extract all"), "-help");
    }

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
            ("etwkit \u{2013}dump cpu", true),
            ("etwkit \u{2014}extract all", true),
            ("etwkit \u{2013}5", false),
            ("etwkit -vvv", false),
        ] {
            let args: Vec<OsString> = line.split(' ').map(Into::into).collect();
            assert_eq!(is_line(&args), expected, "{line}");
        }
    }

    /// Each word is copied once, also those of a quote that never ends.
    #[test]
    fn a_hostile_line_is_read_in_time() {
        let mut args: Vec<OsString> = ["etwkit", "-dump", "cpu", "\u{201c}a"]
            .map(OsString::from)
            .to_vec();
        args.extend(std::iter::repeat_n(OsString::from("b"), 300_000));
        assert!(is_line(&args));
        let found = words(&args);
        assert_eq!((found.len(), found[2].len()), (3, 600_001));
        let quotes = OsString::from("-dump cpu ".to_owned() + &"\"'\\".repeat(100_000));
        assert!(is_line(&["etwkit".into(), quotes]));
    }

    #[test]
    fn a_whole_line_in_quotes_is_read_as_on_windows() {
        let read = |args: &[&str]| {
            let args: Vec<OsString> = args.iter().map(Into::into).collect();
            (is_line(&args), words(&args))
        };
        let line = r#"-dump cpu -fd C:\temp\*a b*;!*c* -pn cmd;explorer -cmdline "*x y*";*z*"#;
        let same = r#"-dump cpu -fd "C:\temp\*a b*;!*c*" -pn cmd;explorer -cmdline "*x y*";*z*"#;
        let expected = [
            "-dump",
            "cpu",
            "-fd",
            r"C:\temp\*a b*;!*c*",
            "-pn",
            "cmd;explorer",
            "-cmdline",
            "*x y*;*z*",
        ];
        assert_ne!(read(&["etwkit", line]).1, expected, "a blank parts words");
        assert_eq!(
            read(&["etwkit", same]),
            (true, expected.map(Into::into).into())
        );
        for args in [
            &["etwkit", "ETWAnalyzer -dump stats"][..],
            &["etwkit", r"C:\tools\EtwAnalyzer.exe -dump stats"],
            &["etwkit", "etwanalyzer", "-dump", "stats"],
            &["/bin/ETWAnalyzer", "-dump stats"],
            &["ETWAnalyzer", "-dump", "stats"],
            &["etwkit", "\u{2013}dump stats"],
            &["etwkit", "\u{2013}dump", "stats"],
        ] {
            assert_eq!(read(args), (true, vec!["-dump".into(), "stats".into()]));
        }
        // Words of ours with blanks.
        for args in [
            &["etwkit", "dump cpu"][..],
            &["etwkit", "a b.etl"],
            &["etwkit", "etwanalyzer.etl"],
            &["etwkit", "-q x"],
            &["etwkit", "dump", "-dump x"],
        ] {
            assert!(!read(args).0, "{args:?}");
            assert_eq!(read(args).1, &args[1..]);
        }
    }

    #[test]
    fn quotes_of_word_processors_are_quotes() {
        for (typed, expected) in [
            (&["a", "b"][..], &["a", "b"][..]),
            (&["\u{201c}a", "b\u{201d};c", "d"], &["a b;c", "d"]),
            (&["\u{201e}a\u{201c}", "b"], &["a", "b"]),
            (&["\u{201c}a", "b", "c\u{201d}"], &["a b c"]),
            (&["\u{201c}a", "b"], &["a b"]),
            // Names can have such marks.
            (&["it\u{201d}s", "b"], &["it\u{201d}s", "b"]),
        ] {
            let words = typed.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(quoted_as_in_texts(words), expected, "{typed:?}");
        }
    }

    #[test]
    fn lines_are_quoted_for_a_shell() {
        let args = ["dump", "cpu", "--process=cmd;explorer", "it's"].map(OsString::from);
        assert_eq!(
            shell_line(&args),
            r#"etwkit dump cpu "--process=cmd;explorer" "it's""#
        );
        // An empty word is an argument, too.
        let args = ["dump", "cpu", "--process", "", "x.etwx"].map(OsString::from);
        assert_eq!(shell_line(&args), r#"etwkit dump cpu --process "" x.etwx"#);
    }
}
