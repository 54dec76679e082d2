//! Facts about objects, collected by the first pass: names of types, which are reported at the ends
//! of a recording, and the presence of events for the ends of objects.

use std::collections::BTreeMap;
use std::sync::Arc;

use etwkit_decode::kernel::object::{self, opcode};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;

/// Types, and the recorded kinds of events.
#[derive(Debug, Default)]
pub(crate) struct ObjectTypes {
    /// Names by number; there are at most 65536 numbers.
    names: BTreeMap<u16, Arc<str>>,
    /// True if creations and deletions of objects were recorded.
    pub(crate) has_lives: bool,
}

impl ObjectTypes {
    /// Takes an event of the first pass, in any order.
    #[inline]
    pub(crate) fn observe(&mut self, hook: Hook, event: &RawEvent<'_>) {
        if hook.group != group::OBJECT {
            return;
        }
        match hook.opcode {
            opcode::TYPE_START | opcode::TYPE_END => {
                if let Some((number, name)) = object::type_name(event.payload()) {
                    self.names.entry(number).or_insert_with(|| name.into());
                }
            }
            opcode::DELETE_OBJECT => self.has_lives = true,
            _ => {}
        }
    }

    /// Name of a type.
    pub(crate) fn name(&self, number: u16) -> Option<Arc<str>> {
        self.names.get(&number).cloned()
    }
}
