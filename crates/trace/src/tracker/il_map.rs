//! Maps of compiled .NET code to intermediate language (IL): which map is of which code.
//!
//! A map names its method, and a method can have several pieces of code: tiers, and compilations
//! that a profiler asked for. The number of the compilation in the event does not tell them apart
//! in all runtimes, so the order of events does: a thread writes the map directly behind the method
//! that it compiled or that exists at the start, and directly before the method that exists at the
//! end.

use std::sync::Arc;

use etwkit_decode::clr::{IlToNative, MAX_IL_OFFSET, Method, Origin, WHOLE_CODE, id};
use rustc_hash::FxHashMap;

use super::method::MethodTracker;

/// Entries of all maps that are kept, eight bytes each. A large program has some million.
const MAX_ENTRIES: usize = 1 << 24;

/// The map of one piece of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IlMap {
    /// Offset in the code and offset in IL, ascending, each place in the code once.
    entries: Box<[(u32, u32)]>,
}

impl IlMap {
    /// Sorts the entries of an event. Of several at one place the one with the largest offset in IL
    /// counts: those before it have no code. Entries without IL give way, as they do in the
    /// compiler.
    #[must_use]
    pub fn new(mut entries: Vec<(u32, u32)>) -> Self {
        let is_il = |il: u32| il <= MAX_IL_OFFSET;
        entries.sort_unstable_by_key(|(native, il)| (*native, !is_il(*il), std::cmp::Reverse(*il)));
        entries.dedup_by_key(|(native, _)| *native);
        Self {
            entries: entries.into(),
        }
    }

    /// Offset in IL of the code at an offset: that of the nearest entry at or before it. `None` in
    /// front of the first entry, and for code that was made of no IL.
    #[must_use]
    pub fn il_offset(&self, native: u32) -> Option<u32> {
        let behind = self.entries.partition_point(|(start, _)| *start <= native);
        let (_, il) = self.entries.get(behind.checked_sub(1)?)?;
        (*il <= MAX_IL_OFFSET).then_some(*il)
    }

    /// True if all entries are in code of that many bytes. An entry at its end has no code.
    fn fits(&self, size: u32) -> bool {
        self.entries.last().is_none_or(|(last, _)| *last <= size)
    }
}

/// A process and a thread.
type Writer = (u32, u32);

/// The last event of a thread about a method, as long as the next one can belong to it.
#[derive(Debug)]
enum Last {
    /// Code whose map follows.
    Code {
        method_id: u64,
        start: u64,
        size: u32,
    },
    /// A map whose code follows.
    Map { method_id: u64, map: IlMap },
}

/// Brings maps and code together. Events must come in order of time.
#[derive(Debug, Default)]
pub struct IlMaps {
    last: FxHashMap<Writer, Last>,
    entries: usize,
    dropped: u64,
}

impl IlMaps {
    /// Takes an event of a method whose code `methods` has.
    pub fn method(
        &mut self,
        writer: Writer,
        (origin, event): (Origin, u16),
        method: &Method,
        methods: &mut MethodTracker,
    ) {
        let method_id = method.method_id;
        let start = method.start;
        let size = method.size;
        let before = self.last.remove(&writer);
        match (origin, event) {
            (_, id::METHOD_LOAD_VERBOSE) => {
                let code = Last::Code {
                    method_id,
                    start,
                    size,
                };
                self.last.insert(writer, code);
            }
            (Origin::Rundown, id::METHOD_UNLOAD_VERBOSE) => {
                if let Some(Last::Map { method_id: of, map }) = before
                    && of == method_id
                    && map.fits(size)
                {
                    methods.set_map(writer.0, start, method_id, map);
                }
            }
            _ => {}
        }
    }

    /// Takes an event with a map.
    pub fn map(&mut self, writer: Writer, event: u16, payload: &[u8], methods: &mut MethodTracker) {
        let before = self.last.remove(&writer);
        let Some(read) = IlToNative::parse(payload).filter(|read| read.extent == WHOLE_CODE) else {
            return;
        };
        if self.entries.saturating_add(read.entries.len()) > MAX_ENTRIES {
            self.dropped += 1;
            return;
        }
        self.entries += read.entries.len();
        let of = read.method_id;
        let map = IlMap::new(read.entries);
        match before {
            _ if event == id::IL_TO_NATIVE_MAP_DC_END => {
                let map = Last::Map { method_id: of, map };
                self.last.insert(writer, map);
            }
            Some(Last::Code {
                method_id,
                start,
                size,
            }) if of == method_id && map.fits(size) => {
                methods.set_map(writer.0, start, method_id, map);
            }
            _ => {}
        }
    }

    /// Maps that were not kept, because there were too many.
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }
}

impl MethodTracker {
    /// Sets the map of the latest code of a method at an address. The first map stays: a rundown
    /// repeats it.
    fn set_map(&mut self, pid: u32, start: u64, method_id: u64, map: IlMap) {
        if let Some(method) = self.latest_mut(pid, start, method_id)
            && method.il_map.is_none()
        {
            method.il_map = Some(Arc::new(map));
        }
    }
}
