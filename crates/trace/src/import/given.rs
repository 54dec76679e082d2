//! Stacks on their way to the events they belong to.

use super::arena::{Arena, RawStack};
use crate::tracker::stack::StackId;

/// A stack that is given to an event.
#[derive(Debug, Clone, Copy)]
pub(super) enum Given<'a> {
    /// One that a key stands for.
    Keyed(StackId),
    /// Addresses, innermost first.
    Whole(&'a [u64]),
}

/// A stack that waits for its event.
#[derive(Debug)]
pub(super) enum Early {
    Keyed(StackId),
    Whole(Box<[u64]>),
}

impl Early {
    pub(super) fn given(&self) -> Given<'_> {
        match self {
            Self::Keyed(id) => Given::Keyed(*id),
            Self::Whole(addresses) => Given::Whole(addresses),
        }
    }
}

impl Given<'_> {
    pub(super) fn is_empty(self) -> bool {
        match self {
            Self::Keyed(id) => id == StackId::EMPTY,
            Self::Whole(addresses) => addresses.is_empty(),
        }
    }

    pub(super) fn early(self) -> Early {
        match self {
            Self::Keyed(id) => Early::Keyed(id),
            Self::Whole(addresses) => Early::Whole(addresses.into()),
        }
    }

    pub(super) fn keep(self, arena: &mut Arena) -> RawStack {
        match self {
            Self::Keyed(id) => RawStack::Keyed(id),
            Self::Whole(addresses) => arena.keep(addresses),
        }
    }
}
