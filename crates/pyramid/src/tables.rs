//! The tables of an extract that sums are built from, and the contribution of each of their rows.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use etwkit_extract::{Extract, StoreResult};
use etwkit_trace::derive::MissingColumn;
use etwkit_trace::derive::columns::{Get, boolean, int32, int64, text};

use crate::error::{Error, Result};
use crate::part::{
    CORE_SWITCHES, Dim, Part, Parts, READY, RUNNING, SWITCHES, UNKNOWN, WAITING, bounded,
};
use crate::waits;

/// A table with a row for each event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rows {
    Switches,
    Samples,
    Dpcs,
    Disk,
    File,
    Net,
    TcpEvents,
    Marks,
}

impl Rows {
    pub(crate) const fn table(self) -> &'static str {
        match self {
            Self::Switches => "context_switch",
            Self::Samples => "cpu_sample",
            Self::Dpcs => "dpc_isr",
            Self::Disk => "disk_io",
            Self::File => "file_io",
            Self::Net => "net_io",
            Self::TcpEvents => "tcp_event",
            Self::Marks => "mark",
        }
    }

    pub(crate) const fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Switches => &[
                "thread_key",
                "process_key",
                "cpu",
                "last_out_ns",
                "readied_ns",
                "in_ns",
                "out_ns",
                "wait_ns",
                "ready_ns",
                "run_ns",
                "wait_reason",
                "is_open_wait",
            ],
            Self::Samples => &[
                "ts_ns",
                "cpu",
                "process_key",
                "thread_key",
                "weight_ns",
                "is_idle",
            ],
            Self::Dpcs => &["kind", "cpu", "end_ns", "duration_ns", "nested_ns"],
            Self::Disk => &[
                "disk",
                "process_key",
                "complete_ns",
                "service_ns",
                "size_bytes",
            ],
            Self::File => &["kind", "process_key", "end_ns", "result_bytes"],
            Self::Net => &["kind", "ts_ns", "process_key", "size_bytes"],
            Self::TcpEvents => &["kind", "ts_ns", "connection_id", "size_bytes"],
            Self::Marks => &["ts_ns", "process_key"],
        }
    }

    /// The sums that its rows are added to. Sums of processes are derived from threads.
    pub(crate) const fn dims(self) -> &'static [Dim] {
        match self {
            Self::Switches | Self::Samples => &[Dim::Thread, Dim::Process, Dim::Core],
            Self::Dpcs => &[Dim::Dpc],
            Self::Disk => &[Dim::Disk, Dim::DiskBusy],
            Self::File => &[Dim::File],
            Self::Net | Self::TcpEvents => &[Dim::Net],
            Self::Marks => &[Dim::Mark],
        }
    }

    /// Adds the parts of the rows of a batch. `first` is the number of its first row.
    pub(crate) fn parts(
        self,
        batch: &RecordBatch,
        first: u64,
        facts: &Facts,
        to: &mut Parts,
    ) -> Result<()> {
        let read = match self {
            Self::Switches => switches(batch, first, facts, to),
            Self::Samples => samples(batch, first, facts, to),
            Self::Dpcs => dpcs(batch, first, to),
            Self::Disk => disk(batch, first, to),
            Self::File => transfers(batch, first, ("end_ns", "result_bytes"), Dim::File, to),
            Self::Net => transfers(batch, first, ("ts_ns", "size_bytes"), Dim::Net, to),
            Self::TcpEvents => tcp(batch, first, facts, to),
            Self::Marks => marks(batch, first, to),
        };
        read.map_err(Error::column(self.table()))
    }
}

/// The tables of an extract to read. Samples are used only without context switches, which are more
/// precise.
pub(crate) fn of(extract: &Extract) -> Vec<Rows> {
    let has = |rows: &Rows| {
        extract
            .table(rows.table())
            .is_some_and(|file| file.rows > 0)
    };
    let first = |candidates: &[Rows]| candidates.iter().copied().find(has);
    [
        first(&[Rows::Switches, Rows::Samples]),
        first(&[Rows::Dpcs]),
        first(&[Rows::Disk]),
        first(&[Rows::File]),
        // If a trace has both, the transfers of the kernel logger are used and not the transfers of
        // the TCP provider: they are the same bytes, and adding both would count them twice.
        first(&[Rows::Net, Rows::TcpEvents]),
        first(&[Rows::Marks]),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The facts about a trace that are needed to read its rows.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// Start of the part in which the states of threads are known: the first event of the kernel
    /// logger, or the start of the extracted part.
    pub(crate) known_start: i64,
    /// End of this part, at which open waits end.
    pub(crate) known_end: i64,
    /// Length of the recording.
    pub(crate) duration: i64,
    pub(crate) processors: i32,
    /// The idle process.
    pub(crate) idle: Option<i32>,
    /// Processes of TCP connections.
    connections: BTreeMap<i32, i32>,
}

impl Facts {
    pub(crate) fn read(extract: &Extract) -> Result<Self> {
        let mut facts = Self {
            processors: extract.manifest().machine.processors,
            ..Self::default()
        };
        let columns = [
            "duration_ns",
            "kernel_start_ns",
            "kernel_end_ns",
            "range_start_ns",
            "range_end_ns",
            "processors",
        ];
        for batch in batches(extract, "trace", &columns)? {
            let batch = batch?;
            let first = |name| {
                int64(&batch, name)
                    .map(|column| column.get(0))
                    .map_err(Error::column("trace"))
            };
            facts.duration = first("duration_ns")?.map_or(0, bounded);
            let kernel_start = first("kernel_start_ns")?.map_or(0, bounded);
            let kernel_end = first("kernel_end_ns")?.map_or(facts.duration, bounded);
            let part_start = first("range_start_ns")?.map_or(kernel_start, bounded);
            let part_end = first("range_end_ns")?.map_or(kernel_end, bounded);
            facts.known_start = kernel_start.max(part_start);
            facts.known_end = kernel_end.min(part_end);
        }
        // The idle process has the ID 0, which no other process gets. Its run time is idle time of
        // a processor.
        for batch in batches(extract, "process", &["process_key", "pid"])? {
            let batch = batch?;
            let column = |name| int32(&batch, name).map_err(Error::column("process"));
            let key = column("process_key")?;
            let pid = column("pid")?;
            let idle = (0..batch.num_rows()).find(|row| pid.get(*row) == Some(0));
            facts.idle = facts.idle.or(idle.and_then(|row| key.get(row)));
        }
        if extract.table("net_io").is_none() {
            for batch in batches(extract, "tcp_connection", &["connection_id", "process_key"])? {
                let batch = batch?;
                let column = |name| int32(&batch, name).map_err(Error::column("tcp_connection"));
                let id = column("connection_id")?;
                let process = column("process_key")?;
                let pairs =
                    (0..batch.num_rows()).filter_map(|row| Some((id.get(row)?, process.get(row)?)));
                facts.connections.extend(pairs);
            }
        }
        Ok(facts)
    }
}

fn batches(
    extract: &Extract,
    table: &str,
    columns: &[&str],
) -> StoreResult<impl Iterator<Item = StoreResult<RecordBatch>> + use<>> {
    let batches = extract
        .table(table)
        .map(|file| file.batches(Some(columns)))
        .transpose()?;
    Ok(batches.into_iter().flatten())
}

type Read = std::result::Result<(), MissingColumn>;

/// Rows with their numbers in the table.
fn numbered(batch: &RecordBatch, first: u64) -> impl Iterator<Item = (usize, u64)> + use<> {
    (0..batch.num_rows()).zip(first..)
}

const fn part(row: u64, dim: Dim, key: i32, sub: i32, slot: usize) -> Part {
    Part {
        row,
        dim,
        key,
        sub,
        slot,
        start: 0,
        end: 0,
        amount: 0,
    }
}

fn switches(batch: &RecordBatch, first: u64, facts: &Facts, to: &mut Parts) -> Read {
    let thread = int32(batch, "thread_key")?;
    let process = int32(batch, "process_key")?;
    let cpu = int32(batch, "cpu")?;
    let reason = int32(batch, "wait_reason")?;
    let last_out = int64(batch, "last_out_ns")?;
    let readied = int64(batch, "readied_ns")?;
    let started = int64(batch, "in_ns")?;
    let out = int64(batch, "out_ns")?;
    let wait = int64(batch, "wait_ns")?;
    let ready = int64(batch, "ready_ns")?;
    let run = int64(batch, "run_ns")?;
    let open = boolean(batch, "is_open_wait")?;
    for (row, number) in numbered(batch, first) {
        // Idle threads are left out altogether: their switches would draw every processor as always
        // busy.
        let of = process.get(row);
        if of.is_some() && of == facts.idle {
            continue;
        }
        // Time without a thread belongs to no lane.
        let Some(key) = thread.get(row) else { continue };
        let sub = of.unwrap_or(UNKNOWN);
        let state = |slot| part(number, Dim::Thread, key, sub, slot);
        let begin = last_out.get(row);
        let wakes = readied.get(row);
        // A thread that still waits when the recording ends has no row with an end. Its wait is
        // counted up to the last event of the kernel logger, or to the end of the extracted part:
        // it is unknown if it continues after that.
        let waited = match open.get(row) {
            Some(true) => begin.map(|begin| facts.known_end.saturating_sub(begin)),
            _ => wait.get(row),
        };
        to.stretch(
            state(WAITING + waits::of_reason(reason.get(row))),
            begin,
            waited,
        );
        let entry = started.get(row);
        let exit = out.get(row);
        let length = run.get(row);
        let was_ready = ready.get(row);
        // A preempted thread becomes ready without being readied by another thread: its ready time
        // ends at the switch-in, so it starts that much earlier.
        let from = entry
            .zip(was_ready)
            .map(|(entry, ready)| entry.saturating_sub(ready));
        to.stretch(state(READY), from.or(wakes).or(begin), was_ready);
        let ran_from = entry.or(exit
            .zip(length)
            .map(|(exit, length)| exit.saturating_sub(length)));
        // A thread that ran from the beginning to the end has neither.
        let ran_from = ran_from.or(length.map(|_| facts.known_start));
        to.stretch(state(RUNNING), ran_from, length);
        let core = cpu.get(row).map(|cpu| (cpu, sub));
        if let Some((cpu, process)) = core {
            to.stretch(
                part(number, Dim::Core, cpu, process, RUNNING),
                ran_from,
                length,
            );
        }
        if let Some(entry) = entry {
            to.moment(state(SWITCHES), entry, 1);
            if let Some((cpu, process)) = core {
                to.moment(
                    part(number, Dim::Core, cpu, process, CORE_SWITCHES),
                    entry,
                    1,
                );
            }
        }
        to.end_row();
    }
    Ok(())
}

fn samples(batch: &RecordBatch, first: u64, facts: &Facts, to: &mut Parts) -> Read {
    let cpu = int32(batch, "cpu")?;
    let process = int32(batch, "process_key")?;
    let thread = int32(batch, "thread_key")?;
    let time = int64(batch, "ts_ns")?;
    let weight = int64(batch, "weight_ns")?;
    let idle = boolean(batch, "is_idle")?;
    for (row, number) in numbered(batch, first) {
        let of = process.get(row);
        let (Some(at), Some(key), Some(cpu)) = (time.get(row), thread.get(row), cpu.get(row))
        else {
            continue;
        };
        if idle.get(row) == Some(true) || (of.is_some() && of == facts.idle) {
            continue;
        }
        let sub = of.unwrap_or(UNKNOWN);
        // A sample without a weight counts for no time.
        if let Some(amount) = weight.get(row) {
            to.moment(part(number, Dim::Thread, key, sub, RUNNING), at, amount);
            to.moment(part(number, Dim::Core, cpu, sub, RUNNING), at, amount);
        }
        to.end_row();
    }
    Ok(())
}

fn dpcs(batch: &RecordBatch, first: u64, to: &mut Parts) -> Read {
    let kind = text(batch, "kind")?;
    let cpu = int32(batch, "cpu")?;
    let end = int64(batch, "end_ns")?;
    let whole = int64(batch, "duration_ns")?;
    let nested = int64(batch, "nested_ns")?;
    for (row, number) in numbered(batch, first) {
        // Threaded DPCs run on threads of their own, which the timeline shows as threads.
        if kind.get(row) == Some("threaded_dpc") {
            continue;
        }
        if let (Some(cpu), Some(end), Some(whole)) = (cpu.get(row), end.get(row), whole.get(row)) {
            // Time in an interrupt within a DPC has a row of its own. If it were not subtracted,
            // the sum over a processor would exceed the elapsed time.
            let own = nested
                .get(row)
                .map_or(whole, |nested| whole.saturating_sub(nested));
            to.stretch(
                part(number, Dim::Dpc, cpu, 0, 0),
                Some(end.saturating_sub(own)),
                Some(own),
            );
            to.end_row();
        }
    }
    Ok(())
}

fn disk(batch: &RecordBatch, first: u64, to: &mut Parts) -> Read {
    let disk = int32(batch, "disk")?;
    let process = int32(batch, "process_key")?;
    let end = int64(batch, "complete_ns")?;
    let service = int64(batch, "service_ns")?;
    let size = int64(batch, "size_bytes")?;
    for (row, number) in numbered(batch, first) {
        // The bytes count when the access is complete, and so does the service: the disk worked on
        // it directly before.
        let (Some(disk), Some(end)) = (disk.get(row), end.get(row)) else {
            continue;
        };
        let key = process.get(row).unwrap_or(UNKNOWN);
        if let Some(bytes) = size.get(row) {
            to.moment(part(number, Dim::Disk, key, 0, 0), end, bytes);
        }
        let service = service.get(row);
        to.stretch(
            part(number, Dim::DiskBusy, disk, 0, 0),
            service.map(|service| end.saturating_sub(service)),
            service,
        );
        to.end_row();
    }
    Ok(())
}

/// Reads and writes of files, sends and receipts: bytes of a process at a moment.
fn transfers(
    batch: &RecordBatch,
    first: u64,
    names: (&str, &str),
    dim: Dim,
    to: &mut Parts,
) -> Read {
    let kind = text(batch, "kind")?;
    let process = int32(batch, "process_key")?;
    let time = int64(batch, names.0)?;
    let size = int64(batch, names.1)?;
    for (row, number) in numbered(batch, first) {
        let moves = matches!(kind.get(row), Some("read" | "write" | "send" | "receive"));
        if let (true, Some(at), Some(bytes)) = (moves, time.get(row), size.get(row)) {
            to.moment(
                part(number, dim, process.get(row).unwrap_or(UNKNOWN), 0, 0),
                at,
                bytes,
            );
            to.end_row();
        }
    }
    Ok(())
}

fn tcp(batch: &RecordBatch, first: u64, facts: &Facts, to: &mut Parts) -> Read {
    let kind = text(batch, "kind")?;
    let id = int32(batch, "connection_id")?;
    let time = int64(batch, "ts_ns")?;
    let size = int64(batch, "size_bytes")?;
    for (row, number) in numbered(batch, first) {
        let moves = matches!(kind.get(row), Some("send" | "receive"));
        if let (true, Some(at), Some(bytes)) = (moves, time.get(row), size.get(row)) {
            let process = id
                .get(row)
                .and_then(|id| facts.connections.get(&id))
                .copied()
                .unwrap_or(UNKNOWN);
            to.moment(part(number, Dim::Net, process, 0, 0), at, bytes);
            to.end_row();
        }
    }
    Ok(())
}

fn marks(batch: &RecordBatch, first: u64, to: &mut Parts) -> Read {
    let time = int64(batch, "ts_ns")?;
    let process = int32(batch, "process_key")?;
    for (row, number) in numbered(batch, first) {
        if let Some(at) = time.get(row) {
            to.moment(
                part(number, Dim::Mark, process.get(row).unwrap_or(UNKNOWN), 0, 0),
                at,
                1,
            );
            to.end_row();
        }
    }
    Ok(())
}
