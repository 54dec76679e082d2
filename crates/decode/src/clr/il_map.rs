//! The event `MethodILToNativeMap`: which part of a method's intermediate language (IL) a part of
//! its compiled code was made of.

use etwkit_etl::bytes::Cursor;

/// Largest offset in IL. The values above it say that code was made of no IL: -1 no mapping, -2
/// prolog, -3 epilog.
pub const MAX_IL_OFFSET: u32 = i32::MAX as u32;

/// The extent of a map of the code that `MethodLoad` describes.
pub const WHOLE_CODE: u8 = 0;

/// `MethodILToNativeMap` and its kin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IlToNative {
    /// ID of the method in the runtime.
    pub method_id: u64,
    /// Number of the compilation. .NET Core 3.1 writes 0 for every tier, although the method's own
    /// event has another number.
    pub rejit_id: u64,
    /// Part of the code: [`WHOLE_CODE`] or another one.
    pub extent: u8,
    /// Offset in the code and offset in IL of each entry. They are in no order.
    pub entries: Vec<(u32, u32)>,
}

impl IlToNative {
    /// Reads a payload. `None` if it has fewer entries than it claims.
    #[must_use]
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let mut c = Cursor::new(payload);
        let method_id = c.u64()?;
        let rejit_id = c.u64()?;
        let extent = c.u8()?;
        let count = usize::from(c.u16()?);
        let il = offsets(&mut c, count)?;
        let native = offsets(&mut c, count)?;
        Some(Self {
            method_id,
            rejit_id,
            extent,
            entries: native.zip(il).collect(),
        })
    }
}

fn offsets<'a>(c: &mut Cursor<'a>, count: usize) -> Option<impl Iterator<Item = u32> + use<'a>> {
    let (offsets, _) = c.take(4 * count)?.as_chunks();
    Some(offsets.iter().map(|bytes| u32::from_le_bytes(*bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(count: u16, il: &[u32], native: &[u32]) -> Vec<u8> {
        let mut bytes = [7_u64.to_le_bytes(), 2_u64.to_le_bytes()].concat();
        bytes.push(WHOLE_CODE);
        bytes.extend(count.to_le_bytes());
        bytes.extend([il, native].concat().iter().flat_map(|n| n.to_le_bytes()));
        bytes
    }

    #[test]
    fn a_map_has_a_pair_of_offsets_for_each_entry() {
        let bytes = payload(3, &[u32::MAX - 1, 0, 6], &[0, 4, 9]);
        let read = IlToNative::parse(&bytes).unwrap();
        assert_eq!((read.method_id, read.rejit_id, read.extent), (7, 2, 0));
        assert_eq!(read.entries, [(0, u32::MAX - 1), (4, 0), (9, 6)]);
        let behind = [&bytes[..], &9_u16.to_le_bytes(), &[0; 8]].concat();
        assert_eq!(IlToNative::parse(&behind).unwrap(), read, "newer versions");
        let empty = IlToNative::parse(&payload(0, &[], &[])).unwrap();
        assert_eq!(empty.entries, []);
    }

    #[test]
    fn a_map_that_is_cut_off_or_claims_too_much_is_none() {
        let bytes = payload(2, &[0, 6], &[0, 9]);
        for len in 0..bytes.len() {
            assert_eq!(IlToNative::parse(&bytes[..len]), None, "{len} bytes");
        }
        assert_eq!(IlToNative::parse(&payload(3, &[0, 6], &[0, 9])), None);
        assert_eq!(IlToNative::parse(&payload(u16::MAX, &[0], &[0])), None);
    }
}
