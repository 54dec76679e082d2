//! Rows of any type, as front ends print them.

use std::any::Any;

use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::column::{Better, Column, Style, Title, Total, Visibility};
use super::typed_row::TypedRow;
use super::value::{Format, Line, Value};
use super::view::{Ranked, Source, View, largest};
use crate::group::Top;
use crate::trace::TraceInfo;
use etwkit_sql::time_format::TimeFormat;

/// Name of the sort key of rows, which is not part of an answer.
pub(super) const SORT_VALUE: &str = "sort_value";

/// The title of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Heading {
    /// These words.
    Words(String),
    /// The name of times in the requested format.
    Time,
    /// Words and values.
    Line(Line),
    /// These words, and the name of times in this format, or else in the requested one.
    TimeIn(&'static str, Option<TimeFormat>),
}

/// A column of any table.
#[derive(Debug, Clone, PartialEq)]
pub struct AnyColumn {
    /// Its name for `--column`.
    pub name: &'static str,
    /// Its title.
    pub title: Heading,
    /// Format of its values.
    pub format: Format,
    /// True if it is shown when no option overrides that.
    pub is_shown: bool,
    /// The text in which it is shown.
    pub style: Style,
    /// Text for an unknown value.
    pub missing: &'static str,
    /// Aggregation of its values.
    pub total: Total,
    /// Good direction of its values.
    pub better: Better,
}

/// Rows of any type in groups. Rows have numbers from 0 over all groups.
pub trait AnyTable: Send {
    /// Returns the columns for people, in order.
    fn columns(&self) -> Vec<AnyColumn>;
    /// Returns the number of rows of each group.
    fn groups(&self) -> Vec<usize>;
    /// Returns the value of a column in a row.
    fn value(&self, row: usize, column: usize) -> Value;
    /// Returns the heading above the rows of a group.
    fn heading(&self, group: usize) -> Option<Line>;
    /// Returns lines between the heading of a group and its rows.
    fn subheading(&self, group: usize) -> Vec<Line>;
    /// Returns the lines above a row.
    fn above(&self, row: usize) -> Vec<Line>;
    /// Returns the lines below a row.
    fn below(&self, row: usize) -> Vec<Line>;
    /// Returns `true` if the row is also shown in text.
    fn is_listed(&self, row: usize) -> bool;
    /// Returns `true` if a row needs attention.
    fn is_alarming(&self, row: usize) -> bool;
    /// Returns the indentation of each row.
    fn indent(&self) -> &'static str;
    /// Returns sums over all rows.
    fn total(&self) -> Vec<Line>;
    /// Converts a row for JSON and CSV: all fields by name.
    ///
    /// # Errors
    /// A number cannot be represented in JSON.
    fn record(&self, row: usize) -> Result<Map<String, Json>, serde_json::Error>;
    /// Returns a row with typed values, as CSV, Parquet and Arrow have it.
    ///
    /// # Errors
    /// A field has several values.
    fn typed(&self, row: usize) -> Result<TypedRow, serde_json::Error>;
    /// Merges the largest rows of this and of others of the same type, and returns the table of
    /// each.
    fn merged(
        self: Box<Self>,
        others: Vec<Box<dyn Any>>,
        recordings: &[TraceInfo],
        top: Top,
    ) -> (Box<dyn AnyTable>, Vec<usize>);
    /// Notes that rows were left out by their rank, so that sums are those of the remaining rows.
    fn limit(&mut self, top: Top, has_fewer_groups: bool);
    /// Leaves out all rows but these.
    fn retain(&mut self, keep: &dyn Fn(usize) -> bool);
    /// Returns `true` if rows of the merged list can be made of rows of several extracts.
    fn joins_extracts(&self) -> bool;
    /// Returns the parts that are ranked by size.
    fn ranked(&self) -> Ranked;
    /// Puts the largest rows and groups first, or last again, as far as they are ranked.
    fn put_largest_first(&mut self, is_first: bool);
    /// Returns itself for [`AnyTable::merged`].
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
    /// Returns itself for [`Answer::rows_of`](super::Answer::rows_of).
    fn as_any(&self) -> &dyn Any;

    /// Returns the number of rows.
    fn len(&self) -> usize {
        self.groups().iter().sum()
    }

    /// Returns `true` if there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Converts a row for JSON and CSV: all fields by name, without its sort key.
///
/// # Errors
/// A number cannot be represented in JSON.
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

/// Rows of one type, sorted by group.
pub(super) struct Rows<Q: 'static, R: 'static> {
    request: Q,
    view: &'static View<Q, R>,
    rows: Vec<R>,
    groups: Vec<std::ops::Range<usize>>,
    /// Headings of groups that their rows do not determine.
    headings: Vec<Line>,
    /// True if rows were left out by their rank.
    is_limited: bool,
    is_merged: bool,
    is_largest_first: bool,
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
        Self {
            request,
            view,
            rows,
            groups: ranges,
            headings: Vec::new(),
            is_limited: false,
            is_merged: false,
            is_largest_first: false,
        }
    }

    /// Puts these lines above its groups.
    pub(super) fn with_headings(self, headings: Vec<Line>) -> Self {
        Self { headings, ..self }
    }

    pub(super) fn as_slice(&self) -> &[R] {
        &self.rows
    }

    fn column(&self, at: usize) -> Option<&'static Column<Q, R>> {
        self.view.columns.get(at)
    }

    /// Formats a line of sums, see [`View::with_sums`].
    fn sums(&self, mut words: &str) -> Line {
        let mut line = Line::default();
        while let Some((before, (part, behind))) = words
            .split_once('[')
            .and_then(|(before, rest)| Some((before, rest.split_once(']')?)))
        {
            line = self.with_sums(line, before);
            if self.is_known(part) {
                line = self.with_sums(line, part);
            }
            words = behind;
        }
        self.with_sums(line, words)
    }

    /// Returns `true` if a row has a value of one of the columns in these words.
    fn is_known(&self, words: &str) -> bool {
        let has_value = |column: &Column<Q, R>| {
            self.rows
                .iter()
                .any(|row| (column.value)(&self.request, row) != Value::Missing)
        };
        self.view
            .columns
            .iter()
            .filter(|column| words.contains(&format!("{{{}}}", column.name)))
            .any(has_value)
    }

    fn with_sums(&self, mut line: Line, mut words: &str) -> Line {
        let rows = Value::Number(i64::try_from(self.rows.len()).unwrap_or(i64::MAX));
        while let Some((before, (place, behind))) = words
            .split_once('{')
            .and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
        {
            let (name, nouns) = match place.split_once('|') {
                Some((name, nouns)) => (name, nouns.split_once('|')),
                None => (place, None),
            };
            let column = self.view.columns.iter().find(|column| column.name == name);
            let (format, value) = match (name, column) {
                ("", _) => (Format::Whole, rows.clone()),
                ("#", _) => (Format::Id, rows.clone()),
                (_, Some(column)) => (
                    column.format,
                    column.total_of(&self.request, self.rows.iter()),
                ),
                (_, None) => (Format::Word, Value::Missing),
            };
            line = line.words(before).value(format, value.clone());
            if let Some((one, many)) = nouns {
                line = line.noun(&value, [one, many]);
            }
            words = behind;
        }
        if words.is_empty() {
            line
        } else {
            line.words(words)
        }
    }
}

impl<Q: Clone + Send + Sync + 'static, R: Serialize + Send + 'static> AnyTable for Rows<Q, R> {
    fn columns(&self) -> Vec<AnyColumn> {
        let column = |column: &Column<Q, R>| AnyColumn {
            name: column.name,
            title: match column.title {
                Title::Is(words) => Heading::Words(words.to_owned()),
                Title::Of(words) => Heading::Words(words(&self.request)),
                Title::Time => Heading::Time,
                Title::TimeIn(words, format) => Heading::TimeIn(words, format(&self.request)),
            },
            format: column
                .format_of
                .map_or(column.format, |format| format(&self.request)),
            style: column.style,
            is_shown: match column.shown {
                Visibility::Yes => true,
                Visibility::No => false,
                Visibility::If(shown) => shown(&self.request),
                Visibility::Known(shown) => {
                    let is_known = |row: &R| (column.value)(&self.request, row) != Value::Missing;
                    shown(&self.request) && self.rows.iter().any(is_known)
                }
                Visibility::Merged(shown) => self.is_merged && shown(&self.request),
            },
            missing: column.missing,
            total: column.total,
            better: column.better,
        };
        // Cells come after all columns: `value` takes numbers beyond the numbers of the columns for
        // them.
        let cells = self.view.cells.iter().flat_map(|cells| {
            (cells.titles)(&self.request)
                .into_iter()
                .map(|title| AnyColumn {
                    name: cells.name,
                    title: Heading::Line(title),
                    format: Format::Word,
                    style: Style::Both,
                    is_shown: true,
                    missing: "",
                    total: Total::None,
                    better: Better::Neither,
                })
        });
        self.view.columns.iter().map(column).chain(cells).collect()
    }

    fn groups(&self) -> Vec<usize> {
        self.groups.iter().map(ExactSizeIterator::len).collect()
    }

    fn value(&self, row: usize, column: usize) -> Value {
        let Some(row) = self.rows.get(row) else {
            return Value::Missing;
        };
        let cell = column.checked_sub(self.view.columns.len());
        match (self.column(column), &self.view.cells, cell) {
            (Some(column), ..) => (column.value)(&self.request, row),
            (None, Some(cells), Some(number)) => (cells.value)(&self.request, row, number),
            _ => Value::Missing,
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
        let rows = self
            .groups
            .get(group)
            .and_then(|rows| self.rows.get(rows.clone()));
        rows.map_or_else(Vec::new, |rows| (self.view.subheading)(&self.request, rows))
    }

    fn above(&self, row: usize) -> Vec<Line> {
        let before = row.checked_sub(1).and_then(|before| self.rows.get(before));
        self.rows.get(row).map_or_else(Vec::new, |row| {
            (self.view.above)(&self.request, row, before)
        })
    }

    fn below(&self, row: usize) -> Vec<Line> {
        self.rows
            .get(row)
            .map_or_else(Vec::new, |row| (self.view.below)(&self.request, row))
    }

    fn is_listed(&self, row: usize) -> bool {
        self.rows.get(row).is_some_and(self.view.listed)
    }

    fn is_alarming(&self, row: usize) -> bool {
        self.rows.get(row).is_some_and(self.view.alarming)
    }

    fn indent(&self) -> &'static str {
        self.view.indent
    }

    fn total(&self) -> Vec<Line> {
        let rows: Vec<&R> = self.rows.iter().collect();
        let shown = self
            .view
            .sums
            .filter(|(_, is_shown)| is_shown(&self.request, rows.len()));
        let sums = shown.map(|(words, _)| self.sums(words)).into_iter();
        let lines = sums.chain((self.view.total)(&self.request, &rows, self.is_merged));
        if self.is_limited {
            lines.map(Line::of_shown).collect()
        } else {
            lines.collect()
        }
    }

    fn record(&self, row: usize) -> Result<Map<String, Json>, serde_json::Error> {
        self.rows.get(row).map_or_else(|| Ok(Map::new()), record)
    }

    fn typed(&self, row: usize) -> Result<TypedRow, serde_json::Error> {
        let row = self.rows.get(row);
        row.map_or_else(|| Ok(TypedRow::default()), TypedRow::of)
    }

    fn merged(
        mut self: Box<Self>,
        others: Vec<Box<dyn Any>>,
        recordings: &[TraceInfo],
        top: Top,
    ) -> (Box<dyn AnyTable>, Vec<usize>) {
        // `largest` sorts ascending and cuts at the front, so tables are merged in this order and
        // turned again afterwards.
        let is_largest_first = self.is_largest_first;
        self.put_largest_first(false);
        let Self {
            request,
            view,
            rows,
            ..
        } = *self;
        let others = others
            .into_iter()
            .filter_map(|other| other.downcast::<Self>().ok());
        let tables = std::iter::once(rows).chain(others.map(|mut other| {
            other.put_largest_first(false);
            other.rows
        }));
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
        let request = match view.when_merged {
            Some(change) => change(&request),
            None => request,
        };
        let (mut of, rows): (Vec<usize>, Vec<R>) = all.into_iter().unzip();
        let mut table = Self {
            is_merged: true,
            ..Self::new(request, view, vec![rows])
        };
        table.limit(top, false);
        table.put_largest_first(is_largest_first);
        // The numbers of the extracts have to follow their rows, which were turned with the table.
        if is_largest_first && table.ranked() == Ranked::Rows {
            of.reverse();
        }
        (Box::new(table), of)
    }

    fn limit(&mut self, top: Top, has_fewer_groups: bool) {
        let is_full =
            |group: &std::ops::Range<usize>| top.most().is_some_and(|most| group.len() >= most);
        self.is_limited = has_fewer_groups || top.skip > 0 || self.groups.iter().any(is_full);
    }

    fn retain(&mut self, keep: &dyn Fn(usize) -> bool) {
        let mut end = 0;
        for group in &mut self.groups {
            let start = end;
            end += group.clone().filter(|row| keep(*row)).count();
            *group = start..end;
        }
        let numbered = (0..).zip(std::mem::take(&mut self.rows));
        self.rows = numbered
            .filter(|(row, _)| keep(*row))
            .map(|(_, row)| row)
            .collect();
    }

    fn joins_extracts(&self) -> bool {
        self.view.joins_extracts
    }

    fn ranked(&self) -> Ranked {
        (self.view.ranked)(&self.request)
    }

    fn put_largest_first(&mut self, is_first: bool) {
        let ranked = self.ranked();
        if self.is_largest_first == is_first || ranked == Ranked::No {
            return;
        }
        self.is_largest_first = is_first;
        let mut groups: Vec<Vec<R>> = Vec::with_capacity(self.groups.len());
        let mut rows = std::mem::take(&mut self.rows).into_iter();
        for group in &self.groups {
            groups.push(rows.by_ref().take(group.len()).collect());
        }
        if ranked == Ranked::Rows {
            // Turning twice gives the old order again, so one function serves both ways.
            groups.iter_mut().for_each(|group| group.reverse());
        }
        groups.reverse();
        self.headings.reverse();
        let Self { rows, groups, .. } = Self::new(self.request.clone(), self.view, groups);
        (self.rows, self.groups) = (rows, groups);
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Piece;

    #[derive(Serialize)]
    struct Row {
        size: i64,
    }

    const SIZES: View<Ranked, Row> =
        View::new(&[], |row: &Row| row.size as f64).ranking(|ranked| *ranked);

    fn table(ranked: Ranked, groups: &[&[i64]]) -> Box<Rows<Ranked, Row>> {
        let rows = |sizes: &&[i64]| sizes.iter().map(|size| Row { size: *size }).collect();
        Box::new(Rows::new(ranked, &SIZES, groups.iter().map(rows).collect()))
    }

    fn sizes(table: &Rows<Ranked, Row>) -> (Vec<i64>, Vec<usize>) {
        (
            table.rows.iter().map(|row| row.size).collect(),
            table.groups(),
        )
    }

    /// Column properties for a front end that compares answers.
    #[test]
    fn columns_say_how_they_add_up_and_what_is_good() {
        type Size = Column<(), Row>;
        const SIZE: Size = Size::new("Size", "size", Format::Bytes, |(), row| row.size.into());
        const ALL: View<(), Row> =
            View::new(&[SIZE.cost(), SIZE.worst(), SIZE.sum(), SIZE], |row| {
                row.size as f64
            });
        let rows = Rows::new((), &ALL, vec![vec![Row { size: 2 }, Row { size: 3 }]]);
        let found: Vec<_> = rows
            .columns()
            .iter()
            .map(|column| (column.total, column.better))
            .collect();
        let none = (Total::None, Better::Neither);
        let (sum, max) = ((Total::Sum, Better::Less), (Total::Max, Better::Less));
        assert_eq!(found, [sum, max, (Total::Sum, Better::Neither), none]);
    }

    #[test]
    fn the_largest_come_first_as_far_as_they_are_ranked() {
        for (ranked, first, groups) in [
            (Ranked::Rows, vec![5, 4, 3, 1], vec![2, 2]),
            (Ranked::Groups, vec![4, 5, 1, 3], vec![2, 2]),
            (Ranked::No, vec![1, 3, 4, 5], vec![2, 2]),
        ] {
            let mut table = table(ranked, &[&[1, 3], &[4, 5]]);
            for _ in 0..2 {
                table.put_largest_first(true);
                assert_eq!(sizes(&table), (first.clone(), groups.clone()), "{ranked:?}");
            }
            table.put_largest_first(false);
            assert_eq!(sizes(&table).0, [1, 3, 4, 5], "{ranked:?}");
        }
    }

    #[test]
    fn the_largest_of_several_lists_are_kept_whichever_way_these_stand() {
        let (mut one, mut other) = (
            table(Ranked::Rows, &[&[1, 4]]),
            table(Ranked::Rows, &[&[2, 3]]),
        );
        one.put_largest_first(true);
        other.put_largest_first(true);
        let infos = [TraceInfo::default(), TraceInfo::default()];
        let top = Top {
            count: Some(3),
            skip: 0,
        };
        let (all, of) = one.merged(vec![other.into_any()], &infos, top);
        let all = all.into_any().downcast::<Rows<Ranked, Row>>().unwrap();
        assert_eq!((sizes(&all).0, of), (vec![4, 3, 2], vec![0, 1, 1]));
    }

    #[test]
    fn a_sum_of_values_that_no_row_has_is_left_out() {
        type Size = Column<Ranked, Row>;
        const SIZE: Size = Size::new("Size", "size", Format::Whole, |_, row| {
            Some(row.size).filter(|size| *size > 0).into()
        });
        const SUMS: View<Ranked, Row> = View::new(&[SIZE.sum()], |row: &Row| row.size as f64)
            .with_sums("Total: {#}[ of {Size} bytes] in all", |_, _| true);
        let total = |sizes: &[i64]| {
            let rows = sizes.iter().map(|size| Row { size: *size }).collect();
            Rows::new(Ranked::Rows, &SUMS, vec![rows]).total()[0].clone()
        };
        let unknown = Line::new("Total: ")
            .value(Format::Id, 2_i64)
            .words(" in all");
        assert_eq!(total(&[0, 0]), unknown);
        let known = Line::new("Total: ")
            .value(Format::Id, 2_i64)
            .words(" of ")
            .whole(7)
            .words(" bytes")
            .words(" in all");
        assert_eq!(total(&[0, 7]), known);
    }

    #[test]
    fn a_sum_says_that_rows_were_left_out() {
        type Size = Column<Ranked, Row>;
        const SIZE: Size = Size::new("Size", "size", Format::Whole, |_, row| row.size.into());
        const SUMS: View<Ranked, Row> = View::new(&[SIZE.sum()], |row: &Row| row.size as f64)
            .with_sums("Total: {Size}", |_, _| true);
        let total = |count, skip, has_fewer_groups| {
            let rows = vec![vec![Row { size: 3 }, Row { size: 4 }]];
            let mut table = Rows::new(Ranked::Rows, &SUMS, rows);
            table.limit(Top { count, skip }, has_fewer_groups);
            table.total()[0].pieces[0].clone()
        };
        let (all, some) = ("Total: ", "Total of the rows shown: ");
        for (count, skip, has_fewer_groups, expected) in [
            (None, 0, false, all),
            (Some(0), 0, false, all),
            (Some(3), 0, false, all),
            (Some(2), 0, false, some),
            (None, 1, false, some),
            (None, 0, true, some),
        ] {
            let words = Piece::Words(expected.to_owned());
            assert_eq!(
                total(count, skip, has_fewer_groups),
                words,
                "{count:?} {skip}"
            );
        }
    }
}
