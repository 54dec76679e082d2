//! Stubs of incremental linking: a table of jumps at the start of the code, through which functions
//! are called so that they can be replaced.

use crate::table::{NamedAddress, Writer};

/// Maximum bytes of the names of all stubs, for each stub; targets have shorter names on average.
const NAME_BYTES: usize = 512;

/// A jump that the linker made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stub {
    pub(super) start: u32,
    pub(super) len: u32,
    /// Address that it jumps to, if that is code.
    pub(super) target: Option<u32>,
}

/// The stubs as functions, with the names that debuggers give them: `ILT+5(main)`, the distance
/// from the first stub and the function.
pub(super) fn named(
    stubs: &[Stub],
    functions: &mut [NamedAddress],
    publics: &[NamedAddress],
    writer: &mut Writer,
) -> Vec<NamedAddress> {
    let Some(first) = stubs.iter().map(|stub| stub.start).min() else {
        return Vec::new();
    };
    // The function that the linker kept comes first among those at one address.
    functions.sort_by_key(|named| (named.start, !named.is_preferred));
    let mut left = stubs.len().saturating_mul(NAME_BYTES);
    let mut name = |stub: &Stub| {
        let target = stub
            .target
            // Functions before public symbols, whose names may be those of data.
            .and_then(|target| at(functions, target).or_else(|| at(publics, target)));
        let target = target.and_then(|target| writer.text(target));
        let distance = stub.start - first;
        // The names of all targets again would be a multiple of the file, if it is made for that.
        let text = match target.filter(|target| target.len() <= left) {
            Some(target) => format!("ILT+{distance}({target})"),
            None => format!("ILT+{distance}"),
        };
        left = left.saturating_sub(text.len());
        writer.string(&text)
    };
    stubs
        .iter()
        .map(|stub| NamedAddress {
            start: stub.start,
            len: stub.len,
            name: name(stub),
            decorated: None,
            rows: None,
            is_preferred: false,
        })
        .collect()
}

/// Name at the start of a function or public symbol.
fn at(sorted: &[NamedAddress], start: u32) -> Option<u32> {
    let nth = sorted.partition_point(|named| named.start < start);
    let named = sorted.get(nth).filter(|named| named.start == start);
    named.map(|named| named.name)
}
