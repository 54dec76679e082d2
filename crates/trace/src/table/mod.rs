//! The tables of an extract: each column is declared once, with type, unit and meaning.
//!
//! A declaration (see [`topics`](self)) generates three things: a row type that importers fill, its
//! Arrow columns, and a [`Table`] from which the SQL reference and the labels of other front ends
//! are written. All integers are signed, because some readers of Parquet show unsigned 64-bit
//! numbers as decimals; addresses are the bit pattern of an `Int64`.

#[macro_use]
mod macros;
mod about;
mod alpc;
mod calls;
mod column;
mod cores;
mod counters;
mod cpu;
mod dotnet;
mod faults;
mod feature;
mod filters;
mod finding;
mod generic;
mod heap;
mod identity;
mod io;
mod machine;
mod memory;
mod net;
mod objects;
mod pool;
mod power;
mod recording;
mod registry;
mod screenshot;
mod session;
mod tags;
mod virtual_memory;
mod window;

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Field, Schema};

pub use about::*;
pub use alpc::*;
pub use calls::*;
pub use column::{Column, ColumnKind, UtcBuilder, UtcTime, Value};
pub use cores::*;
pub use counters::*;
pub use cpu::*;
pub use dotnet::*;
pub use faults::*;
pub use feature::*;
pub use filters::*;
pub use finding::*;
pub use generic::*;
pub use heap::*;
pub use identity::*;
pub use io::*;
pub use machine::*;
pub use memory::*;
pub use net::*;
pub use objects::*;
pub use pool::*;
pub use power::*;
pub use recording::*;
pub use registry::*;
pub use screenshot::*;
pub use session::*;
pub use tags::*;
pub use virtual_memory::*;
pub use window::*;

/// The declaration of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// Name, a singular noun.
    pub name: &'static str,
    /// The meaning of one row.
    pub doc: &'static str,
    /// Columns by which rows are sorted, as well as a single pass can; empty if they have no order.
    pub order: &'static [&'static str],
    /// Columns in their order.
    pub columns: &'static [Column],
}

impl Table {
    /// The Arrow schema.
    #[must_use]
    pub fn schema(&self) -> Arc<Schema> {
        let field =
            |column: &Column| Field::new(column.name, column.kind.data_type(), column.nullable);
        Arc::new(Schema::new(
            self.columns.iter().map(field).collect::<Vec<_>>(),
        ))
    }

    /// The column with that name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&'static Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}

/// A row of a table.
pub trait Row: Sized + 'static {
    /// Table of the row.
    const TABLE: &'static Table;
    /// Collects rows by column.
    type Columns: Columns<Self> + 'static;
    /// Bytes of its texts and binary data.
    fn text_bytes(&self) -> usize;
}

/// Rows of one table, by column.
pub trait Columns<R>: Default {
    /// Adds a row.
    fn push(&mut self, row: &R);
    /// Rows so far.
    fn len(&self) -> usize;
    /// Bytes of their texts and binary data.
    fn text_bytes(&self) -> usize;
    /// True if there is no row.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Takes all rows out.
    ///
    /// # Errors
    /// [`NotAsDeclared`], which is a bug of this crate and never the fault of a trace.
    fn take(&mut self) -> Result<RecordBatch, NotAsDeclared>;
}

/// Rows that do not match the declared columns of their table.
#[derive(Debug, thiserror::Error)]
#[error("the rows of {table} are not what the table declares")]
pub struct NotAsDeclared {
    table: &'static str,
    #[source]
    source: ArrowError,
}

/// Tables that are computed from the others.
pub static DERIVED: &[&Table] = &[
    CpuProcess::TABLE,
    CpuMethod::TABLE,
    ReadyPercentile::TABLE,
    CpuTag::TABLE,
    TagInterval::TABLE,
    CpuStack::TABLE,
    StackHash::TABLE,
    CpuClass::TABLE,
    CpuMethodClass::TABLE,
    CpuClassPriority::TABLE,
    CpuCoreState::TABLE,
    PmcThread::TABLE,
    LbrMethod::TABLE,
    DiskFile::TABLE,
    FileFile::TABLE,
    MiniFilterDriver::TABLE,
    HardFaultFile::TABLE,
    PageFaultProcess::TABLE,
    RegistryKey::TABLE,
    SyscallFunction::TABLE,
    AlpcProcess::TABLE,
    HandleType::TABLE,
    VirtualAllocProcess::TABLE,
    HeapProcess::TABLE,
    PoolTag::TABLE,
    UserLockProcess::TABLE,
    GdiUserType::TABLE,
    DriverCategory::TABLE,
];

/// Tables about an extract itself, filled from its manifest.
pub static ABOUT: &[&Table] = &[ExtractInfo::TABLE, TopicInfo::TABLE];

/// The column before the declared columns of a table: each file has it, and it is the same in all
/// rows of an extract.
pub const RUN_ID: Column = Column {
    name: "run_id",
    kind: ColumnKind::Int64,
    nullable: false,
    unit: "",
    doc: "The trace, as a number made of its content: the same in every extract of it, and another one for \
          each other trace.",
};

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::topics::TABLES;

    #[test]
    fn every_declaration_is_complete_and_named_by_the_rules() {
        let mut names = HashSet::new();
        for table in TABLES.iter().chain(DERIVED).chain(ABOUT) {
            assert!(
                table.column(RUN_ID.name).is_none(),
                "{} has a column of files",
                table.name
            );
            assert!(names.insert(table.name), "{} is declared twice", table.name);
            assert!(
                !table.doc.is_empty() && !table.columns.is_empty(),
                "{}",
                table.name
            );
            for column in table.columns {
                let name = format!("{}.{}", table.name, column.name);
                assert!(
                    column.doc.ends_with('.') || column.doc.ends_with('`'),
                    "{name}: {:?}",
                    column.doc
                );
                assert_eq!(column.name.ends_with("_ns"), column.unit == "ns", "{name}");
                assert_eq!(
                    column.name.ends_with("_bytes"),
                    column.unit == "bytes",
                    "{name}"
                );
            }
            for column in table.order {
                assert!(
                    table.column(column).is_some(),
                    "{} is sorted by {column}",
                    table.name
                );
            }
        }
    }

    #[test]
    fn rows_become_columns_of_the_declared_types() {
        let mut columns = <Mark as Row>::Columns::default();
        columns.push(&Mark {
            ts_ns: 5,
            cpu: 1,
            text: "start".into(),
            ..Mark::default()
        });
        assert_eq!((columns.len(), columns.is_empty()), (1, false));
        let batch = columns.take().unwrap();
        assert_eq!(batch.schema(), Mark::TABLE.schema());
        assert_eq!((batch.num_rows(), columns.len()), (1, 0));
    }

    #[test]
    fn a_time_of_windows_becomes_one_of_1970_in_microseconds() {
        // 1 May 2024, 10:00:00.1234567; the last digit is finer than a microsecond.
        assert_eq!(
            UtcTime::of_filetime(133_590_312_001_234_567),
            UtcTime(1_714_557_600_123_456)
        );
        assert_eq!(UtcTime::of_filetime(0), UtcTime(-11_644_473_600_000_000));
        let mut columns = <ExtractInfo as Row>::Columns::default();
        columns.push(&ExtractInfo {
            start_utc: Some(UtcTime(5)),
            ..ExtractInfo::default()
        });
        assert_eq!(
            columns.take().unwrap().schema(),
            ExtractInfo::TABLE.schema()
        );
    }
}
