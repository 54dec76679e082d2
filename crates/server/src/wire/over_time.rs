//! Columns of tables over time, disk operations, and modules: the data of single views.

use serde::{Deserialize, Serialize};

use super::{Cell, ColumnFilter, Measure, Range, Selection, Source};

/// `POST api/v1/pivot_series`: a measure of groups over time.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PivotSeriesRequest {
    /// The trace.
    pub trace: u32,
    /// The table; one whose rows lie in time.
    pub table: String,
    /// Groups: a column, or `stack`.
    pub group: String,
    /// Measure of each group in each bucket.
    pub measure: Measure,
    /// The part of the trace.
    pub range: Range,
    /// Number of buckets that it is divided into, at most 600.
    pub buckets: u32,
    /// Number of groups with a series of their own, at most 12; the others are one.
    pub top: u32,
    /// Only what is of these counts; `range` of it is not read.
    pub selection: Selection,
    /// Conditions on columns that all hold.
    #[serde(default)]
    pub filters: Vec<ColumnFilter>,
}

/// Groups over time, the largest first; others together last.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PivotSeriesAnswer {
    /// Range of the buckets: it ends at most one bucket after the requested range.
    pub range: Range,
    /// Unit of the values, as that of a column.
    pub unit: String,
    /// Values add up over time and groups: counts and sums do; means, extremes and how many are
    /// different do not.
    pub adds_up: bool,
    /// The series.
    pub series: Vec<PivotSeries>,
    /// Number of groups.
    pub groups: u64,
    /// Origin of the answer.
    pub source: Source,
}

/// A group over time.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PivotSeries {
    /// The value that its rows have.
    pub value: Cell,
    /// Its label for people.
    pub label: String,
    /// It is all groups that have no series of their own.
    pub is_others: bool,
    /// The measure of all rows in the range together.
    pub total: Cell,
    /// The measure in each bucket; nothing where no row is.
    pub values: Vec<Cell>,
}

/// `POST api/v1/disk_map`: where on a disk operations were, over time.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct DiskMapRequest {
    /// The trace.
    pub trace: u32,
    /// Number of the disk; without it the one with most operations.
    pub disk: Option<i32>,
    /// The part of the trace.
    pub range: Range,
    /// Number of buckets that it is divided into.
    pub columns: u32,
    /// Number of parts that the disk is divided into. Columns × rows are at most 10,000; more are
    /// refused.
    pub rows: u32,
    /// Only what is of these counts; `range` of it is not read.
    pub selection: Selection,
}

/// Operations by time and position. An operation counts once, when it is complete, where it begins.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct DiskMapAnswer {
    /// All disks of the trace, those with most operations first; 64 at most.
    pub disks: Vec<DiskOnMap>,
    /// The disk that this is of.
    pub disk: i32,
    /// Range of the columns: it ends at most one column after the requested range.
    pub range: Range,
    /// Number of columns.
    pub columns: u32,
    /// Lowest position on the disk that anything in the whole trace has, in bytes.
    pub offset_from: i64,
    /// End of the highest row, in bytes.
    pub offset_to: i64,
    /// Number of rows, from the lowest position.
    pub rows: u32,
    /// Cells that have something, in order: row × `columns` + column.
    pub cells: Vec<u32>,
    /// Number of reads in each of these cells.
    pub reads: Vec<u32>,
    /// Number of writes in each of these cells.
    pub writes: Vec<u32>,
    /// Operations in the range that have no position, flushes most of all.
    pub without_offset: u64,
    /// Origin of the answer.
    pub source: Source,
}

/// A disk.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct DiskOnMap {
    /// Its number.
    pub disk: i32,
    /// Operations in the whole trace.
    pub operations: u64,
}

/// `POST api/v1/disk_cell`: what the operations of a part of a disk were.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct DiskCellRequest {
    /// The trace.
    pub trace: u32,
    /// Number of the disk.
    pub disk: i32,
    /// Range of their completion times.
    pub range: Range,
    /// Lowest position.
    pub offset_from: i64,
    /// End of the positions.
    pub offset_to: i64,
    /// Only what is of these counts; `range` of it is not read.
    pub selection: Selection,
    /// Largest number of files, at most 20.
    pub limit: u32,
}

/// The operations of a part of a disk.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct DiskCellAnswer {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: i64,
    /// Bytes written.
    pub write_bytes: i64,
    /// Operations that began where the one before them on the disk, whoever issued it, had ended.
    pub in_sequence: u64,
    /// Operations that began elsewhere.
    pub seeks: u64,
    /// Mean distance of these, in bytes.
    pub seek_bytes: Option<i64>,
    /// Processes and files, those with most bytes first.
    pub files: Vec<DiskCellFile>,
    /// Number of all pairs of process and file.
    pub total: u64,
    /// Origin of the answer.
    pub source: Source,
}

/// Operations of a process on a file, in a part of a disk.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct DiskCellFile {
    /// Name and id of the process, if it is known.
    pub process: Option<String>,
    /// Path, if it is known.
    pub path: Option<String>,
    /// Operations.
    pub operations: u64,
    /// Bytes.
    pub bytes: i64,
}

/// `POST api/v1/modules`: processes with their modules, or the modules of one of them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ModulesRequest {
    /// The trace.
    pub trace: u32,
    /// Owner of the modules; without it the processes are listed.
    pub of: Option<ModuleOwner>,
    /// Part of their paths, whatever the case; empty for all.
    pub find: String,
    /// Selects processes, and the time in which their modules were loaded.
    pub selection: Selection,
    /// Largest number of entries, at most 1,000.
    pub limit: u32,
}

/// Owner of modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ModuleOwner {
    /// A process; nothing for the kernel with its drivers.
    pub process_key: Option<i32>,
}

/// Processes, or modules of one.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ModulesAnswer {
    /// The processes, by name; empty where one was asked for.
    pub owners: Vec<ModulesOf>,
    /// Its modules, by name.
    pub modules: Vec<ModuleOn>,
    /// Number of all entries.
    pub total: u64,
    /// Origin of the answer.
    pub source: Source,
}

/// Modules of a process, as sums.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ModulesOf {
    /// The process; nothing for the kernel.
    pub process_key: Option<i32>,
    /// Its label.
    pub label: String,
    /// Number of modules.
    pub modules: u64,
    /// Their size in memory together, in bytes.
    pub size_bytes: i64,
    /// Number of modules with names from a symbol file.
    pub with_symbols: u64,
}

/// A module of a process.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ModuleOn {
    /// Its number in the extract.
    pub module_id: i32,
    /// File name.
    pub name: String,
    /// Path.
    pub path: String,
    /// File version.
    pub version: Option<String>,
    /// Company.
    pub company: Option<String>,
    /// Size in memory, in bytes.
    pub size_bytes: i64,
    /// Load; nothing if it was there before the trace began.
    pub load_ns: Option<i64>,
    /// Unload; nothing if it was there when the trace ended.
    pub unload_ns: Option<i64>,
    /// The trace says which symbol file it has.
    pub has_identity: bool,
    /// Names that were read out of this file; nothing where it was not read as a whole.
    pub functions: Option<i32>,
}
