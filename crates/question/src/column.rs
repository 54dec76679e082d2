//! Meaning of the columns of an answer.

use super::value::{Format, Value};
use etwkit_sql::time_format::TimeFormat;

/// The title of a column.
pub enum Title<Q: 'static> {
    /// These words.
    Is(&'static str),
    /// Words that depend on the request.
    Of(fn(&Q) -> String),
    /// The name of times in the requested format.
    Time,
    /// These words, and the name of times in a format of its own.
    TimeIn(&'static str, fn(&Q) -> Option<TimeFormat>),
}

/// Visibility of a column if no option overrides it.
pub enum Visibility<Q: 'static> {
    /// Always shown.
    Yes,
    /// Never shown.
    No,
    /// Shown if the request wants it.
    If(fn(&Q) -> bool),
    /// Shown if a row has a value there, and the request wants it.
    Known(fn(&Q) -> bool),
    /// Shown in one list over several extracts, if the request wants it: elsewhere headings of
    /// groups have it.
    Merged(fn(&Q) -> bool),
}

/// The text in which a column is shown: the text for command lines of `ETWAnalyzer` has the columns
/// of that program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Both texts.
    Both,
    /// Our own text.
    Own,
    /// The text for command lines of `ETWAnalyzer`.
    EtwAnalyzer,
}

/// Aggregation of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Total {
    /// No aggregation.
    None,
    /// The sum of its values.
    Sum,
    /// The largest of its values.
    Max,
}

/// Good direction of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Neither direction.
    Neither,
    /// Small values are good.
    Less,
    /// Large values are good.
    More,
}

/// A column of an answer.
#[must_use]
pub struct Column<Q: 'static, R: 'static> {
    /// Its name for `--column`.
    pub name: &'static str,
    /// Its title.
    pub title: Title<Q>,
    /// Format of its values.
    pub format: Format,
    /// Format of its values, if that depends on the request.
    pub format_of: Option<fn(&Q) -> Format>,
    /// Its visibility.
    pub shown: Visibility<Q>,
    /// The text in which it is shown; another column of the same name may replace it in the other
    /// text.
    pub style: Style,
    /// Aggregation of its values.
    pub total: Total,
    /// Good direction of its values.
    pub better: Better,
    /// Text for an unknown value.
    pub missing: &'static str,
    /// Its value in a row.
    pub value: fn(&Q, &R) -> Value,
}

impl<Q, R> Column<Q, R> {
    /// Creates a column that is shown, without a sum.
    pub const fn new(
        name: &'static str,
        title: &'static str,
        format: Format,
        value: fn(&Q, &R) -> Value,
    ) -> Self {
        Self {
            name,
            title: Title::Is(title),
            format,
            format_of: None,
            shown: Visibility::Yes,
            style: Style::Both,
            total: Total::None,
            better: Better::Neither,
            missing: "",
            value,
        }
    }

    /// Creates a column of times of the trace, under the name of the format.
    pub const fn time(name: &'static str, value: fn(&Q, &R) -> Value) -> Self {
        let column = Self::new(name, "", Format::Moment, value);
        Self {
            title: Title::Time,
            ..column
        }
    }

    /// Sets a title that depends on the request.
    pub const fn titled(self, title: fn(&Q) -> String) -> Self {
        Self {
            title: Title::Of(title),
            ..self
        }
    }

    /// Makes it a column of times of the trace under its title, in another format.
    pub const fn time_in(self, format: fn(&Q) -> Option<TimeFormat>) -> Self {
        let Title::Is(words) = self.title else {
            return self;
        };
        Self {
            title: Title::TimeIn(words, format),
            ..self
        }
    }

    /// Sets a format that depends on the request.
    pub const fn formatted(self, format: fn(&Q) -> Format) -> Self {
        Self {
            format_of: Some(format),
            ..self
        }
    }

    /// Shows it only in one kind of text.
    pub const fn in_style(self, style: Style) -> Self {
        Self { style, ..self }
    }

    /// Shows it only if `--column` names it.
    pub const fn hidden(self) -> Self {
        Self {
            shown: Visibility::No,
            ..self
        }
    }

    /// Shows it if the request wants it.
    pub const fn shown_if(self, shown: fn(&Q) -> bool) -> Self {
        Self {
            shown: Visibility::If(shown),
            ..self
        }
    }

    /// Shows it if a row has a value there and the request wants it.
    pub const fn shown_if_known(self, shown: fn(&Q) -> bool) -> Self {
        Self {
            shown: Visibility::Known(shown),
            ..self
        }
    }

    /// Shows it in one list over several extracts, if the request wants it.
    pub const fn shown_when_merged(self, shown: fn(&Q) -> bool) -> Self {
        Self {
            shown: Visibility::Merged(shown),
            ..self
        }
    }

    /// Marks it as a cost: values add up, and less is better.
    pub const fn cost(self) -> Self {
        Self {
            total: Total::Sum,
            better: Better::Less,
            ..self
        }
    }

    /// Marks it as a cost that does not add up: the largest counts, and less is better.
    pub const fn worst(self) -> Self {
        Self {
            total: Total::Max,
            better: Better::Less,
            ..self
        }
    }

    /// Marks values that add up.
    pub const fn sum(self) -> Self {
        Self {
            total: Total::Sum,
            ..self
        }
    }

    /// Sets the text for unknown values.
    pub const fn or(self, missing: &'static str) -> Self {
        Self { missing, ..self }
    }

    /// Returns the sum of its values in rows.
    pub fn total_of<'r>(&self, request: &Q, rows: impl Iterator<Item = &'r R>) -> Value
    where
        R: 'r,
    {
        let numbers = rows.filter_map(|row| match (self.value)(request, row) {
            Value::Number(number) => Some(number),
            _ => None,
        });
        match self.total {
            Total::None => Value::Missing,
            Total::Sum => numbers.fold(0, i64::saturating_add).into(),
            Total::Max => numbers.max().into(),
        }
    }
}
