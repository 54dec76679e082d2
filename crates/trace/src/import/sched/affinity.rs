//! Changes of the processors on which threads may run.

use etwkit_decode::kernel::thread::{Affinity, opcode};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;

use crate::declared::{Events, sums};
use crate::import::pipeline::{Context, Declaration, Importer, IsShown};
use crate::sink::Sink;
use crate::table::{Row, ThreadAffinity};

pub(crate) const DECLARATION: Declaration = Declaration {
    takes: &[Events::Kernel(group::THREAD, &[opcode::AFFINITY])],
    tables: &[sums(ThreadAffinity::TABLE)],
    make: |_| Box::new(Affinities),
    ..Declaration::EMPTY
};

/// Each change is a row; nothing is kept between events.
struct Affinities;

impl Importer for Affinities {
    fn kernel(
        &mut self,
        _: Hook,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> IsShown {
        let Some(change) = Affinity::parse(event.payload(), event.pointer_size()) else {
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
            context.tables.push(&row, sink)?;
        }
        Ok(true)
    }
}
