//! Functions and public symbols made one list without overlaps.

use super::writer::Function;

/// A name at an address, as a symbol file has it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamedAddress {
    pub(crate) start: u32,
    /// Bytes; 0 for a public symbol, which has none.
    pub(crate) len: u32,
    pub(crate) name: u32,
    pub(crate) decorated: Option<u32>,
    pub(crate) rows: Option<u32>,
    /// Of several functions at one address, the first of these is taken.
    pub(crate) is_preferred: bool,
}

/// Sorts the names and sets their ends: a name ends where the next one starts, or at its `limit`,
/// the farthest end that it may have. Names without a limit are omitted. Public symbols at or
/// inside a function are covered by it.
pub(crate) fn lay_out(
    mut functions: Vec<NamedAddress>,
    publics: &[NamedAddress],
    limit: impl Fn(&NamedAddress) -> Option<u32>,
) -> Vec<Function> {
    // `false` sorts first: the preferred one of several at an address is kept by `dedup_by_key`
    // below.
    functions.sort_by_key(|named| (named.start, !named.is_preferred));
    functions.dedup_by_key(|named| named.start);
    let mut all = Vec::with_capacity(functions.len() + publics.len());
    let mut covered = 0;
    let mut open = publics.iter().peekable();
    for function in &functions {
        while let Some(public) = open.next_if(|public| public.start < function.start) {
            // Labels inside of a function would cut it in two and take its second half.
            if public.start >= covered {
                all.push(*public);
            }
        }
        while open
            .next_if(|public| public.start == function.start)
            .is_some()
        {}
        all.push(*function);
        covered = covered.max(function.start.saturating_add(function.len));
    }
    all.extend(open.filter(|public| public.start >= covered));
    all.dedup_by_key(|named| named.start);
    let nexts: Vec<u32> = all
        .iter()
        .skip(1)
        .map(|named| named.start)
        .chain([u32::MAX])
        .collect();
    let end = |named: &NamedAddress| {
        let limit = limit(named)?;
        Some(if named.len == 0 {
            limit
        } else {
            limit.min(named.start.saturating_add(named.len))
        })
    };
    let ended = all
        .iter()
        .zip(nexts)
        .filter_map(|(named, next)| Some((named, end(named)?.min(next))));
    ended
        .map(|(named, end)| {
            let NamedAddress {
                start,
                len,
                name,
                decorated,
                rows,
                ..
            } = *named;
            Function {
                start,
                end,
                name,
                decorated,
                rows,
                is_public: len == 0,
            }
        })
        .collect()
}
