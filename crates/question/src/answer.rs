//! The answer of a question: tables, and the text around them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::table::{AnyTable, Rows};
use super::typed_row::TypedRow;
use super::value::Line;
use super::view::{Ranked, View};
use crate::group::Top;
use crate::trace::TraceInfo;
use crate::zero::ZeroTime;
use etwkit_sql::Session;

/// Numbers of an answer by name.
pub type Sums = BTreeMap<&'static str, i64>;

/// Items of an answer by the name of their number.
pub type Sets = BTreeMap<&'static str, BTreeSet<String>>;

/// The answer of a question.
#[must_use]
pub struct Answer {
    /// One table; of a report several.
    pub parts: Vec<AnswerPart>,
    /// Notes for the reader of the answer.
    pub notes: Vec<String>,
    /// Sums after the heading of the extract.
    pub heading: Option<Line>,
    /// Numbers that are added up over all extracts, see
    /// [`Question::overall`](super::Question::overall).
    pub sums: Sums,
    /// Items that are counted once over all extracts, by name: their counts are the last numbers
    /// that [`Question::overall`](super::Question::overall) gets.
    pub sets: Sets,
    /// True if times of rows count from another zero than the start of the trace.
    pub is_moved: bool,
    /// Text above it, for people.
    pub above: Above,
    /// Verdict for scripts: true if the answer has the condition that the request fails on; `None`
    /// if it names none.
    pub fails: Option<bool>,
}

/// Text above an answer, for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Above {
    /// Start of the trace, sums, and its name.
    #[default]
    Start,
    /// Its name.
    Name,
    /// Nothing.
    Nothing,
}

/// A table of an answer, with the text around it.
pub struct AnswerPart {
    /// Name of a table of a report; empty if there is only one.
    pub name: &'static str,
    /// Title of a table of a report.
    pub title: String,
    /// Lines before the rows.
    pub head: Vec<Line>,
    /// The rows.
    pub table: Box<dyn AnyTable>,
    /// Lines after the rows and their sums.
    pub foot: Vec<Line>,
    /// Line that replaces a table without rows.
    pub instead: Option<Line>,
    /// The part of it that is shown to people; JSON and CSV have all rows.
    pub shows: Shows,
    /// Rows of JSON and CSV, if they differ from the rows for people.
    pub records: Option<Box<dyn AnyTable>>,
    /// True for a table next to the requested one: JSON and CSV do not have it, and columns are not
    /// chosen in it.
    pub is_aside: bool,
}

/// The part of a table that is shown to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    /// All of it.
    Rows,
    /// All of it but the titles of columns: names and values.
    Untitled,
    /// Headings of groups, and sums.
    Headings,
    /// Sums.
    Sums,
}

impl Shows {
    /// Returns `true` if rows are shown.
    #[must_use]
    pub const fn has_rows(self) -> bool {
        matches!(self, Self::Rows | Self::Untitled)
    }
}

impl AnswerPart {
    /// Returns the rows of JSON and CSV.
    #[must_use]
    pub fn records(&self) -> &dyn AnyTable {
        self.records.as_deref().unwrap_or(self.table.as_ref())
    }

    /// Returns a row of JSON and CSV, with the name of its table first if there are several.
    ///
    /// # Errors
    /// A field has several values.
    pub fn typed(&self, row: usize) -> Result<TypedRow, serde_json::Error> {
        let mut typed = TypedRow::default();
        if !self.name.is_empty() {
            typed.insert("table".to_owned(), self.name.to_owned().into());
        }
        typed.extend(self.records().typed(row)?);
        Ok(typed)
    }

    fn new(table: Box<dyn AnyTable>) -> Self {
        Self {
            name: "",
            title: String::new(),
            head: Vec::new(),
            table,
            foot: Vec::new(),
            instead: None,
            shows: Shows::Rows,
            records: None,
            is_aside: false,
        }
    }
}

impl Answer {
    fn new(table: Box<dyn AnyTable>) -> Self {
        Self::of(vec![AnswerPart::new(table)])
    }

    fn of(parts: Vec<AnswerPart>) -> Self {
        Self {
            parts,
            notes: Vec::new(),
            heading: None,
            sums: Sums::new(),
            sets: Sets::new(),
            is_moved: false,
            above: Above::Start,
            fails: None,
        }
    }

    /// Creates an answer with rows in the order of their view.
    pub fn rows<Q, R>(request: &Q, view: &'static View<Q, R>, rows: Vec<R>) -> Self
    where
        Q: Clone + Send + Sync + 'static,
        R: Serialize + Send + 'static,
    {
        Self::groups(request, view, vec![rows])
    }

    /// Creates an answer with rows in groups.
    pub fn groups<Q, R>(request: &Q, view: &'static View<Q, R>, groups: Vec<Vec<R>>) -> Self
    where
        Q: Clone + Send + Sync + 'static,
        R: Serialize + Send + 'static,
    {
        Self::new(Box::new(Rows::new(request.clone(), view, groups)))
    }

    /// Creates an answer with rows in groups, each with the line above it, if that has more than
    /// the remaining rows.
    pub fn headed<Q, R>(request: &Q, view: &'static View<Q, R>, groups: Vec<(Line, Vec<R>)>) -> Self
    where
        Q: Clone + Send + Sync + 'static,
        R: Serialize + Send + 'static,
    {
        let (headings, groups) = groups.into_iter().unzip();
        Self::new(Box::new(
            Rows::new(request.clone(), view, groups).with_headings(headings),
        ))
    }

    /// Creates a report: the tables of several answers, each with its name and title.
    pub fn report(tables: impl IntoIterator<Item = (&'static str, String, Self)>) -> Self {
        let named = |(name, title, answer): (&'static str, String, Self)| {
            answer.parts.into_iter().map(move |part| AnswerPart {
                name,
                title: title.clone(),
                ..part
            })
        };
        Self::of(tables.into_iter().flat_map(named).collect())
    }

    /// Puts the largest rows and groups first, or last again, as far as they are ranked.
    pub fn largest_first(mut self, is_first: bool) -> Self {
        for part in &mut self.parts {
            part.table.put_largest_first(is_first);
            part.records
                .iter_mut()
                .for_each(|records| records.put_largest_first(is_first));
        }
        self
    }

    /// Notes that the request left out rows by their rank: sums of what remains say so.
    pub(crate) fn limited(mut self, top: Top, has_fewer_processes: bool) -> Self {
        for part in &mut self.parts {
            part.table.limit(top, has_fewer_processes);
        }
        self
    }

    /// Changes its table, the last one of a report.
    fn with(mut self, change: impl FnOnce(&mut AnswerPart)) -> Self {
        if let Some(part) = self.parts.last_mut() {
            change(part);
        }
        self
    }

    /// Sets the verdict for scripts.
    pub fn with_verdict(self, fails: Option<bool>) -> Self {
        Self { fails, ..self }
    }

    /// Adds lines after the sums.
    pub fn with_foot(self, foot: impl IntoIterator<Item = Line>) -> Self {
        self.with(|part| part.foot.extend(foot))
    }

    /// Adds lines before the rows.
    pub fn with_head(self, head: impl IntoIterator<Item = Line>) -> Self {
        self.with(|part| part.head.extend(head))
    }

    /// Replaces a table without rows with a line.
    pub fn or_line(self, instead: Line) -> Self {
        self.with(|part| part.instead = Some(instead))
    }

    /// Sets the part of it that is shown to people.
    pub fn showing(self, shows: Shows) -> Self {
        self.with(|part| part.shows = shows)
    }

    /// Sets other rows for JSON and CSV.
    pub fn with_records<R: Serialize + Send + 'static>(self, records: Vec<R>) -> Self {
        // JSON and CSV have all fields by name, so these rows need a view without columns. Nothing
        // ranks them: they keep the order of the question.
        let view = const { &View::<(), R>::new(&[], |_| 0.0).ranking(|()| Ranked::No) };
        self.with(|part| part.records = Some(Box::new(Rows::new((), view, vec![records]))))
    }

    /// Shows it to people only, next to the requested table.
    pub fn aside(mut self) -> Self {
        self.parts.iter_mut().for_each(|part| part.is_aside = true);
        self
    }

    /// Adds sums after the heading of the extract.
    pub fn with_heading(self, heading: Option<Line>) -> Self {
        Self { heading, ..self }
    }

    /// Sets numbers that are added up over all extracts.
    pub fn with_sums(self, sums: impl IntoIterator<Item = (&'static str, i64)>) -> Self {
        Self {
            sums: sums.into_iter().collect(),
            ..self
        }
    }

    /// Sets another text above it than start and name of the trace.
    pub fn below(self, above: Above) -> Self {
        Self { above, ..self }
    }

    /// Sets items whose number over all extracts is shown.
    pub fn with_sets(self, sets: Sets) -> Self {
        Self { sets, ..self }
    }

    /// Returns `true` if a row of the merged list can be made of rows of several extracts.
    #[must_use]
    pub fn joins_extracts(&self) -> bool {
        self.parts.iter().any(|part| part.table.joins_extracts())
    }

    /// Notes that times of its rows were moved, and the new zero.
    ///
    /// # Errors
    /// The zero point cannot be queried.
    pub fn moved(mut self, zero: &ZeroTime, session: &Session) -> crate::Result<Self> {
        self.is_moved = zero.mode.is_some();
        self.notes.extend(zero.warning(session)?);
        Ok(self)
    }

    /// Returns its rows of this type.
    pub fn rows_of<Q: 'static, R: 'static>(&self) -> impl Iterator<Item = &R> {
        let tables = self
            .parts
            .iter()
            .filter_map(|part| part.table.as_any().downcast_ref::<Rows<Q, R>>());
        tables.flat_map(Rows::as_slice)
    }

    /// Returns the number of rows of all tables in JSON and CSV.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts
            .iter()
            .filter(|part| !part.is_aside)
            .map(|part| part.records().len())
            .sum()
    }

    /// Returns `true` if there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Merges the largest rows of several answers to the same request in one table without groups,
    /// and returns the index of the answer of each row. `recordings` belong to the answers. Reports
    /// have no such list.
    #[must_use]
    pub fn merged(
        answers: Vec<Self>,
        recordings: &[TraceInfo],
        top: Top,
    ) -> Option<(Self, Vec<usize>)> {
        let table = |answer: Self| {
            let asked: Vec<AnswerPart> = answer
                .parts
                .into_iter()
                .filter(|part| !part.is_aside)
                .collect();
            let [part] = <[AnswerPart; 1]>::try_from(asked).ok()?;
            Some(part.table)
        };
        let mut tables = answers
            .into_iter()
            .map(table)
            .collect::<Option<Vec<_>>>()?
            .into_iter();
        let first = tables.next()?;
        let (table, of) = first.merged(tables.map(AnyTable::into_any).collect(), recordings, top);
        Some((Self::new(table), of))
    }
}
