//! The lanes of a kind, and their sums within a range.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::grid::bounds;
use crate::part::{
    CORE_SWITCHES, Dim, READY, RUNNING, SLOTS, SWITCHES, UNKNOWN, Values, waits_by_reason,
};
use crate::pieces::add;
use crate::requests::{Field, Lane, LaneKind, LanesAnswer, LanesRequest, Selection, Source};
use crate::store::Store;
use crate::tables::Rows;
use crate::timeline::{OfThreads, has, sorted};

/// Answers [`Pyramid::lanes`](crate::Pyramid::lanes).
pub(crate) fn answer(store: &Store, request: &LanesRequest) -> Result<LanesAnswer> {
    let mut source = Source::default();
    let lanes = match request.kind {
        LaneKind::Core => cores(store, request, &mut source)?,
        kind => threads(store, kind, request, &mut source)?,
    };
    let total = lanes.len();
    let lanes = lanes
        .into_iter()
        .skip(request.offset)
        .take(request.limit)
        .collect();
    Ok(LanesAnswer {
        lanes,
        total,
        source,
    })
}

fn threads(
    store: &Store,
    kind: LaneKind,
    request: &LanesRequest,
    source: &mut Source,
) -> Result<Vec<Lane>> {
    let OfThreads {
        processes,
        threads,
        dim,
    } = OfThreads::new(kind, &request.selection, source);
    let mut lanes: BTreeMap<(i32, Option<i32>), Values> = BTreeMap::new();
    for ((key, sub), values) in store.sums(dim, bounds(request.range), source)? {
        let process = if dim == Dim::Thread { sub } else { key };
        let is_asked =
            has(processes.as_ref(), process) && (dim == Dim::Process || has(threads.as_ref(), key));
        let lane = match kind {
            LaneKind::Thread => (key, (process != UNKNOWN).then_some(process)),
            _ => (process, None),
        };
        if is_asked {
            add(lanes.entry(lane).or_insert([0; SLOTS]), &values);
        }
    }
    let has_switches = store
        .tables
        .iter()
        .any(|table| table.rows == Rows::Switches);
    let lane = |((key, process_key), values): ((i32, Option<i32>), Values)| {
        let waiting = waits_by_reason(&values)
            .iter()
            .fold(0i64, |sum, time| sum.saturating_add(*time));
        Lane {
            key,
            process_key,
            running_ns: values[RUNNING],
            ready_ns: has_switches.then_some(values[READY]),
            waiting_ns: has_switches.then_some(waiting),
            switches: values[SWITCHES],
        }
    };
    let mut lanes: Vec<Lane> = lanes.into_iter().map(lane).collect();
    // Of equal times the smaller key comes first, so that pages of a long list neither repeat nor
    // skip a lane.
    lanes.sort_by_key(|lane| (-lane.running_ns, lane.key));
    Ok(lanes)
}

/// All requested processors, including those on which nothing ran.
fn cores(store: &Store, request: &LanesRequest, source: &mut Source) -> Result<Vec<Lane>> {
    let Selection {
        processes,
        threads,
        cores,
    } = &request.selection;
    source
        .not_applied
        .extend(threads.as_ref().map(|_| Field::Thread));
    let processes = sorted(processes.as_ref());
    let cores = sorted(cores.as_ref());
    // A manifest from an unknown source may name any number of processors, and each gets a lane.
    let known = 0..store.facts.processors.clamp(0, 1 << 12);
    let mut lanes: BTreeMap<i32, Values> = known.map(|core| (core, [0; SLOTS])).collect();
    for ((core, process), values) in store.sums(Dim::Core, bounds(request.range), source)? {
        if has(processes.as_ref(), process) {
            add(lanes.entry(core).or_insert([0; SLOTS]), &values);
        }
    }
    lanes.retain(|core, _| has(cores.as_ref(), *core));
    let lane = |(key, values): (i32, Values)| Lane {
        key,
        process_key: None,
        running_ns: values[RUNNING],
        ready_ns: None,
        waiting_ns: None,
        switches: values[CORE_SWITCHES],
    };
    Ok(lanes.into_iter().map(lane).collect())
}
