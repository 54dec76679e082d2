//! Events of all buffers in global time order.
//!
//! Buffers are opened in the order of their first event and stay open until they are used up, so that
//! memory holds only the buffers that overlap the present: about one for each processor. That covers idle
//! processors that flush late, circular files that wrapped, appended and merged sessions, without a rule
//! for each. Equal time stamps keep the order of the files: file, buffer, position.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use super::load::{Bytes, Loaded};
use super::{Session, Walk};
use crate::RawEvent;
use crate::Result;
use crate::damage::{Kind, Place};
use crate::wire::record::{Cut, Trouble};

/// Memory for open buffers. A trace of 500 processors with 1 MiB buffers stays below; what needs more was
/// made to hurt.
const OPEN_BYTES_LIMIT: usize = 768 << 20;

/// Where an event stands in the global order.
type Key = (i64, u16, u32);

struct Open<'s> {
    bytes: Bytes<'s>,
    cuts: Vec<Cut>,
    next: usize,
    file: u16,
    buffer: u32,
    cpu: u16,
}

impl Open<'_> {
    fn held(&self) -> usize {
        self.bytes.held() + self.cuts.capacity() * size_of::<Cut>()
    }

    fn next_key(&self) -> Option<Key> {
        self.cuts.get(self.next).map(|cut| (cut.timestamp, self.file, self.buffer))
    }
}

pub(super) struct Merge<'s> {
    session: &'s Session,
    /// Buffers that are not open yet, by time of their first event, last one first.
    waiting: Vec<Key>,
    open: Vec<Option<Open<'s>>>,
    free: Vec<usize>,
    heads: BinaryHeap<Reverse<(Key, usize)>>,
    held: usize,
    spare: Vec<Vec<Cut>>,
    walk: Walk,
}

impl<'s> Merge<'s> {
    pub(super) fn new(session: &'s Session) -> Self {
        let mut waiting: Vec<Key> = session
            .files
            .iter()
            .zip(0u16..)
            .flat_map(|(file, f)| file.buffers.iter().zip(0u32..).map(move |(b, i)| (b.first_time, f, i)))
            .collect();
        waiting.sort_unstable_by(|a, b| b.cmp(a));
        Self {
            session,
            waiting,
            open: Vec::new(),
            free: Vec::new(),
            heads: BinaryHeap::new(),
            held: 0,
            spare: Vec::new(),
            walk: Walk::default(),
        }
    }

    pub(super) fn run(mut self, mut visit: impl FnMut(&RawEvent<'_>) -> ControlFlow<()>) -> Result<Walk> {
        loop {
            self.open_due()?;
            let Some(Reverse((_, slot))) = self.heads.pop() else { return Ok(self.walk) };
            let limit = self.limit();
            let Some(mut open) = self.open.get_mut(slot).and_then(Option::take) else { continue };
            let flow = self.emit(&mut open, limit, &mut visit);
            if flow.is_break() {
                return Ok(self.walk);
            }
            self.put_back(slot, open);
        }
    }

    /// Opens every buffer whose first event is not behind the earliest one at hand.
    fn open_due(&mut self) -> Result<()> {
        while let Some(&(time, file, buffer)) = self.waiting.last() {
            if self.heads.peek().is_some_and(|Reverse(((head, ..), _))| time > *head) {
                return Ok(());
            }
            self.waiting.pop();
            self.open_buffer(file, buffer)?;
        }
        Ok(())
    }

    fn open_buffer(&mut self, file: u16, buffer: u32) -> Result<()> {
        let session = self.session;
        let Some(trace) = session.files.get(usize::from(file)) else { return Ok(()) };
        let Some(entry) = trace.buffers.get(buffer as usize).filter(|b| b.header.holds_records()) else {
            return Ok(());
        };
        let mut place = Place { kind: Kind::Io, file: usize::from(file), offset: entry.offset, bytes: 0 };
        if self.held > OPEN_BYTES_LIMIT {
            self.walk.damage.add(Place { kind: Kind::TooManyOpenBuffers, bytes: entry.len.into(), ..place });
            return Ok(());
        }
        let loaded = Loaded::read(&*trace.source, entry, trace.format)?;
        if let Some((kind, bytes)) = loaded.damage {
            self.walk.damage.add(Place { kind, bytes, ..place });
        }
        let mut cuts = self.spare.pop().unwrap_or_default();
        let (mut ordered, mut previous) = (true, i64::MIN);
        let damage = &mut self.walk.damage;
        loaded.cut(
            |cut| {
                ordered &= cut.timestamp >= previous;
                previous = cut.timestamp;
                cuts.push(cut);
            },
            |trouble| {
                (place.kind, place.bytes) = trouble_of(trouble);
                damage.add(Place { offset: entry.offset + position_of(trouble), ..place.clone() });
            },
        );
        if !ordered {
            cuts.sort_by_key(|cut| cut.timestamp);
        }
        let cpu = entry.header.cpu();
        self.insert(Open { bytes: loaded.bytes, cuts, next: 0, file, buffer, cpu });
        Ok(())
    }

    fn insert(&mut self, open: Open<'s>) {
        self.held += open.held();
        let slot = self.free.pop().unwrap_or_else(|| {
            self.open.push(None);
            self.open.len() - 1
        });
        self.put_back(slot, open);
    }

    /// The first key that must wait for another buffer.
    fn limit(&self) -> Key {
        let head = self.heads.peek().map_or((i64::MAX, u16::MAX, u32::MAX), |Reverse((key, _))| *key);
        // A buffer that is not open yet may hold any number of events at its first time stamp.
        let waiting = self.waiting.last().map_or(head, |(time, ..)| (*time, 0, 0));
        head.min(waiting)
    }

    #[inline]
    fn emit(
        &mut self,
        open: &mut Open<'s>,
        limit: Key,
        visit: &mut impl FnMut(&RawEvent<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let bytes = open.bytes.as_slice();
        for cut in open.cuts.get(open.next..).unwrap_or_default() {
            if cut.timestamp >= limit.0 && (cut.timestamp, open.file, open.buffer) >= limit {
                // The last key of all has no limit behind it.
                if limit.0 != i64::MAX || !self.heads.is_empty() || !self.waiting.is_empty() {
                    break;
                }
            }
            open.next += 1;
            let start = cut.position as usize;
            let event = RawEvent {
                kind: cut.kind,
                timestamp: cut.timestamp,
                cpu: open.cpu,
                file: open.file,
                buffer: open.buffer,
                position: cut.position,
                record: bytes.get(start..start + usize::from(cut.len)).unwrap_or_default(),
            };
            self.walk.events += 1;
            visit(&event)?;
        }
        ControlFlow::Continue(())
    }

    fn put_back(&mut self, slot: usize, open: Open<'s>) {
        if let Some(key) = open.next_key() {
            self.heads.push(Reverse((key, slot)));
            if let Some(place) = self.open.get_mut(slot) {
                *place = Some(open);
            }
            return;
        }
        self.held -= open.held();
        self.free.push(slot);
        let mut cuts = open.cuts;
        cuts.clear();
        if self.spare.len() < 64 {
            self.spare.push(cuts);
        }
    }
}

pub(super) fn trouble_of(trouble: Trouble) -> (Kind, u64) {
    match trouble {
        Trouble::Skipped { len, .. } => (Kind::SkippedRecord, len as u64),
        Trouble::Broken { len, .. } => (Kind::RecordHeader, len as u64),
    }
}

pub(super) const fn position_of(trouble: Trouble) -> u64 {
    match trouble {
        Trouble::Skipped { position, .. } | Trouble::Broken { position, .. } => position as u64,
    }
}
