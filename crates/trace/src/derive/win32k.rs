//! The global lock of the window manager by process, GDI and USER objects by type.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::columns::{Get, boolean, int32, int64, text, whole_int32};
use super::{TableSource, plus};
use crate::interner::Interner;
use crate::out::write_all;
use crate::sink::{Sink, SinkError};
use crate::table::{GdiUserObject, GdiUserType, Row, UserLock, UserLockProcess};

/// Computes `user_lock_process` and `gdi_user_type`.
pub(super) fn derive(source: &dyn TableSource, sink: &mut dyn Sink) -> Result<(), SinkError> {
    locks(source, sink)?;
    objects(source, sink)
}

/// The longer of two times that may be missing.
fn longer(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    a.max(b)
}

fn locks(source: &dyn TableSource, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let mut sums: BTreeMap<(Option<i32>, Option<Arc<str>>), UserLockProcess> = BTreeMap::new();
    let mut texts = Interner::default();
    let columns = ["process_key", "mode", "wait_ns", "hold_ns", "is_slow"];
    source.scan(UserLock::TABLE, &columns, &mut |batch| {
        let process = int32(batch, "process_key")?;
        let mode = text(batch, "mode")?;
        let wait = int64(batch, "wait_ns")?;
        let hold = int64(batch, "hold_ns")?;
        let slow = boolean(batch, "is_slow")?;
        for row in 0..batch.num_rows() {
            let mode = mode.get(row).map(|mode| texts.intern(mode));
            let is_acquired = mode.is_some();
            let sum = sums.entry((process.get(row), mode)).or_default();
            // A release whose acquisition was before the trace has no mode.
            if !is_acquired {
                sum.only_released += 1;
                continue;
            }
            let wait = wait.get(row);
            let hold = hold.get(row);
            sum.acquisitions += 1;
            sum.slow += i64::from(slow.get(row) == Some(true));
            sum.wait_ns = plus(sum.wait_ns, wait);
            sum.max_wait_ns = longer(sum.max_wait_ns, wait);
            sum.released += i64::from(hold.is_some());
            sum.hold_ns = plus(sum.hold_ns, hold);
            sum.max_hold_ns = longer(sum.max_hold_ns, hold);
        }
        Ok(())
    })?;
    let row = |((process_key, mode), sum)| UserLockProcess {
        process_key,
        mode,
        ..sum
    };
    write_all(sums.into_iter().map(row), sink)
}

fn objects(source: &dyn TableSource, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let mut sums: BTreeMap<(Option<i32>, Arc<str>, i32), GdiUserType> = BTreeMap::new();
    let mut texts = Interner::default();
    let columns = [
        "process_key",
        "class",
        "type_id",
        "type_name",
        "outcome",
        "create_ns",
        "lifetime_ns",
    ];
    source.scan(GdiUserObject::TABLE, &columns, &mut |batch| {
        let process = int32(batch, "process_key")?;
        let class = text(batch, "class")?;
        let kinds = whole_int32(batch, "type_id")?;
        let name = text(batch, "type_name")?;
        let outcome = text(batch, "outcome")?;
        let create = int64(batch, "create_ns")?;
        let lifetime = int64(batch, "lifetime_ns")?;
        for (row, kind) in kinds.iter().enumerate() {
            let class = texts.intern(class.get(row).unwrap_or(""));
            let of = (process.get(row), class, *kind);
            let sum = sums.entry(of).or_default();
            if sum.type_name.is_none() {
                sum.type_name = name.get(row).map(|name| texts.intern(name));
            }
            let is_created = create.get(row).is_some();
            sum.created += i64::from(is_created);
            match (is_created, outcome.get(row)) {
                (true, Some("destroyed")) => sum.destroyed += 1,
                (true, Some("open")) => sum.outstanding += 1,
                (false, Some("destroyed")) => sum.destroyed_preexisting += 1,
                _ => {}
            }
            let lifetime = lifetime.get(row);
            sum.lifetime_ns = plus(sum.lifetime_ns, lifetime);
            sum.max_lifetime_ns = longer(sum.max_lifetime_ns, lifetime);
        }
        Ok(())
    })?;
    let row = |((process_key, class, type_id), sum)| GdiUserType {
        process_key,
        class,
        type_id,
        ..sum
    };
    write_all(sums.into_iter().map(row), sink)
}
