//! Kernel objects: the object at an address, and its lifetime.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::object_types::ObjectTypes;
use crate::import::pipeline::Context;
use crate::interner::Interner;
use crate::sink::{Sink, SinkError};
use crate::table::Object;

/// Objects that are followed at a time, some 500 MiB. A trace with more of them is malicious.
const MAX_LIVE: usize = 1 << 22;

/// An object that lives.
#[derive(Debug)]
struct Live {
    row: Object,
    handles: i64,
}

/// Objects by address.
#[derive(Debug)]
pub(super) struct Objects<'t> {
    types: &'t ObjectTypes,
    live: FxHashMap<u64, Live>,
    next_id: i32,
    names: Interner,
    /// Number of events of objects that are not followed because there are too many.
    pub(super) dropped: u64,
}

impl<'t> Objects<'t> {
    pub(super) fn new(types: &'t ObjectTypes) -> Self {
        Self {
            types,
            live: FxHashMap::default(),
            next_id: 0,
            names: Interner::default(),
            dropped: 0,
        }
    }

    /// The object that lives at an address; a new one if none does. `ns` is the time of an event
    /// about the object; a list of open handles at the end of a recording has none.
    pub(super) fn at(
        &mut self,
        address: u64,
        kind: Option<u16>,
        ns: Option<i64>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<Option<i32>, SinkError> {
        let another = |live: &Live| {
            kind.map(i32::from)
                .zip(live.row.type_id)
                .is_some_and(|(a, b)| a != b)
        };
        if self.live.get(&address).is_some_and(another) {
            // An object keeps its type, so the end of the object before is missing.
            self.end(address, None, context, sink)?;
        }
        if let Some(live) = self.live.get_mut(&address) {
            // References name no type; the first event that does names it for all.
            if live.row.type_id.is_none() {
                live.row.type_id = kind.map(i32::from);
                live.row.type_name = kind.and_then(|kind| self.types.name(kind));
            }
            return Ok(Some(live.row.object_id));
        }
        // The number of an object is 32 bits in the table. Two objects with one number would be
        // worse than one without a row.
        if self.live.len() >= MAX_LIVE || self.next_id == i32::MAX {
            self.dropped += 1;
            return Ok(None);
        }
        let object_id = self.next_id;
        self.next_id += 1;
        let row = Object {
            object_id,
            address: address as i64,
            type_id: kind.map(i32::from),
            type_name: kind.and_then(|kind| self.types.name(kind)),
            first_ns: ns,
            ..Object::default()
        };
        self.live.insert(address, Live { row, handles: 0 });
        Ok(Some(object_id))
    }

    /// Sets the name of the object at an address.
    pub(super) fn name(&mut self, address: u64, name: Option<&str>) {
        let Some(name) = name else { return };
        // The first name stays; later events repeat it or have none.
        if let Some(live) = self
            .live
            .get_mut(&address)
            .filter(|live| live.row.name.is_none())
        {
            live.row.name = Some(self.names.intern(name));
        }
    }

    /// One shared copy of a repeated text.
    pub(super) fn text(&mut self, text: &str) -> Arc<str> {
        self.names.intern(text)
    }

    /// An object is created at an address.
    pub(super) fn create(
        &mut self,
        address: u64,
        kind: u16,
        ns: i64,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<Option<i32>, SinkError> {
        // The address is free by now, whether its end was recorded or not.
        self.end(address, None, context, sink)?;
        let id = self.at(address, Some(kind), Some(ns), context, sink)?;
        if let Some(live) = self.live.get_mut(&address) {
            live.row.created_ns = Some(ns);
        }
        Ok(id)
    }

    /// A handle to the object at an address was opened.
    pub(super) fn opened(&mut self, address: u64) {
        if let Some(live) = self.live.get_mut(&address) {
            // Counted even for handles from the list at the start: the object dies with its last
            // handle, whoever opened it.
            live.handles += 1;
        }
    }

    /// A handle to the object with this address and number was closed. If ends of objects are not
    /// reported, the object ends with its last handle.
    pub(super) fn closed(
        &mut self,
        (address, object_id): (u64, Option<i32>),
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        // The address may belong to a later object by now.
        let is_it = |live: &&mut Live| Some(live.row.object_id) == object_id;
        let Some(live) = self.live.get_mut(&address).filter(is_it) else {
            return Ok(());
        };
        live.handles -= 1;
        // Without creation and deletion events nothing else ends an object, and all later objects
        // at its address would be mistaken for it.
        if live.handles <= 0 && !self.types.has_lives {
            return self.end(address, None, context, sink);
        }
        Ok(())
    }

    /// The object at an address ends.
    pub(super) fn end(
        &mut self,
        address: u64,
        deleted_ns: Option<i64>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let Some(mut live) = self.live.remove(&address) else {
            return Ok(());
        };
        // Null if nobody saw the end: the time of the next object at the address is only an upper
        // bound.
        live.row.deleted_ns = deleted_ns;
        context.tables.push(&live.row, sink)
    }

    /// Writes the objects that live.
    pub(super) fn finish(
        self,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> Result<u64, SinkError> {
        // A hash map has no order, and the same input has to give the same output.
        let mut rows: Vec<Object> = self.live.into_values().map(|live| live.row).collect();
        // By number, which is the order in which objects were first seen.
        rows.sort_unstable_by_key(|row| row.object_id);
        rows.iter()
            .try_for_each(|row| context.tables.push(row, sink))?;
        Ok(self.dropped)
    }
}
