//! Section `network`: transfers that the kernel logger and the provider
//! Microsoft-Windows-Kernel-Network report.

use std::collections::BTreeMap;

use etwkit_decode::kernel::net::{self, KERNEL_NETWORK, Operation};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::process_text;
use crate::directory::Directory;
use crate::tracker::process::ProcessKey;

#[derive(Debug, Default, Clone)]
struct Totals {
    tcp_sends: u64,
    tcp_send_bytes: u64,
    tcp_recvs: u64,
    tcp_recv_bytes: u64,
    udp_sends: u64,
    udp_send_bytes: u64,
    udp_recvs: u64,
    udp_recv_bytes: u64,
    tcp_connects: u64,
    tcp_accepts: u64,
    tcp_disconnects: u64,
    tcp_retransmits: u64,
}

impl Totals {
    fn add(&mut self, operation: Operation, bytes: u64) {
        let transfer = |count: &mut u64, sum: &mut u64| (*count, *sum) = (*count + 1, *sum + bytes);
        match operation {
            Operation::TcpSend => transfer(&mut self.tcp_sends, &mut self.tcp_send_bytes),
            Operation::TcpReceive => transfer(&mut self.tcp_recvs, &mut self.tcp_recv_bytes),
            Operation::UdpSend => transfer(&mut self.udp_sends, &mut self.udp_send_bytes),
            Operation::UdpReceive => transfer(&mut self.udp_recvs, &mut self.udp_recv_bytes),
            Operation::TcpConnect => self.tcp_connects += 1,
            Operation::TcpAccept => self.tcp_accepts += 1,
            Operation::TcpDisconnect => self.tcp_disconnects += 1,
            Operation::TcpRetransmit => self.tcp_retransmits += 1,
        }
    }

    fn value(&self) -> Value {
        json!({
            "tcp_sends": self.tcp_sends,
            "tcp_send_bytes": self.tcp_send_bytes,
            "tcp_recvs": self.tcp_recvs,
            "tcp_recv_bytes": self.tcp_recv_bytes,
            "udp_sends": self.udp_sends,
            "udp_send_bytes": self.udp_send_bytes,
            "udp_recvs": self.udp_recvs,
            "udp_recv_bytes": self.udp_recv_bytes,
            "tcp_connects": self.tcp_connects,
            "tcp_accepts": self.tcp_accepts,
            "tcp_disconnects": self.tcp_disconnects,
            "tcp_retransmits": self.tcp_retransmits,
        })
    }
}

#[derive(Debug, Default)]
struct Table {
    total: Totals,
    by_process: FxHashMap<Option<ProcessKey>, Totals>,
}

pub(super) struct NetworkSummary<'d> {
    directory: &'d Directory,
    kernel: Table,
    provider: Table,
}

impl<'d> NetworkSummary<'d> {
    pub(super) fn new(directory: &'d Directory) -> Self {
        Self {
            directory,
            kernel: Table::default(),
            provider: Table::default(),
        }
    }

    pub(super) fn add_kernel(&mut self, hook: Hook, event: &RawEvent<'_>) {
        let operation = match hook.group {
            group::TCP => net::tcp_operation(hook.opcode),
            _ => net::udp_operation(hook.opcode),
        };
        add(&mut self.kernel, self.directory, operation, event);
    }

    pub(super) fn add_provider(&mut self, event: &RawEvent<'_>) {
        if event.kind.is_manifest() && event.provider() == KERNEL_NETWORK {
            let operation = net::provider_operation(event.descriptor().id);
            add(&mut self.provider, self.directory, operation, event);
        }
    }

    pub(super) fn section(&self) -> Value {
        let table = |t: &Table| {
            let text = |key: &Option<ProcessKey>| process_text(self.directory, *key);
            let by_process: BTreeMap<String, Value> = t
                .by_process
                .iter()
                .map(|(key, totals)| (text(key), totals.value()))
                .collect();
            json!({ "total": t.total.value(), "by_process": by_process })
        };
        json!({ "kernel_logger": table(&self.kernel), "kernel_network_provider": table(&self.provider) })
    }
}

fn add(
    table: &mut Table,
    directory: &Directory,
    operation: Option<Operation>,
    event: &RawEvent<'_>,
) {
    let Some((operation, (pid, size))) = operation.zip(net::process_and_size(event)) else {
        return;
    };
    let process = directory.process_at(pid, event.timestamp);
    table.total.add(operation, size.into());
    table
        .by_process
        .entry(process)
        .or_default()
        .add(operation, size.into());
}
