//! Page faults by process and kind, reads of pages by file.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::TableSource;
use super::columns::{Get, int32, int64, text, whole_int64};
use crate::interner::Interner;
use crate::out::write_all;
use crate::sink::{Sink, SinkError};
use crate::table::{HardFault, HardFaultFile, PageFault, PageFaultProcess, Row};

/// Computes `page_fault_process` and `hard_fault_file`.
pub(super) fn derive(source: &dyn TableSource, sink: &mut dyn Sink) -> Result<(), SinkError> {
    by_kind(source, sink)?;
    reads(source, sink)
}

fn by_kind(source: &dyn TableSource, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let mut texts = Interner::default();
    let mut sums: BTreeMap<(Option<i32>, Arc<str>), PageFaultProcess> = BTreeMap::new();
    source.scan(
        PageFault::TABLE,
        &["process_key", "kind", "ts_ns"],
        &mut |batch| {
            let process = int32(batch, "process_key")?;
            let kind = text(batch, "kind")?;
            let times = whole_int64(batch, "ts_ns")?;
            for (row, ns) in times.iter().copied().enumerate() {
                let kind = texts.intern(kind.get(row).unwrap_or(""));
                let none = PageFaultProcess {
                    first_ns: ns,
                    last_ns: ns,
                    ..PageFaultProcess::default()
                };
                let sum = sums.entry((process.get(row), kind)).or_insert(none);
                sum.count += 1;
                (sum.first_ns, sum.last_ns) = (sum.first_ns.min(ns), sum.last_ns.max(ns));
            }
            Ok(())
        },
    )?;
    let row = |((process_key, kind), sum): ((Option<i32>, Arc<str>), PageFaultProcess)| {
        PageFaultProcess {
            process_key,
            kind: kind.to_string(),
            ..sum
        }
    };
    write_all(sums.into_iter().map(row), sink)
}

fn reads(source: &dyn TableSource, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let mut texts = Interner::default();
    let mut sums: BTreeMap<(Option<Arc<str>>, Option<i32>), HardFaultFile> = BTreeMap::new();
    let columns = ["process_key", "path", "size_bytes", "duration_ns"];
    source.scan(HardFault::TABLE, &columns, &mut |batch| {
        let process = int32(batch, "process_key")?;
        let path = text(batch, "path")?;
        let size = int64(batch, "size_bytes")?;
        let duration = int64(batch, "duration_ns")?;
        for row in 0..batch.num_rows() {
            let path = path.get(row).map(|path| texts.intern(path));
            let sum = sums.entry((path, process.get(row))).or_default();
            let duration = duration.amount(row);
            sum.count += 1;
            sum.size_bytes = sum.size_bytes.saturating_add(size.amount(row));
            sum.duration_ns = sum.duration_ns.saturating_add(duration);
            sum.max_duration_ns = sum.max_duration_ns.max(duration);
        }
        Ok(())
    })?;
    let row = |((path, process_key), sum)| HardFaultFile {
        path,
        process_key,
        ..sum
    };
    write_all(sums.into_iter().map(row), sink)
}
