//! Running and waiting threads at the start of a part, and threads that return after it.

use etwkit_decode::kernel::scheduler::{ContextSwitch, ReadyThread, opcode};
use etwkit_decode::kernel::{Hook, group, thread};
use etwkit_etl::RawEvent;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::needed::{Id, Needed};
use crate::part::PartSide;

/// A ready event with the switch that brought the thread that logged it.
type Ready = (Id, Option<Id>);

/// The last known state of a thread.
#[derive(Debug, Default)]
struct Thread {
    /// It was taken off.
    out: Option<Id>,
    /// Ready events: the first and the last one before it was switched out, and the first one
    /// since.
    first: Option<Ready>,
    last: Option<Ready>,
    since: Option<Ready>,
}

impl Thread {
    fn events(&self) -> impl Iterator<Item = Id> {
        let ready = [self.first, self.last, self.since].into_iter().flatten();
        self.out
            .into_iter()
            .chain(ready.flat_map(|(ready, by)| by.into_iter().chain([ready])))
    }
}

/// Follows processors and threads.
#[derive(Debug, Default)]
pub(crate) struct Switches {
    /// The switch that brought the thread of each processor, and that thread.
    running: FxHashMap<u16, (Id, u32)>,
    threads: FxHashMap<u32, Thread>,
    /// Processors that switched after the part.
    switched: FxHashSet<u16>,
    /// Threads that were switched in, and out, before: their first switches give the time and place
    /// of their start.
    came: FxHashSet<u32>,
    went: FxHashSet<u32>,
    /// True if some events are filtered out.
    is_filtered: bool,
}

impl Switches {
    pub(crate) fn new(is_filtered: bool) -> Self {
        Self {
            is_filtered,
            ..Self::default()
        }
    }

    pub(crate) fn running_on(&self, cpu: u16) -> Option<u32> {
        self.running.get(&cpu).map(|(_, tid)| *tid)
    }

    /// Called at the start of the part: the state known so far is needed.
    pub(crate) fn begin(&self, needed: &mut Needed) {
        // What runs on each processor when the part begins.
        self.running.values().for_each(|(id, _)| needed.add(*id));
        self.threads
            .values()
            .flat_map(Thread::events)
            .for_each(|id| needed.add(id));
    }

    /// Takes an event. Events that the filters reject only update the running threads.
    pub(crate) fn event(
        &mut self,
        hook: Hook,
        event: &RawEvent<'_>,
        place: PartSide,
        is_wanted: bool,
        needed: &mut Needed,
    ) {
        if (hook.group, hook.opcode) == (group::THREAD, thread::opcode::START)
            && let Some(started) = thread::Thread::parse(event.payload(), hook.version)
        {
            // The first switch of the new thread counts anew.
            // From here on, the ID belongs to another thread.
            self.came.remove(&started.tid);
            self.went.remove(&started.tid);
        }
        if hook.group != group::THREAD
            || !matches!(hook.opcode, opcode::CONTEXT_SWITCH | opcode::READY_THREAD)
        {
            // The thread that runs is the one that an event without IDs is of.
            if self.is_filtered
                && is_wanted
                && place == PartSide::Within
                && event.thread_id().is_none()
            {
                self.running
                    .get(&event.cpu)
                    .into_iter()
                    .for_each(|(id, _)| needed.add(*id));
            }
            return;
        }
        // Still followed, as later events without IDs belong to the thread that runs.
        if !is_wanted {
            if hook.opcode == opcode::CONTEXT_SWITCH
                && let Some(switch) = ContextSwitch::parse(event.payload())
            {
                self.running
                    .insert(event.cpu, (Id::of(event), switch.new_tid));
            }
            return;
        }
        if hook.opcode == opcode::CONTEXT_SWITCH {
            if let Some(switch) = ContextSwitch::parse(event.payload()) {
                self.switch(&switch, event, place, needed);
            }
        } else if hook.opcode == opcode::READY_THREAD
            && let Some(ready) = ReadyThread::parse(event.payload())
        {
            self.ready(ready.tid, event, place, needed);
        }
    }

    fn switch(
        &mut self,
        switch: &ContextSwitch,
        event: &RawEvent<'_>,
        place: PartSide,
        needed: &mut Needed,
    ) {
        let id = Id::of(event);
        self.running.insert(event.cpu, (id, switch.new_tid));
        // The first switch-in of a thread is needed, because it shows when the thread ran first.
        if self.came.insert(switch.new_tid) {
            needed.add(id);
            let ready = self.threads.get(&switch.new_tid).map(Thread::events);
            ready.into_iter().flatten().for_each(|id| needed.add(id));
        }
        if self.went.insert(switch.old_tid) {
            needed.add(id);
        }
        // A thread that was off before the part comes back now.
        let came_back = self
            .threads
            .remove(&switch.new_tid)
            .is_some_and(|thread| thread.out.is_some());
        if place == PartSide::Behind {
            // The first switch of a processor ends the slice that extends beyond the part. The
            // first return of a thread ends its wait. Threads switched out after the part do not
            // matter any more.
            if self.switched.insert(event.cpu) || came_back {
                needed.add_behind(event);
            }
            self.threads.remove(&switch.old_tid);
            return;
        }
        if switch.old_tid != 0 {
            let thread = self.threads.entry(switch.old_tid).or_default();
            // The switch-out starts a new wait.
            // Ready events before the switch-out stay: the last of them may have ended this wait
            // before it was logged.
            (thread.out, thread.since) = (Some(id), None);
        }
    }

    fn ready(&mut self, tid: u32, event: &RawEvent<'_>, place: PartSide, needed: &mut Needed) {
        let ready = (
            // The switch that brought the thread which logs this event, so that its name is known.
            Id::of(event),
            self.running.get(&event.cpu).map(|(id, _)| *id),
        );
        if place == PartSide::Behind {
            if let Some(thread) = self.threads.get_mut(&tid)
                && thread.out.is_some()
                && thread.since.replace(ready).is_none()
            {
                needed.add_behind(event);
                ready.1.into_iter().for_each(|by| needed.add(by));
            }
            return;
        }
        if self.is_filtered && place == PartSide::Within {
            ready.1.into_iter().for_each(|by| needed.add(by));
        }
        let thread = self.threads.entry(tid).or_default();
        // Only the first ready event after the switch-out ends the wait.
        if thread.out.is_some() {
            thread.since.get_or_insert(ready);
        } else if thread.first.is_some() {
            thread.last = Some(ready);
        } else {
            thread.first = Some(ready);
        }
    }
}
