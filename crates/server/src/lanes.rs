//! Lanes, timelines, series and moments: what the pyramid of a trace knows, with names.

use std::collections::BTreeMap;
use std::sync::Arc;

use etwkit_pyramid as pyramid;
use etwkit_query::Session;
use etwkit_query::arrow::array::{ArrayRef, RecordBatch, UInt8Array};
use etwkit_query::arrow::datatypes::{DataType, Field as ArrowField, Schema};
use etwkit_query::functions::wait_reason_name;

use crate::api::{Call, word};
use crate::cells::{self, asked, key, text, whole};
use crate::problem::{Problem, Result};
use crate::select::{keys, processes};
use crate::stack;
use crate::state::Ready;
use crate::tables::{process_label, thread_label};
use crate::wire::{
    Field, Lane, LaneKind, LanesAnswer, LanesRequest, Moment, MomentRequest, Range, Selection, Series,
    SeriesAnswer, SeriesKind, SeriesRequest, Slice, Source, TimelineHeader, TimelineRequest,
};

/// Lanes of an answer, at most.
const MOST_LANES: u32 = 1_000;

impl From<pyramid::Error> for Problem {
    fn from(error: pyramid::Error) -> Self {
        use pyramid::Error as E;
        let problem = match &error {
            E::NotRecorded { .. } => Self::not_recorded(error.to_string()),
            E::Limit { .. } => Self::limit(error.to_string()),
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
    pyramid::Range { from_ns: range.from_ns, to_ns: range.to_ns }
}

const fn sent(range: pyramid::Range) -> Range {
    Range { from_ns: range.from_ns, to_ns: range.to_ns }
}

/// A selection as keys, and the fields of chips that a pyramid has nothing of.
fn selection(session: &Session, selection: &Selection) -> Result<(pyramid::Selection, Vec<Field>)> {
    let (mut selected, mut not_applied) = (pyramid::Selection::default(), Vec::new());
    for chip in &selection.chips {
        let (list, of, named) = match chip.field {
            Field::Process => (&mut selected.processes, LaneKind::Process, keys(&chip.values)?),
            Field::ProcessName => {
                (&mut selected.processes, LaneKind::Process, processes(session, &chip.values)?)
            }
            Field::Thread => (&mut selected.threads, LaneKind::Thread, keys(&chip.values)?),
            Field::Core => (&mut selected.cores, LaneKind::Core, keys(&chip.values)?),
            other => {
                if !not_applied.contains(&other) {
                    not_applied.push(other);
                }
                continue;
            }
        };
        let named = if chip.exclude {
            all(session, of)?.into_iter().filter(|key| !named.contains(key)).collect()
        } else {
            named
        };
        *list = Some(match list.take() {
            Some(before) => before.into_iter().filter(|key| named.contains(key)).collect(),
            None => named,
        });
    }
    Ok((selected, not_applied))
}

/// Keys of all processors, processes or threads.
fn all(session: &Session, of: LaneKind) -> Result<Vec<i32>> {
    let keys = |sql| cells::keys(session, sql, 1_000_000);
    match of {
        LaneKind::Core => {
            let count = keys("SELECT processors FROM trace")?.first().copied().unwrap_or_default();
            Ok((0..count).collect())
        }
        LaneKind::Process => keys("SELECT process_key FROM process"),
        LaneKind::Thread => keys("SELECT thread_key FROM thread"),
    }
}

/// How an answer of a pyramid came about.
fn source(call: &Call<'_>, of: pyramid::Source, mut not_applied: Vec<Field>) -> Source {
    let field = |field: pyramid::Field| match field {
        pyramid::Field::Process => Field::Process,
        pyramid::Field::Thread => Field::Thread,
        pyramid::Field::Core => Field::Core,
    };
    not_applied.extend(of.not_applied.into_iter().map(field));
    Source {
        rows_read: of.rows_read,
        took_ms: call.took_ms(),
        not_applied,
        notes: of.notes.into_iter().map(str::to_owned).collect(),
        ..Source::default()
    }
}

/// The command line for a part of a trace.
fn command(ready: &Ready, question: &str, part: Option<Range>) -> String {
    let seconds = |ns: i64| format!("{}.{:09}", ns.div_euclid(1_000_000_000), ns.rem_euclid(1_000_000_000));
    let part = part.filter(|part| part.from_ns >= 0).map_or_else(String::new, |part| {
        format!(" --range {}..{}", seconds(part.from_ns), seconds(part.to_ns))
    });
    format!("etwkit dump {question}{part} {}", word(&ready.named.display().to_string()))
}

/// What is known of a lane beside its numbers.
#[derive(Debug, Default, Clone)]
struct Named {
    label: String,
    detail: String,
    start_ns: Option<i64>,
    stop_ns: Option<i64>,
}

/// Names of these lanes.
fn named(session: &Session, of: LaneKind, keys: &[i32]) -> Result<BTreeMap<i32, Named>> {
    if keys.is_empty() {
        return Ok(BTreeMap::new());
    }
    let list = keys.iter().map(i32::to_string).collect::<Vec<_>>().join(", ");
    let sql = match of {
        LaneKind::Core => format!(
            "SELECT cpu, concat('CPU ', cpu), CASE WHEN efficiency_class IS NOT NULL THEN concat('efficiency class ', efficiency_class) ELSE '' END,
             CAST(NULL AS BIGINT) AS start_ns, CAST(NULL AS BIGINT) AS stop_ns FROM cpu_core WHERE cpu IN ({list})"
        ),
        LaneKind::Process => format!(
            "SELECT p.process_key, {}, coalesce(p.command_line, ''), p.start_ns, p.stop_ns
             FROM process p WHERE p.process_key IN ({list})",
            process_label("p")
        ),
        LaneKind::Thread => format!(
            "SELECT t.thread_key, {}, coalesce(t.name, ''), t.start_ns, t.stop_ns
             FROM thread t LEFT JOIN process p ON p.process_key = t.process_key WHERE t.thread_key IN ({list})",
            thread_label("t", "p")
        ),
    };
    let mut all = BTreeMap::new();
    for row in asked(session, &sql, keys.len())?.rows {
        let words = |at: usize| row.get(at).and_then(text).unwrap_or_default().to_owned();
        let (start_ns, stop_ns) = (row.get(3).and_then(whole), row.get(4).and_then(whole));
        if let Some(key) = row.first().and_then(key) {
            all.insert(key, Named { label: words(1), detail: words(2), start_ns, stop_ns });
        }
    }
    for key in keys {
        let unknown = match of {
            LaneKind::Core => format!("CPU {key}"),
            LaneKind::Process => "unknown process".to_owned(),
            LaneKind::Thread => "unknown thread".to_owned(),
        };
        all.entry(*key).or_insert(Named { label: unknown, ..Named::default() });
    }
    Ok(all)
}

pub(crate) fn lanes(call: &Call<'_>, request: &LanesRequest) -> Result<LanesAnswer> {
    if request.limit > MOST_LANES {
        return Err(Problem::bad(format!("at most {MOST_LANES} lanes are asked at once")));
    }
    let ready = call.ready(request.trace)?;
    let pyramid = ready.pyramid()?;
    let session = call.session(&ready)?;
    let (selected, not_applied) = selection(&session, &request.selection)?;
    let part = request.selection.range.unwrap_or(ready.opening.range);
    let answer = pyramid.lanes(&pyramid::LanesRequest {
        kind: kind(request.kind),
        selection: selected,
        range: range(part),
        limit: usize::try_from(request.limit).unwrap_or_default(),
        offset: usize::try_from(request.offset).unwrap_or_default(),
    })?;
    let keys: Vec<i32> = answer.lanes.iter().map(|lane| lane.key).collect();
    let names = named(&session, request.kind, &keys)?;
    let lane = |lane: &pyramid::Lane| {
        let Named { label, detail, start_ns, stop_ns } = names.get(&lane.key).cloned().unwrap_or_default();
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
    let question = match request.kind {
        LaneKind::Core => "cores",
        LaneKind::Process | LaneKind::Thread => "cpu",
    };
    let mut source = source(call, answer.source, not_applied);
    source.command = command(&ready, question, request.selection.range);
    Ok(LanesAnswer { lanes, total: u32::try_from(answer.total).unwrap_or(u32::MAX), source })
}

pub(crate) fn timeline(call: &Call<'_>, request: &TimelineRequest) -> Result<Vec<u8>> {
    let ready = call.ready(request.trace)?;
    let pyramid = ready.pyramid()?;
    let (selected, not_applied) = if request.selection.chips.is_empty() {
        // Without conditions nothing but pages is read.
        (pyramid::Selection::default(), Vec::new())
    } else {
        selection(&call.session(&ready)?, &request.selection)?
    };
    let answer = pyramid.timeline(&pyramid::TimelineRequest {
        kind: kind(request.kind),
        keys: request.keys.clone(),
        range: range(request.range),
        buckets: request.buckets,
        selection: selected,
    })?;
    let header = TimelineHeader {
        range: sent(answer.header.range),
        buckets: answer.header.buckets,
        palette: answer.header.palette,
        switches: answer.header.switches,
        source: source(call, answer.source, not_applied),
    };
    arrow(&header, answer.columns).map_err(|error| Problem::internal(error.to_string()))
}

fn arrow(
    header: &TimelineHeader,
    columns: Vec<(&'static str, Vec<u8>)>,
) -> std::result::Result<Vec<u8>, Box<dyn std::error::Error>> {
    let metadata = [("header".to_owned(), serde_json::to_string(header)?)].into();
    let fields: Vec<ArrowField> =
        columns.iter().map(|(name, _)| ArrowField::new(*name, DataType::UInt8, false)).collect();
    let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
    let arrays = columns.into_iter().map(|(_, values)| Arc::new(UInt8Array::from(values)) as ArrayRef);
    let batch = RecordBatch::try_new(schema.clone(), arrays.collect())?;
    let mut writer = etwkit_query::arrow::ipc::writer::StreamWriter::try_new(Vec::new(), &schema)?;
    writer.write(&batch)?;
    writer.finish()?;
    Ok(writer.into_inner()?)
}

const fn measured(kind: SeriesKind) -> (pyramid::SeriesKind, &'static str) {
    match kind {
        SeriesKind::Cpu => (pyramid::SeriesKind::Cpu, "cpu"),
        SeriesKind::Disk => (pyramid::SeriesKind::Disk, "disk"),
        SeriesKind::DiskBusy => (pyramid::SeriesKind::DiskBusy, "disk"),
        SeriesKind::File => (pyramid::SeriesKind::File, "file"),
        SeriesKind::Net => (pyramid::SeriesKind::Net, "net"),
        SeriesKind::Events => (pyramid::SeriesKind::Events, "stats"),
        SeriesKind::Marks => (pyramid::SeriesKind::Marks, "mark"),
    }
}

pub(crate) fn series(call: &Call<'_>, request: &SeriesRequest) -> Result<SeriesAnswer> {
    let ready = call.ready(request.trace)?;
    let pyramid = ready.pyramid()?;
    let session = call.session(&ready)?;
    let (selected, not_applied) = selection(&session, &request.selection)?;
    let (kind, question) = measured(request.kind);
    let answer = pyramid.series(&pyramid::SeriesRequest {
        kind,
        range: range(request.range),
        buckets: request.buckets,
        top: request.top,
        selection: selected,
    })?;
    let keys: Vec<i32> = answer.series.iter().filter_map(|series| series.key).collect();
    let names = match request.kind {
        SeriesKind::DiskBusy => {
            let disk = |key: &i32| (*key, Named { label: format!("disk {key}"), ..Named::default() });
            keys.iter().map(disk).collect()
        }
        _ => named(&session, LaneKind::Process, &keys)?,
    };
    let one = |series: pyramid::Series| {
        let label = series.key.and_then(|key| names.get(&key)).map(|named| named.label.clone());
        let unnamed = match request.kind {
            SeriesKind::Events => "events",
            SeriesKind::Marks => "marks",
            _ => "others",
        };
        let label = label.unwrap_or_else(|| unnamed.to_owned());
        Series { key: series.key, label, total: series.total, values: series.values }
    };
    let mut source = source(call, answer.source, not_applied);
    source.command = command(&ready, question, Some(request.range));
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
    let found = pyramid.moment(&pyramid::MomentRequest {
        kind: kind(request.kind),
        key: request.key,
        at_ns: request.at_ns,
        within_ns: request.within_ns.clamp(0, pyramid::MAX_WITHIN_NS),
    })?;
    let session = call.session(&ready)?;
    let slice = found.slice.map(|slice| slice_of(&session, &slice)).transpose()?;
    Ok(Moment { slice, source: source(call, found.source, Vec::new()) })
}

fn slice_of(session: &Session, slice: &pyramid::Slice) -> Result<Slice> {
    let threads: Vec<i32> =
        [Some(slice.thread_key), slice.readying_thread_key].into_iter().flatten().collect();
    let threads = named(session, LaneKind::Thread, &threads)?;
    let processes = named(session, LaneKind::Process, slice.process_key.as_slice())?;
    let label = |names: &BTreeMap<i32, Named>, key: Option<i32>| {
        key.and_then(|key| names.get(&key)).map(|named| named.label.clone())
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
        thread: label(&threads, Some(slice.thread_key)).unwrap_or_default(),
        process_key: slice.process_key.unwrap_or(-1),
        process: label(&processes, slice.process_key).unwrap_or_else(|| "unknown process".to_owned()),
        core: slice.core,
        wait_reason: slice.wait_reason.map(wait_reason_name),
        stack: stack(slice.stack_id),
        readying_thread_key: slice.readying_thread_key,
        readying_thread: label(&threads, slice.readying_thread_key),
        readying_stack: stack(slice.readying_stack_id),
        ready_ns: slice.ready_ns,
    })
}
