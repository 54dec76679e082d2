//! The activity of a lane at a moment.

use arrow_array::RecordBatch;
use etwkit_trace::derive::MissingColumn;
use etwkit_trace::derive::columns::{Get, boolean, int32, int64};

use crate::error::{Error, Result};
use crate::part::{Dim, Part, READY, RUNNING, UNKNOWN, bounded};
use crate::requests::{
    LaneKind, MAX_WITHIN_NS, Moment, MomentRequest, Range, Slice, Source, State,
};
use crate::store::Store;
use crate::tables::Rows;

/// Answers [`Pyramid::moment`](crate::Pyramid::moment).
pub(crate) fn answer(store: &Store, request: &MomentRequest) -> Result<Moment> {
    let mut source = Source::default();
    let dim = match request.kind {
        LaneKind::Core => Dim::Core,
        LaneKind::Thread => Dim::Thread,
        // A process has many threads, so no single slice can be its answer.
        LaneKind::Process => {
            return Ok(Moment {
                slice: None,
                source,
            });
        }
    };
    let table = store
        .table(dim)
        .filter(|table| table.rows == Rows::Switches);
    let table = table.ok_or_else(|| store.not_recorded("context_switch"))?;
    let at = bounded(request.at_ns);
    let within = request.within_ns.clamp(0, MAX_WITHIN_NS);
    let mut nearest: Option<(i64, Part)> = None;
    // One nanosecond more, because the end of a range is exclusive.
    store.parts(
        table,
        (at - within, at + within + 1),
        &mut source,
        &mut |part| {
            let distance = if part.start > at {
                part.start - at
            } else {
                (at - part.end + 1).max(0)
            };
            let is_of_lane = part.dim == dim && part.key == request.key && !part.is_moment();
            // Of two slices at the same distance the earlier one is taken, so that the answer does
            // not depend on the order of the rows.
            let is_nearer = nearest
                .is_none_or(|(before, other)| (distance, part.start) < (before, other.start));
            if is_of_lane && distance <= within && is_nearer {
                nearest = Some((distance, *part));
            }
        },
    )?;
    let Some((_, part)) = nearest else {
        return Ok(Moment {
            slice: None,
            source,
        });
    };
    let row = part.row;
    let mut slice = None;
    source.rows_read +=
        table
            .base()?
            .read(None, (row, row.saturating_add(1)), &mut |batch, _| {
                slice = read(batch, &part).map_err(Error::column(table.rows.table()))?;
                Ok(())
            })?;
    Ok(Moment { slice, source })
}

/// The slice of a row that one of its parts belongs to.
fn read(batch: &RecordBatch, part: &Part) -> std::result::Result<Option<Slice>, MissingColumn> {
    let number = |name| int32(batch, name).map(|column| column.get(0));
    let state = match part.slot {
        RUNNING => State::Running,
        READY => State::Ready,
        _ => State::Waiting,
    };
    let Some(thread_key) = number("thread_key")? else {
        return Ok(None);
    };
    Ok(Some(Slice {
        state,
        range: Range {
            from_ns: part.start,
            to_ns: part.end,
        },
        thread_key,
        process_key: number("process_key")?.filter(|key| *key != UNKNOWN),
        core: number("cpu")?.filter(|_| state == State::Running),
        wait_reason: number("wait_reason")?,
        stack_id: number("stack_id")?,
        readying_thread_key: number("readying_thread_key")?,
        readying_stack_id: number("readying_stack_id")?,
        is_readied_by_dpc: boolean(batch, "is_readied_by_dpc")?.get(0).unwrap_or(false),
        ready_ns: int64(batch, "ready_ns")?.get(0),
    }))
}
