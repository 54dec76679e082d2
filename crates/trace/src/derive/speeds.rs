//! Kinds and speeds of processors.

use std::collections::{BTreeMap, BTreeSet};

use super::TableSource;
use super::columns::{Get, int32, int64, text};
use crate::sink::SinkError;
use crate::table::{CpuCore, CpuFrequency, Row};

/// Maximum number of kinds of cores; processors have three at most.
const MAX_CLASSES: usize = 8;

/// Kind and nominal speed of each processor.
#[derive(Debug, Default)]
pub(super) struct Cores {
    kinds: BTreeMap<i32, (Option<i32>, Option<i32>)>,
}

impl Cores {
    pub(super) fn read(source: &dyn TableSource) -> Result<Self, SinkError> {
        let mut kinds = BTreeMap::new();
        source.scan(
            CpuCore::TABLE,
            &["cpu", "efficiency_class", "nominal_mhz"],
            &mut |batch| {
                let cpu = int32(batch, "cpu")?;
                let class = int32(batch, "efficiency_class")?;
                let mhz = int32(batch, "nominal_mhz")?;
                for row in 0..batch.num_rows() {
                    kinds.extend(
                        cpu.get(row)
                            .map(|cpu| (cpu, (class.get(row), mhz.get(row)))),
                    );
                }
                Ok(())
            },
        )?;
        let mut cores = Self { kinds };
        if cores.classes().len() > MAX_CLASSES {
            // This many classes cannot be real. Rows for each of them would multiply the rows of
            // processes and methods.
            cores
                .kinds
                .values_mut()
                .for_each(|(class, _)| *class = None);
        }
        Ok(cores)
    }

    /// The processors.
    pub(super) fn all(&self) -> impl Iterator<Item = i32> {
        self.kinds.keys().copied()
    }

    pub(super) fn classes(&self) -> BTreeSet<Option<i32>> {
        self.kinds.values().map(|(class, _)| *class).collect()
    }

    pub(super) fn class(&self, cpu: Option<i32>) -> Option<i32> {
        self.kinds.get(&cpu?)?.0
    }

    pub(super) fn nominal_mhz(&self, cpu: Option<i32>) -> Option<i32> {
        self.kinds.get(&cpu?)?.1
    }
}

/// Speeds of processors over time.
#[derive(Debug, Default)]
pub(super) struct Speeds {
    /// Start, end and MHz, in the order of the starts.
    of: BTreeMap<i32, Vec<(i64, i64, i32)>>,
}

impl Speeds {
    /// Measured speeds of each processor, or the requested speeds if none were measured.
    pub(super) fn read(source: &dyn TableSource) -> Result<Self, SinkError> {
        let mut measured = Self::default();
        let mut requested = Self::default();
        source.scan(
            CpuFrequency::TABLE,
            &["cpu", "start_ns", "stop_ns", "mhz", "kind"],
            &mut |batch| {
                let cpu = int32(batch, "cpu")?;
                let mhz = int32(batch, "mhz")?;
                let start = int64(batch, "start_ns")?;
                let stop = int64(batch, "stop_ns")?;
                let kind = text(batch, "kind")?;
                for row in 0..batch.num_rows() {
                    let to = if kind.get(row) == Some("delivered") {
                        &mut measured
                    } else {
                        &mut requested
                    };
                    // A row of a damaged file that lacks one of them is no speed of 0.
                    let (Some(cpu), Some(start), Some(stop), Some(mhz)) =
                        (cpu.get(row), start.get(row), stop.get(row), mhz.get(row))
                    else {
                        continue;
                    };
                    to.of.entry(cpu).or_default().push((start, stop, mhz));
                }
                Ok(())
            },
        )?;
        for (cpu, speeds) in requested.of {
            // By processor, never mixed: a measured speed between two requested ones would look
            // like a change.
            measured.of.entry(cpu).or_insert(speeds);
        }
        measured
            .of
            .values_mut()
            // Rows of the table are ordered by their ends, and the search below needs the starts.
            .for_each(|speeds| speeds.sort_unstable());
        Ok(measured)
    }

    pub(super) fn at(&self, cpu: Option<i32>, time: i64) -> Option<i32> {
        let speeds = self.of.get(&cpu?)?;
        let at = speeds
            .partition_point(|(start, ..)| *start <= time)
            .checked_sub(1)?;
        // Between two stretches the speed is unknown; the speed of the one before may be long out
        // of date.
        speeds
            .get(at)
            .filter(|(_, stop, _)| time < *stop)
            .map(|(.., mhz)| *mhz)
    }
}
