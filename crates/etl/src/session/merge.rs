//! Events of all buffers in global time order.
//!
//! Buffers are opened in the order of their first event and stay open until they are used up. So
//! memory holds only the buffers that overlap the current time: about one for each processor. This
//! one rule covers idle processors that flush late, circular files that wrapped, and appended and
//! merged sessions. Equal time stamps keep the order of the files: file, buffer, position.
//!
//! The order in which buffers are opened is known from the start, so a second thread loads,
//! decompresses and cuts them ahead.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, available_parallelism};

use super::load::{self, Bytes};
use super::{Pass, Session};
use crate::RawEvent;
use crate::Result;
use crate::bytes::tail;
use crate::damage::{Damage, DamageAt, DamageKind};
use crate::wire::record::Cut;

/// Memory limit for open buffers. A trace of 500 processors with 1 MiB buffers stays below it; a
/// file that needs more was made to exhaust memory.
const OPEN_BYTES_LIMIT: usize = 768 << 20;

/// Position of an event in the global order: time stamp, file and buffer, in one number that
/// compares fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u128);

impl Key {
    /// A position after every event.
    const END: Self = Self(u128::MAX);

    const fn new(time: i64, file: u16, buffer: u32) -> Self {
        // Flipping the sign bit sorts negative times before positive ones.
        let time = time.cast_unsigned() ^ 1 << 63;
        // File and buffer break ties: equal stamps keep the order in which the session wrote them,
        // in every run.
        Self((time as u128) << 48 | (file as u128) << 32 | buffer as u128)
    }

    const fn time(self) -> i64 {
        ((self.0 >> 48) as u64 ^ 1 << 63).cast_signed()
    }

    const fn file(self) -> u16 {
        (self.0 >> 32) as u16
    }

    const fn buffer(self) -> u32 {
        self.0 as u32
    }
}

struct OpenBuffer<'s> {
    bytes: Bytes<'s>,
    cuts: Vec<Cut>,
    next: usize,
    file: u16,
    buffer: u32,
    cpu: u16,
}

impl OpenBuffer<'_> {
    fn held(&self) -> usize {
        self.bytes.held() + self.cuts.capacity() * size_of::<Cut>()
    }

    #[inline]
    fn next_key(&self) -> Option<Key> {
        self.cuts
            .get(self.next)
            .map(|cut| Key::new(cut.timestamp, self.file, self.buffer))
    }

    /// Emits events up to `limit`, the first key of another buffer.
    #[inline]
    fn emit(
        &mut self,
        limit: Key,
        events: &mut u64,
        visit: &mut impl FnMut(&RawEvent<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let bytes = self.bytes.as_slice();
        for cut in tail(&self.cuts, self.next) {
            // Compared before it is emitted: another buffer may have the next event of the whole
            // trace.
            if Key::new(cut.timestamp, self.file, self.buffer) >= limit {
                break;
            }
            self.next += 1;
            *events += 1;
            visit(&cut.event(bytes, self.cpu, (self.file, self.buffer)))?;
        }
        ControlFlow::Continue(())
    }
}

/// A buffer that was loaded and cut, and the damage in it.
struct Ready<'s> {
    open: OpenBuffer<'s>,
    damage: Damage,
}

/// Loads a buffer, shows each of its events to `ahead` and keeps the wanted ones. `None` if it
/// holds no events.
fn load<'s>(
    session: &'s Session,
    key: Key,
    ahead: &mut impl FnMut(&RawEvent<'_>) -> bool,
) -> Result<Option<Ready<'s>>> {
    let file = key.file();
    let buffer = key.buffer();
    let Some(trace) = session.files.get(usize::from(file)) else {
        return Ok(None);
    };
    let Some(entry) = trace
        .buffers
        .get(buffer as usize)
        .filter(|b| b.header.holds_records())
    else {
        return Ok(None);
    };
    let mut damage = Damage::default();
    let mut cuts = Vec::with_capacity(entry.len as usize / USUAL_RECORD);
    let cpu = entry.header.cpu();
    let mut ordered = true;
    let mut previous = i64::MIN;
    let bytes = load::cut(trace, file, entry, &mut damage, |bytes, cut| {
        // Every event is shown to `ahead`, also those that are not kept: the caller counts and
        // measures all of them.
        if !ahead(&cut.event(bytes, cpu, (file, buffer))) {
            return;
        }
        // Checked while the buffer is cut, so that the usual one needs no sort.
        ordered &= cut.timestamp >= previous;
        previous = cut.timestamp;
        cuts.push(cut);
    })?;
    // The usual buffer is in order and is not sorted. The sort is stable: equal stamps keep their
    // positions.
    if !ordered {
        cuts.sort_by_key(|cut| cut.timestamp);
    }
    Ok(Some(Ready {
        open: OpenBuffer {
            bytes,
            cuts,
            next: 0,
            file,
            buffer,
            cpu,
        },
        damage,
    }))
}

/// Bytes of a record, for a first guess of how many a buffer has.
const USUAL_RECORD: usize = 64;

/// Limits for buffers that another thread loads ahead: their bytes, and their number. With few of
/// them the threads wake each other all the time; many do not fit into the cache.
const AHEAD_BYTES: usize = 4 << 20;
const AHEAD: std::ops::RangeInclusive<usize> = 2..=64;

/// Buffers that are loaded ahead, by the largest one of the session, which has a byte at least.
fn buffers_ahead(session: &Session) -> usize {
    // Memory use is the decompressed size of a compressed buffer, and the stored size of any other.
    let size = |b: &super::BufferEntry| b.header.offset.max(b.len) as usize;
    let largest = session
        .files
        .iter()
        .flat_map(|file| &file.buffers)
        .map(size)
        .fold(1, usize::max);
    (AHEAD_BYTES / largest).clamp(*AHEAD.start(), *AHEAD.end())
}

/// The source of the next buffer.
enum Supply<'s, A> {
    /// It is loaded when it is needed.
    Here(&'s Session, A),
    /// Another thread has loaded it.
    Ahead(Receiver<Result<Option<Ready<'s>>>>),
}

impl<'s, A: FnMut(&RawEvent<'_>) -> bool> Supply<'s, A> {
    /// The buffer of `key`; keys must come in the order in which they wait.
    fn next(&mut self, key: Key) -> Result<Option<Ready<'s>>> {
        match self {
            Self::Here(session, ahead) => load(session, key, ahead),
            // It ends early only with its thread, whose panic the scope passes on.
            Self::Ahead(buffers) => buffers.recv().unwrap_or(Ok(None)),
        }
    }
}

struct Merge<'s, A> {
    session: &'s Session,
    supply: Supply<'s, A>,
    /// Buffers by time of their first event, and how many of them were opened.
    order: &'s [Key],
    opened: usize,
    open: Vec<Option<OpenBuffer<'s>>>,
    free: Vec<usize>,
    heads: BinaryHeap<Reverse<(Key, usize)>>,
    held: usize,
    pass: Pass,
}

/// Shows all events to `ahead`, buffer by buffer, and emits the wanted ones in order.
pub(super) fn run(
    session: &Session,
    mut ahead: impl FnMut(&RawEvent<'_>) -> bool + Send,
    mut visit: impl FnMut(&RawEvent<'_>) -> ControlFlow<()>,
) -> Result<Pass> {
    // The times of the directory order the buffers, so that none has to be read before its turn.
    let keys = |(file, f): (&super::TraceFile, u16)| {
        file.buffers
            .iter()
            .zip(0u32..)
            .map(move |(b, i)| Key::new(b.first_time, f, i))
            .collect::<Vec<_>>()
    };
    let mut order: Vec<Key> = session.files.iter().zip(0u16..).flat_map(keys).collect();
    order.sort_unstable();
    let order = order.as_slice();
    // Starting a thread costs more than it saves for a handful of buffers, and with one core the
    // two threads would only take turns.
    // A quarter of what would be loaded ahead: below that the thread has nothing to do.
    let few = order.len() < *AHEAD.end() / 4
        || available_parallelism().is_ok_and(|cores| cores.get() == 1);
    let pass = if few {
        None
    } else {
        run_ahead(session, order, &mut ahead, &mut visit)
    };
    // The system may have no thread left.
    pass.unwrap_or_else(|| Merge::new(session, Supply::Here(session, ahead), order).run(visit))
}

/// Merges buffers that a second thread reads ahead; `None` if there can be none.
fn run_ahead(
    session: &Session,
    order: &[Key],
    ahead: &mut (impl FnMut(&RawEvent<'_>) -> bool + Send),
    visit: impl FnMut(&RawEvent<'_>) -> ControlFlow<()>,
) -> Option<Result<Pass>> {
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(buffers_ahead(session));
        // The channel is bounded, so the reader stops when it is that far ahead. When the merge
        // ends early it drops its receiver, sending fails, and the thread ends.
        let send = move |key: &Key| sender.send(load(session, *key, ahead)).map_err(drop);
        let read = move || order.iter().try_for_each(send);
        thread::Builder::new()
            .name("read".to_owned())
            .spawn_scoped(scope, read)
            .ok()?;
        let supply: Supply<'_, fn(&RawEvent<'_>) -> bool> = Supply::Ahead(receiver);
        Some(Merge::new(session, supply, order).run(visit))
    })
}

impl<'s, A: FnMut(&RawEvent<'_>) -> bool> Merge<'s, A> {
    fn new(session: &'s Session, supply: Supply<'s, A>, order: &'s [Key]) -> Self {
        Self {
            session,
            supply,
            order,
            opened: 0,
            open: Vec::new(),
            free: Vec::new(),
            heads: BinaryHeap::new(),
            held: 0,
            pass: Pass::default(),
        }
    }

    fn run(mut self, mut visit: impl FnMut(&RawEvent<'_>) -> ControlFlow<()>) -> Result<Pass> {
        loop {
            // Opened before the earliest event is looked at: a new buffer may have an earlier one.
            self.open_due()?;
            let Some(Reverse((_, slot))) = self.heads.peek().copied() else {
                return Ok(self.pass);
            };
            let limit = self.limit();
            let Some(open) = self.open.get_mut(slot).and_then(Option::as_mut) else {
                self.heads.pop();
                continue;
            };
            // Events up to the limit come from one buffer, without touching the heap for each.
            if open
                .emit(limit, &mut self.pass.events, &mut visit)
                .is_break()
            {
                return Ok(self.pass);
            }
            match open.next_key() {
                // The heap restores its order when the borrow ends.
                Some(key) => {
                    if let Some(mut head) = self.heads.peek_mut() {
                        *head = Reverse((key, slot));
                    }
                }
                // The heap entry of a buffer is removed only when the buffer is used up.
                None => self.close_first(slot),
            }
        }
    }

    /// The next buffer that is not open yet.
    #[inline]
    fn waiting(&self) -> Option<Key> {
        self.order.get(self.opened).copied()
    }

    /// Opens every buffer whose first event is not after the earliest event of the open buffers.
    #[inline]
    fn open_due(&mut self) -> Result<()> {
        while let Some(key) = self.waiting() {
            // Only times are compared. A buffer that starts at exactly the time of the earliest
            // event is also opened, because its number may place it first.
            if self
                .heads
                .peek()
                .is_some_and(|Reverse((head, _))| key.time() > head.time())
            {
                return Ok(());
            }
            // Counted as opened even if it turns out to be empty. Otherwise it would be asked for
            // again.
            self.opened += 1;
            self.open_buffer(key)?;
        }
        Ok(())
    }

    fn open_buffer(&mut self, key: Key) -> Result<()> {
        let Some(ready) = self.supply.next(key)? else {
            return Ok(());
        };
        // The limit is checked before the buffer is added. So it is exceeded by one buffer at most,
        // and a session of huge buffers can always open its first one. Leaving a buffer out is
        // damage and not an error: the other events remain in order.
        if self.held <= OPEN_BYTES_LIMIT {
            self.pass.damage.merge(&ready.damage);
            self.insert(ready.open);
            return Ok(());
        }
        let file = usize::from(key.file());
        let entry = self
            .session
            .files
            .get(file)
            .and_then(|trace| trace.buffers.get(key.buffer() as usize));
        if let Some(entry) = entry {
            let kind = DamageKind::TooManyOpenBuffers;
            let place = DamageAt {
                kind,
                file,
                offset: entry.offset,
                bytes: entry.len.into(),
            };
            self.pass.damage.add_loss(place, entry.offset);
        }
        Ok(())
    }

    fn insert(&mut self, open: OpenBuffer<'s>) {
        // A buffer without events, or without any event that `ahead` wanted, is dropped here and
        // never takes a slot.
        let Some(key) = open.next_key() else { return };
        self.held += open.held();
        // Slots are reused, so that the vector is as long as the most buffers that were open at one
        // time.
        let slot = self.free.pop().unwrap_or_else(|| {
            self.open.push(None);
            self.open.len() - 1
        });
        self.heads.push(Reverse((key, slot)));
        if let Some(place) = self.open.get_mut(slot) {
            *place = Some(open);
        }
    }

    /// The first key that must wait for a buffer other than the buffer of the earliest event.
    #[inline]
    fn limit(&self) -> Key {
        // The second smallest of a heap is one of the two below its root.
        let others = self.heads.as_slice().iter().skip(1).take(2);
        let head = others
            .map(|Reverse((key, _))| *key)
            .min()
            .unwrap_or(Key::END);
        // A buffer that is not open yet may hold any number of events at its first time stamp.
        let waiting = self
            .waiting()
            .map_or(Key::END, |key| Key::new(key.time(), 0, 0));
        head.min(waiting)
    }

    /// Closes the buffer of the earliest event, which is used up.
    fn close_first(&mut self, slot: usize) {
        self.heads.pop();
        let Some(open) = self.open.get_mut(slot).and_then(Option::take) else {
            return;
        };
        // Neither vector changes after loading, so this is exactly the amount that was added when
        // the buffer was opened.
        self.held -= open.held();
        self.free.push(slot);
    }
}
