//! Instances of regions: starts are paired with ends.

use std::collections::HashMap;

use etwkit_base::index::{Idx, IndexVec};
use etwkit_question::Error;

use super::definition::{
    Endpoint, EventPattern, Filter, Manifest, Region, Same, Side, Trigger, When,
};
use super::events::{Event, Events};
use crate::Result;

/// Maximum number of instances that are held. Several regions can start and end with the same
/// events, so a short file and a short trace can have any number of them.
const MAX_INSTANCES: usize = 5_000_000;

/// One occurrence of a region, which may have started without an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Instance {
    pub(super) region: Idx<Region>,
    pub(super) start_ns: i64,
    /// Its end; missing if it did not end.
    pub(super) stop_ns: Option<i64>,
    /// Event that it started with; regions that contain others have that of the first of them.
    pub(super) start: Option<Idx<Event>>,
    /// Event that it ended with.
    pub(super) stop: Option<Idx<Event>>,
}

/// A possible start or end.
#[derive(Debug, Clone, Copy)]
struct Point {
    ts_ns: i64,
    event: Option<Idx<Event>>,
}

/// Values that starts and ends must share, in a fixed order.
type Key = Vec<String>;

/// The instances of all regions.
#[derive(Debug, Default)]
pub(super) struct FoundInstances {
    /// For each region, instances that ended, in the order of their starts.
    pub(super) ended: IndexVec<Region, Vec<Instance>>,
    /// For each region, starts without an end, in order.
    pub(super) open: IndexVec<Region, Vec<Instance>>,
    /// For each region, the number of ends without a start.
    pub(super) ends: IndexVec<Region, usize>,
}

/// Finds the instances of all regions. In `order`, a region comes after those that it depends on.
///
/// # Errors
/// They are too many.
pub(super) fn find(
    manifest: &Manifest,
    order: &[Idx<Region>],
    events: &Events,
) -> Result<FoundInstances> {
    // The order of the loop makes sure that `found` has what the region refers to.
    let regions = &manifest.regions;
    let mut count = 0;
    let mut found = FoundInstances {
        ended: IndexVec::filled(Vec::new(), regions),
        open: IndexVec::filled(Vec::new(), regions),
        ends: IndexVec::filled(0, regions),
    };
    for place in order.iter().copied() {
        let region = &regions[place];
        let finder = Finder {
            manifest,
            events,
            found: &found,
            place,
            region,
        };
        let (mut ended, mut open, ends) = match &region.ends {
            None => (finder.container(), Vec::new(), 0),
            Some((
                Endpoint::Duration {
                    event,
                    field,
                    nanoseconds,
                },
                other,
            )) => finder.by_duration(
                &finder.points(other),
                *event,
                field,
                *nanoseconds,
                Side::Start,
            ),
            Some((
                other,
                Endpoint::Duration {
                    event,
                    field,
                    nanoseconds,
                },
            )) => finder.by_duration(
                &finder.points(other),
                *event,
                field,
                *nanoseconds,
                Side::Stop,
            ),
            Some((start, stop)) => finder.pairs(start, stop),
        };
        // Filters only take instances away, so they come after the pairs and cannot change them.
        for filter in &region.filters {
            let triggers = finder.triggers(filter);
            ended.retain(|instance| passes(filter, &triggers, instance));
            open.retain(|instance| passes(filter, &triggers, instance));
        }
        count += ended.len() + open.len();
        // After each region and not at the end, when memory would already be gone.
        check_count(count)?;
        // Later regions search these lists, and the numbers of instances follow them.
        ended.sort_by_key(|i| (i.start_ns, i.start, i.stop_ns));
        open.sort_by_key(|i| (i.start_ns, i.start));
        found.ended[place] = ended;
        found.open[place] = open;
        found.ends[place] = ends;
    }
    Ok(found)
}

/// Checks that this number of instances can be held.
///
/// # Errors
/// It cannot.
fn check_count(count: usize) -> Result<()> {
    if count > MAX_INSTANCES {
        return Err(Error::TooWide {
            message: format!("the regions have more than {MAX_INSTANCES} instances"),
            how: "ask for fewer of the regions: take the others out of the file",
        });
    }
    Ok(())
}

/// Finds the instances of one region.
struct Finder<'f> {
    manifest: &'f Manifest,
    events: &'f Events,
    found: &'f FoundInstances,
    place: Idx<Region>,
    region: &'f Region,
}

type Parts = (Vec<Instance>, Vec<Instance>, usize);

impl Finder<'_> {
    /// Returns the instances of a region that were found and ended.
    fn of(&self, guid: &str) -> &[Instance] {
        let place = self.manifest.place(guid);
        place.map_or(&[], |place| &self.found.ended[place])
    }

    fn event_point(&self, event: Idx<Event>) -> Point {
        Point {
            ts_ns: self.events.all[event].ts_ns,
            event: Some(event),
        }
    }

    fn points(&self, endpoint: &Endpoint) -> Vec<Point> {
        match endpoint {
            Endpoint::Event(pattern) => self
                .events
                .of(*pattern)
                .iter()
                .map(|event| self.event_point(*event))
                .collect(),
            Endpoint::Region(guid, Side::Start) => self
                .of(guid)
                .iter()
                .map(|i| Point {
                    ts_ns: i.start_ns,
                    event: i.start,
                })
                .collect(),
            Endpoint::Region(guid, Side::Stop) => self
                .of(guid)
                .iter()
                .filter_map(|i| {
                    Some(Point {
                        ts_ns: i.stop_ns?,
                        event: i.stop,
                    })
                })
                .collect(),
            // Its points are those of the other end, moved by the distance.
            Endpoint::Duration { .. } => Vec::new(),
        }
    }

    fn instance(&self, start: Point, stop: Option<Point>) -> Instance {
        Instance {
            region: self.place,
            start_ns: start.ts_ns,
            stop_ns: stop.map(|stop| stop.ts_ns),
            start: start.event,
            stop: stop.and_then(|stop| stop.event),
        }
    }

    /// Pairs each end with the latest open start that shares the required values with it.
    fn pairs(&self, start: &Endpoint, stop: &Endpoint) -> Parts {
        let of_events = matches!((start, stop), (Endpoint::Event(_), Endpoint::Event(_)));
        // An event that is both a start and an end ends one instance and starts the next, so ends
        // come first. Between regions it is the other way round: if a region starts where another
        // one ends and ends where the same one starts, it may have length 0, and its start comes
        // first.
        let (start_rank, stop_rank) = if of_events { (1, 0) } else { (0, 1) };
        let starts = self
            .points(start)
            .into_iter()
            .map(|point| (start_rank, point));
        let stops = self
            .points(stop)
            .into_iter()
            .map(|point| (stop_rank, point));
        let mut all: Vec<(u8, Point)> = starts.chain(stops).collect();
        // Events are numbered in the order of time; the number keeps events with equal time stamps in order.
        all.sort_by_key(|(rank, point)| (point.ts_ns, point.event.is_none(), point.event, *rank));
        let same = &self.region.of_events;
        let mut waiting: HashMap<Key, Vec<Point>> = HashMap::new();
        let mut ended = Vec::new();
        let mut open = Vec::new();
        let mut ends = 0;
        for (rank, point) in all {
            let side = if rank == start_rank {
                Side::Start
            } else {
                Side::Stop
            };
            let key = key(same, self.events, point.event, side);
            match (side, key) {
                (Side::Start, Some(key)) => waiting.entry(key).or_default().push(point),
                // An event that lacks a value that both ends must share can have no partner.
                (Side::Start, None) => open.push(self.instance(point, None)),
                // The latest start is the innermost of nested ones, so instances nest as calls
                // do.
                (Side::Stop, key) => match key.and_then(|key| waiting.get_mut(&key)?.pop()) {
                    Some(start) => ended.push(self.instance(start, Some(point))),
                    // Its start was before the trace, or got lost.
                    None => ends += 1,
                },
            }
        }
        open.extend(
            waiting
                .into_values()
                .flatten()
                .map(|point| self.instance(point, None)),
        );
        (ended, open, ends)
    }

    /// Places the other end at the distance in a field: of the event at this end if it matches the
    /// pattern, or else of the nearest matching event.
    fn by_duration(
        &self,
        points: &[Point],
        pattern: Idx<EventPattern>,
        field: &str,
        nanoseconds: f64,
        side: Side,
    ) -> Parts {
        let same = &self.region.of_events;
        // Fields are named for the start and the end, and points are at the end that is not computed.
        let other = if side == Side::Start {
            Side::Stop
        } else {
            Side::Start
        };
        let of = self.events.of(pattern);
        // Grouped first: a search through all events for each point would be quadratic.
        let mut by_key: HashMap<Key, Vec<Idx<Event>>> = HashMap::new();
        for event in of {
            if let Some(key) = key(same, self.events, Some(*event), side) {
                by_key.entry(key).or_default().push(*event);
            }
        }
        let duration = |event: Idx<Event>| {
            // The field has any unit; the multiplier of the file converts it to nanoseconds.
            let units: f64 = self.events.value(Some(event), field)?.parse().ok()?;
            let ns = (units * nanoseconds).round();
            // The range also excludes negative and infinite values and NaN.
            (0.0..9e18).contains(&ns).then_some(ns as i64)
        };
        let mut ended = Vec::new();
        let mut without = 0;
        for point in points {
            // Events that match a pattern are in ascending order, as they are read.
            let own = point.event.filter(|event| of.binary_search(event).is_ok());
            let nearest = || {
                let candidates = by_key.get(&key(same, self.events, point.event, other)?)?;
                self.nearest(candidates, point.ts_ns)
            };
            let with_length = own.or_else(nearest);
            let Some((event, length)) =
                with_length.and_then(|event| Some((event, duration(event)?)))
            else {
                without += 1;
                continue;
            };
            // It has the event with the field, which is where a reader finds the distance.
            let other = |ts_ns| Point {
                ts_ns,
                event: Some(event),
            };
            ended.push(match side {
                Side::Start => {
                    // A wrong field can be larger than the trace is long.
                    self.instance(other(point.ts_ns.saturating_sub(length)), Some(*point))
                }
                Side::Stop => {
                    self.instance(*point, Some(other(point.ts_ns.saturating_add(length))))
                }
            });
        }
        (ended, Vec::new(), without)
    }

    /// The event that is nearest in time; of two equally near ones the earlier.
    fn nearest(&self, events: &[Idx<Event>], ts_ns: i64) -> Option<Idx<Event>> {
        let time = |event: Idx<Event>| self.events.all[event].ts_ns;
        let split = events.partition_point(|event| time(*event) <= ts_ns);
        // The nearest is either the last one up to that time or the first one after it.
        let around = [split.checked_sub(1), Some(split)].into_iter().flatten();
        let around = around.filter_map(|at| events.get(at).copied());
        around.min_by_key(|event| time(*event).abs_diff(ts_ns))
    }

    /// Returns the instance of a region that contains others: from the start of its first child to
    /// the end of its last one.
    fn container(&self) -> Vec<Instance> {
        let regions = self.manifest.regions.enumerate();
        let children = regions.filter(|(_, region)| region.parent == Some(self.place));
        let inside: Vec<&Instance> = children
            .flat_map(|(place, _)| &self.found.ended[place])
            .collect();
        // The event breaks ties, so that the result does not depend on the order of children.
        let first = inside.iter().min_by_key(|i| (i.start_ns, i.start));
        let last = inside.iter().max_by_key(|i| (i.stop_ns, i.stop));
        first
            .zip(last)
            // None of them: then there is nothing to contain.
            .map(|(first, last)| Instance {
                region: self.place,
                start_ns: first.start_ns,
                stop_ns: last.stop_ns,
                start: first.start,
                stop: last.stop,
            })
            .into_iter()
            .collect()
    }

    /// Returns starts and ends of the triggers of a filter.
    fn triggers(&self, filter: &Filter) -> Vec<(i64, i64)> {
        match &filter.trigger {
            Trigger::Event(pattern) => {
                let events = self.events.of(*pattern).iter();
                // An event has no length.
                let times = events.map(|event| self.events.all[*event].ts_ns);
                times.map(|time| (time, time)).collect()
            }
            Trigger::Region(guid) => self
                .of(guid)
                .iter()
                // A trigger without an end is not over before anything.
                .filter_map(|i| Some((i.start_ns, i.stop_ns?)))
                .collect(),
        }
    }
}

/// Returns `true` if an instance is kept.
fn passes(filter: &Filter, triggers: &[(i64, i64)], instance: &Instance) -> bool {
    let holds = match filter.when {
        When::Anywhere => !triggers.is_empty(),
        When::Before => triggers.iter().any(|(_, stop)| *stop <= instance.start_ns),
        When::After => {
            // It has to end before the first trigger, not only before a later one.
            let first = triggers.iter().map(|(start, _)| *start).min();
            // An instance that did not end is never before another.
            first.is_some_and(|first| instance.stop_ns.is_some_and(|stop| stop <= first))
        }
    };
    holds == filter.keeps
}

/// The values of an end that the other end must share; `None` if it lacks one of them.
pub(super) fn key(
    same: &Same,
    events: &Events,
    event: Option<Idx<Event>>,
    side: Side,
) -> Option<Key> {
    let of = event.map(|event| &events.all[event]);
    // Every part returns early: two events that both lack a value do not share it.
    let mut key = Key::new();
    if same.thread {
        key.push(of?.thread_key?.to_string());
    }
    if same.process {
        key.push(of?.process_key?.to_string());
    }
    if same.activity {
        key.push(of?.activity_id.clone()?);
    }
    for (start, stop) in &same.fields {
        let field = if side == Side::Start { start } else { stop };
        key.push(events.value(event, field)?.to_owned());
    }
    Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 20,000 regions that start and end with the same 1,218 pairs of events.
    #[test]
    fn instances_are_bounded() {
        check_count(MAX_INSTANCES).unwrap();
        let error = check_count(20_000 * 1_218).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the regions have more than 5000000 instances"
        );
    }
}
