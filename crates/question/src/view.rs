//! The grouping and presentation of the rows of an answer.

use super::column::Column;
use super::value::{Line, Value};
use crate::group::Top;

/// Rows of one of several extracts.
pub struct Source<R> {
    /// Start of the recording in units of 100 ns since 1601.
    pub start_filetime: i64,
    /// Name of the machine.
    pub computer: Option<String>,
    /// Its rows.
    pub rows: Vec<R>,
}

/// Makes one list of rows of several extracts, each with the number of its extract.
pub type Merge<Q, R> = fn(&Q, Vec<Source<R>>, Top) -> Vec<(usize, R)>;

/// Returns the largest rows of several extracts, ascending, each with the number of its extract.
pub fn largest<R>(sources: Vec<Source<R>>, top: Top, order: fn(&R) -> f64) -> Vec<(usize, R)> {
    let numbered = (0..)
        .zip(sources)
        .flat_map(|(of, source)| source.rows.into_iter().map(move |row| (of, row)));
    let mut all: Vec<(usize, R)> = numbered.collect();
    all.sort_by(|(_, a), (_, b)| order(a).total_cmp(&order(b)));
    top.cut(&mut all);
    all
}

/// Columns of words after the others, whose number depends on the answer.
pub struct Cells<Q: 'static, R: 'static> {
    /// Their common name for `--column`.
    pub name: &'static str,
    /// Returns the title of each of them.
    pub titles: fn(&Q) -> Vec<Line>,
    /// Returns the value of the cell with this number in a row.
    pub value: fn(&Q, &R, usize) -> Value,
}

/// The parts of an answer that are ranked by size, so that people see the largest first. Questions
/// answer ascending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranked {
    /// Rows, and groups of them.
    Rows,
    /// Groups alone: the order of rows has a meaning of its own, such as a tree, or the history of
    /// an object.
    Groups,
    /// Nothing: rows are in order of time, or a list of names.
    No,
}

impl Ranked {
    /// Returns `Rows`, unless the requested order is not by size.
    pub const fn rows_unless(is_in_order: bool) -> Self {
        if is_in_order { Self::No } else { Self::Rows }
    }
}

/// The text of a line of sums, and whether the request shows it after this number of rows.
pub type SumsLine<Q> = (&'static str, fn(&Q, usize) -> bool);

/// The presentation of the rows of an answer.
#[must_use]
pub struct View<Q: 'static, R: 'static> {
    /// Its columns, in order.
    pub columns: &'static [Column<Q, R>],
    /// Further columns, whose number depends on the answer.
    pub cells: Option<Cells<Q, R>>,
    /// The sort key of rows, ascending; rows of several extracts are merged by it.
    pub order: fn(&R) -> f64,
    /// The parts that are ranked by that order.
    pub ranked: fn(&Q) -> Ranked,
    /// The heading above the rows of a group, given these; `None` if rows are not in groups.
    pub heading: fn(&Q, &[R]) -> Option<Line>,
    /// Lines between the heading and the rows.
    pub subheading: fn(&Q, &[R]) -> Vec<Line>,
    /// Lines above a row, given the one before it.
    pub above: fn(&Q, &R, Option<&R>) -> Vec<Line>,
    /// Lines below a row.
    pub below: fn(&Q, &R) -> Vec<Line>,
    /// Returns `true` for rows that text also shows, and not only JSON and CSV.
    pub listed: fn(&R) -> bool,
    /// Returns `true` for a row that needs attention and is colored; a word in it says the same
    /// without color.
    pub alarming: fn(&R) -> bool,
    /// Indentation of each row.
    pub indent: &'static str,
    /// Merges rows of several extracts into one list; the default is the largest of them.
    pub merge: Option<Merge<Q, R>>,
    /// Changes what a merged list is shown for; the default is that of the first extract.
    pub when_merged: Option<fn(&Q) -> Q>,
    /// True if a row of the merged list can be made of rows of several extracts, so that JSON and
    /// CSV also have it. Its times for people count from the start of the earliest recording.
    pub joins_extracts: bool,
    /// Sums after all rows; the last argument is true if these are of several extracts.
    pub total: fn(&Q, &[&R], bool) -> Vec<Line>,
    /// A line of sums before `total`, and whether it is shown, given the number of rows.
    pub sums: Option<SumsLine<Q>>,
}

impl<Q, R> View<Q, R> {
    /// Creates a view without groups and sums.
    pub const fn new(columns: &'static [Column<Q, R>], order: fn(&R) -> f64) -> Self {
        Self {
            columns,
            cells: None,
            order,
            ranked: |_| Ranked::Rows,
            heading: |_, _| None,
            subheading: |_, _| Vec::new(),
            above: |_, _, _| Vec::new(),
            below: |_, _| Vec::new(),
            listed: |_| true,
            alarming: |_| false,
            indent: "",
            merge: None,
            when_merged: None,
            joins_extracts: false,
            total: |_, _, _| Vec::new(),
            sums: None,
        }
    }

    /// Adds columns whose number depends on the answer.
    pub const fn with_cells(self, cells: Cells<Q, R>) -> Self {
        Self {
            cells: Some(cells),
            ..self
        }
    }

    /// Sets the ranked parts.
    pub const fn ranking(self, ranked: fn(&Q) -> Ranked) -> Self {
        Self { ranked, ..self }
    }

    /// Sets the line above each group.
    pub const fn with_headings(self, heading: fn(&Q, &[R]) -> Option<Line>) -> Self {
        Self { heading, ..self }
    }

    /// Sets the lines between the heading of a group and its rows.
    pub const fn with_subheadings(self, subheading: fn(&Q, &[R]) -> Vec<Line>) -> Self {
        Self { subheading, ..self }
    }

    /// Sets the lines above rows.
    pub const fn with_above(self, above: fn(&Q, &R, Option<&R>) -> Vec<Line>) -> Self {
        Self { above, ..self }
    }

    /// Sets the lines below rows.
    pub const fn with_below(self, below: fn(&Q, &R) -> Vec<Line>) -> Self {
        Self { below, ..self }
    }

    /// Lists only these rows in text, each with this indentation.
    pub const fn listing(self, indent: &'static str, listed: fn(&R) -> bool) -> Self {
        Self {
            listed,
            indent,
            ..self
        }
    }

    /// Prints these rows in the color of warnings.
    pub const fn alarming_if(self, alarming: fn(&R) -> bool) -> Self {
        Self { alarming, ..self }
    }

    /// Sets the function that merges rows of several extracts.
    pub const fn with_merge(self, merge: Merge<Q, R>) -> Self {
        Self {
            merge: Some(merge),
            ..self
        }
    }

    /// Sets the function that changes the request of a merged list.
    pub const fn changed_when_merged(self, change: fn(&Q) -> Q) -> Self {
        Self {
            when_merged: Some(change),
            ..self
        }
    }

    /// Sets the function that merges rows of several extracts, and that can make a row of several.
    pub const fn with_join(self, merge: Merge<Q, R>) -> Self {
        Self {
            merge: Some(merge),
            joins_extracts: true,
            ..self
        }
    }

    /// Adds lines of sums after all rows.
    pub const fn with_total(self, total: fn(&Q, &[&R], bool) -> Vec<Line>) -> Self {
        Self { total, ..self }
    }

    /// Adds a line of sums after all rows. In its words `{Name}` is replaced with the sum of that
    /// column as its declaration adds it up, `{}` with the number of rows, `{#}` with this number
    /// without groups of digits. `{Name|stay|stays}` adds a noun in singular or plural. Words in
    /// `[]` are left out if no row has a value of their columns. `is_shown` returns whether the
    /// request shows the line after this number of rows.
    pub const fn with_sums(self, words: &'static str, is_shown: fn(&Q, usize) -> bool) -> Self {
        Self {
            sums: Some((words, is_shown)),
            ..self
        }
    }
}
