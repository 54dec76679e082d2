//! The graphs that can be written: the names of graphs and columns in profiles, and their sources
//! in an extract.
//!
//! Everything here is data, in the file `graphs.tsv`. A graph is a table of the extract with others
//! joined to it, and a column is an SQL expression over these. GUIDs come from profiles of Windows
//! Performance Analyzer. A graph or column without a GUID in any known profile is found only by its
//! name.

mod read;

use crate::wpa::format::Unit;
pub use read::{everywhere, graphs, others};

/// A graph of Windows Performance Analyzer.
#[derive(Debug)]
pub struct Graph {
    /// Its name, which starts the names of its files.
    pub name: &'static str,
    /// GUID of the graph in profiles, in lower case; `None` if no known profile has it.
    pub guid: Option<&'static str>,
    /// Its element in profiles of version 1, if it is known.
    pub element: Option<&'static str>,
    /// The table of the extract with its rows, which is called `r` in the SQL of columns.
    pub table: &'static str,
    /// The rows as a SELECT, where they are not those of the table but computed from it.
    pub rows: Option<&'static str>,
    /// Only these of its rows, as a condition.
    pub only: Option<&'static str>,
    /// Tables that columns may need.
    pub joins: Vec<Join>,
    /// Position of a row in time.
    pub time: Time,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Columns of the program that nothing in an extract fills, in addition to [`everywhere`].
    pub unfilled: Vec<Unfilled>,
}

/// A table that is joined when a column names it.
#[derive(Debug)]
pub struct Join {
    /// Its name in the SQL of columns and of later joins.
    pub alias: &'static str,
    /// The join.
    pub sql: &'static str,
}

/// Position of a row in time, as SQL of nanoseconds since the start of the trace.
#[derive(Debug, Clone, Copy)]
pub enum Time {
    /// At one moment.
    Moment(&'static str),
    /// From the first to the second; null is before or after the trace.
    Span(&'static str, &'static str),
}

/// A column.
#[derive(Debug)]
pub struct Column {
    /// Its title, without a unit.
    pub name: &'static str,
    /// GUID of the column in profiles, in lower case; `None` if no known profile has it.
    pub guid: Option<&'static str>,
    /// Its value. `$from` and `$to` are the ends of the requested part of the trace.
    pub sql: &'static str,
    /// Kind of its values.
    pub kind: ValueKind,
    /// Words that filters of profiles use for values, and the value in the extract for each.
    pub means: Vec<(&'static str, &'static str)>,
}

/// Kind of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// Text.
    Text,
    /// A process as text, `name (pid)`, with the SQL of its name alone, which some presets use.
    Process(&'static str),
    /// A whole number.
    Number,
    /// An address or bits, written in hexadecimal digits.
    Hex,
    /// Nanoseconds since the start of the trace.
    Moment,
    /// A length of time in nanoseconds, written in this unit unless the profile sets another one.
    Duration(Unit),
    /// Bytes.
    Bytes,
    /// Nanoseconds, as percent of all processors in the part of the trace.
    Percent,
    /// The number of a stack.
    Stack,
}

/// A column that cannot be filled.
#[derive(Debug)]
pub struct Unfilled {
    /// Its title, without a unit.
    pub name: &'static str,
    /// GUID of the column in profiles, in lower case.
    pub guid: &'static str,
    /// The reason why nothing fills it.
    pub why: &'static str,
}

/// A graph that cannot be written.
#[derive(Debug)]
pub struct Other {
    /// Its name.
    pub name: &'static str,
    /// GUID of the graph in profiles, in lower case.
    pub guid: &'static str,
    /// What records it.
    pub recorded_by: &'static str,
}

/// Returns the graph with this GUID, in any case.
#[must_use]
pub fn by_guid(guid: &str) -> Option<&'static Graph> {
    find(|graph| {
        graph
            .guid
            .is_some_and(|known| known.eq_ignore_ascii_case(guid))
    })
}

/// Returns the graph with this name, in any case.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Graph> {
    find(|graph| graph.name.eq_ignore_ascii_case(name))
}

/// Returns the graph with this element in profiles of version 1.
#[must_use]
pub fn by_element(element: &str) -> Option<&'static Graph> {
    find(|graph| graph.element == Some(element))
}

/// Returns the graph with a column that no other graph has. Columns such as `Thread Name` are in
/// many graphs.
#[must_use]
pub fn by_column(guid: &str) -> Option<&'static Graph> {
    let mut with = graphs()
        .iter()
        .filter(|graph| graph.by_guid(guid).is_some());
    // A GUID in two graphs identifies neither: the profile does not show which of them is meant.
    let first = with.next();
    first.filter(|_| with.next().is_none())
}

/// Returns the graph with this GUID that cannot be written, in any case and with or without braces.
#[must_use]
pub fn other(guid: &str) -> Option<&'static Other> {
    let guid = guid.trim_matches(['{', '}']);
    others()
        .iter()
        .find(|other| other.guid.eq_ignore_ascii_case(guid))
}

fn find(is_it: impl Fn(&Graph) -> bool) -> Option<&'static Graph> {
    graphs().iter().find(|graph| is_it(graph))
}

impl Graph {
    /// Returns its column with this GUID, in any case.
    #[must_use]
    pub fn by_guid(&self, guid: &str) -> Option<&Column> {
        self.columns.iter().find(|column| {
            column
                .guid
                .is_some_and(|known| known.eq_ignore_ascii_case(guid))
        })
    }

    /// Returns its column with this title, in any case.
    #[must_use]
    pub fn by_name(&self, name: &str) -> Option<&Column> {
        self.columns
            .iter()
            .find(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// Returns the column with this GUID, or without one with this title, that nothing in an
    /// extract fills.
    #[must_use]
    pub fn unfilled(&self, guid: &str, name: &str) -> Option<&Unfilled> {
        let mut all = self.unfilled.iter().chain(everywhere());
        if guid.is_empty() {
            return all.find(|column| column.name.eq_ignore_ascii_case(name));
        }
        all.find(|column| column.guid.eq_ignore_ascii_case(guid))
    }
}
