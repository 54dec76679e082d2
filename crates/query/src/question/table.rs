//! Rows of any type: what front ends print.

use std::any::Any;

use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::column::{Column, Shown, Style, Title};
use super::value::{Format, Line, Value};
use super::view::{Source, View, largest};
use crate::dump::Top;
use crate::dump::trace::TraceInfo;
use crate::time_format::TimeFormat;

/// What rows are sorted by, which is nobody's business.
pub(super) const SORT_VALUE: &str = "sort_value";

/// What stands above a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heading {
    /// These words.
    Words(String),
    /// What times are called in the format that is asked for.
    Time,
    /// These words, and what times are called in that format, or else in the one that is asked for.
    TimeIn(&'static str, Option<TimeFormat>),
}

/// A column of any table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnyColumn {
    /// Its name for `--column`.
    pub name: &'static str,
    /// What stands above it.
    pub title: Heading,
    /// How its values are written.
    pub format: Format,
    /// Whether it is shown if no option says otherwise.
    pub is_shown: bool,
    /// In which text.
    pub style: Style,
    /// What stands for a value that is not known.
    pub missing: &'static str,
}

/// Rows of any type in groups. Rows have numbers from 0 over all groups.
pub trait Table: Send {
    /// The columns for people, in the order in which they stand.
    fn columns(&self) -> Vec<AnyColumn>;
    /// The number of rows of each group.
    fn groups(&self) -> Vec<usize>;
    /// The value of a column in a row.
    fn value(&self, row: usize, column: usize) -> Value;
    /// What stands above the rows of a group.
    fn heading(&self, group: usize) -> Option<Line>;
    /// Lines between that and the rows.
    fn subheading(&self, group: usize) -> Vec<Line>;
    /// What stands above a row.
    fn above(&self, row: usize) -> Vec<Line>;
    /// What stands below a row.
    fn below(&self, row: usize) -> Vec<Line>;
    /// Whether a row is in text, too.
    fn is_listed(&self, row: usize) -> bool;
    /// What stands in front of each row.
    fn indent(&self) -> &'static str;
    /// Sums over all rows.
    fn total(&self) -> Vec<Line>;
    /// A row as machines get it: all fields by name.
    ///
    /// # Errors
    /// A number that JSON does not have.
    fn record(&self, row: usize) -> Result<Map<String, Json>, serde_json::Error>;
    /// The largest rows of this and of others of the same type, and of which table each is.
    fn merged(
        self: Box<Self>,
        others: Vec<Box<dyn Any>>,
        recordings: &[TraceInfo],
        top: Top,
    ) -> (Box<dyn Table>, Vec<usize>);
    /// Leaves out all rows but these.
    fn retain(&mut self, keep: &dyn Fn(usize) -> bool);
    /// Whether rows of that list can be made of rows of several extracts.
    fn joins_extracts(&self) -> bool;
    /// For [`Table::merged`].
    fn into_any(self: Box<Self>) -> Box<dyn Any>;

    /// The number of rows.
    fn len(&self) -> usize {
        self.groups().iter().sum()
    }

    /// Whether there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A row as machines get it: all fields by name, without what it is sorted by.
///
/// # Errors
/// A number that JSON does not have.
pub fn record<R: Serialize>(row: &R) -> Result<Map<String, Json>, serde_json::Error> {
    let mut record = Map::new();
    if let Json::Object(fields) = serde_json::to_value(row)? {
        for (name, value) in fields.into_iter().filter(|(name, _)| name != SORT_VALUE) {
            match value {
                // Columns that several kinds of rows share.
                Json::Object(shared) => record.extend(shared),
                value => _ = record.insert(name, value),
            }
        }
    }
    Ok(record)
}

/// Rows of one type, those of each group behind those of the one before.
pub(super) struct Rows<Q: 'static, R: 'static> {
    request: Q,
    view: &'static View<Q, R>,
    rows: Vec<R>,
    groups: Vec<std::ops::Range<usize>>,
    /// What stands above groups, where their rows do not tell it.
    headings: Vec<Line>,
    is_merged: bool,
}

impl<Q, R> Rows<Q, R> {
    pub(super) fn new(request: Q, view: &'static View<Q, R>, groups: Vec<Vec<R>>) -> Self {
        let mut end = 0;
        let range = |group: &Vec<R>| {
            let start = end;
            end += group.len();
            start..end
        };
        let ranges = groups.iter().map(range).collect();
        let rows = groups.into_iter().flatten().collect();
        Self { request, view, rows, groups: ranges, headings: Vec::new(), is_merged: false }
    }

    /// The same with these lines above its groups.
    pub(super) fn with_headings(self, headings: Vec<Line>) -> Self {
        Self { headings, ..self }
    }

    fn column(&self, at: usize) -> Option<&'static Column<Q, R>> {
        self.view.columns.get(at)
    }
}

impl<Q: Clone + Send + Sync + 'static, R: Serialize + Send + 'static> Table for Rows<Q, R> {
    fn columns(&self) -> Vec<AnyColumn> {
        let column = |column: &Column<Q, R>| AnyColumn {
            name: column.name,
            title: match column.title {
                Title::Is(words) => Heading::Words(words.to_owned()),
                Title::Of(words) => Heading::Words(words(&self.request)),
                Title::Time => Heading::Time,
                Title::TimeIn(words, format) => Heading::TimeIn(words, format(&self.request)),
            },
            format: column.format_of.map_or(column.format, |format| format(&self.request)),
            style: column.style,
            is_shown: match column.shown {
                Shown::Yes => true,
                Shown::No => false,
                Shown::If(shown) => shown(&self.request),
                Shown::Known(shown) => {
                    let is_known = |row: &R| (column.value)(&self.request, row) != Value::Missing;
                    shown(&self.request) && self.rows.iter().any(is_known)
                }
                Shown::Merged(shown) => self.is_merged && shown(&self.request),
            },
            missing: column.missing,
        };
        self.view.columns.iter().map(column).collect()
    }

    fn groups(&self) -> Vec<usize> {
        self.groups.iter().map(ExactSizeIterator::len).collect()
    }

    fn value(&self, row: usize, column: usize) -> Value {
        match self.rows.get(row).zip(self.column(column)) {
            Some((row, column)) => (column.value)(&self.request, row),
            None => Value::Missing,
        }
    }

    fn heading(&self, group: usize) -> Option<Line> {
        if let Some(heading) = self.headings.get(group) {
            return Some(heading.clone());
        }
        let rows = self.rows.get(self.groups.get(group)?.clone())?;
        (self.view.heading)(&self.request, rows)
    }

    fn subheading(&self, group: usize) -> Vec<Line> {
        let rows = self.groups.get(group).and_then(|rows| self.rows.get(rows.clone()));
        rows.map_or_else(Vec::new, |rows| (self.view.subheading)(&self.request, rows))
    }

    fn above(&self, row: usize) -> Vec<Line> {
        let before = row.checked_sub(1).and_then(|before| self.rows.get(before));
        self.rows.get(row).map_or_else(Vec::new, |row| (self.view.above)(&self.request, row, before))
    }

    fn below(&self, row: usize) -> Vec<Line> {
        self.rows.get(row).map_or_else(Vec::new, |row| (self.view.below)(&self.request, row))
    }

    fn is_listed(&self, row: usize) -> bool {
        self.rows.get(row).is_some_and(self.view.listed)
    }

    fn indent(&self) -> &'static str {
        self.view.indent
    }

    fn total(&self) -> Vec<Line> {
        let rows: Vec<&R> = self.rows.iter().collect();
        (self.view.total)(&self.request, &rows, self.is_merged)
    }

    fn record(&self, row: usize) -> Result<Map<String, Json>, serde_json::Error> {
        self.rows.get(row).map_or_else(|| Ok(Map::new()), record)
    }

    fn merged(
        self: Box<Self>,
        others: Vec<Box<dyn Any>>,
        recordings: &[TraceInfo],
        top: Top,
    ) -> (Box<dyn Table>, Vec<usize>) {
        let Self { request, view, rows, .. } = *self;
        let others = others.into_iter().filter_map(|other| other.downcast::<Self>().ok());
        let tables = std::iter::once(rows).chain(others.map(|other| other.rows));
        let source = |(rows, info): (Vec<R>, &TraceInfo)| Source {
            start_filetime: info.start_filetime,
            computer: info.computer.clone(),
            rows,
        };
        let sources: Vec<Source<R>> = tables.zip(recordings).map(source).collect();
        let all = match view.merge {
            Some(merge) => merge(&request, sources, top),
            None => largest(sources, top, view.order),
        };
        let (of, rows): (Vec<usize>, Vec<R>) = all.into_iter().unzip();
        (Box::new(Self { is_merged: true, ..Self::new(request, view, vec![rows]) }), of)
    }

    fn retain(&mut self, keep: &dyn Fn(usize) -> bool) {
        let mut end = 0;
        for group in &mut self.groups {
            let start = end;
            end += group.clone().filter(|row| keep(*row)).count();
            *group = start..end;
        }
        let numbered = (0..).zip(std::mem::take(&mut self.rows));
        self.rows = numbered.filter(|(row, _)| keep(*row)).map(|(_, row)| row).collect();
    }

    fn joins_extracts(&self) -> bool {
        self.view.joins_extracts
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
