//! External sort for more records than memory should hold: sorted runs go to a temporary file and
//! are merged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::part::{SLOTS, Values};

/// A row of a file of pages: four keys, by which rows are sorted, and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Record {
    /// The keys of the sum.
    pub(crate) keys: [i64; 4],
    /// Its sum.
    pub(crate) values: Values,
}

/// Maximum number of records in memory: 112 bytes each.
const HELD: usize = 400_000;
/// Bytes of a run that are read at a time.
const READ_AT_ONCE: usize = 64 << 10;

/// Takes records in any order and returns them sorted.
#[derive(Debug)]
pub(crate) struct Sorter {
    held: Vec<Record>,
    file: Option<File>,
    runs: Vec<(u64, u64)>,
    end: u64,
    limit: usize,
}

impl Sorter {
    pub(crate) fn new() -> Self {
        Self {
            held: Vec::new(),
            file: None,
            runs: Vec::new(),
            end: 0,
            limit: HELD,
        }
    }

    /// Takes a record; runs are spilled into a file without a name in `folder`.
    pub(crate) fn push(&mut self, record: Record, folder: &Path) -> io::Result<()> {
        self.held.push(record);
        if self.held.len() >= self.limit {
            self.spill(folder)
        } else {
            Ok(())
        }
    }

    fn spill(&mut self, folder: &Path) -> io::Result<()> {
        // The sort need not be stable: records are compared with their values too, so equal ones
        // are identical.
        self.held.sort_unstable();
        let mut bytes = Vec::new();
        for record in self.held.drain(..) {
            encode(&record, &mut bytes);
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile_in(folder)?),
        };
        file.seek(SeekFrom::Start(self.end))?;
        file.write_all(&bytes)?;
        let begin = self.end;
        self.end += bytes.len() as u64;
        self.runs.push((begin, self.end));
        Ok(())
    }

    /// All records in order.
    pub(crate) fn finish(mut self) -> io::Result<Sorted> {
        self.held.sort_unstable();
        let mut sorted = Sorted {
            heap: BinaryHeap::new(),
            runs: Vec::new(),
            file: self.file,
            held: self.held.into_iter(),
        };
        // Records that were never spilled are one more run, with a number that no run in the file
        // has.
        for (place, (begin, end)) in self.runs.into_iter().enumerate() {
            sorted.runs.push(Run {
                next: begin,
                end,
                buffer: Vec::new(),
                at: 0,
            });
            sorted.begin(place)?;
        }
        sorted.begin(usize::MAX)?;
        Ok(sorted)
    }
}

/// Sorted records, one after the other.
#[derive(Debug)]
pub(crate) struct Sorted {
    heap: BinaryHeap<Reverse<(Record, usize)>>,
    runs: Vec<Run>,
    file: Option<File>,
    held: std::vec::IntoIter<Record>,
}

#[derive(Debug)]
struct Run {
    next: u64,
    end: u64,
    buffer: Vec<u8>,
    at: usize,
}

impl Sorted {
    /// The next record; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Record>> {
        let Some(Reverse((_, place))) = self.heap.peek() else {
            return Ok(None);
        };
        let following = self.following(*place)?;
        let Some(mut least) = self.heap.peek_mut() else {
            return Ok(None);
        };
        let place = least.0.1;
        let Reverse((record, _)) = match following {
            // One step through the heap instead of two, because most records are replaced by one of
            // their run.
            Some(following) => std::mem::replace(&mut *least, Reverse((following, place))),
            None => PeekMut::pop(least),
        };
        Ok(Some(record))
    }

    /// The next record of a run, or of the records that were never spilled.
    fn following(&mut self, place: usize) -> io::Result<Option<Record>> {
        match (self.runs.get_mut(place), &mut self.file) {
            (Some(run), Some(file)) => run.next(file),
            _ => Ok(self.held.next()),
        }
    }

    /// Puts the first record of a run into the heap.
    fn begin(&mut self, place: usize) -> io::Result<()> {
        let first = self.following(place)?;
        self.heap
            .extend(first.map(|record| Reverse((record, place))));
        Ok(())
    }
}

impl Run {
    fn next(&mut self, file: &mut File) -> io::Result<Option<Record>> {
        // The maximum length of a record, so that a record is never cut while more can be read.
        let longest = 2 + (4 + SLOTS) * 10;
        let left = self.buffer.len().saturating_sub(self.at);
        if left < longest && self.next < self.end {
            // The rest of the last block is moved to the front: a record may span two blocks.
            self.buffer.drain(..self.at);
            self.at = 0;
            let wanted = usize::try_from(self.end - self.next)
                .unwrap_or(READ_AT_ONCE)
                .min(READ_AT_ONCE);
            let begin = self.buffer.len();
            self.buffer.resize(begin + wanted, 0);
            file.seek(SeekFrom::Start(self.next))?;
            let (_, free) = self.buffer.split_at_mut(begin);
            file.read_exact(free)?;
            self.next += wanted as u64;
        }
        if self.at >= self.buffer.len() {
            return Ok(None);
        }
        let cut = || io::Error::from(io::ErrorKind::UnexpectedEof);
        decode(&self.buffer, &mut self.at).map(Some).ok_or_else(cut)
    }
}

/// A bit for each number that is not 0, and those in as few bytes as they need.
fn encode(record: &Record, bytes: &mut Vec<u8>) {
    let numbers = || record.keys.iter().chain(&record.values);
    let mask = numbers()
        .enumerate()
        .filter(|(_, n)| **n != 0)
        .fold(0u16, |mask, (bit, _)| mask | 1 << bit);
    bytes.extend(mask.to_le_bytes());
    for number in numbers().filter(|number| **number != 0) {
        // Zigzag, so that small negative numbers also take few bytes.
        let mut left = ((number << 1) ^ (number >> 63)).cast_unsigned();
        while left > 0x7F {
            bytes.push((left & 0x7F) as u8 | 0x80);
            left >>= 7;
        }
        bytes.push((left & 0x7F) as u8);
    }
}

fn decode(bytes: &[u8], at: &mut usize) -> Option<Record> {
    let mut take = || {
        let byte = bytes.get(*at).copied();
        *at += 1;
        byte
    };
    let mask = u16::from_le_bytes([take()?, take()?]);
    let mut record = Record::default();
    for (bit, number) in record.keys.iter_mut().chain(&mut record.values).enumerate() {
        if mask & 1 << bit == 0 {
            continue;
        }
        let mut value = 0u64;
        let mut shift = 0;
        loop {
            let byte = take()?;
            // A number of more than 64 bits was not written by this program.
            value |= u64::from(byte & 0x7F).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
        *number = (value >> 1).cast_signed() ^ -(value & 1).cast_signed();
    }
    Some(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_sorted_whether_they_were_spilled_or_not() {
        let folder = tempfile::tempdir().unwrap();
        let numbers = [0, 1, -1, 300, i64::MAX, i64::MIN, 7, -128];
        let record = |n: usize| {
            let mut record = Record::default();
            record.keys[0] = numbers[n * 5 % 8];
            record.keys[3] = n as i64 * 37 % 11;
            record.values[n % SLOTS] = numbers[n % 8];
            record
        };
        let mut wanted: Vec<Record> = (0..100).map(record).collect();
        for limit in [1, 7, 1000] {
            let mut sorter = Sorter {
                limit,
                ..Sorter::new()
            };
            (0..100).for_each(|n| sorter.push(record(n), folder.path()).unwrap());
            let mut sorted = sorter.finish().unwrap();
            let mut found = Vec::new();
            while let Some(record) = sorted.next().unwrap() {
                found.push(record);
            }
            wanted.sort_unstable();
            assert_eq!(found, wanted, "{limit}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
