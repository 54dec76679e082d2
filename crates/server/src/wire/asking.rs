//! Declared questions and SQL.

use serde::{Deserialize, Serialize};

use super::{Cell, Source, TableInfo};

/// `GET api/v1/schema`: what can be asked, whatever is open.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Schema {
    /// All tables.
    pub tables: Vec<TableInfo>,
    /// All declared questions to extracts.
    pub questions: Vec<QuestionInfo>,
}

/// A question of `GET api/v1/schema`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct QuestionInfo {
    /// As it is called behind `dump`.
    pub name: String,
    /// Its answer, described in one sentence.
    pub sentence: String,
    /// Its options.
    pub options: Vec<OptionInfo>,
}

/// An option of a question.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct OptionInfo {
    /// As it is called in requests.
    pub name: String,
    /// `flag`, `text`, `words`, `several`, `range`, `whole`, `number`, `files` or `two`.
    pub kind: String,
    /// Its effect.
    pub sentence: String,
    /// Words that it takes, if only these.
    pub words: Vec<String>,
    /// Its default, as text.
    pub default: Option<String>,
}

/// `POST api/v1/ask`: asks a declared question.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AskRequest {
    /// The trace.
    pub trace: u32,
    /// The question.
    pub question: String,
    /// Values of its options, as the library of questions reads them.
    #[cfg_attr(test, ts(type = "Record<string, unknown>"))]
    pub options: serde_json::Map<String, serde_json::Value>,
}

/// `POST api/v1/sql`: one statement that reads.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SqlRequest {
    /// The trace.
    pub trace: u32,
    /// The statement.
    pub sql: String,
    /// Largest number of rows, at most 10,000.
    pub limit: u32,
}

/// The answer to either: one table, or several of a report.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Answer {
    /// The tables, in order.
    pub tables: Vec<AnswerTable>,
    /// Sentences behind them: sums, and what the reader should know.
    pub lines: Vec<String>,
    /// Origin of the answer.
    pub source: Source,
}

/// A table of an answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AnswerTable {
    /// Its name in a report; empty for the only one.
    pub name: String,
    /// Its heading in a report; may be empty.
    pub title: String,
    /// Its columns.
    pub columns: Vec<AnswerColumn>,
    /// Its rows: what is shown in each column.
    pub rows: Vec<Vec<Cell>>,
    /// There were more rows than the limit.
    pub is_cut: bool,
    /// Lines below each row, such as the frames of its stack; empty if no row has any.
    pub below: Vec<Vec<String>>,
    /// The line in place of the rows of a table without any; may be empty.
    pub instead: String,
}

/// A column of an answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AnswerColumn {
    /// Its name in JSON or SQL.
    pub name: String,
    /// Its title for people.
    pub title: String,
    /// As in a column of a table: `ns`, `bytes`, `count`, `time`, `text`, `flag`, `number`.
    pub unit: String,
    /// Its meaning.
    pub sentence: String,
}
