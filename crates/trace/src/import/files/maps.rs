//! Files that are mapped into processes.

use etwkit_decode::kernel::virtual_memory::{FileMap, opcode};
use etwkit_decode::kernel::{Hook, group};
use etwkit_etl::RawEvent;
use rustc_hash::FxHashMap;

use crate::declared::{Events, rows};
use crate::import::pipeline::{
    Context, Declaration, Importer, IsShown, Learned, Pending, Seq, StackSource, key, waiting,
};
use crate::sink::{Sink, SinkError};
use crate::table::{self, Row};
use crate::tracker::process::ProcessKey;

pub(crate) const DECLARATION: Declaration = Declaration {
    takes: &[Events::Kernel(
        group::FILE,
        &[
            opcode::MAP,
            opcode::UNMAP,
            opcode::MAP_START,
            opcode::MAP_END,
        ],
    )],
    tables: &[rows(table::FileMap::TABLE)],
    make: |_| Box::new(Maps::default()),
    ..Declaration::EMPTY
};

/// Maximum number of mapped files, some 800 MiB. A trace with more of them is malicious.
const MAX_OPEN: usize = 1 << 22;

/// First address in a process.
type MapKey = (Option<ProcessKey>, u64);

#[derive(Debug)]
struct OpenMapping {
    row: table::FileMap,
    start: Option<Seq>,
}

/// Matches starts with ends.
#[derive(Debug, Default)]
struct Maps {
    open: FxHashMap<MapKey, OpenMapping>,
    next_id: i32,
    /// Number of mapped files that are not followed because there are too many.
    dropped: u64,
}

impl Maps {
    fn event(
        &mut self,
        hook: Hook,
        read: &FileMap,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
    ) {
        let time = event.timestamp;
        let ns = context.ns(event.timestamp);
        if !context.range.contains(ns) {
            return;
        }
        let process = context.directory.process_at(read.pid, time);
        let tid = context.thread_of(event);
        let who = tid.map(|tid| context.of_thread(tid, time));
        let (whose, place) = match (tid, who) {
            // A thread may map into another process; its stack belongs to its own process.
            (Some(tid), Some(who)) => (StackSource::Thread(tid), who.process.or(process)),
            _ => (StackSource::Process(read.pid), process),
        };
        let thread = who.map(|who| who.thread_key);
        let of = (process, read.base);
        match hook.opcode {
            opcode::MAP => {
                // The unmapping of the previous view was lost.
                if let Some(mut lost) = self.open.remove(&of) {
                    lost.row.outcome = "reused";
                    context.wait(time, None, None, pending(lost.row, lost.start));
                }
                let mut row = self.row(read, process, "map", time, context);
                (row.map_ns, row.map_thread_key) = (Some(ns), thread);
                let start = context.wait_for(time, whose, place, Pending::Start);
                self.insert(
                    of,
                    OpenMapping {
                        row,
                        start: Some(start),
                    },
                    context,
                );
            }
            opcode::UNMAP => {
                let open = match self.open.remove(&of) {
                    Some(open) => open,
                    None => OpenMapping {
                        // The view was mapped before the trace, or its mapping was lost.
                        row: self.row(read, process, "unknown", time, context),
                        start: None,
                    },
                };
                let mut row = open.row;
                (row.unmap_ns, row.unmap_thread_key, row.outcome) = (Some(ns), thread, "unmapped");
                row.lifetime_ns = row.map_ns.map(|map| ns.saturating_sub(map));
                context.wait_for(time, whose, place, pending(row, open.start));
            }
            // The list at the end contains views that were mapped in the trace once more.
            _ if !self.open.contains_key(&of) => {
                let row = self.row(read, process, "rundown", time, context);
                self.insert(of, OpenMapping { row, start: None }, context);
            }
            _ => {}
        }
    }

    fn row(
        &mut self,
        read: &FileMap,
        process: Option<ProcessKey>,
        origin: &'static str,
        time: i64,
        context: &Context<'_>,
    ) -> table::FileMap {
        let map_id = self.next_id;
        self.next_id = self.next_id.saturating_add(1);
        table::FileMap {
            map_id,
            process_key: key(process),
            address: read.base as i64,
            size_bytes: i64::try_from(read.size).unwrap_or(i64::MAX),
            offset_bytes: read.offset.map(|offset| offset as i64),
            path: context.path(read.file_key, time),
            file_key: read.file_key as i64,
            flags: read.flags.into(),
            origin,
            ..table::FileMap::default()
        }
    }

    fn insert(&mut self, of: MapKey, open: OpenMapping, context: &mut Context<'_>) {
        if self.open.len() < MAX_OPEN {
            self.open.insert(of, open);
            return;
        }
        self.dropped += 1;
        open.start
            .into_iter()
            .for_each(|start| context.forget(start));
    }
}

impl Importer for Maps {
    fn kernel(
        &mut self,
        hook: Hook,
        event: &RawEvent<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> IsShown {
        let read = FileMap::parse(event.payload(), hook.version, event.pointer_size());
        let Some(read) = read else { return Ok(false) };
        self.event(hook, &read, event, context);
        Ok(true)
    }

    /// Writes the files that are still mapped.
    fn finish(
        self: Box<Self>,
        learned: Learned<'_>,
        context: &mut Context<'_>,
        _: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let end = learned.collected.end;
        context.notes.not_followed += self.dropped;
        // A hash map has no order, and the same input has to give the same output.
        let mut open: Vec<(MapKey, OpenMapping)> = self.open.into_iter().collect();
        open.sort_unstable_by_key(|((process, base), open)| {
            (open.row.map_ns, process.map(|process| process.0), *base)
        });
        for ((process, _), mut open) in open {
            open.row.outcome = if context.has_ended(process, end) {
                "process_end"
            } else {
                "open"
            };
            context.wait(end, None, None, pending(open.row, open.start));
        }
        Ok(())
    }
}

/// The stack of the unmapping is the row's own.
fn pending(row: table::FileMap, map: Option<Seq>) -> Pending {
    waiting::row(row, move |row, stacks| {
        (row.map_stack_id, row.unmap_stack_id) = (stacks.of(map), stacks.own());
    })
}
