//! Marks that users set.

use etwkit_decode::kernel::sample::opcode;
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;
use etwkit_etl::bytes::Cursor;

use crate::declared::{Events, sums};
use crate::import::pipeline::{Context, Declaration, Importer, IsShown, Who};
use crate::sink::Sink;
use crate::table::{Mark, Row};

pub(crate) const DECLARATION: Declaration = Declaration {
    takes: &[Events::Kernel(group::PERFINFO, &[opcode::MARK])],
    tables: &[sums(Mark::TABLE)],
    make: |_| Box::new(Marks),
    ..Declaration::EMPTY
};

/// Each mark is a row; nothing is kept between events.
struct Marks;

impl Importer for Marks {
    fn kernel(
        &mut self,
        _: Hook,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        sink: &mut dyn Sink,
    ) -> IsShown {
        let ts_ns = context.ns(event.timestamp);
        if !context.range.contains(ts_ns) {
            return Ok(true);
        }
        let running = context.running_on(event.cpu);
        let who = running.map(|tid| context.of_thread(tid, event.timestamp));
        let row = Mark {
            ts_ns,
            cpu: event.cpu.into(),
            process_key: who.and_then(Who::process_key),
            thread_key: who.map(|who| who.thread_key),
            text: String::from_utf8_lossy(Cursor::new(event.payload()).ansi()).into_owned(),
        };
        context.tables.push(&row, sink)?;
        Ok(true)
    }
}
