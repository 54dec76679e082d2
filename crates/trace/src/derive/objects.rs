//! Handles by type, virtual memory by process.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::TableSource;
use super::columns::{Get, int32, int64, text};
use crate::interner::Interner;
use crate::out::write_all;
use crate::sink::{Sink, SinkError};
use crate::table::{
    Handle, HandleType, Object, Row, VirtualAlloc, VirtualAllocProcess, VirtualRange,
};

/// Computes `handle_type` and `virtual_alloc_process`.
pub(super) fn derive(source: &dyn TableSource, sink: &mut dyn Sink) -> Result<(), SinkError> {
    handles(source, sink)?;
    memory(source, sink)
}

/// Names of the types of objects, by number of the object.
fn types(source: &dyn TableSource) -> Result<FxHashMap<i32, Arc<str>>, SinkError> {
    let mut types = FxHashMap::default();
    let mut texts = Interner::default();
    source.scan(Object::TABLE, &["object_id", "type_name"], &mut |batch| {
        let object = int32(batch, "object_id")?;
        let name = text(batch, "type_name")?;
        for row in 0..batch.num_rows() {
            types.extend(
                object
                    .get(row)
                    .zip(name.get(row).map(|name| texts.intern(name))),
            );
        }
        Ok(())
    })?;
    Ok(types)
}

fn handles(source: &dyn TableSource, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let types = types(source)?;
    let mut sums: BTreeMap<(Option<i32>, Option<Arc<str>>), HandleType> = BTreeMap::new();
    let columns = [
        "process_key",
        "object_id",
        "origin",
        "outcome",
        "open_ns",
        "lifetime_ns",
    ];
    source.scan(Handle::TABLE, &columns, &mut |batch| {
        let process = int32(batch, "process_key")?;
        let object = int32(batch, "object_id")?;
        let origin = text(batch, "origin")?;
        let outcome = text(batch, "outcome")?;
        let open = int64(batch, "open_ns")?;
        let lifetime = int64(batch, "lifetime_ns")?;
        for row in 0..batch.num_rows() {
            let kind = object
                .get(row)
                .and_then(|object| types.get(&object).cloned());
            let sum = sums.entry((process.get(row), kind)).or_default();
            sum.created += i64::from(origin.get(row) == Some("create"));
            sum.duplicated_in +=
                i64::from(matches!(origin.get(row), Some("duplicate" | "inherit")));
            // A handle without an opening existed before the trace. If it is still open, that is no
            // evidence of a leak.
            match (open.get(row).is_some(), outcome.get(row)) {
                (true, Some("closed")) => sum.closed += 1,
                (true, Some("open")) => sum.leaked += 1,
                (false, Some("closed")) => sum.closed_preexisting += 1,
                (false, Some("open")) => sum.preexisting += 1,
                _ => {}
            }
            if let Some(lifetime) = lifetime.get(row) {
                sum.lifetime_ns = sum.lifetime_ns.saturating_add(lifetime);
                sum.max_lifetime_ns = Some(
                    sum.max_lifetime_ns
                        .map_or(lifetime, |max| max.max(lifetime)),
                );
            }
        }
        Ok(())
    })?;
    let row = |((process_key, type_name), sum)| HandleType {
        process_key,
        type_name,
        ..sum
    };
    write_all(sums.into_iter().map(row), sink)
}

fn memory(source: &dyn TableSource, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let mut sums: BTreeMap<Option<i32>, VirtualAllocProcess> = BTreeMap::new();
    source.scan(
        VirtualAlloc::TABLE,
        &["process_key", "kind", "size_bytes", "committed_bytes"],
        &mut |batch| {
            let process = int32(batch, "process_key")?;
            let kind = text(batch, "kind")?;
            let size = int64(batch, "size_bytes")?;
            let committed = int64(batch, "committed_bytes")?;
            for row in 0..batch.num_rows() {
                let sum = sums.entry(process.get(row)).or_default();
                let size = size.amount(row);
                sum.peak_bytes = sum.peak_bytes.max(committed.amount(row));
                match kind.get(row) {
                    Some("commit") => {
                        sum.commits += 1;
                        sum.commit_bytes = sum.commit_bytes.saturating_add(size);
                        sum.max_commit_bytes = sum.max_commit_bytes.max(size);
                        continue;
                    }
                    Some("reserve") => {
                        sum.reserves += 1;
                        continue;
                    }
                    Some("decommit") => sum.decommits += 1,
                    _ => sum.releases += 1,
                }
                // Only what frees memory gets here: a commit and a reservation went on with the
                // next row.
                sum.freed_bytes = sum.freed_bytes.saturating_add(size);
            }
            Ok(())
        },
    )?;
    let mut commits: FxHashSet<i64> = FxHashSet::default();
    source.scan(
        VirtualRange::TABLE,
        &["process_key", "size_bytes", "alloc_id"],
        &mut |batch| {
            let process = int32(batch, "process_key")?;
            let size = int64(batch, "size_bytes")?;
            let alloc = int64(batch, "alloc_id")?;
            for row in 0..batch.num_rows() {
                let sum = sums.entry(process.get(row)).or_default();
                sum.outstanding_bytes = sum.outstanding_bytes.saturating_add(size.amount(row));
                // A commit is one of a process.
                sum.outstanding_commits += i64::from(commits.insert(alloc.get(row).unwrap_or(-1)));
            }
            Ok(())
        },
    )?;
    let row = |(process_key, sum)| VirtualAllocProcess { process_key, ..sum };
    write_all(sums.into_iter().map(row), sink)
}
