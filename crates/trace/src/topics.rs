//! The possible contents of an extract: its tables, and the topics that fill them. All of it
//! follows from the declarations of importers.

use etwkit_decode::kernel::group_mask::GroupMask;
use etwkit_etl::Identity;

use crate::declared::{self, Detail, Recorded, Topic};
use crate::import::IMPORTERS;
use crate::table::{ABOUT, DERIVED, Row, Table, Trace};

/// Number of tables that importers fill.
const COUNT: usize = {
    let mut count = 0;
    let mut left = IMPORTERS;
    while let [first, rest @ ..] = left {
        count += first.tables.len();
        left = rest;
    }
    count
};

#[expect(
    clippy::indexing_slicing,
    reason = "done when this is compiled: what is outside does not compile"
)]
static ALL: [&Table; COUNT] = {
    let mut all = [Trace::TABLE; COUNT];
    let mut at = 0;
    let mut left = IMPORTERS;
    while let [first, rest @ ..] = left {
        let mut tables = first.tables;
        while let [filled, others @ ..] = tables {
            all[at] = filled.table;
            at += 1;
            tables = others;
        }
        left = rest;
    }
    all
};

/// All tables that are written while a trace is read; tables that name things come first.
pub static TABLES: &[&Table] = &ALL;

/// The table with that name, computed ones and those about the extract included.
#[must_use]
pub fn find(name: &str) -> Option<&'static Table> {
    TABLES
        .iter()
        .chain(DERIVED)
        .chain(ABOUT)
        .find(|table| table.name == name)
        .copied()
}

/// The tables with a row for each event or operation, which summaries leave out.
pub fn row_tables() -> impl Iterator<Item = &'static Table> {
    let filled = IMPORTERS.iter().flat_map(|importer| importer.tables);
    filled
        .filter(|filled| filled.detail == Detail::Row)
        .map(|filled| filled.table)
}

/// All topics, the most requested first.
#[must_use]
pub fn all() -> Vec<&'static Topic> {
    let mut all: Vec<&Topic> = IMPORTERS
        .iter()
        .flat_map(|importer| importer.topics)
        .collect();
    all.sort_unstable_by_key(|topic| topic.place);
    all
}

/// Number of events of each topic. `enabled` are the events that the kernel logger was to record.
pub(crate) fn recorded(
    counts: impl Iterator<Item = (Identity, u64)>,
    enabled: GroupMask,
) -> Vec<Recorded> {
    declared::recorded(&all(), counts, enabled)
}

/// The topics that fill a table; none for a table that is filled in any case, or by events without
/// a topic.
#[must_use]
pub fn of_table(table: &str) -> Vec<&'static str> {
    let fills = |topic: &&Topic| topic.tables.iter().any(|filled| filled.name == table);
    all()
        .into_iter()
        .filter(fills)
        .map(|topic| topic.name)
        .collect()
}

/// The tables that a topic fills.
#[must_use]
pub fn tables_of(topic: &str) -> Vec<&'static str> {
    let topics = all();
    let topic = topics.iter().find(|known| known.name == topic);
    topic.map_or_else(Vec::new, |topic| {
        topic.tables.iter().map(|table| table.name).collect()
    })
}

/// Returns `true` if the events of a topic are rows of one table; others are computed from it.
#[must_use]
pub fn has_one_kind(topic: &str) -> bool {
    let is_filled = |name: &str| TABLES.iter().any(|table| table.name == name);
    let filled = tables_of(topic).into_iter().filter(|name| is_filled(name));
    filled.count() == 1
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_table_has_one_importer_and_every_topic_a_place_of_its_own() {
        let tables: BTreeSet<&str> = TABLES.iter().map(|table| table.name).collect();
        assert_eq!(tables.len(), TABLES.len(), "a table has two importers");
        let places: BTreeSet<u16> = all().iter().map(|topic| topic.place).collect();
        let names: BTreeSet<&str> = all().iter().map(|topic| topic.name).collect();
        assert_eq!((places.len(), names.len()), (all().len(), all().len()));
    }

    #[test]
    fn topics_name_tables_of_their_importer_or_computed_ones() {
        for importer in IMPORTERS {
            let own: BTreeSet<&str> = importer
                .tables
                .iter()
                .map(|filled| filled.table.name)
                .collect();
            for topic in importer.topics {
                for table in topic.tables {
                    let is_derived = DERIVED.iter().any(|derived| derived.name == table.name);
                    assert!(
                        is_derived || own.contains(table.name),
                        "{}: {}",
                        topic.name,
                        table.name
                    );
                    assert!(of_table(table.name).contains(&topic.name));
                    assert!(tables_of(topic.name).contains(&table.name));
                }
            }
        }
        assert_eq!(of_table("net_io"), ["TCP and UDP", "network transfers"]);
        assert!(of_table("process").is_empty() && tables_of("stacks").is_empty());
    }

    #[test]
    fn tables_of_names_and_sums_stay_in_a_summary() {
        let rows: Vec<&str> = row_tables().map(|table| table.name).collect();
        for name in ["cpu_sample", "generic_event", "disk_io"] {
            assert!(rows.contains(&name), "{name}");
        }
        for name in ["process", "stack", "gc", "tcp_connection", "mark"] {
            assert!(!rows.contains(&name), "{name}");
        }
    }
}
