//! Facts mentioned by events in any order: process IDs in payloads, the first thread and event of
//! each processor, and the recording times of each buffer and of the kernel logger.

use etwkit_decode::kernel::disk::{self, DiskIo};
use etwkit_decode::kernel::fault::{self, HardFault};
use etwkit_decode::kernel::sample::{self, Sample};
use etwkit_decode::kernel::{Hook, group, image, net, scheduler, thread, virtual_memory};
use etwkit_etl::RawEvent;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::gaps::BufferTimes;
use crate::tracker::witness::Witnesses;

/// Groups of events that programs log into sessions of their own, with the headers of the kernel:
/// notifications (WNF), heaps, critical sections, thread pools.
const OF_PROGRAMS: [u8; 4] = [
    group::NOTIFICATION,
    group::HEAP,
    group::CRITICAL_SECTION,
    group::THREAD_POOL,
];

/// True if the kernel logger wrote an event. Every session writes trace headers, and programs log
/// heap ranges (group 2), service tags (group 5) and events of their loader (group 20).
pub(crate) fn is_of_kernel_logger(hook: Hook) -> bool {
    match hook.group {
        group::EVENT_TRACE => false,
        group::MEMORY => !virtual_memory::is_heap_range(hook.opcode),
        group::THREAD => hook.opcode != thread::opcode::SERVICE_TAG,
        group::IMAGE => hook.opcode < image::FIRST_OF_LOADER,
        other => !OF_PROGRAMS.contains(&other),
    }
}

/// Collected from events in any order.
#[derive(Debug, Default)]
pub(crate) struct Mentions {
    first_threads: Firsts<u32>,
    first_events: Firsts<()>,
    pids: FxHashSet<u32>,
    /// Raw times of the first and the last event of the kernel logger.
    kernel_times: Option<(i64, i64)>,
    buffers: BufferTimes,
    witnesses: Witnesses,
    /// True if an event named thread 0.
    idle: bool,
}

impl Mentions {
    /// Takes one event.
    #[inline]
    pub(crate) fn observe(&mut self, hook: Option<Hook>, event: &RawEvent<'_>) {
        let kernel = hook.filter(|hook| is_of_kernel_logger(*hook));
        self.buffers.observe(kernel, event);
        self.witnesses.observe(hook, event);
        if kernel.is_some() {
            let time = event.timestamp;
            let (first, last) = self.kernel_times.unwrap_or((time, time));
            self.kernel_times = Some((first.min(time), last.max(time)));
        }
        if let Some(hook) = hook {
            if hook.group != group::EVENT_TRACE {
                self.first_events.add(event, ());
            }
            self.kernel_event(hook, event);
        } else if event.kind.is_manifest() && event.provider() == net::KERNEL_NETWORK {
            self.payload_pid(event);
        }
    }

    #[inline]
    fn kernel_event(&mut self, hook: Hook, event: &RawEvent<'_>) {
        if hook.group == group::DISK && hook.version < 3 {
            // Before version 3 only the header names the process that issued an access.
            self.pids.extend(event.process_id());
        }
        match hook.group {
            group::THREAD if hook.opcode == scheduler::opcode::CONTEXT_SWITCH => {
                if let Some((new, old)) = thread::switch(event.payload()) {
                    self.idle |= new == 0 || old == 0;
                    // The thread that the first switch takes off has run since recording of the
                    // processor started.
                    self.first_threads.add(event, old);
                }
            }
            group::TCP if net::tcp_operation(hook.opcode).is_some() => self.payload_pid(event),
            group::UDP if net::udp_operation(hook.opcode).is_some() => self.payload_pid(event),
            // Only until thread 0 is first seen, because each of these events has to be parsed for
            // it.
            group::PERFINFO | group::DISK | group::MEMORY if !self.idle => {
                self.thread_zero(hook, event);
            }
            _ => {}
        }
    }

    fn payload_pid(&mut self, event: &RawEvent<'_>) {
        let is_transfer = event.kind.is_kernel()
            || event.kind.is_classic()
            || net::provider_operation(event.descriptor().id).is_some();
        if let Some((pid, _)) = net::process_and_size(event).filter(|_| is_transfer) {
            self.pids.insert(pid);
        }
    }

    fn thread_zero(&mut self, hook: Hook, event: &RawEvent<'_>) {
        let payload = event.payload();
        let pointer_size = event.pointer_size();
        let tid = match (hook.group, hook.opcode) {
            (group::PERFINFO, sample::opcode::SAMPLE) => {
                Sample::parse(payload, pointer_size).map(|s| s.tid)
            }
            (
                group::DISK,
                op @ (disk::opcode::READ | disk::opcode::WRITE | disk::opcode::FLUSH),
            ) => {
                let io = DiskIo::parse(payload, op, hook.version, pointer_size);
                io.and_then(|io| io.tid.or_else(|| event.thread_id()))
            }
            (group::MEMORY, fault::opcode::HARD_FAULT) => {
                HardFault::parse(payload, pointer_size).map(|f| f.tid)
            }
            _ => None,
        };
        self.idle = tid == Some(0);
    }

    /// Process IDs, unordered. Thread 0 belongs to process 0 without any thread event.
    pub(crate) fn pids(&self) -> impl Iterator<Item = u32> {
        self.pids.iter().copied().chain(self.idle.then_some(0))
    }

    /// The processes of threads, which are then forgotten here.
    pub(crate) fn take_witnesses(&mut self) -> Witnesses {
        std::mem::take(&mut self.witnesses)
    }

    /// The facts about processors, buffers and the kernel logger.
    pub(crate) fn times(self) -> Times {
        Times {
            first_threads: self
                .first_threads
                .by_cpu()
                .map(|(cpu, _, thread)| (cpu, thread))
                .collect(),
            first_events: self
                .first_events
                .by_cpu()
                .map(|(cpu, time, ())| (cpu, time))
                .collect(),
            kernel: self.kernel_times,
            buffers: self.buffers,
        }
    }
}

/// Recording times.
pub(crate) struct Times {
    /// By processor: the thread that it ran up to its first context switch.
    pub(crate) first_threads: FxHashMap<u16, u32>,
    /// By processor: raw time of its first event other than a session header.
    pub(crate) first_events: FxHashMap<u16, i64>,
    /// Raw times of the first and the last event of the kernel logger; `None` if it wrote none.
    pub(crate) kernel: Option<(i64, i64)>,
    /// Times of each buffer.
    pub(crate) buffers: BufferTimes,
}

/// The earliest item of each processor; of several at one time, the first one read.
#[derive(Debug)]
struct Firsts<T>(Vec<Option<(i64, T)>>);

impl<T> Default for Firsts<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Firsts<T> {
    #[inline]
    fn add(&mut self, event: &RawEvent<'_>, value: T) {
        let cpu = usize::from(event.cpu);
        if self.0.len() <= cpu {
            self.0.resize_with(cpu + 1, || None);
        }
        if let Some(first) = self.0.get_mut(cpu)
            && first
                .as_ref()
                .is_none_or(|(time, _)| event.timestamp < *time)
        {
            *first = Some((event.timestamp, value));
        }
    }

    fn by_cpu(self) -> impl Iterator<Item = (u16, i64, T)> {
        let known =
            |(cpu, first): (u16, Option<(i64, T)>)| first.map(|(time, value)| (cpu, time, value));
        (0..=u16::MAX).zip(self.0).filter_map(known)
    }
}
