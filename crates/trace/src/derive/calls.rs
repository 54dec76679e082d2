//! System calls by process and function.

use std::collections::BTreeMap;

use super::TableSource;
use super::columns::{Get, int32, int64};
use super::frames::{MethodId, Stacks};
use crate::out::write_all;
use crate::sink::{Sink, SinkError};
use crate::table::{Row, Syscall, SyscallFunction};

/// Computes `syscall_function`.
pub(super) fn derive(source: &dyn TableSource, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let mut frames: Option<Stacks> = None;
    let mut sums: BTreeMap<(Option<i32>, Option<MethodId>), SyscallFunction> = BTreeMap::new();
    let columns = [
        "process_key",
        "frame_id",
        "enter_ns",
        "exit_ns",
        "duration_ns",
        "status",
        "enter_cpu",
        "exit_cpu",
    ];
    source.scan(Syscall::TABLE, &columns, &mut |batch| {
        // Frames are read only where they are needed: few traces have system calls.
        let frames = match &mut frames {
            Some(frames) => frames,
            none => none.insert(Stacks::read_frames(source)?),
        };
        let process = int32(batch, "process_key")?;
        let frame = int32(batch, "frame_id")?;
        let enter = int64(batch, "enter_ns")?;
        let exit = int64(batch, "exit_ns")?;
        let duration = int64(batch, "duration_ns")?;
        let status = int32(batch, "status")?;
        let enter_cpu = int32(batch, "enter_cpu")?;
        let exit_cpu = int32(batch, "exit_cpu")?;
        for row in 0..batch.num_rows() {
            let function = frame.get(row).and_then(|frame| frames.of_frame(frame));
            let sum = sums.entry((process.get(row), function)).or_default();
            sum.open_at_start += i64::from(enter.get(row).is_none());
            sum.open_at_end += i64::from(exit.get(row).is_none());
            let Some(duration) = duration.get(row) else {
                continue;
            };
            sum.failures += i64::from(status.get(row).is_some_and(|status| status < 0));
            sum.moved += i64::from(enter_cpu.get(row) != exit_cpu.get(row));
            add(sum, duration);
        }
        Ok(())
    })?;
    let Some(frames) = frames else { return Ok(()) };
    let row =
        |((process_key, function), sum): ((Option<i32>, Option<MethodId>), SyscallFunction)| {
            let module = function.and_then(|function| frames.module(function).1);
            SyscallFunction {
                process_key,
                module,
                function: function.and_then(|function| frames.name(function)),
                ..sum
            }
        };
    write_all(sums.into_iter().map(row), sink)
}

/// Adds the duration of a call.
fn add(sum: &mut SyscallFunction, duration: i64) {
    sum.count += 1;
    sum.duration_ns = sum.duration_ns.saturating_add(duration);
    let min = sum.min_duration_ns;
    sum.min_duration_ns = Some(min.map_or(duration, |min| min.min(duration)));
    let max = sum.max_duration_ns;
    sum.max_duration_ns = Some(max.map_or(duration, |max| max.max(duration)));
}
