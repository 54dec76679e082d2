//! Regions of interest: intervals between two events, defined in a file of Windows Performance
//! Analyzer and found in an extract.
//!
//! - `manifest`, `definition`, `order`: the file
//! - `events`: the events that it names
//! - `find`, `tree`, `naming`: instances, their nesting, and their names
//! - `rows`, `question`: answers, and their presentation
//!
//! `docs/regions.md` explains each element.

mod definition;
mod events;
mod find;
mod manifest;
mod naming;
mod order;
mod question;
mod rows;
mod tree;

use std::collections::{HashMap, HashSet};

use etwkit_base::index::{Idx, IndexVec};
use etwkit_question::group::Top;
use etwkit_question::range::{Range, Unit};
use etwkit_question::{Descriptions, NamedFile, group, option};
use etwkit_question::{Error, ProcessQuery, ask, has_rows};
use etwkit_sql::Session;
use etwkit_sql::filter::TextFilter;
pub use etwkit_sql::xml::FileError as ManifestError;
use etwkit_sql::xml::Warnings;

use crate::Result;
pub use definition::Manifest;
use definition::{Region, Test};
use events::{Event, Events};
use find::{FoundInstances, Instance, find};
use naming::Names;
use rows::sum;
pub use rows::{RegionInstance, RegionRow};
use tree::Parents;

etwkit_question::declare! {
    /// Options of `dump region`.
    pub request RegionRequest {
        /// Files that describe events
        descriptions: Descriptions = group(),
        /// Processes that started or ended the instance
        processes: ProcessQuery = group(),
        /// Number of rows, largest first
        top: Top = group(),
        /// Definition of the regions: a Regions of Interest file of Windows Performance Analyzer
        manifest: NamedFile<Manifest> = option("FILE").called("regions").required(),
        /// Only these regions, by name or friendly name (*, ?, several with ;, ! excludes)
        region: Option<String> = option("REGIONS"),
        /// Only instances with these names (*, ?, several with ;, ! excludes)
        instance: Option<String> = option("NAMES"),
        /// List instances, each with the instances inside it
        details: bool = option("").shape(),
        /// With --details: also starts without an end
        open: bool = option("").requires("details"),
        /// Only instances with this duration (ms)
        duration: Range = option("A..B").unit(Unit::Milliseconds),
        /// Only regions with this number of instances
        count: Range = option("A..B").unit(Unit::Count).excludes(&["details"]),
        /// Only instances that overlap with this part of the trace (s)
        time: Range = option("A..B").called("range").unit(Unit::Moment),
        /// Order: default is duration, with --details time
        sort: RegionSort = option("ORDER").called("sort-by").shape(),
    }

    /// Orders of regions and of instances.
    pub words RegionSort {
        "default" => Usual = "Regions by duration, instances by time.",
        "time" => Time = "Start; of sums the first one.",
        "duration" => Duration = "Duration; of sums the total.",
        "count" => Count = "Instances.",
        "max" => Max = "Longest instance.",
        "mean" => Mean = "Mean duration.",
        "name" => Name = "Name.",
    }
}

/// The regions of a file that are in a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct RegionAnswer<R> {
    /// Rows, ascending.
    pub rows: Vec<R>,
    /// Events of the file that the extract does not have.
    pub missing: Vec<String>,
}

/// All results.
struct Solved {
    events: Events,
    found: FoundInstances,
    missing: Vec<String>,
}

/// The definition of regions before a file was read: there are none.
// A request exists before its files are read.
static NONE: Manifest = Manifest {
    regions: IndexVec::new(),
    events: IndexVec::new(),
    by_guid: Vec::new(),
    warnings: Warnings::new(),
};

impl RegionRequest {
    fn manifest(&self) -> &Manifest {
        self.manifest.content.as_deref().unwrap_or(&NONE)
    }

    /// Returns the SQL for the events with which regions start and end. Instances are found in its
    /// answer.
    #[must_use]
    pub fn sql(&self) -> String {
        events::sql(self.manifest())
    }

    /// Queries sums.
    ///
    /// # Errors
    /// The extract has none of the events; the query fails.
    pub fn ask(&self, session: &Session) -> Result<RegionAnswer<RegionRow>> {
        let solved = self.solve(session)?;
        // Instances already passed the filters, so that sums and `--details` agree.
        let instances = self.instances(&solved, session)?;
        let mut by_region: HashMap<&str, Vec<&RegionInstance>> = HashMap::new();
        for instance in &instances {
            by_region
                .entry(&instance.region_guid)
                .or_default()
                .push(instance);
        }
        let mut rows: Vec<RegionRow> = Vec::new();
        // In the order of the file, so that regions with equal sums keep its order.
        for (place, region) in self.manifest().regions.enumerate() {
            let of = by_region
                .get(region.guid.as_str())
                .map_or(&[][..], Vec::as_slice);
            let mut row = sum(of.iter().copied());
            (row.region, row.friendly_name) = (region.name.clone(), region.friendly_name.clone());
            row.region_guid.clone_from(&region.guid);
            row.depth = self.depth(place);
            row.open_starts = solved.found.open[place].len() as i64;
            row.open_stops = solved.found.ends[place] as i64;
            let is_asked = self.is_asked(&region.name, region.friendly_name.as_deref());
            if is_asked
                // Regions of which the trace has nothing would only hide the others.
                && row.count + row.open_starts + row.open_stops > 0
                && self.count.contains(Some(row.count))
            {
                rows.push(row);
            }
        }
        self.sort_rows(&mut rows);
        self.top.cut(&mut rows);
        Ok(RegionAnswer {
            rows,
            missing: solved.missing,
        })
    }

    /// Queries instances.
    ///
    /// # Errors
    /// The errors of [`Self::ask`].
    pub fn ask_instances(&self, session: &Session) -> Result<RegionAnswer<RegionInstance>> {
        let solved = self.solve(session)?;
        let mut rows = self.instances(&solved, session)?;
        self.sort_instances(&mut rows);
        self.top.cut(&mut rows);
        Ok(RegionAnswer {
            rows,
            missing: solved.missing,
        })
    }

    fn solve(&self, session: &Session) -> Result<Solved> {
        // Without `read_files`, which reports the missing option itself.
        if self.manifest.content.is_none() {
            return Err(Error::NotThere {
                message: "no file defines regions".to_owned(),
                how: "name one with --regions FILE; `etwkit docs regions` shows its contents"
                    .to_owned(),
            });
        }
        // The check comes first, since an empty answer would look as if no region ever happened.
        if !has_rows(session, "generic_event")? && !has_rows(session, "mark")? {
            // The extract does not record whether none were recorded or none were kept, so the hint
            // has both.
            return Err(Error::NotThere {
                message: "the extract has no single events".to_owned(),
                how: format!(
                    "{}; an extract made with `--detail summary` does not hold single events, `--detail full` does",
                    how_to_record(&self.manifest().providers())
                ),
            });
        }
        let events = Events::read(self.manifest(), session)?;
        let patterns = self.manifest().events.enumerate();
        let missing: Vec<String> = patterns
            .filter(|(place, _)| events.of(*place).is_empty())
            .map(|(_, event)| described(event))
            .collect();
        // Some may be missing, as when a program did not get that far; all of them are a wrong
        // recording.
        if missing.len() == self.manifest().events.len() {
            return Err(Error::NotThere {
                message: "the extract has none of the events that the file of regions names"
                    .to_owned(),
                how: format!(
                    "{}; events that have tables of their own (see `etwkit docs sql`) are not found here",
                    how_to_record(&self.manifest().providers())
                ),
            });
        }
        // Circles were left out when the file was read.
        let order = order::of(self.manifest()).map_err(|circle| Error::NotThere {
            message: format!("{} regions depend on each other in circles", circle.len()),
            how: "remove the circles from the file of regions".to_owned(),
        })?;
        let found = find(self.manifest(), &order, &events)?;
        Ok(Solved {
            events,
            found,
            missing,
        })
    }

    /// Returns the requested instances, in the order of their starts.
    fn instances(&self, solved: &Solved, session: &Session) -> Result<Vec<RegionInstance>> {
        let events = &solved.events;
        let found = &solved.found;
        // Containment crosses regions, so all of them are in one list.
        let all: IndexVec<Instance> = found.ended.iter().flatten().cloned().collect();
        let parents = tree::parents(self.manifest(), &all, events);
        let names = Names::new(self.manifest(), &all, session)?;
        // Numbers follow the starts; if two start together, the longer one comes first, since it may contain
        // the other.
        let mut by_begin: Vec<Idx<Instance>> = all.positions().collect();
        by_begin.sort_by_key(|place| {
            let i = &all[*place];
            (i.start_ns, std::cmp::Reverse(i.stop_ns), i.region, i.start)
        });
        let mut ids = IndexVec::filled(0i64, &all);
        for (id, place) in (0i64..).zip(&by_begin) {
            ids[*place] = id;
        }
        let depths = depths(&parents);
        // Names of processes are filtered in SQL, where their rules are, and only keys are
        // compared here.
        let of_processes = self.process_keys(session)?;
        let mut rows = Vec::new();
        for place in by_begin {
            let row = RegionInstance {
                parent_id: parents[place].map(|parent| ids[parent]),
                depth: depths[place],
                ..self.row(&all[place], events, &names, ids[place])
            };
            // After numbering: an instance has the same number whatever is asked for.
            if self.is_wanted(&row, of_processes.as_ref()) {
                rows.push(row);
            }
        }
        if self.open {
            // Starts without an end come after all others, so that the numbers of those do not
            // change.
            for (id, instance) in (all.len() as i64..).zip(found.open.iter().flatten()) {
                let row = self.row(instance, events, &names, id);
                if self.is_wanted(&row, of_processes.as_ref()) {
                    rows.push(row);
                }
            }
        }
        Ok(rows)
    }

    fn row(
        &self,
        instance: &Instance,
        events: &Events,
        names: &Names<'_>,
        id: i64,
    ) -> RegionInstance {
        let region = &self.manifest().regions[instance.region];
        let event = |place: Option<Idx<Event>>| place.map(|place| &events.all[place]);
        let start = event(instance.start);
        let stop = event(instance.stop);
        let text = |text: &std::sync::Arc<str>| text.to_string();
        let process =
            |event: Option<&Event>| event.and_then(|event| event.process.as_ref().map(text));
        let name = |event: Option<&Event>| event.and_then(|event| event.name.as_ref().map(text));
        let facts: Vec<String> = region
            .metadata
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        RegionInstance {
            id,
            parent_id: None,
            depth: 0,
            region: region.name.clone(),
            friendly_name: region.friendly_name.clone(),
            region_guid: region.guid.clone(),
            instance: names.of(instance, events),
            start_ns: instance.start_ns,
            stop_ns: instance.stop_ns,
            duration_ns: instance
                .stop_ns
                .map(|stop| stop.saturating_sub(instance.start_ns)),
            start_process_key: start.and_then(|event| event.process_key),
            start_pid: start.and_then(|event| event.pid),
            start_process: process(start),
            start_tid: start.and_then(|event| event.tid),
            stop_process_key: stop.and_then(|event| event.process_key),
            stop_pid: stop.and_then(|event| event.pid),
            stop_process: process(stop),
            stop_tid: stop.and_then(|event| event.tid),
            provider: start.map(|event| text(&event.provider)),
            start_event: name(start),
            stop_event: name(stop),
            start_fields: start.and_then(|event| event.fields.clone()),
            stop_fields: stop.and_then(|event| event.fields.clone()),
            metadata: (!facts.is_empty()).then(|| facts.join(";")),
        }
    }

    fn is_asked(&self, name: &str, friendly_name: Option<&str>) -> bool {
        let Some(filter) = self.region.as_deref() else {
            return true;
        };
        // An excluded name excludes the region whatever its other name is, while one matching name
        // is enough.
        let (positive, negative) = etwkit_sql::filter::split(filter);
        let names = [Some(name), friendly_name];
        let of = |filter: &str| TextFilter::parse(filter);
        positive.is_none_or(|filter| {
            names
                .iter()
                .flatten()
                .any(|name| of(&filter).matches(Some(name)))
        }) && negative.is_none_or(|filter| {
            names
                .iter()
                .flatten()
                .all(|name| of(&filter).matches(Some(name)))
        })
    }

    fn is_wanted(&self, row: &RegionInstance, processes: Option<&HashSet<i64>>) -> bool {
        // The start or the end is enough: a region may begin in one process and end in another.
        let of = |key: Option<i64>| {
            key.is_some_and(|key| processes.is_some_and(|keys| keys.contains(&key)))
        };
        let instance = self.instance.as_deref().map(TextFilter::parse);
        let from = self.time.min;
        let to = self.time.max;
        // An instance that did not end has no duration: any limit excludes it.
        let lasts = if self.duration.is_unlimited() {
            true
        } else {
            row.duration_ns
                .is_some_and(|duration| self.duration.contains(Some(duration)))
        };
        self.is_asked(&row.region, row.friendly_name.as_deref())
            && instance.is_none_or(|filter| filter.matches(row.instance.as_deref()))
            && (processes.is_none() || of(row.start_process_key) || of(row.stop_process_key))
            // Parts that only overlap with the range count as well, as for waits and I/O.
            && row.start_ns <= to
            && row.stop_ns.is_none_or(|stop| stop >= from)
            && lasts
    }

    /// Returns the keys of the requested processes; `None` for all.
    fn process_keys(&self, session: &Session) -> Result<Option<HashSet<i64>>> {
        // No condition means all, also instances whose events have no process.
        let conditions = self.processes.conditions();
        if conditions.is_empty() {
            return Ok(None);
        }
        // Processes of the whole trace: pids come back, keys do not.
        let rows: Vec<ProcessKeyRow> = ask(
            session,
            &format!(
                "SELECT p.process_key FROM process p WHERE {}",
                conditions.joined()
            ),
        )?;
        Ok(Some(rows.into_iter().map(|row| row.process_key).collect()))
    }

    /// The number of regions around a region in the file.
    fn depth(&self, place: Idx<Region>) -> i64 {
        let parent = |place: Idx<Region>| self.manifest().regions[place].parent;
        std::iter::successors(parent(place), |place| parent(*place)).count() as i64
    }

    fn sort_rows(&self, rows: &mut [RegionRow]) {
        match self.sort {
            RegionSort::Time => rows.sort_by_key(|row| (row.first_start_ns, row.depth)),
            // The usual order of sums puts what took longest first.
            RegionSort::Usual | RegionSort::Duration => rows.sort_by_key(|row| row.duration_ns),
            RegionSort::Count => rows.sort_by_key(|row| row.count),
            RegionSort::Max => rows.sort_by_key(|row| row.max_duration_ns),
            RegionSort::Mean => {
                // Regions without instances go last, and none is shorter than 0.
                let mean = |row: &RegionRow| row.mean_duration_ns.unwrap_or(-1.0);
                rows.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
            }
            RegionSort::Name => rows.sort_by(|a, b| a.region.cmp(&b.region)),
        }
    }

    fn sort_instances(&self, rows: &mut [RegionInstance]) {
        match self.sort {
            RegionSort::Duration | RegionSort::Max | RegionSort::Mean | RegionSort::Count => {
                rows.sort_by_key(|row| (row.duration_ns, row.start_ns, row.id));
            }
            RegionSort::Name => {
                rows.sort_by(|a, b| {
                    (&a.region, &a.instance, a.id).cmp(&(&b.region, &b.instance, b.id))
                });
            }
            RegionSort::Usual | RegionSort::Time => {
                rows.sort_by_key(|row| {
                    (
                        row.start_ns,
                        // Longer ones first, so that an instance comes before what is in it.
                        std::cmp::Reverse(row.stop_ns),
                        row.depth,
                        row.id,
                    )
                });
            }
        }
    }
}

etwkit_question::declare! {
    /// A process.
    row ProcessKeyRow {
        process_key: i64 = "Its key.",
    }
}

/// How many instances are around each instance.
fn depths(parents: &Parents) -> IndexVec<Instance, i64> {
    let mut depths: IndexVec<Instance, Option<i64>> = IndexVec::filled(None, parents);
    for place in parents.positions() {
        // Up to an instance whose depth is known, then back down. No recursion, since a region that nests in
        // itself may be as deep as the number of events.
        let mut way = Vec::new();
        let mut at = Some(place);
        while let Some(here) = at.filter(|here| depths[*here].is_none()) {
            way.push(here);
            at = parents[here];
        }
        let known = at.and_then(|here| depths[here]);
        let first = known.map_or(0, |depth| depth + 1);
        for (depth, here) in (first..).zip(way.into_iter().rev()) {
            depths[here] = Some(depth);
        }
    }
    // The loop visits every instance.
    // So no default is ever used.
    let known = depths.iter().map(|depth| depth.unwrap_or(0));
    known.collect()
}

/// Returns advice that names the providers of the events.
fn how_to_record(providers: &[&str]) -> String {
    let noun = match providers {
        [_] => "provider",
        _ => "providers",
    };
    format!("record the {noun} {}", providers.join(", "))
}

/// Describes an event of a file of regions for people.
fn described(event: &definition::EventPattern) -> String {
    let part = |name: &str, number: Option<i32>| number.map(|number| format!("{name} {number}"));
    let fields = event.payload.iter().map(|condition| {
        let (word, value) = match (&condition.test, condition.is_not) {
            (Test::Equals(value), false) => ("=", value.as_str()),
            (Test::Equals(value), true) => ("other than", value.as_str()),
            (Test::Contains(value), false) => ("with", value.as_str()),
            (Test::Contains(value), true) => ("without", value.as_str()),
            (Test::Fits(expression), false) => ("like", expression.text()),
            (Test::Fits(expression), true) => ("unlike", expression.text()),
        };
        // Quoted, since values may have spaces.
        format!("{} {word} {value:?}", condition.field)
    });
    let parts = [
        Some(event.provider.clone()),
        part("id", event.id),
        part("version", event.version),
        part("opcode", event.opcode),
        event.name.clone(),
    ];
    parts
        .into_iter()
        .flatten()
        .chain(fields)
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::how_to_record;

    #[test]
    fn one_provider_is_singular() {
        assert_eq!(how_to_record(&["a"]), "record the provider a");
        assert_eq!(how_to_record(&["a", "b"]), "record the providers a, b");
    }
}
