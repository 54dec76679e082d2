//! Events outside of a part of the time that its numbers need.

use etwkit_etl::RawEvent;
use rustc_hash::FxHashSet;

/// An event of a session: its file, its buffer, and its place in that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Id(u64, u32);

impl Id {
    pub(crate) fn of(event: &RawEvent<'_>) -> Self {
        // Time stamps do not distinguish events, and records are not numbered; the place in the
        // files does, and is the same in both passes.
        Self(
            u64::from(event.file) << 32 | u64::from(event.buffer),
            event.position,
        )
    }
}

/// The events outside a part that it needs.
#[derive(Debug, Default)]
pub(crate) struct Needed {
    ids: FxHashSet<Id>,
    /// Raw times of the events after the part whose stacks may belong to rows in it.
    times: FxHashSet<i64>,
}

impl Needed {
    pub(crate) fn add(&mut self, id: Id) {
        self.ids.insert(id);
    }

    /// Adds an event after the part.
    pub(crate) fn add_behind(&mut self, event: &RawEvent<'_>) {
        self.ids.insert(Id::of(event));
        self.times.insert(event.timestamp);
    }

    pub(crate) fn contains(&self, event: &RawEvent<'_>) -> bool {
        self.ids.contains(&Id::of(event))
    }

    /// True if the stacks of an event with that raw time are needed, regardless of when they were
    /// logged.
    pub(crate) fn has_stacks_of(&self, time: i64) -> bool {
        self.times.contains(&time)
    }
}
