//! Features as a table of the extract of a run: computed when it was made, and read instead of the tables
//! that they are computed from.

use std::sync::LazyLock;

use etwkit_sql::arrow::array::RecordBatch;
use etwkit_sql::{DERIVED_VERSION, Session, TagSet, digest};
use etwkit_trace::import::features;
use etwkit_trace::table::{Feature, Table};

use super::feature::{FeatureKind, Matrix, Measure};
use super::load::{self, LEAST_MS, Number, Times, each, is_compared, nanoseconds};
use super::runs::{self, OfRun};
use crate::Result;

/// Version of the way from answers to rows of the table. It rises when equal answers become other rows.
const VERSION: u32 = 1;

/// Kind of the row with the longest NTFS checkpoint, which is compared with a limit and with no other run.
const CHECKPOINT: &str = "NTFS checkpoint";

etwkit_question::declare! {
    /// A stored feature.
    row Stored {
        trace_id: i64 = "Run.",
        kind: String = "Kind.",
        measure: Option<String> = "Measure; missing for times.",
        process: Option<String> = "Process.",
        what: Option<String> = "What it is of.",
        cpu_ns: i64 = "CPU.",
        wait_ns: i64 = "Wait.",
        ready_ns: i64 = "Ready time.",
        depth: f64 = "Frames further in.",
        value: f64 = "The number.",
        bytes: f64 = "Bytes.",
    }
}

/// Rows of the table.
pub type FeatureTables = Vec<(&'static Table, RecordBatch)>;

/// Identifies the way in which features are computed, by 16 hexadecimal digits.
#[must_use]
pub fn features_version() -> &'static str {
    static CURRENT: LazyLock<String> = LazyLock::new(|| {
        let parts = [
            VERSION.to_string(),
            LEAST_MS.to_string(),
            // Sums of other versions and tags are other features.
            DERIVED_VERSION.to_string(),
            format!("{:016x}", TagSet::built_in().fingerprint()),
            runs::CHECKPOINTS.to_owned(),
            load::shown(),
        ];
        digest(&[parts.join("\n").as_bytes()])
    });
    &CURRENT
}

/// Computes the features of one extract, for its table.
///
/// # Errors
/// A query fails.
pub fn feature_tables(session: &Session) -> Result<FeatureTables> {
    let mut all = Vec::new();
    for (kind, sql) in load::times(LEAST_MS) {
        each(session, &sql, |row: Times| all.push(of_times(kind, row)))?;
    }
    for (kind, measure, sql) in load::numbers() {
        each(session, &sql, |row: Number| {
            all.push(of_number(kind.word(), measure, row));
        })?;
    }
    each(session, runs::CHECKPOINTS, |row: OfRun| {
        all.extend(row.value.map(checkpoint));
    })?;
    // The engine has no order, and equal traces make equal extracts.
    all.sort_by(|a, b| key(a).cmp(&key(b)));
    let mut tables = FeatureTables::new();
    features::write(all, &mut tables).map_err(|error| {
        let message = error.to_string();
        etwkit_sql::Error::Failed { message }
    })?;
    Ok(tables)
}

/// The columns that tell features apart.
fn key(feature: &Feature) -> (&str, Option<&str>, Option<&str>, Option<&str>) {
    (
        &feature.kind,
        feature.measure.as_deref(),
        feature.process.as_deref(),
        feature.what.as_deref(),
    )
}

fn of_times(kind: FeatureKind, row: Times) -> Feature {
    Feature {
        kind: kind.word().to_owned(),
        process: row.process,
        what: row.what,
        cpu_ns: Some(row.cpu_ns),
        wait_ns: Some(row.wait_ns),
        ready_ns: Some(row.ready_ns),
        depth: Some(row.depth),
        ..Feature::default()
    }
}

fn of_number(kind: &str, measure: Measure, row: Number) -> Feature {
    Feature {
        kind: kind.to_owned(),
        measure: Some(measure.word().to_owned()),
        process: row.process,
        what: row.what,
        value: Some(row.value),
        bytes: Some(row.bytes),
        ..Feature::default()
    }
}

fn checkpoint(ms: f64) -> Feature {
    Feature {
        kind: CHECKPOINT.to_owned(),
        measure: Some(Measure::Time.word().to_owned()),
        value: Some(ms),
        ..Feature::default()
    }
}

/// Returns `true` if each of the runs keeps its features, in the version of this program, and with the names
/// of processes that are asked.
pub(super) fn are_in_all(session: &Session, runs: usize) -> bool {
    let current = Some(features_version());
    let manifests = session.manifests();
    let have_some = manifests.filter(|(_, manifest)| manifest.features.as_deref() == current);
    have_some.count() == runs && !session.renames_processes()
}

/// The condition of times of at least this size.
fn is_large(floor_ms: f64) -> String {
    let least = nanoseconds(floor_ms);
    format!("(cpu_ns >= {least} OR wait_ns >= {least} OR ready_ns >= {least})")
}

/// Returns the SQL of stored methods of at least this size.
pub(super) fn methods(floor_ms: f64) -> String {
    let kind = FeatureKind::Method.word();
    let is_large = is_large(floor_ms);
    format!("SELECT trace_id FROM feature WHERE kind = '{kind}' AND {is_large}")
}

/// Returns the SQL of the longest NTFS checkpoint of each run, as [`runs::CHECKPOINTS`] has it.
pub(super) fn checkpoints() -> String {
    format!("SELECT trace_id, value FROM feature WHERE kind = '{CHECKPOINT}'")
}

/// Reads the features of the runs, in one pass over the table.
pub(super) fn read(
    session: &Session,
    (floor_ms, has_rows): (f64, bool),
    matrix: &mut Matrix,
) -> Result<()> {
    let sql = format!(
        "SELECT trace_id, kind, measure, process, what, cpu_ns, wait_ns, ready_ns, depth, value, bytes
FROM feature WHERE measure IS NOT NULL OR {}",
        is_large(floor_ms)
    );
    let times = load::times(floor_ms).map(|(kind, _)| kind);
    let numbers = load::numbers().map(|(kind, measure, _)| (kind, measure));
    each(session, &sql, |row: Stored| {
        if row.measure.is_none() {
            if let Some(kind) = times.iter().find(|kind| kind.word() == row.kind) {
                matrix.add_times(*kind, row.times());
            }
            return;
        }
        let is_it = |(kind, measure): &&(FeatureKind, Measure)| {
            let is_same = kind.word() == row.kind && row.measure.as_deref() == Some(measure.word());
            is_same && is_compared(*kind, has_rows)
        };
        if let Some(number) = numbers.iter().find(is_it) {
            matrix.add_number(*number, row.number());
        }
    })
}

impl Stored {
    fn times(self) -> Times {
        Times {
            trace_id: self.trace_id,
            process: self.process,
            what: self.what,
            cpu_ns: self.cpu_ns,
            wait_ns: self.wait_ns,
            ready_ns: self.ready_ns,
            depth: self.depth,
        }
    }

    fn number(self) -> Number {
        Number {
            trace_id: self.trace_id,
            process: self.process,
            what: self.what,
            value: self.value,
            bytes: self.bytes,
        }
    }
}
