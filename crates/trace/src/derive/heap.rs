//! Blocks of heaps by process and heap.

use std::collections::BTreeMap;

use super::columns::{Get, int32, int64, text, whole_int64};
use super::{TableSource, plus};
use crate::out::write_all;
use crate::sink::{Sink, SinkError};
use crate::table::{Heap, HeapProcess, Row};

/// Computes `heap_process`.
pub(super) fn derive(source: &dyn TableSource, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let mut sums: BTreeMap<(Option<i32>, i64), HeapProcess> = BTreeMap::new();
    let columns = [
        "process_key",
        "heap_handle",
        "kind",
        "size_bytes",
        "changed_bytes",
        "changed_blocks",
        "held_bytes",
    ];
    source.scan(Heap::TABLE, &columns, &mut |batch| {
        let process = int32(batch, "process_key")?;
        let heaps = whole_int64(batch, "heap_handle")?;
        let kind = text(batch, "kind")?;
        let size = int64(batch, "size_bytes")?;
        let bytes = int64(batch, "changed_bytes")?;
        let blocks = int64(batch, "changed_blocks")?;
        let held = int64(batch, "held_bytes")?;
        for (row, heap) in heaps.iter().enumerate() {
            let sum = sums.entry((process.get(row), *heap)).or_default();
            let [bytes, blocks, held] = [bytes, blocks, held].map(|of| of.amount(row));
            sum.outstanding_bytes = sum.outstanding_bytes.saturating_add(bytes);
            sum.outstanding_blocks = sum.outstanding_blocks.saturating_add(blocks);
            sum.peak_bytes = sum.peak_bytes.max(held);
            match kind.get(row) {
                Some("allocate") => {
                    let size = size.get(row);
                    sum.allocations += 1;
                    sum.allocated_bytes = plus(sum.allocated_bytes, size);
                    sum.max_allocated_bytes = sum.max_allocated_bytes.max(size);
                }
                Some("reallocate") => sum.reallocations += 1,
                Some("free") => sum.frees += 1,
                _ => {}
            }
        }
        Ok(())
    })?;
    let row = |((process_key, heap_handle), sum)| HeapProcess {
        process_key,
        heap_handle,
        ..sum
    };
    write_all(sums.into_iter().map(row), sink)
}
