//! Storage for stacks on their way from the events to the rows: the addresses of whole stacks, in
//! chunks that change owner as a whole.

use std::collections::VecDeque;

use super::line::Seq;
use crate::tracker::stack::StackId;

/// Addresses of a chunk: 128 KiB.
const CHUNK: usize = 1 << 14;

/// Maximum number of waiting addresses (128 MiB). If there are more, rows are passed on early.
const MAX_WAITING: usize = 1 << 24;

/// A stack of addresses whose row waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum RawStack {
    /// No stack.
    #[default]
    Empty,
    /// A stack given by its key.
    Keyed(StackId),
    /// A part of a chunk.
    Whole {
        /// Number of the chunk.
        chunk: u32,
        /// Its first address.
        start: u32,
        /// Number of addresses.
        len: u32,
    },
}

/// Addresses of many stacks.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) number: u32,
    pub(crate) addresses: Vec<u64>,
    /// Rows from this one on have no stack in the chunk.
    pub(crate) until: Seq,
}

/// The chunk that is being filled, and data about the chunks already passed on.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    number: u32,
    addresses: Vec<u64>,
    /// Chunks that rows in the line can have stacks in: their last row and their number of
    /// addresses.
    given: VecDeque<(Seq, usize)>,
    waiting: usize,
}

impl Arena {
    /// Keeps the addresses of a stack, innermost first.
    pub(crate) fn keep(&mut self, addresses: &[u64]) -> RawStack {
        if addresses.is_empty() {
            return RawStack::Empty;
        }
        // Positions are of four bytes, since millions of rows hold one. A chunk is far smaller.
        let start = self.addresses.len() as u32;
        self.addresses.extend_from_slice(addresses);
        RawStack::Whole {
            chunk: self.number,
            start,
            len: addresses.len() as u32,
        }
    }

    /// True if the current chunk is full.
    pub(crate) fn is_chunk_full(&self) -> bool {
        self.addresses.len() >= CHUNK
    }

    /// True if a stack is in the current chunk.
    pub(crate) fn holds(&self, stack: RawStack) -> bool {
        matches!(stack, RawStack::Whole { chunk, .. } if chunk == self.number)
    }

    /// Passes the current chunk on. `until` is the number of the next row.
    pub(crate) fn give(&mut self, until: Seq) -> Chunk {
        // A stack is never split, so the last one may extend beyond the end of a chunk.
        let addresses = std::mem::replace(&mut self.addresses, Vec::with_capacity(CHUNK + 1024));
        // Wraps around after 2³² chunks; only the difference to the first one counts.
        let number = self.number;
        self.number = number.wrapping_add(1);
        self.waiting += addresses.len();
        self.given.push_back((until, addresses.len()));
        Chunk {
            number,
            addresses,
            until,
        }
    }

    /// True if so many stacks wait for their rows that rows have to leave. `first` is the first row
    /// in the line.
    #[inline]
    pub(crate) fn is_full(&mut self, first: Seq) -> bool {
        // A chunk is waited for until the last row with a stack in it has left the line.
        while let Some((until, len)) = self.given.front()
            && *until <= first
        {
            self.waiting -= len;
            self.given.pop_front();
        }
        self.waiting > MAX_WAITING
    }
}

/// The chunks that rows still need.
#[derive(Debug, Default)]
pub(crate) struct Chunks(VecDeque<Chunk>);

impl Chunks {
    pub(crate) fn add(&mut self, chunk: Chunk) {
        self.0.push_back(chunk);
    }

    /// Forgets the chunks that only rows before `row` needed.
    #[inline]
    pub(crate) fn forget_before(&mut self, row: Seq) {
        // Chunks leave in order, as rows do.
        while self.0.front().is_some_and(|chunk| chunk.until <= row) {
            self.0.pop_front();
        }
    }

    /// The addresses of a part of a chunk, innermost first.
    pub(crate) fn addresses(&self, chunk: u32, start: u32, len: u32) -> &[u64] {
        let first = self.0.front().map_or(0, |chunk| chunk.number);
        // The difference of numbers is the index, also after the numbers wrapped around.
        let chunk = self.0.get(chunk.wrapping_sub(first) as usize);
        // A stack of a chunk that was dropped has no addresses.
        chunk
            .and_then(|chunk| {
                let rest = chunk.addresses.get(start as usize..)?;
                rest.get(..len as usize)
            })
            .unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(chunks: &Chunks, stack: RawStack) -> &[u64] {
        let RawStack::Whole { chunk, start, len } = stack else {
            return &[];
        };
        chunks.addresses(chunk, start, len)
    }

    #[test]
    fn chunks_stay_until_the_last_row_that_needs_them() {
        let (mut arena, mut chunks) = (Arena::default(), Chunks::default());
        let [a, b] = [arena.keep(&[1, 2]), arena.keep(&[3])];
        assert!(arena.holds(b) && arena.keep(&[]) == RawStack::Empty);
        chunks.add(arena.give(5));
        let c = arena.keep(&[4]);
        chunks.add(arena.give(7));
        assert!(!arena.holds(b));
        chunks.forget_before(4);
        assert_eq!(
            [a, b, c].map(|stack| read(&chunks, stack).to_vec()),
            [vec![1, 2], vec![3], vec![4]]
        );
        chunks.forget_before(5);
        assert_eq!(read(&chunks, c), [4]);
        chunks.forget_before(7);
        assert!(read(&chunks, c).is_empty());
    }

    #[test]
    fn it_is_full_while_rows_wait_for_too_many_addresses() {
        let mut arena = Arena::default();
        for row in 0..=(MAX_WAITING / CHUNK) as Seq {
            arena.keep(&[0; CHUNK]);
            assert!(arena.is_chunk_full());
            arena.give(row + 1);
        }
        assert!(arena.is_full(0));
        assert!(!arena.is_full(1));
    }
}
