//! The first pass over a trace: the events outside a part that its numbers need.
//!
//! A part is read as `--range` reads the whole trace: from its start on, with the state known
//! before. So it keeps events that describe the state at its start (running and waiting threads,
//! open reads and writes), and later events that end operations of the part. All stay as they were
//! logged, at their own times.

use etwkit_decode::cut_mark::CutMark;
use etwkit_decode::kernel::{Hook, group, stack};
use etwkit_etl::RawEvent;
use etwkit_etl::clock::Clock;
use etwkit_trace::import::Range;
use rustc_hash::FxHashSet;

use crate::began::began;
use crate::needed::{Id, Needed};
use crate::pairs::Pairs;
use crate::part::{Part, PartSide};
use crate::stack_keys::StackKeys;
use crate::switches::Switches;

/// The results of the first pass.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The requested part.
    pub(crate) asked: Part,
    /// The part that the new trace covers. It is never larger than an earlier cut of the same
    /// trace.
    pub(crate) part: Part,
    pub(crate) needed: Needed,
    /// The part that the trace itself covers, if it was cut before.
    pub(crate) mark: Option<CutMark>,
}

/// Creates a plan. It needs all events, in order of time.
#[derive(Debug)]
pub(crate) struct Planner {
    plan: Plan,
    switches: Switches,
    pairs: Pairs,
    stacks: StackKeys,
    place: PartSide,
    /// Processors that had an event, and the last event of the kernel.
    processors: FxHashSet<u16>,
    last: Option<Id>,
}

impl Planner {
    /// `is_filtered` is true if some events may not be wanted.
    pub(crate) fn new(part: Part, is_filtered: bool) -> Self {
        Self {
            plan: Plan {
                asked: part,
                part,
                needed: Needed::default(),
                mark: None,
            },
            switches: Switches::new(is_filtered),
            pairs: Pairs::default(),
            stacks: StackKeys::default(),
            place: PartSide::Before,
            processors: FxHashSet::default(),
            last: None,
        }
    }

    pub(crate) fn needed(&mut self) -> &mut Needed {
        &mut self.plan.needed
    }

    /// Takes an event. `is_wanted` is true if the filters accept it.
    pub(crate) fn event(&mut self, event: &RawEvent<'_>, is_wanted: bool) {
        if let Some(mark) = CutMark::of(event) {
            self.plan.mark = Some(self.plan.mark.map_or(mark, |before| before.with(mark)));
            return;
        }
        let Some(hook) = Hook::of(event) else { return };
        let Self {
            plan:
                Plan {
                    asked: part,
                    needed,
                    ..
                },
            switches,
            pairs,
            stacks,
            place,
            ..
        } = self;
        if hook.group != group::EVENT_TRACE {
            // From when to when the kernel and each processor were recorded.
            // The first event of each processor tells from when on it was recorded.
            if self.processors.insert(event.cpu) {
                needed.add(Id::of(event));
            }
            self.last = Some(Id::of(event));
        }
        let now = part.place(event.timestamp);
        // The state at the start of the part is that after all events before it.
        if *place == PartSide::Before && now != PartSide::Before {
            switches.begin(needed);
            pairs.begin(needed);
        }
        // Only damaged files go back in time.
        *place = (*place).max(now);
        switches.event(hook, event, *place, is_wanted, needed);
        // Damaged files go back in time and may cross the start twice.
        if !is_wanted {
            return;
        }
        // Its start is in the part, and its end has to be kept.
        if *place == PartSide::Behind && began(hook, event).is_some_and(|began| part.holds(began)) {
            needed.add_behind(event);
        }
        pairs.event(hook, event, switches.running_on(event.cpu), *place, needed);
        // Definitions of keys come after their references, so that only later ones are kept.
        if let Some(key) = stacks.definition(hook, event) {
            needed.add(key);
        } else if keeps_stack(hook, event, part, needed) == Some(true) {
            stacks.reference(hook, event);
        }
    }

    /// The plan.
    pub(crate) fn finish(mut self, clock: &Clock) -> Plan {
        // No event is in the part or after it, so its start was never passed.
        if self.place == PartSide::Before {
            self.switches.begin(&mut self.plan.needed);
            self.pairs.begin(&mut self.plan.needed);
        }
        self.last
            .into_iter()
            .for_each(|last| self.plan.needed.add(last));
        if let Some(mark) = self.plan.mark {
            let Range { start_ns, end_ns } = self.plan.part.range;
            // Outside of an earlier part, only the events that it needed are left. So the new part
            // cannot be larger.
            let range = Range {
                start_ns: start_ns.max(mark.start_ns),
                end_ns: end_ns.min(mark.end_ns),
            };
            self.plan.part = Part::new(range, clock);
        }
        self.plan
    }
}

/// True if the stack that an event holds, or refers to, is kept; `None` if the event has no stack.
pub(crate) fn keeps_stack(
    hook: Hook,
    event: &RawEvent<'_>,
    part: &Part,
    needed: &Needed,
) -> Option<bool> {
    use stack::opcode::{REFERENCE_KERNEL, REFERENCE_USER, STACK};
    if hook.group != group::STACK
        || !matches!(hook.opcode, STACK | REFERENCE_KERNEL | REFERENCE_USER)
    {
        return None;
    }
    let owner = stack::Owner::parse(event.payload());
    let is_of_kept =
        |owner: stack::Owner| part.holds(owner.timestamp) || needed.has_stacks_of(owner.timestamp);
    // By the time of its event and not by its own: stacks come late.
    Some(part.holds(event.timestamp) || owner.is_some_and(is_of_kept))
}
