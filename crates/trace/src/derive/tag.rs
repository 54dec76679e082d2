//! CPU, waiting and ready time by process and stack tag.

use std::collections::BTreeMap;

use etwkit_base::intervals::SortedUnion;
use rustc_hash::FxHashMap;

use super::frames::Stacks;
use super::method::{Group, ProcessCpuData};
use crate::out::Out;
use crate::sink::{Sink, SinkError};
use crate::table::CpuTag;
use crate::tags::{TagSet, Tagged};

/// Sums for a tag of a process.
#[derive(Debug, Clone, Copy, Default)]
struct TagSum {
    group: Group,
    inclusive_ns: i64,
    threads: i64,
    last_thread: Option<i32>,
    wait: SortedUnion,
    ready: SortedUnion,
}

/// The tags of all stacks, by every set.
pub(super) struct Tags<'s> {
    sets: Vec<(&'s TagSet, Tagged)>,
}

impl<'s> Tags<'s> {
    pub(super) fn new(sets: &'s [TagSet], stacks: &Stacks) -> Self {
        Self {
            sets: sets.iter().map(|set| (set, stacks.tagged(set))).collect(),
        }
    }

    /// The sets, each with the tags of all stacks.
    pub(super) fn sets(&self) -> &[(&'s TagSet, Tagged)] {
        &self.sets
    }

    /// Writes the rows of a process, by set and name of the tag.
    pub(super) fn process(
        &self,
        of: ProcessCpuData<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let mut rows = Out::default();
        for (set, tagged) in &self.sets {
            let named: BTreeMap<&str, TagSum> = sums(tagged, of)
                .into_iter()
                .filter_map(|(tag, sum)| Some((tagged.name(tag)?, sum)))
                .collect();
            for (tag, sum) in named {
                rows.push(&row(of, set.name(), tag, &sum), sink)?;
            }
        }
        rows.flush(sink)
    }
}

/// The sums of each tag. A stack has one tag, so all time counts once.
fn sums(tagged: &Tagged, of: ProcessCpuData<'_>) -> FxHashMap<u32, TagSum> {
    let mut sums: FxHashMap<u32, TagSum> = FxHashMap::default();
    for (key, group) in of.groups {
        let Some(tag) = tagged.tag(key.stack) else {
            continue;
        };
        let sum = sums.entry(tag).or_default();
        sum.group.add(group);
        // Groups are sorted by thread, but groups of one thread may alternate between tags: each
        // tag remembers its own last thread.
        if sum.last_thread != Some(key.thread) {
            sum.last_thread = Some(key.thread);
            sum.threads += 1;
        }
    }
    // Only tags that stacks have as their own get a row.
    for (key, group) in of.groups.iter().filter(|(_, group)| group.samples > 0) {
        for tag in tagged.inclusive(key.stack) {
            if let Some(sum) = sums.get_mut(&tag) {
                sum.inclusive_ns = sum.inclusive_ns.saturating_add(group.cpu_ns);
            }
        }
    }
    let tag = |stack: Option<i32>| tagged.tag(stack.unwrap_or(-1));
    for (intervals, union) in [
        (of.waits, wait as fn(&mut TagSum) -> &mut SortedUnion),
        (of.readies, ready),
    ] {
        for interval in intervals {
            if let Some(sum) = tag(interval.stack).and_then(|tag| sums.get_mut(&tag)) {
                union(sum).add(interval.start, interval.end);
            }
        }
    }
    sums
}

const fn wait(sum: &mut TagSum) -> &mut SortedUnion {
    &mut sum.wait
}

const fn ready(sum: &mut TagSum) -> &mut SortedUnion {
    &mut sum.ready
}

fn row(of: ProcessCpuData<'_>, tag_set: &str, tag: &str, sum: &TagSum) -> CpuTag {
    let switched = |value: i64| of.has_switches.then_some(value);
    let group = &sum.group;
    CpuTag {
        process_key: of.process,
        tag_set: tag_set.to_owned(),
        tag: tag.to_owned(),
        samples: group.samples,
        cpu_ns: group.cpu_ns,
        inclusive_ns: Some(sum.inclusive_ns),
        wait_ns: switched(sum.wait.length()),
        ready_ns: switched(sum.ready.length()),
        wait_sum_ns: switched(group.wait_ns),
        ready_sum_ns: switched(group.ready_ns),
        switches: switched(group.switches),
        threads: sum.threads,
        first_ns: group.first_ns,
        last_ns: group.last_ns,
    }
}
