//! Choice among extracts: an SQL condition over one row for each, made of its manifest.
//!
//! Labels are columns under their own names, and under `label['NAME']`. Names are resolved here and
//! not by the planner, so that an error has their position and lists the labels that there are.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, AsArray, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::common::tree_node::TreeNode as _;
use datafusion::logical_expr::{Expr as Planned, ExprSchemable as _};
use datafusion::prelude::{SessionContext, col};
use datafusion::sql::sqlparser::ast::{
    AccessExpr, Expr, ExprWithAlias, Ident, Query, Subscript, Value, VisitMut as _, VisitorMut,
};
use etwkit_extract::manifest::Manifest;
use etwkit_extract::{extract_row, run_id};
use etwkit_trace::table::UtcTime;

use crate::runtime::Threads;
use crate::session::{Options, state};
use crate::{Cancel, Error, Result, error, functions, similar, statement};

/// Start of the message about a column that is neither known nor a label.
pub const NO_COLUMN: &str = "there is no column";

/// Labels by name, of one extract.
pub type Labels = BTreeMap<String, String>;

/// An extract, or a trace without one, in the form in which a condition sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    path: String,
    name: String,
    known: Option<Known>,
}

/// Facts out of a manifest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Known {
    run_id: i64,
    computer: Option<String>,
    start_utc: Option<i64>,
    source_name: String,
    source_hash: String,
    detail: String,
    imported_from: Option<String>,
    format_version: String,
    etwkit_version: String,
    os_version: Option<String>,
    processors: i64,
    trace_bytes: i64,
    recorded: String,
    diagnostics: String,
    left_out: String,
    all_labels: Option<String>,
    labels: Labels,
}

impl Facts {
    /// Returns the facts of a file without a manifest: its names alone.
    #[must_use]
    pub fn of_path(path: &Path) -> Self {
        let path_text = path.display().to_string();
        // As in the table `extract`.
        let name = path.file_stem().map(|name| name.to_string_lossy());
        Self {
            name: name.map_or_else(|| path_text.clone(), std::borrow::Cow::into_owned),
            path: path_text,
            // Comparisons with what is not known are neither true nor false, and such a file is
            // not chosen.
            known: None,
        }
    }

    /// Returns the facts of an extract.
    #[must_use]
    pub fn of_manifest(path: &Path, manifest: &Manifest) -> Self {
        let row = extract_row(manifest, None);
        let sizes = manifest.source.files.iter().map(|file| file.size_bytes);
        let recorded = manifest.topics.iter().filter(|topic| topic.recorded);
        let diagnostics = manifest.diagnostics.iter();
        let known = Known {
            run_id: run_id(&manifest.source.hash),
            computer: row.computer,
            start_utc: row.start_utc.map(|UtcTime(time)| time),
            source_name: row.source_name,
            source_hash: row.source_hash,
            detail: row.detail,
            imported_from: row.imported_from,
            format_version: row.format_version,
            etwkit_version: row.etwkit_version,
            os_version: manifest.machine.os_version.clone(),
            processors: manifest.machine.processors.into(),
            // Clamped, since sizes in a manifest of a stranger can be any numbers.
            trace_bytes: i64::try_from(sizes.fold(0, u64::saturating_add)).unwrap_or(i64::MAX),
            recorded: joined(recorded.map(|topic| topic.topic.as_str())),
            diagnostics: joined(diagnostics.map(|diagnostic| diagnostic.kind.as_str())),
            left_out: joined(manifest.left_out.iter().map(String::as_str)),
            all_labels: row.labels,
            labels: manifest.labels.clone(),
        };
        Self {
            known: Some(known),
            ..Self::of_path(path)
        }
    }

    /// Returns these facts with the name of the extract that a run was added from.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..self
        }
    }

    /// Returns its labels; none if it has no manifest.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        let labels = self.known.iter().flat_map(|known| &known.labels);
        labels.map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// Returns words with `;` between them, each once.
fn joined<'w>(words: impl Iterator<Item = &'w str>) -> String {
    // Sorted, so that equal facts are equal texts and can be compared.
    let words: BTreeSet<&str> = words.collect();
    words.into_iter().collect::<Vec<_>>().join(";")
}

/// A column of facts.
struct Column {
    name: &'static str,
    values: fn(&[Facts]) -> ArrayRef,
}

/// Names of the columns that every extract has.
pub fn columns() -> impl Iterator<Item = &'static str> {
    COLUMNS.iter().map(|column| column.name)
}

const COLUMNS: &[Column] = &[
    Column {
        name: "name",
        values: |all| texts(all, |facts| Some(&facts.name)),
    },
    Column {
        name: "path",
        values: |all| texts(all, |facts| Some(&facts.path)),
    },
    Column {
        name: "computer",
        values: |all| known_texts(all, |known| known.computer.as_deref()),
    },
    Column {
        name: "start_utc",
        values: times,
    },
    // Both names, since tables and options use either.
    Column {
        name: "start",
        values: times,
    },
    Column {
        name: "detail",
        values: |all| known_texts(all, |known| Some(&known.detail)),
    },
    Column {
        name: "labels",
        values: |all| known_texts(all, |known| known.all_labels.as_deref()),
    },
    Column {
        name: "run_id",
        values: |all| numbers(all, |known| known.run_id),
    },
    Column {
        name: "source_name",
        values: |all| known_texts(all, |known| Some(&known.source_name)),
    },
    Column {
        name: "source_hash",
        values: |all| known_texts(all, |known| Some(&known.source_hash)),
    },
    Column {
        name: "trace_bytes",
        values: |all| numbers(all, |known| known.trace_bytes),
    },
    Column {
        name: "os_version",
        values: |all| known_texts(all, |known| known.os_version.as_deref()),
    },
    Column {
        name: "processors",
        values: |all| numbers(all, |known| known.processors),
    },
    Column {
        name: "recorded",
        values: |all| known_texts(all, |known| Some(&known.recorded)),
    },
    Column {
        name: "diagnostics",
        values: |all| known_texts(all, |known| Some(&known.diagnostics)),
    },
    Column {
        name: "left_out",
        values: |all| known_texts(all, |known| Some(&known.left_out)),
    },
    Column {
        name: "imported_from",
        values: |all| known_texts(all, |known| known.imported_from.as_deref()),
    },
    Column {
        name: "format_version",
        values: |all| known_texts(all, |known| Some(&known.format_version)),
    },
    Column {
        name: "etwkit_version",
        values: |all| known_texts(all, |known| Some(&known.etwkit_version)),
    },
];

fn texts(all: &[Facts], text: impl Fn(&Facts) -> Option<&str>) -> ArrayRef {
    Arc::new(all.iter().map(text).collect::<StringArray>())
}

fn known_texts(all: &[Facts], text: impl Fn(&Known) -> Option<&str>) -> ArrayRef {
    texts(all, |facts| facts.known.as_ref().and_then(&text))
}

fn numbers(all: &[Facts], number: impl Fn(&Known) -> i64) -> ArrayRef {
    let number = |facts: &Facts| facts.known.as_ref().map(&number);
    Arc::new(all.iter().map(number).collect::<Int64Array>())
}

fn times(all: &[Facts]) -> ArrayRef {
    let time = |facts: &Facts| facts.known.as_ref().and_then(|known| known.start_utc);
    let times: TimestampMicrosecondArray = all.iter().map(time).collect();
    Arc::new(times.with_timezone("UTC"))
}

/// The column with the number of a row.
// No identifier can look like this without quotes.
const NUMBER: &str = "#";

/// The word of `label['NAME']`.
const LABEL: &str = "label";

/// Returns the name of the column of a label. Names of labels have no colon, so that this is no
/// name of another column.
fn label_column(label: &str) -> String {
    format!("{LABEL}:{label}")
}

/// Returns a table with a row for each extract, and a column for each label that is known.
fn table(all: &[Facts], labels: &BTreeSet<String>) -> Result<RecordBatch> {
    let numbers: Int64Array = (0..all.len()).map(|row| row as i64).collect();
    let fixed = COLUMNS
        .iter()
        .map(|column| (column.name.to_owned(), (column.values)(all)));
    let of_label = |label: &String| {
        // An extract without the label has null there, as without a manifest.
        let value = |known: &Known| -> Option<String> { known.labels.get(label).cloned() };
        let values = all
            .iter()
            .map(|facts| facts.known.as_ref().and_then(value))
            .collect::<StringArray>();
        (label_column(label), Arc::new(values) as ArrayRef)
    };
    let number = (NUMBER.to_owned(), Arc::new(numbers) as ArrayRef);
    let columns = std::iter::once(number)
        .chain(fixed)
        .chain(labels.iter().map(of_label))
        .map(|(name, values)| (name, values, true));
    RecordBatch::try_from_iter_with_nullable(columns).map_err(|error| Error::Failed {
        message: error.to_string(),
    })
}

/// Returns for each extract whether the condition is true of it.
///
/// # Errors
/// The condition is no SQL, names an unknown column, or is not a condition.
pub fn fitting(condition: &str, all: &[Facts]) -> Result<Vec<bool>> {
    let labels = all.iter().flat_map(Facts::labels);
    let labels: BTreeSet<String> = labels.map(|(name, _)| name.to_owned()).collect();
    // A label that the condition names gets a column even if no extract has it.
    let mut resolve = Resolve {
        known: labels.clone(),
        named: labels,
    };
    let mut expr = statement::expression(condition)?;
    if let ControlFlow::Break(error) = expr.visit(&mut resolve) {
        return Err(error);
    }
    let batch = table(all, &resolve.named)?;
    // On threads of the engine: planning needs their stacks.
    let numbers = Threads::take(1)?.wait_for(&Cancel::default(), rows(expr, batch))?;
    let mut fits = vec![false; all.len()];
    for number in numbers {
        // The engine may change the order of rows, so each carries its number.
        let at = usize::try_from(number).ok();
        if let Some(fits) = at.and_then(|at| fits.get_mut(at)) {
            *fits = true;
        }
    }
    Ok(fits)
}

/// Returns the numbers of the rows for which the condition is true.
async fn rows(expr: Expr, batch: RecordBatch) -> Result<Vec<i64>> {
    // One row for each extract is too little for several threads.
    let options = Options {
        partitions: 1,
        ..Options::default()
    };
    let context =
        SessionContext::new_with_state(state(&options).map_err(|e| error::from_execution(&e))?);
    // Only functions that need no tables: a condition sees facts alone.
    functions::pure().for_each(|function| context.register_udf(function));
    let rows = context
        .read_batch(batch)
        .map_err(|e| error::from_planning(&e))?;
    let alone = ExprWithAlias { expr, alias: None };
    let condition = context
        .state()
        .create_logical_expr_from_sql_expr(alone, rows.schema())
        .map_err(|e| error::from_planning(&e))?;
    let kind = condition.get_type(rows.schema());
    let kind = kind.map_err(|e| error::from_planning(&e))?;
    // Null is a condition that is never true, as a comparison with it is.
    if !matches!(kind, DataType::Boolean | DataType::Null) {
        return Err(Error::Sql {
            message: format!("expected a condition, found a value of the type {kind}"),
            position: None,
            hint: Some("compare it, as in suite = 'Report'".to_owned()),
        });
    }
    if is_over_rows(&condition)? {
        return Err(Error::Sql {
            message: "expected a condition on one extract, found a function over several"
                .to_owned(),
            position: None,
            hint: Some("`etwkit sql` counts and adds up rows of many extracts".to_owned()),
        });
    }
    let chosen = rows
        .filter(condition)
        .and_then(|rows| rows.select(vec![col(format!("\"{NUMBER}\""))]))
        .map_err(|e| error::from_planning(&e))?;
    let chosen = chosen.collect().await;
    let chosen = chosen.map_err(|e| error::from_execution(&e))?;
    let numbers = chosen.iter().flat_map(|batch| {
        let numbers = batch.columns().first();
        numbers.and_then(|column| column.as_primitive_opt::<Int64Type>())
    });
    Ok(numbers.flatten().flatten().collect())
}

/// Returns `true` if a condition needs the rows of other extracts, as `count(*) > 1` does.
fn is_over_rows(condition: &Planned) -> Result<bool> {
    let is_over_rows = condition.exists(|part| {
        Ok(matches!(
            part,
            Planned::AggregateFunction(_) | Planned::WindowFunction(_)
        ))
    });
    is_over_rows.map_err(|e| error::from_planning(&e))
}

/// Replaces the names of a condition with those of the columns.
struct Resolve {
    /// Labels that an extract has.
    known: BTreeSet<String>,
    /// These, and labels that the condition names.
    named: BTreeSet<String>,
}

// Names are replaced in the tree and not in the text, where they may be part of a literal.
impl VisitorMut for Resolve {
    type Break = Error;

    fn pre_visit_query(&mut self, _query: &mut Query) -> ControlFlow<Error> {
        // A nested question could read files, or never end.
        ControlFlow::Break(Error::Sql {
            message: "expected a condition, found a question in it".to_owned(),
            position: None,
            hint: Some("a condition compares facts of one extract, as in suite = 'Report'".into()),
        })
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        let found = match expr {
            Expr::Identifier(name) => self.column(name),
            Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [table, label] if is_label(table) => Ok(self.label(&label.value)),
                [.., name] => Err(self.unknown(name, &written(parts))),
                [] => return ControlFlow::Continue(()),
            },
            Expr::CompoundFieldAccess { root, access_chain } => match root.as_ref() {
                Expr::Identifier(root) if is_label(root) => match named_label(access_chain) {
                    Some(label) => Ok(self.label(&label)),
                    None => Err(needs_name(root)),
                },
                _ => return ControlFlow::Continue(()),
            },
            _ => return ControlFlow::Continue(()),
        };
        match found {
            Ok(column) => {
                // In quotes, since names of labels may be words of SQL.
                *expr = Expr::Identifier(Ident::with_quote('"', column));
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    }
}

fn is_label(name: &Ident) -> bool {
    name.quote_style.is_none() && name.value.eq_ignore_ascii_case(LABEL)
}

/// Returns a name of several parts as it is written.
fn written(parts: &[Ident]) -> String {
    let parts: Vec<&str> = parts.iter().map(|part| part.value.as_str()).collect();
    parts.join(".")
}

/// Returns the name between brackets.
fn named_label(access: &[AccessExpr]) -> Option<String> {
    let [AccessExpr::Subscript(Subscript::Index { index })] = access else {
        return None;
    };
    match index {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(name) => Some(name.clone()),
            _ => None,
        },
        _ => None,
    }
}

fn needs_name(label: &Ident) -> Error {
    Error::Sql {
        message: "expected the name of a label".to_owned(),
        position: place(label),
        hint: Some("label['suite'] is the value of the label suite".to_owned()),
    }
}

fn place(name: &Ident) -> Option<(u64, u64)> {
    let start = name.span.start;
    (start.line > 0).then_some((start.line, start.column))
}

impl Resolve {
    /// Returns the column of a label, which an extract need not have.
    fn label(&mut self, label: &str) -> String {
        self.named.insert(label.to_owned());
        label_column(label)
    }

    /// Returns the column with that name: one of all extracts, or a label.
    fn column(&self, name: &Ident) -> Result<String> {
        let is_name = |known: &str| match name.quote_style {
            None => known.eq_ignore_ascii_case(&name.value),
            Some(_) => known == name.value,
        };
        if let Some(column) = columns().find(|column| is_name(column)) {
            return Ok(column.to_owned());
        }
        // Labels may differ in case alone, so that the one that is written comes first.
        let exact = self.known.get(&name.value);
        if let Some(label) = exact.or_else(|| self.known.iter().find(|label| is_name(label))) {
            return Ok(label_column(label));
        }
        if is_label(name) {
            return Err(needs_name(name));
        }
        Err(self.unknown(name, &name.value))
    }

    fn unknown(&self, name: &Ident, written: &str) -> Error {
        let labels: Vec<&str> = self.known.iter().map(String::as_str).collect();
        let mut all: Vec<&str> = columns().collect();
        all.extend(&labels);
        let near = similar(&name.value, &all);
        let near = match near.first() {
            Some(near) => format!("did you mean {near}? "),
            None => String::new(),
        };
        let labels = if labels.is_empty() {
            "no extract has labels".to_owned()
        } else {
            format!("labels: {}", labels.join(", "))
        };
        let columns: Vec<&str> = columns().collect();
        Error::Sql {
            message: format!("{NO_COLUMN} {written}"),
            position: place(name),
            hint: Some(format!("{near}{labels}; columns: {}", columns.join(", "))),
        }
    }
}
