//! Files that are mapped into processes.

use etwkit_decode::kernel::Hook;
use etwkit_decode::kernel::virtual_memory::{FileMap, opcode};
use etwkit_etl::RawEvent;
use rustc_hash::FxHashMap;

use super::context::{Context, Pending};
use super::handles::has_ended;
use super::identity::key;
use super::io::path;
use super::line::{Seq, Whose};
use crate::table;
use crate::tracker::process::ProcessKey;

/// Mapped files that are held at most, some 800 MiB. A trace with more of them was made to have them.
const MAX_OPEN: usize = 1 << 22;

/// First address in a process.
type Place = (Option<ProcessKey>, u64);

#[derive(Debug)]
struct Open {
    row: Box<table::FileMap>,
    start: Option<Seq>,
}

/// Pairs begins with ends.
#[derive(Debug, Default)]
pub(super) struct Maps {
    open: FxHashMap<Place, Open>,
    next_id: i32,
    /// Mapped files that are not followed, since there are too many.
    pub(super) dropped: u64,
}

impl Maps {
    /// Takes an event; `running` is the thread on its processor. Returns whether a table shows it.
    pub(super) fn event(
        &mut self,
        hook: Hook,
        event: &RawEvent<'_>,
        running: Option<u32>,
        context: &mut Context<'_>,
    ) -> bool {
        let Some(read) = FileMap::parse(event.payload(), hook.version, event.pointer_size()) else {
            return false;
        };
        let (time, ns) = (event.timestamp, context.ns(event.timestamp));
        if !context.range.contains(ns) {
            return true;
        }
        let process = context.directory.process_at(read.pid, time);
        let tid = event.thread_id().or(running);
        let who = tid.map(|tid| context.of_thread(tid, time));
        let (whose, place) = match (tid, who) {
            (Some(tid), Some(who)) => (Whose::Thread(tid), who.process.or(process)),
            _ => (Whose::Process(read.pid), process),
        };
        let thread = who.map(|who| who.thread_key);
        let of = (process, read.base);
        match hook.opcode {
            opcode::MAP => {
                if let Some(mut lost) = self.open.remove(&of) {
                    lost.row.outcome = "reused";
                    context.wait(time, None, None, Pending::FileMap(lost.row, lost.start));
                }
                let mut row = self.row(&read, process, "map", time, context);
                (row.map_ns, row.map_thread_key) = (Some(ns), thread);
                let start = context.wait_for(time, whose, place, Pending::Start);
                self.insert(of, Open { row, start: Some(start) }, context);
            }
            opcode::UNMAP => {
                let open = match self.open.remove(&of) {
                    Some(open) => open,
                    None => Open { row: self.row(&read, process, "unknown", time, context), start: None },
                };
                let mut row = open.row;
                (row.unmap_ns, row.unmap_thread_key, row.outcome) = (Some(ns), thread, "unmapped");
                row.lifetime_ns = row.map_ns.map(|map| ns.saturating_sub(map));
                context.wait_for(time, whose, place, Pending::FileMap(row, open.start));
            }
            _ if !self.open.contains_key(&of) => {
                let row = self.row(&read, process, "rundown", time, context);
                self.insert(of, Open { row, start: None }, context);
            }
            _ => {}
        }
        true
    }

    fn row(
        &mut self,
        read: &FileMap,
        process: Option<ProcessKey>,
        origin: &'static str,
        time: i64,
        context: &Context<'_>,
    ) -> Box<table::FileMap> {
        let map_id = self.next_id;
        self.next_id = self.next_id.saturating_add(1);
        Box::new(table::FileMap {
            map_id,
            process_key: key(process),
            address: read.base as i64,
            size_bytes: i64::try_from(read.size).unwrap_or(i64::MAX),
            offset_bytes: read.offset.map(|offset| offset as i64),
            path: path(read.file_key, time, context),
            file_key: read.file_key as i64,
            flags: read.flags.into(),
            origin,
            ..table::FileMap::default()
        })
    }

    fn insert(&mut self, of: Place, open: Open, context: &mut Context<'_>) {
        if self.open.len() < MAX_OPEN {
            self.open.insert(of, open);
            return;
        }
        self.dropped += 1;
        open.start.into_iter().for_each(|start| context.forget(start));
    }

    /// Writes the files that are mapped.
    pub(super) fn finish(self, end: i64, context: &mut Context<'_>) {
        let mut open: Vec<(Place, Open)> = self.open.into_iter().collect();
        open.sort_unstable_by_key(|((process, base), open)| {
            (open.row.map_ns, process.map(|process| process.0), *base)
        });
        for ((process, _), mut open) in open {
            open.row.outcome = if has_ended(process, end, context) { "process_end" } else { "open" };
            context.wait(end, None, None, Pending::FileMap(open.row, open.start));
        }
    }
}
