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
use etwkit_base::ordered::both;

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
    let io = || {
        let mut rows: Vec<(&'static Table, RecordBatch)> = Vec::new();
        io::derive(source, &mut rows)?;
        driver::derive(source, &mut rows)?;
        cores::derive(source, &mut rows)?;
        counters::derive(source, &mut rows)?;
        registry::derive(source, &mut rows)?;
        filters::derive(source, &mut rows)?;
        faults::derive(source, &mut rows)?;
        calls::derive(source, &mut rows)?;
        alpc::derive(source, &mut rows)?;
        heap::derive(source, &mut rows)?;
        pool::derive(source, &mut rows)?;
        objects::derive(source, &mut rows)?;
        win32k::derive(source, &mut rows)?;
        Ok::<_, SinkError>(rows)
    };
    // Only one thread may use the sink. The rows of these tables are few, so they are held until
    // the other thread is done.
    let (io, cpu) = both(io, || cpu::derive(source, sets, sink));
    cpu?;
    io?.into_iter()
        .try_for_each(|(table, rows)| sink.write(table, rows))
}

/// Rows lack a declared column, or it has another type.
#[derive(Debug, thiserror::Error)]
#[error("the table has no column {column} of the declared type: extract the trace again")]
pub struct MissingColumn {
    column: String,
}
