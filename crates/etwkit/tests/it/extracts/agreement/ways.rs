//! A way to ask for a quantity: where its rows come from, what they are of, which columns have it.

/// Where rows come from. Words of commands are separated by blanks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum From {
    /// Objects that a dump prints with `--json`.
    Json(&'static str),
    /// Lines that a dump writes with `--csv`.
    Csv(&'static str),
    /// Objects of a dump over a part of the trace that covers all of it.
    Range(&'static str),
    /// Objects of a dump of a summary.
    Summary(&'static str),
    /// A table that a dump prints for people: the first one with the title of the value.
    Text(&'static str),
    /// A table of `dump overview`, or a sentence of it, by the first words of its heading.
    Overview(&'static str),
    /// The answer to a question of its own; its columns.
    Sql(&'static str),
    /// The answer to an SQL question that is asked of a summary; its columns.
    SummarySql(&'static str),
    /// A question of the library, with parameters.
    Library(&'static str),
    /// A part of the JSON of `info`, by its pointer: an object by keys, a list, or a value. `A or B`: B where
    /// A is empty.
    Info(&'static str),
    /// Lines that a command line of ETWAnalyzer writes with `-csv`.
    Compat(&'static str),
}

/// What values are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// The trace.
    Trace,
    /// A process, by a column with its key. Processes with the same id count together, since not all ways
    /// distinguish them.
    Key(&'static str),
    /// A process, by a column with its id, or with `name(id)`, or with what the truth calls it.
    Id(&'static str),
    /// Something with a name of whatever case; without a name it does not count.
    Name(&'static str),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    pub(super) from: From,
    pub(super) of: Of,
    /// Columns that are added up, `+` between; `#` is the number of rows.
    pub(super) value: &'static str,
    /// Only rows with that value in that column.
    pub(super) only: Option<(&'static str, &'static str)>,
    /// What a number of the column is in the unit of the quantity.
    pub(super) scale: f64,
    /// How far a number of a row may be from the exact one, in the unit of the quantity.
    pub(super) rounding: f64,
}

pub(super) const fn way(from: From, of: Of, value: &'static str) -> Way {
    Way {
        from,
        of,
        value,
        only: None,
        scale: 1.0,
        rounding: 0.0,
    }
}

impl Way {
    pub(super) const fn only(self, column: &'static str, value: &'static str) -> Self {
        Self {
            only: Some((column, value)),
            ..self
        }
    }

    /// Numbers in another unit, written with so many units as the last digit.
    pub(super) const fn in_units(self, scale: f64, last_digit: f64) -> Self {
        Self {
            scale,
            rounding: scale * last_digit,
            ..self
        }
    }
}

/// A quantity: whatever way it is asked for, it is the same number.
#[derive(Debug)]
pub(super) struct Quantity {
    pub(super) name: &'static str,
    /// Only in traces where this question has an answer above zero.
    pub(super) when: Option<&'static str>,
    /// Values that not all ways have.
    pub(super) without: &'static [&'static str],
    pub(super) ways: &'static [Way],
}
