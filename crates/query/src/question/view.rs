//! How the rows of an answer are put together and shown.

use super::column::Column;
use super::value::{Line, Value};
use crate::dump::Top;

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

/// The largest rows of several extracts, ascending, each with the number of its extract.
pub fn largest<R>(sources: Vec<Source<R>>, top: Top, order: fn(&R) -> f64) -> Vec<(usize, R)> {
    let numbered = (0..)
        .zip(sources)
        .flat_map(|(of, source)| source.rows.into_iter().map(move |row| (of, row)));
    let mut all: Vec<(usize, R)> = numbered.collect();
    all.sort_by(|(_, a), (_, b)| order(a).total_cmp(&order(b)));
    top.cut(&mut all);
    all
}

/// Columns of words behind the others, whose number depends on the answer.
pub struct Cells<Q: 'static, R: 'static> {
    /// Their name for `--column`, which is the same for all.
    pub name: &'static str,
    /// What stands above each of them.
    pub titles: fn(&Q) -> Vec<Line>,
    /// The value of the one with this number in a row.
    pub value: fn(&Q, &R, usize) -> Value,
}

/// What in an answer is ranked by size, so that people see the largest first. Questions answer ascending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranked {
    /// Rows, and groups of them.
    Rows,
    /// Groups alone: the order of rows means something itself, such as a tree, or what became of an object.
    Groups,
    /// Nothing: rows stand in the order of time, or as a list of names.
    No,
}

impl Ranked {
    /// Rows, unless the order that is asked for is none of sizes.
    pub const fn rows_unless(is_in_order: bool) -> Self {
        if is_in_order { Self::No } else { Self::Rows }
    }
}

/// The text of a line of sums, and whether the request wants it behind so many rows.
pub type SumsLine<Q> = (&'static str, fn(&Q, usize) -> bool);

/// How the rows of an answer are shown.
#[must_use]
pub struct View<Q: 'static, R: 'static> {
    /// Its columns, in the order in which they stand.
    pub columns: &'static [Column<Q, R>],
    /// Further columns, whose number depends on the answer.
    pub cells: Option<Cells<Q, R>>,
    /// What rows are sorted by, ascending; rows of several extracts are merged by it.
    pub order: fn(&R) -> f64,
    /// What is ranked by that.
    pub ranked: fn(&Q) -> Ranked,
    /// What stands above the rows of a group, given these; nothing where rows are in no groups.
    pub heading: fn(&Q, &[R]) -> Option<Line>,
    /// Lines between that and the rows.
    pub subheading: fn(&Q, &[R]) -> Vec<Line>,
    /// What stands above a row, given the one before it.
    pub above: fn(&Q, &R, Option<&R>) -> Vec<Line>,
    /// What stands below a row.
    pub below: fn(&Q, &R) -> Vec<Line>,
    /// Whether text shows a row, too, and not only the output for machines.
    pub listed: fn(&R) -> bool,
    /// Whether a row shows something to look at, so that it has a colour; a word in it says the same
    /// without.
    pub alarming: fn(&R) -> bool,
    /// What stands in front of each row.
    pub indent: &'static str,
    /// How rows of several extracts become one list; the largest of them unless it says otherwise.
    pub merge: Option<Merge<Q, R>>,
    /// A row of that list can be made of rows of several extracts, so that machines get it, too. Its times
    /// for people count from the start of the earliest recording.
    pub joins_extracts: bool,
    /// Sums behind all rows, and whether these are of several extracts.
    pub total: fn(&Q, &[&R], bool) -> Vec<Line>,
    /// A line of sums in front of them, and whether it is shown, given the number of rows.
    pub sums: Option<SumsLine<Q>>,
}

impl<Q, R> View<Q, R> {
    /// A table without groups and sums.
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

    /// Ranks something else than rows.
    pub const fn ranking(self, ranked: fn(&Q) -> Ranked) -> Self {
        Self { ranked, ..self }
    }

    /// Puts a line above each group.
    pub const fn with_headings(self, heading: fn(&Q, &[R]) -> Option<Line>) -> Self {
        Self { heading, ..self }
    }

    /// Puts lines between the heading of a group and its rows.
    pub const fn with_subheadings(self, subheading: fn(&Q, &[R]) -> Vec<Line>) -> Self {
        Self { subheading, ..self }
    }

    /// Puts lines above rows.
    pub const fn with_above(self, above: fn(&Q, &R, Option<&R>) -> Vec<Line>) -> Self {
        Self { above, ..self }
    }

    /// Puts lines below rows.
    pub const fn with_below(self, below: fn(&Q, &R) -> Vec<Line>) -> Self {
        Self { below, ..self }
    }

    /// Lists only such rows in text, each behind this indent.
    pub const fn listing(self, indent: &'static str, listed: fn(&R) -> bool) -> Self {
        Self {
            listed,
            indent,
            ..self
        }
    }

    /// Prints such rows in the colour of warnings.
    pub const fn alarming_if(self, alarming: fn(&R) -> bool) -> Self {
        Self { alarming, ..self }
    }

    /// Makes one list of rows of several extracts in another way.
    pub const fn with_merge(self, merge: Merge<Q, R>) -> Self {
        Self {
            merge: Some(merge),
            ..self
        }
    }

    /// Makes one list of rows of several extracts, in which a row can be made of several.
    pub const fn with_join(self, merge: Merge<Q, R>) -> Self {
        Self {
            merge: Some(merge),
            joins_extracts: true,
            ..self
        }
    }

    /// Puts lines of sums behind all rows.
    pub const fn with_total(self, total: fn(&Q, &[&R], bool) -> Vec<Line>) -> Self {
        Self { total, ..self }
    }

    /// A line of sums behind all rows. In its words `{Name}` stands for the sum of that column as its
    /// declaration adds it up, `{}` for the number of rows, `{#}` for this number without groups of digits.
    /// `is_shown` says whether the request wants the line behind so many rows.
    pub const fn with_sums(self, words: &'static str, is_shown: fn(&Q, usize) -> bool) -> Self {
        Self {
            sums: Some((words, is_shown)),
            ..self
        }
    }
}
