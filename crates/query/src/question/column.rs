//! What the columns of an answer mean.

use super::value::{Format, Value};
use crate::time_format::TimeFormat;

/// What stands above a column.
pub enum Title<Q: 'static> {
    /// These words.
    Is(&'static str),
    /// Words that depend on the request.
    Of(fn(&Q) -> String),
    /// The name of times in the format that is asked for.
    Time,
    /// These words, and the name of times in a format of its own.
    TimeIn(&'static str, fn(&Q) -> Option<TimeFormat>),
}

/// Whether a column is shown where no option says otherwise.
pub enum Shown<Q: 'static> {
    /// It is.
    Yes,
    /// It is not.
    No,
    /// It depends on the request.
    If(fn(&Q) -> bool),
    /// If a row has a value there, and the request wants it.
    Known(fn(&Q) -> bool),
    /// In one list over several extracts, if the request wants it: elsewhere headings of groups say it.
    Merged(fn(&Q) -> bool),
}

/// In which text a column is shown: the text for command lines of `ETWAnalyzer` has the columns of that
/// program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// In both.
    Both,
    /// In our own.
    Own,
    /// In that for command lines of `ETWAnalyzer`.
    EtwAnalyzer,
}

/// What the sum of a column is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Total {
    /// There is none.
    None,
    /// The sum of its values.
    Sum,
    /// The largest of them.
    Max,
}

/// Which values are good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Neither.
    Neither,
    /// Small ones.
    Less,
    /// Large ones.
    More,
}

/// A column of an answer.
#[must_use]
pub struct Column<Q: 'static, R: 'static> {
    /// Its name for `--column`.
    pub name: &'static str,
    /// What stands above it.
    pub title: Title<Q>,
    /// How its values are written.
    pub format: Format,
    /// How they are written, where that depends on the request.
    pub format_of: Option<fn(&Q) -> Format>,
    /// Whether it is shown.
    pub shown: Shown<Q>,
    /// In which text; another column of the same name may stand for it in the other one.
    pub style: Style,
    /// What its sum is.
    pub total: Total,
    /// Which values are good.
    pub better: Better,
    /// What stands for a value that is not known.
    pub missing: &'static str,
    /// Its value in a row.
    pub value: fn(&Q, &R) -> Value,
}

impl<Q, R> Column<Q, R> {
    /// A column that is shown, without a sum.
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
            shown: Shown::Yes,
            style: Style::Both,
            total: Total::None,
            better: Better::Neither,
            missing: "",
            value,
        }
    }

    /// A moment of the trace, under the name of the format.
    pub const fn time(name: &'static str, value: fn(&Q, &R) -> Value) -> Self {
        let column = Self::new(name, "", Format::Moment, value);
        Self {
            title: Title::Time,
            ..column
        }
    }

    /// Puts words above it that depend on the request.
    pub const fn titled(self, title: fn(&Q) -> String) -> Self {
        Self {
            title: Title::Of(title),
            ..self
        }
    }

    /// A moment of the trace under these words, in a format of its own.
    pub const fn time_in(self, format: fn(&Q) -> Option<TimeFormat>) -> Self {
        let Title::Is(words) = self.title else {
            return self;
        };
        Self {
            title: Title::TimeIn(words, format),
            ..self
        }
    }

    /// Writes values in a format that depends on the request.
    pub const fn formatted(self, format: fn(&Q) -> Format) -> Self {
        Self {
            format_of: Some(format),
            ..self
        }
    }

    /// Shows it in one kind of text alone.
    pub const fn in_style(self, style: Style) -> Self {
        Self { style, ..self }
    }

    /// Shows it only if `--column` names it.
    pub const fn hidden(self) -> Self {
        Self {
            shown: Shown::No,
            ..self
        }
    }

    /// Shows it if the request wants it.
    pub const fn shown_if(self, shown: fn(&Q) -> bool) -> Self {
        Self {
            shown: Shown::If(shown),
            ..self
        }
    }

    /// Shows it if a row has a value there and the request wants it.
    pub const fn shown_if_known(self, shown: fn(&Q) -> bool) -> Self {
        Self {
            shown: Shown::Known(shown),
            ..self
        }
    }

    /// Shows it in one list over several extracts, if the request wants it.
    pub const fn shown_when_merged(self, shown: fn(&Q) -> bool) -> Self {
        Self {
            shown: Shown::Merged(shown),
            ..self
        }
    }

    /// It is a cost: values add up, and less is better.
    pub const fn cost(self) -> Self {
        Self {
            total: Total::Sum,
            better: Better::Less,
            ..self
        }
    }

    /// It is a cost that does not add up: the largest counts, and less is better.
    pub const fn worst(self) -> Self {
        Self {
            total: Total::Max,
            better: Better::Less,
            ..self
        }
    }

    /// Its values add up.
    pub const fn sum(self) -> Self {
        Self {
            total: Total::Sum,
            ..self
        }
    }

    /// Writes these words for what is not known.
    pub const fn or(self, missing: &'static str) -> Self {
        Self { missing, ..self }
    }

    /// The sum of its values in rows.
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
