//! The inverse of [`super::lz77`]: compresses a buffer in format 3, documented as [MS-XCA] §2.3.
//!
//! Matches are found by hash chains of limited length. The result depends on the input alone.

use crate::bytes::tail;

/// Maximum distance of a match, in bytes.
const WINDOW: usize = 1 << 13;
/// Shortest match.
const MATCH_MIN: usize = 3;
const HASH_BITS: u32 = 14;
/// Maximum number of candidates compared for one position.
const CHAIN_LEN: usize = 8;
/// A match of that length is taken without looking for a longer one.
const GOOD_LEN: usize = 64;

/// Compresses one buffer after the other. Its tables are allocated once.
#[derive(Debug, Clone)]
pub struct Compressor {
    /// By hash of three bytes: their latest position, plus 1.
    heads: Vec<u32>,
    /// By position modulo the window: the position before it with the same hash, plus 1.
    previous: Vec<u32>,
}

impl Default for Compressor {
    fn default() -> Self {
        Self {
            heads: vec![0; 1 << HASH_BITS],
            previous: vec![0; WINDOW],
        }
    }
}

impl Compressor {
    /// Appends the compressed form of `input`, which is shorter than 4 GiB, to `out`.
    pub fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) {
        // Matches never reach into another buffer.
        self.heads.fill(0);
        let mut items = Items::new(out);
        let mut at = 0;
        let mut added = 0;
        while let Some(&literal) = input.get(at) {
            let (length, distance) = self.longest(input, at);
            // Shorter than a match would take in the output.
            if length < MATCH_MIN {
                items.literal(literal);
                at += 1;
            } else {
                items.matched(length, distance);
                at += length;
            }
            // Positions deep inside a long match are reached by the next match only.
            added = added.max(at.saturating_sub(WINDOW));
            while added < at {
                self.add(input, added);
                added += 1;
            }
        }
        items.finish();
    }

    /// Length and distance of the best match at `at`; length 0 if there is none.
    #[inline]
    fn longest(&self, input: &[u8], at: usize) -> (usize, usize) {
        let Some(hash) = hash_at(input, at) else {
            return (0, 0);
        };
        let rest = tail(input, at);
        let mut best = (0, 0);
        let mut candidate = self.heads.get(hash);
        // Few candidates: more make the output a little smaller and the time a lot longer.
        for _ in 0..CHAIN_LEN {
            let Some(from) = candidate
                .and_then(|after| (*after as usize).checked_sub(1))
                // Farther back than the format can say.
                .filter(|from| at - from <= WINDOW)
            else {
                break;
            };
            // A candidate that differs where the best match ended cannot be longer.
            if input.get(from + best.0) == rest.get(best.0) {
                let length = common_len(tail(input, from), rest);
                if length > best.0 {
                    best = (length, at - from);
                }
                if length >= GOOD_LEN || length == rest.len() {
                    break;
                }
            }
            let next = self.previous.get(from % WINDOW);
            if next >= candidate {
                break; // overwritten by a position that came around the window
            }
            candidate = next;
        }
        best
    }

    #[inline]
    fn add(&mut self, input: &[u8], at: usize) {
        let Some(hash) = hash_at(input, at) else {
            return;
        };
        if let (Some(head), Some(previous)) =
            (self.heads.get_mut(hash), self.previous.get_mut(at % WINDOW))
        {
            *previous = *head;
            *head = at as u32 + 1;
        }
    }
}

#[inline]
fn hash_at(input: &[u8], at: usize) -> Option<usize> {
    let [a, b, c] = *input.get(at..)?.first_chunk()?;
    let bytes = u32::from_le_bytes([a, b, c, 0]);
    // A prime near 2^32 divided by the golden ratio spreads neighbouring values over the table, and
    // the high bits of the product depend on all three bytes.
    Some((bytes.wrapping_mul(0x9E37_79B1) >> (32 - HASH_BITS)) as usize)
}

/// Length of the common prefix in bytes.
#[inline]
fn common_len(a: &[u8], b: &[u8]) -> usize {
    let words = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0);
    let mut len = 0;
    for (x, y) in words {
        // Eight bytes at a time: the lowest bit that differs is in the first byte that differs.
        let difference = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
        if difference != 0 {
            return len + (difference.trailing_zeros() / 8) as usize;
        }
        len += 8;
    }
    let rest = tail(a, len).iter().zip(tail(b, len));
    len + rest.take_while(|(x, y)| x == y).count()
}

/// Writes literals and matches. Before every 32 of them is a word of flags that tells the two
/// apart.
struct Items<'o> {
    out: &'o mut Vec<u8>,
    /// Offset of the current word of flags in the output.
    flags_at: usize,
    flags: u32,
    count: u32,
    /// Position of a byte whose high half is free for the next 4-bit length.
    half_byte: Option<usize>,
}

impl<'o> Items<'o> {
    fn new(out: &'o mut Vec<u8>) -> Self {
        let flags_at = out.len();
        out.extend([0; 4]);
        Self {
            out,
            flags_at,
            flags: 0,
            count: 0,
            half_byte: None,
        }
    }

    #[inline]
    fn literal(&mut self, byte: u8) {
        self.out.push(byte);
        self.flag(0);
    }

    #[inline]
    fn matched(&mut self, length: usize, distance: usize) {
        let length = length - MATCH_MIN;
        let pair = (distance - 1) << 3 | length.min(7);
        self.out.extend((pair as u16).to_le_bytes());
        if length >= 7 {
            self.long_length(length);
        }
        self.flag(1);
    }

    fn long_length(&mut self, length: usize) {
        let half = (length - 7).min(15) as u8;
        // Two lengths share a byte: the second one fills its upper half.
        match self.half_byte.take() {
            Some(at) => {
                if let Some(byte) = self.out.get_mut(at) {
                    *byte |= half << 4;
                }
            }
            None => {
                self.half_byte = Some(self.out.len());
                self.out.push(half);
            }
        }
        if half < 15 {
            return;
        }
        // 22 is what the two shorter forms hold: 7 and 15.
        let byte = (length - 22).min(255) as u8;
        // Longer lengths take up to seven bytes. They are rare, since a buffer is short.
        self.out.push(byte);
        if byte < 255 {
            return;
        }
        if let Ok(short) = u16::try_from(length) {
            self.out.extend(short.to_le_bytes());
        } else {
            // A 16-bit length of zero announces one of 32 bits.
            self.out.extend([0; 2]);
            self.out.extend((length as u32).to_le_bytes());
        }
    }

    #[inline]
    fn flag(&mut self, bit: u32) {
        // The first item is the highest bit of the word.
        self.flags = self.flags << 1 | bit;
        self.count += 1;
        if self.count == 32 {
            self.write_flags();
            self.flags_at = self.out.len();
            self.out.extend([0; 4]);
            (self.flags, self.count) = (0, 0);
        }
    }

    fn write_flags(&mut self) {
        let word = self.flags.to_le_bytes();
        if let Some(place) = self
            .out
            .get_mut(self.flags_at..)
            .and_then(<[u8]>::first_chunk_mut)
        {
            *place = word;
        }
    }

    /// Sets the unused flags to 1: a decompressor without a length to stop at takes a match after
    /// the end of the input for the end.
    fn finish(mut self) {
        let free = 32 - self.count;
        // In 64 bits, since the word is empty (`free` is 32) after each 32 items.
        let used = u64::from(self.flags) << free;
        let unused = u64::from(u32::MAX) >> self.count;
        self.flags = (used | unused) as u32;
        self.write_flags();
    }
}

#[cfg(test)]
mod tests {
    use super::super::lz77::decompress;
    use super::*;

    fn compress(input: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        Compressor::default().compress(input, &mut out);
        let mut back = b"in front".to_vec();
        assert_eq!(decompress(&out, &mut back, 8 + input.len()), Ok(()));
        assert!(back[8..] == *input, "round trip of {} bytes", input.len());
        out
    }

    #[test]
    fn the_published_examples_come_out_byte_for_byte() {
        // [MS-XCA] §3.1
        let alphabet = b"abcdefghijklmnopqrstuvwxyz";
        assert_eq!(
            compress(alphabet),
            [&[0x3f, 0, 0, 0], &alphabet[..]].concat()
        );
        let abc = [
            0xff, 0xff, 0xff, 0x1f, b'a', b'b', b'c', 0x17, 0, 0x0f, 0xff, 0x26, 1,
        ];
        assert_eq!(compress(&b"abc".repeat(100)), abc);
    }

    #[test]
    fn every_length_of_match_survives() {
        // All forms of a length, with the shared half byte in both states.
        for length in (0..600).chain([65_535, 65_536, 65_537, 65_538, 65_539, 65_560, 200_000]) {
            let mut input = b"0123456789abcdef012345678".to_vec();
            input.extend(std::iter::repeat_n(b'x', length));
            input.extend(b"0123456789abcdefghijkl0123456789abcdef");
            compress(&input);
        }
        compress(&[]);
    }

    #[test]
    fn matches_reach_no_further_than_the_window() {
        for gap in [WINDOW - 9, WINDOW - 8, WINDOW - 7, WINDOW + 1] {
            let mut input = b"01234567".to_vec();
            input.extend((0..gap as u32).map(|n| (n.wrapping_mul(0x9E37_79B1) >> 13) as u8));
            input.extend(b"01234567");
            compress(&input);
        }
    }
}
