//! Time of processors in each idle state.

use std::collections::BTreeMap;

use super::TableSource;
use super::columns::{Get, int32, int64};
use crate::out::write_all;
use crate::sink::{Sink, SinkError};
use crate::table::{CpuCoreState, CpuIdleState, Row};

/// Processor, source and number of a state.
type StateKey = (i32, &'static str, Option<i32>);

/// Number, total and maximum length of the stays of processors in each idle state.
#[derive(Debug, Default)]
pub(super) struct States {
    sums: BTreeMap<StateKey, (i64, i64, i64)>,
    /// The last slice of the idle thread of each processor, until the switch-in of a thread
    /// contains its state.
    last: BTreeMap<i32, (i64, i64)>,
}

impl States {
    pub(super) fn slept(&mut self, cpu: i32, start: i64, end: i64) {
        // No thread followed that gave the state of the sleep before: switches in between are
        // missing, and its length still counts.
        if let Some((start, end)) = self.last.insert(cpu, (start, end)) {
            self.add(cpu, "context_switch", None, end.saturating_sub(start));
        }
    }

    /// A thread was switched in at that time.
    pub(super) fn woke(&mut self, cpu: i32, in_ns: Option<i64>, state: Option<i32>) {
        let Some((start, end)) = self.last.get(&cpu).copied() else {
            return;
        };
        // Only the switch that ended the sleep contains the state of the processor.
        if in_ns == Some(end) {
            self.last.remove(&cpu);
            self.add(cpu, "context_switch", state, end.saturating_sub(start));
        }
    }

    fn add(&mut self, cpu: i32, source: &'static str, state: Option<i32>, length: i64) {
        let sum = self.sums.entry((cpu, source, state)).or_default();
        *sum = (sum.0 + 1, sum.1.saturating_add(length), sum.2.max(length));
    }

    /// Adds the idle events of the kernel.
    pub(super) fn events(&mut self, source: &dyn TableSource) -> Result<(), SinkError> {
        source.scan(
            CpuIdleState::TABLE,
            &["cpu", "start_ns", "end_ns", "state"],
            &mut |batch| {
                let cpu = int32(batch, "cpu")?;
                let state = int32(batch, "state")?;
                let start = int64(batch, "start_ns")?;
                let end = int64(batch, "end_ns")?;
                for row in 0..batch.num_rows() {
                    // A row of a damaged file that lacks one of them is no time of processor 0.
                    let (Some(cpu), Some(start), Some(end)) =
                        (cpu.get(row), start.get(row), end.get(row))
                    else {
                        continue;
                    };
                    let length = end.saturating_sub(start);
                    self.add(cpu, "idle_event", state.get(row), length);
                }
                Ok(())
            },
        )
    }

    pub(super) fn write(mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        for (cpu, (start, end)) in std::mem::take(&mut self.last) {
            self.add(cpu, "context_switch", None, end.saturating_sub(start));
        }
        let row =
            |((cpu, source, state), (count, duration_ns, max_ns)): (StateKey, (i64, i64, i64))| {
                CpuCoreState {
                    cpu,
                    source,
                    state,
                    count,
                    duration_ns,
                    max_ns,
                }
            };
        write_all(self.sums.into_iter().map(row), sink)
    }
}
