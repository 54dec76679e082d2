//! Cells of files of ETWAnalyzer, made of values of our rows.

use std::path::{Path, PathBuf};

use etwkit_base::path;
use etwkit_question::numbers::{Numbers, rounded};
use etwkit_question::path::WHOLE_PATH;
use etwkit_question::test_run::{TestName, stem};
use etwkit_question::trace::TraceInfo;
use etwkit_question::{TypedRow, TypedValue};
use etwkit_questions::power::catalog::scheme_guid;
use etwkit_sql::nt_status;
use etwkit_sql::time_format::{TimeFormat, TimeWriter};

use super::machine;

/// A row with its context.
pub(crate) struct Row<'a> {
    pub(crate) trace: &'a TraceInfo,
    pub(crate) values: &'a TypedRow,
    pub(crate) times: TimeWriter,
    pub(crate) numbers: Numbers,
    /// Settings of the line that are not in rows: formats of first and last times, or the level of
    /// folders.
    pub(crate) words: [&'a str; 2],
    /// The command line, in the first row only.
    pub(crate) line: &'a str,
    /// True if no earlier row is of the same connection, or has the same stack.
    pub(crate) is_first: bool,
}

/// The source of a cell.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cell {
    /// The command line.
    Line,
    /// The test case, or else the name of the trace without its ending.
    TestCase,
    /// Duration of the test, in milliseconds; 0 if the name does not have it.
    TestTime,
    /// Name of the queried extract or trace, without its ending.
    FileName,
    /// Path of the queried extract or trace.
    Source,
    /// Folder of the queried extract or trace.
    Directory,
    /// Version of the main module of the product, which extracts of ETWAnalyzer can have.
    Baseline,
    /// The recorded machine, by the recording or else by the name of the test.
    Machine,
    /// Time of the test, or of the start of the recording.
    Date,
    /// A column, unchanged.
    Is(&'static str),
    /// A column that a row may lack, unchanged.
    Maybe(&'static str),
    /// A number; 0 if it is missing.
    OrZero(&'static str),
    /// The first column, or else the second one.
    Either(&'static str, &'static str),
    /// `True` or `False`.
    Bool(&'static str),
    /// `True` if a number is larger.
    More(&'static str, i64),
    /// `True` if the column has this text.
    Equals(&'static str, &'static str),
    /// A word for each text.
    Named(&'static str, &'static [(&'static str, &'static str)]),
    /// Another cell, if a column is true.
    If(&'static str, &'static Cell),
    /// Another cell in the first row of several, 0 in the others.
    Once(&'static Cell),
    /// Nanoseconds as milliseconds, rounded half to even.
    Ms(&'static str),
    /// Nanoseconds as microseconds, cut.
    Us(&'static str),
    /// The sum of both, in microseconds.
    UsOfBoth(&'static str, &'static str),
    /// A duration in nanoseconds as seconds, with four digits.
    Seconds(&'static str),
    /// A duration in nanoseconds as seconds, with all its digits.
    S(&'static str),
    /// A time in nanoseconds as seconds of the trace: a time, which no locale changes.
    Moment(&'static str),
    /// The first or last time of a row, in the format that the line names for it, or else as
    /// seconds with four digits.
    CallTime(&'static str, usize),
    /// Seconds between two times.
    Between(&'static str, &'static str),
    /// Nanoseconds as minutes, cut.
    Minutes(&'static str),
    /// Nanoseconds since the start as a time.
    Time(&'static str),
    /// Bytes as whole MiB.
    Mib(&'static str),
    /// A rate in bytes as MiB with three digits.
    Mebi(&'static str),
    /// The first column in percent of the second one, cut.
    Percent(&'static str, &'static str),
    /// Name and id of the process, which are in these columns.
    Process(&'static str, &'static str),
    /// A path if rows are files, otherwise empty.
    FileAtLevel(&'static str),
    /// The folder of a row: the folder of its path if rows are files.
    FolderAtLevel(&'static str),
    /// The folder of a path, cut to the level of folders.
    FolderTo(&'static str),
    /// The folder of a path.
    FolderOf(&'static str),
    /// The last part of a path.
    NameOf(&'static str),
    /// A command line without the executable.
    Arguments(&'static str),
    /// Frames of a stack, a line for each.
    Frames(&'static str),
    /// Number of a stack, and its frames at its first occurrence; the columns of both.
    Stack(&'static str, &'static str),
    /// Versions, product, description and folder of the module of a row, whose path is in this
    /// column.
    Module(&'static str),
    /// Vendor and category of a well-known driver, then [`Cell::Module`].
    Driver(&'static str),
    /// An exit code, or the name of its error.
    ReturnCode(&'static str),
    /// A number, rounded to a whole one, half away from zero.
    Rounded(&'static str),
    /// Facts of all parts of the machine of these kinds, which have one of these names.
    Facts(&'static [&'static str], &'static [&'static str]),
    /// 1 if the column has a value, otherwise 0.
    Has(&'static str),
    /// The first column divided by e to the power of the second one.
    Depth(&'static str, &'static str),
    /// Bytes per microsecond, which is MB per second.
    Rate(&'static str, &'static str),
    /// Change of the references of an object by an event.
    References,
    /// Lifetime of an object in seconds; 9999 if it has not ended.
    Lifetime,
    /// A power setting, with its unit in the title.
    Setting(&'static str),
    /// The name of a power scheme.
    SchemeName(&'static str),
    /// Its GUID.
    SchemeGuid(&'static str),
    /// Empty: no trace has it.
    Empty,
}

impl Cell {
    pub(crate) fn of(self, row: &Row<'_>) -> String {
        match self {
            Self::Line => row.line.to_owned(),
            Self::TestCase => row.test_case(),
            Self::TestTime => row.test().map_or(0, |test| test.duration_ms).to_string(),
            Self::FileName => without_ending(&row.file()).to_owned(),
            Self::Baseline => row.trace.baseline.as_deref().unwrap_or("").to_owned(),
            Self::Source => row.source().display().to_string(),
            Self::Directory => row
                .source()
                .parent()
                .unwrap_or(Path::new(""))
                .display()
                .to_string(),
            Self::Machine => row.machine(),
            Self::Date => row.date(),
            Self::Is(name) => row.text(name),
            Self::Maybe(name) => row.maybe(name),
            Self::Either(name, other) => Some(row.text(name))
                .filter(|text| !text.is_empty())
                .unwrap_or_else(|| row.text(other)),
            Self::Equals(name, text) => truth(row.text(name) == text),
            Self::Named(name, words) => {
                let text = row.text(name);
                words
                    .iter()
                    .find(|(from, _)| *from == text)
                    .map_or(text, |(_, word)| (*word).to_owned())
            }
            Self::If(name, cell) if row.get(name).and_then(TypedValue::truth) == Some(true) => {
                cell.of(row)
            }
            Self::Once(cell) if row.is_first => cell.of(row),
            Self::Once(_) => "0".to_owned(),
            Self::Process(name, pid) => match row.text(pid) {
                pid if pid.is_empty() => row.text(name),
                pid => format!("{}({pid})", row.text(name)),
            },
            Self::FileAtLevel(name) if row.is_of_files() => row.text(name),
            Self::FolderAtLevel(name) if row.is_of_files() => {
                machine::folder(&row.text(name), 0).to_owned()
            }
            Self::FolderAtLevel(name) => row.text(name),
            Self::FolderTo(name) => machine::folder(&row.text(name), row.level()).to_owned(),
            Self::FolderOf(name) => machine::folder(&row.text(name), 0).to_owned(),
            Self::NameOf(name) => path::file_name(&row.text(name)).to_owned(),
            Self::Module(path) => row.module(path),
            Self::Driver(path) => row.driver(path),
            // ETWAnalyzer separates screens by this mark, which no separator of a file replaces.
            Self::Facts(topics, names) => machine::facts(row.values, topics, names).join("~"),
            Self::Arguments(name) => arguments(&row.text(name)).to_owned(),
            // Our rows have stacks on one line; ETWAnalyzer has a line for each frame.
            Self::Frames(name) => row.text(name).replace(" < ", "\n"),
            Self::Stack(id, frames) => row.stack(id, frames),
            Self::Setting(guid) => row.setting(guid),
            Self::SchemeName(guid) => first_word(&row.setting(guid)).to_owned(),
            Self::SchemeGuid(guid) => row.scheme(guid),
            // A value that a row lacks is an empty cell.
            _ => self.computed(row).unwrap_or_default(),
        }
    }

    /// Returns a value computed from numbers; `None` if one of them is missing.
    fn computed(self, row: &Row<'_>) -> Option<String> {
        let number = |name| row.number(name);
        let seconds = |name| Some(row.number(name)? as f64 / 1e9);
        let fraction = |name| row.get(name)?.number();
        Some(match self {
            // ETWAnalyzer writes a missing number of these columns as 0.
            Self::OrZero(name) => number(name).unwrap_or_default().to_string(),
            Self::Bool(name) => truth(row.get(name)?.truth()?),
            Self::More(name, least) => truth(number(name).is_some_and(|number| number > least)),
            Self::Has(name) => u8::from(number(name).is_some()).to_string(),
            Self::Ms(name) => rounded(number(name)?, 1_000_000).to_string(),
            Self::Us(name) => (number(name)? / 1000).to_string(),
            Self::UsOfBoth(name, other) => {
                (number(name)?.saturating_add(number(other)?) / 1000).to_string()
            }
            Self::Seconds(name) => row.numbers.fixed(seconds(name)?, 4),
            Self::S(name) => row.numbers.all_digits(seconds(name)?),
            Self::Moment(name) => seconds(name)?.to_string(),
            Self::Between(from, to) => row
                .numbers
                .all_digits(number(to)?.saturating_sub(number(from)?) as f64 / 1e9),
            Self::Minutes(name) => (number(name)? / 60_000_000_000).to_string(),
            Self::Time(name) => row.times.write(number(name)?),
            Self::CallTime(name, word) => row.call_time(number(name)?, word),
            Self::Mib(name) => (number(name)? >> 20).to_string(),
            Self::Mebi(name) => row.numbers.fixed(fraction(name)? / 1_048_576.0, 3),
            Self::Rounded(name) => fraction(name)?.round().to_string(),
            Self::Percent(part, whole) => {
                // A share of nothing is 0.
                let share = number(part)
                    .zip(number(whole))
                    .and_then(|(part, whole)| part.saturating_mul(100).checked_div(whole));
                share.unwrap_or(0).to_string()
            }
            Self::Depth(cost, depth) => row
                .numbers
                .all_digits(number(cost)? as f64 / 1e6 / fraction(depth)?.exp()),
            Self::Rate(bytes, ns) => match (number(bytes)?, number(ns)?) {
                // In 64 bits, a thousand times the bytes could overflow.
                (bytes, ns) if ns > 0 => (i128::from(bytes) * 1000 / i128::from(ns)).to_string(),
                _ => "0".to_owned(),
            },
            Self::ReturnCode(name) => {
                let code = number(name)?;
                let name = i32::try_from(code).ok().and_then(nt_status::error_name);
                name.map_or_else(|| code.to_string(), str::to_owned)
            }
            Self::References => match row.text("event").as_str() {
                "reference" => number("count")?.to_string(),
                "dereference" => number("count")?.saturating_neg().to_string(),
                _ => return None,
            },
            Self::Lifetime => match seconds("lifetime_ns") {
                Some(seconds) => row.numbers.all_digits(seconds),
                None if number("destroyed_ns").is_none() => "9999".to_owned(),
                None => return None,
            },
            _ => return None,
        })
    }
}

impl Row<'_> {
    /// Returns the value of a column, which every row of the sub command has.
    fn get(&self, name: &str) -> Option<&TypedValue> {
        let value = self.values.get(name);
        // Only in debug builds: a column that was renamed is a defect of the tables, which tests
        // find, and not a reason to refuse a file to a user.
        debug_assert!(value.is_some(), "there is no column {name}");
        value
    }

    fn number(&self, name: &str) -> Option<i64> {
        self.get(name)?.whole()
    }

    fn text(&self, name: &str) -> String {
        self.get(name)
            .map_or_else(String::new, |value| self.numbers.typed(value))
    }

    /// Returns the text of a column, which a row may lack.
    fn maybe(&self, name: &str) -> String {
        self.values
            .get(name)
            .map_or_else(String::new, |value| self.numbers.typed(value))
    }

    /// Returns the name of the file that was given, or else of the trace.
    fn file(&self) -> String {
        let path = self
            .trace
            .extract_path
            .as_deref()
            .unwrap_or(&self.trace.file_name);
        path::file_name(path.trim_end_matches(['/', '\\'])).to_owned()
    }

    fn machine(&self) -> String {
        let of_name = || self.test().map(|test| test.machine);
        let recorded = self.trace.computer.clone();
        // The cell is empty if neither the trace nor the name of its file says it.
        recorded.or_else(of_name).unwrap_or_default()
    }

    /// Returns the parts of the file name of a test.
    fn test(&self) -> Option<TestName> {
        TestName::parse(&self.file())
    }

    fn test_case(&self) -> String {
        self.test().map_or_else(
            || without_ending(&self.file()).to_owned(),
            |test| test.test_case,
        )
    }

    /// Returns the levels of folders below the drive by which rows are grouped.
    fn level(&self) -> usize {
        let [level, _] = self.words;
        // Sub commands without levels have no number here.
        level.parse().unwrap_or(0)
    }

    /// Returns `true` if rows are files instead of folders.
    fn is_of_files(&self) -> bool {
        self.level() >= WHOLE_PATH as usize
    }

    fn call_time(&self, ns: i64, word: usize) -> String {
        match self.words.get(word).and_then(|format| format.parse().ok()) {
            None | Some(TimeFormat::Seconds) => format!("{:.4}", ns as f64 / 1e9),
            Some(format) => self.times.with_format(format).write(ns),
        }
    }

    /// Returns the versions of a module; columns that a row lacks count as unknown.
    fn module(&self, path: &str) -> String {
        let text = |name| self.maybe(name);
        let path = self.maybe(path);
        let folder = machine::folder(&path, 0);
        let version = text("file_version");
        let product = text("product_name");
        machine::module(
            &version,
            &text("product_version"),
            &product,
            &text("description"),
            folder,
        )
    }

    fn driver(&self, path: &str) -> String {
        let (vendor, category) = (self.text("driver_vendor"), self.text("driver_category"));
        let module = self.module(path);
        if vendor.is_empty() {
            module
        } else {
            format!("Vendor: {vendor} {category} {module}")
                .trim_end()
                .to_owned()
        }
    }

    /// Returns the time of the test, or of the start of the recording: to the second, on the clock
    /// of the recorded machine.
    fn date(&self) -> String {
        match self.test().and_then(|test| test.performed_at) {
            Some(at) => at.format("%Y-%m-%d %H:%M:%S").to_string(),
            None => TimeWriter::new(TimeFormat::Local, 0, self.trace.clock()).write(0),
        }
    }

    /// Returns the whole path of the extract.
    fn source(&self) -> PathBuf {
        let path = Path::new(self.trace.extract_path.as_deref().unwrap_or(""));
        // A path with a root is left as it is, since it may be from another system, where making it
        // absolute would prefix a folder of this one.
        let whole = if path.has_root() {
            None
        } else {
            std::path::absolute(path).ok()
        };
        whole.unwrap_or_else(|| path.to_owned())
    }

    fn stack(&self, id: &str, frames: &str) -> String {
        let id = self.text(id);
        if id.is_empty() {
            return id;
        }
        // Texts of stacks are long: each is written once, and rows that follow name it by its
        // number.
        let frames = if self.is_first {
            self.text(frames).replace(" < ", "\n")
        } else {
            String::new()
        };
        format!("StackId: {id} {frames}").trim_end().to_owned()
    }

    /// Returns the value of a power setting without a unit; switches are true or false.
    fn setting(&self, guid: &str) -> String {
        let value = self.maybe(guid);
        match value.as_str() {
            "on" => truth(true),
            "off" => truth(false),
            number => match number.split_once(' ') {
                Some((number, _)) if number.bytes().all(|b| b.is_ascii_digit()) => {
                    number.to_owned()
                }
                _ => value,
            },
        }
    }

    /// Returns the GUID of a power scheme: from its known name, or from the text after the name.
    fn scheme(&self, guid: &str) -> String {
        let value = self.setting(guid);
        match value.split_once(' ') {
            Some((_, guid)) => guid.to_owned(),
            None => scheme_guid(&value).unwrap_or("").to_owned(),
        }
    }
}

fn without_ending(name: &str) -> &str {
    stem(name).unwrap_or_else(|| path::without_ending(name))
}

/// Formats a boolean like .NET.
fn truth(is: bool) -> String {
    if is { "True" } else { "False" }.to_owned()
}

fn first_word(text: &str) -> &str {
    text.split(' ').next().unwrap_or(text)
}

/// Returns the arguments after the executable; the whole command line if that has no `.exe`.
fn arguments(command_line: &str) -> &str {
    let at = command_line.to_ascii_lowercase().find(".exe");
    let behind = at.and_then(|at| command_line.get(at + ".exe".len()..));
    behind.map_or(command_line, |text| {
        text.strip_prefix('"').unwrap_or(text).trim_start()
    })
}

#[cfg(test)]
mod tests;
