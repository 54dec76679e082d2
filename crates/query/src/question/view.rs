//! How the rows of an answer are put together and shown.

use super::column::Column;
use super::value::Line;
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
    let numbered =
        (0..).zip(sources).flat_map(|(of, source)| source.rows.into_iter().map(move |row| (of, row)));
    let mut all: Vec<(usize, R)> = numbered.collect();
    all.sort_by(|(_, a), (_, b)| order(a).total_cmp(&order(b)));
    top.cut(&mut all);
    all
}

/// How the rows of an answer are shown.
pub struct View<Q: 'static, R: 'static> {
    /// Its columns, in the order in which they stand.
    pub columns: &'static [Column<Q, R>],
    /// What rows are sorted by, ascending; rows of several extracts are merged by it.
    pub order: fn(&R) -> f64,
    /// What stands above the rows of a group, given these; nothing where rows are in no groups.
    pub heading: fn(&Q, &[R]) -> Option<Line>,
    /// Lines between that and the rows.
    pub subheading: fn(&Q, &[R]) -> Vec<Line>,
    /// What stands above a row, given the one before it.
    pub above: fn(&Q, &R, Option<&R>) -> Vec<Line>,
    /// What stands below a row.
    pub below: fn(&Q, &R) -> Vec<Line>,
    /// Whether a row is in text, too, and not for machines alone.
    pub listed: fn(&R) -> bool,
    /// What stands in front of each row.
    pub indent: &'static str,
    /// How rows of several extracts become one list; the largest of them unless it says otherwise.
    pub merge: Option<Merge<Q, R>>,
    /// A row of that list can be made of rows of several extracts, so that machines get it, too. Its times for people count from the begin
    /// of the earliest recording.
    pub joins_extracts: bool,
    /// Sums behind all rows, and whether these are of several extracts.
    pub total: fn(&Q, &[&R], bool) -> Vec<Line>,
}

impl<Q, R> View<Q, R> {
    /// A table without groups and sums.
    #[must_use]
    pub const fn new(columns: &'static [Column<Q, R>], order: fn(&R) -> f64) -> Self {
        Self {
            columns,
            order,
            heading: |_, _| None,
            subheading: |_, _| Vec::new(),
            above: |_, _, _| Vec::new(),
            below: |_, _| Vec::new(),
            listed: |_| true,
            indent: "",
            merge: None,
            joins_extracts: false,
            total: |_, _, _| Vec::new(),
        }
    }

    /// The same with a line above each group.
    #[must_use]
    pub const fn with_headings(self, heading: fn(&Q, &[R]) -> Option<Line>) -> Self {
        Self { heading, ..self }
    }

    /// The same with lines between that and the rows.
    #[must_use]
    pub const fn with_subheadings(self, subheading: fn(&Q, &[R]) -> Vec<Line>) -> Self {
        Self { subheading, ..self }
    }

    /// The same with lines above rows.
    #[must_use]
    pub const fn with_above(self, above: fn(&Q, &R, Option<&R>) -> Vec<Line>) -> Self {
        Self { above, ..self }
    }

    /// The same with lines below rows.
    #[must_use]
    pub const fn with_below(self, below: fn(&Q, &R) -> Vec<Line>) -> Self {
        Self { below, ..self }
    }

    /// The same where text lists only such rows, each behind this indent.
    #[must_use]
    pub const fn listing(self, indent: &'static str, listed: fn(&R) -> bool) -> Self {
        Self { listed, indent, ..self }
    }

    /// The same with another way to make one list of rows of several extracts.
    #[must_use]
    pub const fn with_merge(self, merge: Merge<Q, R>) -> Self {
        Self { merge: Some(merge), ..self }
    }

    /// The same with another way, which makes one row of rows of several extracts.
    #[must_use]
    pub const fn with_join(self, merge: Merge<Q, R>) -> Self {
        Self { merge: Some(merge), joins_extracts: true, ..self }
    }

    /// The same with sums.
    #[must_use]
    pub const fn with_total(self, total: fn(&Q, &[&R], bool) -> Vec<Line>) -> Self {
        Self { total, ..self }
    }
}
