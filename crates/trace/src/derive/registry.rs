//! Operations on the registry by process, key and kind.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::columns::{Get, int32, int64, text};
use super::{TableSource, plus};
use crate::interner::Interner;
use crate::out::write_all;
use crate::sink::{Sink, SinkError};
use crate::table::{RegistryIo, RegistryKey, Row};

/// Key, process and kind.
type RegistrySumKey = (Option<Arc<str>>, Option<i32>, Arc<str>);

/// Computes `registry_key`.
pub(super) fn derive(source: &dyn TableSource, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let columns = ["operation", "process_key", "duration_ns", "key", "status"];
    let mut texts = Interner::default();
    let mut sums: BTreeMap<RegistrySumKey, RegistryKey> = BTreeMap::new();
    source.scan(RegistryIo::TABLE, &columns, &mut |batch| {
        let operation = text(batch, "operation")?;
        let key = text(batch, "key")?;
        let process = int32(batch, "process_key")?;
        let status = int32(batch, "status")?;
        let duration = int64(batch, "duration_ns")?;
        for row in 0..batch.num_rows() {
            let key = key.get(row).map(|key| texts.intern(key));
            let operation = texts.intern(operation.get(row).unwrap_or(""));
            let sum = sums.entry((key, process.get(row), operation)).or_default();
            sum.count += 1;
            sum.failures += i64::from(status.get(row).is_some_and(|status| status < 0));
            let duration = duration.get(row);
            sum.duration_ns = plus(sum.duration_ns, duration);
            sum.max_duration_ns = sum.max_duration_ns.max(duration);
        }
        Ok(())
    })?;
    let row = |((key, process_key, operation), sum): (RegistrySumKey, RegistryKey)| RegistryKey {
        key,
        process_key,
        operation: operation.to_string(),
        ..sum
    };
    write_all(sums.into_iter().map(row), sink)
}
