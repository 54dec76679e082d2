//! The check that the rows of a table come in the declared order.
//!
//! The declaration means "as well as a single pass can". An engine that trusts a sort order that
//! nearly holds gives wrong answers. So the order is checked while writing, and the manifest
//! contains the result. Parquet also has a field for it, but it has to be set before the first row
//! is written, so it is left empty.

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use etwkit_trace::table::{ColumnKind, Table};

/// Follows the first column of the declared order: ascending, missing values last.
#[derive(Debug)]
pub(crate) struct Order {
    column: Option<String>,
    last: Last,
}

#[derive(Debug, Clone, Copy)]
enum Last {
    None,
    Value(i64),
    Null,
}

impl Order {
    pub(super) fn new(table: &Table) -> Self {
        let first = table.order.first().copied();
        let is_number = |name: &&'static str| {
            table
                .column(name)
                .is_some_and(|column| matches!(column.kind, ColumnKind::Int32 | ColumnKind::Int64))
        };
        Self {
            // Only numbers are followed; texts would have to be kept.
            column: first.filter(is_number).map(str::to_owned),
            last: Last::None,
        }
    }

    /// Follows a column of numbers of any table.
    pub(crate) fn of_column(column: &str) -> Self {
        Self {
            column: Some(column.to_owned()),
            last: Last::None,
        }
    }

    /// True if all rows so far are sorted.
    pub(crate) const fn holds(&self) -> bool {
        self.column.is_some()
    }

    /// Checks more rows.
    pub(crate) fn check(&mut self, rows: &RecordBatch) {
        let Some(array) = self
            .column
            .as_ref()
            .and_then(|name| rows.column_by_name(name))
        else {
            return;
        };
        let mut last = self.last;
        let holds = if let Some(values) = array.as_primitive_opt::<Int64Type>() {
            values.iter().all(|value| follows(&mut last, value))
        } else if let Some(values) = array.as_primitive_opt::<Int32Type>() {
            // Both widths occur in declared orders.
            values
                .iter()
                .all(|value| follows(&mut last, value.map(i64::from)))
        } else {
            false
        };
        self.last = last;
        // Once the order is violated it stays violated, so later rows are not checked.
        if !holds {
            self.column = None;
        }
    }

    /// The columns by which all rows so far are sorted.
    pub(super) fn columns(&self) -> Vec<String> {
        self.column.clone().into_iter().collect()
    }
}

fn follows(last: &mut Last, value: Option<i64>) -> bool {
    let next = value.map_or(Last::Null, Last::Value);
    let holds = match (*last, next) {
        (Last::Value(before), Last::Value(after)) => before <= after,
        // Nulls are last, so that a value after one is out of order.
        (Last::Null, Last::Value(_)) => false,
        _ => true,
    };
    *last = next;
    holds
}
