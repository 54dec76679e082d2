//! What stands in a cell.

use std::path::{Path, PathBuf};

use etwkit_query::dump::path::WHOLE_PATH;
use etwkit_query::dump::power_catalog::scheme_guid;
use etwkit_query::dump::trace::TraceInfo;
use etwkit_query::nt_status;
use etwkit_query::test_run::{TestName, stem};
use etwkit_query::time_format::{TimeFormat, TimeWriter};
use serde_json::{Map, Value};

use super::machine;
use crate::numbers::Numbers;

/// A row, as `--json` has it, with what is around it.
pub(super) struct Row<'a> {
    pub(super) trace: &'a TraceInfo,
    pub(super) values: &'a Map<String, Value>,
    pub(super) times: TimeWriter,
    pub(super) numbers: Numbers,
    /// What the line wants beside rows: formats of first and last times, or the level of folders.
    pub(super) words: [&'a str; 2],
    /// The command line, in the first row only.
    pub(super) line: &'a str,
    /// Whether no row in front of it is of the same connection, or has the same stack.
    pub(super) is_first: bool,
}

/// Where a cell comes from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cell {
    /// The command line.
    Line,
    /// The test case, else the name of the trace without its ending.
    TestCase,
    /// How long the test took, in milliseconds; 0 where the name does not tell.
    TestTime,
    /// Name of what was asked, extract or trace, without its ending.
    FileName,
    /// Path of what was asked.
    Source,
    /// Folder of what was asked.
    Directory,
    /// Version of the main module of the product, which extracts of ETWAnalyzer can tell.
    Baseline,
    /// The recorded machine.
    Machine,
    /// When the test was, or the recording began.
    Date,
    /// A column as it is.
    Is(&'static str),
    /// A column as it is, which a row may lack.
    Maybe(&'static str),
    /// A number, 0 where it is missing.
    OrZero(&'static str),
    /// The first column, else the second one.
    Either(&'static str, &'static str),
    /// `True` or `False`.
    Bool(&'static str),
    /// `True` where a number is larger.
    More(&'static str, i64),
    /// `True` where the column has this text.
    Equals(&'static str, &'static str),
    /// A word for each text.
    Named(&'static str, &'static [(&'static str, &'static str)]),
    /// Another cell where a column is true.
    If(&'static str, &'static Cell),
    /// Another cell in the first row of several, 0 in the others.
    Once(&'static Cell),
    /// Nanoseconds as milliseconds, rounded half to even.
    Ms(&'static str),
    /// Nanoseconds as microseconds, cut.
    Us(&'static str),
    /// The sum of both, in microseconds.
    UsOfBoth(&'static str, &'static str),
    /// A length of time in nanoseconds as seconds, with four digits.
    Seconds(&'static str),
    /// The same with all digits.
    S(&'static str),
    /// A moment in nanoseconds as seconds of the trace with so many digits, else with all: a time, which no locale changes.
    Moment(&'static str, Option<usize>),
    /// The first or last time that a row was seen, in the format that the line names for it, else as seconds
    /// with four digits.
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
    /// A path if rows are files, else nothing.
    FileAtLevel(&'static str),
    /// The folder that rows are of: that of a path if rows are files.
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
    /// Number of a stack, and its frames where it stands first; the columns of both.
    Stack(&'static str, &'static str),
    /// Versions, product, description and folder of the module of a row, whose path is in this column.
    Module(&'static str),
    /// Vendor and category of a well-known driver, then [`Cell::Module`].
    Driver(&'static str),
    /// An exit code, or the name of the error that it is.
    ReturnCode(&'static str),
    /// A number, rounded to a whole one, half away from zero.
    Rounded(&'static str),
    /// Facts of all parts of the machine of these kinds, which have one of these names.
    Facts(&'static [&'static str], &'static [&'static str]),
    /// 1 if the column has a value, else 0.
    Has(&'static str),
    /// The first column divided by e to the power of the second one.
    Depth(&'static str, &'static str),
    /// Bytes per microsecond, which is MB per second.
    Rate(&'static str, &'static str),
    /// By how much an event changes the references of an object.
    References,
    /// Seconds that an object lived, 9999 if it still does.
    Lifetime,
    /// A power setting, whose unit the title tells.
    Setting(&'static str),
    /// The name of a power scheme.
    SchemeName(&'static str),
    /// Its GUID.
    SchemeGuid(&'static str),
    /// Nothing: no trace tells it.
    Empty,
}

impl Cell {
    pub(super) fn of(self, row: &Row<'_>) -> String {
        let ns = |name, text: &dyn Fn(i64) -> String| row.number(name).map(text).unwrap_or_default();
        match self {
            Self::Line => row.line.to_owned(),
            Self::TestCase => row.test_case(),
            Self::TestTime => row.test().map_or(0, |test| test.duration_ms).to_string(),
            Self::FileName => without_ending(&row.file()).to_owned(),
            Self::Baseline => row.trace.baseline.clone().unwrap_or_default(),
            Self::Source => row.source().display().to_string(),
            Self::Directory => row.directory(),
            Self::Machine => row.trace.computer.clone().unwrap_or_default(),
            Self::Date => row.date(),
            Self::Is(name) => row.text(name),
            Self::Maybe(name) => row.values.get(name).map(|value| row.written(value)).unwrap_or_default(),
            Self::OrZero(name) => row.number(name).unwrap_or_default().to_string(),
            Self::Either(name, other) => {
                Some(row.text(name)).filter(|text| !text.is_empty()).unwrap_or_else(|| row.text(other))
            }
            Self::Bool(name) => row.get(name).and_then(Value::as_bool).map(truth).unwrap_or_default(),
            Self::More(name, least) => truth(row.number(name).is_some_and(|number| number > least)),
            Self::Equals(name, text) => truth(row.text(name) == text),
            Self::Named(name, words) => {
                let text = row.text(name);
                words.iter().find(|(from, _)| *from == text).map_or(text, |(_, word)| (*word).to_owned())
            }
            Self::If(name, cell) => {
                let is = row.get(name).and_then(Value::as_bool).unwrap_or_default();
                if is { cell.of(row) } else { String::new() }
            }
            Self::Once(cell) => {
                if row.is_first {
                    cell.of(row)
                } else {
                    "0".to_owned()
                }
            }
            Self::Ms(name) => ns(name, &|ns| rounded(ns, 1_000_000).to_string()),
            Self::Us(name) => ns(name, &|ns| (ns / 1000).to_string()),
            Self::UsOfBoth(name, other) => {
                let both = row.number(name).zip(row.number(other));
                both.map(|(a, b)| (a.saturating_add(b) / 1000).to_string()).unwrap_or_default()
            }
            Self::Seconds(name) => ns(name, &|ns| row.numbers.fixed(ns as f64 / 1e9, 4)),
            Self::S(name) => ns(name, &|ns| row.numbers.all_digits(ns as f64 / 1e9)),
            Self::Moment(name, Some(digits)) => ns(name, &|ns| format!("{:.digits$}", ns as f64 / 1e9)),
            Self::Moment(name, None) => ns(name, &|ns| (ns as f64 / 1e9).to_string()),
            Self::Between(from, to) => {
                let both = row.number(from).zip(row.number(to));
                let length = both.map(|(from, to)| to.saturating_sub(from) as f64 / 1e9);
                length.map(|seconds| row.numbers.all_digits(seconds)).unwrap_or_default()
            }
            Self::Minutes(name) => ns(name, &|ns| (ns / 60_000_000_000).to_string()),
            Self::Time(name) => ns(name, &|ns| row.times.write(ns)),
            Self::CallTime(name, word) => ns(name, &|ns| row.call_time(ns, word)),
            Self::Mib(name) => ns(name, &|bytes| (bytes >> 20).to_string()),
            Self::Mebi(name) => {
                let rate = row.get(name).and_then(Value::as_f64);
                rate.map(|rate| row.numbers.fixed(rate / 1_048_576.0, 3)).unwrap_or_default()
            }
            Self::Percent(part, whole) => {
                let (part, whole) = (row.number(part).unwrap_or(0), row.number(whole).unwrap_or(0));
                part.saturating_mul(100).checked_div(whole).unwrap_or(0).to_string()
            }
            Self::Process(name, pid) => match row.text(pid) {
                pid if pid.is_empty() => row.text(name),
                pid => format!("{}({pid})", row.text(name)),
            },
            Self::FileAtLevel(name) => {
                if row.is_of_files() {
                    row.text(name)
                } else {
                    String::new()
                }
            }
            Self::FolderAtLevel(name) if row.is_of_files() => machine::folder(&row.text(name), 0).to_owned(),
            Self::FolderAtLevel(name) => row.text(name),
            Self::FolderTo(name) => machine::folder(&row.text(name), row.level()).to_owned(),
            Self::Module(path) => row.module(path),
            Self::Driver(path) => row.driver(path),
            Self::ReturnCode(name) => row.return_code(name),
            Self::Rounded(name) => row
                .get(name)
                .and_then(Value::as_f64)
                .map(|number| number.round().to_string())
                .unwrap_or_default(),
            Self::Facts(topics, names) => machine::facts(row.values, topics, names).join(";"),
            Self::FolderOf(name) => {
                let path = row.text(name);
                path.rsplit_once('\\').map_or("", |(folder, _)| folder).to_owned()
            }
            Self::NameOf(name) => file_name(&row.text(name)).to_owned(),
            Self::Arguments(name) => arguments(&row.text(name)).to_owned(),
            Self::Frames(name) => row.text(name).replace(" < ", "\n"),
            Self::Stack(id, frames) => row.stack(id, frames),
            Self::Has(name) => u8::from(row.number(name).is_some()).to_string(),
            Self::Depth(cost, depth) => row.depth(cost, depth),
            Self::Rate(bytes, ns) => row.rate(bytes, ns),
            Self::References => row.references(),
            Self::Lifetime => match row.number("lifetime_ns") {
                Some(ns) => row.numbers.all_digits(ns as f64 / 1e9),
                None if row.number("destroyed_ns").is_none() => "9999".to_owned(),
                None => String::new(),
            },
            Self::Setting(guid) => row.setting(guid),
            Self::SchemeName(guid) => first_word(&row.setting(guid)).to_owned(),
            Self::SchemeGuid(guid) => row.scheme(guid),
            Self::Empty => String::new(),
        }
    }
}

impl Row<'_> {
    /// The value of a column, which every row of the sub command has.
    fn get(&self, name: &str) -> Option<&Value> {
        debug_assert!(self.values.contains_key(name), "there is no column {name}");
        self.values.get(name)
    }

    fn number(&self, name: &str) -> Option<i64> {
        self.get(name)?.as_i64()
    }

    fn text(&self, name: &str) -> String {
        self.get(name).map(|value| self.written(value)).unwrap_or_default()
    }

    /// Fractions have the mark of the locale; what is a text already stays as it is.
    fn written(&self, value: &Value) -> String {
        match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            Value::Number(number) if number.is_f64() => self.numbers.json(number),
            other => other.to_string(),
        }
    }

    /// The name of the file that was asked, else of the trace.
    fn file(&self) -> String {
        let path = self.trace.extract_path.as_deref().unwrap_or(&self.trace.file_name);
        file_name(path.trim_end_matches(['/', '\\'])).to_owned()
    }

    /// What the name of the file tells of a test.
    fn test(&self) -> Option<TestName> {
        TestName::parse(&self.file())
    }

    fn test_case(&self) -> String {
        self.test().map_or_else(|| without_ending(&self.file()).to_owned(), |test| test.test_case)
    }

    /// Folders below the drive that tell rows apart.
    fn level(&self) -> usize {
        let [level, _] = self.words;
        level.parse().unwrap_or(0)
    }

    /// Whether rows are files instead of folders.
    fn is_of_files(&self) -> bool {
        self.level() >= WHOLE_PATH as usize
    }

    fn call_time(&self, ns: i64, word: usize) -> String {
        match self.words.get(word).and_then(|format| format.parse().ok()) {
            None | Some(TimeFormat::Seconds) => format!("{:.4}", ns as f64 / 1e9),
            Some(format) => self.times.with_format(format).write(ns),
        }
    }

    /// Versions of a module; what a row does not have is not known of it.
    fn module(&self, path: &str) -> String {
        let text = |name: &str| self.values.get(name).map(|value| self.written(value)).unwrap_or_default();
        let path = text(path);
        let folder = path.rsplit_once('\\').map_or("", |(folder, _)| folder);
        let (version, product) = (text("file_version"), text("product_name"));
        machine::module(&version, &text("product_version"), &product, &text("description"), folder)
    }

    fn driver(&self, path: &str) -> String {
        let (vendor, category) = (self.text("driver_vendor"), self.text("driver_category"));
        let module = self.module(path);
        if vendor.is_empty() {
            module
        } else {
            format!("Vendor: {vendor} {category} {module}").trim_end().to_owned()
        }
    }

    fn return_code(&self, name: &str) -> String {
        let Some(code) = self.number(name) else { return String::new() };
        let name = i32::try_from(code).ok().and_then(nt_status::error_name);
        name.map_or_else(|| code.to_string(), str::to_owned)
    }

    /// To the second, on the clock of the recorded machine.
    fn date(&self) -> String {
        match self.test().and_then(|test| test.performed_at) {
            Some(at) => at.format("%Y-%m-%d %H:%M:%S").to_string(),
            None => TimeWriter::new(TimeFormat::Local, 0, self.trace.clock()).write(0),
        }
    }

    /// The whole path of the extract.
    fn source(&self) -> PathBuf {
        let path = Path::new(self.trace.extract_path.as_deref().unwrap_or_default());
        let whole = if path.has_root() { None } else { std::path::absolute(path).ok() };
        whole.unwrap_or_else(|| path.to_owned())
    }

    fn directory(&self) -> String {
        self.source().parent().unwrap_or(Path::new("")).display().to_string()
    }

    fn stack(&self, id: &str, frames: &str) -> String {
        let id = self.text(id);
        if id.is_empty() {
            return id;
        }
        let frames = if self.is_first { self.text(frames).replace(" < ", "\n") } else { String::new() };
        format!("StackId: {id} {frames}").trim_end().to_owned()
    }

    fn references(&self) -> String {
        let count = self.number("count").unwrap_or(0);
        match self.text("event").as_str() {
            "reference" => count.to_string(),
            "dereference" => count.saturating_neg().to_string(),
            _ => String::new(),
        }
    }

    /// The value of a power setting without a unit; switches are true or false.
    fn setting(&self, guid: &str) -> String {
        let value = self.values.get(guid).map(|value| self.written(value)).unwrap_or_default();
        match value.as_str() {
            "on" => truth(true),
            "off" => truth(false),
            number => match number.split_once(' ') {
                Some((number, _)) if number.bytes().all(|b| b.is_ascii_digit()) => number.to_owned(),
                _ => value,
            },
        }
    }

    /// The GUID of a power scheme: known by its name, or written behind it.
    fn scheme(&self, guid: &str) -> String {
        let value = self.setting(guid);
        match value.split_once(' ') {
            Some((_, guid)) => guid.to_owned(),
            None => scheme_guid(&value).unwrap_or_default().to_owned(),
        }
    }

    fn depth(&self, cost: &str, depth: &str) -> String {
        let cost = self.number(cost).map(|ns| ns as f64 / 1e6);
        let depth = self.get(depth).and_then(Value::as_f64);
        cost.zip(depth).map(|(cost, depth)| self.numbers.all_digits(cost / depth.exp())).unwrap_or_default()
    }

    fn rate(&self, bytes: &str, ns: &str) -> String {
        let of = self.number(bytes).zip(self.number(ns));
        of.map(|(bytes, ns)| if ns > 0 { i128::from(bytes) * 1000 / i128::from(ns) } else { 0 }.to_string())
            .unwrap_or_default()
    }
}

/// A quotient, rounded half to even.
fn rounded(ns: i64, unit: i64) -> i64 {
    crate::commands::dump::rounded(ns, unit)
}

/// The last part of a path of any system.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn without_ending(name: &str) -> &str {
    stem(name).unwrap_or_else(|| name.rsplit_once('.').map_or(name, |(stem, _)| stem))
}

/// As .NET writes it.
fn truth(is: bool) -> String {
    if is { "True" } else { "False" }.to_owned()
}

fn first_word(text: &str) -> &str {
    text.split(' ').next().unwrap_or(text)
}

/// What stands behind the executable; all of it if that has no `.exe`.
fn arguments(command_line: &str) -> &str {
    let at = command_line.to_ascii_lowercase().find(".exe");
    let behind = at.and_then(|at| command_line.get(at + ".exe".len()..));
    behind.map_or(command_line, |text| text.strip_prefix('"').unwrap_or(text).trim_start())
}

#[cfg(test)]
mod tests;
