//! Lanes, timelines, series and moments: data of a trace's pyramid, with names.

mod buckets;
mod names;
mod selection;
mod states;
mod sums;

use std::collections::BTreeMap;
use std::sync::Arc;

use etwkit_pyramid as pyramid;
use etwkit_sql::Session;
use etwkit_sql::arrow::array::{ArrayRef, RecordBatch, UInt8Array};
use etwkit_sql::arrow::datatypes::{DataType, Field as ArrowField, Schema};
use etwkit_sql::functions::wait_reason_name;

use crate::api::Call;
use crate::problem::{Problem, Result};
use crate::stack;
use crate::state::Ready;
use crate::wire::{
    Field, Lane, LaneKind, LanesAnswer, LanesRequest, Moment, MomentRequest, Range, Series,
    SeriesAnswer, SeriesKind, SeriesRequest, Slice, Source, TimelineHeader, TimelineRequest,
};
use buckets::Buckets;
use names::{LaneName, named};
use selection::{ResolvedSelection, chosen};
use states::Origin;
use sums::Sums;

/// Key of the unknown process.
const UNKNOWN: i32 = -1;

/// Bound of the times that a pyramid distinguishes, also for negative ones.
const FARTHEST: i64 = 1 << 61;

/// Largest number of lanes in an answer.
const MOST_LANES: u32 = 1_000;

impl From<pyramid::Error> for Problem {
    fn from(error: pyramid::Error) -> Self {
        use pyramid::Error as E;
        let problem = match &error {
            E::NotRecorded { .. } => Self::not_recorded(error.to_string()),
            E::Limit { .. } => Self::limit(error.to_string()),
            E::Store(error) => return Self::of_table(error),
            _ => Self::internal(error.to_string()),
        };
        problem.hinted(error.hint())
    }
}

const fn kind(kind: LaneKind) -> pyramid::LaneKind {
    match kind {
        LaneKind::Core => pyramid::LaneKind::Core,
        LaneKind::Process => pyramid::LaneKind::Process,
        LaneKind::Thread => pyramid::LaneKind::Thread,
    }
}

const fn range(range: Range) -> pyramid::Range {
    pyramid::Range {
        from_ns: range.from_ns,
        to_ns: range.to_ns,
    }
}

const fn sent(range: pyramid::Range) -> Range {
    Range {
        from_ns: range.from_ns,
        to_ns: range.to_ns,
    }
}

/// Returns a part of the trace as a pyramid reads it: an empty one gets a length of one nanosecond.
fn bounds(Range { from_ns, to_ns }: Range) -> Range {
    let from_ns = from_ns.clamp(-FARTHEST, FARTHEST);
    Range {
        from_ns,
        to_ns: to_ns
            .clamp(-FARTHEST, FARTHEST)
            .max(from_ns.saturating_add(1)),
    }
}

fn origin(pyramid: &pyramid::Pyramid) -> Origin {
    let pyramid::Bounds {
        has_switches,
        processors,
        ..
    } = pyramid.bounds();
    Origin {
        has_switches,
        processors,
    }
}

/// Returns the source of an answer of a pyramid, with the statement that gives the same numbers.
fn source(
    call: &Call<'_>,
    ready: &Ready,
    of: pyramid::Source,
    mut not_applied: Vec<Field>,
    sql: Option<String>,
) -> Source {
    let field = |field: pyramid::Field| match field {
        pyramid::Field::Process => Field::Process,
        pyramid::Field::Thread => Field::Thread,
        pyramid::Field::Core => Field::Core,
    };
    not_applied.extend(of.not_applied.into_iter().map(field));
    let notes = of.notes.into_iter().map(str::to_owned).collect();
    let asked = match sql {
        Some(sql) => call.of_sql(ready, sql, of.rows_read),
        None => Source {
            rows_read: of.rows_read,
            took_ms: call.took_ms(),
            ..Source::default()
        },
    };
    Source {
        not_applied,
        notes,
        ..asked
    }
}

pub(crate) fn lanes(call: &Call<'_>, request: &LanesRequest) -> Result<LanesAnswer> {
    if request.limit > MOST_LANES {
        return Err(Problem::bad(format!(
            "at most {MOST_LANES} lanes are answered at once"
        )));
    }
    let ready = call.ready(request.trace)?;
    let pyramid = ready.pyramid()?;
    let session = call.session(&ready)?;
    let chosen = chosen(&session, &request.selection)?;
    let part = request.selection.range.unwrap_or(ready.opening.range);
    let answer = pyramid.lanes(&pyramid::LanesRequest {
        kind: kind(request.kind),
        selection: chosen.keys.clone(),
        range: range(part),
        limit: request.limit as usize,
        offset: request.offset as usize,
    })?;
    let keys: Vec<i32> = answer.lanes.iter().map(|lane| lane.key).collect();
    let names = named(&session, request.kind, &keys)?;
    let lane = |lane: &pyramid::Lane| {
        let LaneName {
            label,
            detail,
            start_ns,
            stop_ns,
        } = names
            .get(&lane.key)
            .cloned()
            .unwrap_or_else(|| LaneName::unknown(request.kind, lane.key));
        Lane {
            key: lane.key,
            label,
            detail,
            process_key: lane.process_key,
            running_ns: lane.running_ns,
            ready_ns: lane.ready_ns,
            waiting_ns: lane.waiting_ns,
            start_ns,
            stop_ns,
        }
    };
    let lanes = answer.lanes.iter().map(lane).collect();
    // The pyramid answers. The statement gives the same numbers from the tables, so that they can
    // be checked.
    let sql = origin(pyramid).lanes(request, &chosen, part);
    let source = source(call, &ready, answer.source, chosen.not_applied, Some(sql));
    Ok(LanesAnswer {
        lanes,
        total: u32::try_from(answer.total).unwrap_or(u32::MAX),
        source,
    })
}

pub(crate) fn timeline(call: &Call<'_>, request: &TimelineRequest) -> Result<Vec<u8>> {
    let ready = call.ready(request.trace)?;
    let pyramid = ready.pyramid()?;
    let chosen = if request.selection.chips.is_empty() {
        // Without conditions only pages are read.
        ResolvedSelection::default()
    } else {
        chosen(&call.session(&ready)?, &request.selection)?
    };
    let answer = pyramid.timeline(&pyramid::TimelineRequest {
        kind: kind(request.kind),
        keys: request.keys.clone(),
        range: range(request.range),
        buckets: request.buckets,
        selection: chosen.keys.clone(),
    })?;
    let drawn = Buckets {
        range: sent(answer.header.range),
        count: answer.header.buckets,
    };
    let sql = buckets::timeline(origin(pyramid), request, &chosen, drawn);
    let header = TimelineHeader {
        range: drawn.range,
        buckets: drawn.count,
        palette: answer.header.palette,
        switches: answer.header.switches,
        source: source(call, &ready, answer.source, chosen.not_applied, Some(sql)),
    };
    arrow(&header, answer.columns).map_err(|error| Problem::internal(error.to_string()))
}

fn arrow(
    header: &TimelineHeader,
    columns: Vec<(&'static str, Vec<u8>)>,
) -> std::result::Result<Vec<u8>, Box<dyn std::error::Error>> {
    // The columns are only the bytes of the picture; everything else is in the metadata of the
    // schema.
    let metadata = [("header".to_owned(), serde_json::to_string(header)?)].into();
    let fields: Vec<ArrowField> = columns
        .iter()
        .map(|(name, _)| ArrowField::new(*name, DataType::UInt8, false))
        .collect();
    let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
    let arrays = columns
        .into_iter()
        .map(|(_, values)| Arc::new(UInt8Array::from(values)) as ArrayRef);
    let batch = RecordBatch::try_new(schema.clone(), arrays.collect())?;
    let mut writer = etwkit_sql::arrow::ipc::writer::StreamWriter::try_new(Vec::new(), &schema)?;
    writer.write(&batch)?;
    writer.finish()?;
    Ok(writer.into_inner()?)
}

const fn measured(kind: SeriesKind) -> pyramid::SeriesKind {
    match kind {
        SeriesKind::Cpu => pyramid::SeriesKind::Cpu,
        SeriesKind::Disk => pyramid::SeriesKind::Disk,
        SeriesKind::DiskBusy => pyramid::SeriesKind::DiskBusy,
        SeriesKind::File => pyramid::SeriesKind::File,
        SeriesKind::Net => pyramid::SeriesKind::Net,
        SeriesKind::Events => pyramid::SeriesKind::Events,
        SeriesKind::Marks => pyramid::SeriesKind::Marks,
    }
}

pub(crate) fn series(call: &Call<'_>, request: &SeriesRequest) -> Result<SeriesAnswer> {
    let ready = call.ready(request.trace)?;
    let pyramid = ready.pyramid()?;
    let session = call.session(&ready)?;
    let chosen = chosen(&session, &request.selection)?;
    let answer = pyramid.series(&pyramid::SeriesRequest {
        kind: measured(request.kind),
        range: range(request.range),
        buckets: request.buckets,
        top: request.top,
        selection: chosen.keys.clone(),
    })?;
    let keys: Vec<i32> = answer
        .series
        .iter()
        .filter_map(|series| series.key)
        .collect();
    let names = match request.kind {
        SeriesKind::DiskBusy => {
            let disk = |key: &i32| {
                (
                    *key,
                    LaneName {
                        label: format!("disk {key}"),
                        ..LaneName::default()
                    },
                )
            };
            keys.iter().map(disk).collect()
        }
        _ => named(&session, LaneKind::Process, &keys)?,
    };
    let one = |series: pyramid::Series| {
        let label = series
            .key
            .and_then(|key| names.get(&key))
            .map(|named| named.label.clone());
        let unnamed = match request.kind {
            SeriesKind::Events => "events",
            SeriesKind::Marks => "marks",
            _ => "others",
        };
        let label = label.unwrap_or_else(|| unnamed.to_owned());
        Series {
            key: series.key,
            label,
            total: series.total,
            values: series.values,
        }
    };
    let sums = Sums {
        origin: origin(pyramid),
        chosen: &chosen,
        range: request.range,
        named: keys.len(),
        has_net_io: session.has_rows("net_io") == Some(true),
    };
    let sql = sums.sql(request.kind);
    let source = source(call, &ready, answer.source, chosen.not_applied, Some(sql));
    Ok(SeriesAnswer {
        range: sent(answer.range),
        capacity: answer.capacity,
        unit: answer.unit.to_owned(),
        series: answer.series.into_iter().map(one).collect(),
        source,
    })
}

pub(crate) fn moment(call: &Call<'_>, request: &MomentRequest) -> Result<Moment> {
    let ready = call.ready(request.trace)?;
    let pyramid = ready.pyramid()?;
    let request = MomentRequest {
        at_ns: request.at_ns.clamp(-FARTHEST, FARTHEST),
        within_ns: request.within_ns.clamp(0, pyramid::MAX_WITHIN_NS),
        ..*request
    };
    let found = pyramid.moment(&pyramid::MomentRequest {
        kind: kind(request.kind),
        key: request.key,
        at_ns: request.at_ns,
        within_ns: request.within_ns,
    })?;
    let session = call.session(&ready)?;
    let slice = found
        .slice
        .map(|slice| slice_of(&session, &slice))
        .transpose()?;
    let sql = origin(pyramid).moment(&request);
    Ok(Moment {
        slice,
        source: source(call, &ready, found.source, Vec::new(), sql),
    })
}

fn slice_of(session: &Session, slice: &pyramid::Slice) -> Result<Slice> {
    let threads: Vec<i32> = [Some(slice.thread_key), slice.readying_thread_key]
        .into_iter()
        .flatten()
        .collect();
    let threads = named(session, LaneKind::Thread, &threads)?;
    let processes = named(session, LaneKind::Process, slice.process_key.as_slice())?;
    let label = |names: &BTreeMap<i32, LaneName>, key: Option<i32>| {
        key.and_then(|key| names.get(&key))
            .map(|named| named.label.clone())
    };
    let frames = session.frames()?;
    let stack = |id: Option<i32>| match (id, frames.trace(0)) {
        (Some(id), Some(frames)) => stack::named(frames, id),
        _ => Vec::new(),
    };
    Ok(Slice {
        state: slice.state.name().to_owned(),
        range: sent(slice.range),
        thread_key: slice.thread_key,
        thread: label(&threads, Some(slice.thread_key))
            .unwrap_or_else(|| "unknown thread".to_owned()),
        process_key: slice.process_key.unwrap_or(-1),
        process: label(&processes, slice.process_key)
            .unwrap_or_else(|| "unknown process".to_owned()),
        core: slice.core,
        wait_reason: slice.wait_reason.map(wait_reason_name),
        stack: stack(slice.stack_id),
        readying_thread_key: slice.readying_thread_key,
        readying_thread: label(&threads, slice.readying_thread_key),
        readying_stack: stack(slice.readying_stack_id),
        ready_ns: slice.ready_ns,
    })
}
