//! The first pass: the meaning of names and addresses, and the delay of stacks that the second pass
//! has to wait for.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use etwkit_decode::kernel::sample::{self, Interval};
use etwkit_decode::kernel::stack::{self, Owner};
use etwkit_decode::kernel::virtual_memory::{Allocation, opcode};
use etwkit_decode::kernel::{Hook, dpc, group, mini_filter, net};
use etwkit_decode::{Decoder, clr, tcpip, win32k};
use etwkit_etl::clock::Clock;
use etwkit_etl::wire::trace_header::mode;
use etwkit_etl::{RawEvent, Session};
use rustc_hash::FxHashSet;

use super::job::{ImportError, Progress, Ticker};
use crate::counts::{Counts, end_of};
use crate::declared::{Events, ImporterDispatch};
use crate::directory::{self, Directory};
use crate::first_pass::{self, FirstPass};
use crate::import::cpu::counter_names::{self, CounterNames};
use crate::import::dotnet::assemblies::Assemblies;
use crate::import::files::disk_queue::DiskQueues;
use crate::import::objects::object_types::ObjectTypes;
use crate::import::recording::cores::{self, Cores};
use crate::mentions::Mentions;
use crate::processors::Processors;
use crate::reach;
use crate::system_config::{self, SystemConfig};
use crate::tracker::method::MethodTracker;

/// Part of the work that the first pass is; measured on scenario traces.
pub(crate) const SHARE: f64 = 0.3;

/// One of this many events is passed on, regardless of its kind.
const PULSE: u64 = 256;

/// The .NET runtime writes the stack of an event directly after it. A stack that is late by more
/// than this fraction of a second was delayed by something else.
const RUNTIME_STACKS: i64 = 50;

/// Maximum delay in seconds of a stack after its event. In the available traces it is up to 0.4.
const MAX_PATIENCE_S: i64 = 60;

/// The events of minifilter drivers. If there are any, files must be known by name before they have
/// a key.
pub(crate) const MINI_FILTERS: Events = Events::KernelBetween(
    group::FILE,
    mini_filter::opcode::PRE_START,
    mini_filter::opcode::POST_FAILURE,
);

/// The consumers of kernel events in order of time. Each declares the events that it reads next to
/// the code that reads them, and gets no others: an event missing in a declaration is missing in
/// every trace.
const LEARNERS: [&[Events]; 5] = [
    directory::LEARNS,
    system_config::LEARNS,
    cores::LEARNS,
    counter_names::LEARNS,
    SAMPLING,
];

/// Events whose order determines the sampling interval at the start of the trace.
const SAMPLING: &[Events] = &[Events::Kernel(group::PERFINFO, sample::INTERVALS)];

/// Places among [`LEARNERS`].
const DIRECTORY: usize = 0;
const MACHINE: usize = 1;
const CORES: usize = 2;
const COUNTERS: usize = 3;
const INTERVALS: usize = 4;

static WANTED: ImporterDispatch = ImporterDispatch::of(&LEARNERS);

/// The results of the first pass.
pub(crate) struct Collected {
    pub(crate) directory: Directory,
    pub(crate) methods: MethodTracker,
    /// Maps of .NET code that were not kept.
    pub(crate) dropped_maps: u64,
    /// The assemblies of methods whose code is in no image.
    pub(crate) assemblies: Assemblies,
    pub(crate) config: SystemConfig,
    pub(crate) decoder: Decoder,
    /// Maximum delay of a stack after its event, in raw ticks.
    pub(crate) patience: i64,
    /// Interval of the samples at the start, in units of 100 ns.
    pub(crate) sample_interval: Option<u32>,
    /// True if the kernel logger recorded network transfers. The provider reports the same
    /// transfers again.
    pub(crate) kernel_network: bool,
    /// Numbers of processors.
    pub(crate) processors: Processors,
    /// True if the recording wrote more files than one, each after the other, and not all are
    /// here for certain.
    pub(crate) is_of_sequence: bool,
    /// Files whose events cover only a part of the recording, as a sentence each.
    pub(crate) parts: Vec<String>,
    /// Processors.
    pub(crate) cores: Cores,
    /// Performance counters.
    pub(crate) counters: CounterNames,
    /// Types of kernel objects.
    pub(crate) object_types: ObjectTypes,
    /// Requests of disks.
    pub(crate) disk_queues: DiskQueues,
    /// True if DPCs or interrupts were recorded.
    pub(crate) has_interrupts: bool,
    /// True if calls of minifilter drivers were recorded.
    pub(crate) has_mini_filters: bool,
    /// Raw time of the end.
    pub(crate) end: i64,
    /// Raw time of the last event; `None` if there is no event.
    pub(crate) last: Option<i64>,
    pub(crate) events: u64,
    /// Bytes of all events, decompressed.
    pub(crate) event_bytes: u64,
}

impl Collected {
    /// Raw time up to which the kernel logger recorded.
    pub(crate) fn kernel_end(&self) -> i64 {
        self.directory
            .kernel_times
            .map_or(self.end, |(_, last)| last)
    }
}

/// Data collected while buffers are loaded.
#[derive(Default)]
struct Ahead {
    counts: Counts,
    /// Number of events so far, for the other thread.
    seen: Arc<AtomicU64>,
    mentions: Mentions,
    patience: i64,
    /// True if the .NET runtime wrote stacks of its own.
    runtime_stacks: bool,
    kernel_network: bool,
    object_types: ObjectTypes,
    disk_queues: DiskQueues,
    event_bytes: u64,
    has_interrupts: bool,
    /// Process IDs that headers and allocations name.
    pids: FxHashSet<u32>,
}

impl Ahead {
    /// Takes an event. Returns whether its place in time matters.
    #[inline]
    fn event(&mut self, event: &RawEvent<'_>, clock: &Clock) -> bool {
        // Counted on the thread that loads buffers, in any order: the other thread has enough to do
        // with what needs an order.
        self.counts.add(event);
        // Records are at multiples of eight bytes.
        self.event_bytes += event.record.len().next_multiple_of(8) as u64;
        let hook = Hook::of(event);
        self.mentions.observe(hook, event);
        match hook {
            None => {
                self.pids.extend(event.process_id());
                // Sockets and windows name processes of which there may be no other event.
                self.pids.extend(tcpip::owner(event));
                if let Some(window_event) = win32k::Event::read(event) {
                    self.pids
                        .extend(window_event.processes().into_iter().filter(|pid| *pid != 0));
                }
                self.runtime_stacks |= clr::is_stack(event);
            }
            Some(hook) => match hook.group {
                // Delays of stacks are measured for the second pass, which holds back rows by the
                // longest of them.
                group::STACK => self.stack(hook, event),
                group::DISK => self.disk_queues.observe(hook, event, clock),
                // Known before the second pass, which needs a different sum of CPU time if
                // interrupts were recorded.
                group::PERFINFO => self.has_interrupts |= dpc::name(hook.opcode).is_some(),
                group::OBJECT => {
                    self.object_types.observe(hook, event);
                    self.pids.extend(event.process_id());
                }
                group::MEMORY if matches!(hook.opcode, opcode::ALLOC | opcode::FREE) => {
                    let read = Allocation::parse(event.payload(), event.pointer_size());
                    self.pids.extend(read.map(|read| read.pid));
                }
                group::TCP => self.kernel_network |= net::tcp_operation(hook.opcode).is_some(),
                group::UDP => self.kernel_network |= net::udp_operation(hook.opcode).is_some(),
                _ => {}
            },
        }
        // Some of the other events are also passed on, so that progress is reported and an
        // interruption is noticed in any trace.
        let pulse = self.counts.total().is_multiple_of(PULSE);
        if pulse {
            // Relaxed is enough: the number is shown as progress and nothing else depends on it.
            self.seen.store(self.counts.total(), Ordering::Relaxed);
        }
        // Any event of a provider may describe other events, and descriptions apply in order of
        // time.
        pulse || hook.is_none_or(|hook| WANTED.by(hook) != 0)
    }

    #[inline]
    fn stack(&mut self, hook: Hook, event: &RawEvent<'_>) {
        use stack::opcode::{REFERENCE_KERNEL, REFERENCE_USER, STACK};
        if matches!(hook.opcode, STACK | REFERENCE_KERNEL | REFERENCE_USER)
            && let Some(owner) = Owner::parse(event.payload())
        {
            // The largest difference counts. A negative one, of a stack before its event, is no
            // delay.
            self.patience = self
                .patience
                .max(event.timestamp.saturating_sub(owner.timestamp));
        }
    }

    /// Returns how long rows wait for their stacks, in raw ticks.
    fn patience_of_rows(&self, frequency: i64) -> i64 {
        let runtime = if self.runtime_stacks {
            // Such stacks are of the same thread and come at once, so a small fraction of a second
            // is more than enough.
            frequency / RUNTIME_STACKS
        } else {
            0
        };
        let limit = MAX_PATIENCE_S.saturating_mul(frequency);
        // Rows wait as long as the latest stack of this trace needs, and no longer: every waiting
        // row takes memory. The limit prevents a single wrong time stamp from delaying the whole
        // trace.
        // Never below zero: without any stack rows need not wait at all.
        self.patience.max(runtime).clamp(0, limit)
    }
}

/// Data collected in order of time.
struct Collector {
    first: FirstPass,
    cores: Cores,
    counters: CounterNames,
    first_interval: Option<u32>,
    end_interval: Option<u32>,
    changed_from: Option<u32>,
}

impl Collector {
    fn event(&mut self, event: &RawEvent<'_>) {
        // Events without a hook are those of providers. Each may describe others, so all of them
        // are looked at.
        let Some(hook) = Hook::of(event) else {
            self.first.observe_other(event);
            self.cores.observe(None, event);
            return;
        };
        // One lookup for all consumers: most events here are wanted by only one of them.
        let by = WANTED.by(hook);
        let wants = |learner: usize| by >> learner & 1 != 0;
        if wants(DIRECTORY) {
            self.first.builder.observe_in_order(Some(hook), event);
        }
        if wants(MACHINE) {
            self.first.facts.config.observe(Some(hook), event);
        }
        if wants(CORES) {
            self.cores.observe(Some(hook), event);
        }
        if wants(COUNTERS) {
            self.counters.observe(hook, event);
        }
        if wants(INTERVALS) {
            self.interval(hook, event);
        }
    }

    fn interval(&mut self, hook: Hook, event: &RawEvent<'_>) {
        let Some(interval) = Interval::parse(event.payload()).filter(|i| i.source == 0) else {
            // Source 0 is the timer of samples. Other sources are the counters of processors.
            return;
        };
        match hook.opcode {
            sample::opcode::INTERVAL_START => _ = self.first_interval.get_or_insert(interval.new),
            // The old value of the first change was in force since the start.
            sample::opcode::INTERVAL_SET => {
                self.changed_from = self.changed_from.or(interval.old);
            }
            _ => self.end_interval = Some(interval.new),
        }
    }

    /// Returns the interval of the samples at the start, in units of 100 ns.
    fn sample_interval(&self) -> Option<u32> {
        // The list at the start contains it directly. Without a list, the first change contains the
        // interval that it replaced. Without any change, the interval at the end was in force all
        // the time.
        self.first_interval
            .or(self.changed_from)
            .or(self.end_interval)
    }
}

/// Reads the session once. Returns the collected data and the number of events of each kind.
pub(crate) fn collect(
    session: &Session,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<(Collected, Counts), ImportError> {
    let mut ahead = Ahead::default();
    let first = FirstPass::new(session);
    let mut c = Collector {
        first,
        cores: Cores::default(),
        counters: CounterNames::default(),
        first_interval: None,
        end_interval: None,
        changed_from: None,
    };
    // Progress goes by time and not by bytes, since buffers of several files are read side by side.
    let start = session.clock().t0;
    let length = session
        .ends()
        .0
        // At least one tick, since the length is a divisor.
        .map_or(1.0, |end| end.saturating_sub(start).max(1) as f64);
    let mut ticker = Ticker {
        progress,
        start,
        length,
        from: 0.0,
        share: SHARE,
        events: 0,
    };
    let mut interrupted = false;
    let seen = Arc::clone(&ahead.seen);
    let mut visited = 0u64;
    let in_order = |event: &RawEvent<'_>| {
        c.event(event);
        visited += 1;
        if !visited.is_multiple_of(PULSE) {
            // Asking for every event would cost more than the work for it.
            return ControlFlow::Continue(());
        }
        let flow = ticker.reach(seen.load(Ordering::Relaxed), event.timestamp);
        interrupted |= flow.is_break();
        flow
    };
    let pass = session.for_each_wanted(|event| ahead.event(event, session.clock()), in_order)?;
    if interrupted {
        return Err(ImportError::Interrupted);
    }
    let patience = ahead.patience_of_rows(session.clock().frequency);
    let sample_interval = c.sample_interval();
    let FirstPass {
        facts,
        mut builder,
        mut dotnet,
        scripts,
    } = c.first;
    let first_pass::Tally {
        config,
        mut decoder,
        ..
    } = facts;
    let Ahead {
        counts,
        mentions,
        mut disk_queues,
        ..
    } = ahead;
    // Requests were collected in any order, and depths need them in that of time.
    disk_queues.sort();
    // Mentions come from the loading thread. They have to be there before instances are numbered.
    builder.mentioned_elsewhere(mentions);
    let mut methods = dotnet.finish_methods();
    let dropped_maps = dotnet.dropped_maps();
    let mut runtime_modules = dotnet.finish_modules();
    scripts.give(&mut methods, &mut runtime_modules);
    decoder.finish_observing();
    // The pointer size is known only after all headers were read.
    let mut directory = builder.finish(session.pointer_size(), session.clock().frequency);
    directory.find_gaps(session, &pass.damage);
    let mut pids: Vec<u32> = ahead.pids.into_iter().collect();
    // The IDs come out of a hash set, and instances are numbered in the order in which they are
    // made.
    pids.sort_unstable();
    // Without process events these are all that is known of a process; rows still name its ID.
    pids.into_iter()
        .for_each(|pid| directory.processes.mention(pid));
    let assemblies = Assemblies::new(&directory, &methods, &runtime_modules, session.clock());
    let collected = Collected {
        processors: Processors::of(session, &config, &counts),
        is_of_sequence: session
            .files()
            .iter()
            .any(|file| file.header().log_file_mode & mode::NEW_FILE != 0),
        parts: reach::parts(session, &counts),
        directory,
        methods,
        dropped_maps,
        assemblies,
        has_interrupts: ahead.has_interrupts,
        // Asked once here, and not for each file event of the second pass.
        has_mini_filters: counts
            .identities()
            .any(|(identity, _)| MINI_FILTERS.includes(&identity)),
        end: end_of(session, &counts),
        last: counts.times().map(|(_, last)| last),
        patience,
        sample_interval,
        kernel_network: ahead.kernel_network,
        events: counts.total(),
        event_bytes: ahead.event_bytes,
        cores: c.cores,
        counters: c.counters,
        object_types: ahead.object_types,
        disk_queues,
        config,
        decoder,
    };
    Ok((collected, counts))
}
