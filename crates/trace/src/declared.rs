//! The vocabulary of importer declarations: events, tables and topics, all of them plain data.

use etwkit_decode::kernel::group_mask::GroupMask;
use etwkit_decode::kernel::{self, Hook};
use etwkit_etl::{Guid, Identity};

use crate::table::Table;

/// A set of event kinds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Events {
    /// Kernel events of a group, with one of these types.
    Kernel(u8, &'static [u8]),
    /// Kernel events of a group, with all types from the first to the last one.
    KernelBetween(u8, u8, u8),
    /// Events of a provider, with one of these IDs; all of them if none is given.
    Provider(Guid, &'static [u16]),
    /// Classic events of a class that is none of the kernel's.
    Class(Guid),
}

impl Events {
    /// True if the declaration includes the events with that identity.
    pub(crate) fn includes(self, identity: &Identity) -> bool {
        match (self, identity) {
            (
                Self::Kernel(..) | Self::KernelBetween(..),
                Identity::Kernel { .. } | Identity::Classic { .. },
            ) => kernel::hook_of(identity)
                .is_some_and(|(group, opcode)| self.includes_type(group, opcode)),
            (Self::Provider(guid, ids), Identity::Manifest { provider, id, .. }) => {
                guid == *provider && (ids.is_empty() || ids.contains(id))
            }
            (Self::Class(guid), Identity::Classic { class, .. }) => guid == *class,
            _ => false,
        }
    }

    /// True if the declaration includes kernel events of that group and type.
    pub(crate) const fn includes_type(self, group: u8, opcode: u8) -> bool {
        match self {
            Self::Kernel(own, mut types) => {
                while let [first, rest @ ..] = types {
                    if own == group && *first == opcode {
                        return true;
                    }
                    types = rest;
                }
                false
            }
            Self::KernelBetween(own, first, last) => {
                own == group && first <= opcode && opcode <= last
            }
            Self::Provider(..) | Self::Class(_) => false,
        }
    }
}

/// Kinds of kernel events: 256 groups of 256 types.
pub(crate) const KINDS: usize = 1 << 16;

/// Index of a kind of kernel events in a table of all kinds.
pub(crate) const fn kind(group: u8, opcode: u8) -> usize {
    (group as usize) << 8 | opcode as usize
}

/// Dispatch table for kernel events: for each kind, a bit mask of the importers that handle it.
pub(crate) struct ImporterDispatch([u8; KINDS]);

impl ImporterDispatch {
    /// Combines up to eight lists; the n-th list gets the n-th bit.
    #[expect(
        clippy::indexing_slicing,
        reason = "done when this is compiled: what is outside does not compile"
    )]
    pub(crate) const fn of(mut by: &[&[Events]]) -> Self {
        // Loops over shrinking slices, here and in `includes_type`: iterators cannot run in
        // constant evaluation.
        let mut kinds = [0; KINDS];
        let mut bit = 1u8;
        while let [first, rest @ ..] = by {
            let mut left = *first;
            while let [events, others @ ..] = left {
                if let Events::Kernel(group, _) | Events::KernelBetween(group, ..) = *events {
                    let mut opcode = 0;
                    while opcode < 256 {
                        if events.includes_type(group, opcode as u8) {
                            kinds[kind(group, opcode as u8)] |= bit;
                        }
                        opcode += 1;
                    }
                }
                left = others;
            }
            bit <<= 1;
            by = rest;
        }
        Self(kinds)
    }

    /// Bit mask of the importers that handle a kind; 0 if none does.
    #[inline]
    pub(crate) fn by(&self, hook: Hook) -> u8 {
        self.0
            .get(kind(hook.group, hook.opcode))
            .map_or(0, |importers| *importers)
    }
}

/// The amount of detail in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// A row for each event or operation: summaries leave the table out.
    Row,
    /// Names, sums, and rare events: summaries keep the table.
    Sum,
}

/// A table that an importer fills.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Filled {
    pub(crate) table: &'static Table,
    pub(crate) detail: Detail,
}

/// A table with a row for each event.
pub(crate) const fn rows(table: &'static Table) -> Filled {
    Filled {
        table,
        detail: Detail::Row,
    }
}

/// A table of names or sums.
pub(crate) const fn sums(table: &'static Table) -> Filled {
    Filled {
        table,
        detail: Detail::Sum,
    }
}

/// Something that a trace can have recorded.
#[derive(Debug, Clone, Copy)]
pub struct Topic {
    /// Its rank among all topics, the most requested first.
    pub(crate) place: u16,
    /// Name of the topic.
    pub name: &'static str,
    /// The question that it answers.
    pub answers: &'static str,
    /// The way to record it: keywords of the kernel logger in the spelling of xperf and WPR, or a
    /// provider.
    pub recorded_by: &'static str,
    /// The events that say that it was recorded.
    pub(crate) events: &'static [Events],
    /// The tables, computed ones included, that are empty unless this topic, or another that names
    /// them, was recorded. Columns that it adds to other tables do not count.
    pub(crate) tables: &'static [&'static Table],
}

/// Keywords of the kernel logger whose events a machine need not write. Without any of all others they
/// were not recorded, whatever was enabled: a file may hold a part of what its session recorded.
const RARE: [&str; 1] = ["HARD_FAULTS"];

impl Topic {
    /// True if the kernel logger recorded the topic and need not have written any of it.
    fn may_be_silent(&self, enabled: GroupMask) -> bool {
        let is_silent = |keyword: &str| enabled.has(keyword) && RARE.contains(&keyword);
        self.recorded_by.split('+').all(is_silent)
    }
}

/// A topic and how many events of it there are.
#[derive(Debug, Clone, Copy)]
pub struct Recorded {
    /// The topic.
    pub topic: Topic,
    /// Its events.
    pub events: u64,
    /// True if the trace has events of it, or if it was enabled and nothing happened.
    pub is_recorded: bool,
}

/// Number of events of each topic. `enabled` are the events that the kernel logger was to record.
pub(crate) fn recorded(
    topics: &[&Topic],
    counts: impl Iterator<Item = (Identity, u64)>,
    enabled: GroupMask,
) -> Vec<Recorded> {
    let mut rows: Vec<Recorded> = topics
        .iter()
        .map(|topic| Recorded {
            topic: **topic,
            events: 0,
            is_recorded: topic.may_be_silent(enabled),
        })
        .collect();
    for (identity, n) in counts {
        for row in &mut rows {
            if row
                .topic
                .events
                .iter()
                .any(|events| events.includes(&identity))
            {
                row.events += n;
                row.is_recorded = true;
            }
        }
    }
    rows
}
