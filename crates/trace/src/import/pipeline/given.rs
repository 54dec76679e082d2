//! Stacks on their way to the events they belong to.

use super::arena::{Arena, RawStack};
use crate::tracker::stack::StackId;

/// A stack that is given to an event.
#[derive(Debug, Clone, Copy)]
pub(crate) enum GivenStack<'a> {
    /// A stack given by its key.
    Keyed(StackId),
    /// Addresses, innermost first.
    Whole(&'a [u64]),
}

/// A stack that waits for its event.
#[derive(Debug)]
pub(crate) enum EarlyStack {
    Keyed(StackId),
    Whole(Box<[u64]>),
}

impl EarlyStack {
    pub(crate) fn given(&self) -> GivenStack<'_> {
        match self {
            Self::Keyed(id) => GivenStack::Keyed(*id),
            Self::Whole(addresses) => GivenStack::Whole(addresses),
        }
    }
}

impl GivenStack<'_> {
    pub(crate) fn is_empty(self) -> bool {
        match self {
            Self::Keyed(id) => id == StackId::EMPTY,
            Self::Whole(addresses) => addresses.is_empty(),
        }
    }

    pub(crate) fn early(self) -> EarlyStack {
        match self {
            Self::Keyed(id) => EarlyStack::Keyed(id),
            Self::Whole(addresses) => EarlyStack::Whole(addresses.into()),
        }
    }

    pub(crate) fn keep(self, arena: &mut Arena) -> RawStack {
        match self {
            Self::Keyed(id) => RawStack::Keyed(id),
            Self::Whole(addresses) => arena.keep(addresses),
        }
    }
}
