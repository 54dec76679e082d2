//! The heaps of the .NET runtime.

use etwkit_etl::bytes::Cursor;

/// `GCHeapStats`: the heaps of a runtime after a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HeapStats {
    /// Bytes of generations 0 to 2, of the heap of large objects and, from version 2 on, of pinned
    /// ones.
    pub sizes: [Option<u64>; 5],
    /// Bytes that survived the collection, of all generations.
    pub promoted: u64,
    /// Objects that could not be moved.
    pub pinned_objects: u32,
    /// Handles of the runtime.
    pub handles: u32,
    /// Instance of the runtime in the process.
    pub clr_instance: u16,
}

impl HeapStats {
    /// Reads a payload.
    #[must_use]
    pub fn parse(payload: &[u8], version: u8) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let mut read = Self::default();
        let [small @ .., pinned_heap] = &mut read.sizes;
        for size in small {
            *size = Some(c.u64()?);
            read.promoted = read.promoted.saturating_add(c.u64()?);
        }
        c.take(16)?; // finalization: bytes and objects
        read.pinned_objects = c.u32()?;
        c.u32()?; // sync blocks
        read.handles = c.u32()?;
        read.clr_instance = if version >= 1 { c.u16()? } else { 0 };
        if version >= 2 {
            *pinned_heap = Some(c.u64()?);
            read.promoted = read.promoted.saturating_add(c.u64()?);
        }
        Some(read)
    }
}
