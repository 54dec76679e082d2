//! Typed views of the events of JavaScript engines: scripts, and the code compiled from them.
//!
//! All engines on Windows use one provider and its layouts: Chakra by a manifest, V8 (Chrome, Edge,
//! Electron, Node.js) and SpiderMonkey also as events that describe themselves.

use etwkit_etl::bytes::Cursor;
use etwkit_etl::{Guid, RawEvent};

/// Microsoft-JScript.
pub const PROVIDER: Guid = Guid::literal("57277741-3638-4a4b-bdba-0ac6e45da56c");

/// IDs of [`PROVIDER`].
mod id {
    pub(super) const METHOD_LOAD: u16 = 9;
    pub(super) const METHOD_UNLOAD: u16 = 10;
    pub(super) const SOURCE_DC_START: u16 = 39;
    pub(super) const SOURCE_DC_END: u16 = 40;
    pub(super) const SOURCE_LOAD: u16 = 41;
}

/// An event about code of scripts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A script exists.
    Source {
        /// ID in its process.
        id: u64,
        /// Where it comes from.
        url: String,
    },
    /// A function was compiled.
    Load(Function),
    /// The code at this address was freed.
    Unload(u64),
}

/// Code of one function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Start of the code.
    pub start: u64,
    /// Bytes of code.
    pub size: u64,
    /// ID of the script.
    pub source: u64,
    /// Line in it at which the function begins; 0 if it is not known.
    pub line: u32,
    /// Name; empty for functions without one.
    pub name: String,
}

impl Event {
    /// Reads an event of the provider. `None` for all others, and if it ends too early.
    #[must_use]
    pub fn read(event: &RawEvent<'_>) -> Option<Self> {
        if !event.kind.is_manifest() || event.provider() != PROVIDER {
            return None;
        }
        let payload = event.payload();
        match event.descriptor().id {
            id::METHOD_LOAD => function(payload, event.pointer_size()).map(Self::Load),
            id::METHOD_UNLOAD => {
                // Only the start is needed to find the code that is unloaded.
                function(payload, event.pointer_size()).map(|it| Self::Unload(it.start))
            }
            id::SOURCE_LOAD | id::SOURCE_DC_START | id::SOURCE_DC_END => {
                source(payload, event.pointer_size())
            }
            _ => None,
        }
    }
}

fn source(payload: &[u8], pointer_size: usize) -> Option<Event> {
    let mut c = Cursor::new(payload);
    let id = c.u64()?;
    let _context = c.pointer(pointer_size)?;
    let _flags = c.u32()?;
    let url = c.text();
    Some(Event::Source { id, url })
}

fn function(payload: &[u8], pointer_size: usize) -> Option<Function> {
    let mut c = Cursor::new(payload);
    let _context = c.pointer(pointer_size)?;
    let start = c.pointer(pointer_size)?;
    let size = c.u64()?;
    let _method = c.u32()?;
    let _flags = c.u16()?;
    let _range = c.u16()?;
    let source = c.u64()?;
    let line = c.u32()?;
    let _column = c.u32()?;
    Some(Function {
        start,
        size,
        source,
        line,
        name: c.text(),
    })
}
