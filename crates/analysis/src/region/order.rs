//! The order in which regions can be found: each after the regions that it depends on.

use super::definition::{Endpoint, Manifest, Region, Trigger};

/// Returns indices of all regions, each after the regions that it depends on (a topological sort).
///
/// # Errors
/// Regions depend on each other in a circle: one that is in it, or depends on it.
pub(super) fn of(manifest: &Manifest) -> Result<Vec<usize>, &Region> {
    let regions = &manifest.regions;
    let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); regions.len()];
    let mut missing: Vec<usize> = vec![0; regions.len()];
    for (place, region) in regions.iter().enumerate() {
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
            .filter(|parent| regions.get(*parent).is_some_and(|p| p.ends.is_none()));
        for needed in of_ends.chain(of_filters) {
            add(&mut needed_by, &mut missing, needed, place);
        }
        if let Some(around) = around {
            add(&mut needed_by, &mut missing, place, around);
        }
    }
    let mut ready: Vec<usize> = (0..regions.len())
        .filter(|place| missing.get(*place) == Some(&0))
        .collect();
    let mut at = 0;
    while let Some(place) = ready.get(at).copied() {
        at += 1;
        for next in needed_by.get(place).into_iter().flatten() {
            let Some(left) = missing.get_mut(*next) else {
                continue;
            };
            *left -= 1;
            if *left == 0 {
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

/// Records that the region `by` needs the region `needed`.
fn add(needed_by: &mut [Vec<usize>], missing: &mut [usize], needed: usize, by: usize) {
    if let (Some(list), Some(count)) = (needed_by.get_mut(needed), missing.get_mut(by)) {
        list.push(by);
        *count += 1;
    }
}
