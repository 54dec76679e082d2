//! Memory of the kernel by tag and type of pool.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use etwkit_decode::kernel::pool;

use super::TableSource;
use super::columns::{Get, int32, int64, text};
use crate::out::write_all;
use crate::sink::{Sink, SinkError};
use crate::table::{Pool, PoolTag, Row};

/// Tags and types with a sum of their own. Systems have some thousands; a file could have one for
/// each block.
const MAX_TAGS: usize = 1 << 16;

/// Sums by tag and type; `None` collects all others.
type Sums = BTreeMap<Option<(Arc<str>, i32)>, PoolTag>;

/// Computes `pool_tag`.
pub(super) fn derive(source: &dyn TableSource, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let mut sums = Sums::new();
    let columns = [
        "tag",
        "pool_type",
        "size_bytes",
        "outcome",
        "alloc_ns",
        "free_ns",
        "lifetime_ns",
    ];
    source.scan(Pool::TABLE, &columns, &mut |batch| add(&mut sums, batch))?;
    let row = |(key, sum): (Option<(Arc<str>, i32)>, PoolTag)| {
        let (tag, pool_type) = key.unzip();
        let paging = pool_type.and_then(|kind| pool::paging(kind.cast_unsigned()));
        PoolTag {
            tag,
            pool_type,
            paging,
            ..sum
        }
    };
    write_all(sums.into_iter().map(row), sink)
}

fn add(sums: &mut Sums, batch: &RecordBatch) -> Result<(), SinkError> {
    let tag = text(batch, "tag")?;
    let pool_type = int32(batch, "pool_type")?;
    let size = int64(batch, "size_bytes")?;
    let outcome = text(batch, "outcome")?;
    let alloc = int64(batch, "alloc_ns")?;
    let free = int64(batch, "free_ns")?;
    let lifetime = int64(batch, "lifetime_ns")?;
    for row in 0..batch.num_rows() {
        let key = tag.get(row).map(Arc::from).zip(pool_type.get(row));
        // A tag that has a sum already keeps it when the table is full.
        let has_own_sum = sums.len() < MAX_TAGS || sums.contains_key(&key);
        let sum = sums.entry(key.filter(|_| has_own_sum)).or_default();
        let bytes = size.amount(row);
        let is_allocated = alloc.get(row).is_some();
        if is_allocated {
            sum.allocations += 1;
            sum.allocated_bytes = sum.allocated_bytes.saturating_add(bytes);
            sum.max_allocated_bytes = sum.max_allocated_bytes.max(Some(bytes));
        }
        if free.get(row).is_some() {
            sum.frees += 1;
            sum.freed_bytes = sum.freed_bytes.saturating_add(bytes);
            sum.frees_of_earlier += i64::from(!is_allocated);
            sum.lifetime_ns = sum.lifetime_ns.saturating_add(lifetime.amount(row));
        }
        if outcome.get(row) == Some("outstanding") {
            sum.outstanding_blocks += 1;
            sum.outstanding_bytes = sum.outstanding_bytes.saturating_add(bytes);
        }
    }
    Ok(())
}
