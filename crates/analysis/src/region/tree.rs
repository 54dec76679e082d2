//! Nesting of instances: regions in the regions around them, and regions that nest in themselves.

use std::collections::HashMap;

use super::definition::{Manifest, Same, Side};
use super::events::Events;
use super::find::{Instance, key};

/// Returns the index of the parent of each instance; `instances` are in the order of their regions,
/// then of their starts.
pub(super) fn parents(
    manifest: &Manifest,
    instances: &[Instance],
    events: &Events,
) -> Vec<Option<usize>> {
    let mut of_region: Vec<Vec<usize>> = vec![Vec::new(); manifest.regions.len()];
    for (place, instance) in instances.iter().enumerate() {
        if let Some(list) = of_region.get_mut(instance.region) {
            list.push(place);
        }
    }
    let mut parents = vec![None; instances.len()];
    for (place, region) in manifest.regions.iter().enumerate() {
        let Some(children) = of_region.get(place) else {
            continue;
        };
        let around = region
            .parent
            .and_then(|parent| of_region.get(parent))
            .map_or(&[][..], Vec::as_slice);
        let around = Around::new(around, &region.of_parent, instances, events);
        for child in children {
            let parent = instances
                .get(*child)
                .and_then(|instance| around.earliest(instance, events));
            if let Some(to) = parents.get_mut(*child) {
                *to = parent;
            }
        }
        // After the search among the regions around it: an instance of the same region is nearer,
        // and replaces that parent.
        if let Some(same) = &region.self_nest {
            nest(children, same, instances, events, &mut parents);
        }
    }
    parents
}

/// Possible parents of one region, by the values that a child must share with them.
struct Around<'a> {
    same: &'a Same,
    /// Instances by start: start, latest end of this and all earlier ones, index of the instance.
    by_key: HashMap<Vec<String>, Vec<(i64, i64, usize)>>,
}

impl<'a> Around<'a> {
    fn new(places: &[usize], same: &'a Same, instances: &[Instance], events: &Events) -> Self {
        let mut by_key: HashMap<Vec<String>, Vec<(i64, i64, usize)>> = HashMap::new();
        for place in places {
            let Some(instance) = instances.get(*place) else {
                continue;
            };
            let Some(stop_ns) = instance.stop_ns else {
                continue;
            };
            // The second field of a pair belongs to the parent.
            let Some(key) = shared(same, events, instance, Side::Stop) else {
                continue;
            };
            let list = by_key.entry(key).or_default();
            // The latest end so far never decreases, so a binary search finds the first instance
            // that reaches far enough.
            let latest = list
                .last()
                .map_or(stop_ns, |(_, latest, _)| stop_ns.max(*latest));
            list.push((instance.start_ns, latest, *place));
        }
        Self { same, by_key }
    }

    /// Returns the instance that started first among those that contain the child.
    fn earliest(&self, child: &Instance, events: &Events) -> Option<usize> {
        let stop_ns = child.stop_ns?;
        let list = self
            .by_key
            .get(&shared(self.same, events, child, Side::Start)?)?;
        // At the first place where the latest end reaches the end of the child, it is the end of
        // the instance itself.
        let first = list.partition_point(|(_, latest, _)| *latest < stop_ns);
        list.get(first)
            .filter(|(start, _, _)| *start <= child.start_ns)
            .map(|(_, _, place)| *place)
    }
}

/// Returns the values that an instance must share, from the event that it started with, or else
/// from the one that it ended with.
fn shared(same: &Same, events: &Events, instance: &Instance, side: Side) -> Option<Vec<String>> {
    key(same, events, instance.start, side).or_else(|| key(same, events, instance.stop, side))
}

/// Makes instances inside others of the same region children of the one that started last.
fn nest(
    places: &[usize],
    same: &Same,
    instances: &[Instance],
    events: &Events,
    parents: &mut [Option<usize>],
) {
    let mut sorted: Vec<(i64, std::cmp::Reverse<i64>, usize)> = places
        .iter()
        .filter_map(|place| {
            let instance = instances.get(*place)?;
            Some((
                instance.start_ns,
                std::cmp::Reverse(instance.stop_ns?),
                *place,
            ))
        })
        .collect();
    sorted.sort_unstable();
    // By the values that a child must share: a stack of instances that may contain later ones,
    // whose ends never increase. An instance that ends before a later one can be dropped: from then
    // on, the later one contains all that it contains.
    let mut open: HashMap<Vec<String>, Vec<(i64, usize)>> = HashMap::new();
    for (_, std::cmp::Reverse(stop_ns), place) in sorted {
        let Some(instance) = instances.get(place) else {
            continue;
        };
        let keys = (
            shared(same, events, instance, Side::Start),
            shared(same, events, instance, Side::Stop),
        );
        let (Some(as_child), Some(as_parent)) = keys else {
            continue;
        };
        let parent = open.get(&as_child).and_then(|list| {
            let containing = list.partition_point(|(stop, _)| *stop >= stop_ns);
            list.get(containing.checked_sub(1)?)
        });
        if let Some((to, (_, found))) = parents.get_mut(place).zip(parent) {
            *to = Some(*found);
        }
        let list = open.entry(as_parent).or_default();
        while list.last().is_some_and(|(stop, _)| *stop < stop_ns) {
            list.pop();
        }
        list.push((stop_ns, place));
    }
}
