//! Tables that an extract omits because its creator did not want them (`--tables`).

use std::collections::BTreeSet;

use arrow_array::RecordBatch;
use etwkit_trace::derive::{is_stack, names_stacks};
use etwkit_trace::sink::{Sink, SinkError};
use etwkit_trace::table::{
    ABOUT, DERIVED, Diagnostic, Feature, Finding, Frame, Method, Module, Process, Row, RuleOutcome,
    Stack, StackHash, Table, Thread, Trace,
};
use etwkit_trace::topics::{self, TABLES};

use crate::manifest::Detail;

/// Tables that all others depend on: they identify the trace, and they define the keys used in
/// rows.
const ALWAYS: [&Table; 7] = [
    Trace::TABLE,
    Process::TABLE,
    Thread::TABLE,
    Module::TABLE,
    Method::TABLE,
    Frame::TABLE,
    Diagnostic::TABLE,
];

/// Tables that questions about all rows fill: a diagnosis, and the features of the run. They have rows if
/// the extract was made with these, whatever other tables it has.
pub(crate) const ASKED: [&Table; 3] = [Finding::TABLE, RuleOutcome::TABLE, Feature::TABLE];

/// Names of tables.
pub type Names = BTreeSet<String>;

/// True if a table has a row for each event, so that a summary omits it.
#[must_use]
pub fn is_row_table(name: &str) -> bool {
    topics::row_tables().any(|table| table.name == name)
}

/// The tables that can be left out, in the order in which they are declared.
fn choosable() -> impl Iterator<Item = &'static Table> {
    let is_always = |table: &&&Table| {
        ALWAYS
            .iter()
            .chain(&ASKED)
            .chain(ABOUT)
            .any(|always| always.name == table.name)
    };
    TABLES
        .iter()
        .chain(DERIVED)
        .filter(move |table| !is_always(table))
        .copied()
}

/// Names of the tables that an extract of that detail omits if only the tables accepted by
/// `is_wanted` are wanted. Stacks stay if one of the kept tables refers to stacks. Row tables,
/// which summaries never have, do not count there.
#[must_use]
pub fn left_out(detail: Detail, is_wanted: impl Fn(&str) -> bool) -> Names {
    let is_summary = detail == Detail::Summary;
    let is_kept =
        |table: &&Table| is_wanted(table.name) && !(is_summary && is_row_table(table.name));
    let kept: Vec<&Table> = choosable().filter(is_kept).collect();
    let names_stacks = |table: &&Table| {
        // Hashes also refer to stacks, but they alone are no reason to keep the stacks: no other
        // table would refer to them.
        table.name != StackHash::TABLE.name
            && table.columns.iter().any(|column| is_stack(column.name))
    };
    let has_stacks = kept.iter().any(names_stacks);
    let out = choosable().filter(|table| {
        let is_kept = is_wanted(table.name) || table.name == Stack::TABLE.name && has_stacks;
        !(is_kept || is_summary && is_row_table(table.name))
    });
    out.map(|table| table.name.to_owned()).collect()
}

/// Tables that extracts omit by default. Hashes of stacks do not compress, would make a summary a
/// third larger, and can be computed from the other tables.
#[must_use]
pub fn left_out_by_default() -> Names {
    Names::from([StackHash::TABLE.name.to_owned()])
}

/// The tables that a manifest lists as left out; those that are left out by default are not listed.
#[must_use]
pub fn listed_in_manifest(left_out: Names) -> Names {
    let usual = left_out_by_default();
    left_out
        .into_iter()
        .filter(|table| !usual.contains(table))
        .collect()
}

/// Tables with stacks whose rows a summary keeps.
pub(crate) fn kept_with_stacks(left_out: &Names) -> Vec<&'static Table> {
    let is_kept = |table: &&Table| {
        names_stacks(table) && !is_row_table(table.name) && !left_out.contains(table.name)
    };
    TABLES.iter().copied().filter(is_kept).collect()
}

/// Passes on the rows of tables that are not omitted.
pub(crate) struct Without<'s> {
    pub(crate) left_out: &'s Names,
    pub(crate) sink: &'s mut dyn Sink,
}

impl Sink for Without<'_> {
    fn write(&mut self, table: &'static Table, rows: RecordBatch) -> Result<(), SinkError> {
        if self.left_out.contains(table.name) {
            Ok(())
        } else {
            self.sink.write(table, rows)
        }
    }
}
