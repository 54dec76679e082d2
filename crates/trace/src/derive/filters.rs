//! Minifilter drivers by process, driver and operation.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::TableSource;
use super::columns::{Get, int32, int64, text};
use super::frames::Stacks;
use crate::interner::Interner;
use crate::out::write_all;
use crate::sink::{Sink, SinkError};
use crate::table::{MiniFilter, MiniFilterDriver, Row};

type Text = Option<Arc<str>>;

/// Process, name and path of the driver, true for post-operation callbacks, operation.
type CallbackKey = (Option<i32>, Text, Text, bool, Text);

/// Computes `mini_filter_driver`.
pub(super) fn derive(source: &dyn TableSource, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let mut frames: Option<Stacks> = None;
    let mut texts = Interner::default();
    let mut sums: BTreeMap<CallbackKey, MiniFilterDriver> = BTreeMap::new();
    let columns = [
        "process_key",
        "frame_id",
        "phase",
        "operation",
        "duration_ns",
        "status",
    ];
    source.scan(MiniFilter::TABLE, &columns, &mut |batch| {
        // Frames are read only if they are needed: few traces have these drivers.
        let frames = match &mut frames {
            Some(frames) => frames,
            none => none.insert(Stacks::read_frames(source)?),
        };
        let process = int32(batch, "process_key")?;
        let frame = int32(batch, "frame_id")?;
        let phase = text(batch, "phase")?;
        let operation = text(batch, "operation")?;
        let duration = int64(batch, "duration_ns")?;
        let status = int32(batch, "status")?;
        for row in 0..batch.num_rows() {
            let routine = frame.get(row).and_then(|frame| frames.of_frame(frame));
            let (path, module) = routine.map_or((None, None), |routine| frames.module(routine));
            let operation = operation.get(row).map(|name| texts.intern(name));
            let is_post = phase.get(row) == Some("post");
            let sum = sums
                .entry((process.get(row), module, path, is_post, operation))
                .or_default();
            sum.count += 1;
            sum.failures += i64::from(status.get(row).is_some());
            let Some(duration) = duration.get(row) else {
                continue;
            };
            sum.ended += 1;
            sum.duration_ns = sum.duration_ns.saturating_add(duration);
            sum.max_duration_ns = sum.max_duration_ns.max(Some(duration));
        }
        Ok(())
    })?;
    let owned = |text: Text| text.map(|text| text.to_string());
    let row = |((process_key, module, path, is_post, operation), sum): (
        CallbackKey,
        MiniFilterDriver,
    )| {
        let phase = if is_post { "post" } else { "pre" }.to_owned();
        let module = owned(module);
        let module_path = owned(path);
        MiniFilterDriver {
            process_key,
            module,
            module_path,
            phase,
            operation: owned(operation),
            ..sum
        }
    };
    write_all(sums.into_iter().map(row), sink)
}
