//! The graphs that can be written: the names of graphs and columns in profiles, and their sources
//! in an extract.
//!
//! Everything here is data. A graph is a table of the extract with others joined to it, and a
//! column is an SQL expression over these. GUIDs come from profiles of Windows Performance
//! Analyzer. A graph or column without a GUID in any known profile is found only by its name.

mod cpu;
mod events;
mod file;
mod handle;
mod memory;
mod others;
mod power;
mod programs;
mod storage;
mod unfilled;
mod window;

use crate::wpa::format::Unit;
pub use others::{OTHERS, Other, other};
pub use unfilled::{EVERYWHERE, Unfilled};

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
    pub joins: &'static [Join],
    /// Position of a row in time.
    pub time: Time,
    /// Its columns.
    pub columns: &'static [Column],
    /// Columns of the program that nothing in an extract fills, in addition to
    /// [`EVERYWHERE`].
    pub unfilled: &'static [Unfilled],
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
    pub kind: Kind,
    /// Words that filters of profiles use for values, and the value in the extract for each.
    pub means: &'static [(&'static str, &'static str)],
}

/// Kind of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
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

/// Creates a column.
pub(crate) const fn col(
    name: &'static str,
    guid: &'static str,
    sql: &'static str,
    kind: Kind,
) -> Column {
    Column {
        name,
        guid: Some(guid),
        sql,
        kind,
        means: &[],
    }
}

/// Creates a column that no known profile shows.
pub(crate) const fn named(name: &'static str, sql: &'static str, kind: Kind) -> Column {
    Column {
        name,
        guid: None,
        sql,
        kind,
        means: &[],
    }
}

/// Creates the join of the process with this key.
pub(crate) const fn join(alias: &'static str, sql: &'static str) -> Join {
    Join { alias, sql }
}

/// SQL of a process as `name (pid)`, by the alias of its row.
macro_rules! process {
    ($alias:literal) => {
        concat!(
            "CASE WHEN ",
            $alias,
            ".pid IS NULL THEN 'Unknown' ELSE concat(coalesce(",
            $alias,
            ".name, 'Unknown'), ' (', CAST(",
            $alias,
            ".pid AS VARCHAR), ')') END"
        )
    };
}

/// SQL of the name of a process, by the alias of its row.
macro_rules! process_name {
    ($alias:literal) => {
        concat!("coalesce(", $alias, ".name, 'Unknown')")
    };
}

/// SQL of the code of a frame, by the aliases of its module, its method and itself.
macro_rules! function {
    ($method:literal, $frame:literal) => {
        concat!(
            "coalesce(",
            $method,
            ".name, CASE WHEN ",
            $frame,
            ".frame_id IS NOT NULL THEN '?' END)"
        )
    };
}

/// SQL of the display names of the services of a process, joined as `services`, by the key of the
/// process.
macro_rules! services {
    ($key:literal) => {
        concat!(
            "LEFT JOIN (SELECT process_key, string_agg(coalesce(display_name, name), ', ' ORDER BY name) AS display_names, ",
            "string_agg(name, ', ' ORDER BY name) AS names FROM service GROUP BY process_key) services ",
            "ON services.process_key = ",
            $key
        )
    };
}

pub(crate) use {function, process, process_name, services};

/// All graphs, in the order of the documentation.
pub static GRAPHS: &[&Graph] = &[
    &cpu::SAMPLED,
    &cpu::PRECISE,
    &cpu::ATTRIBUTED,
    &cpu::DPC_ISR,
    &cpu::BY_PROCESS,
    &power::FREQUENCY,
    &power::PERFORMANCE,
    &power::COUNTERS,
    &power::COUNTER_SAMPLES,
    &storage::DISK,
    &file::FILE,
    &file::MINI_FILTER,
    &storage::HARD_FAULTS,
    &programs::PROCESSES,
    &programs::IMAGES,
    &programs::THREADS,
    &programs::SERVICES,
    &programs::BOOT,
    &events::GENERIC,
    &events::MARKS,
    &events::REGIONS,
    &events::REGISTRY,
    &events::TCP_IP,
    &memory::VIRTUAL_ALLOC,
    &memory::HEAP,
    &memory::SNAPSHOTS,
    &memory::POOL,
    &handle::HANDLES,
    &handle::GDI_USER,
    &window::UI_DELAYS,
    &window::FOCUS,
];

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
    let mut with = GRAPHS
        .iter()
        .copied()
        .filter(|graph| graph.by_guid(guid).is_some());
    // A GUID in two graphs identifies neither: the profile does not show which of them is meant.
    let first = with.next();
    first.filter(|_| with.next().is_none())
}

fn find(is_it: impl Fn(&Graph) -> bool) -> Option<&'static Graph> {
    GRAPHS.iter().copied().find(|graph| is_it(graph))
}

impl Graph {
    /// Returns its column with this GUID, in any case.
    #[must_use]
    pub fn by_guid(&self, guid: &str) -> Option<&'static Column> {
        self.columns.iter().find(|column| {
            column
                .guid
                .is_some_and(|known| known.eq_ignore_ascii_case(guid))
        })
    }

    /// Returns its column with this title, in any case.
    #[must_use]
    pub fn by_name(&self, name: &str) -> Option<&'static Column> {
        self.columns
            .iter()
            .find(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// Returns the column with this GUID, or without one with this title, that nothing in an
    /// extract fills.
    #[must_use]
    pub fn unfilled(&self, guid: &str, name: &str) -> Option<&'static Unfilled> {
        let all = || self.unfilled.iter().chain(EVERYWHERE);
        if guid.is_empty() {
            return all().find(|column| column.name.eq_ignore_ascii_case(name));
        }
        all().find(|column| column.guid.eq_ignore_ascii_case(guid))
    }
}
