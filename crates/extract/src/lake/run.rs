//! The rows of the table `run`: a run, and the facts of its manifest.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::builder::{Int64Builder, MapBuilder, MapFieldNames, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use arrow_schema::{ArrowError, SchemaRef};
use etwkit_trace::table::{RUN_ID, UtcTime};

use crate::lake::layout::{self, GENERATION, RUN};
use crate::lake::log::Log;
use crate::lake::read::{Rows, numbers};
use crate::lake::store::Store;
use crate::lake::{Error, Result};
use crate::manifest::{Manifest, TableEntry};
use crate::{DerivedManifest, Extract, extract_row, run_id};

const NAME: &str = "name";
const MANIFEST: &str = "manifest";
const DERIVED: &str = "derived";

/// The columns that this program reads. The others repeat them for other programs.
const READ: [&str; 5] = [RUN_ID.name, GENERATION.name, NAME, MANIFEST, DERIVED];

/// A run of a lake.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    run_id: i64,
    generation: i64,
    name: String,
    manifest: Manifest,
    derived: Option<DerivedManifest>,
}

impl Run {
    /// The run of an extract.
    pub(crate) fn of_extract(extract: &Extract, name: &str, generation: i64) -> Self {
        let mut manifest = extract.manifest().clone();
        // Checksums are of the files of the extract, which the lake does not have.
        manifest.tables = without_checksums(&manifest.tables);
        let derived = extract.derived().cloned().map(|mut derived| {
            derived.tables = without_checksums(&derived.tables);
            derived
        });
        Self {
            run_id: run_id(&manifest.source.hash),
            generation,
            name: name.to_owned(),
            manifest,
            derived,
        }
    }

    /// The number of its trace.
    #[must_use]
    pub const fn run_id(&self) -> i64 {
        self.run_id
    }

    /// The attempt that wrote its rows.
    #[must_use]
    pub const fn generation(&self) -> i64 {
        self.generation
    }

    /// The name of the extract that it was added from.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of its trace in 16 hexadecimal digits, by which paths name the run: the hash of its
    /// trace, unless the lake is damaged.
    #[must_use]
    pub fn digits(&self) -> String {
        digits_of(self.run_id)
    }

    /// The hash of its trace, as its manifest has it.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.manifest.source.hash
    }

    /// The manifest of its extract, without checksums and orders of files.
    #[must_use]
    pub const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The manifest of its computed tables, if it has any.
    #[must_use]
    pub const fn derived(&self) -> Option<&DerivedManifest> {
        self.derived.as_ref()
    }

    /// The rows of a table.
    #[must_use]
    pub fn rows(&self, table: &str) -> u64 {
        self.entry(table).map_or(0, |entry| entry.rows)
    }

    /// The tables with rows, and how many they have.
    pub fn tables(&self) -> impl Iterator<Item = (&'static str, u64)> {
        layout::tables()
            .map(|table| (table.name, self.rows(table.name)))
            .filter(|(_, rows)| *rows > 0)
    }

    /// The bytes of its tables in the extract.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let entries = layout::tables().filter_map(|table| self.entry(table.name));
        let bytes = entries.map(|entry| entry.bytes);
        // A lake can claim anything.
        bytes.fold(0, u64::saturating_add)
    }

    /// The month in which its trace starts.
    pub(crate) fn part(&self) -> &str {
        layout::part_of(&self.manifest.clock.start_utc)
    }

    /// The key of its rows.
    pub(crate) const fn key(&self) -> (i64, i64) {
        (self.run_id, self.generation)
    }

    fn entry(&self, table: &str) -> Option<&TableEntry> {
        // Tables that are computed have a manifest of their own.
        let derived = self.derived.as_ref();
        let of_derived = derived.and_then(|derived| derived.tables.get(table));
        self.manifest.tables.get(table).or(of_derived)
    }

    pub(crate) fn of_row(keys: (i64, i64), texts: (&str, &str, Option<&str>)) -> Result<Self> {
        let ((run_id, generation), (name, manifest, derived)) = (keys, texts);
        let wrong = |source| Error::Manifest {
            run: digits_of(run_id),
            source,
        };
        let derived = derived.map(serde_json::from_str).transpose();
        Ok(Self {
            run_id,
            generation,
            name: name.to_owned(),
            manifest: serde_json::from_str(manifest).map_err(wrong)?,
            derived: derived.map_err(wrong)?,
        })
    }
}

fn digits_of(run_id: i64) -> String {
    format!("{run_id:016x}")
}

/// Files of a lake differ from those of the extract, so their checksums and orders have no meaning here.
fn without_checksums(tables: &BTreeMap<String, TableEntry>) -> BTreeMap<String, TableEntry> {
    let entry = |entry: &TableEntry| TableEntry {
        rows: entry.rows,
        bytes: entry.bytes,
        ..TableEntry::default()
    };
    tables
        .iter()
        .map(|(name, of_extract)| (name.clone(), entry(of_extract)))
        .collect()
}

/// The columns of the table.
pub(crate) fn schema() -> Result<SchemaRef> {
    Ok(batch(&[])?.schema())
}

/// The rows of runs.
pub(crate) fn batch(runs: &[Run]) -> Result<RecordBatch> {
    let columns = columns(runs).map_err(wrong)?;
    let columns = columns.into_iter().map(|(name, values)| {
        let is_key = name == RUN_ID.name || name == GENERATION.name;
        // The keys are never null, so that every reader may rely on them.
        (name, values, !is_key)
    });
    RecordBatch::try_from_iter_with_nullable(columns).map_err(wrong)
}

fn wrong(source: ArrowError) -> Error {
    Error::Rows {
        table: RUN.to_owned(),
        source,
    }
}

type Columns = Vec<(&'static str, ArrayRef)>;

fn columns(runs: &[Run]) -> std::result::Result<Columns, ArrowError> {
    let mut all: Columns = vec![
        (RUN_ID.name, numbers_of(runs, Run::run_id)),
        (GENERATION.name, numbers_of(runs, Run::generation)),
        (NAME, texts(runs, |run| Some(run.name.clone()))),
    ];
    all.extend(facts(runs));
    // Labels that questions ask for often are columns, so that other programs need not look into a
    // map.
    for label in ["suite", "branch", "build"] {
        all.push((
            label,
            texts(runs, |run| run.manifest.labels.get(label).cloned()),
        ));
    }
    all.push(("labels", text_map(runs, |run| Some(&run.manifest.labels))?));
    all.push(("depends_on", text_map(runs, depends_on)?));
    all.push(("tables", row_counts(runs)?));
    all.push((
        MANIFEST,
        // A manifest that cannot be written as JSON does not exist; the column is then missing and
        // reading reports it.
        texts(runs, |run| serde_json::to_string(&run.manifest).ok()),
    ));
    all.push((
        DERIVED,
        texts(runs, |run| serde_json::to_string(run.derived()?).ok()),
    ));
    Ok(all)
}

fn depends_on(run: &Run) -> Option<&BTreeMap<String, String>> {
    run.derived.as_ref().map(|derived| &derived.depends_on)
}

/// The columns about the trace and the program.
fn facts(runs: &[Run]) -> Columns {
    let about = |run: &Run| {
        let version = run.derived().map(|derived| derived.derived_version);
        extract_row(run.manifest(), version)
    };
    let start = runs
        .iter()
        .map(|run| about(run).start_utc.map(|UtcTime(time)| time));
    let start: TimestampMicrosecondArray = start.collect();
    let derived: Int32Array = runs.iter().map(|run| about(run).derived_version).collect();
    // The day in UTC, as all times of extracts.
    let night = |run: &Run| layout::day_of(&run.manifest.clock.start_utc).map(str::to_owned);
    let os = |run: &Run| run.manifest.machine.os_version.clone();
    vec![
        ("detail", texts(runs, |run| Some(about(run).detail))),
        ("night", texts(runs, night)),
        ("start_utc", Arc::new(start.with_timezone("UTC"))),
        ("computer", texts(runs, |run| about(run).computer)),
        ("os", texts(runs, os)),
        (
            "source_name",
            texts(runs, |run| Some(about(run).source_name)),
        ),
        (
            "source_hash",
            texts(runs, |run| Some(about(run).source_hash)),
        ),
        ("derived_version", Arc::new(derived)),
        (
            "etwkit_version",
            texts(runs, |run| Some(about(run).etwkit_version)),
        ),
    ]
}

fn numbers_of(runs: &[Run], number: impl Fn(&Run) -> i64) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(runs.iter().map(number)))
}

fn texts(runs: &[Run], text: impl Fn(&Run) -> Option<String>) -> ArrayRef {
    Arc::new(runs.iter().map(text).collect::<StringArray>())
}

/// The names that Parquet has for the parts of a map.
fn map_names() -> MapFieldNames {
    MapFieldNames {
        entry: "key_value".to_owned(),
        key: "key".to_owned(),
        value: "value".to_owned(),
    }
}

fn text_map<'r>(
    runs: &'r [Run],
    map: impl Fn(&'r Run) -> Option<&'r BTreeMap<String, String>>,
) -> std::result::Result<ArrayRef, ArrowError> {
    let (keys, values) = (StringBuilder::new(), StringBuilder::new());
    let mut builder = MapBuilder::new(Some(map_names()), keys, values);
    for run in runs {
        let map = map(run);
        for (key, value) in map.into_iter().flatten() {
            builder.keys().append_value(key);
            builder.values().append_value(value);
        }
        builder.append(map.is_some())?;
    }
    Ok(Arc::new(builder.finish()))
}

fn row_counts(runs: &[Run]) -> std::result::Result<ArrayRef, ArrowError> {
    let (keys, values) = (StringBuilder::new(), Int64Builder::new());
    let mut builder = MapBuilder::new(Some(map_names()), keys, values);
    for run in runs {
        for (table, rows) in run.tables() {
            builder.keys().append_value(table);
            builder
                .values()
                // A count that does not fit would be negative, and sums of it would be wrong.
                .append_value(i64::try_from(rows).unwrap_or(i64::MAX));
        }
        builder.append(true)?;
    }
    Ok(Arc::new(builder.finish()))
}

/// Reads the runs whose number is wanted, sorted by it. One of several with a number is the newest.
pub(crate) fn read(store: &Store, log: &Log, wants: impl Fn(i64) -> bool) -> Result<Vec<Run>> {
    let mut all: BTreeMap<i64, Run> = BTreeMap::new();
    for file in log.live() {
        let rows = Rows::open(store, &file.name_in(RUN), Some(&READ))?;
        let path = rows.path().to_owned();
        for batch in rows {
            let batch = batch?;
            let runs = numbers(&path, &batch, RUN_ID.name)?;
            let generations = numbers(&path, &batch, GENERATION.name)?;
            let text = |name: &str, row: usize| {
                let column = batch.column_by_name(name)?;
                let texts = column.as_string_opt::<i32>()?;
                texts.is_valid(row).then(|| texts.value(row))
            };
            for row in 0..batch.num_rows() {
                let key = (runs.value(row), generations.value(row));
                // The newest attempt counts, if two rows of one run were left by a program that
                // does not know the rule.
                let is_newer = all.get(&key.0).is_none_or(|known| known.generation < key.1);
                if !wants(key.0) || !is_newer {
                    continue;
                }
                let missing = || Error::File {
                    path: path.clone(),
                    expected: format!("texts in the columns {NAME} and {MANIFEST}"),
                    source: None,
                };
                let name = text(NAME, row).ok_or_else(missing)?;
                let manifest = text(MANIFEST, row).ok_or_else(missing)?;
                all.insert(
                    key.0,
                    Run::of_row(key, (name, manifest, text(DERIVED, row)))?,
                );
            }
        }
    }
    Ok(all.into_values().collect())
}

#[cfg(test)]
mod tests {

    use crate::manifest::{Clock, Detail, Machine, TraceSource};

    use super::*;

    #[test]
    fn claimed_bytes_do_not_overflow() {
        let source = TraceSource {
            files: Vec::new(),
            hash: String::new(),
        };
        let clock = Clock {
            kind: "qpc".to_owned(),
            frequency: 1,
            start_utc: String::new(),
            start_filetime: 0,
        };
        let mut manifest = Manifest::new(Detail::Full, source, clock, Machine::default());
        for table in ["mark", "process"] {
            let entry = TableEntry {
                bytes: u64::MAX,
                ..TableEntry::default()
            };
            manifest.tables.insert(table.to_owned(), entry);
        }
        let run = Run {
            run_id: 1,
            generation: 1,
            name: String::new(),
            manifest,
            derived: None,
        };
        assert_eq!(run.bytes(), u64::MAX);
    }
}
