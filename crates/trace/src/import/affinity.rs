//! Changes of the processors on which threads may run.

use etwkit_decode::kernel::thread;
use etwkit_etl::RawEvent;

use super::context::Context;
use crate::sink::{Sink, SinkError};
use crate::table::ThreadAffinity;

/// Takes a change of the processors of a thread. Returns whether it is one.
pub(super) fn event(
    event: &RawEvent<'_>,
    context: &mut Context<'_>,
    sink: &mut dyn Sink,
) -> Result<bool, SinkError> {
    let Some(change) = thread::Affinity::parse(event.payload(), event.pointer_size()) else {
        return Ok(false);
    };
    let ts_ns = context.ns(event.timestamp);
    if context.range.contains(ts_ns) {
        let row = ThreadAffinity {
            ts_ns,
            thread_key: context.of_thread(change.tid, event.timestamp).thread_key,
            processor_group: change.group.into(),
            affinity: change.mask as i64,
        };
        context.tables.thread_affinity.push(&row, sink)?;
    }
    Ok(true)
}
