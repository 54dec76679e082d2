//! Lines and inlined functions of one function, merged: the frames that apply from each offset on.

use super::inlines::{Range, Site};
use super::lines::{FileLine, LineRecord};
use crate::table::{Frame, MAX_DEPTH};

/// The names needed for a frame.
pub(super) trait Naming {
    /// File and line of a place.
    fn place(&mut self, place: Option<FileLine>) -> (Option<u32>, u32);
    /// Number of the name of an inlined function.
    fn inlinee(&mut self, id: u32) -> u32;
}

/// Calls `row` for each offset at which the frames change, with the frames from the outermost to
/// the innermost.
///
/// Of several ranges at one depth, the one that started last applies. Compilers omit from the
/// ranges of a site the code that a site inside of it covers; the caller of that site is still a
/// frame there, without a line.
pub(super) fn sweep(
    start: u32,
    len: u32,
    lines: &[LineRecord],
    sites: &[Site],
    ranges: &mut [Range],
    naming: &mut dyn Naming,
    row: &mut dyn FnMut(u32, &[Frame]),
) {
    // Of calls that start at one offset, outer calls come first. A later range at the same depth
    // replaces the one before it.
    ranges.sort_by_key(|range| (range.start, depth(sites, range.site)));
    // Lines and ranges outside of the function are damage.
    let inside = |offset: &u32| *offset < len;
    let mut offsets: Vec<u32> = lines
        .iter()
        .map(|line| line.offset.wrapping_sub(start))
        .collect();
    offsets.extend(ranges.iter().flat_map(|range| [range.start, range.end]));
    offsets.retain(inside);
    offsets.sort_unstable();
    // Each place at which a frame may change, once.
    offsets.dedup();
    let mut lines = lines.iter().peekable();
    let mut ranges = ranges.iter().peekable();
    let mut outer = None;
    let mut open: Vec<Option<Range>> = Vec::new();
    let mut frames = Vec::new();
    for offset in offsets {
        while let Some(line) = lines.next_if(|line| line.offset.wrapping_sub(start) <= offset) {
            outer = line.place;
        }
        while let Some(range) = ranges.next_if(|range| range.start <= offset) {
            let depth = usize::from(depth(sites, range.site));
            // Deeper calls are left out; the frames above them stay.
            if depth + 1 < MAX_DEPTH {
                open.resize(open.len().max(depth + 1), None);
                if let Some(place) = open.get_mut(depth) {
                    *place = Some(*range);
                }
            }
        }
        frames.clear();
        let (file, line) = naming.place(outer);
        frames.push(Frame {
            name: 0,
            file,
            line,
        });
        // Ranges that ended stay in the list until another one of their depth starts, so their ends
        // are compared here.
        // From the innermost one: ranges of inner calls lie within those of outer ones.
        let innermost = open.iter().flatten().rfind(|range| range.end > offset);
        if let Some(innermost) = innermost {
            inlined(*innermost, offset, sites, &open, naming, &mut frames);
        }
        row(offset, &frames);
    }
}

/// Adds the chain of calls that ends in a range.
fn inlined(
    innermost: Range,
    offset: u32,
    sites: &[Site],
    open: &[Option<Range>],
    naming: &mut dyn Naming,
    frames: &mut Vec<Frame>,
) {
    let first = frames.len();
    let mut next = Some(innermost.site);
    while let Some((number, site)) =
        next.and_then(|site| Some((site, sites.get(usize::try_from(site).ok()?)?)))
    {
        let range = open.get(usize::from(site.depth)).copied().flatten();
        let range = range.filter(|range| range.site == number && range.end > offset);
        let (file, line) = naming.place(range.and_then(|range| range.place));
        frames.push(Frame {
            name: naming.inlinee(site.inlinee),
            file,
            line,
        });
        next = site.parent;
    }
    if let Some(chain) = frames.get_mut(first..) {
        // Collected from the innermost to the outermost, and needed the other way.
        chain.reverse();
    }
}

fn depth(sites: &[Site], site: u32) -> u16 {
    usize::try_from(site)
        .ok()
        .and_then(|site| sites.get(site))
        .map_or(0, |site| site.depth)
}
