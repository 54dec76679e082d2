//! Definitions of stack keys that a part of the trace needs. The next definition of a key
//! determines its meaning.

use etwkit_decode::kernel::stack::{self, Owner, opcode};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;
use rustc_hash::FxHashSet;

use crate::needed::Id;

/// Keys that are referred to and not defined yet.
#[derive(Debug, Default)]
pub(crate) struct StackKeys {
    referred: FxHashSet<u64>,
}

impl StackKeys {
    /// Takes an event that refers to a key, and is kept.
    pub(crate) fn reference(&mut self, hook: Hook, event: &RawEvent<'_>) {
        if matches!(
            hook.opcode,
            opcode::REFERENCE_KERNEL | opcode::REFERENCE_USER
        ) {
            // The key follows the owner in a reference, and comes first in a definition.
            self.referred.extend(stack::key(
                event.payload(),
                Owner::LEN,
                event.pointer_size(),
            ));
        }
    }

    /// The event, if it defines a key that was referred to.
    pub(crate) fn definition(&mut self, hook: Hook, event: &RawEvent<'_>) -> Option<Id> {
        if hook.group != group::STACK
            || !matches!(hook.opcode, opcode::KEY_DELETE | opcode::KEY_RUNDOWN)
        {
            return None;
        }
        let key = stack::key(event.payload(), 0, event.pointer_size())?;
        // The next definition gives the meaning of a key; later definitions describe other stacks.
        self.referred.remove(&key).then(|| Id::of(event))
    }
}
