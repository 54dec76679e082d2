//! What stands in a cell.

use etwkit_query::dump::trace::TraceInfo;
use etwkit_query::time_format::TimeWriter;
use serde_json::{Map, Value};

/// A row, as `--json` has it, with what is around it.
pub(super) struct Row<'a> {
    pub(super) trace: &'a TraceInfo,
    pub(super) values: &'a Map<String, Value>,
    pub(super) times: TimeWriter,
    /// The command line, in the first row only.
    pub(super) line: &'a str,
}

/// Where a cell comes from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cell {
    /// The command line.
    Line,
    /// Name of the trace without its ending.
    TestCase,
    /// Name of the trace.
    File,
    /// When the recording began.
    Date,
    /// A column as it is.
    Is(&'static str),
    /// Nanoseconds as milliseconds, rounded half to even.
    Ms(&'static str),
    /// Nanoseconds as microseconds, cut.
    Us(&'static str),
    /// Nanoseconds as seconds, with four digits.
    Seconds(&'static str),
    /// Nanoseconds as minutes, cut.
    Minutes(&'static str),
    /// Nanoseconds since the start as a time.
    Time(&'static str),
    /// Name and id of the process, which are in these columns.
    Process(&'static str, &'static str),
    /// 1 if the column has a value, else 0.
    Has(&'static str),
    /// The first column divided by e to the power of the second one.
    Depth(&'static str, &'static str),
    /// Bytes per microsecond, which is MB per second.
    Rate(&'static str, &'static str),
    /// Nothing: no trace tells it.
    Empty,
}

impl Cell {
    pub(super) fn of(self, row: &Row<'_>) -> String {
        match self {
            Self::Line => row.line.to_owned(),
            Self::TestCase => stem(&row.trace.file_name).to_owned(),
            Self::File => row.trace.file_name.clone(),
            Self::Date => row.times.write(0),
            Self::Is(name) => row.text(name),
            Self::Ms(name) => {
                row.number(name).map(|ns| rounded(ns, 1_000_000).to_string()).unwrap_or_default()
            }
            Self::Us(name) => row.number(name).map(|ns| (ns / 1000).to_string()).unwrap_or_default(),
            Self::Seconds(name) => {
                row.number(name).map(|ns| format!("{:.4}", ns as f64 / 1e9)).unwrap_or_default()
            }
            Self::Minutes(name) => {
                row.number(name).map(|ns| (ns / 60_000_000_000).to_string()).unwrap_or_default()
            }
            Self::Time(name) => row.number(name).map(|ns| row.times.write(ns)).unwrap_or_default(),
            Self::Process(name, pid) => match row.text(pid) {
                pid if pid.is_empty() => row.text(name),
                pid => format!("{}({pid})", row.text(name)),
            },
            Self::Has(name) => u8::from(row.number(name).is_some()).to_string(),
            Self::Depth(cost, depth) => row.depth(cost, depth),
            Self::Rate(bytes, ns) => row.rate(bytes, ns),
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
        match self.get(name) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        }
    }

    fn depth(&self, cost: &str, depth: &str) -> String {
        let cost = self.number(cost).map(|ns| ns as f64 / 1e6);
        let depth = self.get(depth).and_then(Value::as_f64);
        cost.zip(depth).map(|(cost, depth)| format!("{}", cost / depth.exp())).unwrap_or_default()
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

fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}
