//! Answers whose rows may be of any type: what front ends print.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::column::{Column, Shown, Style, Title};
use super::value::{Format, Line, Value};
use super::view::{Source, View, largest};
use crate::Session;
use crate::dump::Top;
use crate::dump::trace::TraceInfo;
use crate::dump::zero::ZeroTime;
use crate::time_format::TimeFormat;

/// What rows are sorted by, which is nobody's business.
pub(super) const SORT_VALUE: &str = "sort_value";

/// Numbers of an answer by name.
pub type Sums = BTreeMap<&'static str, i64>;

/// Things of an answer by the name of their number.
pub type Sets = BTreeMap<&'static str, BTreeSet<String>>;

/// What a question answered.
pub struct Answer {
    /// One table; of a report several.
    pub parts: Vec<Part>,
    /// What the reader should know of it.
    pub notes: Vec<String>,
    /// Sums behind the heading of the extract.
    pub heading: Option<Line>,
    /// Numbers that are summed up over all extracts, see [`Question::overall`](super::Question::overall).
    pub sums: Sums,
    /// What all extracts together have so many different ones of: the last numbers that [`Question::overall`](super::Question::overall) gets.
    pub sets: Sets,
    /// Times of rows count from another zero than the begin of the trace.
    pub is_moved: bool,
}

/// A table of an answer, with what stands around it.
pub struct Part {
    /// What a table of a report is called; nothing where there is only one.
    pub name: &'static str,
    /// What stands above a table of a report.
    pub title: String,
    /// Lines in front of the rows.
    pub head: Vec<Line>,
    /// The rows.
    pub table: Box<dyn Table>,
    /// Lines behind the rows and their sums.
    pub foot: Vec<Line>,
    /// What stands in place of the table where it has no rows.
    pub instead: Option<Line>,
    /// What people see of it; machines get all rows.
    pub shows: Shows,
    /// Rows for machines, where they are others than those for people.
    pub records: Option<Box<dyn Table>>,
}

/// What people see of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    /// All of it.
    Rows,
    /// Headings of groups, and sums.
    Headings,
    /// Sums.
    Sums,
}

impl Part {
    /// Rows as machines get them.
    #[must_use]
    pub fn records(&self) -> &dyn Table {
        self.records.as_deref().unwrap_or(self.table.as_ref())
    }

    fn new(table: Box<dyn Table>) -> Self {
        Self {
            name: "",
            title: String::new(),
            head: Vec::new(),
            table,
            foot: Vec::new(),
            instead: None,
            shows: Shows::Rows,
            records: None,
        }
    }
}

impl Answer {
    fn new(table: Box<dyn Table>) -> Self {
        Self {
            parts: vec![Part::new(table)],
            notes: Vec::new(),
            heading: None,
            sums: Sums::new(),
            sets: Sets::new(),
            is_moved: false,
        }
    }

    /// Rows in the order of their view.
    #[must_use]
    pub fn rows<Q, R>(request: &Q, view: &'static View<Q, R>, rows: Vec<R>) -> Self
    where
        Q: Clone + Send + Sync + 'static,
        R: Serialize + Send + 'static,
    {
        Self::groups(request, view, vec![rows])
    }

    /// Rows in groups.
    #[must_use]
    pub fn groups<Q, R>(request: &Q, view: &'static View<Q, R>, groups: Vec<Vec<R>>) -> Self
    where
        Q: Clone + Send + Sync + 'static,
        R: Serialize + Send + 'static,
    {
        Self::new(Box::new(Rows::new(request.clone(), view, groups)))
    }

    /// Rows in groups, each with the line above it, where that tells more than the rows that remain.
    #[must_use]
    pub fn headed<Q, R>(request: &Q, view: &'static View<Q, R>, groups: Vec<(Line, Vec<R>)>) -> Self
    where
        Q: Clone + Send + Sync + 'static,
        R: Serialize + Send + 'static,
    {
        let (headings, groups) = groups.into_iter().unzip();
        Self::new(Box::new(Rows { headings, ..Rows::new(request.clone(), view, groups) }))
    }

    /// A report: the tables of several answers, each with its name and title.
    #[must_use]
    pub fn report(tables: impl IntoIterator<Item = (&'static str, String, Self)>) -> Self {
        let named = |(name, title, answer): (&'static str, String, Self)| {
            answer.parts.into_iter().map(move |part| Part { name, title: title.clone(), ..part })
        };
        Self {
            parts: tables.into_iter().flat_map(named).collect(),
            notes: Vec::new(),
            heading: None,
            sums: Sums::new(),
            sets: Sets::new(),
            is_moved: false,
        }
    }

    /// The same with lines behind the sums.
    #[must_use]
    pub fn with_foot(mut self, foot: impl IntoIterator<Item = Line>) -> Self {
        if let Some(part) = self.parts.last_mut() {
            part.foot.extend(foot);
        }
        self
    }

    /// The same with lines in front of the rows.
    #[must_use]
    pub fn with_head(mut self, head: impl IntoIterator<Item = Line>) -> Self {
        if let Some(part) = self.parts.last_mut() {
            part.head.extend(head);
        }
        self
    }

    /// The same with a line in place of a table without rows.
    #[must_use]
    pub fn or_line(mut self, instead: Line) -> Self {
        if let Some(part) = self.parts.last_mut() {
            part.instead = Some(instead);
        }
        self
    }

    /// The same of which people see that much.
    #[must_use]
    pub fn showing(mut self, shows: Shows) -> Self {
        if let Some(part) = self.parts.last_mut() {
            part.shows = shows;
        }
        self
    }

    /// The same with other rows for machines than for people.
    #[must_use]
    pub fn with_records<R: Serialize + Send + 'static>(mut self, records: Vec<R>) -> Self {
        if let Some(part) = self.parts.last_mut() {
            let view = const { &View::<(), R>::new(&[], |_| 0.0) };
            part.records = Some(Box::new(Rows::new((), view, vec![records])));
        }
        self
    }

    /// The same with sums behind the heading of the extract.
    #[must_use]
    pub fn with_heading(self, heading: Option<Line>) -> Self {
        Self { heading, ..self }
    }

    /// The same with numbers that are summed up over all extracts.
    #[must_use]
    pub fn with_sums(self, sums: impl IntoIterator<Item = (&'static str, i64)>) -> Self {
        Self { sums: sums.into_iter().collect(), ..self }
    }

    /// The same with things whose number over all extracts is told.
    #[must_use]
    pub fn with_sets(self, sets: Sets) -> Self {
        Self { sets, ..self }
    }

    /// Whether one list of several answers has rows made of rows of several extracts.
    #[must_use]
    pub fn joins_extracts(&self) -> bool {
        self.parts.iter().any(|part| part.table.joins_extracts())
    }

    /// The same for rows whose times were moved.
    ///
    /// # Errors
    /// What the zero is cannot be asked.
    pub fn moved(mut self, zero: &ZeroTime, session: &Session) -> crate::dump::Result<Self> {
        self.is_moved = zero.mode.is_some();
        self.notes.extend(zero.warning(session)?);
        Ok(self)
    }

    /// The number of rows of all tables, as machines get them.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts.iter().map(|part| part.records().len()).sum()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The largest rows of several answers to the same request in one table without groups, and of which answer each row is;
    /// `recordings` are those of the answers. Reports have no such list.
    #[must_use]
    pub fn merged(answers: Vec<Self>, recordings: &[TraceInfo], top: Top) -> Option<(Self, Vec<usize>)> {
        let table = |answer: Self| {
            let [part] = <[Part; 1]>::try_from(answer.parts).ok()?;
            Some(part.table)
        };
        let mut tables = answers.into_iter().map(table).collect::<Option<Vec<_>>>()?.into_iter();
        let first = tables.next()?;
        let (table, of) = first.merged(tables.map(Table::into_any).collect(), recordings, top);
        Some((Self::new(table), of))
    }
}

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

/// Rows of one type, those of each group behind those of the one before.
struct Rows<Q: 'static, R: 'static> {
    request: Q,
    view: &'static View<Q, R>,
    rows: Vec<R>,
    groups: Vec<std::ops::Range<usize>>,
    /// What stands above groups, where their rows do not tell it.
    headings: Vec<Line>,
    is_merged: bool,
}

impl<Q, R> Rows<Q, R> {
    fn new(request: Q, view: &'static View<Q, R>, groups: Vec<Vec<R>>) -> Self {
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
        let mut record = Map::new();
        let Some(row) = self.rows.get(row) else { return Ok(record) };
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
