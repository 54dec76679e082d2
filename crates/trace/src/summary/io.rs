//! Sections `disk` and `faults`.

use std::collections::BTreeMap;
use std::sync::Arc;

use etwkit_decode::kernel::disk::{DiskIo, opcode, parse_init};
use etwkit_decode::kernel::fault::{self, HardFault};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;
use etwkit_etl::clock::Clock;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::process_text;
use crate::directory::Directory;
use crate::gaps::Unseen;
use crate::issuer::{Issuer, Issuers};
use crate::tracker::process::ProcessKey;

#[derive(Debug, Default, Clone)]
struct DiskTotals {
    reads: u64,
    read_bytes: u64,
    writes: u64,
    write_bytes: u64,
    flushes: u64,
    /// Duration in ticks of the performance counter.
    elapsed_ticks: u64,
    /// Service times that last from the completion before: in ticks of the session.
    service_ticks: u64,
    /// Service times that last from the start: in ticks of the performance counter.
    service_counter_ticks: u64,
}

#[derive(Debug, Default, Clone, Copy)]
struct FaultTotals {
    count: u64,
    bytes: u64,
    elapsed_ticks: i64,
}

pub(super) struct IoSummary<'d> {
    directory: &'d Directory,
    clock: &'d Clock,
    disk: DiskTotals,
    disk_by_process: FxHashMap<Option<ProcessKey>, DiskTotals>,
    disk_by_disk: BTreeMap<u32, DiskTotals>,
    disk_by_file: FxHashMap<Arc<str>, DiskTotals>,
    last_completion: FxHashMap<u32, i64>,
    unseen: Unseen,
    issuers: Issuers,
    faults: FaultTotals,
    faults_by_process: FxHashMap<Option<ProcessKey>, FaultTotals>,
    faults_by_file: FxHashMap<Arc<str>, FaultTotals>,
    unknown_file: Arc<str>,
}

impl<'d> IoSummary<'d> {
    pub(super) fn new(directory: &'d Directory, clock: &'d Clock) -> Self {
        Self {
            directory,
            clock,
            disk: DiskTotals::default(),
            disk_by_process: FxHashMap::default(),
            disk_by_disk: BTreeMap::new(),
            disk_by_file: FxHashMap::default(),
            last_completion: FxHashMap::default(),
            unseen: Unseen::of(&directory.gaps, directory.ring_start, clock),
            issuers: Issuers::default(),
            faults: FaultTotals::default(),
            faults_by_process: FxHashMap::default(),
            faults_by_file: FxHashMap::default(),
            unknown_file: "?".into(),
        }
    }

    pub(super) fn add(&mut self, hook: Hook, event: &RawEvent<'_>) {
        match (hook.group, hook.opcode) {
            (group::DISK, op @ (opcode::READ | opcode::WRITE | opcode::FLUSH)) => {
                if let Some(io) =
                    DiskIo::parse(event.payload(), op, hook.version, event.pointer_size())
                {
                    let issuer = self.issuers.completed(&io, event);
                    self.disk(op, &io, issuer, event.timestamp);
                }
            }
            (group::DISK, opcode::READ_INIT | opcode::WRITE_INIT | opcode::FLUSH_INIT) => {
                let init = parse_init(event.payload(), hook.version, event.pointer_size());
                if let Some((irp, tid)) = init {
                    self.issuers.start(irp, tid, event);
                }
            }
            (group::MEMORY, fault::opcode::HARD_FAULT) => {
                if let Some(fault) = HardFault::parse(event.payload(), event.pointer_size()) {
                    self.fault(&fault, event.timestamp);
                }
            }
            _ => {}
        }
    }

    fn file(&self, key: u64, timestamp: i64) -> Arc<str> {
        let path = self.directory.file_names.path(key, timestamp);
        path.map_or_else(
            || Arc::clone(&self.unknown_file),
            |path| self.directory.paths.dos_path(path),
        )
    }

    fn disk(&mut self, op: u8, io: &DiskIo, issuer: Option<Issuer>, timestamp: i64) {
        let process = issuer.and_then(|issuer| issuer.process(self.directory));
        // A disk serves one request after the other: service started when the one before was done.
        let previous = self.last_completion.insert(io.disk, timestamp);
        let since = previous.map_or(u64::MAX, |t| timestamp.abs_diff(t));
        let session = self.clock.frequency;
        let counter = self.clock.counter_frequency;
        let is_first =
            // Two lengths in ticks of different clocks are compared, each multiplied by the
            // frequency of the other. Dividing first would round.
            i128::from(io.response_ticks) * i128::from(session) <= i128::from(since) * i128::from(counter);
        let begin_ns = match previous {
            Some(previous) if !is_first => self.clock.nanoseconds(previous),
            _ => self.clock.nanoseconds_before(timestamp, io.response_ticks),
        };
        let end_ns = self.clock.nanoseconds(timestamp);
        let (service_ticks, service_counter_ticks) = if self.unseen.is_within(begin_ns, end_ns) {
            // The completion that really was before it may be missing.
            (0, 0)
        } else if is_first {
            (0, io.response_ticks)
        } else {
            (since, 0)
        };
        let file = (op != opcode::FLUSH).then(|| self.file(io.file_key, timestamp));
        let totals = [
            Some(&mut self.disk),
            Some(self.disk_by_process.entry(process).or_default()),
            Some(self.disk_by_disk.entry(io.disk).or_default()),
            file.map(|file| self.disk_by_file.entry(file).or_default()),
        ];
        for t in totals.into_iter().flatten() {
            let bytes = u64::from(io.bytes);
            match op {
                opcode::READ => (t.reads, t.read_bytes) = (t.reads + 1, t.read_bytes + bytes),
                opcode::WRITE => (t.writes, t.write_bytes) = (t.writes + 1, t.write_bytes + bytes),
                _ => t.flushes += 1,
            }
            t.elapsed_ticks = t.elapsed_ticks.saturating_add(io.response_ticks);
            t.service_ticks = t.service_ticks.saturating_add(service_ticks);
            t.service_counter_ticks = t
                .service_counter_ticks
                .saturating_add(service_counter_ticks);
        }
    }

    fn fault(&mut self, fault: &HardFault, timestamp: i64) {
        let process = self.directory.process_of_thread(fault.tid, timestamp);
        let file = self.file(fault.file_key, timestamp);
        for t in [
            &mut self.faults,
            self.faults_by_process.entry(process).or_default(),
            self.faults_by_file.entry(file).or_default(),
        ] {
            t.count += 1;
            t.bytes += u64::from(fault.bytes);
            t.elapsed_ticks = t
                .elapsed_ticks
                .saturating_add(timestamp.saturating_sub(fault.initial_time));
        }
    }

    fn microseconds(&self, ticks: i128) -> f64 {
        ticks as f64 / self.clock.frequency as f64 * 1e6
    }

    fn counter_microseconds(&self, ticks: u64) -> f64 {
        ticks as f64 / self.clock.counter_frequency as f64 * 1e6
    }

    pub(super) fn sections(&self) -> (Value, Value) {
        let process = |key: &Option<ProcessKey>| process_text(self.directory, *key);
        let disk = json!({
            "total": self.disk_value(&self.disk),
            "by_process": table(&self.disk_by_process, process, |t| self.disk_value(t)),
            "by_disk": table(&self.disk_by_disk, u32::to_string, |t| self.disk_value(t)),
            "by_file": table(&self.disk_by_file, ToString::to_string, |t| self.disk_value(t)),
        });
        let faults = json!({
            "total": self.fault_value(self.faults),
            "by_process": table(&self.faults_by_process, process, |t| self.fault_value(*t)),
            "by_file": table(&self.faults_by_file, ToString::to_string, |t| self.fault_value(*t)),
        });
        (disk, faults)
    }

    fn disk_value(&self, t: &DiskTotals) -> Value {
        json!({
            "reads": t.reads,
            "read_bytes": t.read_bytes,
            "writes": t.writes,
            "write_bytes": t.write_bytes,
            "flushes": t.flushes,
            "elapsed_us": self.counter_microseconds(t.elapsed_ticks),
            "service_us":
                self.microseconds(t.service_ticks.into())
                    + self.counter_microseconds(t.service_counter_ticks),
        })
    }

    fn fault_value(&self, t: FaultTotals) -> Value {
        json!({ "count": t.count, "bytes": t.bytes, "elapsed_us": self.microseconds(t.elapsed_ticks.into()) })
    }
}

fn table<'m, K: 'm, T: 'm>(
    rows: impl IntoIterator<Item = (&'m K, &'m T)>,
    key: impl Fn(&K) -> String,
    value: impl Fn(&T) -> Value,
) -> BTreeMap<String, Value> {
    rows.into_iter().map(|(k, v)| (key(k), value(v))).collect()
}
