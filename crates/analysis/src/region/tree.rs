//! Nesting of instances: regions in the regions around them, and regions that nest in themselves.

use std::collections::HashMap;

use etwkit_base::index::{Idx, IndexVec};

use super::definition::{Manifest, Region, Same, Side};
use super::events::Events;
use super::find::{Instance, key};

/// The parent of each instance.
pub(super) type Parents = IndexVec<Instance, Option<Idx<Instance>>>;

/// Finds the parent of each instance; `instances` are in the order of their regions, then of their starts.
pub(super) fn parents(
    manifest: &Manifest,
    instances: &IndexVec<Instance>,
    events: &Events,
) -> Parents {
    let mut of_region: IndexVec<Region, Vec<Idx<Instance>>> =
        IndexVec::filled(Vec::new(), &manifest.regions);
    // Instances are sorted within their region, and so are these lists.
    for (place, instance) in instances.enumerate() {
        of_region[instance.region].push(place);
    }
    let mut parents = Parents::filled(None, instances);
    for (place, region) in manifest.regions.enumerate() {
        let children = &of_region[place];
        let around = region
            .parent
            .map_or(&[][..], |parent| of_region[parent].as_slice());
        let around = Around::new(around, &region.of_parent, instances, events);
        for child in children {
            parents[*child] = around.earliest(&instances[*child], events);
        }
        // After the search among the regions around it: an instance of the same region is nearer,
        // and replaces that parent.
        if let Some(same) = &region.self_nest {
            nest(children, same, instances, events, &mut parents);
        }
    }
    parents
}

/// Instances by the values that they share with others, in the order of their starts: start, latest end of this
/// and all earlier ones, the instance.
type ByKey = HashMap<Vec<String>, Vec<(i64, i64, Idx<Instance>)>>;

/// Instances of the region around another one, by what a child must have in common with them.
struct Around<'a> {
    same: &'a Same,
    by_key: ByKey,
}

impl<'a> Around<'a> {
    fn new(
        places: &[Idx<Instance>],
        same: &'a Same,
        instances: &IndexVec<Instance>,
        events: &Events,
    ) -> Self {
        let mut by_key = ByKey::new();
        for place in places {
            let instance = &instances[*place];
            // Nobody knows whether an instance without an end contains another.
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

    /// The instance that started first of those that contain the child.
    fn earliest(&self, child: &Instance, events: &Events) -> Option<Idx<Instance>> {
        // Without an end, the same holds for the child.
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
    places: &[Idx<Instance>],
    same: &Same,
    instances: &IndexVec<Instance>,
    events: &Events,
    parents: &mut Parents,
) {
    let mut sorted: Vec<(i64, std::cmp::Reverse<i64>, Idx<Instance>)> = places
        .iter()
        // Longer ones first among those that start together: they contain the others.
        .filter_map(|place| {
            let instance = &instances[*place];
            Some((
                instance.start_ns,
                std::cmp::Reverse(instance.stop_ns?),
                *place,
            ))
        })
        .collect();
    sorted.sort_unstable();
    // By what they must share with a child: a stack of instances that may contain later ones, whose ends
    // never increase. An instance that ends before a later one can be dropped: from then on, whatever it
    // contains the later one contains, too.
    let mut open: HashMap<Vec<String>, Vec<(i64, Idx<Instance>)>> = HashMap::new();
    for (_, std::cmp::Reverse(stop_ns), place) in sorted {
        let instance = &instances[place];
        let keys = (
            // A child shares the first field of a pair with the second field of its parent.
            shared(same, events, instance, Side::Start),
            shared(same, events, instance, Side::Stop),
        );
        let (Some(as_child), Some(as_parent)) = keys else {
            continue;
        };
        let parent = open.get(&as_child).and_then(|list| {
            // Ends never increase, so all up to this place reach far enough, and the last one is
            // nearest.
            let containing = list.partition_point(|(stop, _)| *stop >= stop_ns);
            list.get(containing.checked_sub(1)?)
        });
        if let Some((_, found)) = parent {
            parents[place] = Some(*found);
        }
        // After the search, so that no instance becomes its own parent.
        let list = open.entry(as_parent).or_default();
        while list.last().is_some_and(|(stop, _)| *stop < stop_ns) {
            list.pop();
        }
        list.push((stop_ns, place));
    }
}
