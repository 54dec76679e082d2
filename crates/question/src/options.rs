//! Options of questions: declared once, read from JSON, written as JSON.

use std::ops::Deref;
use std::str::FromStr;

use serde_json::{Map, Value};

use crate::range::{RangeError, Unit};

/// Options by name. A flag is `true`, a number a number or its text, any other value the text of a
/// command line.
pub type Values = Map<String, Value>;

/// The type of value of an option.
#[derive(Debug, Clone, PartialEq)]
pub enum OptionKind {
    /// No value: a flag that is given or not.
    Flag,
    /// Any text.
    Text,
    /// One of these words.
    Words(Vec<&'static str>),
    /// Several of these words, with commas between.
    Several(Vec<&'static str>),
    /// Numbers from A to B; this is the default unit.
    Range(Unit),
    /// A whole number between these.
    Whole(i64, i64),
    /// Any number.
    Number,
    /// Names of files; the option can be repeated.
    Files,
    /// Texts; the option can be repeated.
    List,
    /// Two texts, one after the other.
    Two,
}

/// The values that a value is compared with, so that an empty answer can list the existing ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Among {
    /// Processes, by the patterns of a process filter.
    Processes,
    /// Texts: a name for one of them, a name for several, and SQL that returns them in the column
    /// `text`.
    Texts(&'static str, &'static str, &'static str),
}

impl Among {
    /// Threads by their ids.
    pub const THREADS: Self = Self::Texts(
        "thread",
        "threads",
        "SELECT CAST(tid AS VARCHAR) AS text FROM thread",
    );

    /// Stack tags.
    pub const TAGS: Self =
        Self::Texts("stack tag", "stack tags", "SELECT tag AS text FROM cpu_tag");
}

/// The part of an answer that an option changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// The selection of rows.
    Rows,
    /// The grouping, order or number of the rows.
    Shape,
    /// The way in which an answer is printed.
    Output,
}

/// An option of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Opt {
    /// Its declaration.
    pub spec: Spec,
    /// The type of its value.
    pub kind: OptionKind,
    /// Its default value, if it has one.
    pub default: Option<String>,
}

impl Deref for Opt {
    type Target = Spec;

    fn deref(&self) -> &Spec {
        &self.spec
    }
}

/// The declaration of an option, without the type of its field.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spec {
    /// Its name, without dashes.
    pub name: &'static str,
    /// Its effect, in one sentence without a full stop.
    pub sentence: &'static str,
    /// Placeholder of its value in help.
    pub value_name: &'static str,
    pub(super) unit: Unit,
    pub(super) between: (i64, i64),
    pub(super) either: Option<[&'static str; 2]>,
    pub(super) among: &'static [&'static str],
    pub(super) all: Option<&'static str>,
    /// Its value if it is given alone, if that is allowed.
    pub alone: Option<&'static str>,
    /// True if its value may follow after a blank although the option may be given alone.
    pub is_apart: bool,
    /// Options that it excludes.
    pub excludes: &'static [&'static str],
    /// The option that it requires.
    pub requires: Option<&'static str>,
    /// True if there is no answer without it.
    pub is_required: bool,
    /// Other names for it.
    pub also: &'static [&'static str],
    /// The part of an answer that it changes.
    pub group: Group,
    /// The heading above it in help, if it has one.
    pub heading: Option<&'static str>,
    /// The values that its value is compared with, so that an empty answer can list them.
    pub of: Option<Among>,
}

/// Declares an option with this placeholder of its value in help.
pub const fn option(value_name: &'static str) -> Spec {
    Spec {
        name: "",
        sentence: "",
        value_name,
        unit: Unit::Count,
        between: (0, i64::MAX),
        either: None,
        among: &[],
        alone: None,
        is_apart: false,
        all: None,
        excludes: &[],
        requires: None,
        is_required: false,
        also: &[],
        group: Group::Rows,
        heading: None,
        of: None,
    }
}

/// Declares options that several questions share.
pub const fn group() -> Spec {
    option("")
}

impl Spec {
    /// Sets the option's name, if it differs from the name of the field.
    pub const fn called(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// Sets the default unit of numbers.
    pub const fn unit(self, unit: Unit) -> Self {
        Self { unit, ..self }
    }

    /// Sets the bounds of a whole number.
    pub const fn between(self, least: i64, most: i64) -> Self {
        Self {
            between: (least, most),
            ..self
        }
    }

    /// Sets the words of a flag: not set, set.
    pub const fn either(self, no: &'static str, yes: &'static str) -> Self {
        Self {
            either: Some([no, yes]),
            ..self
        }
    }

    /// Sets the words that a text can be.
    pub const fn among(self, words: &'static [&'static str]) -> Self {
        Self {
            among: words,
            ..self
        }
    }

    /// Allows the option without a value, which is then this one.
    pub const fn alone(self, value: &'static str) -> Self {
        Self {
            alone: Some(value),
            ..self
        }
    }

    /// Allows a value after a blank even if the option may be given alone.
    pub const fn apart(self) -> Self {
        Self {
            is_apart: true,
            ..self
        }
    }

    /// Also allows the value `all`, which chooses nothing.
    pub const fn or_all(self) -> Self {
        Self {
            all: Some("all"),
            ..self
        }
    }

    /// Also allows the value `none`, which chooses nothing.
    pub const fn or_none(self) -> Self {
        Self {
            all: Some("none"),
            ..self
        }
    }

    /// Sets the values that its value is compared with.
    pub const fn of(self, of: Among) -> Self {
        Self {
            of: Some(of),
            ..self
        }
    }

    /// Sets the options that it excludes.
    pub const fn excludes(self, options: &'static [&'static str]) -> Self {
        Self {
            excludes: options,
            ..self
        }
    }

    /// Sets the option that it requires.
    pub const fn requires(self, option: &'static str) -> Self {
        Self {
            requires: Some(option),
            ..self
        }
    }

    /// Makes the option required.
    pub const fn required(self) -> Self {
        Self {
            is_required: true,
            ..self
        }
    }

    /// Sets other names for it.
    pub const fn also(self, words: &'static [&'static str]) -> Self {
        Self {
            also: words,
            ..self
        }
    }

    /// Puts the option below this heading in help.
    pub const fn below(self, heading: &'static str) -> Self {
        Self {
            heading: Some(heading),
            ..self
        }
    }

    /// Declares that it changes only the grouping, order or cut of rows.
    pub const fn shape(self) -> Self {
        Self {
            group: Group::Shape,
            ..self
        }
    }

    /// Declares that it changes only the way an answer is printed.
    pub const fn output(self) -> Self {
        Self {
            group: Group::Output,
            ..self
        }
    }

    /// Sets its name to a field, and its sentence to the documentation of the field.
    pub fn of_field(self, field: &'static str, sentence: &'static str) -> Self {
        let name = if self.name.is_empty() {
            field
        } else {
            self.name
        };
        Self {
            name,
            sentence: sentence.trim_start(),
            ..self
        }
    }

    /// Creates an option with a kind and a default.
    #[must_use]
    pub const fn opt(self, kind: OptionKind, default: Option<String>) -> Opt {
        Opt {
            spec: self,
            kind,
            default,
        }
    }

    /// Returns `true` if it changes only how an answer is printed.
    #[must_use]
    pub fn is_output(&self) -> bool {
        self.group == Group::Output
    }

    /// Returns the error about its value.
    #[must_use]
    pub fn wrong(&self, problem: impl Into<String>) -> OptionError {
        OptionError::Value {
            option: self.name,
            problem: problem.into(),
        }
    }

    /// Returns the text of a value.
    ///
    /// # Errors
    /// The value is neither a text nor a number.
    pub fn text(&self, values: &Values) -> Result<Option<String>, OptionError> {
        match values.get(self.name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(other) => Err(self.wrong(format!("expected text, found {other}"))),
        }
    }

    pub(super) fn none_of(&self, text: &str, words: &[&str]) -> OptionError {
        self.wrong(format!(
            "expected one of {}, found {text:?}",
            words.join(", ")
        ))
    }

    /// Returns the word of the declaration that equals a text.
    pub(super) fn one_of(&self, text: &str) -> Result<&'static str, OptionError> {
        let found = self.among.iter().copied().find(|word| *word == text);
        found.ok_or_else(|| self.none_of(text, self.among))
    }

    /// Parses a text as a type whose parser describes the error.
    ///
    /// # Errors
    /// The parser refuses the text.
    pub fn parsed<P: FromStr<Err = String>>(&self, text: &str) -> Result<P, OptionError> {
        text.parse()
            .map_err(|problem| self.wrong(format!("{text:?}: {problem}")))
    }

    pub(super) fn number<N: FromStr>(&self, text: &str, what: &str) -> Result<N, OptionError> {
        text.parse()
            .map_err(|_| self.wrong(format!("expected {what}, found {text:?}")))
    }

    pub(super) fn whole(&self, text: &str) -> Result<i64, OptionError> {
        let number = self.number(text, "a whole number")?;
        match self.between {
            (least, most) if (least..=most).contains(&number) => Ok(number),
            (least, i64::MAX) => {
                Err(self.wrong(format!("expected {least} or more, found {number}")))
            }
            (least, most) => Err(self.wrong(format!("expected {least} to {most}, found {number}"))),
        }
    }
}

/// An option has an invalid value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// A range is malformed.
    #[error("--{option}: {source}")]
    Range {
        /// The name of the option.
        option: &'static str,
        /// The position of the error and the syntax of a range.
        source: RangeError,
    },
    /// The value has the wrong form.
    #[error("--{option}: {problem}")]
    Value {
        /// The name of the option.
        option: &'static str,
        /// The expected and the given value.
        problem: String,
    },
    /// There is no option of that name.
    #[error("{word:?} is no option; there are: {}", known.join(" "))]
    Unknown {
        /// The given name.
        word: String,
        /// The existing names.
        known: Vec<&'static str>,
    },
}

/// Returns values by the names of their options, including values given by other names.
pub(super) fn by_name(options: &[Opt], values: &Values) -> Result<Values, OptionError> {
    let mut known = Values::new();
    for (word, value) in values {
        let is_it = |option: &&Opt| option.name == *word || option.also.contains(&word.as_str());
        let Some(option) = options.iter().find(is_it) else {
            let known = options.iter().map(|option| option.name).collect();
            return Err(OptionError::Unknown {
                word: word.clone(),
                known,
            });
        };
        // Two words for one option could have two values, and neither is more right than the other.
        if known
            .insert(option.name.to_owned(), value.clone())
            .is_some()
        {
            let problem = format!("it is given twice, also as {word}");
            return Err(OptionError::Value {
                option: option.name,
                problem,
            });
        }
    }
    Ok(known)
}

/// A request to a question: its fields are its options.
pub trait Request: Sized + Default {
    /// Returns all options, in the order in which they are declared.
    fn options() -> Vec<Opt>;

    /// Reads a request from values. Missing ones have their default.
    ///
    /// # Errors
    /// A value that the option does not take. Names of other options are ignored: see
    /// [`Request::from_json`].
    fn read(values: &Values) -> Result<Self, OptionError>;

    /// Returns the values that differ from the defaults.
    fn write(&self) -> Values;

    /// Sets ranges of a trace, by the names of their options.
    fn place(&mut self, parts: &Values);

    /// Reads the request from JSON.
    ///
    /// # Errors
    /// The errors of [`Request::read`]; a name that is not an option.
    fn from_json(values: &Values) -> Result<Self, OptionError> {
        Self::read(&by_name(&Self::options(), values)?)
    }
}
