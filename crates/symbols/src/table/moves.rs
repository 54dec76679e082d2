//! Addresses of a module that was rearranged after linking.

/// From here on a pair has no address: its code was removed.
const NOWHERE: u32 = 0x8000_0000;

/// Pairs of addresses, sorted by the first: from it on, up to the next pair, code is at the second.
/// Both lists are empty for nearly all modules.
#[derive(Debug, Clone, Default)]
pub(crate) struct Moves {
    /// Addresses of the image → addresses before the image was rearranged.
    pub(crate) to_source: Vec<(u32, u32)>,
    /// The reverse.
    pub(crate) from_source: Vec<(u32, u32)>,
}

/// Follows a list of moves; pieces that were removed or added have no other address.
pub(crate) fn moved(moves: &[(u32, u32)], rva: u32) -> Option<u32> {
    if moves.is_empty() {
        return Some(rva);
    }
    let below = moves.partition_point(|(from, _)| *from <= rva);
    let (from, to) = *moves.get(below.checked_sub(1)?)?;
    let is_there = to != 0 && to < NOWHERE;
    is_there.then(|| to.checked_add(rva - from))?
}

impl Moves {
    /// Address before the image was rearranged.
    pub(crate) fn source(&self, rva: u32) -> Option<u32> {
        moved(&self.to_source, rva)
    }

    /// Address in the image.
    pub(crate) fn image(&self, rva: u32) -> Option<u32> {
        moved(&self.from_source, rva)
    }
}
