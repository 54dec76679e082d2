//! Contents of cells and lines.

use etwkit_sql::time_format::{TimeFormat, TraceClock};

/// The value of a cell. Times are nanoseconds, sizes bytes.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// An unknown value.
    Missing,
    /// A number, a time or a size.
    Number(i64),
    /// A number with a fraction.
    Float(f64),
    /// Text.
    Text(String),
    /// A process.
    Process(ProcessCell),
    /// Bytes moved, and the time it took in nanoseconds.
    Rate(i64, i64),
    /// A time of the trace in its own format.
    Moment(TimeFormat, i64),
    /// A time of another trace, with the clock of that trace.
    MomentOf(TraceClock, i64),
    /// Words and values.
    Line(Line),
}

/// Rows with the columns of a process: the ones that [`declare!`](crate::declare) marks with
/// `: process`.
pub trait ProcessColumns {
    /// Returns their process.
    fn process_cell(&self) -> ProcessCell;
}

/// The process of a row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessCell {
    /// File name of its executable.
    pub name: Option<String>,
    /// Process id.
    pub pid: Option<i64>,
    /// Start, if in the trace.
    pub start_ns: Option<i64>,
    /// End, if in the trace.
    pub stop_ns: Option<i64>,
    /// Its command line.
    pub command_line: Option<String>,
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Line> for Value {
    fn from(line: Line) -> Self {
        Self::Line(line)
    }
}

impl<V: Into<Self>> From<Option<V>> for Value {
    fn from(value: Option<V>) -> Self {
        value.map_or(Self::Missing, Into::into)
    }
}

impl<R: ProcessColumns> From<&R> for Value {
    fn from(row: &R) -> Self {
        Self::Process(row.process_cell())
    }
}

/// The text format of a value. Each has the unit that the title of its column names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A whole number, digits in groups.
    Whole,
    /// A number that is a name: digits without groups.
    Id,
    /// Milliseconds.
    Milliseconds,
    /// Milliseconds with microseconds.
    FineMilliseconds,
    /// Microseconds with one digit.
    Microseconds,
    /// Whole microseconds.
    WholeMicroseconds,
    /// Whole microseconds with their unit, in a line of microseconds. ETWAnalyzer mixes seconds
    /// with them.
    AmongMicroseconds,
    /// Seconds with this number of digits.
    Seconds(u8),
    /// A number with this number of digits.
    Fixed(u8),
    /// A whole number as it is, and a number with a fraction with this number of digits.
    WholeOrFixed(u8),
    /// MB of 10⁶ bytes.
    Megabytes,
    /// kB of 1000 bytes.
    Kilobytes,
    /// MiB of 2²⁰ bytes.
    Mebibytes,
    /// Bytes with the largest matching unit.
    Bytes,
    /// Bytes as a whole number: `1,234 B`.
    PlainBytes,
    /// MB per second of a [`Value::Rate`].
    Throughput,
    /// A time of the trace, in the format of times.
    Moment,
    /// A time of the trace among words, aligned to the left.
    LeftMoment,
    /// A duration as `01:02:03.456`.
    Length,
    /// Words.
    Word,
    /// A process by name and id.
    Process,
    /// A process by name and id, with its command line.
    ProcessLine,
    /// A command line, unless these are hidden.
    CommandLine,
    /// The name of the trace of the row; its value is ignored.
    Trace,
}

impl Format {
    /// Returns `true` if cells are aligned to the right.
    #[must_use]
    pub const fn is_number(self) -> bool {
        !matches!(
            self,
            Self::Word
                | Self::LeftMoment
                | Self::Process
                | Self::ProcessLine
                | Self::CommandLine
                | Self::Trace
        )
    }
}

/// A piece of a line.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Words.
    Words(String),
    /// A value.
    Value(Format, Value),
}

/// A line of words and values: a heading, a sum, or a line below a row.
#[must_use]
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Line {
    /// Its pieces.
    pub pieces: Vec<Piece>,
    /// True if it is a heading.
    pub is_heading: bool,
    /// True if it ends with a command line about the trace, which then lacks only the trace.
    pub is_command: bool,
}

impl Line {
    /// Creates a line that starts with these words.
    pub fn new(words: impl Into<String>) -> Self {
        Self::default().words(words)
    }

    /// Creates a heading that starts with these words.
    pub fn heading(words: impl Into<String>) -> Self {
        Self {
            is_heading: true,
            ..Self::new(words)
        }
    }

    /// Creates a line that ends with a command line of this program, after a label. Who prints it
    /// adds the trace.
    pub fn command(label: impl Into<String>, command: &str) -> Self {
        Self {
            is_command: true,
            ..Self::new(label).words(format!("etwkit {command}"))
        }
    }

    /// Adds words.
    pub fn words(mut self, words: impl Into<String>) -> Self {
        self.pieces.push(Piece::Words(words.into()));
        self
    }

    /// Says of a sum that it is the one of the rows that are shown, where others were left out.
    pub(crate) fn of_shown(mut self) -> Self {
        if let Some(Piece::Words(words)) = self.pieces.first_mut()
            && let Some(sums) = words.strip_prefix("Total: ")
        {
            *words = format!("Total of the rows shown: {sums}");
        }
        self
    }

    /// Adds a value.
    pub fn value(mut self, format: Format, value: impl Into<Value>) -> Self {
        self.pieces.push(Piece::Value(format, value.into()));
        self
    }

    /// Adds a whole number.
    pub fn whole(self, number: i64) -> Self {
        self.value(Format::Whole, number)
    }

    /// Adds the noun of the number before it, in singular or plural.
    pub fn noun(self, number: &Value, [one, many]: [&str; 2]) -> Self {
        let is_one = *number == Value::Number(1);
        self.words(format!(" {}", if is_one { one } else { many }))
    }

    /// Adds a whole number and its noun.
    pub fn counted(self, number: i64, nouns: [&str; 2]) -> Self {
        self.whole(number).noun(&number.into(), nouns)
    }
}

/// Returns the frames of a stack, which is a text with a line for each, as lines below a row.
#[must_use]
pub fn frames(stack: Option<&str>) -> Vec<Line> {
    stack
        .into_iter()
        .flat_map(str::lines)
        .map(|frame| Line::new(format!("      {frame}")))
        .collect()
}
