//! Messages of ALPC by sender, receiver and port.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::columns::{Get, int32, int64, text};
use super::{TableSource, plus};
use crate::interner::Interner;
use crate::out::write_all;
use crate::sink::{Sink, SinkError};
use crate::table::{Alpc, AlpcProcess, Row};

/// Sender, receiver, port.
type ConversationKey = (Option<i32>, Option<i32>, Option<Arc<str>>);

/// Computes `alpc_process`.
pub(super) fn derive(source: &dyn TableSource, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let mut texts = Interner::default();
    let mut sums: BTreeMap<ConversationKey, AlpcProcess> = BTreeMap::new();
    let columns = [
        "sender_process_key",
        "receiver_process_key",
        "port_name",
        "delivery_ns",
        "reply_ns",
        "service_ns",
        "sender_wait_ns",
    ];
    source.scan(Alpc::TABLE, &columns, &mut |batch| {
        let sender = int32(batch, "sender_process_key")?;
        let receiver = int32(batch, "receiver_process_key")?;
        let port = text(batch, "port_name")?;
        let delivery = int64(batch, "delivery_ns")?;
        let reply = int64(batch, "reply_ns")?;
        let service = int64(batch, "service_ns")?;
        let wait = int64(batch, "sender_wait_ns")?;
        for row in 0..batch.num_rows() {
            let port = port.get(row).map(|port| texts.intern(port));
            let sum = sums
                .entry((sender.get(row), receiver.get(row), port))
                .or_default();
            let wait = wait.get(row);
            let service = service.get(row);
            sum.count += 1;
            sum.replies += i64::from(reply.get(row).is_some());
            sum.waits += i64::from(wait.is_some());
            sum.sender_wait_ns = plus(sum.sender_wait_ns, wait);
            sum.max_sender_wait_ns = sum.max_sender_wait_ns.max(wait);
            sum.delivery_ns = plus(sum.delivery_ns, delivery.get(row));
            sum.service_ns = plus(sum.service_ns, service);
            sum.max_service_ns = sum.max_service_ns.max(service);
        }
        Ok(())
    })?;
    let row = |((sender_process_key, receiver_process_key, port_name), sum)| AlpcProcess {
        sender_process_key,
        receiver_process_key,
        port_name,
        ..sum
    };
    write_all(sums.into_iter().map(row), sink)
}
