//! Tables: their columns, groups, rows, and search.

use serde::{Deserialize, Serialize};

use super::{Selection, Source};

/// A table of `GET api/v1/schema`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TableInfo {
    /// Its name in SQL.
    pub name: String,
    /// The meaning of a row.
    pub sentence: String,
    /// Its columns; behind them such that joins add, `process` and `thread` among them.
    pub columns: Vec<ColumnInfo>,
    /// Its rows lie in time, so that they can be drawn over it.
    pub has_time: bool,
}

/// A column.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ColumnInfo {
    /// Its name in SQL.
    pub name: String,
    /// Its title for people.
    pub title: String,
    /// `ns`, `bytes`, `count`, `time` (a moment), `key`, `text`, `flag`, `hex`, `number`, `tick`,
    /// or `frames` (a stack that unfolds frame by frame from the root).
    pub unit: String,
    /// Its meaning.
    pub sentence: String,
    /// Groups can be made by it.
    pub can_group: bool,
    /// Its values can be added up.
    pub can_sum: bool,
}

/// A value. Whole numbers that a page cannot hold exactly travel as text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(untagged)]
pub enum Cell {
    /// A truth value.
    Flag(bool),
    /// A whole number below 2⁵³.
    Whole(i64),
    /// Another number.
    Number(f64),
    /// Text.
    Text(String),
    /// Nothing.
    Missing(()),
}

/// Aggregate over the rows of a group: `count`, or `sum`, `max`, `min`, `avg` or `distinct` of a
/// column.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Measure {
    /// `count`, `sum`, `max`, `min`, `avg`, `distinct`.
    pub function: String,
    /// The column; empty for `count`.
    pub column: String,
}

/// The order of rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Sort {
    /// Column of rows, or place of a measure in groups (`0`); empty in groups for their values.
    pub by: String,
    /// Largest first.
    pub descending: bool,
}

/// A condition on a column of the table that is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ColumnFilter {
    /// The column.
    pub column: String,
    /// With these values; a missing one is `null`.
    pub values: Vec<Cell>,
    /// Rows that have none of them are taken.
    pub exclude: bool,
}

/// `POST api/v1/pivot`: one level of groups.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PivotRequest {
    /// The trace.
    pub trace: u32,
    /// The table.
    pub table: String,
    /// Columns from the outermost group to the one that is asked for, at most 16. One of the unit
    /// `frames` stands twice where the next frame is asked for, and where stacks end: see `path`.
    pub group_by: Vec<String>,
    /// Values of the outer ones: one less than `group_by`. Of frames it is enough to name the
    /// innermost one; named twice, it means the rows whose stacks end there.
    pub path: Vec<Cell>,
    /// Measures of each group.
    pub measures: Vec<Measure>,
    /// Selects rows.
    pub selection: Selection,
    /// Conditions on columns that all hold.
    #[serde(default)]
    pub filters: Vec<ColumnFilter>,
    /// The order of groups.
    pub sort: Sort,
    /// Largest number of groups, at most 1,000; the others are one.
    pub limit: u32,
}

/// Groups of one level.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PivotAnswer {
    /// The groups.
    pub rows: Vec<PivotRow>,
    /// The omitted groups, as one; nothing if there are none.
    pub others: Option<PivotRow>,
    /// All rows of the level together.
    pub total: PivotRow,
    /// Number of groups.
    pub groups: u64,
    /// Origin of the answer.
    pub source: Source,
}

/// A group.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PivotRow {
    /// The value that its rows have.
    pub value: Cell,
    /// Its label for people: names instead of keys.
    pub label: String,
    /// Its measures, in the order of the request.
    pub measures: Vec<Cell>,
}

/// `POST api/v1/rows`: rows of a table.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RowsRequest {
    /// The trace.
    pub trace: u32,
    /// The table.
    pub table: String,
    /// Columns, in order; empty for all.
    pub columns: Vec<String>,
    /// Selects rows.
    pub selection: Selection,
    /// Conditions on columns that all hold.
    #[serde(default)]
    pub filters: Vec<ColumnFilter>,
    /// Their order; without it that of the table.
    pub sort: Option<Sort>,
    /// Number of rows to skip.
    pub offset: u32,
    /// Largest number of rows, at most 1,000.
    pub limit: u32,
}

/// Rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RowsAnswer {
    /// The columns.
    pub columns: Vec<ColumnInfo>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
    /// Number of all rows.
    pub total: u64,
    /// Origin of the answer.
    pub source: Source,
}

/// `POST api/v1/search`: names in everything.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SearchRequest {
    /// The trace.
    pub trace: u32,
    /// Search text, matched anywhere in names and regardless of case.
    pub text: String,
    /// Largest number of hits of each kind, at most 50.
    pub limit: u32,
}

/// Hits of a search.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SearchAnswer {
    /// Kind by kind, the best first.
    pub hits: Vec<Hit>,
    /// Origin of the answer.
    pub source: Source,
}

/// Something with that name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Hit {
    /// `process`, `thread`, `module`, `method`, `file`, `tag`, `mark`, `event` or `service`.
    pub kind: String,
    /// Its label.
    pub label: String,
    /// More of it.
    pub detail: String,
    /// The chip that selects it.
    pub chip: Option<super::Chip>,
    /// Its time or its start.
    pub at_ns: Option<i64>,
}
