//! The compression of buffers in format 2: LZNT1, documented as [MS-XCA] §2.5.
//!
//! The stream is a sequence of chunks. Each chunk decompresses to 4096 bytes, independently of the
//! others. The split of the 16 bits of a match into distance and length depends on the position in
//! the chunk: a match near its start cannot reach far back, so its length gets more bits.

use super::lz77::{Broken, copy_match};
use crate::bytes::u16_at;

/// Decompressed bytes of one chunk.
const CHUNK_LEN: usize = 4096;
/// Bit of a chunk header: the chunk is compressed, not stored.
const COMPRESSED: u16 = 0x8000;
/// Bits 12 to 14 of every chunk header.
const SIGNATURE: u16 = 3;

/// Decompresses `input` and appends it to `out` until `out` has `end` bytes.
///
/// # Errors
/// [`Broken`] if the input ends too early, a chunk header is invalid, or a match leaves its chunk.
/// The bytes decompressed before stay in `out`.
pub fn decompress(input: &[u8], out: &mut Vec<u8>, end: usize) -> Result<(), Broken> {
    let base = out.len();
    out.reserve(end.saturating_sub(base).min(1 << 20));
    let mut rest = input;
    while out.len() < end {
        let Some(behind) = next_chunk(rest, out, base, end) else {
            return Err(Broken {
                produced: out.len() - base,
            });
        };
        rest = behind;
    }
    Ok(())
}

/// Decompresses one chunk and returns the rest of the input.
fn next_chunk<'a>(input: &'a [u8], out: &mut Vec<u8>, base: usize, end: usize) -> Option<&'a [u8]> {
    let header = u16_at(input, 0)?;
    if header >> 12 & 7 != SIGNATURE {
        return None;
    }
    // A chunk that ended early still counts as 4096 bytes if another chunk follows.
    let missing = (out.len() - base).wrapping_neg() % CHUNK_LEN;
    out.resize(out.len().saturating_add(missing).min(end), 0);

    let body = input.get(2..)?;
    let len = usize::from(header & 0x0FFF) + 1;
    let (data, complete) = body.get(..len).map_or((body, false), |data| (data, true));
    let limit = (out.len() + CHUNK_LEN).min(end);
    if header & COMPRESSED == 0 {
        out.extend_from_slice(data.get(..data.len().min(limit - out.len()))?);
    } else {
        compressed_chunk(data, out, limit)?;
    }
    // An input that was cut is still valid if it yielded all requested bytes.
    if complete {
        body.get(len..)
    } else {
        (out.len() >= end).then_some(&[])
    }
}

fn compressed_chunk(data: &[u8], out: &mut Vec<u8>, limit: usize) -> Option<()> {
    let start = out.len();
    let mut bytes = data.iter().copied();
    while let Some(flags) = bytes.next() {
        for bit in 0..8 {
            if out.len() >= limit {
                return Some(());
            }
            // A chunk may end inside a group of eight. The remaining flags then mean nothing.
            let Some(first) = bytes.next() else {
                return Some(());
            };
            if flags >> bit & 1 == 0 {
                out.push(first);
                continue;
            }
            let pair = u16::from_le_bytes([first, bytes.next()?]);
            let length_bits = 16 - distance_bits(out.len() - start);
            let distance = usize::from(pair >> length_bits) + 1;
            let length = usize::from(pair & ((1 << length_bits) - 1)) + 3;
            copy_match(out, start, distance, length.min(limit - out.len()))?;
        }
    }
    Some(())
}

/// Bits of the distance of a match that starts `position` bytes into its chunk: enough to reach the
/// start of the chunk, but never fewer than 4.
fn distance_bits(position: usize) -> u32 {
    let reach = position.saturating_sub(1);
    (usize::BITS - reach.leading_zeros()).clamp(4, 12)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &[u8], len: usize) -> Result<Vec<u8>, Broken> {
        let mut out = b"in front".to_vec();
        decompress(input, &mut out, 8 + len).map(|()| out.split_off(8))
    }

    #[test]
    fn the_published_example_is_music() {
        // [MS-XCA] §3.3
        let input = [
            0x38, 0xb0, 0x88, 0x46, 0x23, 0x20, 0x00, 0x20, 0x47, 0x20, 0x41, 0x00, 0x10, 0xa2,
            0x47, 0x01, 0xa0, 0x45, 0x20, 0x44, 0x00, 0x08, 0x45, 0x01, 0x50, 0x79, 0x00, 0xc0,
            0x45, 0x20, 0x05, 0x24, 0x13, 0x88, 0x05, 0xb4, 0x02, 0x4a, 0x44, 0xef, 0x03, 0x58,
            0x02, 0x8c, 0x09, 0x16, 0x01, 0x48, 0x45, 0x00, 0xbe, 0x00, 0x9e, 0x00, 0x04, 0x01,
            0x18, 0x90, 0x00,
        ];
        let text = "F# F# G A A G F# E D D E F# F# E E F# F# G A A G F# E D D E F# E D D E E F# D E F# G F# D E \
                    F# G F# E D E A F# F# G A A G F# E D D E F# E D D\0";
        assert_eq!(check(&input, text.len()).as_deref(), Ok(text.as_bytes()));
    }

    #[test]
    fn a_short_chunk_in_the_middle_is_filled_with_zeros() {
        let mut expected = vec![0; CHUNK_LEN + 2];
        expected[0] = b'a';
        expected[CHUNK_LEN..].copy_from_slice(b"bc");
        assert_eq!(
            check(&[0, 0x30, b'a', 1, 0x30, b'b', b'c'], CHUNK_LEN + 2),
            Ok(expected)
        );
    }

    #[test]
    fn damage_keeps_what_was_produced() {
        assert_eq!(check(&[], 1), Err(Broken { produced: 0 }));
        assert_eq!(check(&[2, 0x30, b'a'], 3), Err(Broken { produced: 1 }));
        assert_eq!(check(&[2, 0x30, b'a'], 1), Ok(b"a".to_vec()));
        assert_eq!(
            check(&[0, 0x70, b'a'], 1),
            Err(Broken { produced: 0 }),
            "signature"
        );
        assert_eq!(
            check(&[2, 0xB0, 1, 0, 0], 3),
            Err(Broken { produced: 0 }),
            "match before the chunk"
        );
    }
}
