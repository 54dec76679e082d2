//! Tables that are computed from others: CPU, waiting and ready time by process, method, stack and
//! stack tag; disk and file I/O by file; known drivers; CPU by kind of core, counters by thread;
//! registry by key, system calls by function, handles by type, virtual memory by process; the lock
//! and the objects of the window manager; minifilter drivers, page faults, messages of ALPC and
//! blocks of heaps by process, memory of the kernel by tag.
//!
//! They are computed from the written rows, not while events are read: unions of intervals need
//! them in the order of their starts, and symbols can be loaded later. Rows of one group of
//! processes are held at a time, so memory stays bounded.

mod alpc;
mod calls;
mod class_methods;
pub mod columns;
mod cores;
mod counters;
mod cpu;
mod driver;
mod faults;
mod filters;
mod frames;
mod heap;
mod idle;
mod interval;
mod io;
mod method;
mod objects;
mod percentiles;
mod pool;
mod process;
mod registry;
mod speeds;
mod stack_hash;
mod states;
mod summary;
mod tag;
mod tag_interval;
mod win32k;

use arrow_array::RecordBatch;
use etwkit_base::ordered::{Workers, both, processors};

pub use stack_hash::{is_stack, stack_hashes};
pub use summary::{SummarySink, SummaryStacks, names_stacks};

use crate::sink::{Sink, SinkError};
use crate::table::Table;
use crate::tags::TagSet;

/// Adds an amount to a sum. A missing one adds nothing.
fn plus(sum: i64, more: Option<i64>) -> i64 {
    more.map_or(sum, |more| sum.saturating_add(more))
}

/// Callback for each batch of a table.
pub type OnBatch<'f> = dyn FnMut(&RecordBatch) -> Result<(), SinkError> + 'f;

/// A source of the rows of tables.
pub trait TableSource: Sync {
    /// Calls `on_batch` with the batches of a table, in their order; never for a table without
    /// rows. Only the columns of that name are needed.
    ///
    /// # Errors
    /// Errors of reading, and the first error of `on_batch`.
    fn scan(
        &self,
        table: &'static Table,
        columns: &[&str],
        on_batch: &mut OnBatch<'_>,
    ) -> Result<(), SinkError>;
}

impl TableSource for Vec<(&'static Table, RecordBatch)> {
    fn scan(
        &self,
        table: &'static Table,
        _: &[&str],
        on_batch: &mut OnBatch<'_>,
    ) -> Result<(), SinkError> {
        self.iter()
            .filter(|(of, _)| of.name == table.name)
            .try_for_each(|(_, batch)| on_batch(batch))
    }
}

/// Computes the rows of a few tables.
type Derivation = fn(&dyn TableSource, &mut dyn Sink) -> Result<(), SinkError>;

/// All derivations but those of CPU by process. None needs another one, and the rows come in this
/// order.
const OTHERS: [Derivation; 14] = [
    io::disks,
    io::files,
    driver::derive,
    cores::derive,
    counters::derive,
    registry::derive,
    filters::derive,
    faults::derive,
    calls::derive,
    alpc::derive,
    heap::derive,
    pool::derive,
    objects::derive,
    win32k::derive,
];

/// Threads for [`OTHERS`], at most. Each may hold the names of all frames.
const OTHER_THREADS: usize = 3;

/// Computes all derived tables but `stack_hash` (see [`stack_hashes`]), with the stack tags of each
/// of `sets`, and writes them to `sink`.
///
/// # Errors
/// The errors of the source and the sink.
pub fn derive(
    source: &dyn TableSource,
    sets: &[TagSet],
    sink: &mut dyn Sink,
) -> Result<(), SinkError> {
    // The tables of CPU take at least half of the work.
    let workers = Workers {
        threads: (processors() / 2).clamp(1, OTHER_THREADS),
        jobs_ahead: usize::MAX,
    };
    // Only one thread may use the sink. The rows of these tables are few, so they are held until
    // the other thread is done.
    let (others, cpu) = both(
        || others(workers, source),
        || cpu::derive(source, sets, sink),
    );
    cpu?;
    others?
        .into_iter()
        .try_for_each(|(table, rows)| sink.write(table, rows))
}

/// Rows of tables, in their order.
type Batches = Vec<(&'static Table, RecordBatch)>;

/// The rows of [`OTHERS`].
fn others(workers: Workers, source: &dyn TableSource) -> Result<Batches, SinkError> {
    let mut all = Batches::new();
    let derived = |derivation: &Derivation| {
        let mut rows = Batches::new();
        derivation(source, &mut rows).map(|()| rows)
    };
    workers.map(&OTHERS, derived, |_, rows| {
        all.extend(rows?);
        Ok::<(), SinkError>(())
    })?;
    Ok(all)
}

/// Rows lack a declared column, or it has another type.
#[derive(Debug, thiserror::Error)]
#[error("the table has no column {column} of the declared type: extract the trace again")]
pub struct MissingColumn {
    column: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Columns, ContextSwitch, DiskIo, FileIo, Module, RegistryIo, Row};

    fn rows<R: Row>(rows: &[R]) -> (&'static Table, RecordBatch) {
        let mut columns = R::Columns::default();
        rows.iter().for_each(|row| columns.push(row));
        (R::TABLE, columns.take().unwrap())
    }

    /// A row of a few tables from which others are computed.
    fn source() -> Batches {
        vec![
            rows(&[DiskIo::default()]),
            rows(&[FileIo::default()]),
            rows(&[Module {
                name: "WdFilter.sys".to_owned(),
                ..Module::default()
            }]),
            rows(&[ContextSwitch {
                cpu: Some(0),
                process_key: Some(1),
                ..ContextSwitch::default()
            }]),
            rows(&[RegistryIo::default()]),
        ]
    }

    #[test]
    fn any_number_of_threads_gives_the_same_rows() {
        let source = source();
        let derived = |threads| {
            let workers = Workers {
                threads,
                jobs_ahead: usize::MAX,
            };
            others(workers, &source).unwrap()
        };
        let of_one = derived(1);
        let tables: Vec<&str> = of_one.iter().map(|(table, _)| table.name).collect();
        assert_eq!(
            tables,
            [
                "disk_file",
                "file_file",
                "driver_category",
                "cpu_class_priority",
                "registry_key"
            ]
        );
        for threads in [2, 3, 8] {
            assert_eq!(derived(threads), of_one, "{threads} threads");
        }
    }
}
