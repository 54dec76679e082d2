//! Number of events of each kind in each second of the trace.
//!
//! Counting sees every event, so it has to be cheap: a kind is found once in a table (kernel
//! events) or a map (all others), and the counters of the current second are adjacent. Stacks come
//! later than their events; seconds stay open until no stack can come for their events any more.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::sync::Arc;

use etwkit_decode::clr;
use etwkit_decode::kernel::merge::IMAGE_ID;
use etwkit_decode::kernel::stack::{Owner, opcode};
use etwkit_decode::kernel::{Hook, group};
use etwkit_decode::schema::Source;
use etwkit_etl::bytes::align8;
use etwkit_etl::clock::Clock;
use etwkit_etl::wire::extended::kind as item;
use etwkit_etl::{Identity, RawEvent};
use rustc_hash::FxHashMap;

use crate::declared::sums;
use crate::import::pipeline::{Context, Declaration, Learned, Range};
use crate::sink::{Sink, SinkError};
use crate::table::{EventCount, Row};

/// Every event is counted, in addition to the importer that takes it, so this importer claims none.
pub(crate) const DECLARATION: Declaration = Declaration {
    tables: &[sums(EventCount::TABLE)],
    ..Declaration::EMPTY
};

/// Maximum number of kinds counted separately; all later ones are counted together. Large traces
/// have some thousands.
const MAX_KINDS: usize = 1 << 14;

/// Maximum number of events that wait for stacks: a trace with more of them loses stacks of the
/// oldest.
const MAX_LOGGED: usize = 1 << 18;

/// Maximum number of events with one time that are searched for the event of a stack: clocks that
/// stand still for a while have thousands, malicious traces any number.
const MAX_ALIKE: usize = 1 << 8;

/// Maximum number of threads for which the last event of the .NET runtime is remembered. Its stack
/// comes as the next event.
const MAX_THREADS: usize = 1 << 16;

/// Maximum number of open seconds: stacks come within a minute, and only damaged files go back in
/// time.
const MAX_OPEN: usize = 64;

/// Number of versions of kernel events that are counted without a map.
const DIRECT_VERSIONS: usize = 4;

/// Number of a kind; 0 means all that are not counted separately.
type KindId = u16;

/// The columns of a kind.
#[derive(Debug, Clone, Default)]
struct Kind {
    kernel_group: Option<i32>,
    provider_guid: Option<Arc<str>>,
    provider: Option<Arc<str>>,
    name: Option<Arc<str>>,
    /// ID, opcode and version.
    numbers: Option<(i32, i32, i32)>,
    /// Number of stacks so far. If several events have the same time, the kind that had stacks
    /// before is preferred.
    stacks: u64,
}

/// The kinds that were met.
struct Kinds {
    all: Vec<Kind>,
    /// Numbers of kernel events by hook ID and version; 0 if there is none yet.
    direct: Vec<KindId>,
    by_identity: FxHashMap<Identity, KindId>,
    guids: FxHashMap<etwkit_etl::Guid, Arc<str>>,
}

impl Default for Kinds {
    fn default() -> Self {
        Self {
            // Kind 0 collects the events of all kinds beyond the limit.
            all: vec![Kind::default()],
            direct: vec![0; DIRECT_VERSIONS << 16],
            by_identity: FxHashMap::default(),
            guids: FxHashMap::default(),
        }
    }
}

impl Kinds {
    #[inline]
    fn of(&mut self, event: &RawEvent<'_>, context: &mut Context<'_>) -> KindId {
        let version = usize::from(event.version());
        // Kernel events are most of a trace, and their kind is two bytes and a version. A table
        // that is indexed by them saves a hash for each event.
        let place = event.hook_id().filter(|_| version < DIRECT_VERSIONS);
        let place = place.map(|hook| usize::from(hook) * DIRECT_VERSIONS + version);
        match place.and_then(|place| self.direct.get(place)) {
            Some(known) if *known != 0 => *known,
            _ => self.find(place, event, context),
        }
    }

    fn find(
        &mut self,
        place: Option<usize>,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
    ) -> KindId {
        let identity = event.identity();
        if let Some(known) = self.by_identity.get(&identity) {
            return *known;
        }
        // Numbers are two bytes, since each event that waits for its stack keeps one.
        let next = KindId::try_from(self.all.len());
        let Some(id) = next.ok().filter(|_| self.all.len() < MAX_KINDS) else {
            context.notes.kinds_together += 1;
            return 0;
        };
        let kind = self.describe(identity, event, context);
        self.all.push(kind);
        // A kind is in one of the two maps only: a kernel event with a small version is always
        // looked up by its place.
        match place.and_then(|place| self.direct.get_mut(place)) {
            Some(direct) => *direct = id,
            None => _ = self.by_identity.insert(identity, id),
        }
        id
    }

    fn describe(
        &mut self,
        identity: Identity,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
    ) -> Kind {
        let (kernel_group, guid, numbers) = match identity {
            Identity::Kernel {
                group,
                opcode,
                version,
            } => (Some(group.into()), None, (0, opcode.into(), version.into())),
            Identity::Classic {
                class,
                opcode,
                version,
            } => (None, Some(class), (0, opcode.into(), version.into())),
            Identity::Manifest {
                provider,
                id,
                version,
                opcode,
            } => (
                None,
                Some(provider),
                (id.into(), opcode.into(), version.into()),
            ),
            Identity::Message { guid, number } => (None, Some(guid), (number.into(), 0, 0)),
        };
        // The decoder is asked once for each kind and not for each event: finding a schema costs
        // far more than counting.
        let plan = context.decoder.plan(event);
        let schema = plan.as_ref().map(|plan| plan.schema());
        let of_guid = || guid.and_then(|guid| context.decoder.provider_name(guid));
        // Events that describe themselves share IDs, so the first one is not representative.
        let named = schema
            .filter(|schema| schema.source != Source::TraceLogging && !schema.name.is_empty());
        Kind {
            kernel_group,
            provider_guid: guid.map(|guid| {
                Arc::clone(
                    self.guids
                        .entry(guid)
                        .or_insert_with(|| Arc::from(guid.to_string())),
                )
            }),
            provider: schema
                .and_then(|schema| schema.provider_name.clone())
                .or_else(of_guid),
            name: named.map(|schema| Arc::from(&*schema.name)),
            numbers: Some(numbers),
            stacks: 0,
        }
    }
}

/// Events of one kind in one second.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    events: i64,
    bytes: i64,
    stacks: i64,
}

/// A second whose stacks may still come.
#[derive(Debug, Default)]
struct Second {
    number: i64,
    /// Counts indexed by the number of the kind.
    counts: Vec<Count>,
}

impl Second {
    #[inline]
    fn count(&mut self, kind: KindId) -> Option<&mut Count> {
        let at = usize::from(kind);
        if at >= self.counts.len() {
            // Kinds are numbered in the order in which they appear, so a second that lacks the late
            // ones stays short.
            self.counts.resize(at + 1, Count::default());
        }
        self.counts.get_mut(at)
    }
}

/// An event whose stack may still come.
#[derive(Debug, Clone, Copy)]
struct Logged {
    time: i64,
    kind: KindId,
    cpu: u16,
    /// Bits of the halves of its stack that have arrived.
    halves: u8,
}

const KERNEL_HALF: u8 = 1;
const USER_HALF: u8 = 2;
const WHOLE: u8 = 4;

impl Logged {
    /// True if a half may still come. A whole stack may come in two events; the event that has the
    /// first part takes also the second one.
    const fn lacks(self, half: u8) -> bool {
        self.halves & half == 0 || half == WHOLE
    }
}

/// Events of the time of the last stack: how many, from the first one on, have their kernel half,
/// and how many their user half.
#[derive(Debug, Clone, Copy, Default)]
struct Taken {
    time: i64,
    kernel: usize,
    user: usize,
}

/// True if a stack that names the time of the event may be its own. Stacks have no stacks, and the
/// merge step gives the identity of an image the time of the event that loaded it.
fn can_have_stack(hook: Option<Hook>, event: &RawEvent<'_>) -> bool {
    match hook {
        Some(hook) => hook.group != group::STACK,
        None => event.provider() != IMAGE_ID,
    }
}

/// Counts events.
pub(crate) struct EventCounter {
    clock: Clock,
    range: Range,
    /// Maximum delay of stacks after their events, in raw ticks.
    patience: i64,
    kinds: Kinds,
    /// Open seconds in their order, the present one last.
    seconds: VecDeque<Second>,
    /// Raw times of the current second: its first tick, and the first one after it.
    present: (i64, i64),
    /// Counters of seconds that were written, to be reused.
    spare: Vec<Count>,
    logged: VecDeque<Logged>,
    taken: Taken,
    /// Kind and second of the last event of the .NET runtime of each thread.
    of_runtime: FxHashMap<u32, (KindId, i64)>,
}

impl EventCounter {
    pub(crate) fn new(learned: Learned<'_>, range: Range) -> Self {
        Self {
            clock: *learned.session.clock(),
            range,
            patience: learned.collected.patience,
            kinds: Kinds::default(),
            seconds: VecDeque::new(),
            present: (i64::MAX, i64::MIN),
            spare: Vec::new(),
            logged: VecDeque::new(),
            taken: Taken::default(),
            of_runtime: FxHashMap::default(),
        }
    }

    /// Counts an event. Events come in order of time.
    #[inline]
    pub(crate) fn event(
        &mut self,
        hook: Option<Hook>,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        if let Some(Hook {
            group: group::STACK,
            opcode,
            ..
        }) = hook
        {
            // This precedes the check of the range: a stack just after the range may belong to an
            // event in it.
            self.stack_event(opcode, event);
        }
        let time = event.timestamp;
        // The comparison with the whole trace comes first, since a conversion to nanoseconds is a
        // division in 128 bits.
        if self.range != Range::ALL && !self.range.contains(self.clock.nanoseconds(time)) {
            return Ok(());
        }
        // Compared in raw ticks: nearly all events are in the second of the event before, and two
        // comparisons are cheaper than a conversion.
        if !(self.present.0..self.present.1).contains(&time) {
            self.go_to(time, context, sink)?;
        }
        let kind = self.kinds.of(event, context);
        if let Some(count) = self
            .seconds
            .back_mut()
            .and_then(|second| second.count(kind))
        {
            count.events += 1;
            // Records are aligned to eight bytes in a buffer, so the padding counts as well: sums
            // are what the events cost of the buffers.
            count.bytes = count
                .bytes
                .saturating_add(align8(event.record.len()) as i64);
        }
        // Events of manifest providers carry their stack as an item of the record. It does not come
        // later as an event of its own.
        if event.kind.is_manifest() {
            self.own_stack(kind, event);
        // With no patience the trace has no stacks at all, and nothing has to be remembered.
        } else if self.patience > 0 && can_have_stack(hook, event) {
            let gone = time.saturating_sub(self.patience);
            // Both bounds are needed: the time bounds an ordinary trace, the number a burst of
            // events with one time.
            while self.logged.len() >= MAX_LOGGED
                || self.logged.front().is_some_and(|old| old.time < gone)
            {
                self.logged.pop_front();
            }
            self.logged.push_back(Logged {
                time,
                kind,
                cpu: event.cpu,
                halves: 0,
            });
        }
        Ok(())
    }

    /// Takes a stack in the event itself, or in the following event of the .NET runtime.
    fn own_stack(&mut self, kind: KindId, event: &RawEvent<'_>) {
        let has = |kind| event.extended().find(kind).is_some();
        if has(item::STACK_TRACE_64) || has(item::STACK_TRACE_32) {
            self.add_stack(kind, self.second_of(event.timestamp));
            return;
        }
        let Some(tid) = event
            .thread_id()
            // The .NET runtime logs its stacks as events of its own provider, directly after the
            // event and on the same thread.
            .filter(|_| event.provider() == clr::RUNTIME)
        else {
            return;
        };
        if clr::is_stack(event) {
            // Taken out: a second stack without another event in between belongs to nothing that is
            // known.
            if let Some((kind, second)) = self.of_runtime.remove(&tid) {
                self.add_stack(kind, second);
            }
        } else if self.of_runtime.len() < MAX_THREADS || self.of_runtime.contains_key(&tid) {
            self.of_runtime
                .insert(tid, (kind, self.second_of(event.timestamp)));
        }
    }

    /// Takes a stack that is an event of its own.
    fn stack_event(&mut self, kind: u8, event: &RawEvent<'_>) {
        let half = match kind {
            opcode::STACK => WHOLE,
            opcode::REFERENCE_KERNEL => KERNEL_HALF,
            opcode::REFERENCE_USER => USER_HALF,
            _ => return,
        };
        let Some(owner) = Owner::parse(event.payload()) else {
            return;
        };
        // Events of one time are searched from the first that lacks this half, since traces exist
        // in which thousands have one time.
        let from = self.first_lacking(owner.timestamp, half);
        let alike = self.logged.range(from..).take(MAX_ALIKE);
        let alike = alike.take_while(|logged| logged.time == owner.timestamp);
        let stacks = |kind: KindId| {
            self.kinds
                .all
                .get(usize::from(kind))
                .map_or(0, |kind| kind.stacks)
        };
        // A stack is logged on the processor of its event. Among candidates, the kind that had
        // stacks before is more likely, because stacks are recorded for some kinds only; otherwise
        // the earliest is taken.
        let likely =
            |at, logged: &Logged| (logged.cpu == event.cpu, stacks(logged.kind), Reverse(at));
        let lacking = alike.enumerate().filter(|(_, logged)| logged.lacks(half));
        let best = lacking.max_by_key(|(at, logged)| likely(*at, logged));
        let Some((at, _)) = best else { return };
        let Some(logged) = self.logged.get_mut(from + at) else {
            return;
        };
        let is_first = logged.halves == 0;
        logged.halves |= half;
        let Logged { time, kind, .. } = *logged;
        // Both halves are one stack.
        if is_first {
            self.add_stack(kind, self.second_of(time));
        }
    }

    /// Index of the first event of a raw time that may lack a half, otherwise of the first later
    /// event. If many events have one time, the ones that already have the half are not searched
    /// again for each stack.
    fn first_lacking(&mut self, time: i64, half: u8) -> usize {
        let first = self.first_at(time);
        // Stacks come in the order of their events, so the position is kept only for the time of
        // the last stack.
        if self.taken.time != time {
            self.taken = Taken {
                time,
                ..Taken::default()
            };
        }
        let taken = match half {
            KERNEL_HALF => &mut self.taken.kernel,
            USER_HALF => &mut self.taken.user,
            // No event stops lacking a whole stack, so none can be skipped.
            _ => return first,
        };
        let alike = self.logged.iter().skip(first + *taken).take(MAX_ALIKE);
        *taken += alike
            .take_while(|logged| logged.time == time && !logged.lacks(half))
            .count();
        (first + *taken).min(self.logged.len())
    }

    /// Index of the first event that was logged at a raw time or later. Nearly all stacks come
    /// directly after their events, so the search starts at the end.
    fn first_at(&self, time: i64) -> usize {
        let is_before = |at: usize| self.logged.get(at).is_some_and(|logged| logged.time < time);
        // Doubling steps bracket the position, then binary search finds it: a few comparisons for a
        // stack that comes soon, and still logarithmic for one that comes late.
        let mut low = self.logged.len();
        let mut high = self.logged.len();
        let mut step = 1;
        while low > 0 && !is_before(low - 1) {
            high = low - 1;
            low = high.saturating_sub(step);
            step *= 2;
        }
        while low < high {
            let middle = low.midpoint(high);
            if is_before(middle) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        high
    }

    fn add_stack(&mut self, kind: KindId, second: i64) {
        if let Some(kind) = self.kinds.all.get_mut(usize::from(kind)) {
            kind.stacks += 1;
        }
        let second = self
            .seconds
            .iter_mut()
            .rev()
            // From the back, since the second of a stack is the present one or the one before.
            .find(|open| open.number == second);
        if let Some(count) = second.and_then(|second| second.count(kind)) {
            count.stacks += 1;
        }
    }

    /// The second of a raw time; the frequency is never 0.
    fn second_of(&self, time: i64) -> i64 {
        time.saturating_sub(self.clock.t0)
            .div_euclid(self.clock.frequency)
    }

    /// Makes the second of a raw time the current one, and writes seconds for which all stacks have
    /// arrived.
    #[cold]
    fn go_to(
        &mut self,
        time: i64,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let number = self.second_of(time);
        let begin = number
            .saturating_mul(self.clock.frequency)
            // The second begins at a whole number of ticks since time zero. A clock frequency
            // divides a second exactly, so no event falls between two seconds.
            .saturating_add(self.clock.t0);
        self.present = (begin, begin.saturating_add(self.clock.frequency));
        // Stacks may come as late as the longest delay that the first pass measured. Until then a
        // second stays open.
        let until = time.saturating_sub(self.patience);
        let oldest = self.second_of(until);
        let is_done =
            |open: &VecDeque<Second>| open.front().is_some_and(|second| second.number < oldest);
        while is_done(&self.seconds) || self.seconds.len() >= MAX_OPEN {
            self.write_front(context, sink)?;
        }
        // Damaged files can go back in time; a second that was already written then gets further
        // rows.
        if self
            .seconds
            .back()
            .is_none_or(|second| second.number != number)
        {
            // The vector of a written second is reused: it is as long as the number of kinds, which
            // would be allocated for each second.
            let counts = std::mem::take(&mut self.spare);
            self.seconds.push_back(Second { number, counts });
        }
        Ok(())
    }

    fn write_front(
        &mut self,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let Some(mut second) = self.seconds.pop_front() else {
            return Ok(());
        };
        // Declared with the first row and not at the start: a trace without events has no such
        // table.
        context.tables.declare(DECLARATION.tables);
        for (count, kind) in second
            .counts
            .iter()
            // A kind without events in this second gets no row; most kinds are rare.
            .zip(&self.kinds.all)
            .filter(|(count, _)| count.events > 0)
        {
            context
                .tables
                .push(&row(second.number, kind, *count), sink)?;
        }
        second.counts.clear();
        self.spare = second.counts;
        Ok(())
    }

    /// Writes the remaining seconds.
    pub(crate) fn finish(
        mut self,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        while !self.seconds.is_empty() {
            self.write_front(context, sink)?;
        }
        Ok(())
    }
}

fn row(second: i64, kind: &Kind, count: Count) -> EventCount {
    EventCount {
        second,
        kernel_group: kind.kernel_group,
        provider_guid: kind.provider_guid.clone(),
        provider: kind.provider.clone(),
        name: kind.name.clone(),
        event_id: kind.numbers.map(|(id, ..)| id),
        opcode: kind.numbers.map(|(_, opcode, _)| opcode),
        version: kind.numbers.map(|(.., version)| version),
        events: count.events,
        record_bytes: count.bytes,
        stacks: count.stacks,
    }
}
