//! The trace that is being written, its clock, and the counts of its events.
//!
//! The clock ticks 10 million times a second and moves on with every record, so that no two of them
//! (but the merge records of an image, which share its time by design) have the same time: a reader
//! has no ties to break.

use std::collections::BTreeMap;
use std::io::{Seek, Write};

use etwkit_etl::Guid;
use etwkit_etl::wire::event::Descriptor;
use etwkit_etl::wire::extended::kind::STACK_TRACE_64;
use etwkit_etl::wire::trace_header::TraceHeader;
use etwkit_etl::writer::{
    KernelContext, KernelEvent, ManifestEvent, MergeRecord, SessionOptions, StackOwner, StackPart,
    Style, TraceWriter,
};

use crate::payload::Payload;
use crate::{Options, Result};

/// Ticks of a second.
pub(crate) const SECOND: i64 = 10_000_000;
/// Ticks of a microsecond.
pub(crate) const MICROSECOND: i64 = 10;
/// Raw time of the header event: the machine ran for an hour or so.
pub(crate) const T0: i64 = 43_217_000_123;
/// 2024-05-06 08:30:00 UTC.
const START_TIME: i64 = 133_594_650_000_000_000;
/// Stacks that the writer keeps as keys: more than are in use at a time, so that most keys live
/// long.
const STACK_KEYS: u32 = 4096;

/// Group, type and version of a kernel event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind(pub(crate) u8, pub(crate) u8, pub(crate) u8);

/// Kind of an event of a provider that has a manifest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Provided {
    pub(crate) provider: Guid,
    pub(crate) id: u16,
    pub(crate) version: u8,
    pub(crate) opcode: u8,
    pub(crate) keyword: u64,
}

/// Counts of events by kind.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) kernel: BTreeMap<Kind, u64>,
    /// By class, version and type.
    pub(crate) classic: BTreeMap<(&'static str, u16, u8), u64>,
    /// Events of providers by provider, id, version and opcode.
    pub(crate) provided: BTreeMap<(Guid, u16, u8, u8), u64>,
    pub(crate) headers: BTreeMap<&'static str, u64>,
    pub(crate) cpus: BTreeMap<u16, u64>,
}

impl Counts {
    fn add(&mut self, cpu: u16, header: &'static str, count: u64) {
        *self.headers.entry(header).or_default() += count;
        *self.cpus.entry(cpu).or_default() += count;
    }

    fn add_kernel(&mut self, cpu: u16, kind: Kind, header: &'static str, count: u64) {
        if count > 0 {
            *self.kernel.entry(kind).or_default() += count;
            self.add(cpu, header, count);
        }
    }
}

/// Group of stack events.
const STACK: u8 = 24;
const SYSTEM: &str = "system64";
const PERFINFO: &str = "perfinfo64";

/// The trace.
pub(crate) struct Tape<W> {
    writer: TraceWriter<W>,
    now: i64,
    /// Latest record of each processor.
    latest: BTreeMap<u16, i64>,
    pub(crate) counts: Counts,
    payload: Payload,
    /// Events of the kernel are not recorded any more.
    is_kernel_over: bool,
}

impl<W: Write + Seek> Tape<W> {
    pub(crate) fn new(sink: W, cpus: u16, groups: [u32; 8], options: &Options) -> Result<Self> {
        let session = session_options(cpus, options);
        let mut tape = Self {
            writer: TraceWriter::new(sink, &session)?,
            now: T0,
            latest: BTreeMap::new(),
            counts: Counts::default(),
            payload: Payload::default(),
            is_kernel_over: false,
        };
        tape.counts.add_kernel(0, Kind(0, 0, 2), SYSTEM, 1);
        let mut masks = Payload::default();
        for group in groups {
            masks.u32(group);
        }
        masks.u32(80);
        // Windows writes the enabled groups twice: as extension (5) and as end extension (32) of
        // the header.
        for opcode in [5, 32] {
            let (context, payload) = (KernelContext::ids(0, 0), masks.0.as_slice());
            let (timestamp, version) = (T0, 2);
            let event = KernelEvent {
                context,
                timestamp,
                opcode,
                version,
                payload,
                ..KernelEvent::default()
            };
            tape.writer.write_header_record(event)?;
            tape.counts.add_kernel(0, Kind(0, opcode, 2), SYSTEM, 1);
        }
        Ok(tape)
    }

    /// Returns the time of the latest record.
    pub(crate) const fn now(&self) -> i64 {
        self.now
    }

    /// Advances the clock so that the next record is not before `time`.
    pub(crate) fn wait_until(&mut self, time: i64) {
        // One tick less, since writing a record first advances the clock by one.
        self.now = self.now.max(time.saturating_sub(1));
    }

    /// Returns the time of the next record.
    pub(crate) const fn next(&self) -> i64 {
        self.now + 1
    }

    /// Returns the time of the latest record of a processor.
    pub(crate) fn latest(&self, cpu: u16) -> i64 {
        self.latest.get(&cpu).copied().unwrap_or(T0)
    }

    /// From here on kernel events take their time but are not written, as on a machine where
    /// another program has taken the session.
    pub(crate) fn ends_kernel(&mut self) -> Result<()> {
        self.now += 1;
        // The session that is taken ends properly, so that its keys get their definitions.
        self.writer.rundown_stack_keys()?;
        self.is_kernel_over = true;
        Ok(())
    }

    /// Writes a kernel event. `ids` are thread and process of a SYSTEM header. Returns its time.
    pub(crate) fn kernel(
        &mut self,
        cpu: u16,
        kind: Kind,
        ids: Option<(u32, u32)>,
        payload: impl FnOnce(&mut Payload),
    ) -> Result<i64> {
        self.counted(cpu, kind, ids, &[], payload)
    }

    /// Writes a kernel event that carries values of performance counters.
    pub(crate) fn counted(
        &mut self,
        cpu: u16,
        kind: Kind,
        ids: Option<(u32, u32)>,
        pmc_values: &[u64],
        payload: impl FnOnce(&mut Payload),
    ) -> Result<i64> {
        self.now += 1;
        if self.is_kernel_over {
            return Ok(self.now);
        }
        self.payload.0.clear();
        payload(&mut self.payload);
        let context = ids.map_or(KernelContext::None, |(tid, pid)| {
            KernelContext::ids(tid, pid)
        });
        let Kind(group, opcode, version) = kind;
        let (timestamp, payload) = (self.now, self.payload.0.as_slice());
        let event = KernelEvent {
            context,
            timestamp,
            group,
            opcode,
            version,
            pmc_values,
            payload,
            ..KernelEvent::default()
        };
        self.writer.write(cpu, event)?;
        self.latest.insert(cpu, self.now);
        self.counts
            .add_kernel(cpu, kind, if ids.is_some() { SYSTEM } else { PERFINFO }, 1);
        Ok(self.now)
    }

    /// Writes an event of Microsoft-Windows-Kernel-Processor-Power of that id and version.
    pub(crate) fn processor_power(
        &mut self,
        event: (u16, u8),
        payload: impl FnOnce(&mut Payload),
    ) -> Result<()> {
        self.processor_power_at(event, payload).map(|_| ())
    }

    /// Writes an event as [`Tape::processor_power`] does. Returns its time.
    pub(crate) fn processor_power_at(
        &mut self,
        (id, version): (u16, u8),
        payload: impl FnOnce(&mut Payload),
    ) -> Result<i64> {
        let kind = Provided {
            provider: PROCESSOR_POWER,
            id,
            version,
            opcode: 0,
            keyword: 1,
        };
        self.provided(0, kind, (0, 4), &[], payload)
    }

    /// Writes an event of a provider, for a thread and process, which carries its own stack.
    /// Returns its time.
    pub(crate) fn provided(
        &mut self,
        cpu: u16,
        kind: Provided,
        (thread_id, process_id): (u32, u32),
        stack: &[u64],
        payload: impl FnOnce(&mut Payload),
    ) -> Result<i64> {
        self.now += 1;
        self.payload.0.clear();
        payload(&mut self.payload);
        let Provided {
            provider,
            id,
            version,
            opcode,
            keyword,
        } = kind;
        let mut item = Payload::default();
        // The match id before the addresses; 0 means that the stack is complete.
        item.u64(0);
        stack.iter().for_each(|address| {
            item.u64(*address);
        });
        let extended = [(STACK_TRACE_64, item.0.as_slice())];
        let event = ManifestEvent {
            timestamp: self.now,
            provider,
            descriptor: Descriptor {
                id,
                version,
                level: 4,
                opcode,
                keyword,
                ..Descriptor::default()
            },
            thread_id,
            process_id,
            extended: if stack.is_empty() { &[] } else { &extended },
            payload: &self.payload.0,
            ..ManifestEvent::default()
        };
        self.writer.write(cpu, event)?;
        self.latest.insert(cpu, self.now);
        *self
            .counts
            .provided
            .entry((provider, id, version, opcode))
            .or_default() += 1;
        self.counts.add(cpu, "event64", 1);
        Ok(self.now)
    }

    /// Writes a record of the merge step, with the time of the event that comes next.
    pub(crate) fn merge(&mut self, cpu: u16, record: &MergeRecord<'_>) -> Result<()> {
        // The clock does not advance: merge records share the time of the event that they belong
        // to.
        self.writer.write_merge_record(cpu, self.now + 1, record)?;
        *self.counts.classic.entry(identity(record)).or_default() += 1;
        self.counts.add(cpu, "full64", 1);
        Ok(())
    }

    /// Writes a stack in one event.
    pub(crate) fn whole_stack(
        &mut self,
        cpu: u16,
        owner: StackOwner,
        frames: &[u64],
    ) -> Result<()> {
        self.stack(cpu, |writer, now| {
            writer.write_stack(cpu, now, owner, frames)
        })
    }

    /// Writes a part of a stack as a key.
    pub(crate) fn stack_part(
        &mut self,
        cpu: u16,
        owner: StackOwner,
        part: StackPart,
        frames: &[u64],
    ) -> Result<()> {
        self.stack(cpu, |writer, now| {
            writer.write_stack_key(cpu, now, owner, part, frames)
        })
    }

    fn stack(
        &mut self,
        cpu: u16,
        write: impl FnOnce(&mut TraceWriter<W>, i64) -> etwkit_etl::writer::Result<()>,
    ) -> Result<()> {
        // The tick in between is for the definition of a key that gets another meaning.
        self.now += 2;
        if self.is_kernel_over {
            return Ok(());
        }
        // Only the writer knows if a stack needs a new key, so the events are counted by its counts
        // before and after.
        let before = self.writer.stack_counts();
        write(&mut self.writer, self.now)?;
        self.latest.insert(cpu, self.now);
        let after = self.writer.stack_counts();
        for (opcode, count) in [
            (32, after.whole - before.whole),
            (35, after.deleted - before.deleted),
            (37, after.kernel - before.kernel),
            (38, after.user - before.user),
        ] {
            self.counts
                .add_kernel(cpu, Kind(STACK, opcode, 2), PERFINFO, count);
        }
        Ok(())
    }

    /// Ends the trace. Returns the sink, the counts and the raw time of the end.
    pub(crate) fn finish(mut self) -> Result<(W, Counts, i64)> {
        // Each key that is in use gets a definition when the writer finishes.
        let keys = self.writer.stack_counts().in_use;
        self.counts
            .add_kernel(0, Kind(STACK, 36, 2), PERFINFO, keys);
        // After the definitions of keys, which the writer puts after everything else.
        let end = self.now + MICROSECOND;
        let sink = self.writer.finish(START_TIME + (end - T0))?;
        Ok((sink, self.counts, end))
    }
}

fn session_options(cpus: u16, options: &Options) -> SessionOptions {
    let default = SessionOptions::default();
    let header = TraceHeader {
        cpu_count: cpus.into(),
        perf_freq: SECOND,
        start_time: START_TIME,
        boot_time: START_TIME - T0,
        session_name: "NT Kernel Logger".to_owned(),
        log_file_name: "synth.etl".to_owned(),
        ..default.header.clone()
    };
    SessionOptions {
        header,
        t0: T0,
        style: Style::Merged,
        compressed: options.compressed,
        stack_keys: STACK_KEYS,
        ..default
    }
}

/// Class of the events on power and frequency of processors.
pub(crate) const PROCESSOR_POWER: Guid = Guid::literal("0f67e49f-fe51-4e9f-b490-6f2948cc6027");
const IMAGE_ID: &str = "b3e675d7-2554-4f18-830b-2762732560de";
const SYSTEM_CONFIG: &str = "9b79ee91-b5fd-41c0-a243-4248e266e9d0";

/// Class, version and type of the records that are used here.
const fn identity(record: &MergeRecord<'_>) -> (&'static str, u16, u8) {
    match record {
        MergeRecord::ImageInfo { .. } => (IMAGE_ID, 2, 0),
        MergeRecord::DbgIdRsds { .. } => (IMAGE_ID, 2, 36),
        MergeRecord::FileVersion { .. } => (IMAGE_ID, 0, 64),
        MergeRecord::BuildInfo { .. } => (SYSTEM_CONFIG, 0, 32),
        MergeRecord::SystemPaths { .. } => (SYSTEM_CONFIG, 0, 33),
        MergeRecord::VolumeMapping { .. } => (SYSTEM_CONFIG, 0, 35),
        MergeRecord::EventInfo(_) => ("bbccf6c1-6cd1-48c4-80ff-839482e37671", 0, 32),
    }
}
