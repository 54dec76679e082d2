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
/// Regions depend on each other in a circle: one that is in it, or depends on it.
pub(super) fn of(manifest: &Manifest) -> Result<Vec<Idx<Region>>, &Region> {
    let regions = &manifest.regions;
    let mut needed_by = NeededBy::filled(Vec::new(), regions);
    let mut missing = Missing::filled(0, regions);
    for (place, region) in regions.enumerate() {
        let ends = region.ends.iter().flat_map(|(start, stop)| [start, stop]);
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
        // A region that contains others is found after them.
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
    let mut at = 0;
    while let Some(place) = ready.get(at).copied() {
        at += 1;
        for next in &needed_by[place] {
            missing[*next] -= 1;
            if missing[*next] == 0 {
                ready.push(*next);
            }
        }
    }
    // A region that still lacks another one is in a circle, or depends on one.
    match regions.iter().zip(&missing).find(|(_, left)| **left > 0) {
        Some((region, _)) => Err(region),
        None => Ok(ready),
    }
}

/// Notes that the region `by` needs the region `needed`.
fn add(needed_by: &mut NeededBy, missing: &mut Missing, needed: Idx<Region>, by: Idx<Region>) {
    needed_by[needed].push(by);
    missing[by] += 1;
}
