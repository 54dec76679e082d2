//! Damage to the bytes of a trace, the same in every run.
//!
//! This module does not use the reader of traces: it finds buffers and records by the few fields
//! that lead from one to the next.

/// A small generator, so that every run tries the same damage.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Creates a generator. Other seeds give other damage.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }

    /// Returns a number at the limit of a type or a size, or next to it.
    // Checks fail at limits, which random numbers nearly never hit.
    fn edge(&mut self) -> u64 {
        const EDGES: [u64; 16] = [
            0,
            1,
            2,
            7,
            0x48,
            0x7F,
            0xFF,
            0x7FFF,
            0x8000,
            0xFFFF,
            0x100_0000,
            0x7FFF_FFFF,
            0x8000_0000,
            0xFFFF_FFFF,
            i64::MAX as u64,
            u64::MAX,
        ];
        EDGES[self.below(EDGES.len())]
            .wrapping_add(self.below(3) as u64)
            .wrapping_sub(1)
    }
}

/// Number of kinds of damage.
pub const KINDS: usize = 10;

/// Damages a trace. The kinds, from 0: bits, zeroed blocks, words, random blocks, bytes of buffer
/// headers, fields of buffer headers, fields of record headers, the trace header, words of
/// payloads, and blocks that are repeated, left out or moved.
pub fn corrupt(bytes: &mut Vec<u8>, random: &mut Random, kind: usize) {
    let len = bytes.len();
    if len < 64 {
        return;
    }
    match kind % KINDS {
        0 => (0..200).for_each(|_| bytes[random.below(len)] ^= 1 << random.below(8)),
        1 => {
            let (from, size) = (random.below(len), random.below(70_000));
            bytes[from..(from + size).min(len)].fill(0);
        }
        2 => {
            for _ in 0..50 {
                let (at, word) = (
                    random.below(len - 4),
                    [0, 1, u32::MAX, i32::MAX as u32][random.below(4)],
                );
                bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
            }
        }
        3 => {
            let (from, size) = (random.below(len), random.below(5000));
            bytes[from..(from + size).min(len)].fill_with(|| random.below(256) as u8);
        }
        4 => {
            for start in (0..len.saturating_sub(0x48)).step_by(4096) {
                if random.below(3) == 0 {
                    bytes[start + random.below(0x48)] = random.below(256) as u8;
                }
            }
        }
        5 => buffer_fields(bytes, random),
        6 => record_fields(bytes, random),
        7 => (0..=random.below(4)).for_each(|_| put(bytes, 0x48 + random.below(70) * 4, 4, random)),
        8 => payload_words(bytes, random),
        _ => blocks(bytes, random),
    }
}

/// Writes a number at a limit over 1, 2, 4 or 8 bytes, as far as the file has them.
fn put(bytes: &mut [u8], at: usize, width: usize, random: &mut Random) {
    let value = random.edge().to_le_bytes();
    for (to, from) in bytes.iter_mut().skip(at).zip(&value[..width]) {
        *to = *from;
    }
}

/// Offset and width of the fields of a buffer header.
const BUFFER_FIELDS: [(usize, usize); 10] = [
    (0x00, 4),
    (0x04, 4),
    (0x08, 4),
    (0x10, 8),
    (0x18, 8),
    (0x28, 2),
    (0x2C, 4),
    (0x30, 4),
    (0x34, 2),
    (0x36, 2),
];

fn buffer_fields(bytes: &mut [u8], random: &mut Random) {
    let starts = buffer_starts(bytes);
    for _ in 0..=random.below(5) {
        let start = starts[random.below(starts.len())];
        let (at, width) = BUFFER_FIELDS[random.below(BUFFER_FIELDS.len())];
        put(bytes, start + at, width, random);
    }
}

fn record_fields(bytes: &mut [u8], random: &mut Random) {
    let records = record_starts(bytes, random);
    for _ in 0..=random.below(20) {
        let Some(start) = records.get(random.below(records.len())) else {
            return;
        };
        // Size, kind, marker, version, type or size of the payload, thread, process, time stamps of
        // both layouts, flags.
        let (at, width) = [
            (0, 2),
            (2, 1),
            (3, 1),
            (4, 2),
            (6, 2),
            (8, 8),
            (8, 4),
            (12, 4),
            (16, 8),
            (4, 4),
        ][random.below(10)];
        put(bytes, start + at, width, random);
    }
}

fn payload_words(bytes: &mut [u8], random: &mut Random) {
    let records = record_starts(bytes, random);
    for _ in 0..=random.below(30) {
        let Some(start) = records.get(random.below(records.len())) else {
            return;
        };
        let width = [1, 2, 4, 8][random.below(4)];
        put(bytes, start + 16 + random.below(120), width, random);
    }
}

/// Repeats, removes or moves a block, so that everything after it is at another offset.
fn blocks(bytes: &mut Vec<u8>, random: &mut Random) {
    let len = bytes.len();
    let (from, size) = (random.below(len), 1 + random.below(9000));
    let block = bytes[from..(from + size).min(len)].to_vec();
    let to = random.below(len);
    match random.below(4) {
        0 => drop(bytes.splice(to..to, block)),
        1 => drop(bytes.drain(from..from + block.len())),
        2 => {
            let end = (to + block.len()).min(len);
            bytes[to..end].copy_from_slice(&block[..end - to]);
        }
        // A few bytes more or less: nothing is aligned any more.
        _ => drop(bytes.splice(to..to, vec![0; 1 + random.below(7)])),
    }
}

fn u32_at(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..at + 4).map_or(0, |word| {
        u32::from_le_bytes([word[0], word[1], word[2], word[3]]) as usize
    })
}

/// Returns the offsets at which buffers start; never empty.
#[must_use]
pub fn buffer_starts(bytes: &[u8]) -> Vec<usize> {
    let (mut starts, mut at) = (vec![0], 0);
    loop {
        let size = u32_at(bytes, at);
        at += size;
        if !(0x48..=16 << 20).contains(&size) || at + 0x48 > bytes.len() {
            return starts;
        }
        starts.push(at);
    }
}

/// Returns the offsets at which the records of some buffers start.
fn record_starts(bytes: &[u8], random: &mut Random) -> Vec<usize> {
    let buffers = buffer_starts(bytes);
    let mut records = Vec::new();
    for _ in 0..4 {
        let start = buffers[random.below(buffers.len())];
        let end = (start + u32_at(bytes, start)).min(bytes.len());
        let mut at = start + 0x48;
        while at + 16 < end && records.len() < 20_000 {
            records.push(at);
            // The size of a record is at its start or, in records with a marker of kernel events,
            // after the marker.
            let word = |at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
            let is_kernel = bytes[at + 3] == 0xC0 && matches!(bytes[at + 2], 1..=4 | 0x10 | 0x11);
            let size = if is_kernel { word(at + 4) } else { word(at) };
            // A smaller size is not a record, and 0 would never advance.
            if size < 8 {
                break;
            }
            at += size.next_multiple_of(8);
        }
    }
    records
}
