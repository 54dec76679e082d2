//! The order in which regions can be found: each after the regions that it depends on.

use etwkit_base::index::{Idx, IndexVec};

use super::definition::{Endpoint, Manifest, Region, Trigger};

/// The regions that need a region.
type NeededBy = IndexVec<Region, Vec<Idx<Region>>>;

/// How many of the regions that a region needs are not in the order yet.
type Missing = IndexVec<Region, usize>;

/// All regions, each after those that it depends on (a topological sort).
///
/// # Errors
/// Regions depend on each other in circles: those that are in one, or between two.
pub(super) fn of(manifest: &Manifest) -> Result<Vec<Idx<Region>>, Vec<Idx<Region>>> {
    let regions = &manifest.regions;
    let mut needed_by = NeededBy::filled(Vec::new(), regions);
    let mut missing = Missing::filled(0, regions);
    for (place, region) in regions.enumerate() {
        let ends = region.ends.iter().flat_map(|(start, stop)| [start, stop]);
        // What is missing was left out when the file was read, so nothing is lost here.
        let of_ends = ends.filter_map(|end| match end {
            Endpoint::Region(guid, _) => manifest.place(guid),
            _ => None,
        });
        let of_filters = region
            .filters
            .iter()
            .filter_map(|filter| match &filter.trigger {
                Trigger::Region(guid) => manifest.place(guid),
                Trigger::Event(_) => None,
            });
        // A region that contains others is found after them, unless it has ends of its own: those find
        // it without its children.
        let around = region
            .parent
            .filter(|parent| regions[*parent].ends.is_none());
        for needed in of_ends.chain(of_filters) {
            add(&mut needed_by, &mut missing, needed, place);
        }
        if let Some(around) = around {
            add(&mut needed_by, &mut missing, place, around);
        }
    }
    let mut ready: Vec<Idx<Region>> = regions
        .positions()
        .filter(|place| missing[*place] == 0)
        .collect();
    // The list is the queue and the result at the same time.
    let mut at = 0;
    while let Some(place) = ready.get(at).copied() {
        at += 1;
        // Every need counts, also a second one of the same region: both were added.
        for next in &needed_by[place] {
            missing[*next] -= 1;
            if missing[*next] == 0 {
                ready.push(*next);
            }
        }
    }
    // A region that still lacks another one is in a circle, or depends on one.
    let left: Vec<Idx<Region>> = regions
        .positions()
        .filter(|place| missing[*place] > 0)
        .collect();
    if left.is_empty() {
        return Ok(ready);
    }
    Err(circles(&left, &needed_by, missing))
}

/// Those of the regions left over that are in a circle or between two: the others are needed by
/// none of them, and only depend on a circle.
fn circles(left: &[Idx<Region>], needed_by: &NeededBy, mut missing: Missing) -> Vec<Idx<Region>> {
    let mut needs = NeededBy::filled(Vec::new(), needed_by);
    let mut users = Missing::filled(0, needed_by);
    // Only edges between those that are left; the others are done.
    for needed in left {
        for by in needed_by[*needed].iter().filter(|by| missing[**by] > 0) {
            users[*needed] += 1;
            needs[*by].push(*needed);
        }
    }
    let is_outside = |place: &Idx<Region>| users[*place] == 0;
    let mut outside: Vec<Idx<Region>> = left.iter().copied().filter(is_outside).collect();
    while let Some(place) = outside.pop() {
        // Zero takes it out of the result.
        missing[place] = 0;
        for needed in &needs[place] {
            users[*needed] -= 1;
            if users[*needed] == 0 {
                outside.push(*needed);
            }
        }
    }
    let is_left = |place: &Idx<Region>| missing[*place] > 0;
    left.iter().copied().filter(is_left).collect()
}

/// Notes that the region `by` needs the region `needed`.
fn add(needed_by: &mut NeededBy, missing: &mut Missing, needed: Idx<Region>, by: Idx<Region>) {
    needed_by[needed].push(by);
    missing[by] += 1;
}
