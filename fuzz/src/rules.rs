//! What must hold of the tables of any trace, however broken it is.

use std::collections::{BTreeMap, HashSet};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use etwkit_trace::table::Table;

/// Rows by table.
pub type Rows = BTreeMap<&'static str, Vec<RecordBatch>>;

/// Which table and column a key refers to, by the end of its name.
const KEYS: [(&str, &str, &str); 7] = [
    ("process_key", "process", "process_key"),
    ("thread_key", "thread", "thread_key"),
    ("stack_id", "stack", "stack_id"),
    ("frame_id", "frame", "frame_id"),
    ("module_id", "module", "module_id"),
    ("method_id", "method", "method_id"),
    ("parent_id", "stack", "stack_id"),
];

/// Checks the rows of all tables and gives them back by table.
///
/// # Panics
/// If a rule is broken.
#[must_use]
pub fn check(batches: Vec<(&'static Table, RecordBatch)>) -> Rows {
    let mut rows = Rows::new();
    for (table, batch) in batches {
        assert_eq!(batch.schema(), table.schema(), "{}", table.name);
        rows.entry(table.name).or_default().push(batch);
    }
    let known: Vec<HashSet<i32>> = KEYS
        .iter()
        .map(|(_, table, column)| {
            let values = values(&rows, table, column);
            let set: HashSet<i32> = values.iter().copied().flatten().collect();
            assert_eq!(
                set.len(),
                values.len(),
                "{table}.{column} has doubles or nulls"
            );
            set
        })
        .collect();
    for (table, batches) in &rows {
        let Some(first) = batches.first() else {
            continue;
        };
        for field in first.schema().fields() {
            let key = KEYS
                .iter()
                .zip(&known)
                .find(|((end, ..), _)| field.name().ends_with(end));
            let Some(((_, of, _), known)) = key else {
                continue;
            };
            for value in values(&rows, table, field.name()).into_iter().flatten() {
                assert!(
                    known.contains(&value),
                    "{table}.{} is {value}, which no row of {of} is",
                    field.name()
                );
            }
        }
    }
    let (nodes, parents) = (
        values(&rows, "stack", "stack_id"),
        values(&rows, "stack", "parent_id"),
    );
    for (node, parent) in nodes.iter().zip(parents) {
        assert!(
            parent.is_none() || parent < *node,
            "the caller of a stack lies behind it"
        );
    }
    rows
}

fn values(rows: &Rows, table: &str, column: &str) -> Vec<Option<i32>> {
    let batches = rows.get(table).into_iter().flatten();
    let columns = batches.filter_map(|batch| batch.column_by_name(column));
    columns
        .flat_map(|array| array.as_primitive::<Int32Type>().iter().collect::<Vec<_>>())
        .collect()
}
