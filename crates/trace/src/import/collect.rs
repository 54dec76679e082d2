//! The first walk: what names and addresses mean, and how the second walk has to wait.

use std::ops::ControlFlow;

use etwkit_decode::Decoder;
use etwkit_decode::kernel::sample::{self, Interval};
use etwkit_decode::kernel::stack::{self, Owner};
use etwkit_decode::kernel::{Hook, group, net};
use etwkit_etl::{Order, RawEvent, Session};
use rustc_hash::FxHashSet;

use super::cores::Cores;
use super::counters::CounterNames;
use super::{ImportError, Progress, Ticker};
use crate::directory::Directory;
use crate::first_walk::{self, FirstWalk};
use crate::summary::{Recorded, SystemConfig, end_of, recorded};
use crate::tracker::method::MethodTracker;

/// Part of the work that the first walk is; measured on scenario traces.
pub(super) const SHARE: f64 = 0.3;

/// Seconds that a stack may come behind its event at most; in the traces at hand it is 0.4.
const MAX_PATIENCE_S: i64 = 60;

/// What the first walk learned.
pub(super) struct Collected {
    pub(super) directory: Directory,
    pub(super) methods: MethodTracker,
    pub(super) config: SystemConfig,
    pub(super) decoder: Decoder,
    pub(super) recorded: Vec<Recorded>,
    /// Raw ticks that the latest stack came behind its event.
    pub(super) patience: i64,
    /// Interval of the samples at the start, in units of 100 ns.
    pub(super) sample_interval: Option<u32>,
    /// Whether the kernel logger recorded network transfers; those of the provider would be the same again.
    pub(super) kernel_network: bool,
    /// Processors.
    pub(super) cores: Cores,
    /// Performance counters.
    pub(super) counters: CounterNames,
    /// Raw time of the end.
    pub(super) end: i64,
    pub(super) events: u64,
    /// Bytes of all events, decompressed.
    pub(super) event_bytes: u64,
}

#[derive(Default)]
struct Collector {
    first: FirstWalk,
    patience: i64,
    first_interval: Option<u32>,
    end_interval: Option<u32>,
    changed_from: Option<u32>,
    kernel_network: bool,
    cores: Cores,
    counters: CounterNames,
    event_bytes: u64,
    /// Process ids that headers name.
    pids: FxHashSet<u32>,
}

impl Collector {
    fn event(&mut self, event: &RawEvent<'_>) {
        let hook = self.first.observe(event);
        // Records lie on multiples of eight bytes.
        self.event_bytes += event.record.len().next_multiple_of(8) as u64;
        self.cores.observe(hook, event);
        let Some(hook) = hook else {
            self.pids.extend(event.process_id());
            return;
        };
        match hook.group {
            group::STACK => self.stack(hook, event),
            group::PERFINFO => {
                self.counters.observe(hook, event);
                if (72..=74).contains(&hook.opcode) {
                    self.interval(hook, event);
                }
            }
            group::TCP => self.kernel_network |= net::tcp_operation(hook.opcode).is_some(),
            group::UDP => self.kernel_network |= net::udp_operation(hook.opcode).is_some(),
            _ => {}
        }
    }

    fn stack(&mut self, hook: Hook, event: &RawEvent<'_>) {
        use stack::opcode::{REFERENCE_KERNEL, REFERENCE_USER, STACK};
        if matches!(hook.opcode, STACK | REFERENCE_KERNEL | REFERENCE_USER)
            && let Some(owner) = Owner::parse(event.payload())
        {
            self.patience = self.patience.max(event.timestamp.saturating_sub(owner.timestamp));
        }
    }

    fn interval(&mut self, hook: Hook, event: &RawEvent<'_>) {
        let Some(interval) = Interval::parse(event.payload()).filter(|i| i.source == 0) else { return };
        match hook.opcode {
            sample::opcode::INTERVAL_START => _ = self.first_interval.get_or_insert(interval.new),
            sample::opcode::INTERVAL_SET => _ = self.changed_from.get_or_insert(interval.old),
            _ => self.end_interval = Some(interval.new),
        }
    }
}

/// Reads the session once.
pub(super) fn collect(
    session: &Session,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Collected, ImportError> {
    let mut c = Collector { first: FirstWalk::new(session), ..Collector::default() };
    let start = session.clock().t0;
    let length = session.files().first().map_or(1.0, |file| {
        let h = file.header();
        let span = h.end_time.saturating_sub(h.start_time).max(1) as f64 / 1e7;
        span * session.clock().frequency as f64
    });
    let mut ticker = Ticker { progress, start, length, from: 0.0, share: SHARE, events: 0 };
    let mut interrupted = false;
    session.for_each(Order::Time, |event| {
        c.event(event);
        let flow = ticker.tick(event.timestamp);
        interrupted |= flow.is_break();
        flow
    })?;
    if interrupted {
        return Err(ImportError::Interrupted);
    }
    let FirstWalk { facts, builder, mut dotnet } = c.first;
    let first_walk::Tally { counts, config, mut decoder } = facts;
    let methods = dotnet.finish_methods();
    decoder.finish_observing();
    let mut directory = builder.finish(session.pointer_size());
    let mut pids: Vec<u32> = c.pids.into_iter().collect();
    pids.sort_unstable();
    // Without process events these are all that is known of a process; rows still name its id.
    pids.into_iter().for_each(|pid| directory.processes.mention(pid));
    let limit = MAX_PATIENCE_S.saturating_mul(session.clock().frequency);
    Ok(Collected {
        directory,
        methods,
        recorded: recorded(counts.identities()),
        end: end_of(session, &counts),
        patience: c.patience.clamp(0, limit),
        sample_interval: c.first_interval.or(c.changed_from).or(c.end_interval),
        kernel_network: c.kernel_network,
        cores: c.cores,
        counters: c.counters,
        events: ticker.events,
        event_bytes: c.event_bytes,
        config,
        decoder,
    })
}
